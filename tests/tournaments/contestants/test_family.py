"""The processes of an agent: nothing stays open where they cannot be started."""

import os
import sys

import pytest

from plurispiel.tournaments.contestants.family import Family


class NoSandbox:
    """Fails before there is a process, as where a folder of the agent cannot be read."""

    def command(self, *arguments):
        raise PermissionError("no folder of the agent can be read")


class NoEnvironment(NoSandbox):
    def command(self, program, *others):
        return program

    def environment(self):
        raise RuntimeError("there is no home folder")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("sandbox", [NoSandbox(), NoEnvironment()], ids=["command", "environment"])
def test_a_sandbox_that_fails_leaves_no_pipe_open(sandbox):
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises((PermissionError, RuntimeError)):
        Family(["host"], "call", sandbox)
    assert set(os.listdir("/proc/self/fd")) <= before
