"""Keeps workers from importing the user's script, or modules of the current folder, which may belong to an agent."""

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType

_OPTION = "PYTHONSAFEPATH"


@contextlib.contextmanager
def own_modules_only() -> Iterator[None]:
    """Keep processes that are started in this context from importing the main script or the current folder's modules.

    `multiprocessing` spawns processes as ``python -c``, which searches the current folder first: a ``pickle.py`` next
    to an agent would run in a worker, which knows the key of the cards. A spawned worker would also import the main
    module again: a script without ``if __name__ == "__main__"`` would start its tournament once more in every worker.
    """
    given, main = os.environ.get(_OPTION), sys.modules["__main__"]
    os.environ[_OPTION] = "1"
    sys.modules["__main__"] = ModuleType("__main__")  # has no file that a worker could import
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if given is None:
            del os.environ[_OPTION]
        else:
            os.environ[_OPTION] = given


def pass_nothing_on() -> None:
    """Restore the usual module path for the processes that a worker starts; called in the worker."""
    os.environ.pop(_OPTION, None)
