import dataclasses
import os

import numpy as np
import pyspiel
import pytest
from reference import search as reference

from plurispiel.abstraction.trees.game_tree import checked_strategy, flatten
from plurispiel.abstraction.trees.public_states import PublicStates
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.exact.search import (
    GameTreeSearch,
    GameTreeSearcher,
    beliefs_everywhere,
    search_from_options,
)
from plurispiel.agents.search.exact.subgame import TerminateOption, frontier_at, make_subgame, street_frontier
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.agent_strategy import strategy_from_agent
from plurispiel.evaluation.best_response import expected_values, exploitability

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

ALL_INS = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=2,blind=2 1,stack=6 5,firstPlayer=2 1,numSuits=1,"
    "numRanks=4,numHoleCards=1,numBoardCards=0 1,bettingAbstraction=fcpa)"
)


THREE_ALL_INS = (
    "universal_poker(betting=nolimit,numPlayers=3,numRounds=2,blind=1 2 0,stack=6 5 4,firstPlayer=3 1,numSuits=1,"
    "numRanks=5,numHoleCards=1,numBoardCards=0 1,bettingAbstraction=fcpa)"
)


def kuhn_kinds(state):
    return {0: "fold", 1: "call"} if "b" in state.information_state_string() else {0: "call", 1: "raise"}


def poker_kinds(state):
    return {action: ("fold", "call", "raise", "raise")[action] for action in state.legal_actions()}


def rows_of(tree, strategy):
    """A strategy as the reference has it: {(player, information state): {action: probability}}."""
    firsts = tree.infoset_first.tolist()
    found = {}
    for number, state in enumerate(tree.infoset_states()):
        own = slice(firsts[number], firsts[number + 1])
        found[reference.key_of(state)] = dict(zip(tree.action_ids[own].tolist(), strategy[own].tolist(), strict=True))
    return found


def random_strategy(tree, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.dirichlet(np.ones(count)) for count in np.diff(tree.infoset_first)])


@pytest.fixture(scope="module")
def leduc():
    return GameTreeSearcher(flatten("leduc"))


@pytest.fixture(scope="module")
def equilibrium(leduc):
    return blueprint(leduc, "cfr+", 3162)


def blueprint(searcher, algorithm, iterations):
    solver = make_solver(searcher.tree, algorithm)
    solver.run(iterations)
    return solver.average_strategy()


def distance(searcher, strategy):
    return exploitability(searcher.tree, checked_strategy(searcher.tree, strategy)).exploitability


@pytest.mark.parametrize(
    ("text", "kinds", "from_street", "k"),
    (
        ("kuhn_poker(players=3)", kuhn_kinds, 1, 4),
        (ALL_INS, poker_kinds, 1, 4),
        ("leduc_poker", poker_kinds, 2, 1),
        ("leduc_poker", poker_kinds, 1, 2),
    ),
)
def test_search_by_the_text(text, kinds, from_street, k):
    tree = flatten(text)
    strategy = random_strategy(tree, 3)
    search = reference.Search(
        tree.openspiel_game, rows_of(tree, strategy), kinds, from_street=from_street, k=k, iterations=3
    )
    subgames = []
    actual = GameTreeSearcher(tree).strategy(
        strategy, GameTreeSearch(from_street=from_street, continuations=k, iterations=3), on_subgame=subgames.append
    )
    assert len(subgames) == len(search.subgames)
    found = rows_of(tree, actual)
    for key, expected in search.strategy.items():
        assert found[key] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("text", "num_checked"), (("leduc_poker", 25), (THREE_ALL_INS, 20)))
def test_beliefs_are_brute_force_bayes(text, num_checked):
    tree = flatten(text)
    strategy = random_strategy(tree, 8)
    rows = rows_of(tree, strategy)
    searcher = GameTreeSearcher(tree)
    beliefs = beliefs_everywhere(tree, searcher.publics, strategy)
    rng = np.random.default_rng(1)
    for number in rng.choice(np.flatnonzero(searcher.publics.street >= 0), num_checked, replace=False).tolist():
        state = tree.openspiel_game.new_initial_state()
        for action in tree.history(int(searcher.publics.members(number)[0])):
            state.apply_action(action)
        expected = reference.joint_posterior(tree.openspiel_game, rows, reference.public(state, tree.num_players))
        hands = [frozenset([card]) for card in range(searcher.publics.num_combos)]
        by_seat = [dict(zip(hands, row.tolist(), strict=True)) for row in beliefs[number]]
        np.testing.assert_allclose(beliefs[number].sum(axis=1), 1.0)
        actual = reference.product_of_beliefs(by_seat, reference.joint_hands(hands, tree.num_players))
        for deal, probability in actual.items():
            assert probability == pytest.approx(expected.get(deal, 0.0), abs=1e-14)


def test_beliefs_after_what_nobody_does(leduc):
    tree, publics = leduc.tree, leduc.publics
    strategy = blueprint(leduc, "cfr", 1)
    strategy[:] = np.where(tree.action_ids == 2, 0.0, strategy)  # never raises
    sums = np.repeat(np.add.reduceat(strategy, tree.infoset_first[:-1]), np.diff(tree.infoset_first))
    beliefs = beliefs_everywhere(tree, publics, strategy / sums)
    (root,) = publics.roots(0)
    after = next(p for p in np.flatnonzero(publics.parent == root) if tree.action[publics.members(p)[0]] == 2)
    np.testing.assert_allclose(beliefs[after], beliefs[root], rtol=1e-15)


@jit_only
@pytest.mark.parametrize(
    ("iterations", "before", "after"), ((3, 1.80, 0.449), (10, 0.89, 0.403), (30, 0.31, 0.104), (100, 0.096, 0.056))
)
def test_leduc_from_poor_blueprints(leduc, iterations, before, after):
    """Searched from street 2, average to play: algorithms.md 7.9; a safe search is no worse than its blueprint."""
    strategy = blueprint(leduc, "cfr", iterations)
    assert distance(leduc, strategy) == pytest.approx(before, rel=0.01)
    search = GameTreeSearch(from_street=2)
    assert distance(leduc, leduc.strategy(strategy, search)) == pytest.approx(after, rel=0.05)
    safe = dataclasses.replace(search, safe=True, algorithm="cfr+")
    assert distance(leduc, leduc.strategy(strategy, safe)) < distance(leduc, strategy) + 1e-3


@jit_only
def test_leduc_from_an_equilibrium(leduc, equilibrium):
    """Unsafe search makes an equilibrium exploitable, the safe one does not."""
    assert distance(leduc, equilibrium) < 5e-5

    def after(**options):
        gaps = []
        strategy = leduc.strategy(
            equilibrium,
            GameTreeSearch(algorithm="cfr+", **options),
            on_subgame=lambda solved: gaps.append(exploitability(solved.subgame.tree, solved.average).exploitability),
        )
        assert max(gaps) < 1e-3  # chips, under the beliefs at its root
        return distance(leduc, strategy)

    assert after(from_street=2) == pytest.approx(0.12, rel=0.05)
    assert after(from_street=2, uniform_share=1e-3) == pytest.approx(0.04, rel=0.15)
    assert after(from_street=2, safe=True) < 5e-4
    assert after(continuations=4) == pytest.approx(0.30, rel=0.05)
    assert after(continuations=1) == pytest.approx(0.81, rel=0.05)
    assert after(continuations=4, safe=True) < 0.05


@jit_only
def test_the_final_iterate_is_another_strategy_than_what_is_believed(leduc, equilibrium):
    solved = []
    search = GameTreeSearch(play="final", iterations=100)
    played = leduc.strategy(equilibrium, search, on_subgame=solved.append)
    for each in solved:
        acting = np.empty_like(played)
        each.subgame.write(each.final, acting)
        own = each.subgame.action[each.subgame.action >= 0]
        np.testing.assert_array_equal(played[own], acting[own])
    averages = blueprint(leduc, "cfr", 1)
    solved[0].subgame.write(solved[0].average, averages)
    beliefs = beliefs_everywhere(leduc.tree, leduc.publics, averages)
    root = solved[1].subgame.root
    deals = solved[1].subgame.tree
    first = leduc.publics.roots(1)[0]
    assert root == first
    seat = np.bincount(
        leduc.publics.combo[np.unique(leduc.publics.members(root)), 0], minlength=leduc.publics.num_combos
    )
    assert (seat > 0).sum() == 5 and deals.num_children[0] == 20
    expected = np.outer(beliefs[root, 0], beliefs[root, 1])
    np.fill_diagonal(expected, 0.0)
    chance = deals.chance[1 : 1 + deals.num_children[0]]
    np.testing.assert_allclose(np.sort(chance), np.sort(expected[expected > 0.0]) / expected.sum(), atol=1e-12)


@jit_only
def test_leaves_are_chosen_by_infosets(leduc, equilibrium):
    """At each of 5 leaves a seat has one choice for each of its 6 cards, whatever the other holds or chooses."""
    tree, publics = leduc.tree, leduc.publics
    frontier = street_frontier(tree, publics, np.tile(equilibrium, (4, 1)), 0)
    subgame = make_subgame(tree, publics, int(publics.roots(0)[0]), publics.possible(0) + 1.0, frontier=frontier)
    chosen = subgame.leaf >= 0
    assert chosen.sum() == 5 * 2 * 6
    assert len(np.unique(subgame.leaf[chosen])) == 5
    np.testing.assert_array_equal(np.bincount(subgame.combo[chosen]), np.full(6, 10))
    np.testing.assert_array_equal(np.diff(subgame.tree.infoset_first)[chosen], np.full(60, 4))
    assert subgame.tree.num_infosets == 60 + np.count_nonzero(
        publics.street[publics.number[tree.infoset_histories[tree.infoset_histories_first[:-1]]]] == 0
    )
    # All policies are the equilibrium here: by it the depth-limited game has the value of the whole one.
    inside = np.full(subgame.tree.num_actions, 0.25)
    inside[subgame.action >= 0] = equilibrium[subgame.action[subgame.action >= 0]]
    np.testing.assert_allclose(expected_values(subgame.tree, inside), expected_values(tree, equilibrium), atol=1e-12)


@jit_only
def test_a_gadgets_opponent_takes_the_better(leduc, equilibrium):
    """An opponent that is offered more than it can win turns every subgame down; offered too little, none."""
    tree, publics = leduc.tree, leduc.publics
    root = int(publics.roots(1)[3])
    beliefs = publics.possible(root).astype(float)
    for bound, taken in ((100.0, 0), (-100.0, 1)):
        subgame = make_subgame(tree, publics, root, beliefs, gadget=TerminateOption(1, np.full(6, bound)))
        solver = make_solver(subgame.tree, "cfr+")
        solver.run(50)
        asked = (subgame.action[subgame.tree.infoset_first[:-1]] < 0) & (subgame.leaf < 0)
        assert asked.sum() == 5
        first = subgame.tree.infoset_first[:-1][asked]
        assert (solver.current_strategy()[first + taken] == 1.0).all()
        assert expected_values(subgame.tree, solver.current_strategy())[1] == pytest.approx(bound) or bound < 0.0


def rock_paper_scissors(weight):
    """Rock, paper, scissors as a tree in two steps; a win by or against scissors counts `weight`."""
    wins = [[0.0, -1.0, weight], [1.0, 0.0, -weight], [-weight, weight, 0.0]]
    moves = ["rock", "paper", "scissors"]
    losses = [[-win for win in row] for row in wins]
    return flatten(pyspiel.convert_to_turn_based(pyspiel.create_matrix_game("rps", "rps", moves, moves, wins, losses)))


@jit_only
@pytest.mark.parametrize(
    ("weight", "equilibrium", "others"),
    (
        (1.0, [1 / 3, 1 / 3, 1 / 3], [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.0, 0.5, 0.5]]),
        (2.0, [0.4, 0.4, 0.2], [[2.0, 0.4, 0.2], [0.4, 2.0, 0.2], [0.4, 0.4, 1.0]]),
    ),
)
def test_rock_paper_scissors_behind_a_leaf(weight, equilibrium, others):
    """Against the one policy of an equilibrium anything goes; against a choice of biased ones only an equilibrium."""
    tree = rock_paper_scissors(weight)
    assert (tree.num_histories, tree.num_actions) == (13, 6)
    number = np.repeat([0, 1, 2], [1, 3, 9]).astype(np.int32)
    publics = PublicStates(
        num_combos=1,
        number=number,
        combo=np.zeros((13, 2), dtype=np.int32),
        parent=np.array([-1, 0, 1], dtype=np.int32),
        player=np.array([0, 1, -2], dtype=np.int8),
        street=np.zeros(3, dtype=np.int8),
        histories_first=np.array([0, 1, 4, 13], dtype=np.int32),
        histories=np.arange(13, dtype=np.int32),
    )
    policies = np.array([[*equilibrium, *np.divide(row, sum(row))] for row in (equilibrium, *others)])
    leaf = np.array([False, True, False])

    def solve(policies):
        subgame = make_subgame(tree, publics, 0, np.ones((2, 1)), frontier=frontier_at(tree, publics, policies, leaf))
        solver = make_solver(subgame.tree, "lcfr")
        solver.run(20_000)
        return subgame.tree, solver.average_strategy()

    alone, _ = solve(policies[:1])
    assert alone.num_infosets == 1
    for action in range(3):
        assert exploitability(alone, np.eye(3)[action]).nash_conv == pytest.approx(0.0, abs=1e-12)
    chosen, strategy = solve(policies)
    assert chosen.num_infosets == 2  # the second player does not see what it answers
    np.testing.assert_allclose(strategy[:3], equilibrium, atol=2e-3)
    assert exploitability(chosen, np.array([1.0, 0.0, 0.0, 0.25, 0.25, 0.25, 0.25])).nash_conv > 0.3


@jit_only
def test_three_players():
    """Kuhn poker has no later street: its search is Linear CFR of the whole game."""
    searcher = GameTreeSearcher(flatten("kuhn3"))
    strategy = random_strategy(searcher.tree, 2)
    solver = make_solver(searcher.tree, "lcfr")
    solver.run(2_000)
    found = searcher.strategy(strategy, GameTreeSearch(iterations=2_000))
    np.testing.assert_allclose(found, solver.average_strategy(), atol=1e-9)
    assert exploitability(searcher.tree, found).nash_conv < 0.01
    with pytest.raises(ValueError, match="safe search is for two"):
        searcher.strategy(strategy, GameTreeSearch(safe=True))


@pytest.mark.slow
def test_three_player_leduc():
    """Search improves a poor blueprint of three players, too."""
    searcher = GameTreeSearcher(flatten("leduc3"))
    strategy = blueprint(searcher, "cfr", 3)
    before = exploitability(searcher.tree, strategy).nash_conv
    for search in (GameTreeSearch(from_street=2, iterations=300), GameTreeSearch(iterations=300)):
        after = exploitability(searcher.tree, checked_strategy(searcher.tree, searcher.strategy(strategy, search)))
        assert after.nash_conv < 0.5 * before


@jit_only
@pytest.mark.slow
def test_the_agent_at_the_table_is_as_exploitable(leduc):
    """The solver for hold'em, on Leduc from a trained blueprint, comes to the same from street 2."""
    config = dataclasses.replace(read_preset("leduc"), iterations=4_000)
    trainer = make_trainer(config, lossless_buckets(config.rules))
    trainer.run()
    agent = BlueprintAgent(trainer.blueprint())
    before = strategy_from_agent(leduc.tree, agent)
    assert distance(leduc, before) > 0.15
    expected = distance(leduc, leduc.strategy(before, GameTreeSearch(from_street=2)))
    searching = SearchAgent(agent, SearchConfig(iterations=300, purge=0.0, threads=1))
    assert distance(leduc, strategy_from_agent(leduc.tree, searching)) == pytest.approx(expected, rel=0.05)


def test_options():
    assert search_from_options({}) == GameTreeSearch()
    assert search_from_options(
        {"continuations": "2", "uniform_share": "0.001", "play": "final", "safe": "false"}
    ) == GameTreeSearch(continuations=2, uniform_share=1e-3, play="final")
    for options, message in (
        ({"speed": "1"}, "takes the options from_street, continuations, play"),
        ({"continuations": "5"}, "continuations must be 1..4"),
        ({"continuations": "two"}, "continuations is a whole number, got 'two'"),
        ({"safe": "yes"}, "safe is true or false"),
        ({"play": "last"}, "play is average or final"),
        ({"from_street": "0"}, "counts streets from 1"),
        ({"iterations": "0"}, "at least 1"),
        ({"uniform_share": "1"}, "below 1"),
        ({"algorithm": "sat"}, "unknown algorithm"),
    ):
        with pytest.raises(ValueError, match=message):
            search_from_options(options)


@jit_only
def test_refusals(leduc, equilibrium):
    with pytest.raises(ValueError, match=r"has 2 street\(s\): there is no search from street 3"):
        leduc.strategy(equilibrium, GameTreeSearch(from_street=3))
    with pytest.raises(ValueError, match="rules can be read from universal_poker, leduc_poker, kuhn_poker"):
        GameTreeSearcher(rock_paper_scissors(1.0))
    with pytest.raises(ValueError, match="allow no deal"):
        make_subgame(leduc.tree, leduc.publics, int(leduc.publics.roots(1)[0]), np.zeros((2, 6)))
