"""The default tournament: who plays it, and which settings it gives way to."""

import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.blueprint.library import bundled_blueprints
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.default_tournament import DEFAULT_AGENTS, DEFAULT_TOURNAMENT, with_default_tournament


def test_a_blueprint_is_bundled_for_both_default_tables():
    """The default agents play heads-up, and at six seats where the agents alone are left out."""
    assert {2, 6} <= {found.rules.num_seats for found in bundled_blueprints()}
    assert "blueprint" in DEFAULT_AGENTS and TournamentConfig(seats=6).rules == SIXMAX


@pytest.mark.parametrize("given", [{}, {"decks": 100}, {"seed": 3}, {"stop_when": "significant"}, {"max_faults": 5}])
def test_settings_that_choose_no_table_change_the_default_tournament(given):
    config = TournamentConfig(**with_default_tournament(given))
    assert config == TournamentConfig(**(DEFAULT_TOURNAMENT | given))
    assert (config.agents[0], config.format, config.rules) == ("blueprint", "gauntlet", HUNL)
    assert config.values == "checkdown"


def test_without_aivat_the_default_tournament_has_no_values():
    config = TournamentConfig(**with_default_tournament({"score": "raw"}))
    assert (config.format, config.values) == ("gauntlet", "")
    assert TournamentConfig(**with_default_tournament({"score": "aivat"})).values == "checkdown"


@pytest.mark.parametrize(
    "given", [{"seats": 6}, {"seats": 2}, {"game": "SIXMAX"}, {"format": "lineup"}, {"agents": ["tag", "call"]}]
)
def test_settings_that_choose_agents_or_a_table_are_left_as_they_are(given):
    assert with_default_tournament(given) == given
