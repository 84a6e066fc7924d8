import signal

from behaves import Bot as Behaves


class Bot(Behaves):
    def misbehave(self, view):
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        while True:
            pass
