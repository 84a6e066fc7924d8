"""The betting tree against one walked state by state."""

import dataclasses
import os
import signal
import threading

import numpy as np
import pytest

from plurispiel.abstraction.actions import tree_kernels
from plurispiel.abstraction.actions.menu import parse_sizes, raise_totals
from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, build_tree, game_menu, tree_size
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, raise_menu
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.abstraction.trees.ladder import find_game

SHALLOW = dataclasses.replace(no_limit_holdem(3), stacks=(700, 350, 1300))
MENU = GameMenu(
    (
        StreetMenu(("2.5bb 1p allin", "0.5p allin")),
        StreetMenu(("0.5p 1p", "1p allin", "allin"), multiway=("1p",)),
        StreetMenu(("allin",)),
    ),
    all_in_share=0.8,
)


def offered(rules: HoldemRules, menu: GameMenu, state: list[int]) -> list[int]:
    """Return the raises on offer, by the menu's definition."""
    own = menu.streets[min(state[betting_layout.STREET], len(menu.streets) - 1)]
    texts = own.raises if state[betting_layout.NUM_LIVE] < 3 or own.multiway is None else own.multiway
    if state[betting_layout.NUM_RAISES] >= len(texts):
        return []
    if menu.exact:
        return list(raise_menu(rules, state) or ())
    sizes = parse_sizes(texts[state[betting_layout.NUM_RAISES]])
    return list(raise_totals(sizes, rules, state, all_in_share=menu.all_in_share))


def may_call(menu: GameMenu, actions: list[tuple[int, int]], state: BettingState) -> bool:
    """Return whether a call is on offer, from the (seat, action) pairs of the street."""
    limits = menu.streets[min(state.street, len(menu.streets) - 1)].callers
    if limits is None or not state.can_fold or not state.max_raise or sum(not gone for gone in state.folded) == 2:
        return True
    raises = [number for number, (_, action) in enumerate(actions) if action > CALL]
    answers = actions[raises[-1] + 1 :] if raises else actions
    left = {seat for seat, stack in enumerate(state.rules.stacks) if state.contributions[seat] < stack}
    left -= {seat for seat, gone in enumerate(state.folded) if gone}
    left -= {seat for seat, action in answers if action == CALL} | ({actions[raises[-1]][0]} if raises else set())
    callers = [seat for seat, action in answers if action == CALL]
    whole = [seat for seat in callers if not raises or state.contributions[seat] == max(state.contributions)]
    return left == {state.actor} or len(whole) < limits[min(len(raises), len(limits) - 1)]


def check(rules, menu):
    tree, size = build_tree(rules, menu), tree_size(rules, menu)
    found = {"ends": 0, "rows": [0] * rules.num_streets, "decisions": [0] * rules.num_streets}

    def walk(node, state, actions=()):
        array = state.array.tolist()
        if state.is_over:
            assert tree.actor[node] == -1 and tree.num_actions[node] == 0
            end = tree.first_child[node]
            assert tree.contributions[end].tolist() == list(state.contributions)
            assert [bool(tree.folded[end] >> seat & 1) for seat in range(rules.num_seats)] == list(state.folded)
            assert end == found["ends"]
            found["ends"] += 1
            return
        expected = [FOLD] * state.can_fold + [CALL] * may_call(menu, list(actions), state)
        expected += offered(rules, menu, array)
        assert tree.actions(node).tolist() == expected
        assert tree.actor[node] == state.actor and tree.street[node] == state.street
        assert tree.paid[node] == state.contributions[state.actor]
        assert tree.row[node] == found["rows"][state.street]
        found["rows"][state.street] += len(expected)
        found["decisions"][state.street] += 1
        for number, action in enumerate(expected):
            child = tree.first_child[node] + number
            assert tree.parent[child] == node and tree.action[child] == action
            below = state.copy()
            below.apply(action)
            walk(child, below, (*actions, (state.actor, action)) if below.street == state.street else ())

    walk(0, BettingState(rules))
    assert size.num_nodes == len(tree.actor) == len(set(tree.first_child[tree.actor >= 0])) + found["ends"]
    assert size.num_ends == found["ends"] == len(tree.folded)
    assert size.pairs == tuple(found["rows"]) and size.decisions == tuple(found["decisions"])
    assert size.cells((2,) * rules.num_streets) == 2 * sum(size.pairs)


@pytest.mark.parametrize("rules", [KUHN, LEDUC], ids=["kuhn", "leduc"])
def test_limit_games(rules):
    check(rules, game_menu(rules))


@pytest.mark.parametrize("name", ["holdem-mini", "leduc3", "kuhn3"])
def test_games_of_the_ladder(name):
    rules = rules_of(find_game(name))
    check(rules, game_menu(rules))


@pytest.mark.parametrize("abstraction", ["fc", "fcpa", "fchpa"])
def test_betting_abstractions_of_universal_poker(abstraction):
    rules = dataclasses.replace(HUNL, stacks=(900, 1500), betting_abstraction=abstraction)
    check(rules, game_menu(rules))


def test_a_menu_by_street_raises_and_seats_left():
    check(SHALLOW, MENU)


@pytest.mark.parametrize("limits", [(0,), (1, 0), (3, 1, 0)], ids=str)
def test_few_seats_may_call(limits):
    """Also a raise of a seat that is all-in by it, which deeper seats could raise again."""
    rules = dataclasses.replace(no_limit_holdem(4), stacks=(2000, 300, 450, 1200))
    sizes = ("300bb 1p", "allin", "allin")
    check(rules, GameMenu((StreetMenu(sizes, callers=limits), StreetMenu(("allin",), callers=(0,)))))


def counts(rules, *texts, later=80, all_in_share=0.9):
    """Return the number of decisions and of their actions."""
    size = tree_size(rules, GameMenu((StreetMenu((*texts, *(texts[-1],) * later)),), all_in_share))
    return sum(size.decisions), sum(size.pairs)


def test_published_counts():
    """Heads-up (100 and 200 big blinds), and three seats."""
    shallow = dataclasses.replace(HUNL, stacks=(10_000, 10_000))
    assert counts(shallow, "1p allin") == (1_360, 3_361)
    assert counts(shallow, "0.5p 1p allin", "1p allin") == (8_016, 20_897)
    assert counts(HUNL, "0.5p 1p allin", "1p allin") == (14_480, 38_321)
    assert counts(no_limit_holdem(3), "1p allin") == (16_004, 36_021)


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_published_counts_of_six_seats_with_three_raises():
    """They tell whether raises near all-in stay apart: 4.5 million decisions if they do."""
    assert counts(SIXMAX, "1p allin", later=2, all_in_share=1.0) == (4_537_789, 9_484_734)
    assert counts(SIXMAX, "1p allin", later=2) == (3_688_553, 7_703_312)


def test_a_tree_that_is_too_large_is_refused_before_it_is_built():
    menu = GameMenu((StreetMenu(("1p allin",) * 3),))
    for make in (tree_size, build_tree):
        with pytest.raises(ValueError, match="more than 20,000 nodes; take fewer sizes"):
            make(SIXMAX, menu, max_nodes=20_000)


def test_bad_menus_are_refused():
    with pytest.raises(ValueError, match="bet sizes are written like"):
        StreetMenu(("pot",))
    with pytest.raises(ValueError, match="at least one street"):
        GameMenu(())
    for text in ("1p 2.5bb", "1.5p"):
        with pytest.raises(ValueError, match="an exact menu has shares"):
            GameMenu((StreetMenu(("1p",), multiway=(text,)),), exact=True)
    with pytest.raises(ValueError, match="every size"):
        game_menu(HUNL)
    with pytest.raises(ValueError, match="at most 30 bet sizes"):
        build_tree(HUNL, GameMenu((StreetMenu((" ".join(f"{n}bb" for n in range(1, 40)),)),)))


def test_subtrees_lie_together():
    """A subtree stands before the descendants of the next sibling: betting never met shares memory never touched."""
    tree = build_tree(SHALLOW, MENU)
    last = np.arange(len(tree.actor))
    for node in range(len(last) - 1, 0, -1):
        last[tree.parent[node]] = max(last[tree.parent[node]], last[node])
    for node in np.flatnonzero(tree.actor >= 0):
        children = range(tree.first_child[node], tree.first_child[node] + tree.num_actions[node])
        inner = [child for child in children if tree.actor[child] >= 0]
        for one, following in zip(inner, inner[1:], strict=False):
            assert last[one] < tree.first_child[following]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_ends_the_wait_for_a_count(monkeypatch):
    begun, ended, threads = threading.Event(), threading.Event(), []

    def count(*arguments):
        threads.append(threading.current_thread())  # an interrupt would not end a kernel on the main thread
        begun.set()
        ended.wait(60.0)
        return 1, 1

    def interrupt():
        begun.wait(60.0)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(tree_kernels, "count_nodes", count)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            tree_size(KUHN, game_menu(KUHN))
        assert threads != [threading.main_thread()]
    finally:
        ended.set()
