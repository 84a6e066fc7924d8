"""The only numba decorator of the project, and the folder of its compiled code.

Rules for a kernel:

* A kernel takes arrays and scalars, fills arrays in place, and never allocates. It can therefore be compiled with
  ``_nrt=False``, without the atomic reference counting of every array argument, and runs up to ten times faster.
* A kernel is called with C-contiguous arrays only. Unless it is inlined, a kernel is called with one signature, so that
  it is compiled once; numba compiles an inlined kernel for every signature.
* A kernel has no decorator of numba but `kernel`. numba does not notice a change in a function imported from another
  file, so the cache folder is named by a hash of all kernel sources (`source_digest`).
"""

import contextlib
import functools
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from llvmlite import binding as _llvm
from numba.core import config as _config

_FOLDERS = ("abstraction", "agents", "evaluation", "tournaments")

KERNELS: list[Any] = []
"""Every decorated kernel, in order of definition."""


def source_digest() -> str:
    """Return the 16 hexadecimal digits that name the cache folder: a hash of kernel sources, numba and processor."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]  # the four folders lie side by side, installed or not
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            source = path.read_bytes()
            if b"abstraction.machine.jit import" in source or path.name == "jit.py":
                digest.update(path.name.encode() + b"\0" + source)
    digest.update(__name__.encode())  # compiled code names the module in which it was made
    digest.update(f"{numba.__version__} {_llvm.get_host_cpu_name()}".encode())
    return digest.hexdigest()[:16]


def user_cache_folder() -> Path:
    """Return the folder for files that can be recomputed: PLURISPIEL_CACHE, else ``plurispiel`` among the caches."""
    if chosen := os.environ.get("PLURISPIEL_CACHE"):
        return Path(chosen)
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif os.uname().sysname == "Darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "plurispiel"


def _use_cache_folder() -> Path:
    """Make numba cache kernels in a folder named by `source_digest`, and return the folder.

    The folder lies in NUMBA_CACHE_DIR, else in `user_cache_folder`. If the folder is read-only, a temporary folder with
    links to the kernels in the read-only one takes its place.
    """
    digest = source_digest()
    shared = None
    try:
        folder = shared = Path(os.environ.get("NUMBA_CACHE_DIR") or user_cache_folder() / "kernels") / digest
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise OSError
    except (OSError, RuntimeError):  # RuntimeError: the user has no home folder
        folder = _temporary_cache_folder(digest)
        if shared is not None:
            _link_kernels(shared, folder)
    _config.CACHE_DIR = str(folder)
    return folder


def _link_kernels(shared: Path, folder: Path) -> None:
    """Fill a folder with links to the kernels of a read-only folder; numba replaces a link when it writes a file."""
    with contextlib.suppress(OSError):
        for place, _, names in os.walk(shared):
            here = folder / Path(place).relative_to(shared)
            here.mkdir(exist_ok=True)
            for name in names:
                with contextlib.suppress(FileExistsError):
                    (here / name).symlink_to(Path(place, name).absolute())


def _temporary_cache_folder(digest: str) -> Path:
    """Return a temporary folder that only this user can write to, because code found in a cache is executed."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"plurispiel-kernels-{user}-{digest}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        found = folder.lstat()
        if os.name == "nt" or (stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o022):
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="plurispiel-kernels-"))


CACHE_FOLDER = _use_cache_folder()


def _options() -> dict[str, Any]:
    """Return the compile options, without the private option ``_nrt`` if this version of numba refuses it."""
    options: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
    try:
        numba.njit(_nrt=False)(lambda: None)
    except Exception:  # any type, as the option is private: without the option, kernels are slower but still correct
        return options
    return options | {"_nrt": False}


_OPTIONS = _options()


def kernel(function: Callable | None = None, *, inline: bool = False) -> Any:
    """Return `function` as a kernel, compiled on its first call.

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
    compiled = numba.njit(**_OPTIONS, forceinline=inline)(function)
    KERNELS.append(compiled)
    return compiled
