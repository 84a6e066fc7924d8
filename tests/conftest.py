"""Order of the tests: those that share a worker first, so that nobody waits for them at the end; shared fixtures."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

from plurispiel.abstraction.machine.interrupts import SIGNALS
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.contestants import outside_options
from plurispiel.tournaments.contestants.sandbox import working_sandbox


def pytest_configure(config):
    """Hide the user's bucket tables: the default values of AIVAT depend on them. Let processes write bytecode.

    The tests start some hundred processes, each of which would compile the package's modules for itself. These obey
    Ctrl-C, also where pytest was started in the background of a shell, which ignores it there.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # workers are started with this environment
        folder = tempfile.TemporaryDirectory(prefix="plurispiel-home-")
        config.add_cleanup(folder.cleanup)
        os.environ["PLURISPIEL_HOME"] = folder.name
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Compile the kernels before the workers of a whole run start: each would compile most of them for itself."""
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and config.getoption("numprocesses", None)
    if is_whole and not config.option.collectonly and not os.environ.get("NUMBA_DISABLE_JIT"):
        subprocess.run([sys.executable, "-m", "plurispiel", "warmup"], check=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Return one worker more than processors: the tests of processes, which share a worker, mostly wait."""
    return num_processors() + 1


def pytest_make_parametrize_id(val):
    """Shorten the ids of long values. Some values have megabytes, and workers send each id several times."""
    return f"{val[:20]!r}...{len(val)}" if isinstance(val, str | bytes) and len(val) > 80 else None


@pytest.fixture(scope="session")
def bucket_table_folder(tmp_path_factory):
    """A built bucket table; what looks at it shares a worker, ``xdist_group("buckets")``."""
    from bucket_table import build_with_a_stop

    folder = tmp_path_factory.mktemp("tables") / "smallest"
    build_with_a_stop(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def loopback_alone():
    """Let no test look up, reach or offer anything but this machine, whatever is given to it."""
    look_up = socket.getaddrinfo

    def guarded_look_up(host, *arguments, **options):
        require_loopback(host)
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        for name in ("bind", "connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, on_loopback(getattr(socket.socket, name)))
        yield


@pytest.fixture(scope="session", autouse=True)
def a_missing_sandbox_is_not_told():
    """Where bubblewrap is missing, keep its warning out of what commands print: tests count lines.

    Tests of the warning ask for no sandbox.
    """
    if working_sandbox("auto") is not None:
        yield
        return
    prepare = outside_options.open_sandbox

    def quietly(choice, *, network, warn):
        return prepare(choice, network=network, warn=warn if choice != "auto" else lambda text: None)

    with pytest.MonkeyPatch.context() as patch:
        for module in list(sys.modules.values()):
            if getattr(module, "open_sandbox", None) is prepare:
                patch.setattr(module, "open_sandbox", quietly)
        yield


def on_loopback(method):
    """Return a method of sockets, of which the last argument is an address, for this machine's addresses alone."""

    def guarded(self, *arguments):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            require_loopback(arguments[-1][0], names_all=method.__name__ == "bind")
        return method(self, *arguments)

    return guarded


def require_loopback(host, names_all=False):
    """Raise if a host is not this machine; an empty one names all of its addresses to who offers a port."""
    if host in (None, "") and not names_all:
        return
    if host not in ("localhost", "::1") and not str(host).startswith("127."):
        raise AssertionError(f"a test reaches out to {host!r}")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's folder of this package, empty, and an empty current folder around it."""
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def usual_signals():
    """Restore the handlers of signals, which an interrupted command ignores from then on."""
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
