"""The options of a search, read from specs, and the values that are refused."""

import pytest

from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.factory import make_agent
from plurispiel.agents.search.agent import SearchAgent
from plurispiel.agents.search.config import SearchConfig, config_from_options
from plurispiel.agents.specs import parse_spec


def test_specs():
    agent = make_agent("search?iterations=7&play=final&street_sizes=1p_allin|allin&purge=0.05&threads=1")
    assert isinstance(agent, SearchAgent) and agent.name == "search"
    sizes = ("1p allin", "allin")
    assert agent.config == SearchConfig(iterations=7, play="final", street_sizes=sizes, purge=0.05, threads=1)
    assert make_agent("search:headsup-refined?time=2").config.time == 2.0
    assert not parse_spec("search").is_foreign
    assert parse_spec("search:some/where?time=2").title == "search:where?time=2"
    assert agent_digest("search") == agent_digest("blueprint?defence=0") != ""


@pytest.mark.parametrize(
    "options, message",
    [
        ({"time": "0.2"}, "time is 0.5 to 3600 seconds for a search, got 0.2"),
        ({"time": "0.9", "safe": "true"}, "time is 1 to 3600 seconds for a safe search, got 0.9"),
        ({"time": "nan"}, "time is"),
        ({"iterations": "-1"}, "iterations are"),
        ({"iterations": "x"}, "iterations is a whole number"),
        ({"play": "best"}, "play is average or final"),
        ({"root": "hand"}, "root is street or decision"),
        ({"freeze": "all"}, "freeze is"),
        ({"safe": "1"}, "true or false"),
        ({"purge": "1"}, "purge is"),
        ({"cards": "exact"}, "cards is"),
        ({"street_sizes": "7x"}, "bet sizes"),
        ({"street_sizes": "1p_2p_3p_4p_5p_6p_7p"}, "at most 6"),
        ({"run_outs": "0"}, "run_outs must"),
        ({"speed": "1"}, "takes the options"),
        ({"threads": "-1"}, "threads are 1 to 1,024, or 0 for all processors, got -1"),
        ({"threads": "1000000000"}, "threads are 1 to 1,024, or 0 for all processors, got 1000000000"),
        ({"warm_start": "1e36"}, "warm_start is a regret in pots, 0 to 1,000,000, got"),
        ({"warm_start": "nan"}, "warm_start is"),
        ({"continuations": "5"}, "continuations must be 1..4"),
        ({"doubt": "0.1", "uniform_share": "0.1"}, "was called doubt before: give it by one name only"),
    ],
)
def test_settings_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        config_from_options(options)


def test_former_names_of_options_are_accepted_with_a_warning():
    with pytest.warns(FutureWarning) as warned:
        config = config_from_options({"first": "1p", "k": "2", "doubt": "0.1", "purge": "0"})
    assert config == SearchConfig(street_sizes=("1p",), continuations=2, uniform_share=0.1, purge=0.0)
    assert "the option first of search is now called street_sizes" in str(warned[0].message) and len(warned) == 3
