"""The sandbox of isolated agents: Linux namespaces made by bubblewrap.

Inside, an agent sees the interpreter with the system's programs and libraries, this package, compiled kernels,
blueprints, bucket tables, cached game trees and the agent's own folder, all read-only. It also sees private folders to
write into, which are empty at first. It sees no processes from outside, no home folder, and no files of the run, of
other runs or of its *rivals*, the other agents of the tournament. It has no network by default.

Each path is mounted under the same name as outside, with the symbolic links that lead to it, so that virtual
environments, pyenv, conda and editable installs work. A *masked* path is covered by an empty folder or file. Deeper
paths are mounted later. Therefore a mask inside a visible folder hides its target, and a folder that is mounted inside
a masked folder is visible.
"""

import collections
import dataclasses
import functools
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import plurispiel
from plurispiel.abstraction.machine import jit
from plurispiel.abstraction.machine.folders import blueprints_folder, tables_folder, user_data_folder
from plurispiel.agents.agent_files import agent_files, program_of
from plurispiel.agents.programs import RUN_FILES, Program
from plurispiel.agents.specs import parse_spec

CHOICES = ("auto", "bwrap", "none")

PRIVATE = Path("/tmp/contestant")
"""Home of an isolated agent, and current folder of agents in Python.

The folder is in memory, and vanishes with the process.
"""

_NAMESPACES = (
    *("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session"),
    *("--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"),
)
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    "/etc/hosts",  # the name localhost, by which bots connect to their relay
)
_NETWORK = tuple(f"/etc/{name}" for name in ("resolv.conf", "nsswitch.conf", "ssl", "pki", "ca-certificates"))
_CACHED = ("blueprints", "trees", "flop-buckets")  # folders of the user's cache that agents may read
_PASSED_ON = ("PATH", "LANG", "LANGUAGE", "TZ", "PYTHONPATH", "PYTHONHASHSEED", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_PASSED_ON_FAMILIES = ("LC_", "NUMBA_", "OMP_", "OPENBLAS_", "MKL_")
_NO_RUNS = (".git", "__pycache__", "node_modules")
_MAX_ENTRIES = 20_000  # the search for runs ends after this many files and folders, in about 0.1 s
_TRIAL_S = 30.0  # seconds for the trial start of a sandbox


class SandboxBroken(ValueError):
    """The sandbox does not work on this machine; the message gives the cause."""


@dataclass(frozen=True)
class Sandbox:
    """A sandbox for the isolated agents of one run.

    Attributes
    ----------
    options : tuple of str
        Namespace options of bubblewrap.
    readable : tuple of str
        Folders and files that every agent may read, because the interpreter needs them.
    is_bounded : bool
        Whether private folders have a size limit; old versions of bubblewrap cannot set one.
    network : bool
        Whether agents have network access.
    hidden : tuple of str
        Folders and files of the run, masked for all agents.
    """

    options: tuple[str, ...]
    readable: tuple[str, ...]
    is_bounded: bool = True
    network: bool = False
    hidden: tuple[str, ...] = ()

    name = "bwrap"

    def hiding(self, *paths: Path) -> "Sandbox":
        """Return a copy of this sandbox that also masks the given folders and files."""
        return dataclasses.replace(self, hidden=(*self.hidden, *(str(path.resolve()) for path in paths)))

    def command(
        self, program: Sequence[str], spec: str, rivals: Sequence[str] = (), mebibytes: int = 1024
    ) -> list[str]:
        """Return the command that starts a program in an agent's sandbox.

        Parameters
        ----------
        program : sequence of str
            The command to start.
        spec : str
            The agent's spec. The folder of the agent's code is visible, or the stored agent's artefact and networks.
        rivals : sequence of str
            Specs of agents whose files are masked.
        mebibytes : int
            Size limit of each private folder, in MiB.
        """
        cache = jit.user_cache_folder().resolve()
        private = {PRIVATE.parent, Path("/dev/shm"), cache}
        masked = {Path(path) for path in self.hidden} | {user_data_folder().resolve() / "runs"}
        readable: dict[Path, str | None] = {}  # by path: the target of a symbolic link, None for other paths
        masked |= {run for path in _searched(spec, masked, self.readable) for run in _run_folders(path)}
        for path in (*map(Path, self.readable), *_own_paths(spec, masked), *_stored(cache)):
            readable.update(_way_to(path))
        masked |= {path for rival in rivals for path in _files(rival)} - {path for path in _files(spec)}
        size = ["--size", str(mebibytes << 20)] if self.is_bounded else []
        # Folders become read-only at the end, when all mount points inside them have been created.
        arguments, at_last = ["bwrap", *self.options], ["--remount-ro", "/dev", "--remount-ro", "/"]
        done: dict[Path, str] = {}  # "shown", "private" or "masked", by path
        for path in sorted({*readable, *private, *masked}, key=lambda path: (len(path.parts), path)):
            around = next((done[folder] for folder in path.parents if folder in done), "")
            text = str(path)
            if path in masked:
                if around == "shown" and path.exists():
                    arguments += ["--tmpfs", text] if path.is_dir() else ["--ro-bind", os.devnull, text]
                    at_last += ["--remount-ro", text] if path.is_dir() else []
                    done[path] = "masked"
            elif path in private:
                if around != "shown" or path.exists():
                    arguments += [*size, "--tmpfs", text]
                    done[path] = "private"
            elif around != "shown":
                target = readable[path]
                arguments += ["--ro-bind", text, text] if target is None else ["--symlink", target, text]
                done[path] = "shown"
        return [*arguments, "--dir", str(PRIVATE), *at_last, "--chdir", str(PRIVATE), "--", *program]

    def environment(self) -> dict[str, str]:
        """Return the environment variables of an isolated agent: only those that Python and this package need."""
        passed = {
            name: value
            for name, value in os.environ.items()
            if name in _PASSED_ON or name.startswith(_PASSED_ON_FAMILIES)
        }
        if "PYTHONPATH" in passed:
            passed["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, passed["PYTHONPATH"].split(os.pathsep)))
        folders = {
            "NUMBA_CACHE_DIR": jit.CACHE_FOLDER.parent,
            "PLURISPIEL_CACHE": jit.user_cache_folder(),
            "PLURISPIEL_HOME": user_data_folder(),
        }
        return (
            passed
            | {name: str(folder.resolve()) for name, folder in folders.items()}
            | {"HOME": str(PRIVATE), "TMPDIR": str(PRIVATE.parent)}
            | dict.fromkeys(("USER", "LOGNAME"), "contestant")
        )


def working_sandbox(choice: str, *, network: bool = False) -> Sandbox | None:
    """Return a sandbox that has passed a trial start; None if agents run without one.

    Parameters
    ----------
    choice : {"auto", "bwrap", "none"}
        ``auto`` is ``bwrap`` where bubblewrap works, elsewhere ``none``.
    network : bool
        Whether agents may use the network.

    Raises
    ------
    SandboxBroken
        If `choice` is ``bwrap`` and bubblewrap does not work; this exception is a ValueError.
    ValueError
        If there is no such choice.
    """
    if choice not in CHOICES:
        raise ValueError(f"sandbox must be one of {', '.join(CHOICES)}, got {choice!r}")
    if choice == "none":
        return None
    try:
        return _tried(network, shutil.which("bwrap"))
    except SandboxBroken as cause:
        if choice == "auto":
            return None
        raise SandboxBroken(
            f"the sandbox bwrap does not work here: {cause}; ask for the sandbox auto or none instead"
        ) from None


def unprotected(choice: str) -> str:
    """Return the warning that agents run without a sandbox, with the cause and the dangers.

    Parameters
    ----------
    choice : {"auto", "none"}
        As in `working_sandbox`.
    """
    cause = "as asked"
    if choice != "none":
        try:
            _tried(False, shutil.which("bwrap"))
        except SandboxBroken as error:
            cause = str(error)
    return (
        f"no sandbox ({cause}): agents can read the seed on the command line and the key in the run folder, "
        "change the files of the run and of other agents, and use the network"
    )


@functools.cache
def _tried(network: bool, bwrap: str | None) -> Sandbox:
    """Return the first sandbox, of several choices of options, in which this interpreter starts.

    `bwrap` is the path of bubblewrap; None if bubblewrap is not installed.
    """
    if sys.platform != "linux":
        raise SandboxBroken("bubblewrap is for Linux")
    if bwrap is None:
        raise SandboxBroken("bubblewrap (bwrap) is not installed")
    readable = tuple(_interpreter_paths()) + (_NETWORK if network else ())
    words = ""  # the message of the first attempt
    net = () if network else ("--unshare-net",)
    # Root needs no user namespace and may be refused one; old versions of bubblewrap have no --size.
    for user, is_bounded in ((("--unshare-user",), True), ((), True), (("--unshare-user",), False), ((), False)):
        sandbox = Sandbox((*user, *net, *_NAMESPACES), readable, is_bounded, network)
        program = [sys.executable, "-P", "-c", "import plurispiel"]
        try:
            done = subprocess.run(
                sandbox.command(program, "call"),
                env=sandbox.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TRIAL_S,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SandboxBroken(str(error)) from None
        if done.returncode == 0:
            return sandbox
        words = words or (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    raise SandboxBroken(_cause(words))


def _cause(words: str) -> str:
    """Return bubblewrap's message `words`, preceded by the cause of the failure if the system's settings show it."""
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1" and os.getuid():
        return (
            "AppArmor forbids user namespaces here, as on Ubuntu 24.04 (kernel.apparmor_restrict_unprivileged_userns): "
            + words
        )
    if _setting("user/max_user_namespaces") == "0" or _setting("kernel/unprivileged_userns_clone") == "0":
        return f"user namespaces are switched off here: {words}"
    if "container" in os.environ or any(map(os.path.exists, ("/.dockerenv", "/run/.containerenv"))):
        return f"this container forbids namespaces: {words}"
    return words


def _setting(name: str) -> str:
    """Return a kernel setting as text; empty if the kernel has no setting of that name."""
    try:
        return Path("/proc/sys", name).read_text().strip()
    except OSError:
        return ""


def _interpreter_paths() -> Iterator[str]:
    """Yield the paths that the interpreter reads: its program, modules, this package, shared libraries."""
    yield from _SYSTEM
    # A new interpreter lists the paths, because the running one may have added the current folder and other paths.
    code = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path]))"
    done = subprocess.run([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        folders = json.loads(done.stdout)
    except ValueError:
        raise SandboxBroken(f"{sys.executable} does not start") from None
    package = Path(plurispiel.__file__).parent
    parts = (package, *(package / name for name in ("abstraction", "agents", "evaluation", "tournaments")))
    with open("/proc/self/maps") as stream:
        libraries = {os.path.dirname(line.split(maxsplit=5)[5].strip()) for line in stream if ".so" in line}
    executable = os.path.dirname(sys.executable)
    for path in (*folders, *map(str, parts), *sorted(libraries), executable):
        if os.path.isabs(path) and not _is_above_home(Path(path)):
            yield path


def _is_above_home(folder: Path) -> bool:
    """Return whether a folder equals or contains the user's home or the private folder `PRIVATE`."""
    return any(home.is_relative_to(folder.resolve()) for home in (_home(), PRIVATE))


def _home() -> Path:
    try:
        return Path.home().resolve()
    except RuntimeError:  # a user without a home folder
        return PRIVATE


def _own_paths(spec: str, masked: Set[Path]) -> Iterator[Path]:
    """Yield the paths of an agent's own code and data.

    A stored agent has its artefact and its networks, if the spec names them. An agent from outside has the folder of
    its code. If this folder is masked, or `_is_above_home`, only its Python files and the agent's own package are
    yielded.
    """
    parsed = parse_spec(spec)
    if parsed.is_stored and parsed.argument:
        yield Path(parsed.argument)
    yield from map(Path, parsed.net_folders.values())
    if parsed.is_program:
        yield from _program_paths(program_of(spec), masked)
        return
    if parsed.is_stored or not parsed.is_foreign or (parsed.name == "openspiel" and not parsed.file):
        return
    folder = Path(parsed.file).resolve().parent if parsed.file else Path.cwd()
    if not _is_above_home(folder) and folder not in masked:
        yield folder
    else:
        yield from folder.glob("*.py")
        yield folder / (parsed.file or parsed.name).partition(".")[0]  # the package of a MODULE:CLASS
    if parsed.file:
        yield Path(parsed.file)


def _program_paths(program: Program, masked: Set[Path]) -> Iterator[Path]:
    """Yield the paths of a program: its files with their folders, folders that it names, and where it is installed.

    Folders that are masked or `_is_above_home` are left out, and so are files in masked folders, except the program
    itself. A file's folder is also left out if it contains the folder to which the arguments are relative.
    """

    def is_masked(path: Path) -> bool:
        return not masked.isdisjoint((path.resolve(), *path.resolve().parents))

    above = program.folder.resolve().parents
    folders = [path.parent for path in program.files if path.resolve().parent not in above]
    folders += [*program.folders, *([program.folder] if program.is_placed else [])]
    yield from (folder for folder in folders if not _is_above_home(folder) and not is_masked(folder))
    yield from (path for path in program.files if path == program.file or not is_masked(path))
    environment = program.file.parent.parent
    if not program.is_installed and (environment / "pyvenv.cfg").is_file():  # the interpreter of a virtual environment
        yield environment
    if program.is_installed:
        prefix = program.file.parent.parent if program.file.parent.name == "bin" else program.file
        yield program.file if _is_above_home(prefix) else prefix


def _searched(spec: str, masked: Set[Path], readable: Sequence[str]) -> Iterator[Path]:
    """Yield the folders that are searched for runs: the agent's own, and the package's, which may be a checkout."""
    known = {Path(path).resolve() for path in readable}
    yield Path(plurispiel.__file__).resolve().parent
    for path in _own_paths(spec, masked):
        if path.is_dir() and known.isdisjoint(((real := path.resolve()), *real.parents)):
            yield real


def _run_folders(folder: Path) -> Iterator[Path]:
    """Yield the run folders in a folder, itself included; symbolic links are not followed.

    Upper folders come first, and the search ends after `_MAX_ENTRIES` files and folders.
    """
    folders, num_entries = collections.deque([folder]), 0
    while folders and num_entries < _MAX_ENTRIES:
        here = folders.popleft()
        try:
            with os.scandir(here) as entries:
                found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:
            continue
        num_entries += len(found)
        if not found.keys().isdisjoint(RUN_FILES):
            yield here
        else:
            folders += (here / name for name, is_folder in found.items() if is_folder and name not in _NO_RUNS)


def _is_interpreter(path: Path) -> bool:
    """Return whether a file belongs to the system or to this Python: other agents need it, so it is not masked."""
    return any(path.is_relative_to(folder) for folder in (*_SYSTEM, sys.prefix, sys.base_prefix))


def _files(spec: str) -> Iterator[Path]:
    """Yield the files and folders of an agent's code and compiled copies; nothing for an agent without files."""
    paths = agent_files(spec)
    if parse_spec(spec).is_program:
        paths = [path for path in (*paths, *program_of(spec).folders) if not _is_interpreter(path.resolve())]
    for source in dict.fromkeys(found for path in paths for found in (Path(os.path.abspath(path)), path.resolve())):
        yield source
        compiled = Path(importlib.util.cache_from_source(str(source)))
        yield from compiled.parent.glob(glob.escape(source.stem) + ".*.pyc")


def _stored(cache: Path) -> Iterator[Path]:
    """Yield the folders of compiled kernels, bucket tables and trained blueprints, and the content of `_CACHED`.

    Hidden names are left out: files that another process writes have them (`files.py`), and vanish.
    """
    yield from (jit.CACHE_FOLDER, tables_folder(), blueprints_folder())
    for name in _CACHED:
        yield from (cache / name).glob("[!.]*")


def _way_to(path: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield the symbolic links that lead to a path, each with its target, and finally the real path with None.

    The real path is left out if it does not exist.
    """
    path = Path(os.path.abspath(path))
    for _ in range(40):  # the kernel follows no more links either
        link = next((part for part in (*reversed(path.parents), path) if part.is_symlink()), None)
        if link is None:
            break
        target = os.readlink(link)
        yield link, target
        path = Path(os.path.normpath(link.parent / target)) / path.relative_to(link)
    if path.exists():
        yield path, None
