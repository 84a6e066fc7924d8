"""Agents that try to see, change or outlive what is not theirs: in the sandbox they get nothing."""

import compileall
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.contestants import sandbox
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.sandbox import SandboxBroken, unprotected, working_sandbox
from plurispiel.tournaments.contestants.supervisor import Contestant
from plurispiel.tournaments.run import run_key

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late

BOTS = Path(__file__).parent / "bots"
RULES = no_limit_holdem(2)
SPIES = (
    *("reads_processes", "reads_files", "reads_the_seed", "ends_rivals", "opens_sockets", "leaves_a_daemon"),
    *("leaves_word", "writes_into_the_run"),
)


def _why_not():
    try:
        working_sandbox("bwrap")
    except SandboxBroken as cause:
        return str(cause)
    return ""


WHY_NOT = _why_not()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
posix = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")


@pytest.fixture
def village(tmp_path, monkeypatch):
    """Yield a folder with spies, a rival, a run and its settings, a home with a diary, a victim and a server."""
    (tmp_path / "own").mkdir()
    for name in ("spy", "tries_everything", *SPIES):
        shutil.copy(BOTS / f"{name}.py", tmp_path / "own")
    (tmp_path / "own" / "rival.py").write_text("from plurispiel.agents.baselines.simple import CallAgent as Bot\n")
    assert compileall.compile_dir(tmp_path / "own", quiet=1)
    for folder in ("own/run", "home", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "own" / "settings.toml").write_text("seed = 7\n")
    for folder in ("own/run", "elsewhere"):
        for name in ("config.toml", "run.sqlite", run_key.NAME):
            (tmp_path / folder / name).write_text("seed = 7\n")
    (tmp_path / "home" / "diary").write_text("dear diary\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "own")
    victim = subprocess.Popen(["sleep", "600"])
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as named:
        named.bind(f"\0plurispiel-test-{os.getpid()}")
        named.listen()
        targets = {
            "victims": [victim.pid],
            "port": server.getsockname()[1],
            "name": f"plurispiel-test-{os.getpid()}",
            "folders": [str(tmp_path / "home"), str(tmp_path / "elsewhere"), str(tmp_path / "own" / "run")],
            "mark": 100_000 + os.getpid(),
        }
        (tmp_path / "own" / "targets.json").write_text(json.dumps(targets))
        yield tmp_path
    victim.kill()
    victim.wait()


def confined(folder):
    """Return the sandbox of a run in a village."""
    found = working_sandbox("bwrap")
    return found.hiding(folder / "own" / "run", folder / "own" / "settings.toml")


def spied(folder, name, box):
    """Return what a spy got in a hand, which it plays without a fault."""
    log = folder / "logs" / "agent.log"
    log.unlink(missing_ok=True)
    with contextlib.closing(Contestant(f"{name}.py:Bot", Limits(20.0), log, box, ["rival.py:Bot"])) as contestant:
        rngs = [np.random.default_rng(seat) for seat in range(2)]
        hand = play_hand(RULES, [contestant, CallAgent()], deal_deck(RULES, np.random.default_rng(1)), rngs)
        assert not hand.faults, hand.faults
    words = log.read_text().splitlines()
    assert words[-1] == "tried", words
    return [line for line in words if line.startswith("got: ")]


def processes_with(word):
    """Return the processes that have a word on their command line."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if str(word).encode() in Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0"):
                found.append(int(entry))
    return found


@needs_sandbox
@pytest.mark.parametrize("name", ["tries_everything", *(pytest.param(name, marks=pytest.mark.slow) for name in SPIES)])
def test_in_the_sandbox_a_spy_gets_nothing(village, name):
    before = {path: path.read_bytes() for path in village.rglob("*") if path.is_file() and "logs" not in path.parts}
    for _ in range(2):  # the second would find what the first has left
        assert spied(village, name, confined(village)) == []
    mark = json.loads((village / "own" / "targets.json").read_text())["mark"]
    assert processes_with(mark) == []
    now = {path: path.read_bytes() for path in village.rglob("*") if path.is_file() and "logs" not in path.parts}
    assert now == before


@needs_sandbox
@pytest.mark.parametrize("option", ["values=net:v/M", "nets=v"])
def test_an_agent_sees_its_networks(tmp_path, monkeypatch, option):
    (tmp_path / "v" / "M").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    look = ["ls", str(tmp_path / "v" / "M")]
    for spec, code in ((f"continual?{option}", 0), ("continual", 2)):
        command = working_sandbox("bwrap").command(look, spec)
        assert subprocess.run(command, capture_output=True, check=False).returncode == code


def test_files_that_another_process_writes_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path))
    (tmp_path / "trees").mkdir()
    for name in ("leduc", ".leduc-k2f4"):  # the second vanishes when the other process has written it
        (tmp_path / "trees" / name).touch()
    command = sandbox.Sandbox((), ()).command(["true"], "call")
    assert str(tmp_path / "trees" / "leduc") in command
    assert not any(".leduc-" in word for word in command)


@posix
def test_without_it_a_spy_gets_what_it_looks_for(village):
    """Else the test above would show nothing."""
    lines = spied(village, "tries_everything", None)
    for name, word in (
        ("reads_processes", "/cmdline"),
        ("reads_files", "diary"),
        ("ends_rivals", "SIGKILL"),
        ("opens_sockets", "127.0.0.1"),
        ("leaves_word", "own"),
        ("writes_into_the_run", "config.toml"),
    ):
        assert any(line.startswith(f"got: {name}: ") and word in line for line in lines), name
    mark = json.loads((village / "own" / "targets.json").read_text())["mark"]
    assert processes_with(mark) == []


@posix
@pytest.mark.parametrize("box", [pytest.param(True, marks=needs_sandbox), False], ids=["sandbox", "none"])
@pytest.mark.parametrize("end", ["close", "kill"])
def test_daemons_end_with_their_agent(village, box, end):
    mark = json.loads((village / "own" / "targets.json").read_text())["mark"]
    contestant = Contestant("leaves_a_daemon.py:Bot", Limits(20.0), None, confined(village) if box else None)
    with contextlib.closing(contestant):
        rngs = [np.random.default_rng(seat) for seat in range(2)]
        play_hand(RULES, [contestant, CallAgent()], deal_deck(RULES, np.random.default_rng(1)), rngs)
        assert len(processes_with(mark)) >= 4
        if end == "kill":  # of the agent's own process, the last that was started of this program
            agent = max(pid for pid in processes_with("host") if is_below(pid, contestant.pid))
            os.kill(agent, 9)
            limit = time.monotonic() + 10.0
            while processes_with(mark):
                assert time.monotonic() < limit
                time.sleep(0.05)
    assert processes_with(mark) == []


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_below(pid, ancestor):
    with contextlib.suppress(OSError):  # a process of another test has ended meanwhile
        while pid > 1 and pid != ancestor:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid == ancestor


@posix
@pytest.mark.parametrize("box", [pytest.param(True, marks=needs_sandbox), False], ids=["sandbox", "none"])
def test_between_questions_an_agent_stands_still(village, box):
    (village / "own" / "burns.py").write_text(
        "import subprocess, sys, threading\n"
        "from plurispiel.agents import CALL, Agent\n"
        "class Bot(Agent):\n"
        "    helper = None\n"
        "    def act(self, view):\n"
        "        if not self.helper:\n"
        f"            self.helper = subprocess.Popen(['sleep', '77'], start_new_session={box})\n"
        "        return CALL\n"
    )
    contestant = Contestant("burns.py:Bot", Limits(20.0), None, confined(village) if box else None)
    with contextlib.closing(contestant):
        for number in range(3):
            rngs = [np.random.default_rng(seat) for seat in range(2)]
            hand = play_hand(RULES, [contestant, CallAgent()], deal_deck(RULES, np.random.default_rng(number)), rngs)
            assert not hand.faults
            limit = time.monotonic() + 10.0
            agent = max(pid for pid in processes_with("host") if is_below(pid, contestant.pid))
            # Popen returns in the midst of exec: for a moment the helper has no command line.
            while not (helpers := [pid for pid in processes_with("77") if is_below(pid, contestant.pid)]):
                assert time.monotonic() < limit
                time.sleep(0.01)
            (helper,) = helpers
            while {state_of(agent), state_of(helper)} != {"T"}:
                assert time.monotonic() < limit
                time.sleep(0.01)


@needs_sandbox
def test_the_network_is_there_if_asked_for(village):
    box = working_sandbox("bwrap", network=True).hiding(village / "own" / "run")
    assert any("127.0.0.1" in line for line in spied(village, "opens_sockets", box))


LOOKS = """
import os, sys
from pathlib import Path
from plurispiel.agents import CALL, Agent
class Bot(Agent):
    def act(self, view):
        import helper
        with open("notes", "w") as stream:
            stream.write("mine")
        print("here", Path.cwd(), os.listdir("."), os.environ.get("TMPDIR"), helper.NAME, file=sys.stderr)
        print("secret", os.environ.get("SECRET"), os.path.exists(os.path.expanduser("~/diary")), file=sys.stderr)
        print("caps", Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0], file=sys.stderr)
        for folder in ("/", "/usr", "/dev", "/etc", "/proc/sys"):
            try:
                Path(folder, "mine").write_text("")
                print("writes into", folder, file=sys.stderr)
            except OSError:
                pass
        return CALL
"""


@needs_sandbox
@pytest.mark.parametrize("place", ["own", "with space, and comma", "home", "linked", "as a module"])
def test_an_agent_finds_its_own_things_and_a_private_folder(village, place, monkeypatch):
    monkeypatch.setenv("SECRET", "sesame")
    folder = village / {"linked": "elsewhere", "as a module": "own"}.get(place, place)
    folder.mkdir(exist_ok=True)
    (folder / "looks.py").write_text(LOOKS)
    (folder / "helper.py").write_text("NAME = 'Hal'\n")
    if place == "linked":
        (village / "own" / "looks.py").symlink_to(folder / "looks.py")
        folder = village / "own"
    spec = {"as a module": "looks:Bot", "own": "looks.py:Bot"}.get(place, f"{folder}/looks.py:Bot")
    log = village / "logs" / "agent.log"
    with contextlib.closing(Contestant(spec, Limits(20.0), log, confined(village))) as contestant:
        rngs = [np.random.default_rng(seat) for seat in range(2)]
        hand = play_hand(RULES, [contestant, CallAgent()], deal_deck(RULES, np.random.default_rng(1)), rngs)
    assert not hand.faults, hand.faults
    words = log.read_text()
    assert "here /tmp/contestant ['notes'] /tmp" in words
    assert "secret None False" in words
    assert "caps 0000000000000000" in words
    assert "writes into" not in words


@needs_sandbox
def test_messages_name_a_file_as_it_was_given(village):
    (village / "own" / "broken.py").write_text("import nothing_of_that_name\n")
    with contextlib.closing(Contestant("broken.py:Bot", Limits(), None, confined(village))) as contestant:
        with pytest.raises(Exception, match=r"broken.py cannot be loaded: ModuleNotFoundError") as raised:
            contestant.load()
    assert str(village) not in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"kernel/apparmor_restrict_unprivileged_userns": "1"}, "AppArmor .*Ubuntu 24.04"),
        ({"user/max_user_namespaces": "0"}, "user namespaces are switched off"),
        ({}, "container"),
    ],
)
def test_the_cause_is_named_where_it_does_not_work(monkeypatch, tmp_path, settings, cause):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("container", "podman")
    monkeypatch.setattr(sandbox, "_setting", lambda name: settings.get(name, ""))
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with pytest.raises(SandboxBroken, match=cause + ".*setting up uid map"):
        working_sandbox("bwrap")
    assert working_sandbox("auto") is None
    line = unprotected("auto")
    assert "seed on the command line" in line and "key in the run folder" in line and "\n" not in line
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(SandboxBroken, match="not installed"):
        working_sandbox("bwrap")


CALLS = """
from plurispiel.agents import CALL, Agent


class Bot(Agent):
    def act(self, view):
        return CALL
"""


def played(folder, agents, **more):
    """Return the results of a run in a folder, without what takes time."""
    (folder / "settings.toml").write_text("seed = 7\n")
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "tournament", "settings.toml"]
    options = {"decks": 1, "seats": len(agents), "processes": "one", "out": "table", "score": "raw"}
    options |= {"agents": ",".join(agents)} | more
    words = [text for name, value in options.items() for text in (f"--{name}", str(value))]
    done = subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads((folder / "table" / "results.json").read_text())
    return {key: value for key, value in results.items() if key not in ("seconds", "hands_per_second", "digest")}


@needs_sandbox
@pytest.mark.slow  # each spy alone, above, gets nothing
def test_rivals_of_spies_play_as_if_they_were_undisturbed(village):
    own = village / "own"
    shutil.copy(BOTS / "behaves.py", own)
    shutil.rmtree(own / "run")  # of another tournament, which is nobody's secret
    (own / "rival.py").unlink()
    shutil.rmtree(own / "__pycache__")
    agents = ["behaves.py:Bot", *(f"{name}.py:Bot" for name in SPIES)]
    disturbed = played(own, agents, sandbox="bwrap", workers=2)
    assert disturbed["sandbox"] == "bwrap"
    log = (own / "table" / "logs").iterdir()
    assert {path.read_text().replace("tried\n", "") for path in log} == {""}
    quiet = village / "quiet"
    quiet.mkdir()
    shutil.copy(BOTS / "behaves.py", quiet)
    for name in SPIES:
        (quiet / f"{name}.py").write_text(CALLS)
    assert played(quiet, agents, workers=1) == disturbed
