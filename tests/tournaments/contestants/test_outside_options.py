"""The options of commands that run agents from outside."""

import argparse

import pytest

from plurispiel.tournaments.commands.arguments.outside import add_outside
from plurispiel.tournaments.contestants.outside_options import OutsideOptions


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    add_outside(parser.add_argument)
    return OutsideOptions.chosen(parser.parse_args(arguments))


def test_the_command_line_has_the_defaults_of_python_and_gets_back_what_was_given():
    assert parsed() == OutsideOptions() and parsed().words() == ""
    given = ["--time-limit", "2.5", "--sandbox", "none", "--agent-network"]
    assert parsed(*given) == OutsideOptions(time_limit=2.5, sandbox="none", agent_network=True)
    assert parsed(*given).words().split() == given


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": float("nan")}, "time_limit must be above 0 and at most 86400 seconds, got nan"),
        ({"memory_limit": 0}, "memory_limit must be at least 1 MiB, got 0"),
        ({"sandbox": "jail"}, "sandbox must be one of auto, bwrap, none, got 'jail'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        OutsideOptions(**options)


def test_agents_of_this_package_open_no_sandbox():
    warnings = []
    isolation = OutsideOptions(sandbox="none").isolation(["call", "tag"], warnings.append)
    assert isolation.sandbox is None and not warnings
    OutsideOptions(sandbox="none").isolation(["call", "my_bot.py:MyBot"], warnings.append)
    assert len(warnings) == 1 and "no sandbox (as asked)" in warnings[0]
