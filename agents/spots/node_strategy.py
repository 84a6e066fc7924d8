"""What a solved spot's players do at a node."""

from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import STREET_END
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.node_names import PLAYERS, action_names
from plurispiel.agents.spots.spot import Spot

__all__ = ["NodeStrategy", "node_strategy"]


@dataclass(frozen=True, eq=False)
class NodeStrategy:
    """What a player does at a node.

    Attributes
    ----------
    node : str
        Its name; empty at the root.
    player : {"oop", "ip"}
    board : tuple of int
    actions : tuple of str
    probabilities : float64[1326, num_actions]
        NaN for combos that the player cannot hold.
    weights : float64[1326]
        How likely the player is to be there with each combo, of the weight in its range.
    """

    node: str
    player: str
    board: tuple[int, ...]
    actions: tuple[str, ...]
    probabilities: np.ndarray
    weights: np.ndarray

    @property
    def combos(self) -> dict[str, list[float]]:
        """The probabilities of each combo of the range, by its letters."""
        held = np.flatnonzero(~np.isnan(self.probabilities[:, 0]))
        return {combo_text(int(combo)): self.probabilities[combo].tolist() for combo in held}

    @property
    def frequencies(self) -> np.ndarray:
        """How often each action is taken by the range that comes here: float64[num_actions]."""
        held = self.weights > 0.0
        weighed = self.weights[held] @ self.probabilities[held]
        return weighed / self.weights.sum() if held.any() else np.full(len(self.actions), np.nan)


def node_strategy(spot: Spot, solver: VectorSolver, node: str) -> NodeStrategy:
    """Return the average strategy at a node; see `SpotSolution.strategy`."""
    board = parse_cards(spot.board)
    dealt: list[tuple[int, ...]] = []
    index, number, image = 0, 0, np.arange(solver.subgame.state.rules.num_combos)
    weights = solver.ranges.copy()
    street = solver.streets[0].betting
    place = int(np.flatnonzero(street.nodes.number == 0)[0])
    taken: list[str] = []
    for word in [*node.split(), ""]:
        here = f"at node {' '.join(taken)!r}" if taken else "at the root"
        if street.nodes.kind[place] == STREET_END:
            if not word:
                raise ValueError(f"{here} the {STREETS[spot.street + index + 1]} card is dealt: name it")
            (card,) = _one_card(word, here)
            if card in board:
                raise ValueError(f"{here} {word!r} is on the board already")
            board, dealt = (*board, card), [*dealt, (card,)]
            number, image = solver.locate(dealt)
            weights[:, (solver.subgame.state.rules.combos == card).any(axis=1)] = 0.0
            index += 1
            root = int(street.nodes.end[place])
            street = solver.streets[index].betting
            place = int(np.flatnonzero(street.nodes.number == root)[0])
            taken.append(cards_text([card]))
            continue
        decision = next((each for each in street.decisions if each.node == place), None)
        if decision is None:
            raise ValueError(f"{here} the hand is over")
        names = action_names(solver.subgame, decision)
        probabilities = solver.strategy(index, decision, number)[image]
        probabilities[weights[decision.seat] <= 0.0] = np.nan
        if not word:
            return NodeStrategy(
                " ".join(taken),
                PLAYERS[decision.seat],
                board,
                tuple(name for name, _ in names),
                probabilities,
                weights[decision.seat],
            )
        column = next((k for k, pair in enumerate(names) if word in pair), None)
        if column is None:
            raise ValueError(f"{here} the actions are {' '.join(name for name, _ in names)}, got {word!r}")
        held = weights[decision.seat] > 0.0
        weights[decision.seat, held] *= probabilities[held, column]
        place = list(decision.children.values())[column]
        taken.append(names[column][0])
    raise AssertionError("the last word is empty and ends the walk")


def _one_card(word: str, here: str) -> tuple[int, ...]:
    try:
        cards = parse_cards(word)
    except ValueError:
        cards = ()
    if len(cards) != 1:
        raise ValueError(f"{here} a card is dealt, written like 7d, got {word!r}")
    return cards
