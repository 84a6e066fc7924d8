"""Subgames of a flat game tree. Each is again a flat tree: from a public state to a frontier or the game's end.

Chance first deals every seat a combo, with probability proportional to the product of beliefs among compatible hands.
At the frontier each player who can still have a decision picks a continuation strategy, one player after the other and
unseen by the others: the infoset of a pick is the leaf's public state and the player's own combo. The values that
follow the picks are exact. With a gadget the opponent may terminate at the root with any of its combos, and then gets
the payoff given for that combo (Burch, Johanson and Bowling, "Solving imperfect information games using decomposition",
2014).

In shapes, A, H and I count actions, histories and infosets of the whole game, and A' and I' those of the subgame. P
counts public states, L histories at leaves, n players and k continuations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.trees import game_tree_kernels as kernels
from plurispiel.abstraction.trees.game_tree import CHANCE, TERMINAL, GameTree, assemble_tree, join_strategies
from plurispiel.abstraction.trees.histories import Histories
from plurispiel.abstraction.trees.public_states import PublicStates

_PLAIN, _GADGET, _REFUSED = 0, -1, -2
"""Stages of a history in a subgame: `_GADGET` before the gadget's choice, `_REFUSED` after the opponent has terminated.

All other stages are the number of players who have picked a continuation: `_PLAIN` if none has."""


@dataclass(frozen=True, eq=False)
class Frontier:
    """The leaves where a subgame ends early, and their values.

    Attributes
    ----------
    cut : bool[P]
        Whether each public state is a leaf.
    pickers : int8[P, n]
        For each leaf, the players who pick a continuation, in ascending order; the other entries are -1.
    leaf : int32[H]
        The index of each history at a leaf, on the second axis of `values`; -1 for other histories.
    values : float64[k^n, L, n]
        Every player's value of each history at a leaf. The first index encodes the picks: player p's continuation c
        adds ``c * k^p``.
    num_continuations : int
        The number k of continuations from which each player picks.
    """

    cut: np.ndarray
    pickers: np.ndarray
    leaf: np.ndarray
    values: np.ndarray
    num_continuations: int


@dataclass(frozen=True, eq=False)
class TerminateOption:
    """The opponent's option to terminate at the root of a subgame: the re-solving gadget.

    Attributes
    ----------
    opponent : int
        The player who may terminate.
    bounds : float64[num_combos]
        The opponent's payoff for terminating with each combo.
    """

    opponent: int
    bounds: np.ndarray


@dataclass(frozen=True, eq=False)
class GameTreeSubgame:
    """A subgame as a flat tree.

    Attributes
    ----------
    tree : GameTree
        The subgame's tree, which begins with the deal. `openspiel_game` is missing, as OpenSpiel does not know the
        subgame.
    root : int
        The public state at which the subgame begins.
    action : int32[A']
        The action of the whole game for each action of the subgame; -1 for picks and for the gadget's choices.
    leaf, combo : int32[I']
        At an infoset where a continuation is picked, the leaf's public state and the player's combo; else -1.
    """

    tree: GameTree
    root: int
    action: np.ndarray
    leaf: np.ndarray
    combo: np.ndarray

    def write(self, found: np.ndarray, strategy: np.ndarray, player: int | None = None) -> None:
        """Copy the subgame's strategy `found`, or one player's part of it, into the whole game's `strategy`."""
        chosen = self.action >= 0
        if player is not None:
            chosen &= np.repeat(self.tree.infoset_player == player, np.diff(self.tree.infoset_first))
        strategy[self.action[chosen]] = found[chosen]


def street_frontier(tree: GameTree, publics: PublicStates, policies: np.ndarray, street: int) -> Frontier:
    """Return the frontier at the end of a street.

    Leaves are the public states before the next street's first card, if a decision can still follow.

    Parameters
    ----------
    policies : float64[k, A]
        The continuation strategies of the whole game.
    street : int
        The street, counted from 0.
    """
    next_deal = (publics.player == CHANCE) & (publics.street == street)
    cut = next_deal & ~next_deal[np.maximum(publics.parent, 0)] & publics.deciders.any(axis=1)
    return frontier_at(tree, publics, policies, cut)


def frontier_at(tree: GameTree, publics: PublicStates, policies: np.ndarray, cut: np.ndarray) -> Frontier:
    """Return the frontier at the public states that `cut`, bool[P], marks; none of them may lie below another."""
    num_players, num_continuations = tree.num_players, len(policies)
    pickers = np.full((len(publics), num_players), -1, dtype=np.int8)
    if num_continuations > 1:  # with one there is nothing to pick
        for number in np.flatnonzero(cut).tolist():
            players = np.flatnonzero(publics.deciders[number])
            pickers[number, : len(players)] = players
    leaves = np.flatnonzero(cut[publics.number])
    leaf = np.full(tree.num_histories, -1, dtype=np.int32)
    leaf[leaves] = np.arange(len(leaves))
    values = np.empty((num_continuations**num_players, len(leaves), num_players))
    whole = np.empty((tree.num_histories, num_players))
    for number, row in enumerate(values):  # k^n passes over the whole game: exact, and cheap in small games only
        picks = [number // num_continuations**player % num_continuations for player in range(num_players)]
        kernels.fill_values(tree.nodes, join_strategies(tree, [policies[pick] for pick in picks]), whole)
        row[:] = whole[leaves]
    return Frontier(cut, pickers, leaf, values, num_continuations)


def make_subgame(
    tree: GameTree,
    publics: PublicStates,
    root: int,
    beliefs: np.ndarray,
    *,
    frontier: Frontier | None = None,
    gadget: TerminateOption | None = None,
) -> GameTreeSubgame:
    """Return the subgame at a public state.

    Parameters
    ----------
    beliefs : float64[n, num_combos]
        Each seat's range, not necessarily normalised. With a gadget, the opponent's range should be uniform.
    frontier : Frontier, optional
        The leaves at which the subgame ends; by default it reaches the end of the game.
    gadget : TerminateOption, optional
        The option that one player has at the root; by default nobody may terminate.

    Raises
    ------
    ValueError
        If the beliefs allow no deal: a range is empty, or there are no compatible hands.
    """
    history, weight = joint_deals(tree, publics, root, beliefs)
    if not weight.sum() > 0.0:
        raise ValueError(f"the beliefs allow no deal at public state {root}")
    keep = weight > 0.0
    history, weight = history[keep], weight[keep]
    builder = _SubgameBuilder(tree, publics, frontier, gadget)
    builder.deal(history, weight / weight.sum())
    return builder.subgame(root)


def joint_deals(tree: GameTree, publics: PublicStates, root: int, beliefs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a history for each of the m joint deals at a public state, int32[m], and the deals' weights, float64[m].

    Weights are proportional to probabilities. Histories that differ only in the order of their cards are one deal.
    """
    members = publics.members(root)
    combos = publics.combo[members]
    deals, first, deal = np.unique(combos, axis=0, return_index=True, return_inverse=True)
    chance = np.bincount(deal.ravel(), weights=_dealt_chance(tree, members))
    return members[first], chance * np.prod(np.take_along_axis(beliefs.T, deals, axis=0), axis=1)


def _dealt_chance(tree: GameTree, histories: np.ndarray) -> np.ndarray:
    """Return the reach of chance for m histories of one depth: float64[m]."""
    chance = np.ones(len(histories))
    while histories[0] > 0:
        chance *= tree.chance[histories]
        histories = tree.parent[histories]
    return chance


class _Level(NamedTuple):
    """The m histories of one depth of a subgame.

    Attributes
    ----------
    history : int32[m]
        The number of each history in the whole game; -1 for the subgame's root.
    stage : int64[m]
        `_PLAIN`, `_GADGET`, `_REFUSED`, or the number of players who have picked a continuation.
    picks : int64[m]
        The continuations picked so far, encoded as the first index of `Frontier.values`.
    edge : int64[m]
        OpenSpiel's number of the action or chance outcome that leads into each history. For the deal at the root, the
        gadget's choices and the picks, it is the index among siblings.
    chance : float64[m]
        Probability of the chance outcome that leads into each history; 1 for an action.
    action : int64[m]
        The index of the action that leads into each history, among all actions of the whole game. -1 for chance
        outcomes, and for actions that the whole game does not have.
    """

    history: np.ndarray
    stage: np.ndarray
    picks: np.ndarray
    edge: np.ndarray
    chance: np.ndarray
    action: np.ndarray


class _HistoryKinds(NamedTuple):
    """The attributes of the same names in `Histories`, for the histories of one depth."""

    player: np.ndarray
    num_children: np.ndarray
    label: np.ndarray
    payoff_id: np.ndarray


class _SubgameBuilder:
    """Builds a subgame, a depth at a time."""

    def __init__(
        self, tree: GameTree, publics: PublicStates, frontier: Frontier | None, gadget: TerminateOption | None
    ):
        self._tree = tree
        self._publics = publics
        self._frontier = frontier
        self._gadget = gadget
        self._levels: list[_Level] = []
        self._kinds: list[_HistoryKinds] = []
        self._payoffs = [tree.payoffs]
        self._num_payoffs = len(tree.payoffs)

    def deal(self, history: np.ndarray, weight: np.ndarray) -> None:
        """Add the root and all histories below it."""
        size = len(history)
        none, zero = np.array([-1]), np.zeros(1, dtype=np.int64)
        self._levels.append(_Level(none, zero, zero, edge=none, chance=np.ones(1), action=none))
        self._kinds.append(_HistoryKinds(np.array([CHANCE]), np.array([size]), label=none, payoff_id=none))
        level = _Level(
            history,
            stage=np.full(size, _GADGET if self._gadget else _PLAIN),
            picks=np.zeros(size, dtype=np.int64),
            edge=np.arange(size),
            chance=weight,
            action=np.full(size, -1),
        )
        while len(level.history):
            kinds = self._look(level)
            self._levels.append(level)
            self._kinds.append(kinds)
            level = self._children(level, kinds)

    def subgame(self, root: int) -> GameTreeSubgame:
        """Return the subgame that was built."""
        tree, publics = self._tree, self._publics
        kinds = _HistoryKinds(*map(np.concatenate, zip(*self._kinds, strict=True)))
        level = _Level(*map(np.concatenate, zip(*self._levels, strict=True)))
        labels, label = np.unique(kinds.label, return_inverse=True)  # renumbered: labels have gaps
        sub = assemble_tree(
            f"a subgame of {tree.game}",
            Histories(
                num_children=kinds.num_children.astype(np.int32),
                player=kinds.player.astype(np.int8),
                action=level.edge.astype(np.int32),
                chance=level.chance,
                label=(label.ravel() - 1).astype(np.int32),  # the smallest label is -1
                num_labels=len(labels) - 1,
                payoff_id=kinds.payoff_id.astype(np.int32),
                payoffs=np.concatenate(self._payoffs),
                openspiel_recall=tree.openspiel_recall,
            ),
        )
        firsts = sub.infoset_histories[sub.infoset_histories_first[:-1]]
        counts = np.diff(sub.infoset_first)
        offsets = np.arange(sub.num_actions) - np.repeat(sub.infoset_first[:-1], counts)
        # Labels as in `_look`: first those of infosets of the whole game, then a label for each combo of the gadget's
        # opponent, then one for each (state, combo, picker).
        pick = kinds.label[firsts] - tree.num_infosets - publics.num_combos
        pick = np.where(pick >= 0, pick // tree.num_players, -1)  # the player is known from the infoset
        return GameTreeSubgame(
            tree=sub,
            root=root,
            action=level.action[np.repeat(sub.first_child[firsts], counts) + offsets].astype(np.int32),
            leaf=np.where(pick >= 0, pick // publics.num_combos, -1).astype(np.int32),
            combo=np.where(pick >= 0, pick % publics.num_combos, -1).astype(np.int32),
        )

    def _look(self, level: _Level) -> _HistoryKinds:
        """Return the kinds of the histories of a depth: who acts, how many children follow, and so on."""
        tree, publics = self._tree, self._publics
        history, stage = level.history, level.stage
        player = tree.player[history].astype(np.int64)
        num_children = tree.num_children[history].astype(np.int64)
        label = tree.infoset[history].astype(np.int64)
        payoff_id = tree.payoff_id[history].astype(np.int64)
        if self._gadget is not None:
            asked, refused = np.flatnonzero(stage == _GADGET), np.flatnonzero(stage == _REFUSED)
            combo = publics.combo[history, self._gadget.opponent]
            player[asked], num_children[asked] = self._gadget.opponent, 2
            label[asked] = tree.num_infosets + combo[asked]
            player[refused], num_children[refused], label[refused] = TERMINAL, 0, -1
            payoff_id[asked] = -1
            payoff_id[refused] = self._add_payoffs(self._refusals(combo[refused]))
        if self._frontier is not None:
            leaves = np.flatnonzero((self._frontier.leaf[history] >= 0) & (stage >= 0))
            state, code = publics.number[history[leaves]], stage[leaves]
            width = self._frontier.pickers.shape[1]
            picker = np.where(code < width, self._frontier.pickers[state, np.minimum(code, width - 1)], -1)
            ends = picker < 0
            player[leaves] = np.where(ends, TERMINAL, picker)
            num_children[leaves] = np.where(ends, 0, self._frontier.num_continuations)
            # Where nobody picks any more, picker -1 reads the last seat's combo; `ends` drops the label made from it.
            combo = publics.combo[history[leaves], picker]
            # No earlier pick is in the label: players choose unseen by each other.
            named = (state.astype(np.int64) * publics.num_combos + combo) * tree.num_players + picker
            label[leaves] = np.where(ends, -1, tree.num_infosets + publics.num_combos + named)
            ended = leaves[ends]
            payoff_id[leaves] = -1
            rows = self._frontier.values[level.picks[ended], self._frontier.leaf[history[ended]]]
            payoff_id[ended] = self._add_payoffs(rows)
        return _HistoryKinds(player, num_children, label, payoff_id)

    def _children(self, level: _Level, kinds: _HistoryKinds) -> _Level:
        """Return the histories of the next depth."""
        tree, num_children = self._tree, kinds.num_children
        up = np.repeat(np.arange(len(num_children)), num_children)
        k = np.arange(len(up)) - np.repeat(np.cumsum(num_children) - num_children, num_children)
        history, stage, actor = level.history[up], level.stage[up], kinds.player[up]
        asked = stage == _GADGET
        if self._frontier is None:
            picking, power = np.zeros(len(up), dtype=bool), np.zeros(len(up), dtype=np.int64)
        else:
            picking = (self._frontier.leaf[history] >= 0) & ~asked
            power = np.where(picking, self._frontier.num_continuations ** np.maximum(actor, 0), 0)
        plain = ~picking & ~asked
        child = np.where(plain, tree.first_child[history] + k, history)
        decided = plain & (actor >= 0)
        return _Level(
            child,
            stage=np.where(asked, np.where(k == 0, _REFUSED, _PLAIN), stage + picking),
            picks=level.picks[up] + k * power,
            edge=np.where(plain, tree.action[child], k),
            chance=np.where(plain, tree.chance[child], 1.0),
            action=np.where(decided, tree.infoset_first[tree.infoset[history]] + k, -1),
        )

    def _refusals(self, combo: np.ndarray) -> np.ndarray:
        """Return both players' payoffs where the opponent terminates with given combos: float64[m, 2]."""
        assert self._gadget is not None
        payoffs = np.empty((len(combo), 2))
        payoffs[:, self._gadget.opponent] = self._gadget.bounds[combo]
        payoffs[:, 1 - self._gadget.opponent] = -self._gadget.bounds[combo]
        return payoffs

    def _add_payoffs(self, rows: np.ndarray) -> np.ndarray:
        """Add rows of payoffs and return their numbers."""
        self._payoffs.append(rows)
        self._num_payoffs += len(rows)
        return np.arange(self._num_payoffs - len(rows), self._num_payoffs)
