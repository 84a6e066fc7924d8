import sys

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        while True:
            sys.stdout.write("x" * 4096)
