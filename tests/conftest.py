"""Order of the tests: those that share a worker first, so that nobody waits for them at the end; shared fixtures."""

import pytest


@pytest.fixture(scope="session")
def bucket_table_folder(tmp_path_factory):
    """A built bucket table; what looks at it shares a worker, ``xdist_group("buckets")``."""
    from bucket_table import build_with_a_stop

    folder = tmp_path_factory.mktemp("tables") / "smallest"
    build_with_a_stop(folder)
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The user's folder of this package, empty, and an empty current folder around it."""
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
