"""Runs on a cluster of this machine's processes: the same digits, after whatever happens to workers and scheduler."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import textwrap
import time
from pathlib import Path

import pytest
from cluster_processes import members, processes_in, wait_for
from faulty_run import SOMETIMES
from played_run import group_rows, num_stored

from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, USAGE
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

pytestmark = [
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for living processes in /proc"),
]

CRASHES = """
import os
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        if self.rng.random() < 0.1:
            print("leaving the table", flush=True)
            os._exit(1)
        return 1
"""

HANGS = """
import time
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        if self.rng.random() < 0.1:
            time.sleep(60)
        return 1
"""

SPIES = """
from plurispiel.agents import Agent

class Bot(Agent):
    def act(self, view):
        try:
            print(open('{path}').read() or "nothing there", flush=True)
        except OSError:
            print("nothing there", flush=True)
        return 1
"""

WRONG = """
from contextlib import contextmanager
from plurispiel.tournaments.run.tournament_work import TournamentWork
right = TournamentWork.begin

@contextmanager
def begin(self):
    with right(self) as play:
        def wrong(job):
            block = play(job)
            rows = self.unpacked(block).rows.copy()
            rows["chips"] += 1.0
            return block._replace(rows=rows.tobytes())
        yield wrong

TournamentWork.begin = begin
"""
"""A machine that passes the comparison of arithmetic, and then computes otherwise."""

IMPATIENT = """
from plurispiel.tournaments.labour import workshop
workshop._LOOK_S, workshop._LEAST_LIMIT_S = 0.5, 5.0
"""
"""A worker that soon gives up jobs."""

HUNG_AT = """
import os, socket, time
from contextlib import contextmanager
from plurispiel.tournaments.run.tournament_work import TournamentWork
right = TournamentWork.begin

@contextmanager
def begin(self):
    with right(self) as play:
        def hang(job):
            if job.block.first == 16:
                time.sleep(1000.0)
            return play(job)
        yield hang

TournamentWork.begin = begin
"""
"""A machine where one block hangs."""

SETTINGS = ["--agents", "bot.py:Bot,tag,blueprint", "--seats", "2", "--decks", "48,shared", "--seed", "3", "--values"]
SETTINGS = [*SETTINGS, "checkdown", "--on-fault", "forfeit"]


def played_here(folder):
    """Return the rows of the run by this process."""
    (folder / "bot.py").write_text(SOMETIMES)
    agents = (str(folder / "bot.py:Bot"), "tag", "blueprint")
    config = TournamentConfig(agents=agents, seats=2, decks=48, seed=3, values="checkdown", format="round-robin")
    with contextlib.closing(RunStore(folder / "out", config)) as store:
        play_run(config, store, Conduct())
    return group_rows(folder / "out")


ON_CLUSTER = ["--cluster", "c.json"]
if not working_sandbox("auto", network=False):
    ON_CLUSTER.append("--unsandboxed")
WORKER = ["worker", "c.json", "--slots", "1"]


def tournament(cluster, out, *options):
    return cluster.start("tournament", *SETTINGS, "--out", out, *ON_CLUSTER, *options)


def is_over(process, code=FAULT_LIMIT):
    assert process.wait(timeout=300) == code, process.log.read_text()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    rows = played_here(tmp_path_factory.mktemp("here"))
    assert max(row[6] for row in rows) > 0
    return rows


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "bot.py").write_text(SOMETIMES)
    with processes_in(tmp_path) as found:
        yield found


def test_one_worker_two_and_one_that_is_killed_give_the_rows_of_this_process(cluster, tmp_path, expected):
    run = tournament(cluster, "one")  # waits for the scheduler
    scheduler, first = cluster.scheduler(), cluster.worker()
    is_over(run)
    assert "waiting for c.json, which plurispiel cluster c.json writes" in run.log.read_text()
    assert group_rows(tmp_path / "one") == expected
    second = cluster.worker()
    run = tournament(cluster, "two")
    wait_for(lambda: num_stored(tmp_path / "two") >= 24, run)
    second.kill()
    is_over(run)
    assert group_rows(tmp_path / "two") == expected
    assert (tmp_path / "c.json").stat().st_mode & 0o777 == 0o600
    scheduler.terminate()
    assert scheduler.wait(timeout=30) == 0 and not (tmp_path / "c.json").exists()
    assert first.wait(timeout=30) == 0, first.log.read_text()
    wait_for(lambda: not any(members(process.pid) for process in cluster.started), seconds=10.0)


@pytest.mark.slow
def test_kills_stops_a_late_worker_and_another_scheduler_change_no_row(cluster, tmp_path, expected):
    """Two workers die, one is stopped for 20 s, one comes late, and the scheduler dies and is started again."""
    scheduler = cluster.scheduler("--patience", "10")
    first, second, third = cluster.worker(), cluster.worker(), cluster.worker()
    run = tournament(cluster, "out")
    wait_for(lambda: num_stored(tmp_path / "out") >= 8, run)
    first.kill()
    os.kill(second.pid, signal.SIGSTOP)
    stopped = time.monotonic()
    late = cluster.worker()
    third.kill()
    wait_for(lambda: num_stored(tmp_path / "out") >= 16, run)
    scheduler.kill()
    is_over(run, FAILED)
    text = run.log.read_text()
    assert "the scheduler of c.json is gone; start it again (plurispiel cluster c.json)" in text, text
    assert num_stored(tmp_path / "out") < 48
    time.sleep(max(0.0, stopped + 20.0 - time.monotonic()))
    os.kill(second.pid, signal.SIGCONT)
    cluster.scheduler("--patience", "10")
    wait_for(lambda: late.log.read_text().count("works with") == 2, late)
    again = tournament(cluster, "out")
    is_over(again)
    assert "hands already there" in again.log.read_text()
    assert group_rows(tmp_path / "out") == expected


@pytest.mark.slow
def test_a_stopped_worker_that_nobody_replaces_goes_on(cluster, tmp_path, expected):
    cluster.scheduler()
    only = cluster.worker()
    run = tournament(cluster, "out")
    wait_for(lambda: num_stored(tmp_path / "out") >= 8, run)
    os.killpg(only.pid, signal.SIGSTOP)
    time.sleep(20.0)
    os.killpg(only.pid, signal.SIGCONT)
    is_over(run)
    assert group_rows(tmp_path / "out") == expected


OWN = ["--agents", "tag,call,random", "--decks", "48", "--seed", "3", "--score", "duplicate"]
"""Settings without agents from outside, to whom a limit leaves time."""


@pytest.mark.slow
def test_blocks_that_hang_on_one_machine_are_played_by_another(cluster, tmp_path):
    is_over(cluster.start("tournament", *OWN, "--out", "here", "--workers", "1"), 0)
    cluster.scheduler()
    hung = cluster.start_disguised(IMPATIENT + HUNG_AT + "socket.gethostname = lambda: 'ill'", *WORKER)
    wait_for(lambda: "works with" in hung.log.read_text(), hung)
    run = cluster.start("tournament", *OWN, "--out", "out", "--cluster", "c.json")
    wait_for(lambda: "s and more on ill (the slowest job so far took" in run.log.read_text(), run)
    cluster.start_disguised(IMPATIENT, *WORKER)
    is_over(run, 0)
    assert group_rows(tmp_path / "out") == group_rows(tmp_path / "here")
    with contextlib.closing(RunStore.reading(tmp_path / "out")) as store:
        assert set(store.machines()[0]) == {"ill", socket.gethostname()}


@pytest.mark.slow
def test_a_stopped_child_of_a_living_worker_is_replaced(cluster, tmp_path):
    is_over(cluster.start("tournament", *OWN, "--out", "here", "--workers", "1"), 0)
    cluster.scheduler()
    worker = cluster.start_disguised(IMPATIENT, *WORKER)
    wait_for(lambda: "works with" in worker.log.read_text(), worker)
    (child,) = set(members(worker.pid)) - {worker.pid}
    run = cluster.start("tournament", *OWN, "--out", "out", "--cluster", "c.json")
    wait_for(lambda: num_stored(tmp_path / "out") >= 8, run)
    os.kill(child, signal.SIGSTOP)
    is_over(run, 0)
    assert "done again" in run.log.read_text() and child not in members(worker.pid)
    assert group_rows(tmp_path / "out") == group_rows(tmp_path / "here")


@pytest.mark.slow
def test_agents_that_crash_and_that_hang_commit_the_faults_that_they_commit_here(cluster, tmp_path):
    (tmp_path / "crash.py").write_text(CRASHES)
    (tmp_path / "hang.py").write_text(HANGS)
    settings = ["--agents", "crash.py:Bot,hang.py:Bot,tag", "--seats", "2", "--decks", "16,shared", "--seed", "3"]
    settings += ["--score", "duplicate", "--time-limit", "2", "--max-faults", "5"]
    is_over(cluster.start("tournament", *settings, "--out", "here", "--workers", "1"))
    cluster.scheduler()
    workers = cluster.worker(), cluster.worker()
    run = cluster.start("tournament", *settings, "--out", "there", *ON_CLUSTER)
    is_over(run)
    rows = group_rows(tmp_path / "there")
    assert [untexted(row) for row in rows] == [untexted(row) for row in group_rows(tmp_path / "here")]
    assert "leaving the table" in (tmp_path / "there" / "logs" / "agent-0.log").read_text()
    for worker in workers:
        worker.terminate()
        assert worker.wait(timeout=30) == 0, worker.log.read_text()
    wait_for(lambda: not any(members(process.pid) for process in (run, *workers)), seconds=10.0)


def untexted(row):
    """Return a row without its texts: the message of a crash names the moment."""
    return [value for value in row if not isinstance(value, str)]


@pytest.mark.slow
def test_who_is_not_like_the_scheduler_is_refused(cluster, tmp_path):
    cluster.scheduler()
    refused = {
        "package is other here": 'arithmetic.package_facts = lambda: {"package": "other"}',
        "arithmetic is other here": 'arithmetic.arithmetic_digest = lambda: "other"',
    }
    for words, change in refused.items():
        worker = cluster.start_disguised(change, "worker", "c.json", "--slots", "1")
        is_over(worker, USAGE)
        assert words in worker.log.read_text(), worker.log.read_text()
    change = 'arithmetic.package_facts = lambda: {"package": "other"}'
    command = cluster.start_disguised(change, "tournament", *SETTINGS, "--out", "out", "--cluster", "c.json")
    is_over(command, USAGE)
    assert "the cluster of c.json differs: package is" in command.log.read_text()


@pytest.mark.slow
def test_without_the_key_nobody_speaks_to_scheduler_or_worker(cluster, tmp_path):
    cluster.scheduler()
    cluster.worker()
    key = tmp_path / "c.json"
    code = """
        import json, sys
        from distributed import Client, Security
        address = json.load(open("c.json"))["address"]
        for security in (Security(), Security.temporary()):
            for there in (address, address.replace("tls:", "tcp:")):
                try:
                    Client(there, security=security, timeout=5)
                except Exception as error:
                    print("refused", type(error).__name__)
                else:
                    sys.exit("let in")
    """
    process = cluster.start("client", program=[sys.executable, "-c", textwrap.dedent(code)])
    is_over(process, 0)
    assert process.log.read_text().count("refused") == 4, process.log.read_text()
    key.chmod(0o640)
    other = cluster.start("tournament", *SETTINGS, "--out", "out", "--cluster", "c.json")
    is_over(other, USAGE)
    assert "other users can read the key in c.json (mode 640); chmod 600 c.json" in other.log.read_text()


@pytest.mark.slow
def test_no_part_of_a_cluster_listens_without_tls(cluster):
    scheduler, worker = cluster.scheduler(), cluster.worker()
    for process in (scheduler, worker):
        ports = listening(process.pid)
        assert len(ports) == 1, ports
        for host, port in ports:
            assert host == "127.0.0.1"
            with socket.create_connection((host, port), timeout=10) as plain:
                plain.sendall(b"GET / HTTP/1.0\r\n\r\n")
                plain.settimeout(10)
                with contextlib.suppress(OSError):
                    assert b"HTTP" not in plain.recv(100)


def listening(pid):
    """Return the addresses at which a process listens for TCP."""
    sockets = set()
    for entry in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            sockets |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(f"/proc/{pid}/fd/{entry}")))
    found = []
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and words[9] in sockets:
            host, port = words[1].split(":")
            found.append((socket.inet_ntoa(bytes.fromhex(host)[::-1]), int(port, 16)))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bwrap"), reason="needs bubblewrap")
def test_an_agent_cannot_read_the_file_of_the_cluster(cluster, tmp_path):
    (tmp_path / "spy.py").write_text(SPIES.format(path=tmp_path / "c.json"))
    cluster.scheduler()
    cluster.worker()
    options = ["--agents", "spy.py:Bot,call", "--decks", "8", "--score", "duplicate", "--out", "out"]
    run = cluster.start("tournament", *options, "--cluster", "c.json")
    is_over(run, 0)
    said = (tmp_path / "out" / "logs" / "agent-0.log").read_text()
    assert "nothing there" in said and "PRIVATE KEY" not in said


@pytest.mark.slow
def test_a_machine_that_computes_otherwise_is_found_by_the_check(cluster, tmp_path):
    cluster.scheduler()
    cluster.worker()
    wrong = cluster.start_disguised(WRONG, "worker", "c.json", "--slots", "1")
    wait_for(lambda: "works with" in wrong.log.read_text(), wrong)
    options = ["--agents", "tag,call", "--decks", "64", "--score", "duplicate", "--out", "out"]
    run = cluster.start("tournament", *options, "--cluster", "c.json", "--check-share", "1")
    is_over(run, FAILED)
    text = run.log.read_text()
    assert re.search(r"\(tls://127.0.0.1:\d+\) and .* \(tls://127.0.0.1:\d+\) have different results", text), text


@pytest.mark.slow
def test_what_an_agent_imports_is_sent_or_missed(cluster, tmp_path):
    folder = tmp_path / "bots"
    folder.mkdir()
    (folder / "beside.py").write_text("SHARE = 0.0\n")
    (folder / "bot.py").write_text("import beside\n" + SOMETIMES)
    cluster.scheduler()
    cluster.worker()
    options = ["--agents", "bots/bot.py:Bot,call", "--decks", "8", "--score", "duplicate", "--out", "out"]
    without = cluster.start("tournament", *options, *ON_CLUSTER)
    is_over(without, USAGE)
    assert "--ship FOLDER sends what an agent's file imports" in without.log.read_text()
    is_over(cluster.start("tournament", *options, *ON_CLUSTER, "--ship", "bots"), 0)


@pytest.mark.slow
def test_agents_from_outside_play_without_a_sandbox_only_if_they_are_trusted(cluster, tmp_path):
    cluster.scheduler()
    cluster.worker()
    options = ["--agents", "bot.py:Bot,call", "--decks", "8", "--score", "duplicate", "--out", "out"]
    options += ["--sandbox", "none"]
    refused = cluster.start("tournament", *options, "--cluster", "c.json")
    is_over(refused, USAGE)
    assert "could read c.json" in refused.log.read_text()
    is_over(cluster.start("tournament", *options, "--cluster", "c.json", "--unsandboxed"), 0)


@pytest.mark.slow
def test_a_mixed_cluster_admits_other_arithmetic_and_the_run_says_so(cluster, tmp_path):
    cluster.scheduler("--mixed")
    other = cluster.start_disguised('arithmetic.arithmetic_digest = lambda: "other"', *WORKER)
    wait_for(lambda: "works with" in other.log.read_text(), other)
    run = cluster.start("tournament", *OWN, "--out", "out", "--cluster", "c.json")
    is_over(run, 0)
    assert "the cluster admits machines of other arithmetic" in run.log.read_text()
    assert "were admitted (--mixed): AIVAT can be repeated to about 12 digits only" in run.log.read_text()
    assert json.loads((tmp_path / "out" / "results.json").read_text())["mixed"] is True
    checked = cluster.start("tournament", *OWN, "--out", "out", "--cluster", "c.json", "--check-share", "1")
    is_over(checked, USAGE)
    assert "leave out --check-share" in checked.log.read_text()
