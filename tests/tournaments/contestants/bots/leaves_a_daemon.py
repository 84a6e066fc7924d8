import subprocess
import sys

from spy import TARGETS
from spy import Bot as Spy

DAEMON = """
import os, subprocess, sys
mark = sys.argv[1]
for _ in range(3):
    subprocess.Popen(["sleep", mark], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", mark])
"""


class Bot(Spy):
    """Leaves processes in sessions of their own, whose parents are gone."""

    def attempt(self):
        subprocess.run([sys.executable, "-c", DAEMON, str(TARGETS.get("mark", 4321))], check=True)
        return ()
