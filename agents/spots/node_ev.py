"""The EV of every hand and every action at a node of a solved spot of two players, and every hand's equity.

On the spot's first street, a measuring walk over the whole tree for each player gives the values. On later streets, a
new solver is made for the part of the game after the node. It begins with both players' weights at the node, and copies
the average strategies. So a walk covers only the boards that can follow the node.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, rank_hands, showdown_margin
from plurispiel.agents.resolve.node_values import OWN, NodeValues
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.agents.spots.node_strategy import NodePlace, find_node
from plurispiel.agents.spots.spot import Spot

__all__ = ["NodeEv", "combo_equity", "node_ev", "solver_behind"]


@dataclass(frozen=True, eq=False)
class NodeEv:
    """Values of hands at a node, if both players follow the average strategies from the node on.

    The EV of a hand is its mean share of the final pot, less the player's further bets, in chips: bets before the node
    are not subtracted. So folding has EV 0. The mean is over the other player's compatible hands, by their weights at
    the node, and over the cards to come.

    Attributes
    ----------
    node : str
        The node's name; empty at the root.
    player : {"oop", "ip"}
        The player who acts at the node.
    actions : tuple of str
        The names of the actions; see `node_names`.
    ev : float64[2, num_combos]
        Each player's EV with each combo, out of position first; NaN for combos of weight 0 and for combos that face no
        compatible hand.
    action_ev : float64[num_combos, num_actions]
        The EV of each action of the player who acts; NaN as in `ev`.
    equity : float64[2, num_combos]
        Each combo's share of the pot, 0 to 1, if the rest of the board is dealt without bets; NaN as in `ev`.
    weights : float64[2, num_combos]
        Each player's weight of each combo at the node, as in `NodeStrategy`.
    facing : float64[2, num_combos]
        For each player and combo, the weight of the other player's compatible hands.
    """

    node: str
    player: str
    actions: tuple[str, ...]
    ev: np.ndarray
    action_ev: np.ndarray
    equity: np.ndarray
    weights: np.ndarray
    facing: np.ndarray

    @property
    def combo_ev(self) -> dict[str, dict[str, float]]:
        """The EV of each combo, by player and by the combo's cards as text, without combos whose EV is NaN."""
        return {
            player: {combo_text(int(combo)): float(row[combo]) for combo in np.flatnonzero(~np.isnan(row))}
            for player, row in zip(PLAYERS, self.ev, strict=True)
        }


def node_ev(spot: Spot, solver: VectorSolver, node: str) -> NodeEv:
    """Return the values of hands at a node; see `SpotSolution.node_ev`."""
    place = find_node(spot, solver, node)
    whole, seat = solver.subgame, place.decision.seat
    rules = whole.state.rules
    hands = rank_hands(rules, place.board)
    facing = np.zeros_like(place.weights)
    facing[:, hands.combos] = fold_mass(hands, place.weights[::-1, hands.combos])
    known = (place.weights > 0.0) & (facing > 0.0)
    ev, action_ev = np.full_like(facing, np.nan), np.full((rules.num_combos, len(place.names)), np.nan)
    if known.any():
        found = _values(solver, place)
        put_in = np.array(place.decision.state_of(whole.state).contributions[:2], np.float64)  # values are net of these
        divisor = np.where(known, found.facing, np.nan)
        ev = found.values[:, OWN] / divisor + put_in[:, None]
        action_ev = (found.actions / divisor[seat]).T + put_in[seat]
    equity = np.where(known, combo_equity(place.board, place.weights, rules), np.nan)
    return NodeEv(place.node, PLAYERS[seat], place.names, ev, action_ev, equity, place.weights, facing)


def combo_equity(board: tuple[int, ...], weights: np.ndarray, rules: HoldemRules) -> np.ndarray:
    """Return each combo's share of the pot if the rest of the board is dealt without bets: float64[2, num_combos].

    Parameters
    ----------
    board : tuple of int
        The three to five board cards so far.
    weights : float64[2, num_combos]
        Each seat's weight of each combo, in any scale. On each whole board, combos that share a card with it are left
        out. The result is NaN for a combo that never meets a compatible hand.
    """
    ranker = HandRanker(rules)
    left = [card for card in rules.cards.tolist() if card not in board]
    margin, mass = np.zeros((2, rules.num_combos)), np.zeros((2, rules.num_combos))
    for new in combinations(left, rules.num_board_cards - len(board)):
        hands = ranker.rank(board + new)
        others = weights[::-1, hands.combos]
        margin[:, hands.combos] += showdown_margin(hands, others)
        mass[:, hands.combos] += fold_mass(hands, others)
    return 0.5 + 0.5 * np.divide(margin, mass, out=np.full_like(mass, np.nan), where=mass > 0.0)


def _values(solver: VectorSolver, place: NodePlace) -> NodeValues:
    if place.street == 0:
        return solver.values_after([action for _, action, _ in place.decision.actions])
    return solver_behind(solver, place).values_after([])


def solver_behind(solver: VectorSolver, place: NodePlace) -> VectorSolver:
    """Return a solver of the game from a node on, with the strategy sums of `solver`."""
    whole, taken = solver.subgame, place.decision.actions
    locks = {actions[len(taken) :]: lock for actions, lock in whole.locks.items() if actions[: len(taken)] == taken}
    below = Subgame(
        place.decision.state_of(whole.state), place.board, place.weights, whole.menu, whole.dead_chips, locks
    )
    behind = VectorSolver(below, solver.algorithm, threads=solver.threads, dtype=solver.dtype)
    for index, street in enumerate(behind.streets):
        above = solver.streets[place.street + index]
        known = {each.actions: each for each in above.betting.decisions}
        pairs = [(each, known[taken + each.actions]) for each in street.betting.decisions]
        for board, cards in enumerate(street.deals.boards):
            number, image = solver.locate([*place.dealt, *((card,) for card in cards[len(place.board) :])])
            for seat in range(2):
                hands, source = street.deals.arrays.seats[seat], above.deals.arrays.seats[seat]
                combos = hands.combos[hands.first[board] : hands.first[board + 1]]
                place_of = np.zeros(len(image), np.int64)
                members = source.combos[source.first[number] : source.first[number + 1]]
                place_of[members] = np.arange(len(members))
                columns = place_of[image[combos]]
                for mine, theirs in pairs:
                    if mine.seat == seat:
                        entries = above.entries(solver.streets[place.street + index].sums, theirs, number)[1]
                        street.rows(street.sums, mine, board)[:, : len(combos)] = entries[columns].T
    return behind
