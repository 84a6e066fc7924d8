"""Writes into every pipe that it finds open, where the run's questions are answered."""

import os

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        for handle in range(3, 20):
            try:
                os.write(handle, b"\x10\x00\x00\x00\x10\x00\x00\x00{'number': 1.00}")
            except OSError:
                continue
        return "as always"
