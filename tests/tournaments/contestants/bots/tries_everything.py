import importlib

from spy import Bot as Spy

NAMES = (
    *("reads_processes", "reads_files", "reads_the_seed", "ends_rivals", "opens_sockets", "leaves_a_daemon"),
    *("leaves_word", "writes_into_the_run"),
)


class Bot(Spy):
    """Tries what each of the other spies tries, one after the other, and names each with what it got."""

    def attempt(self):
        for name in NAMES:
            for what in importlib.import_module(name).Bot().attempt():
                yield f"{name}: {what}"
