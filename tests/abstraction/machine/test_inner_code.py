import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")

PARTS = """
import numpy as np
from plurispiel.abstraction.machine.jit import kernel
@kernel
def add(numbers, step):
    for k in range(len(numbers)):
        numbers[k] += step
@kernel(inline=True)
def double(numbers):
    for k in range(len(numbers)):
        numbers[k] *= 2.0
@kernel
def total(numbers):
    found = 0.0
    for k in range(len(numbers)):
        found += numbers[k]
    return found
"""
CALLER = """
from numba.core import event
from parts import add, double, kernel, np, total, total
class Compiled(event.Listener):
    def on_start(self, begun):
        print(begun.data["dispatcher"].py_func.__name__, end=" ")
    def on_end(self, ended):
        pass
event.register("numba:compile", Compiled())
@kernel
def caller(numbers):
    add(numbers, 1.0)
    double(numbers)
    add(numbers, 1.0)
    return total(numbers)
numbers = np.zeros(3)
print(caller(numbers), *numbers, [len(each.signatures) for each in (add, double, total, caller)])
"""
FROM_PYTHON = """
add(numbers, 1.0)
print(*numbers, len(add.signatures), total(numbers))
"""


@pytest.fixture
def run(tmp_path):
    """A function that runs a module and returns its output; all its processes share a cache."""

    def output(name, source):
        (tmp_path / "parts.py").write_text(PARTS)
        (tmp_path / f"{name}.py").write_text(source)
        paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        places = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        code = f"import {name}"
        done = subprocess.run([sys.executable, "-c", code], env=os.environ | places, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return output


def test_a_kernel_gets_machine_code_when_python_calls_it_and_the_cache_keeps_both_kinds_of_code(run):
    """Called by another kernel, it has intermediate code alone; another process and another caller find each kind."""
    first, second = run("one", CALLER + FROM_PYTHON)
    assert first == "caller add double total 9.0 3.0 3.0 3.0 [0, 0, 0, 1]"
    assert second == "add total 4.0 4.0 4.0 1 12.0"
    assert run("one", CALLER + FROM_PYTHON) == ["9.0 3.0 3.0 3.0 [0, 0, 0, 1]", "4.0 4.0 4.0 1 12.0"]
    assert run("other", CALLER) == ["caller 9.0 3.0 3.0 3.0 [0, 0, 0, 1]"]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_of_the_cache_are_made_again(run, tmp_path, suffix):
    first = run("one", CALLER)
    for path in (tmp_path / "cache").rglob(f"*.{suffix}"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert sorted(run("one", CALLER)[0].split()) == sorted(first[0].split())  # compiled again, with the same results
    assert run("one", CALLER) == ["9.0 3.0 3.0 3.0 [0, 0, 0, 1]"]
