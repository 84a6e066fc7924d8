"""Settings files that nobody meant to write, given to each command that reads some: one line and exit code 2."""

import pytest
from hostile_settings import hostile_settings

from plurispiel.agents.blueprint.config import _PRESETS
from plurispiel.agents.spots.spot_file import EXAMPLES
from plurispiel.tournaments import commands
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.commands import abstraction, blueprint, spot, tournament  # noqa: F401

TOURNAMENT = """
agents = ["call", "tag"]
game = ""
seats = 2
format = "round-robin"
copies = false
lineups = 3
decks = 10
seed = 1
referee = "universal_poker"
on_fault = "forfeit"
score = "raw"
values = ""
stop_when = "ci<=50"
max_faults = 20
time_limit = 30.0
memory_limit = 2048
"""
CARDS = """
name = "x"
seed = 1
fit_points = 20000
rounds = 3
[flop]
buckets = 50
features = "histogram"
distance = "emd"
[turn]
buckets = 50
features = "histogram"
[river]
buckets = 50
features = "ochs"
"""
BLUEPRINT = """
name = "b"
iterations = 1000
text = "x"
seats = 3
stack_bb = 20.0
cards = "small"
algorithm = "external"
discount_until = 0.1
prune_from = 0.1
average_from = 0.1
average_over = 0.5
average_every = 10
num_snapshots = 4
prune_below_bb = -100.0
exact = false
seed = 1
[menu]
preflop = ["0.5p 1p", "allin"]
flop = ["1p"]
turn = "1p"
river = ["1p"]
all_in_share = 0.5
push_or_fold = false
[menu.multiway]
flop = ["1p"]
[menu.callers]
preflop = [2, 1]
"""
SPOT = """
board = "Td9d6h Qc 7s"
pot = 60
stacks = [30, 30]
oop = "random"
ip = "AA,KK"
all_in_share = 0.9
[bets.river]
oop = { bet = "0.5p allin", raise = ["45%"] }
ip = { bet = "1p" }
[lock.""]
c = "22+:0.5"
[solve]
algorithm = "dcfr"
target_pct = 0.5
max_seconds = 1.0
cards = "exact"
"""


class Begun(ValueError):
    """The settings make sense: the work would begin now."""


def begin(*arguments, **options):
    raise Begun("begun")


def files(folder):
    return [path.read_text() for path in sorted(folder.glob("*.toml"))]


COMMANDS = {
    "tournament": (
        ["tournament"],
        "plurispiel.tournaments.run.tournament_run.RunStore.__init__",
        [TOURNAMENT, TOURNAMENT.replace('"raw"', '"aivat"')],
    ),
    "abstraction": (["abstraction", "build"], f"{commands.__name__}.abstraction.build_table", [CARDS]),
    "blueprint": (
        ["blueprint", "train"],
        f"{commands.__name__}.blueprint.tree_size",
        [BLUEPRINT] * 9 + files(_PRESETS),
    ),
    "spot": (["spot"], f"{commands.__name__}.spot.solve_spot", [SPOT] * 3 + files(EXAMPLES)),
}


@pytest.mark.parametrize("number", [30, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", COMMANDS)
def test_hostile_settings(tmp_path, monkeypatch, capsys, command, number):
    arguments, first_step, texts = COMMANDS[command]
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(first_step, begin)
    monkeypatch.setattr(abstraction, "warmup", lambda modules: None)
    monkeypatch.setattr(spot.vector_cfr, "prepare", lambda **options: None)
    path = tmp_path / "x.toml"
    outcomes = set()
    for content in hostile_settings(texts, number):
        path.write_bytes(content)
        code = main([*arguments, str(path)])
        out, err = capsys.readouterr()
        last = err.splitlines()[-1]
        assert (code, out) == (2, ""), content
        assert last.startswith(f"plurispiel {command}") and last.isprintable() and "Traceback" not in err, content
        outcomes.add(last.endswith(": begun"))
    assert outcomes == {True, False}
    assert sorted(each.name for each in tmp_path.iterdir()) in (["home", "x.toml"], ["x.toml"])
