"""Any sequential OpenSpiel game that fits in memory, flattened into arrays.

Histories are numbered breadth first, so that the children of a history are contiguous and every history comes after its
parent. Infosets are numbered by player, then by their first history. Every infoset has perfect recall: in all of its
histories, the player to act took the same actions before. A *strategy* is one float64 array: the probabilities of
infoset 0's actions, then those of infoset 1's actions, and so on.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.openspiel import GAME_NAMES, OpenSpielGame
from plurispiel.abstraction.trees import game_tree_kernels as kernels
from plurispiel.abstraction.trees.histories import CHANCE, TERMINAL, Histories, Size, estimate_size, require_tree
from plurispiel.abstraction.trees.history_cache import cached_walk
from plurispiel.abstraction.trees.holdem_histories import PublicNodes, deal_histories, public_nodes
from plurispiel.abstraction.trees.ladder import find_game

__all__ = [
    "CHANCE",
    "MAX_HISTORIES",
    "TERMINAL",
    "GameTree",
    "checked_strategy",
    "flatten",
    "join_strategies",
    "strategy_array",
    "strategy_from_policy",
    "uniform_strategy",
]

MAX_HISTORIES = 20_000_000
"""Default limit of `flatten`, in histories; a tree of this size takes about 0.74 GB."""

_MAX_NUMBERED_HISTORIES = 2**31 - 2
_PROBABILITY_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class GameTree:
    """A game as flat arrays: H histories in D depths, I infosets with A actions in all, n players, T rows of payoffs.

    Attributes
    ----------
    game : str
        OpenSpiel's own string of the game.
    num_players : int
    parent : int32[H]
        The parent of each history; -1 for the root, history 0.
    player : int8[H]
        The player to act, from 0; `CHANCE` where chance acts; `TERMINAL` at the end of a game.
    first_child, num_children : int32[H]
        The children of history h are ``first_child[h] : first_child[h] + num_children[h]``, an empty range at the end
        of a game.
    action : int32[H]
        OpenSpiel's action, or chance outcome, that leads into a history; -1 for the root.
    infoset : int32[H]
        The infoset of each history; -1 where no player decides.
    chance : float64[H]
        Probability of the chance outcome that leads into a history; 1 where a player's action does.
    payoff_id : int32[H]
        Row in `payoffs` of each terminal history; -1 for other histories.
    payoffs : float64[T, n]
        Each row holds every player's payoff at the end of a game, in the game's own unit. The rows are all different,
        in lexicographic order.
    depth_first : int32[D + 1]
        First history of each depth; the last entry is H.
    infoset_player : int8[I]
        The player who decides.
    infoset_first : int32[I + 1]
        Offset in a strategy of each infoset's first action; the last entry is A. Action k of the infoset leads from any
        history h of the infoset to ``first_child[h] + k``.
    infoset_parent : int32[I]
        Offset in a strategy of the player's previous action, or -1 if there is none. All histories of an infoset share
        this action, which belongs to an infoset with a lower number.
    action_ids : int32[A]
        OpenSpiel's action for each entry of a strategy.
    infoset_histories_first : int32[I + 1]
        Index in `infoset_histories` of each infoset's first history; the last entry is the number of decisions.
    infoset_histories : int32[number of decisions]
        ``infoset_histories[infoset_histories_first[i] : infoset_histories_first[i + 1]]`` are the histories of
        infoset i, ascending.
    openspiel_recall : bool
        Whether OpenSpiel's information states have perfect recall. If False, some of OpenSpiel's information states are
        split into several infosets here.
    """

    game: str
    num_players: int
    parent: np.ndarray
    player: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    action: np.ndarray
    infoset: np.ndarray
    chance: np.ndarray
    payoff_id: np.ndarray
    payoffs: np.ndarray
    depth_first: np.ndarray
    infoset_player: np.ndarray
    infoset_first: np.ndarray
    infoset_parent: np.ndarray
    action_ids: np.ndarray
    infoset_histories_first: np.ndarray
    infoset_histories: np.ndarray
    openspiel_recall: bool

    @property
    def num_histories(self) -> int:
        """H, the number of histories."""
        return len(self.parent)

    @property
    def num_infosets(self) -> int:
        """I, the number of infosets."""
        return len(self.infoset_player)

    @property
    def num_actions(self) -> int:
        """A, the number of actions of all infosets: the length of a strategy."""
        return len(self.action_ids)

    @functools.cached_property
    def nodes(self) -> kernels.TreeNodes:
        """The arrays that kernels read, as one argument."""
        return kernels.TreeNodes(*(getattr(self, name) for name in kernels.TreeNodes._fields))

    @functools.cached_property
    def is_zero_sum(self) -> bool:
        """Whether the players' payoffs sum to 0 in every terminal history, up to rounding."""
        return bool((abs(self.payoffs.sum(axis=1)) <= 1e-9 * (1.0 + abs(self.payoffs).max())).all())

    @functools.cached_property
    def openspiel_game(self) -> pyspiel.Game:
        """The game as OpenSpiel's object."""
        return pyspiel.load_game(self.game)

    @functools.cached_property
    def infoset_keys(self) -> list[str]:
        """OpenSpiel's information state string of every infoset; infosets split from one state share its string."""
        return [state.information_state_string() for state in self.infoset_states()]

    def history(self, number: int) -> list[int]:
        """Return OpenSpiel's actions and chance outcomes from the root to a history."""
        actions = []
        while number > 0:
            actions.append(int(self.action[number]))
            number = int(self.parent[number])
        return actions[::-1]

    def infoset_states(self) -> Iterator[pyspiel.State]:
        """Yield, for each infoset, OpenSpiel's state at the infoset's first history."""
        for first in self.infoset_histories[self.infoset_histories_first[:-1]].tolist():
            state = self.openspiel_game.new_initial_state()
            for action in self.history(first):
                state.apply_action(action)
            yield state


def flatten(
    game: "pyspiel.Game | str", *, max_histories: int = MAX_HISTORIES, say: Callable[[str], None] | None = None
) -> GameTree:
    """Return a game as flat arrays.

    Parameters
    ----------
    game : pyspiel.Game or str
        A loaded game, a name of the ladder, a preset's name or a game string.
    max_histories : int
        A game with more histories is refused.
    say : callable, optional
        Called with the size as a text, such as "about 6,000 histories, 0.2 MB", before the memory is allocated.

    Raises
    ------
    ValueError
        If there is no such game, the game is too large, `histories.require_tree` refuses the game, the game offers
        different numbers of actions in one infoset, or `max_histories` is above 2**31 - 2.

    Notes
    -----
    Poker games with the rules of `HoldemRules` and at most 200,000 public nodes are dealt by kernels, millions of
    histories a second; their histories are counted beforehand. All other games are walked state by state, some hundred
    thousand histories a second, and slow walks are kept on disk (`history_cache`). The number of histories of a game
    that is walked is estimated beforehand. Poker games with more than 200,000 public nodes have a lower bound instead:
    the histories at the public nodes that were found before their count ended. A game is refused beforehand if its
    count is above the limit, or its estimate above a hundred times the limit. Otherwise the game is refused when the
    walk passes the limit.
    """
    if max_histories > _MAX_NUMBERED_HISTORIES:
        raise ValueError(
            f"histories are numbered with 32 bits: max_histories is at most {_MAX_NUMBERED_HISTORIES:,}, "
            f"got {max_histories:,}"
        )
    if isinstance(game, str):
        game = find_game(game)
    require_tree(game)
    nodes = _public_nodes(game)
    if nodes is None:
        size = estimate_size(game)
        if size.histories > 100 * max_histories:
            size.require(max_histories)
    else:
        size = Size(nodes.num_histories, "" if nodes.complete else "at least ")
        size.require(max_histories)
    if say:
        say(str(size))
    found = deal_histories(nodes) if nodes is not None and nodes.complete else cached_walk(game, max_histories, size)
    tree = assemble_tree(str(game), found)
    vars(tree)["openspiel_game"] = game  # not every game can be loaded again by its string
    return tree


def _public_nodes(game: pyspiel.Game) -> PublicNodes | None:
    """Return the public nodes of a poker game; None for other games and for options that our rules do not cover."""
    if game.get_type().short_name not in GAME_NAMES:
        return None
    try:
        return public_nodes(OpenSpielGame(game))
    except ValueError:
        return None


def uniform_strategy(tree: GameTree) -> np.ndarray:
    """Return the strategy that takes all actions of an infoset with equal probability: float64[A]."""
    num_actions = np.diff(tree.infoset_first)
    return np.repeat(1.0 / num_actions, num_actions)


def join_strategies(tree: GameTree, strategies: Sequence[np.ndarray]) -> np.ndarray:
    """Return the strategy, float64[A], in which player i plays by ``strategies[i]``, which is also float64[A].

    Raises
    ------
    ValueError
        If there is not one strategy for each player, or one has another shape.
    """
    if len(strategies) != tree.num_players:
        raise ValueError(f"give one strategy for each of the {tree.num_players} players, got {len(strategies)}")
    owner = np.repeat(tree.infoset_player, np.diff(tree.infoset_first))
    return np.choose(owner, [strategy_array(tree, strategy) for strategy in strategies])


def strategy_from_policy(tree: GameTree, policy: Any) -> np.ndarray:
    """Return the strategy of an OpenSpiel policy of the same game.

    Parameters
    ----------
    policy : open_spiel.python.policy.Policy or pyspiel.Policy
        For each infoset, the policy is asked for the probabilities at the infoset's first history.

    Returns
    -------
    float64[A]

    Raises
    ------
    ValueError
        If the policy does not know an infoset, takes an illegal action, or has invalid probabilities.
    """
    strategy = np.empty(tree.num_actions)
    firsts = tree.infoset_first.tolist()
    ids = tree.action_ids.tolist()
    missing = []
    for number, state in enumerate(tree.infoset_states()):
        actions = ids[firsts[number] : firsts[number + 1]]
        try:
            found = dict(policy.action_probabilities(state))
        except (KeyError, pyspiel.SpielError):
            found = {}
        if not found:
            missing.append(state.information_state_string())
        if unknown := [action for action, chance in found.items() if chance and action not in actions]:
            key = state.information_state_string()
            raise ValueError(f"the policy takes action {unknown[0]} in {key!r}, legal are {actions}")
        strategy[firsts[number] : firsts[number + 1]] = [found.get(action, 0.0) for action in actions]
    if missing:
        raise ValueError(
            f"the policy has no probabilities for the information state {missing[0]!r} "
            f"({len(missing)} of {tree.num_infosets} infosets are missing)"
        )
    return checked_strategy(tree, strategy)


def strategy_array(tree: GameTree, strategy: np.ndarray) -> np.ndarray:
    """Return a strategy as kernels read it; only its shape is checked.

    Raises
    ------
    ValueError
        If the strategy does not have the shape [A].
    """
    found = np.ascontiguousarray(strategy, dtype=np.float64)
    if np.shape(strategy) != (tree.num_actions,):
        raise ValueError(f"a strategy of {tree.game} is float64[{tree.num_actions}], got shape {np.shape(strategy)}")
    return found


def checked_strategy(tree: GameTree, strategy: np.ndarray) -> np.ndarray:
    """Return a checked copy of a strategy, with each infoset's probabilities divided by their sum.

    Raises
    ------
    ValueError
        If the strategy does not have the shape [A], or an infoset's probabilities are negative, not finite, or have a
        sum that differs from 1 by more than 1e-6.
    """
    strategy = strategy_array(tree, strategy)
    sums = np.add.reduceat(strategy, tree.infoset_first[:-1])
    wrong = ~(abs(sums - 1.0) <= _PROBABILITY_TOLERANCE)
    wrong |= np.logical_or.reduceat(~(strategy >= 0.0), tree.infoset_first[:-1])
    if wrong.any():
        number = int(wrong.argmax())
        row = strategy[tree.infoset_first[number] : tree.infoset_first[number + 1]].tolist()
        raise ValueError(
            f"probabilities must be at least 0 and sum to 1, got {row} for the information state "
            f"{tree.infoset_keys[number]!r} ({int(wrong.sum())} of {tree.num_infosets} infosets are wrong)"
        )
    return strategy / np.repeat(sums, np.diff(tree.infoset_first))


def assemble_tree(game: str, found: Histories) -> GameTree:
    """Return the tree of a game's histories; ValueError if an infoset's histories differ in their number of actions."""
    num_children, player = found.num_children, found.player
    size = len(num_children)
    first_child = (1 + np.concatenate([[0], np.cumsum(num_children[:-1], dtype=np.int64)])).astype(np.int32)
    parent = np.concatenate([[-1], np.repeat(np.arange(size, dtype=np.int32), num_children)]).astype(np.int32)
    depth_first = [0, 1]
    while depth_first[-1] < size:
        last = depth_first[-1] - 1
        depth_first.append(int(first_child[last] + num_children[last]))
    label, num_labels = found.label, found.num_labels
    recall = found.openspiel_recall
    while True:
        infoset, firsts = _number_infosets(label, num_labels, player)
        infoset_first = np.concatenate([[0], np.cumsum(num_children[firsts])]).astype(np.int32)
        past = np.empty(size, dtype=np.int32)
        kernels.own_pasts(parent, player, first_child, infoset, infoset_first, past)
        if kernels.all_alike(infoset, past[firsts], past):
            break
        # The histories of some infoset differ in their player's previous action: imperfect recall, so split the
        # infoset.
        recall = False
        pairs = np.where(infoset < 0, -1, infoset * np.int64(len(past) + 1) + past + 1)
        known, label = np.unique(pairs, return_inverse=True)
        label, num_labels = (label - 1).astype(np.int32), len(known)
    if not kernels.all_alike(infoset, num_children[firsts], num_children):
        raise ValueError(f"{game} offers different numbers of actions in one information state")
    counts = np.bincount(infoset[infoset >= 0], minlength=len(firsts))
    histories_first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    histories = np.empty(histories_first[-1], dtype=np.int32)
    kernels.sort_by_infoset(infoset, histories_first.copy(), histories)
    rows, row_ids = np.unique(found.payoffs + 0.0, axis=0, return_inverse=True)  # + 0.0 makes -0.0 a 0.0
    offsets = np.arange(infoset_first[-1]) - np.repeat(infoset_first[:-1], num_children[firsts])
    return GameTree(
        game=game,
        num_players=rows.shape[1],
        parent=parent,
        player=player,
        first_child=first_child,
        num_children=num_children,
        action=found.action,
        infoset=infoset,
        chance=found.chance,
        payoff_id=np.where(found.payoff_id < 0, -1, row_ids.ravel()[found.payoff_id]).astype(np.int32),
        payoffs=rows,
        depth_first=np.array(depth_first, dtype=np.int32),
        infoset_player=player[firsts],
        infoset_first=infoset_first,
        infoset_parent=past[firsts],
        action_ids=found.action[np.repeat(first_child[firsts], num_children[firsts]) + offsets],
        infoset_histories_first=histories_first,
        infoset_histories=histories,
        openspiel_recall=recall,
    )


def _number_infosets(label: np.ndarray, num_labels: int, player: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the infoset of every history, int32[H], and each infoset's first history, int32[I]."""
    first = np.full(num_labels, -1, dtype=np.int32)
    kernels.number_labels(label, first)
    used = np.flatnonzero(first >= 0)
    order = used[np.lexsort((first[used], player[first[used]]))]
    number = np.full(num_labels + 1, -1, dtype=np.int32)  # the last entry is read for label -1
    number[order] = np.arange(len(order), dtype=np.int32)
    return number[label], first[order]


def warmup() -> None:
    """Compile every kernel that this module calls."""
    flatten("kuhn_poker")
