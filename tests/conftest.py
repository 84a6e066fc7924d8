"""Order of the tests: those that share a worker first, so that nobody waits for them at the end."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
