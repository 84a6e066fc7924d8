"""A blueprint's strategies in the betting and the buckets of a search."""

import functools
import os

import numpy as np
import pytest
from random_blueprint import random_blueprint

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.blueprint.roll_outs import hand_in_tree
from plurispiel.agents.blueprint.translated_rows import nearest_action
from plurispiel.agents.resolve import Subgame, VectorSolver
from plurispiel.agents.search.planned import PlannedRows

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

TURN = parse_cards("QsJh2h7c")
TO_TURN = (300, 1, 1, 1)
SPADES = parse_cards("QsJs2s7s")
"""Other suits may change places."""


@functools.cache
def blueprint():
    return random_blueprint(HUNL)


def planned():
    return PlannedRows(blueprint(), hand_in_tree(HUNL, blueprint()))


def solver_at(buckets, board=TURN, ranges=None, last_boards=3):
    state = BettingState(HUNL)
    for action in TO_TURN:
        state.apply(action)
    menu = BetMenu(tuple(((parse_sizes(text), ()),) for text in ("", "", "0.5p allin", "0.5p allin")))
    ranges = np.random.default_rng(2).random((2, HUNL.num_combos)) if ranges is None else ranges
    return VectorSolver(Subgame(state, board, ranges, menu.raises, buckets=buckets), threads=1, last_boards=last_boards)


def finer(board):
    """Buckets, each of them half of one of the blueprint's."""
    row = blueprint().cards.row(board, 3).astype(np.int64)
    return np.where(row < 255, 2 * row + np.arange(len(row)) % 2, 0)


def coarser(board):
    """Buckets, each of them several of the blueprint's."""
    row = blueprint().cards.row(board, 3).astype(np.int64)
    return np.where(row < 255, row // 8, 0)


def river_decisions(solver):
    return [each for each in solver.streets[1].betting.decisions if len(each.children) == 3][:8]


@jit_only
def test_rows_are_those_of_the_buckets_that_hands_are_in():
    solver = solver_at(finer)
    rows = planned().rows_for(solver, TO_TURN)
    known = {int(number) for number in np.concatenate(solver.streets[1].buckets.numbers)}
    assert river_decisions(solver)
    for decision in river_decisions(solver):
        path = (*TO_TURN, *(action for _, action, _ in decision.actions))
        by_bucket = planned().row_by_bucket(path, tuple(decision.children))
        found = rows(1, decision)
        for number in known:
            np.testing.assert_allclose(found[number], by_bucket[number // 2])
        np.testing.assert_allclose(found[sorted(known)].sum(axis=1), 1.0)


@jit_only
@pytest.mark.parametrize("has_symmetry", [False, True])
def test_rows_of_coarser_buckets_are_means_of_the_hands_in_them(has_symmetry):
    """Also where one board stands for all that differ in their suits."""
    symmetric = SPADES, np.ones((2, HUNL.num_combos)), 0
    solver = solver_at(coarser, *symmetric) if has_symmetry else solver_at(coarser)
    board = solver.subgame.board
    rows, street = planned().rows_for(solver, TO_TURN), solver.streets[1]
    decision = river_decisions(solver)[0]
    path = (*TO_TURN, *(action for _, action, _ in decision.actions))
    by_bucket = planned().row_by_bucket(path, tuple(decision.children))
    sums, totals = np.zeros((street.width, 3)), np.zeros((street.width, 1))
    boards = street.deals.boards
    if has_symmetry:
        assert len(boards) < 48
        boards = [(*board, card) for card in HUNL.cards.tolist() if card not in board]
    for cards in boards:
        for combo in np.flatnonzero(~np.isin(HUNL.combos, cards).any(axis=1)):
            weight = solver.ranges[decision.seat, combo]
            sums[coarser(cards)[combo]] += weight * by_bucket[blueprint().cards.row(cards, 3)[combo]]
            totals[coarser(cards)[combo]] += weight
    np.testing.assert_allclose(rows(1, decision), sums / totals, rtol=1e-5)


@jit_only
def test_hands_of_the_first_street_have_rows_of_their_own():
    solver = solver_at(finer)
    decision = solver.streets[0].betting.decisions[0]
    found = planned().rows_for(solver, TO_TURN)(0, decision)
    by_bucket = planned().row_by_bucket(TO_TURN, tuple(decision.children))
    held = ~np.isin(HUNL.combos, TURN).any(axis=1)
    np.testing.assert_allclose(found[held], by_bucket[blueprint().cards.row(TURN, 2)[held]])


def test_where_the_tree_has_no_decision_nothing_is_planned():
    assert planned().row_by_bucket((*TO_TURN, 900, 2400), (0, 1, 9000)) is None  # the turn has one raise


@pytest.mark.parametrize("action, nearest", [(0, 0), (1, 1), (500, 500), (540, 500), (5000, 900), (100, 500)], ids=str)
def test_the_nearest_action_is_of_the_same_kind(action, nearest):
    actions = (0, 1, 500, 900)
    assert actions[nearest_action(actions, action)] == nearest


def test_without_raises_or_folds_it_is_a_call():
    assert nearest_action((0, 1), 700) == 1
    assert nearest_action((1, 700), 0) == 0


@jit_only
@pytest.mark.parametrize("total", [400, 700, 5_000])
def test_folds_to_a_bet_between_two_sizes_are_those_of_both(total):
    """600 lie on the turn, where the tree bets the pot or all-in."""
    rows, hand = planned(), hand_in_tree(HUNL, blueprint())
    actions = (0, 1, 2 * total)
    found = rows.row_by_bucket((*TO_TURN, total), actions)
    between = hand.translation.answers(hand.at((*TO_TURN, total))).between
    buckets = np.arange(len(found))
    folds = (1.0 - between.share) * blueprint().strategy(between.upper, buckets)[:, 0]
    if between.lower is not None:
        folds = folds + between.share * blueprint().strategy(between.lower, buckets)[:, 0]
    assert (between.lower is None) == (total < 900)
    np.testing.assert_allclose(found[:, 0], folds, atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-6)
