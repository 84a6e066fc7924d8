from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        return 2**70
