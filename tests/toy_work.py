"""Small work for tests of labour: squares of numbers, with trouble where a test wants it."""

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass


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
