from behaves import Bot as Behaves

from plurispiel.agents import CALL, Decision


class Bot(Behaves):
    def misbehave(self, view):
        return Decision(CALL, ("x",), (object(),))
