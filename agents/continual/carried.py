"""The two things that continual re-solving carries through a hand: a seat's range, and bounds on the opponent's values.

A bound is the expected value of one of the opponent's combos, in chips of the whole hand: chips that the opponent has
put in count as lost. The paper carries counterfactual values instead. Whenever the range is normalised, they must be
divided by the same number as the range; the paper's listing leaves this division out. Expected values need no division.

The seat's action multiplies the range by the action's probabilities, and the bounds become the opponent's values after
the action. A card takes combos out of the range, and the bounds become the opponent's values after the card. An action
of the opponent changes neither: a bound holds for the best of the opponent's actions, so it holds for a bet of any
size.

References
----------
M. Moravcik et al.: DeepStack: expert-level artificial intelligence in heads-up no-limit poker. Science (2017),
"Continual re-solving", and Lemma 7 of the supplementary materials.
"""

from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.continual.leaf_values import board_chance
from plurispiel.agents.continual.lookahead import SolvedLookahead

__all__ = ["NOBODY", "Carried", "expected_values", "facing", "start", "trusted"]

NOBODY = 1e-12
"""A range whose weights sum to less counts as empty: no hand takes the action, or none is left after the cards."""


@dataclass(frozen=True, eq=False)
class Carried:
    """The range and the bounds of a seat at a public state.

    Attributes
    ----------
    range : float64[num_combos]
        The seat's own range, of sum 1.
    bounds : float64[num_combos] or None
        The most that each combo of the opponent may win, in chips of the whole hand. None where nothing is known, as
        for the seat that acts first in a hand, and after an action that no combo takes: then the subgame is solved
        without a gadget.
    estimate : float64[num_combos] or None
        The opponent's range in the last solution, of sum 1. In small games it is the range at the start of the second
        street, and only a seat's first decision of this street has it; None at other decisions.
    trust : float
        How far the opponent's actions fit `estimate` (`trusted`); 1 in small games.
    """

    range: np.ndarray
    bounds: np.ndarray | None = None
    estimate: np.ndarray | None = None
    trust: float = 1.0

    def after_action(
        self, solution: SolvedLookahead, node: int, action: int, played: np.ndarray, seat: int
    ) -> "Carried":
        """Return the range and bounds after the seat's own action: the result of `start` if no combo takes the action.

        Parameters
        ----------
        solution : SolvedLookahead
            The solution by which the seat has acted.
        node : int
            The decision's node in `solution`.
        action : int
        played : float64[num_combos, num_actions]
            The strategy that was played at the decision.
        """
        children = list(solution.decision(node).children)
        left = self.range * played[:, children.index(action)] if action in children else np.zeros_like(self.range)
        if left.sum() < NOBODY:
            return start(solution.rules, solution.board)
        reach = solution.reach_after(node)[:, children.index(action)]
        carried = Carried(left / left.sum())
        return carried.bounded(solution, solution.decision(node).children[action], 1 - seat, reach)

    def bounded(self, solution: SolvedLookahead, node: int, other: int, reach: np.ndarray | None = None) -> "Carried":
        """Return the same range with new bounds: the opponent's values at a node of a solution, and no estimate.

        Parameters
        ----------
        other : int
            The opponent's seat.
        reach : float64[num_combos], optional
            The seat's reach at the node in the solution, whose sum need not be 1; by default `range`.
        """
        masses = facing(solution.rules, solution.board, self.range if reach is None else reach)
        return Carried(self.range, expected_values(solution.means.values[other, node], masses))

    def after_cards(self, solution: SolvedLookahead, node: int, board: tuple[int, ...], seat: int) -> "Carried":
        """Return the range and bounds after the cards of a new street.

        Without bounds, or if the cards leave no hands, this is the result of `start`.

        Parameters
        ----------
        solution : SolvedLookahead
            The seat's last solution on the street before.
        node : int
            The node in `solution` at which the street ended.
        board : tuple of int
            The whole board, with the new cards.
        """
        rules = solution.rules
        free = rules.free_combos(board)
        left = self.range * free
        end, number = int(solution.betting.nodes.end[node]), solution.board_number(board)
        reach = solution.means.end_reach[:, end] * free
        masses = facing(rules, board, reach[seat]) * board_chance(rules, len(solution.board), len(board))
        if self.bounds is None or left.sum() < NOBODY or masses.sum() < NOBODY:
            return start(rules, board)
        bounds = expected_values(solution.means.end_values[1 - seat, end, number], masses)
        other = reach[1 - seat]
        return Carried(left / left.sum(), bounds, other / other.sum() if other.sum() > 0.0 else None)


def start(rules: HoldemRules, board: tuple[int, ...]) -> Carried:
    """Return the range and bounds where nothing is known: all free combos equally likely, and no bounds."""
    free = rules.free_combos(board)
    return Carried(free / free.sum())


def trusted(prior: float, trust: float) -> float:
    """Return the share of the opponent's weight that is spread like the estimate, by Bayes' rule; at most `prior`.

    An opponent of the estimated strategies takes its actions with some probability. The alternative is an opponent that
    takes each action on offer equally often. An action that the estimated strategies almost never take shows that the
    estimate is wrong. If it still counted, an all-in would be called as if the opponent held any hand, and an opponent
    that goes all-in with strong hands alone would win much.

    Parameters
    ----------
    prior : float
        The share before any action, below 1.
    trust : float
        The likelihood of the actions by the estimate, divided by that by the alternative. The quotient is cut to 1
        after each action, so that expected actions do not make up for a later one.
    """
    return prior * trust / (prior * trust + 1.0 - prior)


def facing(rules: HoldemRules, board: tuple[int, ...], reach: np.ndarray) -> np.ndarray:
    """Return, for each combo, the sum of `reach` over the compatible hands on a board: float64[num_combos]."""
    hands = rank_hands(rules, board)
    found = np.zeros(rules.num_combos)
    found[hands.combos] = fold_mass(hands, reach[hands.combos])
    return found


def expected_values(values: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Return expected values: counterfactual values divided by the weight of the hands that each hand faces.

    The value of a hand that faces no hand is 0, as a bound has no effect there.
    """
    return np.divide(values, masses, out=np.zeros_like(values), where=masses > 0.0)
