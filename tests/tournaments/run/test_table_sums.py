"""The zero-sum correction of runs: against the reference, whom it trusts, and that no later deck changes anything."""

import contextlib
import json
from collections import Counter

import numpy as np
import pytest
from reference import zero_sum as reference

from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import make_results, results_text, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import make_lineups
from plurispiel.tournaments.run.schema import FULL_CORRECTIONS, REDUCED_CORRECTIONS
from plurispiel.tournaments.run.store import RunStore
from plurispiel.tournaments.run.table_sums import ZERO_SUM, with_zero_sum

BOTS = """
import numpy as np
from plurispiel.agents.base import Agent, Strategy

class Silent(Agent):
    def act(self, view):
        return 1 if not view.public.can_fold or self.rng.random() < 0.5 else 0

class Liar(Silent):
    def range_strategy(self, public):
        actions, row = ([0, 1], [0.6, 0.4]) if public.can_fold else ([1], [1.0])
        return Strategy(np.array(actions), np.tile(row, (public.rules.num_combos, 1)))
"""


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """Return the spec of each agent from outside, which plays in this process."""
    monkeypatch.setattr(Conduct, "is_isolated", lambda self, spec: False)
    (tmp_path / "bots.py").write_text(BOTS)
    return {name: f"{tmp_path / 'bots.py'}:{name}" for name in ("Silent", "Liar")}


def play(folder, workers=1, stop_after=None, **settings):
    """Play a tournament, or its first blocks; return its settings, its results without times, and its rows."""
    config = TournamentConfig(**{"referee": "none", "seed": 5} | settings)
    left = [stop_after]

    def count(block, groups):
        if left[0] is not None:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

    with contextlib.closing(RunStore(folder, config)) as store:
        with contextlib.suppress(KeyboardInterrupt):
            play_run(config, store, Conduct(workers), count)
        results = make_results(config, store)
        assert table_text(results)
        for key in ("seconds", "hands_per_second"):
            results.pop(key)
        return config, json.loads(results_text(results)), store.scores()


def estimates(rows, is_outside):
    names = REDUCED_CORRECTIONS if is_outside else FULL_CORRECTIONS
    return rows["chips"] + sum(rows[name] for name in names)


@pytest.mark.parametrize(
    "settings",
    [
        {"agents": ("tag", "random", "call"), "seats": 2, "game": "leduc_poker"},
        {"agents": ("Silent", "random", "call"), "game": "", "seats": 3},
        {"agents": ("tag", "Silent"), "format": "lineup-1v5", "seats": 3},
        {"agents": ("Silent", "Liar", "call"), "format": "gauntlet", "seats": 3, "copies": True},
    ],
    ids=["heads-up", "one silent", "silent copies", "two silent"],
)
def test_runs_are_corrected_as_by_the_reference(tmp_path, bots, settings):
    settings = settings | {"agents": tuple(bots.get(name, name) for name in settings["agents"])}
    config, results, rows = play(tmp_path / "run", decks=20, **settings)
    found = with_zero_sum(config, rows)[ZERO_SUM]
    assert results["score"] == "aivat_zero_sum"
    for number, lineup in enumerate(make_lineups(config)):
        here = rows["lineup"] == number
        agents, seats = zip(*sorted(Counter(lineup).items()), strict=True)
        silent = [agent in config.outsiders for agent in agents]
        table = rows[here].reshape(20, len(agents))
        scores = np.stack([estimates(table[:, k], silent[k]) for k in range(len(agents))], axis=1)
        wanted = reference.corrected(scores, np.arange(20) // 8, np.array(reference.prior_of(seats, silent)))
        spread = abs(scores).max()
        np.testing.assert_allclose(found[here].reshape(20, -1), wanted, atol=1e-9 * spread)
        np.testing.assert_allclose(wanted.sum(axis=1), 0.0, atol=1e-9 * spread)
        assert abs(scores.sum(axis=1)).max() > 1e-3 * spread
    per_chip = 1000.0 / config.rules.big_blind
    for number, agent in enumerate(results["agents"]):
        own = rows["agent"] == number
        assert agent["mbb_per_hand"] == pytest.approx((found[own] / rows["hands"][own]).mean() * per_chip)
        assert agent["scores"]["aivat_zero_sum"]["mbb_per_hand"] == agent["mbb_per_hand"]
        low, high = agent["bootstrap_ci95"]
        assert low <= agent["mbb_per_hand"] <= high
    for row, one in enumerate(results["matrix"] or ()):
        for column, cell in enumerate(one):
            if cell is not None:  # the crosstable sums to 0
                assert cell["mbb_per_hand"] == pytest.approx(-results["matrix"][column][row]["mbb_per_hand"])
                assert cell["ci95"] == pytest.approx(results["matrix"][column][row]["ci95"])


def test_a_lie_changes_nobodys_figure(tmp_path, bots):
    found = {}
    for name, settings in {
        "silent": {"agents": (bots["Silent"], "random")},
        "lies": {"agents": (bots["Liar"], "random")},
        "believed": {"agents": (bots["Liar"], "random"), "believe": ("bots.py:Liar",)},
    }.items():
        _, results, _ = play(tmp_path / name, game="leduc_poker", decks=40, **settings)
        found[name] = [agent["scores"] for agent in results["agents"]]
        assert results["agents"][0]["believed"] == (name == "believed")
    for score in ("aivat_zero_sum", "duplicate", "raw"):
        assert found["silent"][0][score] == found["lies"][0][score] == found["believed"][0][score]
        assert found["silent"][1][score] == found["lies"][1][score] == found["believed"][1][score]
    assert found["silent"][0]["aivat"] == found["lies"][0]["aivat"] != found["believed"][0]["aivat"]


def test_a_silent_agent_gains_most(tmp_path, bots):
    _, results, _ = play(tmp_path / "run", agents=(bots["Silent"], "random"), game="leduc_poker", decks=200)
    silent, honest = (agent["scores"] for agent in results["agents"])
    assert silent["aivat_zero_sum"]["ci95"] < 0.95 * silent["aivat_duplicate"]["ci95"]
    assert silent["aivat_zero_sum"]["ci95"] == pytest.approx(honest["aivat_zero_sum"]["ci95"])
    assert silent["aivat_zero_sum"]["mbb_per_hand"] == pytest.approx(-honest["aivat_zero_sum"]["mbb_per_hand"])


LEDUC = {"agents": ("tag", "random", "call"), "seats": 2, "game": "leduc_poker"}


@pytest.mark.slow
def test_neither_workers_nor_interruptions_nor_later_decks_change_a_group(tmp_path):
    config, alone, rows = play(tmp_path / "alone", decks=28, **LEDUC)
    assert play(tmp_path / "team", decks=28, workers=2, **LEDUC)[1] == alone
    play(tmp_path / "parts", decks=28, stop_after=5, **LEDUC)
    assert play(tmp_path / "parts", decks=28, **LEDUC)[1] == alone
    whole = with_zero_sum(config, rows)
    shuffled = np.random.default_rng(1).permutation(len(rows))
    assert with_zero_sum(config, rows[shuffled]).tobytes() == whole[shuffled].tobytes()
    for decks in (1, 8, 20, 27):
        is_earlier = rows["deck"] < decks
        assert with_zero_sum(config, rows[is_earlier]).tobytes() == whole[is_earlier].tobytes()
    assert play(tmp_path / "fewer", decks=20, **LEDUC)[1]["agents"] != alone["agents"]
    assert play(tmp_path / "fewer", decks=28, **LEDUC)[1] == alone


def test_a_stop_rule_asks_the_corrected_score(tmp_path):
    settings = {"agents": ("tag", "random"), "game": "leduc_poker", "decks": 120}
    _, whole, _ = play(tmp_path / "whole", **settings)
    limit = whole["agents"][0]["sequential_ci95"] * 1.1
    _, stopped, _ = play(tmp_path / "stopped", stop_when=f"ci<={limit:g}", **settings)
    assert stopped["stopped"] and 100 <= stopped["decks"] < 120
    assert max(agent["sequential_ci95"] for agent in stopped["agents"]) <= limit
    by_aivat = play(tmp_path / "aivat", stop_when=f"ci<={limit:g}", score="aivat_duplicate", **settings)[1]
    assert by_aivat["decks"] != stopped["decks"] or not by_aivat["stopped"]


def test_a_missing_correction_changes_no_earlier_group(tmp_path):
    config, _, rows = play(tmp_path / "run", agents=("tag", "random"), game="leduc_poker", decks=40)
    before = with_zero_sum(config, rows)[ZERO_SUM]
    broken = rows.copy()
    at_fault = (rows["deck"] == 19) & (rows["agent"] == 0)
    for name in FULL_CORRECTIONS:
        broken[name][at_fault] = np.nan
    found = with_zero_sum(config, broken)[ZERO_SUM]
    assert np.array_equal(found[rows["deck"] < 19], before[rows["deck"] < 19])
    assert np.isfinite(found).all() and not np.isclose(found[at_fault], before[at_fault]).any()
    tables = np.where(
        (rows["agent"] == 0) & (rows["deck"] >= 19), estimates(rows, True), estimates(rows, False)
    ).reshape(40, 2)
    shares = found.reshape(40, 2) - tables
    np.testing.assert_allclose(shares.sum(axis=1), -tables.sum(axis=1), atol=1e-9)


def test_a_group_without_one_of_its_agents_is_refused(tmp_path):
    config, _, rows = play(tmp_path / "run", agents=("tag", "random"), game="leduc_poker", decks=3)
    with pytest.raises(ValueError, match=r"a group of line-up 0 lacks an agent; start over \(--fresh\)"):
        with_zero_sum(config, rows[1:])
    assert len(with_zero_sum(config, rows[2:])) == 4 and len(with_zero_sum(config, rows[:0])) == 0


@pytest.mark.parametrize("copies", ["tag", "Silent"])
def test_each_table_of_the_control_is_corrected_by_its_own_sum(tmp_path, bots, copies):
    settings = {"agents": (bots.get(copies, copies), "random"), "format": "lineup-5v1", "seats": 3, "decks": 20}
    config, results, rows = play(tmp_path / "run", **settings)
    own, control = rows[rows["agent"] == 1], rows[rows["agent"] == 2]
    assert np.isnan(rows["table_sum"]).tolist() == (rows["agent"] != 2).tolist()
    scores = estimates(control, copies == "Silent")
    table = np.stack([scores, control["table_sum"] - scores], axis=1)
    wanted = reference.corrected(table, np.arange(20) // 8, np.array([1 / 3, 2 / 3]))[:, 0]
    wide = with_zero_sum(config, rows)
    found = {number: wide[ZERO_SUM][rows["agent"] == number] for number in range(3)}
    np.testing.assert_allclose(found[2], wanted, atol=1e-9 * abs(table).max())
    np.testing.assert_allclose(found[0], -found[1], atol=1e-9 * abs(table).max())
    rates = (found[1] - found[2]) / own["hands"] * 10.0
    assert results["agents"][1]["mbb_per_hand"] == pytest.approx(rates.mean())
    lost = rows.copy()
    lost["table_sum"][(rows["agent"] == 2) & (rows["deck"] == 9)] = np.nan
    without = with_zero_sum(config, lost)[ZERO_SUM][rows["agent"] == 2]
    assert np.array_equal(without[:9], found[2][:9])
    np.testing.assert_allclose(without[9:], scores[9:])


def test_sum_of_the_controls_table_is_that_of_all_its_seats(tmp_path, monkeypatch, bots):
    for copies in ("tag", bots["Silent"]):
        config = TournamentConfig(agents=(copies, "random"), format="lineup-5v1", seats=3, decks=1, seed=5)
        tables = []
        plain = BlockPlayer._play_group

        def keep(self, *arguments, plain=plain, tables=tables):
            tables.append(plain(self, *arguments))
            return tables[-1]

        monkeypatch.setattr(BlockPlayer, "_play_group", keep)
        with contextlib.closing(RunStore(tmp_path / copies.rpartition(":")[2], config)) as store:
            play_run(config, store, Conduct())
            (control,) = store.scores()[store.scores()["agent"] == 2]
        monkeypatch.setattr(BlockPlayer, "_play_group", plain)
        told = tables[1].values()
        wanted = sum(score.full if copies == "tag" else score.reduced for score in told)
        assert control["table_sum"] == pytest.approx(wanted) and {*tables[1]} == {0, 2}
        assert wanted != 0.0


def test_a_copy_of_the_controls_agent_scores_exactly_zero(tmp_path):
    _, results, rows = play(tmp_path / "run", agents=("tag", "tag"), format="lineup-5v1", seats=3, decks=10)
    score = results["agents"][1]["scores"]["aivat_zero_sum"]
    assert (score["mbb_per_hand"], score["ci95"]) == pytest.approx((0.0, 0.0), abs=1e-9)
