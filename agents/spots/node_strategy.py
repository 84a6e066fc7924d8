"""The strategy of a solved spot at a node."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import STREET_END, BettingDecision
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.abstraction.machine.sums import product
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.node_names import PLAYERS, action_names
from plurispiel.agents.spots.spot import Spot

__all__ = ["NodePlace", "NodeStrategy", "at_node", "column_of", "find_node", "node_strategy"]


@dataclass(frozen=True, eq=False)
class NodeStrategy:
    """A player's average strategy at a node.

    Attributes
    ----------
    node : str
        The node's name; empty at the root.
    player : {"oop", "middle", "ip"}
        The player who acts at the node.
    board : tuple of int
        The board cards at the node.
    actions : tuple of str
        The names of the actions; see `node_names`.
    probabilities : float64[1326, num_actions]
        The probability of each action with each combo; NaN for combos of weight 0.
    weights : float64[1326]
        Each combo's weight in the player's range, times the player's reach with that combo. Combos that share a card
        with the board have weight 0. With two players, each range is first scaled so that its largest weight is 1.
    """

    node: str
    player: str
    board: tuple[int, ...]
    actions: tuple[str, ...]
    probabilities: np.ndarray
    weights: np.ndarray

    @property
    def combos(self) -> dict[str, list[float]]:
        """The probabilities of the actions for each combo that reaches the node, keyed by the combo's cards as text."""
        combos = np.flatnonzero(~np.isnan(self.probabilities[:, 0]))
        return {combo_text(int(combo)): self.probabilities[combo].tolist() for combo in combos}

    @property
    def frequencies(self) -> np.ndarray:
        """The frequency of each action over all combos that reach the node: float64[num_actions], NaN if none does."""
        reached = self.weights > 0.0
        weighted = product(self.weights[None, reached], self.probabilities[reached])[0]
        return weighted / self.weights.sum() if reached.any() else np.full(len(self.actions), np.nan)


@dataclass(frozen=True, eq=False)
class NodePlace:
    """A decision of a solved spot of two players.

    Attributes
    ----------
    node : str
        The node's name.
    board : tuple of int
        The board cards at the node.
    dealt : list of tuple of int
        The new cards of each street after the spot's first.
    street : int
        The number of streets after the spot's first: the length of `dealt`.
    number : int
        The number of a board among the solver's boards of the street. It stands for `board`, up to a renaming of suits.
    image : int64[num_combos]
        The combo into which this renaming turns each combo (`VectorSolver.locate`).
    decision : BettingDecision
    weights : float64[2, num_combos]
        Each seat's weight of each combo: the range, times the average strategy on the way; see `NodeStrategy`.
    probabilities : float64[num_combos, num_actions]
        The strategy at the decision; NaN for combos of weight 0.
    names : tuple of str
        The names of the actions.
    """

    node: str
    board: tuple[int, ...]
    dealt: list[tuple[int, ...]]
    street: int
    number: int
    image: np.ndarray
    decision: BettingDecision
    weights: np.ndarray
    probabilities: np.ndarray
    names: tuple[str, ...]


def node_strategy(spot: Spot, solver: VectorSolver, node: str) -> NodeStrategy:
    """Return the average strategy at a node; see `SpotSolution.strategy`."""
    place = find_node(spot, solver, node)
    seat = place.decision.seat
    return NodeStrategy(place.node, PLAYERS[seat], place.board, place.names, place.probabilities, place.weights[seat])


def find_node(spot: Spot, solver: VectorSolver, node: str) -> NodePlace:
    """Return the decision that a name leads to.

    Raises
    ------
    ValueError
        If the name leads to no decision.
    """
    board = parse_cards(spot.board)
    dealt: list[tuple[int, ...]] = []
    index, number, image = 0, 0, np.arange(solver.subgame.state.rules.num_combos)
    weights = solver.ranges.copy()
    street = solver.streets[0].betting
    here = int(np.flatnonzero(street.nodes.number == 0)[0])
    taken: list[str] = []
    for word in [*node.split(), ""]:
        where = at_node(taken)
        if street.nodes.kind[here] == STREET_END:
            if not word:
                raise ValueError(f"{where} the {STREETS[spot.street + index + 1]} card is dealt: name it")
            (card,) = _one_card(word, where)
            if card in board:
                raise ValueError(f"{where} {word!r} is on the board already")
            board, dealt = (*board, card), [*dealt, (card,)]
            number, image = solver.locate(dealt)
            weights[:, ~solver.subgame.state.rules.free_combos([card])] = 0.0
            index += 1
            root = int(street.nodes.end[here])
            street = solver.streets[index].betting
            here = int(np.flatnonzero(street.nodes.number == root)[0])
            taken.append(cards_text([card]))
            continue
        decision = next((each for each in street.decisions if each.node == here), None)
        if decision is None:
            raise ValueError(f"{where} the hand is over")
        names = action_names(solver.subgame, decision)
        probabilities = solver.strategy(index, decision, number)[image]
        probabilities[weights[decision.seat] <= 0.0] = np.nan
        if not word:
            shown = tuple(name for name, _ in names)
            name = " ".join(taken)
            return NodePlace(name, board, dealt, index, number, image, decision, weights, probabilities, shown)
        column = column_of(word, names, where)
        reached = weights[decision.seat] > 0.0
        weights[decision.seat, reached] *= probabilities[reached, column]
        here = list(decision.children.values())[column]
        taken.append(names[column][0])
    raise AssertionError("the last word is empty and ends the walk")


def at_node(taken: Sequence[str]) -> str:
    """Return a node's place as text for an error message, from the words of the node's name so far."""
    return f"at node {' '.join(taken)!r}" if taken else "at the root"


def column_of(word: str, names: Sequence[tuple[str, str]], where: str) -> int:
    """Return the index of the action that a word names.

    Parameters
    ----------
    names : sequence of (str, str)
        Both names of each action, as from `action_names`.
    where : str
        The node's place for the error message, as from `at_node`.

    Raises
    ------
    ValueError
        If no action has the name.
    """
    for column, pair in enumerate(names):
        if word in pair:
            return column
    raise ValueError(f"{where} the actions are {' '.join(name for name, _ in names)}, got {word!r}")


def _one_card(word: str, where: str) -> tuple[int, ...]:
    try:
        cards = parse_cards(word)
    except ValueError:
        cards = ()
    if len(cards) != 1:
        raise ValueError(f"{where} a card is dealt, written like 7d, got {word!r}")
    return cards
