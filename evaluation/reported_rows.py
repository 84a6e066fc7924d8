"""The strategies that agents report, as tables of rows for kernels, in a game with a menu of raises."""

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.actions.tree_states import TreeStates
from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import SUM_TOLERANCE, Agent
from plurispiel.agents.blueprint.acting_rows import StreetRows
from plurispiel.agents.blueprint.acting_rows_kernels import EarlierRows
from plurispiel.evaluation.range_reader import RangeQuestion, RangeReader

__all__ = ["ReportedRows"]


class ReportedRows:
    """The rows of two agents' reported strategies.

    An agent is asked anew at each of its decisions on each board whose rows are wanted. Each combo on each board is a
    bucket of its own.

    Parameters
    ----------
    rules : HoldemRules
    tree : BettingTree
        The tree of all raises on offer in the game, built with the menu `game_menu`.
    agents : sequence of Agent
        The agent of each seat. The two are separate objects, even if they play the same strategy.
    dtype : data type
        Of the table that `rows_on` returns.

    Raises
    ------
    ValueError
        If the agents are one object. Each agent is also asked random questions about streets with board cards: if an
        answer is missing or malformed, changes when suits are renamed, or depends on the order of cards dealt together.
        `preflop` and `rows_on` raise ValueError if an agent reports no strategy, or no distribution over the legal
        actions.
    """

    def __init__(self, rules: HoldemRules, tree: BettingTree, agents: list[Agent], dtype: npt.DTypeLike = np.float64):
        self._rules, self._tree, self._dtype = rules, tree, np.dtype(dtype)
        self._reader = RangeReader(rules, agents)
        states = TreeStates(rules, tree)
        self._questions = {node: self._question(states, node) for node in np.flatnonzero(tree.actor >= 0).tolist()}
        for street in range(rules.num_streets):
            asked = [question for node, question in self._questions.items() if tree.street[node] == street]
            if rules.board_size(street) and not self._reader.is_suit_symmetric(asked, street):
                names = " and ".join(sorted({agent.name for agent in agents}))
                raise ValueError(
                    f"a flop stands for all renamings of its suits, but {names} tells suits apart; "
                    "measure it without the option flops"
                )

    def preflop(self, node: int) -> np.ndarray:
        """Return the rows of all combos at a decision before the flop: float64[num_combos, num_actions]."""
        return self._row(node, ())

    def rows_on(self, street: int, boards: list[tuple[int, ...]]) -> tuple[StreetRows, np.ndarray]:
        """Return a street's rows on some boards, and the bucket of each combo: int32[num_boards, num_combos].

        Before the flop the rows are zeros: `preflop` returns the rows of a decision there.
        """
        num_combos = self._rules.num_combos
        numbers = np.arange(len(boards) * num_combos, dtype=np.int32).reshape(len(boards), num_combos)
        nodes = [node for node in self._questions if self._tree.street[node] == street]
        pairs = int(self._tree.num_actions[nodes].sum())
        table = np.zeros((len(boards) * num_combos, pairs), self._dtype)
        if street:
            for number, board in enumerate(boards):
                part = table[number * num_combos : (number + 1) * num_combos]
                for node in nodes:
                    first = int(self._tree.row[node])
                    part[:, first : first + int(self._tree.num_actions[node])] = self._row(node, board)
        none_open = np.empty((len(table), 0), np.bool_)
        return StreetRows(table, np.empty(0, np.int32), none_open, _no_earlier_rows()), numbers

    def strengths(self, board: tuple[int, ...]) -> np.ndarray:
        """Return zeros: only combos without a row need a strength, and here every combo has a row."""
        return np.zeros(self._rules.num_combos)

    defence = 0.0

    def strength_order(self, board: tuple[int, ...], street: int) -> np.ndarray:
        """Return zeros: no row depends on the range."""
        return np.zeros(self._rules.num_combos)

    def _row(self, node: int, board: tuple[int, ...]) -> np.ndarray:
        question = self._questions[node]
        probabilities, columns = self._reader.read(question, board)
        row = np.stack([probabilities[:, columns == child].sum(axis=1) for child in question.nodes], axis=1)
        possible = row[self._rules.free_combos(board)]
        if not (np.abs(possible.sum(axis=1) - 1.0) <= SUM_TOLERANCE).all() or (possible < -SUM_TOLERANCE).any():
            raise self._reader.fault(question, board)
        return row

    def _question(self, states: TreeStates, node: int) -> RangeQuestion:
        tree = self._tree
        actions, at = [], node
        while at > 0:
            parent = int(tree.parent[at])
            actions.append((int(tree.actor[parent]), int(tree.action[at]), int(tree.street[parent])))
            at = parent
        first = int(tree.first_child[node])
        children = {action: first + place for place, action in enumerate(tree.actions(node).tolist())}
        state = states.state(node).array.tolist()
        return RangeQuestion(BettingDecision(node, 0, int(tree.actor[node]), state, tuple(reversed(actions)), children))


def _no_earlier_rows() -> EarlierRows:
    """Return `EarlierRows` without any decision."""
    stored = np.empty(0, np.uint8)
    stored.setflags(write=False)  # the type in packed blueprints, so that kernels are not compiled for another one
    none = np.empty(0, np.int64)
    zero = np.zeros(1, np.int64)
    return EarlierRows(stored, zero, none.reshape(0, 4), zero, np.empty(0), none, none, np.empty(0, np.float64))
