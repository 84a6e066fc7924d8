import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import plurispiel
from plurispiel.abstraction.holdem.hand_ranks import warmup
from plurispiel.abstraction.holdem.playout import play_random_hands
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine import jit

MORE_TYPES = {  # regrets are int32 or float64, the rows of a blueprint float32, bytes or both
    "plurispiel.agents.blueprint.traversal_kernels": dict.fromkeys(
        ("run_iterations", "discount_cells", "traverse_betting", "add_strategy"), 2
    ),
    "plurispiel.agents.blueprint._blueprint_kernels": {"fill_rows": 3}
    | dict.fromkeys(("read_rows", "count_rows", "sum_regrets", "play_hands", "meet_rows", "reach_rows"), 2),
    "plurispiel.agents.blueprint._round_kernels": dict.fromkeys(("open_rounds", "close_rounds"), 2),
    "plurispiel.agents.blueprint.roll_out_kernels": {"turn_rows": 2, "add_values": 3},
    "plurispiel.evaluation._blueprint_values_kernels": {"answer_questions": 2},
}
"""The most signatures of the kernels that may have more than one, by module."""

COMPILE_EVERYTHING = (
    f"""
MORE_TYPES = {MORE_TYPES!r}
"""
    + """
from plurispiel.abstraction.machine import jit
from plurispiel.abstraction.holdem import HUNL, LEDUC
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import BUILT_IN
from plurispiel.evaluation import check_agent
from plurispiel.tournaments.run.kernels import warmup
warmup()
for rules in (HUNL, LEDUC):  # what the agents call must be what was warmed up
    for name in BUILT_IN:
        check_agent(lambda: make_agent(name), [rules], num_hands=4, num_decks=2)
assert len(jit.KERNELS) > 20
for kernel in jit.KERNELS:
    module, name = kernel.py_func.__module__, kernel.__name__
    if not kernel.targetoptions["forceinline"]:  # no signature if only kernels call it, and those came from the cache
        most = MORE_TYPES.get(module, {}).get(name, 1)
        assert len(kernel.signatures) <= most, (module, name, kernel.signatures)
assert sum(bool(kernel.signatures) for kernel in jit.KERNELS) > 20
def classes(types):
    for each in types:
        if hasattr(each, "instance_class"):
            yield each.instance_class
        yield from classes(getattr(each, "types", ()))
met = set()
for kernel in jit.KERNELS:
    met.update(classes(kernel.signatures[0] if kernel.signatures else ()))
assert len(met) > 20
for record in met:  # compiled code depends on the order of the fields
    module = record.__module__.removeprefix("plurispiel.").replace(".", "/")
    found = jit.records()[f"{module}.py:{record.__name__}"]
    assert tuple(name.decode() for name in found) == record._fields, record
compiled = list(jit.CACHE_FOLDER.rglob("*.nbc"))
assert len(compiled) > 20
for path in compiled:
    assert b"NRT_incref" not in path.read_bytes(), path.name
print(len(jit.KERNELS))
"""
)


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
    twice = numba.njit(lambda numbers: numbers + numbers)
    twice(np.ones(3))
    code = twice.overloads[twice.signatures[0]].library.serialize_using_object_code()[2][0]
    assert b"NRT_incref" in code


def test_without_the_compiler_kernels_are_plain_functions():
    code = (
        "import numpy as np; from plurispiel.abstraction.holdem.playout import play_random_hands;"
        "from plurispiel.abstraction.holdem.rules import HUNL;"
        "import warnings; warnings.simplefilter('ignore');"
        "print(play_random_hands(HUNL, 20, np.random.SeedSequence(4)).payoffs.tolist())"
    )
    plain = run(code, NUMBA_DISABLE_JIT="1")
    assert plain.returncode == 0, plain.stderr
    compiled = play_random_hands(HUNL, 20, np.random.SeedSequence(4)).payoffs.tolist()
    assert plain.stdout == f"{compiled}\n"


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


def test_digest_covers_a_module_and_all_that_it_imports(tmp_path, monkeypatch):
    """Wherever the package lies; other modules do not change it."""

    def package(name):
        holdem = tmp_path / name / "abstraction" / "holdem"
        holdem.mkdir(parents=True)
        (holdem / "__init__.py").write_text("from plurispiel.abstraction.holdem.rules import SUITS\n")
        (holdem / "rules.py").write_text("SUITS = 4\n")
        (holdem / "plain.py").write_text("X = 1\n")
        (holdem / "lanes.py").write_text("def f():\n    import plurispiel.evaluation.units\n")
        (tmp_path / name / "evaluation").mkdir()
        (tmp_path / name / "evaluation" / "units.py").write_text("MILLI = 1000\n")
        (holdem / "x.py").write_text(
            "from plurispiel.abstraction.holdem import (\n    SUITS,\n)\n"
            "from plurispiel.abstraction.holdem import lanes\n"
        )
        return tmp_path / name

    def digest(root):
        monkeypatch.setattr(jit, "_ROOT", root)
        forget_sources()
        return jit.source_digest(root / "abstraction" / "holdem" / "x.py")

    one, other = package("one"), package("other")
    before = digest(one)
    assert digest(other) == before
    (one / "abstraction" / "holdem" / "plain.py").write_text("X = 2\n")
    assert digest(one) == before
    seen = {before}
    for name in ("holdem/x.py", "holdem/__init__.py", "holdem/rules.py", "holdem/lanes.py", "../evaluation/units.py"):
        with (one / "abstraction" / name).open("a") as file:
            file.write("# changed\n")
        seen.add(digest(one))
    (one / "abstraction" / "holdem" / "plain.py").write_text(
        'class Pot(NamedTuple):\n    """Chips."""\n\n    chips: int\n'
    )
    seen.add(digest(one))
    (one / "abstraction" / "holdem" / "plain.py").write_text("class Pot(NamedTuple):\n    chips: int\n    seats: int\n")
    seen.add(digest(one))
    assert len(seen) == 8
    forget_sources()


def forget_sources():
    for known in (jit._sources, jit._module, jit.records, jit._surroundings):
        known.cache_clear()


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


OTHER_PLACE = """
from plurispiel.abstraction.holdem.hand_ranks import warmup
from plurispiel.abstraction.machine import jit
warmup()
hits = [sum(kernel.stats.cache_hits.values()) for kernel in jit.KERNELS if kernel.signatures]
print(jit.__file__, min(hits), len(hits))
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is no cache without the compiler")
def test_another_copy_of_the_package_loads_what_this_one_has_compiled(tmp_path):
    warmup()
    package = tmp_path / "plurispiel"
    here = Path(plurispiel.__file__).parent
    package.mkdir()
    shutil.copy(here / "__init__.py", package)
    for folder in ("abstraction", "agents", "evaluation", "tournaments"):
        shutil.copytree(here / folder, package / folder, ignore=shutil.ignore_patterns("bots", "__pycache__"))
    done = run(OTHER_PLACE, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    file, fewest, count = done.stdout.split()
    assert file.startswith(str(tmp_path))
    assert int(fewest) == 1 and int(count) > 0


FROM_THE_CACHE = """
import sys
from plurispiel.abstraction.holdem.hand_ranks import warmup
warmup()
print("numba.np.arraymath" in sys.modules)
from plurispiel.abstraction.machine.jit import KERNELS, kernel
assert all(not kernel.stats.cache_misses for kernel in KERNELS)
@kernel
def total(numbers):
    return numbers.sum()
import numpy as np
print(total(np.ones(3)), "numba.np.arraymath" in sys.modules)
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there is no cache without the compiler")
def test_a_kernel_in_the_cache_is_loaded_without_what_compiles(tmp_path):
    """And another kernel is compiled after that all the same."""
    (tmp_path / "loads.py").write_text(FROM_THE_CACHE)
    warmup()
    done = run(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import loads")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", "3.0", "True"]


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


def test_the_cache_falls_back_on_a_temporary_folder_but_not_on_one_that_others_could_write(fallback_folder):
    own = fallback_folder()
    assert own.name.startswith("plurispiel-kernels-") and own == fallback_folder()
    if os.name == "nt":
        pytest.skip("no such permissions")
    own.chmod(0o777)
    other = fallback_folder()
    assert other != own
    assert other.stat().st_mode & 0o077 == 0
