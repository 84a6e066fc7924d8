import os
import signal

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        os.kill(os.getpid(), signal.SIGKILL)
