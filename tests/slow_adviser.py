"""The process of an adviser that answers what it is told, after as many seconds as it is told: for tests of servers."""

import os
import sys
import time

from plurispiel.tournaments.web.adviser_process import AdviserProcess


class SlowAdviser:
    """Advises the decision's number. With a board it computes for an hour, or, if that is 2c, crashes."""

    def warm(self):
        pass

    def advise(self, hand, decision, seconds):
        if hand.board == (0, 1, 2):
            os._exit(3)
        if hand.board:
            for _ in range(36_000):
                time.sleep(0.1)
        if decision == 3:
            raise ValueError("there is no advice at decision 3")
        if decision == 4:
            raise RuntimeError("secret")
        return {"decision": decision}


if __name__ == "__main__":
    sys.stderr = open(os.devnull, "w")
    AdviserProcess(SlowAdviser(), sys.stdin.buffer, sys.stdout.buffer).run()
