from pathlib import Path

from plurispiel.agents.values.bundled import bundled_nets, find_net
from plurispiel.agents.values.net_file import load_net

MOST_BYTES = 14 * 2**20
"""Of all networks in the package."""


def test_networks_of_the_package_are_sound():
    nets = [load_net(find_net(name)) for name in bundled_nets()]
    assert [net.level.name for net in nets] == bundled_nets() == ["turn"]
    assert sum(net.num_bytes for net in nets) <= MOST_BYTES
    for net in nets:
        found = net.record["validation"]
        assert found["mae"] < 0.3 * found["mae_checkdown"]


def test_other_names_are_folders():
    assert find_net("nets/turn") == Path("nets/turn")
