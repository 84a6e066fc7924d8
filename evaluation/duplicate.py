"""Duplicate play: one deck in every seat rotation, the sample unit of every statistic."""

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
    """What one agent made of a group.

    Attributes
    ----------
    hands : int
        Hands times seats it held: copies of one agent count together.
    chips : float
        Net chips over the group, free of rounding.
    chips_squared : float
        Sum over those hands of the squared net chips.
    faults : int
    play : bytes
        Its table of counts, uint8[num_seats, len(play_statistics.COUNTERS)].
    first_fault : str
        What it did wrong first, for its author; empty if nothing.
    fault_kinds : str
        The kinds of its faults in order, separated by blanks.
    imaginary_hands, chance, own_actions, other_actions : float or None
        Sums of the corrections of AIVAT (`aivat.Score`); None without AIVAT, or if one hand lacks them.
    true_chance, true_other_actions : float or None
        Sums of the corrections with true cards that need no own strategy; None without AIVAT.
    true_own_actions : float or None
        That of the own actions, to be added to it; None like the first three.
    aivat_squared, reduced_squared : float or None
        Sums over those hands of the squared estimates: with all corrections, and reduced (`aivat.Score.reduced`).
    refused : str
        Why the strategy it tells could not be used; empty if it could, or if it tells none.
    calibration : bytes
        The sums of its `calibration.Calibration`, float64[10]; empty without AIVAT.
    seat_sums : bytes
        By seat, each of which it holds for equally many hands, the sums of the net chips and, with AIVAT, of the
        estimates with all corrections (not a number where they lack) and of the reduced ones:
        float64[num_seats, 1 or 3].
    answers : int
        How often it was asked to act.
    answer_seconds, slowest_answer : float
        How long that took in all, and the longest. They are no part of what makes two scores equal.
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
    answers: int = 0
    answer_seconds: float = field(default=0.0, compare=False)
    slowest_answer: float = field(default=0.0, compare=False)

    @property
    def estimate(self) -> float:
        """The net chips with all corrections of AIVAT, with those that need no own strategy, or raw: what is known."""
        corrections = self.imaginary_hands, self.chance, self.own_actions, self.other_actions
        known = [each for each in corrections if each is not None]
        if len(known) == len(corrections):
            return self.chips + sum(known)
        return self.chips + (self.true_chance or 0.0) + (self.true_other_actions or 0.0)


def rotations(num_seats: int) -> list[list[int]]:
    """Return for each rotation the place in the order around the table that sits in each seat.

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

    The order around the table is drawn anew for each group: who sits to whose left would otherwise
    depend on the order in which agents were named, and decide close rankings.

    Parameters
    ----------
    agents : callable
        Returns the agent of every line-up position in a rotation.
    contestants : sequence of int
        The number under which each position's score is kept; copies of an agent share one.
    streams, group
        The run's streams and the numbers that name this group; together they fix the decks, the order
        around the table and every seat's random stream in every rotation.
    on_hand : callable
        Called with every hand, and for each seat the contestant and who tells its strategy.
    repair : bool
        What a fault costs (`play_hand`).
    aivat : Aivat, optional
        Also corrects the scores for luck.
    trusted : collection of int
        Contestants whose word about their strategy decides the others' scores, too (`Aivat.scores`).
    speakers : sequence of Agent or None
        By line-up position, who tells the strategy in the agent's place, and begins the hand with its stream when the
        hand is over. By default, and where None, the agent tells it itself.

    Notes
    -----
    Payoffs are multiples of 1/2520 chip, so scores are summed as integers: six equal deterministic
    agents score exactly 0.
    """
    num_seats = rules.num_seats
    decks = streams.decks(rules, group)
    order = streams.order(group)
    held: dict[int, list[int]] = {contestant: [] for contestant in contestants}
    payoffs: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    faults: dict[int, list[Fault]] = {contestant: [] for contestant in contestants}
    play = {contestant: np.zeros((num_seats, len(COUNTERS)), dtype=np.uint8) for contestant in contestants}
    waits: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    corrected: dict[int, list[Score]] = {contestant: [] for contestant in contestants}
    if aivat is not None:
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
            held[contestant].append(seat)
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
            hands=len(own),
            chips=sum(round(payoff * PAYOFF_UNIT) for payoff in own) / PAYOFF_UNIT,
            chips_squared=fsum(payoff * payoff for payoff in own),
            faults=len(faults[contestant]),
            play=play[contestant].tobytes(),
            first_fault=faults[contestant][0].message if faults[contestant] else "",
            fault_kinds=" ".join(fault.kind for fault in faults[contestant]),
            seat_sums=_seat_sums(num_seats, held[contestant], own, corrected[contestant]).tobytes(),
            answers=len(waits[contestant]),
            answer_seconds=fsum(waits[contestant]),
            slowest_answer=max(waits[contestant], default=0.0),
            **(_corrections(corrected[contestant]) if aivat is not None else {}),
        )
        for contestant, own in payoffs.items()
    }


def _seat_sums(num_seats: int, seats: list[int], payoffs: list[float], scores: Sequence[Score]) -> np.ndarray:
    """Return what an agent made of each seat (`AgentScore.seat_sums`): float64[num_seats, 1 or 3]."""
    values = np.array(payoffs)[:, None]
    if scores:
        corrected = [(score.estimate, score.reduced) for score in scores]
        values = np.hstack([values, np.array(corrected, dtype=np.float64)])  # None becomes not a number
    sums = np.zeros((num_seats, values.shape[1]))
    np.add.at(sums, seats, values)
    return sums


def _corrections(scores: Sequence[Score]) -> dict[str, Any]:
    """Return what AIVAT adds to the score of a group."""
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
