from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        return self.misbehave(view)
