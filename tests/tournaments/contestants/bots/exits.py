import os

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        os._exit(7)
