from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        raise RuntimeError("two\nlines <script> =cmd")
