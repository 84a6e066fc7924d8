"""Order of the tests: those that share a worker first, so that nobody waits for them at the end; shared fixtures."""

import os
import signal
import socket
import subprocess
import sys
import tempfile

import pytest

from plurispiel.abstraction.machine.interrupts import SIGNALS

WARMUP = "from plurispiel.tournaments.run.kernels import MODULES, warmup; warmup(MODULES[::{}])"


def pytest_configure(config):
    """Hide the user's bucket tables: the default values of AIVAT depend on them."""
    if not hasattr(config, "workerinput"):  # workers are started with this environment
        folder = tempfile.TemporaryDirectory(prefix="plurispiel-home-")
        config.add_cleanup(folder.cleanup)
        os.environ["PLURISPIEL_HOME"] = folder.name


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Compile the kernels before the workers of a whole run start: each would compile most of them for itself.

    Two processes begin at either end and load from the cache what the other has compiled.
    """
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and config.getoption("numprocesses", None)
    if is_whole and not config.option.collectonly and not os.environ.get("NUMBA_DISABLE_JIT"):
        ends = [subprocess.Popen([sys.executable, "-c", WARMUP.format(step)]) for step in (1, -1)]
        assert [process.wait() for process in ends] == [0, 0]


@pytest.fixture(scope="session")
def bucket_table_folder(tmp_path_factory):
    """A built bucket table; what looks at it shares a worker, ``xdist_group("buckets")``."""
    from bucket_table import build_with_a_stop

    folder = tmp_path_factory.mktemp("tables") / "smallest"
    build_with_a_stop(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def loopback_alone():
    """Let no test look up or reach anything but this machine, whatever is given to it."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6):
            require_loopback(address[0])
        return connect(self, address)

    def guarded_look_up(host, *arguments, **options):
        require_loopback(host)
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


def require_loopback(host):
    if host not in (None, "", "localhost", "::1") and not str(host).startswith("127."):
        raise AssertionError(f"a test reaches out to {host!r}")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's folder of this package, empty, and an empty current folder around it."""
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def usual_signals():
    """Restore the handlers of signals, which an interrupted command ignores from then on.

    Ctrl-C interrupts, also where pytest was started in the background of a shell, which ignores Ctrl-C there.
    """
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
