"""Spots: known answers, equity, what a file may hold."""

import dataclasses
import os
from itertools import combinations, product

import numpy as np
import pytest
from reference.hand_rank import strength

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.spots import Spot, solve_spot
from plurispiel.agents.spots.spot import spot_record
from plurispiel.agents.spots.spot_file import (
    EXAMPLES,
    SolveSettings,
    load_spot_solution,
    read_spot,
    save_spot_solution,
    spot_of_table,
    spot_toml,
    stored_spot,
)
from plurispiel.agents.spots.spot_solution import equity
from plurispiel.agents.spots.three_way import three_way_solver

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

BETS = {"bet": "1p allin", "raise": "allin"}
RIVER = Spot("Td 9d 6h Qc 7s", 100, 300, "random", "random", {"river": BETS})


def test_all_hands_and_one_half_pot_bet():
    """The best 30 % and the worst 10 % bet, 60 % call, and betting is worth 5 % of the pot."""
    spot, settings = read_spot(EXAMPLES / "river-spot.toml")
    found = solve_spot(spot, target_pct=settings.target_pct)
    assert found.ev == pytest.approx((33.0, 27.0), abs=0.5)
    assert sum(found.ev) == pytest.approx(60.0, abs=1e-3)
    assert found.equity == pytest.approx((0.5, 0.5), abs=1e-12)
    assert found.exploitability_pct <= settings.target_pct
    root, answer = found.strategy(), found.strategy("allin")
    assert root.actions == ("c", "allin")
    assert answer.player == "ip"
    assert answer.actions == ("f", "c")
    assert root.frequencies[1] == pytest.approx(0.4, abs=0.04)
    assert answer.frequencies[1] == pytest.approx(0.6, abs=0.04)
    # Of the hands that bet, three quarters bet for value.
    board = parse_cards(spot.board)
    bets = np.nan_to_num(root.probabilities[:, 1])
    ranks = np.array([strength((*combo, *board)) if not set(combo) & set(board) else (-1,) for combo in
                      HUNL.combos.tolist()], dtype=object)  # fmt: skip
    order = sorted(np.flatnonzero(root.weights).tolist(), key=lambda combo: ranks[combo])
    worse, better = order[: len(order) // 2], order[len(order) // 2 :]
    assert bets[better].sum() / bets.sum() == pytest.approx(0.75, abs=0.03)
    assert bets[better].sum() / len(order) == pytest.approx(0.3, abs=0.03)
    assert bets[worse].sum() / len(order) == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("player, other", [("oop", "ip"), ("ip", "oop")])
def test_aces_against_a_range_without_outs_win_the_whole_pot(player, other):
    spot = dataclasses.replace(RIVER, board="As Ad 7c 2h 2d", **{player: "AA", other: "KK,QJs"})
    found = solve_spot(spot, target_pct=0.05)
    assert dict(zip(("oop", "ip"), found.ev, strict=True)) == pytest.approx({player: 100.0, other: 0.0}, abs=0.1)
    assert found.equity == pytest.approx((1.0, 0.0) if player == "oop" else (0.0, 1.0), abs=1e-12)


def test_aces_against_aces_win_half_each():
    found = solve_spot(dataclasses.replace(RIVER, oop="AA", ip="AA"), target_pct=0.05)
    assert found.ev == pytest.approx((50.0, 50.0), abs=0.1)
    assert found.equity == pytest.approx((0.5, 0.5), abs=1e-12)


@pytest.mark.parametrize("share", [0.5, 1.0, 2.0])
def test_a_polarised_range_bets_and_is_called_at_the_theorys_frequencies(share):
    """Nuts and air in equal parts against bluff-catchers: s/(1 + s) bluffs for each value bet, 1/(1 + s) called."""
    stack = round(100 * share)
    bets = {"river": {"oop": {"bet": f"{share}p"}}}
    # Kings are the nuts, deuces never win, jacks beat the deuces only; no card is shared.
    spot = Spot("3c 4d 8h 9s Kc", 100, stack, "KdKh,KdKs,KhKs,2c2d,2c2h,2d2h", "JJ", bets)
    found = solve_spot(spot, target_pct=0.01, algorithm="cfr+")
    root, answer = found.strategy(), found.strategy("allin")
    combos = root.combos
    value = [shares[1] for name, shares in combos.items() if name[0] == "K"]
    bluffs = [shares[1] for name, shares in combos.items() if name[0] == "2"]
    assert value == pytest.approx([1.0] * 3, abs=0.02)
    assert sum(bluffs) == pytest.approx(3 * share / (1.0 + share), abs=0.05)
    assert answer.frequencies[1] == pytest.approx(1.0 / (1.0 + share), abs=0.02)
    # The bettor wins the pot with every bet that is not caught bluffing.
    assert found.ev[0] == pytest.approx(50.0 * (1.0 + share / (1.0 + share)), abs=0.2)


def test_locks():
    """A bettor that never bluffs is never called by a bluff-catcher; one that always bluffs always is."""
    bets = {"river": {"oop": {"bet": "1p"}}}
    spot = Spot("3c 4d 8h 9s Kc", 100, 100, "KdKh,KdKs,KhKs,2c2d,2c2h,2d2h", "JJ", bets)
    for lock, called, ev in (
        ({"": {"allin": "KK"}}, 0.0, 50.0),
        ({"": {"c": ""}}, 1.0, 50.0),
        ({"": {"allin": "KK", "c": "22"}}, 0.0, 50.0),
        ({"allin": {"c": ""}}, 0.0, 100.0),
        ({"allin": {"f": "JcJd:0.5"}}, 5.5 / 6, 100.0),
    ):
        found = solve_spot(dataclasses.replace(spot, lock=lock), target_pct=0.01)
        assert found.exploitability_pct <= 0.01
        assert found.strategy("allin").frequencies[1] == pytest.approx(called, abs=0.01), lock
        if lock != {"allin": {"f": "JcJd:0.5"}}:
            assert found.ev[0] == pytest.approx(ev, abs=0.1), lock
    turn = dataclasses.replace(spot, board="3c 4d 8h 9s", oop="AA,55", ip="JJ", lock={"c c *": {"allin": "55"}})
    found = solve_spot(turn, max_iterations=5)
    for node in ("c c Kc", "c c 2d"):
        shown = found.strategy(node)
        assert all(shares == [0.0, 1.0] for name, shares in shown.combos.items() if name[0] == "5")
        assert all(shares == [1.0, 0.0] for name, shares in shown.combos.items() if name[0] == "A")


@pytest.mark.parametrize(
    "lock, message",
    [
        ({"c b7%": {}}, "actions are c b100% allin, got 'b7%'"),
        ({"c c": {"c": ""}}, "lock 'c c': after the last word the hand is over"),
        ({"": {"x": "AA"}}, "actions are c b100% allin, got 'x'"),
        ({"": {"c": "AA"}}, "leaves out 2 actions"),
        ({"": {"allin": "AA", "b300": "AA"}}, "names an action twice: allin and b300"),
        ({"": {"c": "AA", "allin": "AA:0.5"}}, "the probabilities of AdAc must sum to at most 1, got 1.5"),
        ({"": {"c": 1, "allin": ""}}, "needs a range"),
        ({"": {"c": "AA,AA", "allin": ""}}, "appears twice"),
        ({"": "c"}, "must be a table"),
        ({"": {"hands": "AA:0.5", "c": "", "b100%": ""}}, "named without weights"),
        ({"": {"hands": 1, "c": "", "b100%": ""}}, "hands needs hands as text"),
        ({"": {"hands": "", "c": "", "b100%": ""}}, "a range needs"),
        ({"": {"hands": "AhAd", "c": "AhAd:0.4", "b100%": "", "allin": "AhAd:0.4"}}, "must sum to 1, got 0.8"),
    ],
)
def test_bad_locks(lock, message):
    with pytest.raises(ValueError, match=message):
        solve_spot(dataclasses.replace(RIVER, lock=lock), max_iterations=1)


def test_a_lock_names_hands_of_the_range():
    spot = dataclasses.replace(RIVER, oop="AA,KK", lock={"": {"hands": "QQ", "c": "QQ", "b100%": ""}})
    with pytest.raises(ValueError, match="lock '': hands names no hand of the player's range"):
        spot.subgame()


def test_single_hands_are_locked_and_others_stay_free(tmp_path):
    """Locked hands keep to their strategies, the others answer them, and exploitability goes to 0."""
    sizes = {"bet": "50% allin", "raise": "allin"}
    spot = Spot("Td 9d 6h Qc", 100, 100, "AdKd,99,J8s:0.5,KQs", "QdJd,88,KJs", {"turn": sizes, "river": sizes})
    locked = dataclasses.replace(
        spot, lock={"c": {"hands": "8c8h,KsJs", "allin": "8c8h:0.25"}, "c c *": {"hands": "AdKd", "c": ""}}
    )
    with pytest.raises(ValueError, match="leaves out 2"):
        locked.subgame()
    locked.lock["c"]["b50%"] = ""
    locked.lock["c c *"]["b50%"] = "AdKd:0.5"
    found, free = (solve_spot(each, target_pct=0.05) for each in (locked, spot))
    assert found.exploitability_pct <= 0.05 and found.iterations < 2_000
    answer, of_free = found.strategy("c").combos, free.strategy("c").combos
    assert answer["8h8c"] == pytest.approx([0.75, 0.0, 0.25]) and answer["KsJs"] == pytest.approx([1.0, 0.0, 0.0])
    assert answer["8s8d"] != pytest.approx([0.75, 0.0, 0.25], abs=0.05)
    assert {name for name, shares in answer.items() if shares != pytest.approx(of_free[name], abs=1e-6)} >= {"QdJd"}
    for card in ("2c", "Ah"):
        shares = found.strategy(f"c c {card}").combos
        assert shares["AdKd"] == pytest.approx([0.0, 0.5, 0.5])
        assert shares["KsQs"] != pytest.approx([0.0, 0.5, 0.5], abs=0.05)
    save_spot_solution(tmp_path / "kept", found)
    again = load_spot_solution(tmp_path / "kept")
    assert again.spot.lock == locked.lock
    assert again.record("c c 2c") == found.record("c c 2c")


def test_locks_of_single_hands_in_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("""board = "3c 4d 8h 9s Kc"
pot = 100
stacks = 100
oop = "KdKh,KdKs,KhKs,2c2d,2c2h,2d2h"
ip = "JJ"
[bets]
river.oop.bet = "1p"
[lock]
"" = { hands = "2c2d,2c2h", c = "22" }
""")
    spot, _ = read_spot(path)
    found = solve_spot(spot, target_pct=0.01)
    shares = found.strategy().combos
    assert shares["2d2c"] == shares["2h2c"] == [1.0, 0.0]
    # One bluff for three value bets is fewer than the theory's, so the bluff-catchers fold, and the free deuce bluffs.
    assert shares["2h2d"][1] > 0.95
    assert found.strategy("allin").frequencies[1] < 0.02


def test_a_lock_that_names_all_hands_equals_a_lock_of_all():
    bets = {"river": {"oop": {"bet": "1p"}}}
    spot = Spot("3c 4d 8h 9s Kc", 100, 100, "KK,22", "JJ,TT", bets)
    found = [
        solve_spot(dataclasses.replace(spot, lock={"": table}), max_iterations=50)
        for table in ({"allin": "KK"}, {"hands": "KK,22", "allin": "KK"})
    ]
    assert found[0].ev == pytest.approx(found[1].ev, abs=1e-6)
    assert found[0].exploitability_pct == pytest.approx(found[1].exploitability_pct, abs=1e-6)


@pytest.mark.parametrize(
    ("board", "stacks"), [("Td 9d 6h Qc 7s", 300), ("Td 9d 6h Qc", (200, 300)), ("Td 9d 6h", 300), ("As Ah Ad", 1)]
)
def test_a_spot_without_any_bet_is_checked_down(board, stacks, tmp_path):
    """Values are equities of the pot."""
    spot = Spot(board, 101, stacks, "AdKd,99,J8s:0.5,5h5d", "QdJd,88,KJs:0.3,76s", {})
    assert not spot.has_bets()
    found = solve_spot(spot)
    assert (found.iterations, found.exploitability_pct) == (1, pytest.approx(0.0, abs=1e-9))
    assert found.ev == pytest.approx([101 * share for share in found.equity], abs=1e-9)
    node = found.node_ev()
    np.testing.assert_allclose(node.ev, 101 * node.equity, atol=1e-9)
    assert found.strategy().actions == ("c",)
    if len(board) > 9:
        save_spot_solution(tmp_path / "down", found)
        assert load_spot_solution(tmp_path / "down").record("c") == found.record("c")


def test_locks_and_buckets(monkeypatch):
    """What is locked is played on the street without buckets, and refused on those with them."""
    monkeypatch.setattr(Spot, "_buckets", lambda self, board: lambda cards: np.arange(1326) % 9)
    spot = dataclasses.replace(RIVER, board="Td 9d 6h Qc", oop="AA,55", ip="JJ", cards="buckets")
    spot = dataclasses.replace(spot, bets={"turn": BETS, "river": BETS})
    found = solve_spot(dataclasses.replace(spot, lock={"": {"c": "", "b100%": "AA", "allin": "55"}}), max_iterations=9)
    assert found.strategy().combos["AhAd"] == [0.0, 1.0, 0.0]
    assert found.strategy().combos["5h5d"] == [0.0, 0.0, 1.0]
    with pytest.raises(ValueError, match=r"lock 'c c \*' is on a street in buckets.*lock the turn only"):
        dataclasses.replace(spot, lock={"c c *": {"c": ""}}).subgame()


def enumerated_equity(board, first, second):
    """Return the first range's share, over all pairs of hands and all boards."""
    won = pairs = 0.0
    left = [card for card in range(52) if card not in board]
    for (own, p), (other, q) in product(first.items(), second.items()):
        if set(own) & set(other) or (set(own) | set(other)) & set(board):
            continue
        for new in combinations(left, 5 - len(board)):
            if set(new) & {*own, *other}:
                continue
            mine, yours = strength((*own, *board, *new)), strength((*other, *board, *new))
            pairs += p * q
            won += p * q * ((mine > yours) + 0.5 * (mine == yours))
    return won / pairs


@pytest.mark.parametrize(
    "board, oop, ip",
    [
        ("Td 9d 6h Qc 7s", "JJ:0.3,AhKh,55", "T8s:0.7,76s"),
        ("Td 9d 6h Qc", "JJ:0.3,AhKh", "T8s:0.7,7d6d"),
        ("Td 9d 6h", "JhJd:0.3,AhKh", "TcTs,7d6d:0.9"),
    ],
)
def test_equity_is_that_of_enumeration(board, oop, ip):
    cards = parse_cards(board)
    ranges = np.stack([parse_range(oop), parse_range(ip)])
    of_combos = [{tuple(HUNL.combos[combo].tolist()): row[combo] for combo in np.flatnonzero(row)} for row in ranges]
    ranges[:, [bool(set(combo) & set(cards)) for combo in HUNL.combos.tolist()]] = 0.0
    assert equity(cards, ranges, HUNL) == pytest.approx(enumerated_equity(cards, *of_combos), abs=1e-12)


def test_odd_pots_and_unequal_stacks():
    """A pot of 101 and 100 are nearly the same; what the richer player has beyond the other's stack is not played."""
    even = solve_spot(RIVER, target_pct=0.2)
    odd = solve_spot(dataclasses.replace(RIVER, pot=101), target_pct=0.2)
    assert sum(odd.ev) == pytest.approx(101.0, abs=0.01)
    assert odd.ev == pytest.approx([1.01 * ev for ev in even.ev], abs=0.5)
    rich = solve_spot(dataclasses.replace(RIVER, stacks=(300, 5000)), target_pct=0.2)
    assert rich.ev == even.ev


def test_nodes_by_name():
    bets = {"turn": {"bet": "0.5p 20%", "raise": ["1p", "allin"]}, "river": {"oop": {"bet": "allin"}}}
    spot = Spot("Ah Kh 9h 4h", 100, 1000, "QQ-TT,AQs", "99-77,AJs", bets)
    found = solve_spot(spot, max_iterations=3)
    assert found.strategy().actions == ("c", "b20%", "b50%")
    assert found.strategy("c b50%").actions == ("f", "c", "r100%")
    assert found.strategy("c b50").node == "c b50%"
    raised = found.strategy("c b50% r100%")
    assert raised.actions == ("f", "c", "allin")
    assert (raised.player, raised.node) == ("ip", "c b50% r100%")
    river = found.strategy("c c 2d")
    assert (river.player, river.actions, len(river.board)) == ("oop", ("c", "allin"), 5)
    # Suits without a card on the board are alike: the combos with suits renamed do the same.
    other = found.strategy("c c 2s")
    assert river.combos["QsQc"] == other.combos["QdQc"]
    assert "QdQc" in river.combos and "2d2c" not in river.combos
    assert river.weights[HUNL.combo_id(parse_cards("QdQc"))] == pytest.approx(found.strategy().combos["QdQc"][0])
    for node, message in (
        ("x", "the actions are c b20% b50%, got 'x'"),
        ("c c", "river card is dealt"),
        ("c c Ah", "on the board already"),
        ("c c b50%", "a card is dealt"),
        ("b50% f", "the hand is over"),
    ):
        with pytest.raises(ValueError, match=message):
            found.strategy(node)


def test_an_empty_list_of_raises_offers_none():
    spot = dataclasses.replace(RIVER, bets={"river": {"bet": "0.5p", "raise": []}})
    facing_a_bet = spot.start()
    facing_a_bet.apply(min(spot.menu().raises(facing_a_bet.rules, facing_a_bet.array.tolist())))
    assert spot.menu().raises(facing_a_bet.rules, facing_a_bet.array.tolist()) == ()


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"board": "Td 9d"}, "3 to 5 cards"),
        ({"board": "Td 9d 6h Qc Td"}, "appears twice"),
        ({"board": "Td 9d 6h Qx"}, "written like"),
        ({"pot": 0}, "pot must be"),
        ({"pot": 10.5}, "pot must be"),
        ({"stacks": 0}, "stacks must be"),
        ({"stacks": (100, -5)}, "stacks must be"),
        ({"stacks": (1, 2, 3)}, "stacks must be"),
        ({"stacks": 2**30}, "must sum to .* chips or less"),
        ({"oop": ""}, "oop: a range needs"),
        ({"ip": "AA,AhAd"}, "ip: AhAd appears twice"),
        ({"oop": "TdTh"}, "no compatible hands"),
        ({"oop": "AhAd", "ip": "AhAd"}, "no compatible hands"),
        ({"bets": {"rivr": BETS}}, "bets may hold flop, turn, river"),
        ({"bets": {"river": {"hero": BETS}}}, "may hold"),
        ({"bets": {"river": {"bet": "half"}}}, "bets.river.oop: bet sizes are written"),
        ({"bets": {"river": {"bet": 1}}}, "sizes are a text"),
        ({"all_in_share": 0.0}, "all_in_share"),
        ({"cards": "some"}, "cards must be exact or buckets"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        solve_spot(dataclasses.replace(RIVER, **changes), max_iterations=1)


def test_buckets_end_where_they_gain_no_more(monkeypatch):
    """With bad buckets, the goal is out of reach; what is reported are real cards."""
    spot = Spot("Td 9d 6h Qc", 100, 300, "AA,55,76s", "JJ,KQs,33", {"river": BETS, "turn": BETS}, cards="buckets")
    monkeypatch.setattr(Spot, "_buckets", lambda self, board: lambda cards: np.arange(1326) % 2)
    found = solve_spot(spot, target_pct=0.01)
    assert 64 <= found.iterations < 10_000
    assert 1.0 < found.bucket_exploitability_pct <= found.exploitability_pct
    assert sum(found.ev) == pytest.approx(100.0, abs=0.01)
    shown = found.strategy("c c 2d").combos
    assert len({tuple(shares) for shares in shown.values()}) <= 2


def test_limits_and_memory(monkeypatch):
    with pytest.raises(ValueError, match="target_pct must be positive"):
        solve_spot(RIVER, target_pct=0.0)
    told = []
    found = solve_spot(RIVER, target_pct=1e-9, max_iterations=40, on_memory=told.append)
    assert (found.iterations, told) == (40, [found.memory_mb * 1e6])
    assert solve_spot(RIVER, target_pct=1e-9, max_seconds=0.05).seconds < 5.0
    for module in ("spot_solution", "spot_size"):
        monkeypatch.setattr(f"plurispiel.agents.spots.{module}.available_bytes", lambda: 1e4)
    with pytest.raises(ValueError, match="needs .* GiB of memory.*: take fewer bet sizes on the river"):
        solve_spot(RIVER)


def test_solutions_are_kept(tmp_path):
    found = solve_spot(RIVER, target_pct=1.0)
    save_spot_solution(tmp_path / "kept", found)
    again = load_spot_solution(tmp_path / "kept")
    assert spot_record(stored_spot(tmp_path / "kept")) == spot_record(RIVER)
    assert again.ev == found.ev
    assert again.record("b100%") == found.record("b100%")


def test_solutions_in_buckets_are_kept_and_those_of_an_earlier_order_of_roots_refused(tmp_path, monkeypatch):
    """Tables of the earlier order have the same shapes here, and would be read as other strategies."""
    monkeypatch.setattr(Spot, "_buckets", lambda self, board: lambda cards: np.arange(1326) % 9)
    spot = dataclasses.replace(RIVER, board="Td 9d 6h Qc", oop="AA,55", ip="JJ", cards="buckets")
    found = solve_spot(dataclasses.replace(spot, bets={"turn": BETS, "river": BETS}), max_iterations=9)
    save_spot_solution(tmp_path / "kept", found)
    assert load_spot_solution(tmp_path / "kept").record("c c 2c") == found.record("c c 2c")
    monkeypatch.setattr("plurispiel.agents.spots.spot_file._BUCKETS_FORMAT", 1)
    save_spot_solution(tmp_path / "earlier", found)
    monkeypatch.undo()
    with pytest.raises(ArtefactRefused, match="has format 1 .* reads format 2; make the spot solution again"):
        load_spot_solution(tmp_path / "earlier")


def test_a_spot_is_written_as_the_file_that_it_is_read_from(tmp_path):
    odd = dataclasses.replace(
        RIVER,
        stacks=(300, 200),
        all_in_share=0.9,
        bets={"river": {"oop": {"bet": "1p", "raise": ["50%", "allin"]}, "ip": {}}},
        lock={"": {"c": ""}, "c b100%": {"f": "AKs:0.5"}},
    )
    buckets = dataclasses.replace(RIVER, board="Td 9d 6h", cards="buckets")
    for spot, settings in (
        *(read_spot(path) for path in EXAMPLES.glob("*.toml")),
        (odd, SolveSettings("cfr+", 0.25, 30.0)),
        (buckets, SolveSettings()),
    ):
        (tmp_path / "spot.toml").write_text(spot_toml(spot, settings))
        again, same = read_spot(tmp_path / "spot.toml")
        assert spot_record(again) == spot_record(spot) and same == settings


def test_the_kind_of_cards_belongs_to_the_settings_of_the_solver():
    table = {"board": "Td 9d 6h", "pot": 100, "stacks": 300, "oop": "AA", "ip": "KK"}
    assert spot_of_table({**table, "solve": {"cards": "buckets"}})[0].cards == "buckets"
    with pytest.raises(ValueError, match=r"cards belongs to the table \[solve\], got cards = 'buckets' outside of it"):
        spot_of_table({**table, "cards": "buckets"})


def test_examples_are_sound():
    for path in EXAMPLES.glob("*.toml"):
        spot, _ = read_spot(path)
        assert spot.subgame() if spot.middle is None else three_way_solver(spot)
    flop, _ = read_spot(EXAMPLES / "flop.toml")
    for text in (flop.oop, flop.ip):
        weights = parse_range(text)
        for card in parse_cards(flop.board):
            weights[(HUNL.combos == card).any(axis=1)] = 0.0
        assert 400 <= np.count_nonzero(weights) <= 600
