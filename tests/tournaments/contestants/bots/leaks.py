import numpy as np
from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        hoard = []
        while True:
            hoard.append(np.ones(1 << 20))
