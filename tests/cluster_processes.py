"""A cluster of processes on this machine, for tests: commands in sessions of their own, ended with all they started."""

import contextlib
import os
import signal
import subprocess
import sys
import time

PROGRAM = [sys.executable, "-m", "plurispiel.tournaments.cli"]

DISGUISED = """
import sys
from plurispiel.tournaments.run import arithmetic
{change}
from plurispiel.tournaments.cli import main
sys.exit(main(sys.argv[1:]))
"""


class Processes:
    """Commands that are started in a folder, each with its messages in a file."""

    def __init__(self, folder):
        self.folder = folder
        self.started = []

    def start(self, *arguments, program=PROGRAM):
        """Start a command in a session of its own."""
        number = len(self.started)
        log = self.folder / f"{number}-{arguments[0]}.log"
        with open(log, "w") as stream:
            process = subprocess.Popen(
                [*program, *map(str, arguments)],
                cwd=self.folder,
                env={**os.environ, "PLURISPIEL_HOME": str(self.folder / "home")},
                stdout=stream,
                stderr=stream,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                # whoever runs these tests in the background of a shell has interrupts ignored, and so would this
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        process.log = log
        self.started.append(process)
        return process

    def start_disguised(self, change, *arguments):
        """Start a command in which the module `arithmetic` was changed."""
        return self.start(*arguments, program=[sys.executable, "-c", DISGUISED.format(change=change)])

    def scheduler(self, *options):
        process = self.start("cluster", "c.json", *options)
        wait_for(lambda: "Ctrl-C ends the cluster" in process.log.read_text(), process)
        return process

    def worker(self, *options):
        process = self.start("worker", "c.json", "--slots", "1", *options)
        wait_for(lambda: "works with" in process.log.read_text(), process)
        return process

    def close(self):
        for process in reversed(self.started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def processes_in(folder):
    found = Processes(folder)
    try:
        yield found
    finally:
        found.close()


def wait_for(condition, process=None, seconds=240.0):
    limit = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, process.log.read_text()
        assert time.monotonic() < limit, process.log.read_text() if process else "it did not happen in time"
        time.sleep(0.05)


def members(session):
    """Return the living processes of a session."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{entry}/stat") as stream:
            state, _, _, leader = stream.read().rpartition(")")[2].split()[:4]
            if int(leader) == session and state != "Z":
                found.append(int(entry))
    return found
