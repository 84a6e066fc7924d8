"""The compilation of kernels by several processes, all of which fill the same cache."""

import contextlib
import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from pathlib import Path

from plurispiel.abstraction.cards import features_kernels
from plurispiel.abstraction.machine.copies import can_fork
from plurispiel.abstraction.machine.interrupts import interrupts_held, leave_to_parent
from plurispiel.abstraction.machine.jit import CACHE_FOLDER, source_digest
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.contestants.process import die_with
from plurispiel.tournaments.labour.own_modules import own_modules_only, pass_nothing_on
from plurispiel.tournaments.run.kernels import MODULES, PLAY, warmup

_SHARED = ("abstraction.holdem.hand_ranks", "abstraction.holdem.betting", "abstraction.actions.tree")
"""Modules whose kernels many modules call. This process compiles them first, so that they are compiled only once."""

_LONGEST = (
    "agents.resolve.vector_cfr",
    "agents.search.multiway",
    "agents.environment.batch",
    "evaluation.blueprint_values",
    "agents.blueprint.trainer",
    "evaluation.flop_best_response",
    "agents.blueprint.match",
    "abstraction.cards.river",
    "agents.continual.resolver",
)
"""The modules whose kernels compile longest, the longest first.

They are begun first, so that at the end no process compiles alone for long.
"""


@contextlib.contextmanager
def play_compiled_beside(say: Callable[[str], object]) -> Iterator[None]:
    """Compile the kernels of `PLAY` in another process while the agents are built, if the cache lacks these kernels.

    On the first run, agents compile kernels of their own, which takes about as long.
    """
    if num_processors() < 2 or not can_fork() or _is_compiled(Path(features_kernels.__file__).resolve()):
        yield
        return
    say("compiling kernels for the first time on this machine ...")
    with _compilers(1) as (pipe,):
        for module in reversed(PLAY):  # the first modules have kernels that this process compiles, too
            pipe.send(module)
        yield
        with contextlib.suppress(EOFError, OSError):  # the process has died: this process compiles what is left
            for _ in PLAY:
                pipe.recv()


def _is_compiled(source: Path) -> bool:
    """Return whether the cache has kernels of a module."""
    return any(CACHE_FOLDER.glob(f"{source.stem}-{source_digest(source)}/*.nbi"))


def warmup_in_processes(number: int, say: Callable[[str], object]) -> float:
    """Compile the kernels of `MODULES` in `number` processes; return the seconds that this took.

    At the end this process loads all kernels. It compiles those that are left over because a process died.

    Parameters
    ----------
    say : callable
        Called with a line of text whenever a process has compiled a module, or has died while it compiled one. The line
        has the module's name and the number of modules left.
    """
    began = time.perf_counter()
    warmup(_SHARED)
    left = [module for module in dict.fromkeys((*_LONGEST, *MODULES)) if module not in _SHARED]
    waiting, busy = list(left), dict[Connection, str]()
    with _compilers(min(number, len(left))) as pipes:
        idle = list(pipes)
        while idle or busy:
            for pipe in idle[: len(waiting)]:
                busy[pipe] = waiting.pop(0)
                with contextlib.suppress(OSError):  # a process that has died is noticed below
                    pipe.send(busy[pipe])
            idle = wait(list(busy)) if busy else []  # type: ignore[assignment]
            for pipe in list(idle):
                module = busy.pop(pipe)
                try:
                    pipe.recv()
                except (EOFError, OSError):
                    idle.remove(pipe)  # its module is compiled at the end
                left.remove(module)
                say(f"compiled {module}; {len(left)} modules left")
    warmup()
    return time.perf_counter() - began


@contextlib.contextmanager
def _compilers(number: int) -> Iterator[list[Connection]]:
    """Start processes that compile the modules sent to them; yield their pipes, and kill the processes at the end."""
    forks = can_fork()
    context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
    if not forks:
        with interrupts_held(), own_modules_only():
            resource_tracker.ensure_running()
    processes, pipes = [], list[Connection]()
    try:
        for _ in range(number):
            pipe, theirs = context.Pipe()
            process = context.Process(target=_compile, args=(theirs,), daemon=True)
            with interrupts_held(), own_modules_only():
                process.start()
            theirs.close()
            processes.append(process)
            pipes.append(pipe)
        yield pipes
    finally:
        for process in processes:  # a kill leaves no broken file, because files of the cache are written atomically
            process.kill()
            process.join()
        for pipe in pipes:
            pipe.close()


def _compile(pipe: Connection) -> None:
    """Compile the modules whose names come through the pipe; the main function of a process."""
    die_with(os.getppid())
    leave_to_parent()
    pass_nothing_on()
    with contextlib.suppress(EOFError, OSError):
        while True:
            module = pipe.recv()
            importlib.import_module(f"plurispiel.{module}").warmup()
            pipe.send(None)
