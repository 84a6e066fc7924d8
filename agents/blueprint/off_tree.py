"""A blueprint's play against bets between the sizes of its tree, and where its tree has no decision.

Most of these strategies depend on the range of the seat to act. This *range* is the reach of each combo under the
agent's own strategy at the seat's earlier decisions. It is public: `act` and `range_strategy` compute the same range.

- Against a bet below the smallest size, the share of the range that goes on is that of the pseudo-harmonic mapping, and
  the strongest hands call (see the module `defence`).
- Against a bet between the all-in and the size below it, each hand folds, calls and raises as often as in the mean of
  its rows at both sizes, weighted by the mapping's probabilities.
- Where the tree has no decision, the agent takes the row of the most similar decision (see the module
  `like_decisions`). Facing a bet, it keeps the raises of this row, and the strongest hands call. If k seats can still
  answer the bet, the share of the range that goes on is 1 - (bet / (pot + bet))^(1/k). Then a bet with any two cards
  makes no profit.

The rules were chosen by the winnings of local best response (LBR) against `headsup-compact`, in mbb per hand on the
same 4,000 hands. With the menu ``56bets`` LBR wins 1,793, and 1,357 ± 642 more without these rules. With ``flop56`` it
wins 155, and 482 ± 391 more without them. Two other rules were rejected. By the first, a similar decision would also
stand in wherever the stack-to-pot ratios of hand and tree differ by a factor of two: LBR with ``56bets`` would win 239
± 289 more. By the second, the rows of the similar decision would tell how many hands fold, instead of the share above:
LBR with ``56bets`` would win 753 ± 353 more.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.translation import ShadowHand, TranslatedActions
from plurispiel.abstraction.cards.features import made_strength
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.base import Action, PublicState, Strategy
from plurispiel.agents.baselines.tight_aggressive import has_starting_hands, starting_hands
from plurispiel.agents.blueprint.blueprint import row_sums
from plurispiel.agents.blueprint.defence import call_chances, defend_by_order
from plurispiel.agents.blueprint.fallback import (
    LARGE_BET,
    LIKE,
    OFF_TREE,
    SMALL_BET,
    STRENGTH,
    KeptRows,
    defended_share,
)

__all__ = ["OffTreePlay", "defends", "shared_defence"]

MAX_KEPT = 256
"""The largest number of strategies, and of ranges, that are kept for a hand."""


class OffTreePlay:
    """The strategies of one hand against bets between sizes, and where the tree has no decision.

    Parameters
    ----------
    kept : KeptRows
    hand : ShadowHand
        The hand, with the random numbers of the agent.
    at_node : callable
        Maps (public, combo_ids, answers) to (strategy, sources): the agent's strategy of some combos at a decision of
        the tree, and the source of each row.
    range_strategy : callable
        Returns the agent's strategy of all combos at an earlier public state.
    """

    def __init__(
        self,
        kept: KeptRows,
        hand: ShadowHand,
        at_node: Callable[[PublicState, np.ndarray, TranslatedActions], tuple[Strategy, np.ndarray]],
        range_strategy: Callable[[PublicState], Strategy],
    ):
        self._kept = kept
        self._hand = hand
        self._at_node = at_node
        self._range_strategy = range_strategy
        self._strategies: dict[tuple[Any, ...], tuple[Strategy, np.ndarray]] = {}
        self._reaches: dict[tuple[tuple[Action, ...], tuple[int, ...]], np.ndarray] = {}

    def strategy(self, public: PublicState, answers: TranslatedActions) -> tuple[Strategy, np.ndarray]:
        """Return the strategy of all combos, and the source of each row as an index into `fallback.SOURCES`.

        Parameters
        ----------
        answers : TranslatedActions
            The tree's answers at the hand's place. The bet lies between two sizes (`between`), the tree has no
            decision (`node` is None), or both.
        """
        key = public.actions, public.board, answers
        found = self._strategies.get(key)
        if found is None:
            strategy, source = self._between(public, answers) if answers.between else self._without_decision(public)
            if len(self._strategies) >= MAX_KEPT:
                self._strategies.clear()
            found = strategy, np.full(len(strategy.probabilities), source, np.int8)
            self._strategies[key] = found
        return found

    def reach(self, public: PublicState) -> np.ndarray:
        """Return the range of the seat to act: the probability of each combo, float64[num_combos].

        Combos that share a card with the board have 0. An action that the agent's strategy takes with no hand of the
        range leaves the range as it is.
        """
        rules, free = public.rules, public.rules.free_combos(public.board)
        own = [number for number, (seat, _, _) in enumerate(public.actions) if seat == public.actor]
        keys = [_key(rules, public, number) for number in own]
        num_known = next((count for count in range(len(keys), 0, -1) if keys[count - 1] in self._reaches), 0)
        reach = self._reaches[keys[num_known - 1]] if num_known else np.full(rules.num_combos, 1.0 / rules.num_combos)
        for number, key in zip(own[num_known:], keys[num_known:], strict=False):
            taken = reach * self._probability_taken(public, number, key[1])
            total = dot(taken, rules.free_combos(key[1]))
            reach = taken / total if total > 0.0 else reach
            if len(self._reaches) >= MAX_KEPT:
                self._reaches.clear()
            self._reaches[key] = reach
        held = reach * free
        total = float(held.sum())
        return held / total if total > 0.0 else free / free.sum()

    def _probability_taken(self, public: PublicState, number: int, board: tuple[int, ...]) -> np.ndarray:
        """Return each combo's probability of the hand's action `number`, which was taken on `board`.

        A raise that the strategy lacks counts as the nearest raise of the strategy.
        """
        state = self._hand.at([action for _, action, _ in public.actions[:number]]).state
        before = PublicState(public.rules, state.array.tolist(), board, public.actions[:number])
        strategy = self._range_strategy(before)
        action, raises = public.actions[number].action, strategy.actions[strategy.actions > CALL]
        if action > CALL and len(raises):
            action = int(raises[np.argmin(abs(raises - action))])
        return strategy.probability(action)

    def _between(self, public: PublicState, answers: TranslatedActions) -> tuple[Strategy, int]:
        """Return the strategy of all combos against a bet between two sizes, and its source."""
        every = np.arange(public.rules.num_combos)
        if answers.node is None:
            rows = np.zeros((len(every), len(answers.actions)))
        else:
            rows = self._at_node(public, every, answers)[0].probabilities
        assert answers.between is not None
        share, lower, upper = answers.between
        calls, stays = self._continues(public, upper)
        if lower is None:
            goes_on = share + (1.0 - share) * dot(self.reach(public), stays)
            rows, source = self.defended(public, rows, calls, goes_on), SMALL_BET
        else:
            if answers.node != lower:  # the bet is all-in, so the raises after the lower size are calls
                rows = _folds_and_calls(self._continues(public, lower)[1], len(answers.actions))
            rows = share * rows + (1.0 - share) * _folds_and_calls(stays, len(answers.actions))
            source = LARGE_BET
        return Strategy(np.array(answers.actions), rows), source

    def _without_decision(self, public: PublicState) -> tuple[Strategy, int]:
        """Return the strategy of all combos where the tree has no decision, and its source."""
        every, folds = np.arange(public.rules.num_combos), [FOLD] * public.can_fold
        node = self._kept.like.find(public.betting())
        if node is None:  # check, or call with the strongest hands
            actions, source = [*folds, CALL], OFF_TREE
            rows = np.zeros((len(every), len(actions)))
            rows[:, -1] = 1.0
        else:
            source = LIKE
            targets = [action for action in self._kept.states.tree.actions(node).tolist() if action <= CALL]
            targets += [public.raise_by_pot(size) for size in self._kept.states.sizes(node)]
            actions = sorted({CALL, *folds, *targets})
            found, sources = self._kept.find(node, public.board, every)
            rows = np.zeros((len(every), len(actions)))
            for target, column in zip(targets, found.T, strict=True):
                rows[:, actions.index(target)] += column
            rows[sources == STRENGTH, actions.index(CALL)] = 1.0
        if public.can_fold:
            rows = self.defended(public, rows, call_chances(rows, actions.index(CALL)), shared_defence(public))
        return Strategy(np.array(actions), rows), source

    def defended(self, public: PublicState, rows: np.ndarray, chances: np.ndarray, share: float) -> np.ndarray:
        """Return rows in which a share of the range goes on: by the raises in `rows`, and calls of the strongest hands.

        Parameters
        ----------
        rows : float64[num_combos, num_actions]
            The columns are fold, call, then the raises.
        chances, share
            As in `defend_by_order`.
        """
        raises = row_sums(rows[:, 2:]) if rows.shape[1] > 2 else np.zeros(len(rows))
        order = self._kept.strength_order(public.board, public.street)
        factor, calls = defend_by_order(raises, chances, order, self.reach(public), share)
        rows = factor * rows
        rows[:, 1] = calls
        rows[:, 0] = np.maximum(1.0 - calls - factor * raises, 0.0)
        return rows

    def _continues(self, public: PublicState, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return two probabilities of each combo at a decision of the tree; both are 1 where the seat cannot fold.

        Returns
        -------
        float64[num_combos]
            The probability of a call, given that the combo does not raise.
        float64[num_combos]
            The probability of any action but a fold.
        """
        actions = self._kept.states.tree.actions(node).tolist()
        rows, sources = self._kept.find(node, public.board, np.arange(public.rules.num_combos))
        if actions[0] != FOLD:
            return np.ones(len(rows)), np.ones(len(rows))
        stays = 1.0 - rows[:, 0]
        calls = call_chances(rows, 1) if CALL in actions else stays.copy()
        missing = sources == STRENGTH
        if missing.any():
            calls[missing] = stays[missing] = defends(public)[missing]
        return calls, stays


def _key(rules: HoldemRules, public: PublicState, number: int) -> tuple[tuple[Action, ...], tuple[int, ...]]:
    """Return the hand's actions up to action `number`, which is included, and the board at that action."""
    return public.actions[: number + 1], public.board[: rules.board_size(public.actions[number].street)]


def shared_defence(public: PublicState) -> float:
    """Return the share of a range that goes on against a bet, 1 - (bet / (pot + bet))^(1/k).

    The bet is the chips to call, and pot + bet are all chips in the middle. k is the number of seats that can still
    answer, the seat to act included. If each of them defends this share, the probability that all fold is
    bet / (pot + bet). With k = 1, the share is the minimum defence frequency.
    """
    array = public.betting().array.tolist()
    number = array[betting_layout.NUM_ACTING] - array[betting_layout.NUM_CALLED]
    return 1.0 - (1.0 - defended_share(public.pot, public.to_call)) ** (1.0 / max(number, 1))


def defends(public: PublicState) -> np.ndarray:
    """Return whether each combo checks or calls, judged by its strength alone: bool[num_combos].

    Where there is no bet, every combo checks. Against a bet the strongest hands call: their share of all hands is the
    minimum defence frequency.
    """
    rules, board = public.rules, public.board
    strengths = starting_hands() if not board and has_starting_hands(rules) else made_strength(rules, board)
    if not public.can_fold:
        return np.ones(len(strengths), np.bool_)
    return strengths >= 1.0 - defended_share(public.pot, public.to_call)


def _folds_and_calls(stays: np.ndarray, num_actions: int) -> np.ndarray:
    """Return rows that call with the probabilities in `stays`, else fold: float64[n, num_actions]."""
    rows = np.zeros((len(stays), num_actions))
    rows[:, 0], rows[:, 1] = 1.0 - stays, stays
    return rows
