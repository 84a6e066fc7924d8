"""Reads and checks the strategies that agents report at their decisions of a hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import SUM_TOLERANCE, Agent, PublicState, Strategy
from plurispiel.evaluation import _aivat_kernels as kernels
from plurispiel.evaluation.betting_lines import BettingLine
from plurispiel.evaluation.hand import CONTESTANT_ERRORS, REPAIRABLE, AgentFault, Fault, Hand, error_text

__all__ = ["Announced", "Answers", "BadStrategy", "Reports"]

_MAX_KEPT = 256
_MAX_NEWEST = 16


class BadStrategy(ValueError):
    """A reported strategy is malformed, or contradicts an action that was played."""


class Announced(NamedTuple):
    """The strategy that an agent reported for one of its decisions.

    Attributes
    ----------
    actions, highest : list of int
        The lowest and the highest action of each kind. Raises drawn from a range of sizes count as one kind;
        overlapping ranges are split into disjoint ones.
    probabilities : float64[num_kinds, num_combos]
        The probability of each kind with each combo; 0 for combos that share a card with the board. Nobody may write to
        this array: decisions at which the agent reported the same `Strategy` object may share it.
    played : int
        The index of the kind that includes the action played.
    """

    actions: list[int]
    highest: list[int]
    probabilities: np.ndarray
    played: int


@dataclass
class Answers:
    """The strategies that an agent reported at its decisions of a hand, or the reason why they cannot be used.

    If the agent reports no strategy, `announced` is None, and `refused` is empty unless the agent committed a fault.
    `fault` is a fault that ended the agent's process while the agent was asked for its strategy.
    """

    announced: list[Announced] | None
    refused: str = ""
    fault: Fault | None = None

    def refuse(self, text: str) -> None:
        """Use none of the reports, for the reason in `text`."""
        self.announced, self.refused = None, text


class _Kinds(NamedTuple):
    """A strategy that was read: the fields of `Announced` that do not depend on the action played."""

    actions: list[int]
    highest: list[int]
    probabilities: np.ndarray


_Read = tuple[Strategy, tuple[int, ...], _Kinds]
"""A strategy that was read, the board on which it was read, and its kinds."""


class Reports:
    """Asks the agents of a hand for their strategies, and checks their reports.

    Agents may report one `Strategy` object at many decisions with the same board. If the object has read-only arrays
    and no `highest`, it is kept with what was read, and not read again while it is kept.

    Parameters
    ----------
    rules : HoldemRules
    free_combos : callable
        Maps board cards to the combos that share no card with them, as `HoldemRules.free_combos` does.
    """

    def __init__(self, rules: HoldemRules, free_combos: Callable[[tuple[int, ...]], np.ndarray]):
        self._rules = rules
        self._sizes = [rules.board_size(street) for street in range(rules.num_streets)]
        self._free_combos = free_combos
        self._kept: dict[int, _Read] = {}  # without board cards
        self._newest: dict[int, _Read] = {}  # with board cards: hands of one deck have equal boards

    def ask(self, hand: Hand, lines: Sequence[BettingLine], agents: Sequence[Agent]) -> list[Answers]:
        """Return every agent's reported strategy at each of its decisions.

        Parameters
        ----------
        lines : sequence of BettingLine
            The line before every action of the hand.
        """
        rules = hand.rules
        board = tuple(hand.deck[rules.num_seats * rules.num_hole_cards :].tolist())
        boards = [board[:size] for size in self._sizes]
        asked = []
        for agent in agents:
            tells = getattr(type(agent), "range_strategy", Agent.range_strategy) is not Agent.range_strategy
            asked.append(Answers([] if tells else None))
        for fault in hand.faults:
            asked[fault.seat].refuse("it committed a fault, so the actions of its seat may differ from its strategy")
        for line, (seat, action, street) in zip(lines, hand.actions, strict=False):
            answers = asked[seat]
            if answers.announced is None:
                continue
            # The agent gets a copy of the state, because it could write to the state.
            public = PublicState(rules, line.state.copy(), boards[street], line.actions)
            try:
                strategy = agents[seat].range_strategy(public)
                if strategy is None:
                    answers.announced = None
                else:
                    answers.announced.append(self._announced(public, strategy, action))
            except BadStrategy as error:
                answers.refuse(f"range_strategy: {error}")
            except AgentFault as error:
                answers.refuse(error.message)
                if error.kind not in REPAIRABLE:
                    answers.fault = Fault(seat, error.kind, error.message)
            except CONTESTANT_ERRORS as error:
                answers.refuse(f"range_strategy: {error_text(error)}")
        return asked

    def _announced(self, public: PublicState, strategy: Strategy, played: int) -> Announced:
        """Return the strategy reported for a decision, checked for the combos that share no card with the board.

        Raises
        ------
        BadStrategy
            If the strategy is malformed, or does not name the action that was played.
        """
        kept, most = (self._newest, _MAX_NEWEST) if public.board else (self._kept, _MAX_KEPT)
        known = kept.get(id(strategy))
        if known is not None and known[0] is strategy and known[1] == public.board:
            kinds = known[2]
            _require_legal(public, kinds)
        else:
            kinds = self._read(public, strategy)
            if _is_fixed(strategy):
                if len(kept) >= most:
                    del kept[next(iter(kept))]
                kept[id(strategy)] = strategy, public.board, kinds  # the object itself, so that its id stays taken
        for kind, (low, high) in enumerate(zip(kinds.actions, kinds.highest, strict=True)):
            if low <= played <= high:
                return Announced(*kinds, kind)
        raise BadStrategy(f"it does not name {played}, the action that was played")

    def _read(self, public: PublicState, strategy: Strategy) -> _Kinds:
        """Return the kinds of action of a strategy, and their probabilities; raise BadStrategy if it is malformed."""
        rules = self._rules
        lowest = np.asarray(strategy.actions)
        highest = lowest if strategy.highest is None else np.asarray(strategy.highest)
        rows = np.require(strategy.probabilities, np.float64, ["C", "W"])
        if lowest.ndim != 1 or highest.shape != lowest.shape or rows.shape != (rules.num_combos, len(lowest)):
            raise BadStrategy(
                f"it needs actions[k], highest[k] or None, and probabilities[{rules.num_combos}, k], "
                f"got shapes {lowest.shape}, {highest.shape} and {rows.shape}"
            )
        probabilities = np.empty((len(lowest), rules.num_combos))
        if not kernels.read_rows(rows, self._free_combos(public.board), SUM_TOLERANCE, probabilities):
            raise BadStrategy(f"its rows are not probabilities of at least 0 that sum to 1 within {SUM_TOLERANCE:g}")
        kinds = _Kinds(lowest.tolist(), highest.tolist(), probabilities)
        _require_legal(public, kinds)
        # Ranges may overlap. They are made disjoint, so that the action played belongs to one kind only.
        if kinds.actions != kinds.highest or len(set(kinds.actions)) < len(kinds.actions):
            return _disjoint(kinds)
        return kinds


def _is_fixed(strategy: Strategy) -> bool:
    """Return whether a strategy has no `highest`, and nobody can write to its arrays unless they are made writeable."""
    arrays = strategy.actions, strategy.probabilities
    is_array = strategy.highest is None and all(isinstance(array, np.ndarray) for array in arrays)
    return is_array and all(array.flags.owndata and not array.flags.writeable for array in arrays)


def _require_legal(public: PublicState, kinds: _Kinds) -> None:
    """Raise BadStrategy if a kind's lowest action is above its highest, or one of the two is not legal."""
    for low, high in zip(kinds.actions, kinds.highest, strict=True):
        if low > high or not public.is_legal(low) or (high != low and not public.is_legal(high)):
            raise BadStrategy(f"it names actions {low}..{high}: one is not legal, or the first is above the second")


def _disjoint(kinds: _Kinds) -> _Kinds:
    """Return disjoint ranges of actions and their probabilities.

    The probability of each given range is spread evenly over its sizes.
    """
    lows, highs, probabilities = kinds
    edges = sorted({*lows, *(high + 1 for high in highs)})
    ranges, columns = [], []
    for low, end in zip(edges, edges[1:], strict=False):
        covering = [k for k in range(len(lows)) if lows[k] <= low and highs[k] >= end - 1]
        if covering:
            ranges.append((low, end - 1))
            columns.append(sum(probabilities[k] * ((end - low) / (highs[k] - lows[k] + 1)) for k in covering))
    return _Kinds([low for low, _ in ranges], [high for _, high in ranges], np.stack(columns))


def warmup() -> None:
    """Compile every kernel that this module calls."""
    kernels.read_rows(np.ones((1, 1)), np.ones(1, dtype=bool), 0.0, np.empty((1, 1)))
