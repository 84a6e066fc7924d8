"""Tests of one group share a process: fixtures that cost much, and tests of processes, count on that."""

import os
import subprocess
import sys

GROUP = """
import os
import pathlib
import pytest

@pytest.mark.xdist_group("one")
@pytest.mark.parametrize("number", range(6))
def test(number):
    pathlib.Path(f"{os.getpid()}.pid").touch()
"""


def test_a_group_runs_in_one_process(tmp_path):
    """As pytest 9.2 with pytest-xdist 3.8 does not, though nothing fails."""
    (tmp_path / "test_group.py").write_text(GROUP)
    command = [sys.executable, "-m", "pytest", "-n2", "--dist=loadgroup", f"--rootdir={tmp_path}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert len(list(tmp_path.glob("*.pid"))) == 1
