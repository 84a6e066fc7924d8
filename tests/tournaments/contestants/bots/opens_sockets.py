import socket

from spy import TARGETS
from spy import Bot as Spy


class Bot(Spy):
    """Talks to somebody outside: on this machine, by a name without a file, and beyond."""

    def attempt(self):
        port = TARGETS.get("port", 9)
        for family, address in [
            (socket.AF_INET, ("127.0.0.1", port)),
            (socket.AF_UNIX, "\0" + TARGETS.get("name", "plurispiel")),
            (socket.AF_INET, ("192.0.2.1", 80)),
        ]:
            try:
                with socket.socket(family, socket.SOCK_STREAM) as talk:
                    talk.settimeout(1.0)
                    talk.connect(address)
                    yield address
            except OSError:
                continue
