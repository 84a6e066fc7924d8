"""Worker processes import what we import: nothing from the current folder, where anybody's agents may lie."""

import contextlib
import os
from collections.abc import Iterator

_OPTION = "PYTHONSAFEPATH"


@contextlib.contextmanager
def own_modules_only() -> Iterator[None]:
    """Have Python processes that are started here look for no modules in the current folder.

    `multiprocessing` starts them as ``python -c``, which looks there before anywhere else: a ``pickle.py`` beside an
    agent would run as a worker that is then told the key.
    """
    given = os.environ.get(_OPTION)
    os.environ[_OPTION] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[_OPTION]
        else:
            os.environ[_OPTION] = given


def pass_nothing_on() -> None:
    """In such a process: let what it starts find its modules as ever."""
    os.environ.pop(_OPTION, None)
