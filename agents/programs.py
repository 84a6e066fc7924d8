"""Agents that are programs in any language: the command in a spec like ``stdio:./bot --depth 3?seconds=2&cwd=bots``.

The command is split into words as a shell splits it, and nothing else of a shell applies. A program with a slash in its
name is a file, relative to the current folder; any other name is looked up on the ``PATH``. The program starts in the
folder ``cwd``. Without ``cwd`` it starts in one of three folders:

- the folder of the first file that the command names;
- the current folder, if the command names folders but no file;
- if the command names neither a file nor a folder: an empty folder in a sandbox, the current folder without a sandbox.

Arguments that name files or folders are relative to ``cwd`` if the spec has it, and otherwise to the current folder.
Without ``cwd``, files become absolute paths, and so do folders if the program does not start in the current folder. An
argument may also be a list of paths with colons between them, such as the class path of Java.

For a command that is written relative to another folder, such as that of a settings file, `relocated_command` joins
that folder to the option ``cwd``. A spec without ``cwd`` gets it as the option ``base``. In the values of ``cwd`` and
``base``, the characters & and ?, which mean something else in a spec, are written ``%26`` and ``%3F``.
"""

import contextlib
import hashlib
import math
import os
import shlex
import shutil
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "RUN_FILES",
    "Program",
    "find_program",
    "positive_number",
    "program_file",
    "relocated_command",
    "split_command",
    "titled_command",
]

RUN_FILES = ("run.key", "run.sqlite")
"""A folder with one of these files is a run folder: it belongs to no agent, even if a command names it."""

_OPTIONS = ("seconds", "cwd")
_BASE = "base"  # an option that only `relocated_command` writes
_MAX_HASHED = 1 << 28  # bytes of the files in an agent's folders; hashing them takes about a second


@dataclass(frozen=True)
class Program:
    """A program with its arguments.

    Attributes
    ----------
    file : Path
        The absolute path of the program.
    arguments : tuple of str
        The words after the program, as written.
    folder : Path
        The absolute path of the folder to which the arguments are relative.
    seconds : float
        Longest time for an answer, in seconds; infinite if the spec sets none.
    is_installed : bool
        Whether the program was found on the ``PATH``, and therefore belongs to the system rather than to the agent.
    is_placed : bool
        Whether the program is started in `folder`, whatever its arguments name, as with the option ``cwd``. The folder
        then belongs to the agent.
    """

    file: Path
    arguments: tuple[str, ...]
    folder: Path
    seconds: float
    is_installed: bool
    is_placed: bool

    @property
    def start(self) -> Path | None:
        """The folder in which the program is started.

        It is `folder` if the program is placed, otherwise the folder of the first of `files`, or `folder` if its
        command names only folders. None if the program is not placed and its command names neither a file nor a folder.
        """
        if self.is_placed:
            return self.folder
        return next((path.parent for path in self.files), self.folder if self.folders else None)

    @property
    def command(self) -> list[str]:
        """The program's absolute path and its arguments.

        The arguments of a placed program are as written. Otherwise files become absolute paths, and folders too if
        the program is not started in `folder`.
        """
        if self.is_placed:
            return [str(self.file), *self.arguments]
        return [str(self.file), *map(self._found, self.arguments)]

    @property
    def folders(self) -> list[Path]:
        """The folders that the arguments name; neither `folder` nor the folders above it count, nor run folders."""
        here = self.folder.resolve()
        return [path for path in self._named if _is_own_folder(path) and not here.is_relative_to(path.resolve())]

    @property
    def files(self) -> list[Path]:
        """The agent's own files: the program unless it is installed, and the arguments that name files."""
        return [*([] if self.is_installed else [self.file]), *filter(_is_file, self._named)]

    @property
    def digest(self) -> str:
        """SHA-256 of the program, of its arguments, and of the files and folders that the arguments name.

        At most 256 MiB of the folders' files are hashed. A file that would exceed this limit counts with its place in
        the folder and its size only.

        Raises
        ------
        ValueError
            If a file cannot be read.
        """
        digest = hashlib.sha256()
        for path in dict.fromkeys((self.file, *self.files)):
            digest.update(hashlib.sha256(_bytes(path)).digest())
        left = _MAX_HASHED
        places = {found: found.relative_to(folder) for folder in self.folders for found in _files_below(folder)}
        for path, place in places.items():
            size = _size(path)
            digest.update(f"{place.as_posix()}\0{size}\0".encode(errors="surrogateescape"))
            if size <= left:
                digest.update(_bytes(path))
                left -= size
        digest.update("\0".join(self.arguments).encode(errors="surrogateescape"))
        return digest.hexdigest()

    @property
    def _named(self) -> list[Path]:
        """Absolute paths of the files and folders that the arguments may name; they need not exist."""
        return [self._path(part) for word in self.arguments for part in self._parts(word) if part]

    def _path(self, word: str) -> Path:
        return Path(os.path.abspath(self.folder / word))

    def _parts(self, word: str) -> list[str]:
        """Return the paths in an argument that lists several; any other argument is a single part."""
        return [word] if _is_file(self._path(word)) else word.split(os.pathsep)

    def _found(self, word: str) -> str:
        """Return an argument, with absolute paths for files, and for folders if the program is started elsewhere."""
        paths = {*self.files, *(self.folders if self.start != self.folder else [])}
        return os.pathsep.join(
            str(self._path(part)) if part and self._path(part) in paths else part for part in self._parts(word)
        )


def split_command(command: str) -> list[str]:
    """Return the words of a command.

    Raises
    ------
    ValueError
        If there is no word, or a quotation mark is not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"the command {command!r} cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise ValueError(f"a program is written stdio:PROGRAM [ARGUMENTS], got the command {command!r}")
    return words


def find_program(command: str, options: Mapping[str, str]) -> Program:
    """Return the program of a command.

    Raises
    ------
    ValueError
        If there is no such program or folder, the program is not executable, or an option is unknown or malformed.
    """
    word, *arguments = split_command(command)
    if unknown := [name for name in options if name not in (*_OPTIONS, _BASE)]:
        raise ValueError(f"a program takes the options {', '.join(_OPTIONS)}, got {unknown[0]} with {command!r}")
    base = Path(_decoded(options.get(_BASE, "")))
    folder = Path(os.path.abspath(base / _decoded(options.get("cwd", ""))))
    if not folder.is_dir():
        raise ValueError(f"no folder {str(folder)!r} to start {word!r} in; cwd must name a folder")
    seconds = positive_number("seconds", options.get("seconds"))
    return Program(program_file(word), tuple(arguments), folder, seconds, os.sep not in word, "cwd" in options)


def program_file(word: str, folder: Path = Path()) -> Path:
    """Return the absolute path of the program that the first word of a command names.

    Parameters
    ----------
    word : str
        A file if it has a slash, otherwise the name of a program on the ``PATH``.
    folder : Path
        The folder to which a file is relative, by default the current folder.

    Raises
    ------
    ValueError
        If there is no such program, or it is not executable.
    """
    place = "current folder" if folder == Path() else f"folder {str(folder)!r}"
    if os.sep not in word:
        found = shutil.which(word)
        if found is None:
            hint = f"; a file in the {place} is written ./{word}" if (folder / word).exists() else ""
            raise ValueError(f"no program {word!r} on the PATH{hint}")
        return Path(found)
    path = os.path.abspath(folder / word)
    if not os.path.isfile(path):
        raise ValueError(f"no program {word!r}" + f" in the {place}" * (not os.path.isabs(word)))
    if not os.access(path, os.X_OK):
        raise ValueError(f"the program {word!r} is not executable; chmod +x {shlex.quote(word)} changes that")
    return Path(path)


def relocated_command(command: str, options: Mapping[str, str], folder: Path) -> str:
    """Return a command and its options, as a spec has them, with a relative path of the program joined to `folder`.

    Arguments stay as they are, so that the agent keeps its title and its digest. The folder of the arguments, joined to
    `folder`, becomes the option ``cwd`` if the spec has one, and otherwise ``base``.

    Raises
    ------
    ValueError
        As for `split_command`.
    """
    word, *arguments = split_command(command)
    base = folder / _decoded(options.get(_BASE, ""))
    file = str(folder / word) if os.sep in word else word
    kept = {name: value for name, value in options.items() if name != _BASE}
    name = "cwd" if "cwd" in options else _BASE
    changed = {**kept, name: urllib.parse.quote(os.fspath(base / _decoded(options.get("cwd", ""))), safe="/ +:,@~")}
    return shlex.join([file, *arguments]) + "?" + "&".join(f"{key}={value}" for key, value in changed.items())


def titled_command(command: str, options: Iterable[tuple[str, str]]) -> str:
    """Return a command and its options, with the program's name instead of its path, without ``cwd`` and ``base``.

    Raises
    ------
    ValueError
        As for `split_command`.
    """
    word, *arguments = split_command(command)
    kept = "&".join(f"{key}={value}" for key, value in options if key not in ("cwd", _BASE))
    return shlex.join([Path(word).name, *arguments]) + f"?{kept}" * bool(kept)


def positive_number(name: str, text: str | None) -> float:
    """Return the value of an option; infinite if the spec does not set it.

    Raises
    ------
    ValueError
        If the value is not a finite number above 0.
    """
    if text is None:
        return math.inf
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < math.inf:
        raise ValueError(f"{name} must be a number above 0, got {text!r}")
    return number


def _decoded(text: str) -> str:
    return urllib.parse.unquote(text, errors="surrogateescape")


def _bytes(path: Path) -> bytes:
    with _readable(path):
        return path.read_bytes()


def _size(path: Path) -> int:
    with _readable(path):
        return path.stat().st_size


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"cannot read the agent's file {str(path)!r}: {error.strerror}") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an argument that is too long for a path, or holds a NUL
        return False


def _is_own_folder(path: Path) -> bool:
    try:
        return path.is_dir() and not any((path / name).exists() for name in RUN_FILES)
    except (OSError, ValueError):
        return False


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder, then those in its subfolders, each in the order of names.

    Links to folders are not followed, and run folders are left out.
    """
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_own_folder(Path(here, name)))
        yield from (path for name in sorted(names) if _is_file(path := Path(here, name)))
