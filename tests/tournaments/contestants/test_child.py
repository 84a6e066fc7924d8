"""One process: what is written to it and read from it, when it is late, and how it ended."""

import contextlib
import os
import sys
import time

import pytest

from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.child import MAX_OUTPUT, Child, Died
from plurispiel.tournaments.contestants.sandbox import SandboxBroken, working_sandbox

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),
]


@contextlib.contextmanager
def child(code, log=None, sandbox=None):
    """A started Python program, past the launcher."""
    program = ["launcher", "500", "/", sys.executable, "-I", "-S", "-c", code]
    with contextlib.closing(Child(program, "call", 500, log, sandbox)) as made:
        made.has_started(int(made.receive(line, "load", 20.0)))
        made.send(b"\n")
        yield made


def line(data):
    return data.find(b"\n") + 1


ECHO = "import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)"


def test_answers_come_one_by_one():
    with child(ECHO) as echo:
        echo.send(b"ab\ncd\n")
        assert echo.receive(line, "act", 20.0) == b"abab\n"
        assert echo.receive(line, "act", 20.0) == b"cdcd\n"
        pid = echo.pid
    assert echo.is_closed and not os.path.exists(f"/proc/{pid}")
    echo.close()


def test_more_is_sent_than_a_pipe_takes():
    with child(ECHO) as echo:
        echo.send(b"x" * (1 << 20) + b"\n")
        assert len(echo.receive(line, "act", 20.0)) == (2 << 20) + 1


def test_an_answer_whose_size_is_known_before_its_end_is_read_to_its_end():
    with child(ECHO) as echo:
        echo.send(b"x" * (1 << 18) + b"\n")
        assert len(echo.receive(lambda data: len(data) and (1 << 19) + 1, "act", 20.0)) == (1 << 19) + 1


def test_a_process_that_does_not_read_is_late():
    with child("import time; time.sleep(3600)") as deaf:
        deaf.send(b"x" * (1 << 20))
        with pytest.raises(AgentFault, match="end: no answer within 0.3 s") as caught:
            deaf.flush("end", 0.3)
        assert caught.value.kind == "timeout" and deaf.is_closed


@pytest.mark.parametrize(
    ("code", "text", "number"),
    [
        ("import sys; sys.exit(7)", "its process ended (exit code 7)", 0),
        ("import os; os._exit(255)", "its process ended (exit code 255)", 0),
        ("import os; os.kill(os.getpid(), 9)", "its process was ended by SIGKILL", 9),
        ("import os, time; os.close(1); time.sleep(3600)", "its process closed its pipe", 0),
        ("raise RuntimeError('no luck')", "its process ended (exit code 1)", 0),
    ],
)
def test_how_it_ended_is_told(code, text, number):
    with child(code) as short, pytest.raises(Died) as caught:
        short.receive(line, "act", 20.0)
    assert (str(caught.value), caught.value.signal) == (text, number)
    assert short.last_line == ("RuntimeError: no luck" if "luck" in code else "")


def test_a_closed_output_is_noticed_at_once_in_a_sandbox_too():
    try:
        sandbox = working_sandbox("bwrap")
    except SandboxBroken as cause:
        pytest.skip(str(cause))
    code = "import os, time; print('done', flush=True); os.close(1); time.sleep(3600)"
    with child(code, sandbox=sandbox) as silent:
        assert silent.receive(line, "act", 20.0) == b"done\n"
        with pytest.raises(Died, match="^its process closed its pipe$"):
            silent.receive(line, "act", 20.0)


def test_what_is_printed_is_kept_and_limited(tmp_path):
    noisy = "import sys; sys.stderr.write('x' * (2 << 20)); print('done', flush=True)"
    with child(noisy, tmp_path / "logs" / "log") as printing:
        with pytest.raises(AgentFault, match="act: it printed more than 1 MiB"):
            printing.receive(line, "act", 20.0)
    assert 0 < (tmp_path / "logs" / "log").stat().st_size <= MAX_OUTPUT


def test_it_has_a_moment_to_end_by_itself():
    with child("import sys; sys.stdin.read()") as patient:
        begin = time.monotonic()
        patient.wait(0.1)
        assert time.monotonic() - begin < 10.0 and not patient.is_closed
