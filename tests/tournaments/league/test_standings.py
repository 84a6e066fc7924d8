"""The standings: three ratings of the same crosstable, and who is not ranked."""

import numpy as np
import pytest
from small_league import play_on, small_league

from plurispiel.evaluation.nash_averaging import nash_average
from plurispiel.tournaments.league.standings import make_standings, separation_lines, standings_text

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture(scope="module")
def league(tmp_path_factory):
    league = small_league(tmp_path_factory.mktemp("leagues") / "league", "raise", "tag", "fold", "random")
    play_on(league, hands=6 * 16 + 60)
    return league


def test_the_ratings_are_those_of_the_matrix(league):
    record = make_standings(league, num_resamples=50)
    rates = np.array([[cell["mbb_per_hand"] if cell else 0.0 for cell in row] for row in record["matrix"]])
    assert rates == pytest.approx(-rates.T)
    agents = record["agents"]
    means = rates.sum(axis=1) / 3
    assert [agent["mbb_per_hand"] for agent in agents] == pytest.approx(means)
    assert list(means) == sorted(means, reverse=True)
    average = nash_average(rates)
    assert [agent["nash_share"] for agent in agents] == pytest.approx(average.shares)
    assert [agent["nash_rating"] for agent in agents] == pytest.approx(average.ratings)
    assert sum(agent["alpha_rank"] for agent in agents) == pytest.approx(1.0)
    for agent in agents:
        for name in ("mbb_per_hand", "nash_rating", "alpha_rank", "nash_share"):
            low, high = agent[f"{name}_ci95"]
            assert low <= high
        low, high = agent["mbb_per_hand_ci95"]
        assert low < agent["mbb_per_hand"] < high
    assert agents[-1]["separated"] is None and agents[0]["separated"] is False  # no pair has 100 groups
    assert sum(agent["hands"] for agent in agents) == 2 * record["hands"] == 4 * record["groups"]


def test_the_standings_are_the_same_each_time(league):
    assert make_standings(league, num_resamples=20) == make_standings(league, num_resamples=20)


def test_the_text_shows_every_agent(league):
    text = standings_text(make_standings(league, num_resamples=20))
    lines = text.splitlines()
    assert [line.split()[0] for line in lines[2:6]] == [line.split()[0] for line in lines[10:14]]
    assert "neighbours that anytime-valid intervals do not separate yet:" in text
    assert lines[-1].startswith("156 hands of LEDUC, digest ")


def test_separated_neighbours_are_named():
    agents = [{"name": "a", "separated": True}, {"name": "b", "separated": False}, {"name": "c", "separated": None}]
    assert separation_lines(agents) == ["neighbours that anytime-valid intervals do not separate yet: b and c"]
    agents[1]["separated"] = True
    assert separation_lines(agents) == [
        "every agent is separated from its neighbours by anytime-valid intervals; with 95 % confidence all of them hold"
    ]


def test_agents_that_have_not_met_all_are_not_ranked(tmp_path):
    league = small_league(tmp_path / "league", "call", "fold", "raise")
    empty = make_standings(league)
    assert (empty["agents"], empty["unranked"]) == ([], ["call", "fold", "raise"])
    assert "nobody is ranked yet" in standings_text(empty)
    play_on(league, hands=32)  # call has met fold and raise
    league.add("tag", print, print)
    record = make_standings(league, num_resamples=10)
    assert {agent["name"] for agent in record["agents"]} == {"call", "fold"}
    assert record["unranked"] == ["raise", "tag"]
    assert "not ranked, as they have not met all others: raise, tag" in standings_text(record)
