"""Processes that nobody of the same user looks into; as root, these tests run as another user."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from plurispiel.abstraction.machine import jit
from plurispiel.tournaments.contestants.sandbox import SandboxBroken, working_sandbox

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOTS = Path(__file__).parent / "bots"
NOBODY = 65534

LOOK = """
import ctypes, os, sys
from plurispiel.tournaments.contestants.process import close_to_others
def leave_root():
    if os.getuid() == 0:
        os.setgroups([]), os.setgid(65534), os.setuid(65534)
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # a process that has changed its user is closed
ready, told = os.pipe()
target = os.fork()
if target == 0:
    leave_root()
    if sys.argv[1] == "closed":
        close_to_others()
    os.write(told, b"!")
    os.read(os.pipe()[0], 1)
os.read(ready, 1)
leave_root()
for name in ("mem", "environ", "fd"):
    try:
        os.listdir(f"/proc/{target}/fd") if name == "fd" else open(f"/proc/{target}/{name}", "rb").close()
        print(name)
    except PermissionError:
        pass
os.kill(target, 9)
"""


@pytest.mark.parametrize(("state", "seen"), [("closed", []), ("open", ["mem", "environ", "fd"])])
def test_a_closed_process_is_not_looked_into(state, seen):
    done = subprocess.run([sys.executable, "-c", LOOK, state], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == seen


def as_nobody(folder, command):
    """Run a command in a folder, as root does as another user, who sees the interpreter wherever it lies."""
    if os.getuid() != 0:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True)
    try:
        box = working_sandbox("bwrap")
    except SandboxBroken as cause:
        pytest.skip(f"as root another user needs bubblewrap: {cause}")
    closed = (Path.home(), Path(tempfile.gettempdir()))
    shown = sorted({os.path.realpath(path) for path in (*box.readable, str(jit.CACHE_FOLDER))}, key=len)
    shown = [path for path in shown if os.path.exists(path) and any(map(Path(path).is_relative_to, closed))]
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    world = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"]
    for place in closed:
        world += ["--perms", "1777", "--tmpfs", str(place)]
    ways = {way for path in shown for way in Path(path).parents if any(place in way.parents for place in closed)}
    for way in sorted(ways):
        world += ["--perms", "0755", "--dir", str(way)]
    for path in shown:
        world += ["--ro-bind", path, path]
    world += ["--tmpfs", "/home", "--bind", str(folder), "/home/nobody", "--chdir", "/home/nobody"]
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    places = {name: f"/home/nobody/{name}" for name in ("HOME", "PLURISPIEL_HOME", "PLURISPIEL_CACHE")}
    environment = os.environ | places | {"NUMBA_CACHE_DIR": str(jit.CACHE_FOLDER.parent)}
    return subprocess.run([*world, "--", *user, *command], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize("sandbox", [pytest.param("none", marks=pytest.mark.slow), "bwrap"])
def test_runner_and_workers_are_closed_to_contestants_of_the_same_user(tmp_path, sandbox):
    for name in ("spy", "reads_processes"):
        (tmp_path / f"{name}.py").write_text((BOTS / f"{name}.py").read_text())
    command = [sys.executable, "-m", "plurispiel.tournaments.cli", "tournament"]
    options = (
        "--agents",
        "reads_processes.py:Bot,call",
        "--decks",
        "16",  # two blocks, so that both workers play
        "--workers",
        "2",
        "--seed",
        "7",
        "--out",
        "run",
        "--sandbox",
        sandbox,
    )
    done = as_nobody(tmp_path, [*command, *options])
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run" / "results.json").read_text())["sandbox"] == sandbox
    lines = [line for path in (tmp_path / "run" / "logs").iterdir() for line in path.read_text().splitlines()]
    got = [line for line in lines if line.startswith("got: /proc/")]
    assert "tried" in lines
    if sandbox == "bwrap":
        assert got == []
        return
    assert any("--seed" in line for line in got)  # a command line stays open, as the run says
    assert "seed on the command line" in done.stderr
    trackers = {line.split("/")[2] for line in got if "resource_tracker" in line}  # which knows nothing
    assert [line for line in got if "/cmdline: " not in line and line.split("/")[2] not in trackers] == []


KEYRING = """
import ctypes, platform, sys
from plurispiel.tournaments.contestants.process import leave_keyring
numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
libc = ctypes.CDLL(None)
add_key, keyctl = (lambda *values, number=number: libc.syscall(number, *values) for number in numbers)
joined = keyctl(1, None)  # a session of our own, which what we start inherits
if joined <= 0 or add_key(b"user", b"seen", b"As", 2, -3) <= 0:
    sys.exit(77)  # no keyrings here
before = keyctl(10, -3, b"user", b"seen", 0)
leave_keyring()
print(before > 0, keyctl(10, -3, b"user", b"seen", 0) > 0)
"""


@pytest.mark.skipif(os.uname().machine not in ("x86_64", "aarch64"), reason="numbers of system calls")
def test_a_keyring_of_the_session_is_left_behind():
    done = subprocess.run([sys.executable, "-c", KEYRING], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("this system gives no keyrings")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "False"]
