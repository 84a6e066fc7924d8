"""Depth-limited search at every start of a street of a small game, and the strategy of search in the whole game.

Pluribus searches at the start of a street, from the beliefs of all seats, to the end of the street or of the game. It
plays the result for the rest of the street (Brown and Sandholm, "Superhuman AI for multiplayer poker", 2019,
Algorithm 2). The tree of a small game contains all actions, so no off-tree action requires another search. The strategy
at a public state then depends on that state alone, whichever seat searches. So one subgame for each start of a street
gives the whole strategy of search, whose exploitability can be computed exactly.

In shapes, A counts the actions of all infosets, H histories, P public states and n players, as in `GameTree`. A' counts
the actions of a subgame.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.abstraction.trees import best_response_kernels as response_kernels
from plurispiel.abstraction.trees import game_tree_kernels as tree_kernels
from plurispiel.abstraction.trees.game_tree import GameTree, flatten, uniform_strategy
from plurispiel.abstraction.trees.public_states import PublicStates, public_states, rule_actions
from plurispiel.agents.search.beliefs import see_action
from plurispiel.agents.search.config import renamed_options
from plurispiel.agents.search.continuations import CONTINUATIONS, continuation_strategies
from plurispiel.agents.search.exact.subgame import (
    Frontier,
    GameTreeSubgame,
    TerminateOption,
    joint_deals,
    make_subgame,
    street_frontier,
)
from plurispiel.agents.tabular.deep_cfr import DeepCfr
from plurispiel.agents.tabular.solvers import make_solver, parse_algorithm

PLAYS = ("average", "final")

_IMPOSSIBLE = 1e-30
"""Belief in a combo of probability 0: too small to change a value, but it gives the combo a strategy."""


@dataclass(frozen=True)
class GameTreeSearch:
    """The settings of a search of a small game.

    Attributes
    ----------
    from_street : int
        First street that is searched, counted from 1; on earlier streets the blueprint plays.
    continuations : int
        The number k of continuation strategies from which a player chooses at the end of a street that is not the last.
    play : {"average", "final"}
        The strategy that plays: a search's weighted average over the iterations, or its last iterate. Beliefs always
        follow the average.
    safe : bool
        For two players, whether to solve with a re-solving gadget: for each combo the opponent may terminate and take
        that combo's best-response value against the earlier strategy. A search to the end of the game then makes the
        strategy no more exploitable, up to convergence. A search with a frontier guarantees less, since it allows the
        opponent only k strategies after the frontier.
    iterations : int
        Iterations of the solver for each subgame.
    algorithm : str
        The solver's algorithm (see `parse_algorithm`).
    uniform_share : float
        Share of the uniform range mixed into the beliefs of each search, 0 or more and below 1.

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    from_street: int = 1
    continuations: int = len(CONTINUATIONS)
    play: str = "average"
    safe: bool = False
    iterations: int = 3_000
    algorithm: str = "lcfr"
    uniform_share: float = 0.0

    def __post_init__(self):
        if self.from_street < 1:
            raise ValueError(f"from_street counts streets from 1, got {self.from_street}")
        if not 1 <= self.continuations <= len(CONTINUATIONS):
            raise ValueError(f"continuations must be 1..{len(CONTINUATIONS)}, got {self.continuations}")
        if self.play not in PLAYS:
            raise ValueError(f"play is {' or '.join(PLAYS)}, got {self.play!r}")
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, got {self.iterations}")
        if not 0.0 <= self.uniform_share < 1.0:
            raise ValueError(f"uniform_share is a probability, 0 or more and below 1, got {self.uniform_share}")
        if isinstance(parse_algorithm(self.algorithm), DeepCfr):
            raise ValueError(f"a subgame is solved by tables of regrets, got {self.algorithm!r}")


def search_from_options(options: Mapping[str, str]) -> GameTreeSearch:
    """Return the settings that `options`, texts by name, describe.

    Raises
    ------
    ValueError
        If an option is unknown, is given by two names, cannot be read or is out of range.

    Examples
    --------
    >>> search = search_from_options({"from_street": "2", "safe": "true"})
    >>> search.from_street, search.safe, search.continuations
    (2, True, 4)
    """
    options = renamed_options(options)
    kinds = {field.name: type(field.default) for field in dataclasses.fields(GameTreeSearch)}
    if unknown := sorted(set(options) - set(kinds)):
        raise ValueError(f"a search of a small game takes the options {', '.join(kinds)}, got {unknown[0]}")
    return GameTreeSearch(**{name: _read(name, text, kinds[name]) for name, text in options.items()})


@dataclass(frozen=True, eq=False)
class SearchedSubgame:
    """The result of one search.

    Attributes
    ----------
    subgame : GameTreeSubgame
        The subgame that was solved.
    average, final : float64[A']
        The average strategy and the last iterate, in the order of the subgame's actions.
    player : int or None
        The player whose part of the strategies is played; None if the parts of all players are played.
    """

    subgame: GameTreeSubgame
    average: np.ndarray
    final: np.ndarray
    player: int | None


class GameTreeSearcher:
    """Searches a game at every start of a street.

    Parameters
    ----------
    tree : GameTree
        The tree of a poker game that `HoldemRules` can express, such as Kuhn poker.

    Raises
    ------
    ValueError
        If `HoldemRules` cannot express the game.
    """

    def __init__(self, tree: GameTree):
        self.tree = tree
        self.publics = public_states(tree)
        self._actions = rule_actions(tree)

    @property
    def num_streets(self) -> int:
        """Number of streets."""
        return int(self.publics.street.max()) + 1

    def strategy(
        self,
        blueprint: np.ndarray,
        search: GameTreeSearch,
        *,
        on_subgame: Callable[[SearchedSubgame], object] = lambda solved: None,
    ) -> np.ndarray:
        """Return the strategy of search in every infoset: float64[A].

        Parameters
        ----------
        blueprint : float64[A]
            The blueprint's probability of each action, in every infoset.
        search : GameTreeSearch
        on_subgame : callable
            Called with the result of each search, once its subgame is solved.

        Raises
        ------
        ValueError
            If the game cannot be searched with these settings.
        """
        tree, publics = self.tree, self.publics
        if search.from_street > self.num_streets:
            raise ValueError(
                f"{tree.game} has {self.num_streets} street(s): there is no search from street {search.from_street}"
            )
        if search.safe and not (tree.num_players == 2 and tree.is_zero_sum):
            raise ValueError(f"a safe search is for two players and a zero-sum game, got {tree.game}; leave out safe")
        policies = continuation_strategies(
            blueprint, self._actions, first=tree.infoset_first, num_continuations=search.continuations
        )
        believed, played = blueprint.copy(), blueprint.copy()
        for street in range(search.from_street - 1, self.num_streets):
            frontier = None
            if street < self.num_streets - 1:
                frontier = street_frontier(tree, publics, policies, street)
            for solved in self._search_street(street, believed.copy(), frontier, search):
                on_subgame(solved)
                solved.subgame.write(solved.average, believed, solved.player)
                # Beliefs follow the average, also where the final iterate plays (Pluribus's supplement).
                acting = solved.average if search.play == "average" else solved.final
                solved.subgame.write(acting, played, solved.player)
                if frontier is not None:
                    _write_continuations(tree, publics, frontier, policies, solved, believed)
        return played

    def _search_street(
        self, street: int, believed: np.ndarray, frontier: Frontier | None, search: GameTreeSearch
    ) -> Iterator[SearchedSubgame]:
        """Solve the subgames of a street, and yield each result.

        In a safe search there are two subgames for each start of the street, one for each player.
        """
        tree, publics = self.tree, self.publics
        beliefs = beliefs_everywhere(tree, publics, believed)
        # Best-response values, as in CFR-D: they bound the opponent's gain. DeepStack takes self-play values, with
        # which its supplement measured less exploitable play ("Best-response Values Versus Self-play Values").
        answers = [response_values(tree, believed, player) for player in range(2)] if search.safe else []
        for root in publics.roots(street).tolist():
            if not publics.deciders[root].any():
                continue
            possible = publics.possible(root)
            uniform = possible / possible.sum(axis=1, keepdims=True)
            ranges = (1.0 - search.uniform_share) * beliefs[root] + search.uniform_share * uniform
            ranges = np.maximum(ranges, _IMPOSSIBLE * possible)  # exploitability needs a strategy in every infoset
            if not search.safe:
                yield self._solve(make_subgame(tree, publics, root, ranges, frontier=frontier), search, None)
                continue
            for player in range(2):
                other = 1 - player
                weights = ranges.copy()
                weights[other] = possible[other]  # no belief about the opponent: any combo
                gadget = TerminateOption(other, _expected(tree, publics, root, weights, answers[other], other))
                subgame = make_subgame(tree, publics, root, weights, frontier=frontier, gadget=gadget)
                yield self._solve(subgame, search, player)

    def _solve(self, subgame: GameTreeSubgame, search: GameTreeSearch, player: int | None) -> SearchedSubgame:
        solver = make_solver(subgame.tree, search.algorithm)
        solver.run(search.iterations)
        return SearchedSubgame(subgame, solver.average_strategy(), solver.current_strategy(), player)


def beliefs_everywhere(tree: GameTree, publics: PublicStates, strategy: np.ndarray) -> np.ndarray:
    """Return the beliefs of an observer who knows the strategy, at every public state: float64[P, n, num_combos].

    Rows sum to 1, and are zeros until all hole cards are dealt. The probability of a joint deal is proportional to the
    product of its combos' beliefs, among deals without a shared card. An action that no combo takes leaves beliefs
    unchanged. A seat whose believed combos all share a card with the board gets the uniform range of the free combos.
    """
    found = np.zeros((len(publics), tree.num_players, publics.num_combos))
    for number in np.flatnonzero(publics.street >= 0).tolist():
        up = publics.parent[number]
        actor = int(publics.player[up])
        if actor >= 0:
            history = tree.parent[publics.members(number)[0]]
            probability = _action_probability(tree, publics, number, strategy)
            found[number], _ = see_action(found[up], actor, probability, int(tree.num_children[history]))
        else:  # a deal, of hole cards or of the board
            possible = publics.possible(number)
            left = found[up] * possible
            left = np.where(left.any(axis=1, keepdims=True), left, possible)
            found[number] = left / left.sum(axis=1, keepdims=True)
    return found


def response_values(tree: GameTree, strategy: np.ndarray, player: int) -> np.ndarray:
    """Return a player's value of each history if the player plays a best response to a strategy: float64[H]."""
    choice = np.zeros(tree.num_infosets, dtype=np.int32)
    sequence = np.empty(tree.num_histories, dtype=np.int32)
    reach, gains = np.empty(tree.num_histories), np.empty(tree.num_actions)
    response_kernels.respond(tree.nodes, strategy, player, reach, sequence, gains, choice)
    infosets = np.flatnonzero(tree.infoset_player == player)
    answer = np.where(np.repeat(tree.infoset_player == player, np.diff(tree.infoset_first)), 0.0, strategy)
    answer[tree.infoset_first[infosets] + choice[infosets]] = 1.0
    values = np.empty((tree.num_histories, tree.num_players))
    tree_kernels.fill_values(tree.nodes, answer, values)
    return values[:, player].copy()


def warmup() -> None:
    """Compile every kernel that this module calls."""
    tree = flatten("kuhn_poker")
    GameTreeSearcher(tree).strategy(uniform_strategy(tree), GameTreeSearch(safe=True, iterations=1))


def _action_probability(tree: GameTree, publics: PublicStates, number: int, strategy: np.ndarray) -> np.ndarray:
    """Return each combo's probability of the action that leads to a public state: float64[num_combos]."""
    members = publics.members(number)
    up = tree.parent[members]
    found = np.zeros(publics.num_combos)
    taken = tree.infoset_first[tree.infoset[up]] + members - tree.first_child[up]
    found[publics.combo[up, tree.player[up[0]]]] = strategy[taken]
    return found


def _expected(
    tree: GameTree, publics: PublicStates, root: int, weights: np.ndarray, values: np.ndarray, player: int
) -> np.ndarray:
    """Return the mean value of each combo of a player at a public state: float64[num_combos].

    The mean of `values`, float64[H], is over joint deals, weighted by the players' ranges `weights`. Impossible combos
    get 0.
    """
    history, weight = joint_deals(tree, publics, root, weights)
    combo = publics.combo[history, player]
    totals = np.bincount(combo, weights=weight, minlength=publics.num_combos)
    sums = np.bincount(combo, weights=weight * values[history], minlength=publics.num_combos)
    return np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0.0)


def _write_continuations(
    tree: GameTree,
    publics: PublicStates,
    frontier: Frontier,
    policies: np.ndarray,
    solved: SearchedSubgame,
    strategy: np.ndarray,
) -> None:
    """Write the mixtures of policies chosen at a subgame's frontier into the infosets after the frontier.

    `strategy` is modified in place. A player who chooses among the k policies with given probabilities plays the
    weighted mean of the policies at every later infoset. The weight of a policy is its probability times the player's
    reach of the infoset under that policy since the frontier.
    """
    sub = solved.subgame.tree
    chosen = {}
    for number in np.flatnonzero(solved.subgame.leaf >= 0).tolist():
        where = (int(sub.infoset_player[number]), int(solved.subgame.leaf[number]), int(solved.subgame.combo[number]))
        chosen[where] = solved.average[sub.infoset_first[number] : sub.infoset_first[number + 1]]
    leaf = np.where(frontier.cut, np.arange(len(publics)), -1)
    for number in range(1, len(publics)):
        if leaf[number] < 0:
            leaf[number] = leaf[publics.parent[number]]
    firsts = tree.infoset_histories[tree.infoset_histories_first[:-1]]
    leaves = leaf[publics.number[firsts]]
    combos = publics.combo[firsts, tree.infoset_player]
    owner = np.repeat(np.arange(tree.num_infosets), np.diff(tree.infoset_first))
    reach = np.zeros_like(policies)
    for infoset in np.flatnonzero(leaves >= 0).tolist():
        player = int(tree.infoset_player[infoset])
        weights = chosen.get((player, int(leaves[infoset]), int(combos[infoset])))
        if weights is None or solved.player not in (None, player):
            continue
        cells = slice(tree.infoset_first[infoset], tree.infoset_first[infoset + 1])
        before = tree.infoset_parent[infoset]
        # From the player's second decision after the leaf on, each policy is weighted by its reach so far.
        if before >= 0 and leaves[owner[before]] >= 0:
            weights = reach[:, before]
        reach[:, cells] = weights[:, np.newaxis] * policies[:, cells]
        mean = reach[:, cells].sum(axis=0)
        strategy[cells] = mean / mean.sum() if mean.any() else policies[0, cells]


def _read(name: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text not in ("true", "false"):
            raise ValueError(f"{name} is true or false, got {text!r}")
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"{name} is a {'whole ' if kind is int else ''}number, got {text!r}") from None
