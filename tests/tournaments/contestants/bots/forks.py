import os
import time

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        if os.fork() == 0:
            time.sleep(3600)
        return "as always"
