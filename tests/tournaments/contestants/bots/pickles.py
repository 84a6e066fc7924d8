"""Sends what would end whoever unpickles it."""

import os
import pickle

from behaves import Bot as Behaves


class Bomb:
    def __reduce__(self):
        return os._exit, (42,)


class Bot(Behaves):
    def misbehave(self, view):
        bomb = pickle.dumps(Bomb())
        for handle in range(3, 20):
            try:
                os.write(handle, len(bomb).to_bytes(4, "little") + (0).to_bytes(4, "little") + bomb)
            except OSError:
                continue
        return "as always"
