import time

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        time.sleep(3600)
