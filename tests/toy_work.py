"""Small work for tests of labour: squares of numbers, with trouble where a test wants it."""

import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Squares:
    """Jobs are numbers; `seconds` is the time of even ones."""

    seconds: float = 0.0
    fails_at: int | None = None
    dies_at: int | None = None
    cannot_begin: str = ""

    @contextmanager
    def begin(self):
        if self.cannot_begin:
            raise ValueError(self.cannot_begin)

        def square(number):
            if number % 2 == 0:
                time.sleep(self.seconds)
            if number == self.fails_at:
                raise ValueError(f"no square of {number}")
            if number == self.dies_at:
                os._exit(3)
            return number * number

        yield square


@dataclass(frozen=True)
class Reads:
    """Travelling work that reads a file. A job is the seconds to sleep first, ``stop`` or ``die``; or empty."""

    path: Path
    logs = None
    outsiders = None

    @property
    def paths(self):
        return [self.path]

    def departing(self):
        return self

    def moved(self, site):
        return Reads(Path(site.paths[str(self.path)]))

    def essence(self, result):
        return result.encode()

    @contextmanager
    def begin(self):
        def read(job):
            if job == "die":
                os._exit(3)
            if job == "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            elif job:
                time.sleep(float(job))
            return self.path.read_text()

        yield read
