"""Runs that stop early: the rules, where they are asked, and that nothing else decides."""

import contextlib
import json

import numpy as np
import pytest
from faulty_run import SOMETIMES

from plurispiel.evaluation.statistics import sequential_half_width
from plurispiel.tournaments.labour.work import Alone
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import make_results, results_text, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import BLOCK_DECKS, look_decks
from plurispiel.tournaments.run.stop_rule import StopRule, parse_stop_rule
from plurispiel.tournaments.run.store import RunStore

SETTINGS = {"agents": ("fold", "random", "call"), "seats": 2, "decks": 400, "referee": "none", "score": "duplicate"}


def play(folder, workers=1, stop_after=None, **settings):
    """Play a tournament, or its first blocks; return its results without times."""
    config = TournamentConfig(**SETTINGS | settings)
    left = [stop_after]

    def count(block, groups):
        if left[0] is not None:
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt

    with contextlib.closing(RunStore(folder, config)) as store:
        with contextlib.suppress(KeyboardInterrupt):
            play_run(config, store, Conduct(workers), count)
        results = json.loads(results_text(make_results(config, store)))
    assert table_text(results)
    return {key: value for key, value in results.items() if key not in ("seconds", "hands_per_second")}


@pytest.mark.parametrize("text", ["ci<=20", "ci <= 20", "ci<=2e1", "ci<=20.0"])
def test_rules_are_read(text):
    assert parse_stop_rule(text) == StopRule(20.0)
    assert parse_stop_rule("significant") == StopRule(None)


@pytest.mark.parametrize("text", ["ci<20", "ci<=0", "ci<=-3", "ci<=", "ci<=nan", "ci<=1e999", "ci<=1.2.3", "signif"])
def test_what_is_no_rule_is_refused(text):
    with pytest.raises(ValueError, match="'ci<=X' with X mbb/hand above 0, or 'significant'"):
        TournamentConfig(stop_when=text)


def test_rules_ask_all_agents():
    rng = np.random.default_rng(1)
    near, far = rng.normal(0.0, 50.0, size=400), rng.normal(40.0, 50.0, size=400)
    width = sequential_half_width(near.std(ddof=1), 400)
    assert StopRule(width).holds([near]) and not StopRule(width * 0.999).holds([near])
    assert StopRule(100.0).holds([near, far]) and not StopRule(0.1).holds([near, far])
    assert StopRule(None).holds([far, -far]) and not StopRule(None).holds([far, near])
    for rates in (np.empty(0), np.ones(1), far[:99]):
        assert not StopRule(None).holds([rates]) and not StopRule(1e9).holds([rates])
    assert StopRule(1.0).holds([np.zeros(100)]) and not StopRule(None).holds([np.zeros(100)])


def test_looks_are_whole_blocks_and_grow_apart():
    looks = list(look_decks(100_000))
    assert looks[:3] == [8, 16, 24] and looks[-1] < 100_000
    assert all(look % BLOCK_DECKS == 0 for look in looks)
    steps = np.diff(looks)
    assert (steps >= 8).all() and (steps <= np.maximum(8, np.array(looks[:-1]) / 32)).all()
    assert list(look_decks(8)) == []
    assert looks[: len(list(look_decks(5_000)))] == list(look_decks(5_000))


def test_a_run_stops_where_its_rule_holds_first(tmp_path):
    whole = play(tmp_path / "whole", decks=160)
    stopped = play(tmp_path / "stopped", decks=160, stop_when="ci<=8000")
    assert stopped["stopped"] and not whole["stopped"]
    assert BLOCK_DECKS < stopped["decks"] < whole["decks"] == 160
    assert stopped["hands"] == stopped["decks"] * 2 * 3
    assert max(agent["sequential_ci95"] for agent in stopped["agents"]) <= 8000
    earlier = max(look for look in look_decks(whole["decks"]) if look < stopped["decks"])
    before = play(tmp_path / "before", decks=earlier)
    assert max(agent["sequential_ci95"] or np.inf for agent in before["agents"]) > 8000
    assert play(tmp_path / "as long", decks=stopped["decks"])["agents"] == stopped["agents"]


@pytest.mark.parametrize(
    "settings",
    [
        {"stop_when": "ci<=8000"},
        pytest.param({"stop_when": "significant", "format": "gauntlet"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_nothing_but_the_cards_decides_where_it_stops(tmp_path, settings):
    alone = play(tmp_path / "alone", **settings)
    assert alone["stopped"]
    assert play(tmp_path / "alone", **settings) == alone
    for stop_after in (1, 7, 20):
        play(tmp_path / "parts", stop_after=stop_after, **settings)
    assert play(tmp_path / "parts", **settings) == alone
    play(tmp_path / "more", **settings | {"stop_when": ""})
    assert play(tmp_path / "more", **settings) == alone
    assert play(tmp_path / "more", **settings | {"stop_when": ""})["decks"] == 400
    assert play(tmp_path / "team", workers=2, **settings) == alone


class Joining(Alone):
    """This process, with 1 block in the first task, 16 in the second and 256 in the third."""

    least_seconds = 1e9


def stored(folder, labour, **settings):
    """Play a tournament; return the groups that it has stored, and the number of decks that count."""
    config = TournamentConfig(**SETTINGS | settings)
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, Conduct(processes="one"), labour=labour)
        return sorted(store.done()), store.decks


def groups_before(decks, num_lineups):
    return [(lineup, deck) for lineup in range(num_lineups) for deck in range(decks)]


def test_no_block_after_the_check_that_stops_the_run_is_stored_however_blocks_are_joined(tmp_path):
    settings = {"agents": ("tag", "call", "fold"), "stop_when": "ci<=8000", "seed": 1}
    groups, decks = stored(tmp_path / "single", Alone(), **settings)
    assert BLOCK_DECKS < decks < 400 and groups == groups_before(decks, 3)
    assert stored(tmp_path / "joined", Joining(), **settings) == (groups, decks)


@pytest.mark.parametrize("max_faults", [208, 209])
@pytest.mark.parametrize("labour", [Alone, Joining])
def test_an_agent_retired_at_or_after_the_check_that_stops_the_run_adds_no_block(tmp_path, labour, max_faults):
    (tmp_path / "sometimes.py").write_text(SOMETIMES)
    agents = (f"{tmp_path}/sometimes.py:Bot?share=1", "call")
    # Two faults a deck: the agent is retired after the last deck of the check at 104 decks, or after the next deck.
    settings = {"agents": agents, "stop_when": "ci<=1e9", "decks": 120, "max_faults": max_faults, "seed": 1}
    assert stored(tmp_path / "run", labour(), **settings) == (groups_before(104, 1), 104)


def test_the_rule_asks_the_headline(tmp_path):
    settings = {"agents": ("fold", "raise"), "decks": 120, "stop_when": "significant"}
    by_duplicate, by_aivat = (
        play(tmp_path / score, **settings, score=score) for score in ("duplicate", "aivat_duplicate")
    )
    assert (by_duplicate["score"], by_aivat["score"]) == ("duplicate", "aivat_duplicate")
    assert by_duplicate["decks"] == by_aivat["decks"] == 104
    widths = [results["agents"][0]["sequential_ci95"] for results in (by_duplicate, by_aivat)]
    assert widths[0] == 0.0 < widths[1] < 750.0
    by_default = play(tmp_path / "default", **settings, score="")
    assert by_default["score"] == "aivat_zero_sum" and by_default["agents"][0]["sequential_ci95"] < 1e-6


def test_one_agent_against_copies_is_asked_alone(tmp_path):
    results = play(tmp_path, agents=("fold", "random"), format="lineup-1v5", seats=3, stop_when="ci<=3000", decks=200)
    one, copies = results["agents"]
    assert results["stopped"] and results["decks"] == 104
    assert one["sequential_ci95"] < 3000 < copies["sequential_ci95"] or copies["sequential_ci95"] > 0
    assert TournamentConfig(agents=("call", "fold"), format="lineup-5v1").measured == [1]


def test_a_rule_that_never_holds_plays_all(tmp_path):
    results = play(tmp_path, decks=120, stop_when="ci<=1")
    assert (results["stopped"], results["decks"], results["stop_when"]) == (False, 120, "ci<=1")
    assert "not reached in 120 decks" in table_text(results | {"seconds": 1.0, "hands_per_second": 1.0})


def test_the_rule_is_no_part_of_the_digest():
    assert TournamentConfig(stop_when="significant").digest == TournamentConfig().digest
