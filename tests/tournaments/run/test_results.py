"""The record and the table, from scores written by hand."""

import dataclasses
import json

import pytest
from scipy import stats

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.tournaments.run.block_rows import Played, pack_rows
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import Tally, make_results, results_text, table_text
from plurispiel.tournaments.run.schedule import Block, make_lineups
from plurispiel.tournaments.run.scores import best_estimates
from plurispiel.tournaments.run.store import RunStore


def score(chips, hands=2, seats=2, faults=0):
    return AgentScore(hands, chips, chips * chips, faults, bytes([1] + [0] * (len(COUNTERS) - 1)) * seats)


def run(tmp_path, config, blocks):
    store = RunStore(tmp_path / "run", config)
    for block, groups in blocks:
        store.add_block(Played(*pack_rows(config, block.lineup, block.first, groups)), 0.5)
    results = make_results(config, store)
    store.close()
    return results


def test_rates_and_intervals_by_hand(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), decks=3)
    # Two hands a group, a big blind of 100: 30 chips are 150 mbb/hand.
    groups = [{0: score(chips), 1: score(-chips, faults=1)} for chips in (30.0, -10.0, 40.0)]
    results = run(tmp_path, config, [(Block(0, 0, 3), groups)])
    call, fold = results["agents"]
    half_width = stats.sem([150.0, -50.0, 200.0]) * stats.t.ppf(0.975, 2)
    assert call["mbb_per_hand"] == pytest.approx(100.0)
    assert call["ci95"] == pytest.approx(half_width)
    assert fold["mbb_per_hand"] == pytest.approx(-100.0)
    assert (call["hands"], call["groups"], call["faults"]) == (6, 3, 0)
    assert (fold["hands"], fold["groups"], fold["faults"]) == (6, 3, 3)
    assert (results["hands"], results["seconds"], results["hands_per_second"]) == pytest.approx((6, 0.5, 12.0))
    assert results["matrix"][0][1] == {"mbb_per_hand": call["mbb_per_hand"], "ci95": call["ci95"]}
    assert results["matrix"][1][0]["mbb_per_hand"] == pytest.approx(-100.0)
    assert results["matrix"][0][0] is results["matrix"][1][1] is None
    assert call["stats"]["vpip"] == 0.0


def test_nothing_played_is_null_and_not_nan(tmp_path):
    config = TournamentConfig(agents=("call", "fold"))
    results = run(tmp_path, config, [])
    text = results_text(results)
    assert "NaN" not in text and "Infinity" not in text
    record = json.loads(text)
    assert [(a["mbb_per_hand"], a["ci95"], a["hands"], a["groups"]) for a in record["agents"]] == [
        (None, None, 0, 0)
    ] * 2
    assert (record["hands"], record["hands_per_second"]) == (0, None)
    assert record["matrix"] == [[None, None], [None, None]]
    assert "0 hands in 0.0 s (- hands/s)" in table_text(results)


def test_one_group_has_no_interval(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), decks=1)
    results = run(tmp_path, config, [(Block(0, 0, 1), [{0: score(20.0), 1: score(-20.0)}])])
    assert [(agent["mbb_per_hand"], agent["ci95"]) for agent in results["agents"]] == [(100.0, None), (-100.0, None)]
    assert json.loads(results_text(results))["agents"][0]["ci95"] is None


def test_the_matrix_knows_who_met_whom(tmp_path):
    config = TournamentConfig(agents=("call", "fold", "raise"), seats=2, decks=2)
    assert make_lineups(config) == [(0, 1), (0, 2), (1, 2)]
    blocks = [
        (Block(0, 0, 2), [{0: score(20.0), 1: score(-20.0)}] * 2),
        (Block(1, 0, 2), [{0: score(40.0), 2: score(-40.0)}, {0: score(0.0), 2: score(0.0)}]),
    ]
    results = run(tmp_path, config, blocks)
    rates = [[cell and cell["mbb_per_hand"] for cell in row] for row in results["matrix"]]
    assert rates == [[None, 100.0, 100.0], [-100.0, None, None], [-100.0, None, None]]
    assert results["matrix"][0][1]["ci95"] == 0.0
    assert results["matrix"][0][2]["ci95"] == pytest.approx(stats.t.ppf(0.975, 1) * 100)
    assert results["agents"][0]["groups"] == 4
    assert results["hands"] == 8


def test_a_gauntlet_has_a_matrix_heads_up_only(tmp_path):
    config = TournamentConfig(agents=("call", "fold", "raise"), format="gauntlet", seats=2, decks=1)
    blocks = [(Block(k, 0, 1), [{0: score(20.0), k + 1: score(-20.0)}]) for k in (0, 1)]
    matrix = run(tmp_path, config, blocks)["matrix"]
    assert [[cell is None for cell in row] for row in matrix] == [[True, False, False], [False, True, True]] + [
        [False, True, True]
    ]


def test_copies_share_a_rate(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), format="gauntlet", copies=True, seats=3, decks=1)
    groups = [{0: score(30.0, hands=3, seats=3), 1: score(-30.0, hands=6, seats=3)}]
    results = run(tmp_path, config, [(Block(0, 0, 1), groups)])
    assert [agent["mbb_per_hand"] for agent in results["agents"]] == [100.0, -50.0]
    assert [agent["hands"] for agent in results["agents"]] == [3, 6]
    assert results["hands"] == 3
    assert results["matrix"] is None


def test_results_do_not_depend_on_the_order_of_blocks(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), decks=6)
    blocks = [(Block(0, k, 1), [{0: score(k / 3), 1: score(-k / 3)}]) for k in range(6)]
    first = run(tmp_path / "a", config, blocks)
    second = run(tmp_path / "b", config, blocks[::-1])
    assert results_text(first) == results_text(second)


def test_the_table_ranks_and_aligns(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), decks=2)
    groups = [{0: score(-20.0), 1: score(20.0)}, {0: score(-20_000.0), 1: score(20_000.0)}]
    lines = table_text(run(tmp_path, config, [(Block(0, 0, 2), groups)])).splitlines()
    assert lines[0].split()[:3] == ["agent", "mbb/hand", "±"]
    assert set(lines[1]) == {"-"}
    assert [line.split()[:2] for line in lines[2:4]] == [["fold", "+50,050.0"], ["call", "-50,050.0"]]
    assert len({len(line) for line in lines[:4]}) == 1
    assert lines[-1] == "4 hands in 0.5 s (8 hands/s), seed 1"


def test_the_live_tally():
    config = TournamentConfig(agents=("call", "fold"))

    def tally_of(*chips):  # two hands a group, a big blind of 100: 20 chips are 100 mbb/hand
        tally = Tally(2, config.rules.big_blind)
        for deck, won in enumerate(chips):
            tally.add(pack_rows(config, 0, deck, [{0: score(won), 1: score(1.0), 2: score(1e6)}])[0])  # 2: the Control
        return tally

    assert tally_of(20.0).text(0) == "+100" and tally_of(20.0).leader() == 0
    assert tally_of(20.0, 40.0).text(0) == f"+150 ± {1.96 * 50:.0f}"
    assert tally_of(*[-0.02] * 10).text(0) == "-0 ± 0" and tally_of(-0.02).leader() == 1
    luck = AgentScore(2, 20.0, 400.0, 0, b"", true_chance=5.0, true_other_actions=1.0)
    full = dataclasses.replace(luck, imaginary_hands=3.0, chance=5.0, own_actions=-4.0, other_actions=1.0)
    rows, _ = pack_rows(config, 0, 0, [{0: luck, 1: full}])
    assert best_estimates(rows).tolist() == [luck.estimate, full.estimate] == [26.0, 25.0]


def test_the_table_shows_who_beat_whom_heads_up(tmp_path):
    config = TournamentConfig(agents=("call", "fold", "tag"), seats=2, decks=1)
    pairs = {(0, 1): 30.0, (0, 2): -80.0}  # the third pair has not met yet
    blocks = [
        (Block(make_lineups(config).index(pair), 0, 1), [{pair[0]: score(chips), pair[1]: score(-chips)}])
        for pair, chips in pairs.items()
    ]
    results = run(tmp_path, config, blocks)
    lines = table_text(results).splitlines()
    head = lines.index("mbb/hand of the row against the column, ± 95 %:")
    assert lines[head + 1].split() == ["tag", "call", "fold"]
    assert [line.split() for line in lines[head + 3 : head + 6]] == [
        ["tag", "+400", "±", "-"],
        ["call", "-400", "±", "-", "+150", "±", "-"],
        ["fold", "-150", "±", "-"],
    ]
    separate = "AIVAT estimates both sides of a pairing separately"
    assert results["score"] == "duplicate" and separate not in "\n".join(lines)
    assert separate in table_text(results | {"score": "aivat_duplicate"})
    assert separate not in table_text(results | {"score": "aivat_zero_sum"})


def test_a_heads_up_gauntlet_says_who_wins_and_what_is_not_decided(tmp_path):
    config = TournamentConfig(agents=("tag", "call", "fold", "raise", "random"), seats=2, format="gauntlet", decks=3)
    chips = [(30.0, 20.0, 40.0), (-30.0, -20.0, -40.0), (30.0, -10.0, 40.0)]  # nobody has met random yet
    blocks = [
        (Block(lineup, 0, 3), [{0: score(won), lineup + 1: score(-won, faults=lineup)} for won in rewards])
        for lineup, rewards in enumerate(chips)
    ]
    results = run(tmp_path, config, blocks)
    lines = table_text(results).splitlines()
    assert lines[0] == "tag, mbb/hand by duplicate:"
    assert [line.split()[:3] for line in lines[4:6]] == [["call", "tag", "+150.0"], ["fold", "fold", "-150.0"]]
    undecided = results["matrix"][0][3]
    assert 0.0 < undecided["mbb_per_hand"] < undecided["ci95"]
    assert lines[6].split()[:4] == ["raise", "not", "decided", "+100.0"] and lines[6].split()[-2:] == ["6", "6"]
    assert lines[7] == "" and "random" not in "".join(lines[:8])
    assert lines[8] == (
        f"in all {results['agents'][0]['mbb_per_hand']:+,.1f} ± {results['agents'][0]['ci95']:,.1f}, 18 hands, 0 faults"
    )
    assert "mbb/hand of the row" not in "".join(lines)


def test_one_deck_decides_nothing_in_a_gauntlet(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), seats=2, format="gauntlet", decks=1)
    results = run(tmp_path, config, [(Block(0, 0, 1), [{0: score(20.0), 1: score(-20.0)}])])
    assert "not decided" in table_text(results)
    (tmp_path / "empty").mkdir()
    assert "in all - ± -, 0 hands" in table_text(run(tmp_path / "empty", config, []))
