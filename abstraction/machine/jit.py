"""The decorator by which numba compiles the project's kernels, and the folder of the compiled code.

Rules for a kernel:

* A kernel takes arrays, scalars and records, fills arrays in place, and never allocates. It can therefore be compiled
  with ``_nrt=False``, without the atomic reference counting of every array argument, and runs up to ten times faster.
* A kernel that other kernels call is compiled as a part of each of them (`inner_code`). If Python calls it too, it is
  also compiled by itself. No kernel calls itself.
* A kernel is called with C-contiguous arrays only. Unless it is inlined or meant for several dtypes, a kernel is called
  with one signature, so that it is compiled once; numba compiles a kernel for every signature.
* A kernel has no decorator but `kernel`, which keeps compiled code in a folder named by a hash (`source_digest`). numba
  itself does not notice a change in a function imported from another file, or in the fields of a record. The hash
  covers both.
* A record that a kernel takes is a class that derives from ``NamedTuple`` alone.
"""

import contextlib
import functools
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as _llvm
from numba.core import config as _config
from numba.core.caching import FunctionCache as _FunctionCache
from numba.core.caching import IndexDataCacheFile as _IndexDataCacheFile
from numba.core.caching import UserProvidedCacheLocator as _CacheLocator

from plurispiel.abstraction.machine.inner_code import KernelDispatcher

_FOLDERS = ("abstraction", "agents", "evaluation", "tournaments")
_ROOT = Path(__file__).resolve().parents[2]
"""The folder in which the four folders of the package lie side by side, installed or not."""

_IMPORT = re.compile(
    rb"^[ \t]*(?:from|import)[ ]+plurispiel\.([\w.]+)(?:[ ]+import[ ]+(\([^)]*\)|[^\n(]*))?", re.MULTILINE
)
_RECORD = re.compile(rb"^class (\w+)\(NamedTuple\):\n((?:[ \t]+\S.*\n|\n)+)", re.MULTILINE)
_FIELD = re.compile(rb"^[ \t]+(\w+):", re.MULTILINE)
_DOCSTRING = re.compile(rb'""".*?"""', re.DOTALL)

KERNELS: list[Any] = []
"""Every decorated kernel, in order of definition."""


@functools.cache
def _sources() -> dict[str, bytes]:
    """Return the source of every module of the package by path; paths are texts, which are quicker than `Path`."""
    found = {}
    for top in _FOLDERS:
        for folder, _, names in os.walk(_ROOT / top):
            for name in names:
                if name.endswith(".py"):
                    path = os.path.join(folder, name)
                    with open(path, "rb") as stream:
                        found[path] = stream.read()
    return found


@functools.cache
def _module(path: str) -> tuple[str, bytes, tuple[str, ...]]:
    """Return a module's name as a path, a hash of its source, and the modules of the package that it imports."""
    sources, root = _sources(), f"{_ROOT}{os.sep}"
    source = sources[path] if path in sources else Path(path).read_bytes()
    found: set[str] = set()
    for package, names in _IMPORT.findall(source):
        place = root + package.decode().replace(".", os.sep)
        for stem in (place, *(os.path.join(place, name) for name in re.findall(r"\w+", names.decode()))):
            found.update((f"{stem}.py", os.path.join(stem, "__init__.py")))
    return path.removeprefix(root), hashlib.sha256(source).digest(), tuple(found.intersection(sources))


@functools.cache
def records() -> dict[str, tuple[bytes, ...]]:
    """Return the names of the fields of every record in the package, by module and class."""
    found = {}
    for path, source in _sources().items():
        if b"(NamedTuple):" in source:
            for record, body in _RECORD.findall(source):
                fields = tuple(_FIELD.findall(_DOCSTRING.sub(b"", body)))
                found[f"{os.path.relpath(path, _ROOT)}:{record.decode()}"] = fields
    return found


@functools.cache
def _surroundings() -> bytes:
    """Return what compiled code depends on besides modules: the `records`, numba's version and the processor."""
    facts = (__name__, numba.__version__, _llvm.get_host_cpu_name(), sorted(records().items()))
    return repr(facts).encode()


def source_digest(path: Path) -> str:
    """Return 16 hexadecimal digits: a hash of all that the compiled code of a module's kernels depends on.

    These are the kernels' module and the module `jit`, with all modules of the package that the two import, directly or
    not; the fields of all `records`; numba's version and the processor. Equal digests mean equal compiled code,
    wherever the package lies.
    """
    modules = {str(path), str(Path(__file__).resolve())}
    new = modules
    while new:
        new = {file for module in new for file in _module(module)[2]} - modules
        modules |= new
    digest = hashlib.sha256(_surroundings())
    for name, source, _ in sorted(_module(module) for module in modules):
        digest.update(name.encode() + b"\0" + source)
    return digest.hexdigest()[:16]


def user_cache_folder() -> Path:
    """Return the folder for files that can be recomputed: PLURISPIEL_CACHE, else ``plurispiel`` in the user's cache."""
    if chosen := os.environ.get("PLURISPIEL_CACHE"):
        return Path(chosen)
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif os.uname().sysname == "Darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "plurispiel"


def _cache_folder() -> tuple[Path, Path | None]:
    """Return the folder of compiled code, and a read-only folder to whose files it links, or None.

    The folder ``kernels`` lies in NUMBA_CACHE_DIR, else in `user_cache_folder`. If ``kernels`` cannot be written, a
    temporary folder with links takes its place.
    """
    shared = None
    try:
        shared = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_folder()) / "kernels"
        shared.mkdir(parents=True, exist_ok=True)
        if os.access(shared, os.W_OK):
            return shared, None
    except (OSError, RuntimeError):  # RuntimeError: the user has no home folder
        pass
    return _temporary_cache_folder(), shared


def _temporary_cache_folder() -> Path:
    """Return a temporary folder that only this user can write to, because code found in a cache is executed."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"plurispiel-kernels-{user}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        found = folder.lstat()
        if os.name == "nt" or (stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="plurispiel-kernels-"))


CACHE_FOLDER, _READ_ONLY = _cache_folder()


@functools.cache
def _module_folder(source: Path) -> Path:
    """Return the folder of a module's compiled code, with links to the files of the read-only folder."""
    name = f"{source.stem}-{source_digest(source)}"
    folder = CACHE_FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    if _READ_ONLY is not None:
        with contextlib.suppress(OSError):
            for compiled in (_READ_ONLY / name).iterdir():
                with contextlib.suppress(FileExistsError):  # there is already a link, or a file by numba
                    (folder / compiled.name).symlink_to(compiled.absolute())
    return folder


class KernelLocator(_CacheLocator):
    """Where numba keeps a kernel's compiled code: in a folder that equal sources share, wherever they lie."""

    def get_cache_path(self) -> str:
        """Return the folder of the module's compiled code."""
        return str(_module_folder(Path(self._py_file).resolve()))

    @classmethod
    def from_function(cls, py_func: Callable, py_file: str) -> "KernelLocator":
        """Return the locator of a kernel in a file."""
        return cls(py_func, py_file)


class _KernelCacheFile(_IndexDataCacheFile):
    """The files of a kernel's cache; a damaged file, or one that names classes that are gone, counts as missing."""

    def _load_index(self) -> dict[Any, str]:
        try:
            found = super()._load_index()
        except Exception:  # damaged pickles raise anything
            return {}
        return found if isinstance(found, dict) else {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise OSError(f"{name} cannot be read") from error  # numba compiles the kernel again


class _KernelCache(_FunctionCache):
    """A kernel's cache that loads compiled code without the modules that numba needs to compile.

    Before numba loads code from its cache, it imports the modules for everything that it can compile, with parts of
    scipy. This takes a third of a second in every process. Code that counts no references needs none of these modules.
    numba imports them when it compiles a kernel that the cache lacks.
    """

    def __init__(self, py_func: Callable):
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = _KernelCacheFile(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature from the cache; None if the cache lacks it."""
        if not _COUNTS_NO_REFERENCES:
            return super().load_overload(sig, target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _options() -> dict[str, Any]:
    """Return the compile options, without the private option ``_nrt`` if this version of numba refuses it."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        numba.njit(_nrt=False)(lambda: None)
    except Exception:  # any type, as the option is private: without the option, kernels are slower but still correct
        return options
    return options | {"_nrt": False}


_OPTIONS = _options()
_COUNTS_NO_REFERENCES = "_nrt" in _OPTIONS


def kernel(function: Callable | None = None, *, inline: bool = False) -> Any:
    """Return `function` as a kernel, compiled or read from the cache on its first call.

    The compiled code releases the GIL and, if numba accepts ``_nrt=False``, counts no references. A float divided by
    zero gives infinity or NaN, not an error. With ``NUMBA_DISABLE_JIT=1`` the plain Python function is returned.

    Parameters
    ----------
    inline : bool
        Whether LLVM copies the kernel into every caller: right for small kernels called in the inner loops of others.
        In a call that is not inlined, a one-dimensional array is passed as seven machine words, and its entries
        cannot stay in registers. A kernel that ranks hands, called in such a loop, ran four times faster when inlined.
    """
    if function is None:
        return functools.partial(kernel, inline=inline)
    if _config.DISABLE_JIT:
        KERNELS.append(function)
        return function
    options = {"nopython": True, "boundscheck": None, "forceinline": inline, **_OPTIONS}
    compiled = KernelDispatcher(function, targetoptions=options)
    KERNELS.append(compiled)
    others = _config.CACHE_LOCATOR_CLASSES
    _config.CACHE_LOCATOR_CLASSES = f"{__name__}.{KernelLocator.__name__}"  # for this kernel only
    try:
        compiled._cache = _KernelCache(function)  # in place of ``cache=True``
    finally:
        _config.CACHE_LOCATOR_CLASSES = others
    return compiled
