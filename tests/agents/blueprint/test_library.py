"""Blueprints in the package: which one plays where, and what becomes of damaged ones."""

import copy
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import exploitability
from random_blueprint import TRAINING, pack_random

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.abstraction.machine.jit import CACHE_FOLDER
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.base import PublicState, View
from plurispiel.agents.blueprint import library
from plurispiel.agents.blueprint.blueprint import load_blueprint
from plurispiel.agents.blueprint.bundle import unpacked_folder
from plurispiel.agents.blueprint.library import bundled_blueprints, find_blueprint, find_packed, pick_bundled
from plurispiel.agents.factory import game_note, make_agent
from plurispiel.agents.openspiel import OpenSpielBot, agent_policy
from plurispiel.agents.specs import parse_spec, relocate_spec, unique_names
from plurispiel.evaluation.compliance import check_agent
from plurispiel.tournaments import measure_exploitability
from plurispiel.tournaments.cli import main

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

ROOT = Path(__file__).parents[3]
THREE = no_limit_holdem(3)


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A folder of bundled blueprints, still empty."""
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(library, "_BOTS", tmp_path / "bots")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bots").mkdir()
    return tmp_path / "bots"


@pytest.fixture
def three(bots):
    """With blueprints for 3 seats and 100 bb, and for 2 seats and 20 or 200 bb."""
    pack_random(bots, "three", seats=3, stack_bb=100)
    pack_random(bots, "deep", seats=2, stack_bb=200)
    pack_random(bots, "shallow", seats=2, stack_bb=20)
    return bots


def test_what_the_package_holds():
    """All files of the repository's folder, sound and small; none yet is no error."""
    files = sorted((ROOT / "agents" / "blueprint" / "bots").glob("*.blueprint"))
    assert [found.name for found in bundled_blueprints()] == [path.stem for path in files]
    assert all(found.path.stat().st_size <= 20_000_000 for found in bundled_blueprints())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "*.blueprint" in project["tool"]["setuptools"]["package-data"]["*"]


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        (HUNL, "deep"),
        (no_limit_holdem(2, 10_000), "deep"),
        (no_limit_holdem(2, 6_400), "deep"),  # 63.2 bb are as far from 20 as from 200
        (no_limit_holdem(2, 6_300), "shallow"),
        (no_limit_holdem(2, 100), "shallow"),
        (HULH, "shallow"),
        (THREE, "three"),
        (no_limit_holdem(3, 1_000), "three"),
    ],
)
def test_fewest_seats_too_many_then_the_nearest_depth(three, rules, name):
    assert pick_bundled(rules).name == name
    assert game_note("blueprint", rules).startswith(f"plays {name}")


def started(iterations):
    """Return the record of a start."""
    return {"iterations": iterations, "core_hours": 1.0, "weight_bb": 1.0, "digest": "0a"}


def test_of_those_that_fit_equally_the_one_trained_longest(three):
    for name, iterations in (("a", 5), ("longest", 9), ("z", 7)):
        training = TRAINING | {"iterations": iterations, "start": started(10**12)}
        pack_random(three, name, seats=2, stack_bb=200, training=training)
    assert pick_bundled(HUNL).name == "longest"


@pytest.mark.parametrize("iterations", [1.5, 10.0**17])
def test_a_damaged_number_of_iterations_is_refused(bots, iterations):
    pack_random(bots, "a", seats=2, stack_bb=200, training=TRAINING | {"start": started(iterations)})
    with pytest.raises(ArtefactRefused, match="iterations of its training must be whole numbers"):
        bundled_blueprints()


def test_seats_come_before_depth(bots):
    pack_random(bots, "three", seats=3, stack_bb=200)
    assert pick_bundled(HUNL).name == "three"
    assert game_note("blueprint", HUNL) == "plays three; trained for 3 seats, plays 2 as if the other seats had folded"
    pack_random(bots, "two", seats=2, stack_bb=1)
    assert pick_bundled(HUNL).name == "two"


def test_what_none_fits_is_one_clear_line(three):
    agent = make_agent("blueprint")
    there = "there are deep \\(2 seats, 200 bb\\), shallow \\(2 seats, 20 bb\\), three \\(2..3 seats, 100 bb\\)"
    for rules, words in ((SIXMAX, "6 seats, 52 cards, 5"), (LEDUC, "2 seats, 6 cards, 1")):
        with pytest.raises(ValueError, match=f"no bundled blueprint plays this game \\({words} of them.*{there}"):
            agent.restart(rules, 0, np.random.default_rng(1))
        with pytest.raises(ValueError, match="no bundled blueprint plays this game"):
            game_note("blueprint", rules)


def test_a_package_without_any(bots, capsys):
    assert bundled_blueprints() == [] and agent_digest("blueprint") == ""
    with pytest.raises(ValueError, match="no blueprint comes with this package; name one"):
        make_agent("blueprint")
    assert main(["tournament", "--agents", "blueprint,tag"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["ls", "agents"]) == 0
    assert "none comes with this package" in capsys.readouterr().out


def test_specs(three):
    assert parse_spec("blueprint").is_stored and not parse_spec("blueprint").is_foreign
    assert unique_names(["blueprint", "tag", "blueprint"]) == ["blueprint", "tag", "blueprint#2"]
    assert relocate_spec("blueprint", three) == "blueprint"
    assert make_agent("blueprint").name == "blueprint"
    before = agent_digest("blueprint")
    pack_random(three, "deep", seats=2, stack_bb=200, seed=2)
    assert agent_digest("blueprint") != before
    assert find_packed("deep") == three / "deep.blueprint" and find_packed("nothing") is None
    with pytest.raises(
        ValueError, match="'thre' is neither a folder.*, did you mean 'three'\\?: there are deep, shallow, three"
    ):
        find_blueprint("thre")


def test_a_run_with_the_same_name_does_not_take_its_place(three, tmp_path):
    own = tmp_path / "home" / "blueprints" / "three" / "blueprint"
    os.makedirs(own.parent)
    unpacked_folder(pack_random(tmp_path, "mine", seats=3, stack_bb=50)).rename(own)
    assert find_blueprint("three") == own and find_packed("three") is None
    agent = make_agent("blueprint")
    agent.restart(THREE, 0, np.random.default_rng(1))
    assert agent.blueprint.config.stack_bb == 100


def test_it_plays_the_blueprint_that_fits(three):
    agent, played = make_agent("blueprint"), {}
    for rules, name in ((THREE, "three"), (HUNL, "deep"), (no_limit_holdem(2, 1_000), "shallow"), (THREE, "three")):
        named = make_agent(f"blueprint:{name}")
        for each in (agent, named):
            each.restart(rules, 0, np.random.default_rng(1))
        public = PublicState(rules, BettingState(rules).array.tolist())
        expected, found = named.range_strategy(public), agent.range_strategy(public)
        assert np.array_equal(found.actions, expected.actions)
        assert np.array_equal(found.probabilities, expected.probabilities)
        assert agent.blueprint is played.setdefault(name, agent.blueprint)  # loaded once
    agent.restart(HUNL, 1, np.random.default_rng(1))
    assert agent.blueprint is played["deep"]
    twin = copy.deepcopy(agent)
    assert twin.blueprint is agent.blueprint  # a blueprint is large
    state = BettingState(HUNL)
    twin.act(View(PublicState(HUNL, state.array.tolist()), state.actor, (0, 5)))
    assert (twin.counts.total(), agent.counts.total()) == (1, 0)


def test_keeps_the_contract(three):
    report = check_agent(
        lambda: make_agent("blueprint"), [THREE, HUNL, HULH], num_hands=60, num_decks=6, num_compared=6
    )
    assert report.violations == [] and report.tells_range


def test_in_openspiels_loops_and_as_a_policy(three):
    pack_random(three, "small", game="kuhn_poker")
    game = pyspiel.load_game("kuhn_poker")
    agent = make_agent("blueprint")
    bots = [OpenSpielBot(agent, game, 0), OpenSpielBot(make_agent("call"), game, 1)]
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, seed=1)) == 0
    assert agent.counts.total() > 0
    named = exploitability.nash_conv(game, agent_policy(make_agent("blueprint:small"), game))
    assert exploitability.nash_conv(game, agent_policy(make_agent("blueprint"), game)) == named
    bot = OpenSpielBot(make_agent("blueprint"), pyspiel.load_game(pyspiel.hunl_game_string("fullgame")), 0)
    assert bot.clone().player_id() == 0


def test_exploitability(three, capsys):
    pack_random(three, "small", game="leduc")
    records = []
    for spec in ("blueprint", "blueprint:small"):
        assert main(["exploitability", "leduc", "--agent", spec, "--json"]) == 0
        records.append(json.loads(capsys.readouterr().out))
    assert records[0]["exploitability"] == records[1]["exploitability"] > 0
    plain = measure_exploitability("leduc", "blueprint:small?defence=0")  # the default with lossless buckets
    assert records[0]["exploitability"] == plain.exploitability
    assert main(["exploitability", "kuhn3", "--agent", "blueprint"]) == 2
    assert "no bundled blueprint plays this game (3 seats, 4 cards" in capsys.readouterr().err.splitlines()[-1]


def test_a_tournament(three, capsys):
    arguments = ["tournament", "--decks", "5", "--workers", "1", "--agents", "blueprint,tag,call", "--out", "run"]
    assert main([*arguments, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err.count("blueprint: plays three\n") == 1
    agents = [(agent["name"], agent["faults"], agent["aivat"]) for agent in json.loads(told.out)["agents"]]
    assert agents[0] == ("blueprint", 0, "full")
    assert 'agents = ["blueprint", "tag", "call"]' in Path("run/config.toml").read_text()
    assert main(arguments) == 0
    assert "nothing left to play" in capsys.readouterr().err
    assert main(["tournament", "--agents", "blueprint,tag,call,call"]) == 2
    assert capsys.readouterr().err.startswith("plurispiel tournament: no bundled blueprint plays this game (4 seats")


def test_compliance_says_at_once_that_none_fits(three, capsys):
    assert main(["compliance", "blueprint", "--game", "LEDUC"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("plurispiel compliance: no bundled blueprint plays this game") and err.count("\n") == 1


def damaged(content):
    """Yield what may have become of a file, with a word for each."""
    for place in (0, 40, len(content) // 2, len(content) - 100, len(content) - 30, len(content) - 1):
        yield f"byte {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    for length in (0, 10, 64, len(content) - 1, len(content) // 2):
        yield f"{length} bytes", content[:length]
    yield "longer", content + b"\0"
    yield "a text", b"[menu]\n" * 100


def test_a_damaged_file_is_refused_and_named(three, capsys):
    path = three / "three.blueprint"
    good = path.read_bytes()
    for word, content in damaged(good):
        path.write_bytes(content)
        with pytest.raises(ArtefactRefused, match="three.blueprint is damaged"):
            make_agent("blueprint")
        with pytest.raises(ArtefactRefused, match="three.blueprint is damaged"):
            make_agent("blueprint:three")
        for arguments in (
            ("tournament", "--agents", "blueprint,tag,call"),
            ("tournament", "--agents", "blueprint:three,tag,call"),
            ("blueprint", "info", "three"),
            ("blueprint", "info", "bots/three.blueprint"),
        ):
            assert main(list(arguments)) == 4, (word, arguments)
            told = capsys.readouterr()
            assert "three.blueprint is damaged" in told.err and told.err.count("\n") == 1 and not told.out
    path.write_bytes((three / "deep.blueprint").read_bytes())
    assert make_agent("blueprint:three")  # sound, only under another name
    path.unlink()
    with pytest.raises(ValueError, match="'three' is neither a folder nor the name of a blueprint"):
        make_agent("blueprint:three")


def test_a_damaged_copy_in_the_cache_is_unpacked_again(three):
    path = three / "three.blueprint"
    folder = unpacked_folder(path)
    rows = np.array(load_blueprint(folder).rows)
    for name in ("rows.npy", "manifest.json"):
        content = (folder / name).read_bytes()
        for bad in (content[:-1], content[:-1] + bytes([content[-1] ^ 1]), b"", None):
            (folder / name).unlink()
            if bad is not None:
                (folder / name).write_bytes(bad)
            assert make_agent("blueprint:three") and unpacked_folder(path) == folder
            assert (folder / name).read_bytes() == content
    (folder / "rows.npy").write_bytes(b"")
    agent = make_agent("blueprint")
    agent.restart(THREE, 0, np.random.default_rng(1))
    assert np.array_equal(agent.blueprint.rows, rows)


WORKER = """
import sys, time
from pathlib import Path
from plurispiel.agents.blueprint import bundle
from plurispiel.agents.blueprint.blueprint import load_blueprint

def slowly(path, folder, unpack=bundle.unpack_blueprint):
    with open("unpacked.txt", "a") as log:
        log.write("once\\n")
    time.sleep(1.0)
    unpack(path, folder)

bundle.unpack_blueprint = slowly
print("ready", flush=True)
for line in sys.stdin:
    print(load_blueprint(bundle.unpacked_folder(Path(sys.argv[1]))).digest, flush=True)
"""


def test_processes_that_start_at_once_unpack_it_once(three, tmp_path):
    path = three / "three.blueprint"
    folder = unpacked_folder(path)
    digest = load_blueprint(folder).digest
    folder.rename(tmp_path / "aside")
    command = [sys.executable, "-c", WORKER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = os.environ | {"NUMBA_CACHE_DIR": str(CACHE_FOLDER.parent)}  # what is compiled is not to be again
    workers = [subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, **pipes) for _ in range(2)]
    try:
        assert [worker.stdout.readline() for worker in workers] == ["ready\n"] * 2
        for times in (1, 2):  # where there is nothing yet, then where it was damaged
            for worker in workers:
                worker.stdin.write("go\n")
                worker.stdin.flush()
            assert [worker.stdout.readline() for worker in workers] == [f"{digest}\n"] * 2
            assert (tmp_path / "unpacked.txt").read_text() == "once\n" * times
            (folder / "rows.npy").write_bytes(b"")
    finally:
        for worker in workers:
            worker.communicate(timeout=60)
    assert [worker.returncode for worker in workers] == [0, 0]
