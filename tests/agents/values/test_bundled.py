from pathlib import Path

from plurispiel.agents.values.bundled import bundled_nets, find_net, find_nets
from plurispiel.agents.values.net_file import load_net

MOST_BYTES = 14 * 2**20
"""Of all networks in the package."""


def test_networks_of_the_package_are_sound():
    nets = [load_net(find_net(name)) for name in bundled_nets()]
    assert [net.level.name for net in nets] == bundled_nets() == ["end-of-flop", "end-of-preflop", "flop", "turn"]
    assert sum(net.num_bytes for net in nets) <= MOST_BYTES
    for net in nets:
        found = net.record["validation"]
        assert found["mae"] < 0.32 * found["mae_checkdown"]  # the end of the flop: 0.31; the turn: 0.23


def test_other_names_are_folders():
    assert find_net("nets/turn") == Path("nets/turn")
    assert find_nets("nets") == Path("nets") and find_nets("./bundled") == Path("./bundled")
