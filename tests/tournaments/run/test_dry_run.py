"""What a dry run expects, against what then happens and against the formulas."""

import json

import pytest

from plurispiel.evaluation.statistics import sequential_half_width
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.dry_run import dry_run_text, pilot_of

pytestmark = pytest.mark.usefixtures("home")


def tournament(capsys, *arguments):
    assert (
        main(
            [
                "tournament",
                *map(str, arguments),
                "--json",
                "--workers",
                "1",
                "--referee",
                "none",
                "--score",
                "duplicate",
            ]
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "NaN" not in out and "Infinity" not in out
    return json.loads(out)


def test_a_dry_run_foretells_the_run_and_leaves_nothing(capsys, home):
    arguments = ("--agents", "call,random,raise", "--seats", 2, "--decks", 200)
    expected = tournament(capsys, *arguments, "--dry-run", "--stop-when", "ci<=2000")
    assert not home.exists()
    results = tournament(capsys, *arguments)
    assert expected["hands"] == results["hands"] == 1_200
    assert (expected["target_ci95"], expected["pilot_hands"]) == (2_000.0, 64 * 3 * 2)
    assert expected["seconds"] == pytest.approx(expected["hands"] / expected["hands_per_second"])
    for told, came in zip(expected["agents"], results["agents"], strict=True):
        assert told["name"] == came["name"]
        assert told["ci95"] == pytest.approx(came["ci95"], rel=0.25)
        assert told["sequential_ci95"] == pytest.approx(came["sequential_ci95"], rel=0.25)
        # each agent sits at two of three tables: of six hands for three groups, four are its own
        groups = told["hands_for_sequential_ci95"] / 3
        assert sequential_half_width(told["sd_bb"] * 1000, round(groups)) <= 2_000
        assert sequential_half_width(told["sd_bb"] * 1000, round(groups) - 2) > 2_000
        assert told["hands_for_ci95"] == pytest.approx(3 * (1.96 * told["sd_bb"] / 2) ** 2, abs=4)
        assert told["hands_to_detect"] == pytest.approx(3 * (2.4865 * told["sd_bb"] / 0.05) ** 2, rel=1e-3)
    assert "hands would take about" in dry_run_text(expected)


def test_the_pilot_plays_other_decks_of_the_same_tournament():
    config = TournamentConfig(agents=("call",) * 7, seats=2, decks=5_000, stop_when="significant")
    pilot = pilot_of(config)
    assert pilot.seed != config.seed and not pilot.stop_when
    assert pilot.decks == 16  # 21 line-ups
    assert pilot_of(TournamentConfig(decks=3)).decks == 3


@pytest.mark.parametrize("decks", [1, 300])
def test_nothing_known_is_null(capsys, decks):
    expected = tournament(capsys, "--agents", "fold,fold", "--decks", decks, "--dry-run")
    for agent in expected["agents"]:
        if decks == 1:
            assert agent["sd_bb"] is agent["ci95"] is agent["hands_to_detect"] is None
        else:
            assert agent["ci95"] == agent["sequential_ci95"] == 0.0
    assert dry_run_text(expected)
