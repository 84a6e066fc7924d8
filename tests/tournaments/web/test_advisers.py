"""The advisers' processes: answers, cancelling, crashes, and their end with the server."""

import asyncio
import dataclasses
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.tournaments.formats.game_definition import game_definition_text
from plurispiel.tournaments.web.advisers import ADVISERS, Advisers
from plurispiel.tournaments.web.messages import Question

pytestmark = pytest.mark.slow  # CI runs the slow tests of the pages, too

SLOW = [sys.executable, str(Path(__file__).parents[2] / "slow_adviser.py")]
QUICK = Question("blueprint", 1.0, "0", game_definition_text(HUNL), (300, 1, 1, 1, 1, 1, 1, 1), ("", ""), "", ())
QUICK = dataclasses.replace(QUICK, actions=(300, 900, 2700, 8100, 20000, 1))
ENDLESS = dataclasses.replace(QUICK, board="Td9d6h")
CRASHING = dataclasses.replace(QUICK, board="2c2d2h")


class Asker:
    """Somebody who asks, and keeps what is told."""

    def __init__(self, advisers):
        self._advisers = advisers
        self.told = []

    def ask(self, question, *decisions):
        self._advisers.ask(self, dataclasses.replace(question, decisions=decisions), self.told.append)

    async def hear(self, count, kind=None):
        """Wait for a number of messages, of one kind or of all but those on thinking."""
        while True:
            found = [each for each in self.told if (each["type"] == kind if kind else each["type"] != "thinking")]
            if len(found) >= count:
                return found
            await asyncio.sleep(0.005)


def talk(conversation):
    """Run a conversation with advisers of whom each is slow, and return the process of the blueprint."""

    async def run():
        advisers = Advisers(SLOW)
        try:
            async with asyncio.timeout(60):
                await conversation(advisers)
            return advisers._advisers["blueprint"]._process
        finally:
            await advisers.close()

    return asyncio.run(run())


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_decisions_are_answered_in_the_order_asked():
    async def conversation(advisers):
        asker = Asker(advisers)
        asker.ask(QUICK, 5, 0, 3, 4, 2)
        found = await asker.hear(5)
        assert [each["decision"] for each in found] == [5, 0, 3, 4, 2]
        assert [each["type"] for each in found] == ["advice", "advice", "trouble", "trouble", "advice"]
        assert found[0]["advice"] == {"decision": 5} and found[2]["trouble"] == "there is no advice at decision 3"
        assert found[3]["trouble"] == "the adviser failed: RuntimeError"  # and no word of the message
        assert {(each["adviser"], each["hand"], each["seconds"]) for each in found} == {("blueprint", "0", 1.0)}

    talk(conversation)


def test_stepping_on_cancels_what_is_computed():
    async def conversation(advisers):
        asker = Asker(advisers)
        asker.ask(ENDLESS, 0)
        await asker.hear(1, "thinking")
        process = advisers._advisers["blueprint"]._process
        began = time.monotonic()
        asker.ask(QUICK, 1)
        (found,) = await asker.hear(1)
        assert found["decision"] == 1 and time.monotonic() - began < 3.0
        assert advisers._advisers["blueprint"]._process is process  # what it has loaded is kept

    talk(conversation)


def test_what_is_asked_again_is_not_cancelled():
    async def conversation(advisers):
        asker = Asker(advisers)
        asker.ask(ENDLESS, 0)
        await asker.hear(1, "thinking")
        asker.ask(ENDLESS, 0, 1)
        await asyncio.sleep(0.3)
        assert len(await asker.hear(1, "thinking")) == 1
        asker.ask(ENDLESS)
        asker.ask(QUICK, 2)
        assert [each["decision"] for each in await asker.hear(1)] == [2]

    talk(conversation)


def test_askers_take_turns_and_leave():
    async def conversation(advisers):
        first, second = Asker(advisers), Asker(advisers)
        first.ask(ENDLESS, 0)
        second.ask(QUICK, 0, 1)
        await first.hear(1, "thinking")
        advisers.leave(first)
        assert len(await second.hear(2)) == 2
        assert not [each for each in first.told if each["type"] != "thinking"]

    talk(conversation)


def test_a_process_that_crashes_is_said_and_started_again():
    async def conversation(advisers):
        asker = Asker(advisers)
        asker.ask(CRASHING, 0)
        (found,) = await asker.hear(1)
        assert "has ended" in found["trouble"]
        asker.ask(QUICK, 0)
        assert (await asker.hear(2))[1]["type"] == "advice"

    talk(conversation)


def test_a_broken_hand_is_a_trouble():
    async def conversation(advisers):
        asker = Asker(advisers)
        asker.ask(dataclasses.replace(QUICK, actions=(300, 99)), 0)
        (found,) = await asker.hear(1)
        assert found["trouble"].startswith("action 2 of seat 0")
        with pytest.raises(ValueError, match="advisers are"):
            asker.ask(dataclasses.replace(QUICK, adviser="sh"), 0)

    talk(conversation)


def test_all_processes_end_with_the_server():
    async def conversation(advisers):
        asker = Asker(advisers)
        for name in ADVISERS:
            asker.ask(dataclasses.replace(ENDLESS, adviser=name), 0)
        await asker.hear(len(ADVISERS), "thinking")
        processes.extend(each._process for each in advisers._advisers.values())

    processes = []
    talk(conversation)
    assert len(processes) == len(ADVISERS) and all(process.returncode is not None for process in processes)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_a_process_does_not_outlive_a_server_that_is_killed():
    code = f"""
import asyncio, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_advisers import *
async def conversation(advisers):
    asker = Asker(advisers)
    asker.ask(ENDLESS, 0)
    await asker.hear(1, "thinking")
    while advisers._advisers["blueprint"]._ready_s is None:
        await asyncio.sleep(0.01)
    print(advisers._advisers["blueprint"]._process.pid, flush=True)
    await asyncio.sleep(60)
talk(conversation)
"""
    import subprocess

    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    pid = int(server.stdout.readline())
    assert is_running(pid)
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdout.close()
    limit = time.monotonic() + 10.0
    while is_running(pid) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not is_running(pid)


def test_warming_yields_each_adviser():
    async def conversation(advisers):
        assert [name async for name, _ in advisers.warm()] == list(ADVISERS)
        processes = {name: each._process for name, each in advisers._advisers.items()}
        assert processes["blueprint"].returncode is None and processes["search"] is None

    talk(conversation)
