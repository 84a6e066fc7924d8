"""Best responses by flops: equal to the public tree's, to a value by hand, and between their limits on drawn flops."""

import dataclasses
import math
import os

import numpy as np
import pytest
from public_games import SMALL, Noise, Wave, small_game
from random_blueprint import StrengthBuckets, random_blueprint, timid
from reference import public_best_response as reference

from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, game_menu
from plurispiel.abstraction.holdem.all_in_margins import all_in_margins, compute_all_in_totals, hand_classes
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands, showdown_margin
from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents import make_agent
from plurispiel.agents.base import PublicState, Strategy
from plurispiel.agents.blueprint import BlueprintAgent
from plurispiel.agents.blueprint.acting_rows import ActingRows
from plurispiel.agents.blueprint.agent import DefendingAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.evaluation.flop_best_response import FlopBestResponse
from plurispiel.evaluation.local_best_response import ALL_IN, LocalBestResponse, Menu
from plurispiel.evaluation.preflop_response import PreflopResponse, draw_flops
from plurispiel.evaluation.public_best_response import public_best_response
from plurispiel.evaluation.reported_rows import ReportedRows

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
pytestmark = [jit_only, pytest.mark.xdist_group("flop response")]  # one worker compiles the kernels

ALL_IN_ON_THE_FLOP = GameMenu((StreetMenu(("",)), StreetMenu(("allin",))), all_in_share=2.0)

GAMES = {
    name: SMALL[name]
    for name in ("one board card", "two of three suits", "flop", "one hole card", "unequal stacks", "limit")
} | {"three streets": small_game(2, 4, (0, 1, 1), stack=300)}


def flop_values(rules, tree, rows, *, dtype=np.float64, threads=1):
    """Return the values of every class of flops, and the response before the flop."""
    response = FlopBestResponse(rules, tree, rows, dtype=dtype, threads=threads)
    preflop = PreflopResponse(rules, tree, rows, response.roots)
    flops = board_classes(rules.board_size(1), rules.num_suits, rules.num_ranks).boards.tolist()
    values = [preflop.by_class(response.values(tuple(flop), preflop.reach)) for flop in flops]
    return np.stack(values), preflop


def on_all_flops(rules, tree, rows, **options):
    values, preflop = flop_values(rules, tree, rows, **options)
    return preflop.limits(values, draw_flops(rules, None, 1))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow)
        if name in ("one board card", "one hole card", "unequal stacks")
        else name
        for name in GAMES
    ],
)
def test_all_flops_equal_the_public_tree(name):
    rules, agents = GAMES[name], [Wave(1), Wave(2)]
    tree = build_tree(rules, game_menu(rules))
    found = on_all_flops(rules, tree, ReportedRows(rules, tree, agents))
    expected = public_best_response(rules, agents).best_response_values
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-9)
    assert found.upper == found.upper_limit == found.lower == found.lower_limit == pytest.approx(expected.mean())


def test_all_flops_equal_plain_loops():
    rules, agents = SMALL["one board card"], [Wave(3), Wave(4)]
    tree = build_tree(rules, game_menu(rules))
    public = PublicState(rules, BettingState(rules).array.tolist())
    _, best = reference.values(public, np.ones((2, rules.num_combos)), agents)
    found = on_all_flops(rules, tree, ReportedRows(rules, tree, agents))
    np.testing.assert_allclose(found.values, best, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["one board card", "unequal stacks"])
def test_local_best_response_with_the_sizes_of_the_tree_wins_no_more(name):
    rules, agents = GAMES[name], [Wave(5), Wave(6)]
    tree = build_tree(rules, game_menu(rules))
    most = on_all_flops(rules, tree, ReportedRows(rules, tree, agents)).values
    public = PublicState(rules, BettingState(rules).array.tolist())
    sizes = Menu("pot", "all sizes of the tree", ((1.0, ALL_IN),))
    for seat in range(2):
        prober = LocalBestResponse(agents[1 - seat], sizes)
        prober.restart(rules, seat, np.random.default_rng(1))
        playing = [prober, agents[1]] if seat == 0 else [agents[0], prober]
        own, best = reference.values(public, np.ones((2, rules.num_combos)), playing)
        assert best[seat] == pytest.approx(most[seat], abs=1e-9)
        assert own[seat] <= most[seat] + 1e-9
        plain, _ = reference.values(public, np.ones((2, rules.num_combos)), agents)
        assert own[seat] > plain[seat]  # so the test could fail


@pytest.mark.parametrize("missing", [pytest.param(0.0, marks=pytest.mark.slow), 0.6])
def test_rows_of_a_blueprint_with_stand_ins_from_all_streets(missing):
    rules = small_game(2, 4, (0, 1, 1), stack=300)
    found = random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules), missing=missing)
    rows = ActingRows(found)
    assert (len(rows.street(2).open_nodes) > 0) == (missing > 0.0)
    agents = [BlueprintAgent(found), BlueprintAgent(found)]
    expected = public_best_response(rules, agents).best_response_values
    np.testing.assert_allclose(on_all_flops(rules, found.tree, rows).values, expected, rtol=0, atol=1e-9)
    rounded = on_all_flops(rules, found.tree, ActingRows(found, np.float32), dtype=np.float32)
    np.testing.assert_allclose(rounded.values, expected, rtol=0, atol=1e-3)


class CoarseBuckets(StrengthBuckets):
    """Every class of starting hands, then three steps of strength."""

    def __init__(self, rules):
        super().__init__(rules, 3)
        self.starts = lossless_buckets(rules)
        self.num_buckets = (self.starts.num_buckets[0], *self.num_buckets[1:])

    def row(self, board, street):
        return super().row(board, street) if street else self.starts.row(board, 0)


@pytest.mark.parametrize(
    ("name", "cards", "defence"),
    [
        ("flop", lossless_buckets, 1.0),
        ("three streets", CoarseBuckets, 0.8),
        pytest.param("three streets", lossless_buckets, 1.0, marks=pytest.mark.slow),
        ("limit", CoarseBuckets, 1.0),
    ],
)
def test_rows_that_depend_on_the_range(name, cards, defence):
    """The public tree asks the agent itself, whose range is that of its own play."""
    rules = GAMES[name]
    found = timid(random_blueprint(rules, game_menu(rules), cards=cards(rules)), 86)
    agents = [DefendingAgent(found, defence), DefendingAgent(found, defence)]
    expected = public_best_response(rules, agents).best_response_values
    plain = on_all_flops(rules, found.tree, ActingRows(found)).values
    assert (np.abs(expected - plain) > 0.1).any()  # so the test could fail
    limits = on_all_flops(rules, found.tree, ActingRows(found, np.float64, defence), threads=2)
    np.testing.assert_allclose(limits.values, expected, rtol=0, atol=1e-9)
    rounded = on_all_flops(rules, found.tree, ActingRows(found, np.float32, defence), dtype=np.float32)
    np.testing.assert_allclose(rounded.values, expected, rtol=0, atol=1e-3)


def test_a_defence_needs_rows():
    rules = GAMES["three streets"]
    rows = ActingRows(
        random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules), missing=0.6), defence=1.0
    )
    rows.street(0)  # no bet is defended before the flop
    with pytest.raises(ValueError, match="its defence, 1, changes; .* or measure it without"):
        rows.street(2)


def test_threads_change_nothing():
    rules = small_game(2, 4, (0, 1, 1), stack=500)
    found = random_blueprint(rules, game_menu(rules), cards=lossless_buckets(rules), missing=0.5)
    one, two = (flop_values(rules, found.tree, ActingRows(found), threads=threads)[0] for threads in (1, 3))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(("calls", "limps"), [pytest.param(0.0, 0.0, marks=pytest.mark.slow), (0.3, 0.8), (1.0, 1.0)])
def test_a_mixture_of_call_and_fold_by_hand(calls, limps):
    """Before the flop only call and fold, on the flop all-in once; the blueprint never raises, whatever it holds.

    Shares are tenths, which a row of whole numbers stores exactly.
    """
    rules = dataclasses.replace(small_game(2, 4, (0, 3), stack=700), betting_abstraction="fullgame")
    drawn = random_blueprint(rules, ALL_IN_ON_THE_FLOP, cards=lossless_buckets(rules))
    rows = np.zeros(len(drawn.rows), np.uint8)
    for node in np.flatnonzero(drawn.tree.actor >= 0).tolist():
        street, actions = int(drawn.tree.street[node]), drawn.tree.actions(node).tolist()
        share = (limps if street == 0 else calls) if FOLD in actions else 1.0
        cells = np.arange(drawn.cards.num_buckets[street]) * drawn.game.pairs[street] + drawn.tree.row[node]
        rows[drawn.game.base[street] + cells + actions.index(CALL)] = round(10 * share)
        if FOLD in actions:
            rows[drawn.game.base[street] + cells + actions.index(FOLD)] = 10 - round(10 * share)
    blueprint = dataclasses.replace(drawn, rows=rows)

    size = len(rules.cards)
    num_flops = math.comb(size - 4, 3)
    flop_value = np.zeros(rules.num_combos)  # after a limp, times the number of the other's hands
    classes = board_classes(3, rules.num_suits, rules.num_ranks)
    hands = rank_hands(rules, ())
    mass = np.empty(rules.num_combos)
    mass[hands.combos] = fold_mass(hands, np.ones(rules.num_combos))
    same = hand_classes(rules)
    for flop, count in zip(classes.boards.tolist(), classes.sizes.tolist(), strict=True):
        board = rank_hands(rules, tuple(flop))
        ones = np.ones(len(board.combos))
        margin, others = showdown_margin(board, ones), fold_mass(board, ones)
        best = np.zeros(rules.num_combos)
        best[board.combos] = np.maximum(100 * margin, (1 - calls) * 100 * others + calls * 700 * margin)
        flop_value += count * (np.bincount(same, best) / np.bincount(same))[same] / num_flops
    pairs = mass.sum()
    small_blind = np.maximum(-50 * mass, flop_value).sum() / pairs
    big_blind = (limps * flop_value + (1 - limps) * 50 * mass).sum() / pairs
    found = on_all_flops(rules, blueprint.tree, ActingRows(blueprint))
    np.testing.assert_allclose(found.values, [big_blind, small_blind], rtol=0, atol=1e-5)  # shares are float32


def test_an_agent_that_tells_suits_apart_is_refused():
    rules = SMALL["one board card"]
    with pytest.raises(ValueError, match="tells suits apart"):
        ReportedRows(rules, build_tree(rules, game_menu(rules)), [Noise(1), Noise(2)])


class Careless(Wave):
    """Reports NaN for hands that hold a card of the board."""

    def range_strategy(self, public):
        found = super().range_strategy(public)
        dead = ~public.rules.free_combos(public.board)
        return Strategy(found.actions, np.where(dead[:, None], np.nan, found.probabilities))


def test_what_is_reported_for_hands_with_a_card_of_the_board_has_no_meaning():
    rules = SMALL["one board card"]
    tree = build_tree(rules, game_menu(rules))
    careful, careless = (ReportedRows(rules, tree, [kind(3), kind(4)]) for kind in (Wave, Careless))
    tables = [rows.rows_on(1, [(0,)])[0].table for rows in (careful, careless)]
    free = rules.free_combos((0,))
    np.testing.assert_array_equal(tables[1][free], tables[0][free])
    found, expected = (on_all_flops(rules, tree, rows).values for rows in (careless, careful))
    np.testing.assert_array_equal(found, expected)


def test_all_in_before_the_flop():
    margins, classes = all_in_margins(HUNL), hand_classes(HUNL)
    sizes = np.bincount(classes)
    assert np.abs(sizes[:, None] * margins + (sizes[:, None] * margins).T).max() < 1e-9
    aces, kings = classes[HUNL.combo_id((48, 49))], classes[HUNL.combo_id((44, 45))]
    assert margins[aces, kings] / 6 == pytest.approx(2 * 0.8195 - 1, abs=1e-3)


@pytest.mark.slow
def test_the_stored_totals_are_those_computed():
    sizes = np.bincount(hand_classes(HUNL))[:, None]
    totals = compute_all_in_totals(HUNL)
    np.testing.assert_allclose(all_in_margins(HUNL) * sizes * math.comb(48, 5), totals, rtol=0, atol=1e-3)


def limits_that_hold(values, preflop, rules, count):
    """Return for how many of 20 seeds each limit holds the truth."""
    truth = preflop.limits(values, draw_flops(rules, None, 0)).upper
    above = below = 0
    for seed in range(1, 21):
        drawn = draw_flops(rules, count, seed)
        limits = preflop.limits(values[drawn.class_ids], drawn)
        above += limits.upper_limit >= truth
        below += limits.lower_limit <= truth
        assert limits.lower <= limits.upper + 1e-9
    return above, below


def test_limits_on_drawn_flops_of_a_small_game():
    rules = parse_game(LADDER["holdem-mini"].game)
    tree = build_tree(rules, game_menu(rules))
    values, preflop = flop_values(rules, tree, ReportedRows(rules, tree, [make_agent("tag"), make_agent("tag")]))
    expected = public_best_response(rules, [make_agent("tag"), make_agent("tag")]).best_response_values
    np.testing.assert_allclose(preflop.limits(values, draw_flops(rules, None, 0)).values, expected, rtol=0, atol=1e-9)
    above, below = limits_that_hold(values, preflop, rules, 30)
    assert above >= 18 and below >= 18


@pytest.mark.slow
def test_limits_on_drawn_flops_of_a_full_deck():
    rules = parse_game(LADDER["holdem-flop"].game)
    tree = build_tree(rules, game_menu(rules))
    rows = ReportedRows(rules, tree, [make_agent("tag"), make_agent("tag")])
    values, preflop = flop_values(rules, tree, rows)
    expected = public_best_response(rules, [make_agent("tag"), make_agent("tag")]).best_response_values
    np.testing.assert_allclose(preflop.limits(values, draw_flops(rules, None, 0)).values, expected, rtol=0, atol=1e-9)
    above, below = limits_that_hold(values, preflop, rules, 40)
    assert above >= 18 and below >= 18


def test_limits_need_two_flops():
    rules = parse_game(LADDER["holdem-mini"].game)
    tree = build_tree(rules, game_menu(rules))
    values, preflop = flop_values(rules, tree, ReportedRows(rules, tree, [make_agent("call"), make_agent("call")]))
    drawn = draw_flops(rules, 1, 1)
    limits = preflop.limits(values[drawn.class_ids], drawn)
    assert limits.upper_limit is limits.lower is limits.lower_limit is None
    pair = drawn._replace(class_ids=np.array([0, 1]), weights=np.full(2, 0.5))
    two = preflop.limits(values[pair.class_ids], pair)
    assert two.lower_limit <= two.lower <= two.upper <= two.upper_limit
