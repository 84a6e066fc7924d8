"""The four scores of a tournament, its formats with copies, and agents whose strategy is not to be trusted."""

import contextlib
import json

import numpy as np
import pytest

from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import SCORES, TournamentConfig
from plurispiel.tournaments.run.results import make_results, results_text, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

LIAR = """
import numpy as np
from plurispiel.agents.base import Agent, Strategy

class Liar(Agent):
    def act(self, view):
        return 1 if not view.public.can_fold or self.rng.random() < 0.5 else 0

    def range_strategy(self, public):
        if not public.can_fold:
            return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))
        return Strategy(np.array([0, 1]), np.tile([0.9, 0.1], (public.rules.num_combos, 1)))

class Breaks(Liar):
    def range_strategy(self, public):
        raise RuntimeError("no idea")

class Silent(Agent):
    def act(self, view):
        return 1
"""


def play(folder, *, conduct=None, **settings):
    """Play a tournament; return its results and the stored rows."""
    folder.mkdir(exist_ok=True)
    config = TournamentConfig(**{"score": "aivat_duplicate"} | settings)
    with contextlib.closing(RunStore(folder / "run", config)) as store:
        play_run(config, store, conduct or Conduct())
        results = make_results(config, store)
        assert "NaN" not in results_text(results)
        assert table_text(results)
        return results, store.scores()


def test_the_four_scores_are_made_of_what_is_stored(tmp_path):
    results, rows = play(tmp_path, agents=("tag", "random", "raise"), decks=12)
    assert results["score"] == "aivat_duplicate"
    assert results["value_function"]["name"] == "checkdown"
    for number, agent in enumerate(results["agents"]):
        own = rows[rows["agent"] == number]
        estimates = own["chips"] + own["imaginary_hands"] + own["chance"] + own["own_actions"] + own["other_actions"]
        wanted = estimate_mean(estimates / own["hands"] * 10.0)
        scores = agent["scores"]
        assert agent["aivat"] == "full" and agent["aivat_complaint"] is None
        assert (agent["mbb_per_hand"], agent["ci95"]) == pytest.approx((wanted.mean, wanted.ci95), rel=1e-9)
        assert scores["aivat_duplicate"]["mbb_per_hand"] == agent["mbb_per_hand"]
        assert scores["aivat"]["mbb_per_hand"] == pytest.approx(agent["mbb_per_hand"], rel=1e-9)
        assert scores["raw"]["mbb_per_hand"] == pytest.approx(own["chips"].sum() / own["hands"].sum() * 10.0)
        assert scores["duplicate"]["ci95"] == pytest.approx(estimate_mean(own["chips"] / own["hands"] * 10.0).ci95)
        ratio = (scores["raw"]["sd_bb"] / scores["aivat_duplicate"]["sd_bb"]) ** 2
        assert agent["variance_ratio"] == pytest.approx(ratio)
        assert 0.0 <= agent["p_value"] <= 1.0
        assert agent["name"] != "random" or (own["true_own_actions"] != 0.0).any()
        assert agent["sequential_ci95"] is None  # too few groups to say
        low, high = agent["bootstrap_ci95"]
        assert low < agent["mbb_per_hand"] < high
        assert high - low == pytest.approx(2.0 * agent["ci95"], rel=0.4)


@pytest.mark.parametrize("score", ["raw", "duplicate"])
def test_no_luck_is_looked_at_where_it_is_not_wanted(tmp_path, score):
    results, rows = play(tmp_path, agents=("tag", "call"), decks=6, score=score)
    assert np.isnan(rows["true_chance"]).all() and np.isnan(rows["chance"]).all()
    assert results["score"] == score and results["value_function"] is None
    for agent in results["agents"]:
        assert agent["scores"]["aivat"] is agent["scores"]["aivat_duplicate"] is agent["aivat"] is None
        assert (agent["mbb_per_hand"], agent["ci95"]) == tuple(agent["scores"][score].values())[:2]


def test_raw_and_duplicate_share_a_run_and_aivat_has_its_own():
    digests = {
        score: TournamentConfig(score=score).digest for score in ("", "raw", "duplicate", "aivat", "aivat_duplicate")
    }
    assert digests["raw"] == digests["duplicate"] != digests["aivat"] == digests["aivat_duplicate"] == digests[""]


def test_results_do_not_depend_on_the_order_of_play(tmp_path):
    first, rows = play(tmp_path, agents=("tag", "random"), decks=9)
    (tmp_path / "b").mkdir()
    play(tmp_path / "b", agents=("tag", "random"), decks=2)
    second, again = play(tmp_path / "b", agents=("tag", "random"), decks=9)
    assert rows.tobytes() == again.tobytes()
    assert first["agents"] == second["agents"]


@pytest.mark.parametrize("decks", [1, 2])
def test_few_hands_make_no_nonsense(tmp_path, decks):
    results, _ = play(tmp_path, agents=("fold", "fold", "fold"), decks=decks)
    for agent in results["agents"]:
        assert agent["scores"]["duplicate"]["mbb_per_hand"] == pytest.approx(0.0)
        assert agent["p_value"] is None or decks == 2
        assert agent["variance_ratio"] is None or np.isfinite(agent["variance_ratio"])


@pytest.mark.parametrize("score", ["duplicate", "aivat_duplicate"])
def test_no_spread_makes_no_nonsense(tmp_path, score):
    results, _ = play(tmp_path, agents=("fold", "raise"), seats=2, decks=120, score=score)
    for agent in results["agents"]:
        assert agent["variance_ratio"] is None or agent["variance_ratio"] < 1e6
        assert agent["scores"]["duplicate"]["sd_bb"] == pytest.approx(0.0, abs=1e-9)
        assert score == "aivat_duplicate" or (agent["variance_ratio"] is agent["p_value"] is None)
        assert agent["sequential_ci95"] is not None


def test_no_hands_make_no_nonsense(tmp_path):
    config = TournamentConfig(agents=("call", "fold"), decks=3)
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        results = make_results(config, store)
    assert json.loads(results_text(results))["agents"][0]["mbb_per_hand"] is None
    assert results["agents"][0]["scores"] == dict.fromkeys(SCORES)
    assert table_text(results)


@pytest.mark.slow
def test_agents_that_lie_break_or_say_nothing_are_scored_by_chance_only(tmp_path):
    (tmp_path / "bots.py").write_text(LIAR)
    agents = tuple(f"{tmp_path / 'bots.py'}:{name}" for name in ("Liar", "Breaks", "Silent"))
    settings = {"agents": (*agents, "raise"), "game": "", "conduct": Conduct(processes="one")}
    results, rows = play(tmp_path, **settings, decks=2)
    assert all(agent["aivat_complaint"] is None for agent in results["agents"])  # nobody was asked
    believe = ("bots.py:Liar", "bots.py:Breaks", "bots.py:Silent")
    results, rows = play(tmp_path / "believed", **settings, believe=believe, decks=30)
    liar, breaks, silent, honest = results["agents"]
    assert [agent["aivat"] for agent in results["agents"]] == ["chance only"] * 3 + ["full"]
    assert "than announced" in liar["aivat_complaint"]
    assert "no idea" in breaks["aivat_complaint"] and breaks["faults"] == 0
    assert silent["aivat_complaint"] is honest["aivat_complaint"] is None
    table = table_text(results)
    assert "strategy cannot be trusted: over" in table and "strategy is not known" in table
    own = rows[rows["agent"] == 0]
    assert not np.isnan(own["chance"]).any()
    chance_only = (own["chips"] + own["true_chance"]) / own["hands"] * 10.0
    assert liar["mbb_per_hand"] == pytest.approx(chance_only.mean())


NEARLY_HONEST = """
import numpy as np
from plurispiel.agents.base import Agent, Strategy

class Told(Agent):
    told = 0.5

    def act(self, view):
        return 1 if not view.public.can_fold or self.rng.random() < 0.5 else 0

    def range_strategy(self, public):
        actions, row = ([0, 1], [1.0 - self.told, self.told]) if public.can_fold else ([1], [1.0])
        return Strategy(np.array(actions), np.tile(row, (public.rules.num_combos, 1)))

class Liar(Told):
    told = 0.55
"""


@pytest.mark.slow
def test_a_small_lie_is_found_over_ten_thousand_decisions(tmp_path, monkeypatch):
    monkeypatch.setattr(Conduct, "is_isolated", lambda self, spec: False)
    (tmp_path / "bots.py").write_text(NEARLY_HONEST)
    agents = tuple(f"{tmp_path / 'bots.py'}:{name}" for name in ("Liar", "Told"))
    config = TournamentConfig(
        agents=(*agents, "raise"), game="leduc_poker", format="gauntlet", copies=True, decks=5_000, referee="none",
        score="aivat_duplicate", believe=("bots.py:Liar", "bots.py:Told"),
    )  # fmt: skip
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        play_run(config, store, Conduct())
        results = make_results(config, store)
        decisions = {number: found.sums[0] for number, found in store.calibrations().items()}
    assert decisions[0] >= 10_000 and decisions[1] >= 10_000
    liar, honest, _ = results["agents"]
    assert "calls than announced" in liar["aivat_complaint"] or "folds than announced" in liar["aivat_complaint"]
    assert (liar["aivat"], honest["aivat"], honest["aivat_complaint"]) == ("chance only", "full", None)
    assert "its strategy cannot be trusted: over" in table_text(results)


def test_one_agent_among_copies(tmp_path):
    results, rows = play(tmp_path, agents=("fold", "raise"), format="lineup-1v5", decks=10)
    assert results["seats"] == 6
    one, copies = results["agents"]
    assert one["scores"]["duplicate"]["mbb_per_hand"] == -250.0
    assert copies["scores"]["duplicate"]["mbb_per_hand"] == pytest.approx(50.0)
    assert (one["hands"], copies["hands"]) == (60, 300)


def test_the_control_makes_the_score_of_a_copy_exactly_zero(tmp_path):
    results, rows = play(tmp_path, agents=("tag", "tag"), format="lineup-5v1", decks=10)
    copy = results["agents"][1]
    assert copy["scores"]["duplicate"] == {"mbb_per_hand": 0.0, "ci95": 0.0, "sd_bb": 0.0}
    assert copy["scores"]["aivat_duplicate"] == {"mbb_per_hand": 0.0, "ci95": 0.0, "sd_bb": 0.0}
    assert copy["scores"]["raw"]["sd_bb"] > 0.0
    assert copy["p_value"] is None
    assert set(rows["agent"].tolist()) == {0, 1, 2} and results["hands"] == 60


def test_the_control_takes_out_what_a_copy_would_have_made(tmp_path):
    results, rows = play(tmp_path, agents=("random", "fold"), format="lineup-5v1", decks=10)
    ours, one = results["agents"]
    own, control = rows[rows["agent"] == 1], rows[rows["agent"] == 2]
    assert one["scores"]["raw"]["mbb_per_hand"] == -250.0
    # Copies of an agent that plays at random make nothing on average only: that is what is taken out.
    wanted = ((own["chips"] - control["chips"]) / 6 * 10.0).mean()
    assert one["scores"]["duplicate"]["mbb_per_hand"] == pytest.approx(wanted)
    assert control["chips"].sum() != 0.0
    assert ours["scores"]["raw"]["mbb_per_hand"] * 5 == pytest.approx(250.0)
    assert not control["faults"].any()


@pytest.mark.parametrize("format_", ["lineup-1v5", "lineup-5v1"])
def test_formats_with_copies_need_two_agents(format_):
    with pytest.raises(ValueError, match="needs two agents and three seats"):
        TournamentConfig(agents=("call", "fold", "tag"), format=format_)
    assert TournamentConfig(agents=("call", "fold"), format=format_, seats=4).seats == 4
