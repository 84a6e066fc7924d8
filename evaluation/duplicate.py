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
from plurispiel.evaluation.hand import PAYOFF_UNIT, Fault, Hand, deal_deck, play_hand
from plurispiel.evaluation.play_statistics import COUNTERS, hand_counts

_DECK_STREAM = 0
_AGENT_STREAM = 1
_ORDER_STREAM = 3
_VALUE_STREAM = 4


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
    true_chance : float or None
        Sum of the correction of chance with true cards; None without AIVAT.
    true_own_actions : float or None
        That of the own actions, to be added to it; None like the first three.
    aivat_squared, true_chance_squared : float or None
        Sums over those hands of the squared estimates: with all corrections, and with the last alone.
    refused : str
        Why the strategy it tells could not be used; empty if it could, or if it tells none.
    calibration : bytes
        The sums of its `calibration.Calibration`, float64[10]; empty without AIVAT.
    seat_sums : bytes
        By seat, each of which it holds for equally many hands, the sums of the net chips and, with AIVAT, of the
        estimates with all corrections (not a number where they lack) and with `true_chance` alone:
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
    aivat_squared: float | None = None
    true_chance_squared: float | None = None
    refused: str = ""
    calibration: bytes = b""
    seat_sums: bytes = b""
    answers: int = 0
    answer_seconds: float = field(default=0.0, compare=False)
    slowest_answer: float = field(default=0.0, compare=False)

    @property
    def estimate(self) -> float:
        """The net chips with all corrections of AIVAT, with that of chance alone, or raw: what is known."""
        corrections = self.imaginary_hands, self.chance, self.own_actions, self.other_actions
        known = [each for each in corrections if each is not None]
        if len(known) == len(corrections):
            return self.chips + sum(known)
        return self.chips + (self.true_chance or 0.0)


class SeatStreams:
    """Random generators for the seats of one table, set anew for every hand.

    Creating a generator costs ten times as much as setting its state, and a six-seat group needs 36.
    """

    def __init__(self, num_seats: int):
        self.generators = [np.random.Generator(np.random.PCG64(0)) for _ in range(num_seats)]
        self._template = self.generators[0].bit_generator.state

    def seed(self, words: Sequence[int]) -> list[np.random.Generator]:
        """Return the generators, each set to a state made of two of the 64-bit words."""
        template = self._template
        for k, generator in enumerate(self.generators):
            template["state"]["state"] = words[2 * k] << 64 | words[2 * k + 1]
            generator.bit_generator.state = template
        return self.generators


def rotations(num_seats: int) -> list[list[int]]:
    """Return for each rotation the place in the order around the table that sits in each seat.

    >>> rotations(3)
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    """
    return [[(seat - shift) % num_seats for seat in range(num_seats)] for shift in range(num_seats)]


def group_deck(rules: HoldemRules, seed: int, *group: int) -> np.ndarray:
    """Return the deck of a group, which depends on the run's seed and the group's numbers alone."""
    sequence = np.random.SeedSequence(seed, spawn_key=(_DECK_STREAM, *group))
    return deal_deck(rules, np.random.Generator(np.random.PCG64(sequence)))


def play_group(
    rules: HoldemRules,
    agents: Sequence[Agent],
    contestants: Sequence[int],
    seed: int,
    group: tuple[int, ...],
    streams: SeatStreams,
    on_hand: Callable[[Hand, Sequence[int], Sequence[Agent]], None],
    *,
    repair: bool = False,
    aivat: Aivat | None = None,
    trusted: Collection[int] = (),
) -> dict[int, AgentScore]:
    """Play one deck in every rotation of the line-up and return each contestant's score.

    The order around the table is drawn anew for each group: who sits to whose left would otherwise
    depend on the order in which agents were named, and decide close rankings.

    Parameters
    ----------
    agents : sequence of Agent
        One for each line-up position.
    contestants : sequence of int
        The number under which each position's score is kept; copies of an agent share one.
    seed, group
        The run's seed and the numbers that name this group; together they fix the deck, the order
        around the table and every seat's random stream in every rotation.
    on_hand : callable
        Called with every hand, and the contestant and the agent in each seat, which has just played it.
    repair : bool
        What a fault costs (`play_hand`).
    aivat : Aivat, optional
        Also corrects the scores for luck.
    trusted : collection of int
        Contestants whose word about their strategy decides the others' scores, too (`Aivat.scores`).

    Notes
    -----
    Payoffs are multiples of 1/2520 chip, so scores are summed as integers: six equal deterministic
    agents score exactly 0.
    """
    num_seats = rules.num_seats
    deck = group_deck(rules, seed, *group)
    order_sequence = np.random.SeedSequence(seed, spawn_key=(_ORDER_STREAM, *group))
    order = np.random.Generator(np.random.PCG64(order_sequence)).permutation(num_seats).tolist()
    words_each = 2 * num_seats
    sequence = np.random.SeedSequence(seed, spawn_key=(_AGENT_STREAM, *group))
    words = sequence.generate_state(words_each * num_seats, np.uint64).tolist()
    held: dict[int, list[int]] = {contestant: [] for contestant in contestants}
    payoffs: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    faults: dict[int, list[Fault]] = {contestant: [] for contestant in contestants}
    play = {contestant: np.zeros((num_seats, len(COUNTERS)), dtype=np.uint8) for contestant in contestants}
    waits: dict[int, list[float]] = {contestant: [] for contestant in contestants}
    corrected: dict[int, list[Score]] = {contestant: [] for contestant in contestants}
    if aivat is not None:
        value_sequence = np.random.SeedSequence(seed, spawn_key=(_VALUE_STREAM, *group))
        aivat.restart(np.random.Generator(np.random.PCG64(value_sequence)))
    for number, places in enumerate(rotations(num_seats)):
        seating = [order[place] for place in places]
        rngs = streams.seed(words[number * words_each : (number + 1) * words_each])
        seated = [agents[position] for position in seating]
        hand = play_hand(rules, seated, deck, rngs, repair=repair)
        seats = [contestants[position] for position in seating]
        on_hand(hand, seats, seated)
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
            for contestant, score in zip(seats, aivat.scores(hand, seated, told), strict=True):
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
        corrected = [(score.estimate, score.payoff + score.true_chance) for score in scores]
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
        "aivat_squared": fsum(estimate**2 for estimate in estimates if estimate is not None) if is_full else None,
        "true_chance_squared": fsum((score.payoff + score.true_chance) ** 2 for score in scores),
        "refused": next((score.refused for score in scores if score.refused), ""),
        "calibration": calibration.sums.tobytes(),
    }
