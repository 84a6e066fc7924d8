"""Plays and scores duplicate groups: all rotations of a line-up on one deck, or on a deck for each rotation."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Score
from plurispiel.evaluation.calibration import Calibration
from plurispiel.evaluation.hand import PAYOFF_UNIT, Fault, Hand, play_hand
from plurispiel.evaluation.play_statistics import COUNTERS, hand_counts
from plurispiel.evaluation.streams import Group, Streams


@dataclass(frozen=True)
class AgentScore:
    """The result of one agent in a group.

    Attributes
    ----------
    hands : int
        The group's hands times the agent's seats in a hand: copies of one agent count together.
    chips : float
        Net chips over the group, without rounding errors of the sum.
    chips_squared : float
        Sum over hands of the squared net chips.
    faults : int
        The number of the agent's faults.
    play : bytes
        The agent's sums of `hand_counts` by seat, uint8[num_seats, len(play_statistics.COUNTERS)].
    first_fault : str
        The message of the agent's first fault; empty without faults.
    fault_kinds : str
        The kinds of the agent's faults in order, separated by blanks.
    imaginary_hands, chance, own_actions, other_actions : float or None
        Sums of AIVAT's corrections (`aivat.Score`); None without AIVAT, or if a hand lacks them.
    true_chance, true_other_actions : float or None
        Sums of the two corrections with the true cards that need no own strategy; None without AIVAT.
    true_own_actions : float or None
        The sum of the correction of own actions with the true cards; None where `own_actions` is None.
    aivat_squared, reduced_squared : float or None
        Sums over hands of the squared estimate: with all corrections, and reduced (`aivat.Score.reduced`). Each is None
        if a correction in it is None.
    refused : str
        The first reason why the agent's strategy could not be used (`aivat.Score.refused`); empty without a reason.
    calibration : bytes
        The agent's `Calibration.sums` (`calibration`), float64[10]; empty without AIVAT.
    seat_sums : bytes
        float64[num_seats, 1 or 3]: for each seat the sum of the net chips. With AIVAT, two more sums follow: of the
        full estimates, NaN where undefined, and of the reduced estimates. An agent plays equally many hands in every
        seat.
    table_sum : float or None
        Set only for the Control (package `tournaments.run`): the sum of the scores of all seats at its table, in chips
        (`zero_sum`). None for other agents, without AIVAT, or if a built-in agent lacks a correction.
    answers : int
        The number of decisions that the agent was asked for.
    answer_seconds, slowest_answer : float
        The total and the longest time of the answers, in seconds. Equality of scores ignores these times.
    """

    hands: int
    chips: float
    chips_squared: float
    faults: int
    play: bytes
    first_fault: str = ""
    fault_kinds: str = ""
    imaginary_hands: float | None = None
    chance: float | None = None
    own_actions: float | None = None
    other_actions: float | None = None
    true_chance: float | None = None
    true_own_actions: float | None = None
    true_other_actions: float | None = None
    aivat_squared: float | None = None
    reduced_squared: float | None = None
    refused: str = ""
    calibration: bytes = b""
    seat_sums: bytes = b""
    table_sum: float | None = None
    answers: int = 0
    answer_seconds: float = field(default=0.0, compare=False)
    slowest_answer: float = field(default=0.0, compare=False)

    @property
    def estimate(self) -> float:
        """The best known estimate of the net chips: full AIVAT, else AIVAT's reduced form, else the net chips."""
        return self.reduced if self.full is None else self.full

    @property
    def full(self) -> float | None:
        """The net chips with all corrections of AIVAT; None if a correction is not known."""
        corrections = self.imaginary_hands, self.chance, self.own_actions, self.other_actions
        known = [each for each in corrections if each is not None]
        return self.chips + sum(known) if len(known) == len(corrections) else None

    @property
    def reduced(self) -> float:
        """The net chips with the corrections that need no own strategy; without AIVAT the net chips."""
        return self.chips + (self.true_chance or 0.0) + (self.true_other_actions or 0.0)


def rotations(num_seats: int) -> list[list[int]]:
    """Return who sits where: ``result[rotation][seat]`` is the place of the seat's agent in the order around the table.

    >>> rotations(3)
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    """
    return [[(seat - shift) % num_seats for seat in range(num_seats)] for shift in range(num_seats)]


def play_group(
    rules: HoldemRules,
    agents: Callable[[int], Sequence[Agent]],
    contestants: Sequence[int],
    streams: Streams,
    group: Group,
    on_hand: Callable[[Hand, Sequence[int], Sequence[Agent]], None],
    *,
    repair: bool = False,
    aivat: Aivat | None = None,
    trusted: Collection[int] = (),
    speakers: Sequence[Agent | None] = (),
) -> dict[int, AgentScore]:
    """Play a group, one hand for every rotation of the line-up, and return each contestant's score.

    The order around the table is drawn again for each group. Otherwise the order of the agents in the settings would
    fix every agent's left neighbour, which could decide close rankings.

    Parameters
    ----------
    agents : callable
        Maps the number of a rotation to the agents of all line-up positions.
    contestants : sequence of int
        For each position, the number under which its agent is scored; copies of an agent share a number.
    streams, group
        The run's streams, and the numbers that name this group. Together they fix the decks, the order around the table
        and every seat's random stream in every rotation. The streams decide whether rotations share a deck.
    on_hand : callable
        Called after every hand with the hand, the contestants by seat, and by seat the agents that report strategies.
    repair : bool
        Whether a fault costs only the faulty answer, as in `play_hand`.
    aivat : Aivat, optional
        Corrects the scores for luck.
    trusted : collection of int
        Contestants whose reported strategies also correct the score of the one opponent that is left, once only two
        seats are left in a hand (`Aivat.scores`).
    speakers : sequence of Agent or None
        For each line-up position, the agent that reports the strategy in place of the agent that plays. After the hand
        the speaker is restarted with the player's random stream. By default, and where None, the player itself reports.

    Notes
    -----
    Payoffs are multiples of 1/2520 chip and are summed as integers, so that equal deterministic agents score exactly 0.
    """
    num_seats = rules.num_seats
    decks = streams.decks(rules, group)
    order = streams.order(group)
    seats_of: dict[int, list[int]] = {contestant: [] for contestant in contestants}
    payoffs: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    faults: dict[int, list[Fault]] = {contestant: [] for contestant in contestants}
    play = {contestant: np.zeros((num_seats, len(COUNTERS)), dtype=np.uint8) for contestant in contestants}
    waits: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    corrected: dict[int, list[Score]] = {contestant: [] for contestant in contestants}
    if aivat is not None:  # one stream for the group, so that values do not depend on the worker that plays it
        aivat.restart(streams.values(group))
    for rotation, (places, rngs) in enumerate(zip(rotations(num_seats), streams.seats(group), strict=True)):
        seating = [order[place] for place in places]
        players = agents(rotation)
        seated = [players[position] for position in seating]
        hand = play_hand(rules, seated, decks[rotation], rngs, repair=repair)
        seats = [contestants[position] for position in seating]
        telling = list(seated)
        for seat, position in enumerate(seating) if speakers else ():
            if (speaker := speakers[position]) is not None:
                telling[seat] = speaker
                speaker.restart(rules, seat, rngs[seat])
        on_hand(hand, seats, telling)
        for seat, (contestant, counts) in enumerate(zip(seats, hand_counts(hand), strict=True)):
            seats_of[contestant].append(seat)
            payoffs[contestant].append(hand.payoffs[seat])
            play[contestant][seat] += counts
        for fault in hand.faults:
            faults[seats[fault.seat]].append(fault)
        for seat, seconds in hand.waits:
            waits[seats[seat]].append(seconds)
        if aivat is not None:
            told = [seat for seat, contestant in enumerate(seats) if contestant in trusted]
            for contestant, score in zip(seats, aivat.scores(hand, telling, told), strict=True):
                corrected[contestant].append(score)
                if score.fault is not None:
                    faults[contestant].append(score.fault)
    return {
        contestant: AgentScore(
            hands=len(chips),
            # Summed as integers: a float cannot hold a third of a pot exactly, so that gains and losses which cancel
            # might not sum to exactly 0.
            chips=sum(round(payoff * PAYOFF_UNIT) for payoff in chips) / PAYOFF_UNIT,
            chips_squared=fsum(payoff * payoff for payoff in chips),
            faults=len(faults[contestant]),
            play=play[contestant].tobytes(),
            first_fault=faults[contestant][0].message if faults[contestant] else "",
            fault_kinds=" ".join(fault.kind for fault in faults[contestant]),
            seat_sums=_seat_sums(num_seats, seats_of[contestant], chips, corrected[contestant]).tobytes(),
            answers=len(waits[contestant]),
            answer_seconds=fsum(waits[contestant]),
            slowest_answer=max(waits[contestant], default=0.0),
            **(_corrections(corrected[contestant]) if aivat is not None else {}),
        )
        for contestant, chips in payoffs.items()
    }


def _seat_sums(num_seats: int, seats: list[int], payoffs: list[float], scores: Sequence[Score]) -> np.ndarray:
    """Return the sums of each seat (`AgentScore.seat_sums`): float64[num_seats, 1 or 3]."""
    values = np.array(payoffs)[:, None]
    if scores:
        corrected = [(score.estimate, score.reduced) for score in scores]
        values = np.hstack([values, np.array(corrected, dtype=np.float64)])  # None becomes NaN
    sums = np.zeros((num_seats, values.shape[1]))
    np.add.at(sums, seats, values)
    return sums


def _corrections(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the fields that AIVAT adds to a group's score."""
    calibration = Calibration()
    for score in scores:
        calibration.add(score.decisions)
    estimates = [score.estimate for score in scores]
    is_full = None not in estimates
    return {
        **{
            name: fsum(getattr(score, name) for score in scores) if is_full else None
            for name in ("imaginary_hands", "chance", "own_actions", "other_actions", "true_own_actions")
        },
        "true_chance": fsum(score.true_chance for score in scores),
        "true_other_actions": fsum(score.true_other_actions for score in scores),
        "aivat_squared": fsum(estimate**2 for estimate in estimates if estimate is not None) if is_full else None,
        "reduced_squared": fsum(score.reduced**2 for score in scores),
        "refused": next((score.refused for score in scores if score.refused), ""),
        "calibration": calibration.sums.tobytes(),
    }
