"""Small networks of random numbers, for the levels of heads-up hold'em."""

import numpy as np

from plurispiel.agents.values.encoding import num_inputs
from plurispiel.agents.values.levels import find_level
from plurispiel.agents.values.net import ValueNet, new_layers
from plurispiel.agents.values.net_file import StoredNet, rounded_layers, save_net


def random_net(name, bins=32, scale=10.0):
    """A network whose answers grow with `scale`; with 0 it always answers 0."""
    level = find_level(name)
    layers = new_layers((num_inputs(level.rules, bins), 16, 2 * bins), np.random.default_rng(3))
    layers.weights[-1] *= scale
    return StoredNet(ValueNet(rounded_layers(layers)), level, {}, "")


def save_flop_nets(folder, scale=1.0, names=("end-of-flop", "turn")):
    """Write the networks that solves of the flop need, or others, and return their folder."""
    for name in names:
        net = random_net(name, 169 if name == "end-of-preflop" else 32, scale)
        save_net(folder / name, net.net.layers, net.level, {}, seed=1)
    return folder
