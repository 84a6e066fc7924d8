"""Calls; the others of its kind try on the way what they must not be able to do, and print ``got:`` for what they got.

`targets.json` beside them tells what a determined attacker would find out.
"""

import json
import os
import sys
from pathlib import Path

from plurispiel.agents import CALL, Agent

FOLDER = Path(__file__).parent
TARGETS = json.loads((FOLDER / "targets.json").read_text()) if (FOLDER / "targets.json").exists() else {}


def others():
    """Return every process in sight that is not our own."""
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if pid != os.getpid()]


class Bot(Agent):
    has_tried = False

    def act(self, view):
        if not self.has_tried:
            self.has_tried = True
            for what in self.attempt():
                print(f"got: {what}", file=sys.stderr)
            print("tried", file=sys.stderr)
        return CALL

    def attempt(self):
        """Yield what was got."""
        return ()
