"""Exact best responses, NashConv and exploitability on the flat game tree.

A best response chooses one action in each infoset, weighing the infoset's histories by the reach of chance and the
other players. A response that chose by history would see all cards and overstate exploitability. Values are expected
payoffs from the root, in the game's own unit.
"""

from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.trees import best_response_kernels as kernels
from plurispiel.abstraction.trees.game_tree import GameTree, flatten, strategy_array, uniform_strategy


@dataclass(frozen=True, eq=False)
class Exploitability:
    """How far a strategy profile is from an equilibrium.

    Attributes
    ----------
    values : float64[num_players]
        Expected payoff of each player under the profile.
    best_response_values : float64[num_players]
        Expected payoff of each player who plays a best response to the others' strategies.
    zero_sum : bool
        Whether the payoffs of the game always sum to 0.
    """

    values: np.ndarray
    best_response_values: np.ndarray
    zero_sum: bool

    @property
    def incentives(self) -> np.ndarray:
        """Gain of each player from a best response to the others' strategies: float64[num_players]."""
        return self.best_response_values - self.values

    @property
    def nash_conv(self) -> float:
        """The sum of the incentives; 0 in a Nash equilibrium, and only there.

        With three players or more it does not bound the gain of players who deviate together.
        """
        return float(self.incentives.sum())

    @property
    def exploitability(self) -> float | None:
        """NashConv / 2 in a zero-sum game of two players, else None."""
        return self.nash_conv / 2.0 if self.zero_sum and len(self.values) == 2 else None


def exploitability(tree: GameTree, strategy: np.ndarray) -> Exploitability:
    """Return every player's value and best-response value.

    Parameters
    ----------
    strategy : float64[num_actions]
        The probabilities of all players' actions, as in `GameTree`; not checked (see `checked_strategy`).

    Raises
    ------
    ValueError
        If the strategy has another shape, as one of another game.

    Examples
    --------
    >>> tree = flatten("kuhn_poker")
    >>> round(exploitability(tree, uniform_strategy(tree)).nash_conv, 6)
    0.916667
    """
    workspace, strategy = _TreeArrays(tree), strategy_array(tree, strategy)
    responses = [workspace.respond(strategy, player) for player in range(tree.num_players)]
    return Exploitability(workspace.expect(strategy), np.array(responses), bool(tree.is_zero_sum))


def expected_values(tree: GameTree, strategy: np.ndarray) -> np.ndarray:
    """Return each player's expected payoff: float64[num_players].

    Parameters
    ----------
    strategy : float64[num_actions]
        The probabilities of all players' actions; `join_strategies` makes it from one strategy for each player.

    Raises
    ------
    ValueError
        If the strategy has another shape.
    """
    return _TreeArrays(tree).expect(strategy_array(tree, strategy))


def best_response(tree: GameTree, strategy: np.ndarray, player: int) -> tuple[float, np.ndarray]:
    """Return the value of a player's best response, and `strategy` with that player's part replaced by the response.

    The response takes one action in each infoset, the first of equally good actions. It also takes one in infosets that
    the strategies of the others never reach.

    Parameters
    ----------
    strategy : float64[num_actions]
        The probabilities of all players' actions, as in `GameTree`.

    Raises
    ------
    ValueError
        If the game has no such player, or the strategy has another shape.
    """
    if not 0 <= player < tree.num_players:
        raise ValueError(f"player must be 0..{tree.num_players - 1}, got {player}")
    workspace, strategy = _TreeArrays(tree), strategy_array(tree, strategy)
    value = workspace.respond(strategy, player)
    own = np.repeat(tree.infoset_player == player, np.diff(tree.infoset_first))
    response = np.where(own, 0.0, strategy)
    mine = np.flatnonzero(tree.infoset_player == player)
    response[tree.infoset_first[mine] + workspace.choice[mine]] = 1.0
    return value, response


class _TreeArrays:
    """The kernels' arrays, allocated once for all players."""

    def __init__(self, tree: GameTree):
        self._tree = tree
        self._reach = np.empty(tree.num_histories)
        self._sequence = np.empty(tree.num_histories, dtype=np.int32)
        self._gains = np.empty(tree.num_actions)
        self.choice = np.zeros(tree.num_infosets, dtype=np.int32)

    def respond(self, strategy: np.ndarray, player: int) -> float:
        return kernels.respond(
            self._tree.nodes, strategy, player, self._reach, self._sequence, self._gains, self.choice
        )

    def expect(self, strategy: np.ndarray) -> np.ndarray:
        values = np.empty(self._tree.num_players)
        kernels.expect(self._tree.nodes, strategy, self._reach, values)
        return values


def warmup() -> None:
    """Compile every kernel that this module calls."""
    tree = flatten("kuhn_poker")
    exploitability(tree, uniform_strategy(tree))
