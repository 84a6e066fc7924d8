"""The launcher: the program that it becomes has its folder, its limits and default signals, and ends with the run."""

import contextlib
import json
import os
import signal
import sys

import pytest

from plurispiel.tournaments.contestants.child import Child, Died

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks into /proc")

CODE = """
import json, os, resource
limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)]
print(json.dumps([os.getpid(), os.getcwd(), os.getsid(0), limits, len(os.listdir('/proc/self/fd'))]), flush=True)
"""


def line(data):
    return data.find(b"\n") + 1


@contextlib.contextmanager
def launched(*command, memory=200, folder="/"):
    with contextlib.closing(Child(["launcher", str(memory), str(folder), *command], "call", memory)) as child:
        agent = int(child.receive(line, "load", 20.0))
        child.has_started(agent)
        child.send(b"\n")
        yield child, agent


def test_the_program_keeps_what_the_launcher_sets(tmp_path):
    program = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import signal; signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n{CODE}",
    ]
    with launched(*program, folder=tmp_path) as (child, agent):
        pid, folder, session, (data, core, files), descriptors = json.loads(child.receive(line, "act", 20.0))
    assert (pid, folder, session) == (agent, str(tmp_path), agent)
    assert 200 << 20 <= data[0] < 400 << 20 and core == [0, 0] and files[1] <= 4096
    assert descriptors == 4  # the standard streams, and the listing itself


def test_no_signal_is_ignored_but_those_of_this_process():
    """Python ignores SIGPIPE, and a program in C would inherit that."""
    with launched("/bin/sh", "-c", "grep SigIgn /proc/$$/status; sleep 1") as (child, _):
        ignored = int(child.receive(line, "act", 20.0).split()[1], 16)
    assert not ignored & 1 << signal.SIGPIPE - 1 and not ignored & 1 << signal.SIGXFSZ - 1


def test_a_program_that_cannot_be_started_is_told(tmp_path):
    (tmp_path / "bot").write_text("no program")
    (tmp_path / "bot").chmod(0o755)
    with launched(str(tmp_path / "bot")) as (child, _):
        with pytest.raises(Died, match="exit code 127"):
            child.receive(line, "load", 20.0)
        assert child.last_line == f"cannot start {tmp_path}/bot: Exec format error"


def test_nothing_runs_before_the_run_says_so(tmp_path):
    program = ["/bin/sh", "-c", f"touch {tmp_path}/ran; echo done"]
    with contextlib.closing(Child(["launcher", "200", "/", *program], "call", 200)) as child:
        child.has_started(int(child.receive(line, "load", 20.0)))
        assert not (tmp_path / "ran").exists()
        child.send(b"\n")
        assert child.receive(line, "act", 20.0) == b"done\n" and (tmp_path / "ran").exists()
