"""The strategy of continual re-solving in a whole small game, found by re-solving at every public state.

Both seats re-solve everywhere. The strategy at a public state depends on the public history alone (`Resolver`). So the
strategy can be written down for all infosets, and its exploitability can be computed exactly.
"""

from collections import Counter

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame
from plurispiel.abstraction.trees.game_tree import CHANCE, GameTree
from plurispiel.abstraction.trees.public_states import PublicStates, public_states, rule_actions
from plurispiel.agents.continual.config import ContinualConfig
from plurispiel.agents.continual.leaf_values import Line
from plurispiel.agents.continual.resolver import Resolver

__all__ = ["continual_strategy", "public_decisions"]


def continual_strategy(tree: GameTree, config: ContinualConfig) -> tuple[np.ndarray, Counter[str]]:
    """Return the strategy of continual re-solving at all seats, float64[num_actions], and the counts of `Resolver`.

    Parameters
    ----------
    tree : GameTree
        The tree of a game with hold'em's rules, two seats and one or two streets.
    config : ContinualConfig

    Raises
    ------
    ValueError
        If the game is not such a game, or `Resolver` refuses it.
    ArtefactRefused
        If `config.values` names a network that cannot be used.

    Examples
    --------
    >>> from plurispiel.abstraction.trees.game_tree import flatten
    >>> strategy, counts = continual_strategy(flatten("kuhn_poker"), ContinualConfig(iterations=100))
    >>> len(strategy), counts["decisions"]
    (24, 4)
    """
    publics = public_states(tree)
    resolver = Resolver(OpenSpielGame(tree.openspiel_game).rules, config)
    actions = rule_actions(tree)
    strategy = np.zeros(tree.num_actions)
    for number, board, line in public_decisions(tree, publics):
        found = resolver.resolved(board, line)
        members = publics.members(number)
        infosets = tree.infoset[members]
        combos = publics.combo[members, publics.player[number]]
        first = tree.infoset_first[infosets]
        for k in range(int(tree.num_children[members[0]])):
            action = int(actions[first[0] + k])
            if action in found.actions:  # a raise outside the lookahead's menu is never made
                strategy[first + k] = found.played[combos, found.actions.index(action)]
    return strategy, resolver.counts


def public_decisions(tree: GameTree, publics: PublicStates) -> list[tuple[int, tuple[int, ...], Line]]:
    """Return the number, the board and all actions so far of every public state with a decision."""
    game = OpenSpielGame(tree.openspiel_game)
    states: dict[int, BettingState] = {0: BettingState(game.rules)}
    boards: dict[int, tuple[int, ...]] = {0: ()}
    lines: dict[int, Line] = {0: ()}
    found = []
    for number in range(len(publics)):
        if number:
            above, history = int(publics.parent[number]), int(publics.members(number)[0])
            states[number], boards[number], lines[number] = states[above], boards[above], lines[above]
            edge = int(tree.action[history])
            if publics.player[above] != CHANCE:
                state = states[above].copy()
                action = game.action(state.array.tolist(), edge)
                lines[number] = (*lines[above], (state.actor, action, state.street))
                state.apply(action)
                states[number] = state
            elif publics.street[above] >= 0:
                boards[number] = (*boards[above], game.card(edge))
        if publics.player[number] >= 0:
            found.append((number, boards[number], lines[number]))
    return found
