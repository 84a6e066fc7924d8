import os
import subprocess
import sys
from pathlib import Path

import pytest

from plurispiel.abstraction.machine import jit

COMPILE_EVERYTHING = """
from plurispiel.abstraction.machine import jit
from plurispiel.abstraction.holdem import HUNL, LEDUC
from plurispiel.agents.specs import BUILT_IN, make_agent
from plurispiel.evaluation import check_agent
from plurispiel.tournaments.run.kernels import warmup
warmup()
for rules in (HUNL, LEDUC):  # what the agents call must be what was warmed up
    for name in BUILT_IN:
        check_agent(lambda: make_agent(name), [rules], num_hands=4, num_decks=2)
assert len(jit.KERNELS) > 20
for kernel in jit.KERNELS:
    name = f"{kernel.py_func.__module__}.{kernel.__name__}"
    if not kernel.targetoptions["forceinline"]:  # no signature if only kernels call it, and those came from the cache
        assert len(kernel.signatures) <= 1, (name, kernel.signatures)
assert sum(bool(kernel.signatures) for kernel in jit.KERNELS) > 20
compiled = list(jit.CACHE_FOLDER.rglob("*.nbc"))
assert len(compiled) > 20
for path in compiled:
    assert b"NRT_incref" not in path.read_bytes(), path.name
print(len(jit.KERNELS))
"""


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, timeout=900
    )


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_kernels_count_no_references_and_are_compiled_once():
    """In the cache that all tests share: its files name what their code calls."""
    done = run(COMPILE_EVERYTHING)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_files_of_the_cache_name_what_counts_references():
    code = (
        "import numba, numpy as np, pathlib;"
        "exec(compile('def twice(a): return a + a', 'twice.py', 'exec'));"
        "f = numba.njit(twice); f(np.ones(3)); print(b'NRT_incref' in f.overloads[f.signatures[0]].library"
        ".serialize_using_object_code()[2][0])"
    )
    assert run(code).stdout == "True\n"


def test_without_the_compiler_kernels_are_plain_functions():
    code = (
        "import numpy as np; from plurispiel.abstraction.holdem.playout import play_random_hands;"
        "from plurispiel.abstraction.holdem.rules import HUNL;"
        "import warnings; warnings.simplefilter('ignore');"
        "print(play_random_hands(HUNL, 20, np.random.SeedSequence(4)).payoffs.tolist())"
    )
    plain = run(code, NUMBA_DISABLE_JIT="1")
    compiled = run(code)
    assert plain.returncode == 0, plain.stderr
    assert plain.stdout == compiled.stdout


OLDER_NUMBA = """
import numba
real = numba.njit
def older(*functions, **options):
    if "_nrt" in options:
        raise KeyError("_nrt")
    return real(*functions, **options)
numba.njit = older
from plurispiel.abstraction.machine.jit import kernel
@kernel
def twice(number):
    return 2 * number
print(twice(4), *twice.targetoptions)
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_a_numba_without_the_private_flag_is_enough(tmp_path):
    (tmp_path / "older.py").write_text(OLDER_NUMBA)
    done = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import older", NUMBA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    value, *options = done.stdout.split()
    assert value == "8" and "nogil" in options and "_nrt" not in options


def test_digest_covers_every_kernel_source(tmp_path, monkeypatch):
    """A changed kernel in any of the four folders gives another cache folder; other files do not."""
    for folder in ("abstraction", "agents", "evaluation", "tournaments"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(jit, "__file__", str(tmp_path / "abstraction" / "machine" / "jit.py"))
    empty = jit.source_digest()
    kernel = tmp_path / "agents" / "x.py"
    kernel.write_text("from plurispiel.abstraction.machine.jit import kernel\n")
    first = jit.source_digest()
    kernel.write_text("from plurispiel.abstraction.machine.jit import kernel\nX = 1\n")
    (tmp_path / "agents" / "plain.py").write_text("X = 1\n")
    second = jit.source_digest()
    (tmp_path / "agents" / "plain.py").write_text("X = 2\n")
    assert len({empty, first, second}) == 3
    assert jit.source_digest() == second


def test_nobody_decorates_with_numba_directly():
    package = Path(jit.__file__).resolve().parents[2]
    for folder in ("abstraction", "agents", "evaluation", "tournaments"):
        for path in (package / folder).rglob("*.py"):
            if path.name != "jit.py":
                source = path.read_text()
                assert "numba" not in source.replace("numba-", "") or "njit" not in source, path


@pytest.fixture
def fallback_folder(tmp_path):
    """A function that returns the cache folder of a new process that cannot write to the usual one."""
    blocked, temporary = tmp_path / "file", tmp_path / "temporary"
    blocked.write_text("")
    temporary.mkdir()

    def start():
        code = "from plurispiel.abstraction.machine import jit; print(jit.CACHE_FOLDER)"
        done = run(code, NUMBA_CACHE_DIR=str(blocked / "x"), TMPDIR=str(temporary), TEMP=str(temporary))
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip())

    return start


def test_cache_folder_falls_back_when_it_cannot_be_written(fallback_folder):
    assert fallback_folder().name.startswith("plurispiel-kernels-")
    assert jit.source_digest() in fallback_folder().name  # here, too, changed kernels must not meet old code


SMALL = """
from plurispiel.abstraction.machine.jit import kernel
@kernel
def twice(number):
    return 2 * number
twice(4)
"""
READ_ONLY = """
import os
os.access = lambda path, mode: mode != os.W_OK  # root may write everywhere
from plurispiel.abstraction.machine import jit
import small
hits = [sum(kernel.stats.cache_hits.values()) for kernel in jit.KERNELS if kernel.signatures]
print(jit.CACHE_FOLDER, min(hits), len(hits))
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is no cache without the compiler")
def test_kernels_of_a_cache_that_cannot_be_written_are_used(tmp_path):
    """And those that it lacks are compiled beside it."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    (tmp_path / "small.py").write_text(SMALL)
    folders = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(temporary), "PYTHONPATH": str(tmp_path)}
    assert run("import small", **folders).returncode == 0
    kernels = sorted((tmp_path / "cache").rglob("*.nbc"))
    kept = [(path, path.stat().st_mtime_ns) for path in kernels]
    done = run(READ_ONLY, **folders)
    assert done.returncode == 0, done.stderr
    folder, fewest, count = done.stdout.split()
    assert folder.startswith(str(temporary))
    assert int(fewest) == 1 and int(count) > 0
    for path in kernels:
        path.unlink()
    done = run(READ_ONLY, **folders)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "0"
    assert kept and not list((tmp_path / "cache").rglob("*.nbc"))


NO_HOME = """
import os
from pathlib import Path
for name in ("NUMBA_CACHE_DIR", "PLURISPIEL_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
    os.environ.pop(name, None)
def home():
    raise RuntimeError("Could not determine home directory.")
Path.home = home
from plurispiel.abstraction.machine import jit
print(jit.CACHE_FOLDER)
"""


def test_cache_folder_falls_back_for_a_user_without_a_home():
    done = run(NO_HOME)
    assert done.returncode == 0, done.stderr
    assert "plurispiel-kernels-" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_a_temporary_cache_that_others_could_write_is_not_used(fallback_folder):
    own = fallback_folder()
    assert own == fallback_folder()
    own.chmod(0o777)
    other = fallback_folder()
    assert other != own
    assert other.stat().st_mode & 0o077 == 0
