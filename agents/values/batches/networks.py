"""Networks on a device: inputs for many situations at once, and the gain of bets over checking down."""

import importlib
from typing import Any

import numpy as np

from plurispiel.agents.values.batches.lookahead import fold_masses
from plurispiel.agents.values.encoding import DEEPEST, LEAST_TAIL, SHALLOWEST
from plurispiel.agents.values.net import ValueNet

__all__ = ["BatchNet", "net_inputs", "without_gain"]


def net_inputs(torch: Any, bins: Any, ranges: Any, spr: Any, features: Any) -> Any:
    """Return the inputs of networks, as `encoding.inputs`: float32 tensor [n, X, num_inputs].

    Parameters
    ----------
    torch : module
    bins : float32 tensor [n, H, K]
        The shares of hands in bins (`bin_matrices`).
    ranges : float32 tensor [n, 2, X, H]
        X pairs of ranges in each situation. Rows sum to 1.
    spr : float32 tensor [n, X]
    features : float32 tensor [n, F]
        The `board_features`.
    """
    count, _, number, hands = ranges.shape
    weights = torch.bmm(ranges.reshape(count, 2 * number, hands), bins).reshape(count, 2, number, -1)
    below = torch.cumsum(weights, 3)
    above = below[..., -1:] - below + weights
    tails = torch.log(above.clamp(min=LEAST_TAIL)) / -float(np.log(LEAST_TAIL))
    deep = torch.log1p(spr) / float(np.log1p(DEEPEST))
    shallow = torch.log1p(1.0 / spr.clamp(min=SHALLOWEST))
    stacks = torch.stack((deep, shallow, spr / (1.0 + spr), spr.clamp(max=4.0)), 2)
    board = features[:, None].expand(-1, number, -1)
    below = below - 0.5
    return torch.cat([below[:, 0], below[:, 1], tails[:, 0], tails[:, 1], stacks, board], 2)


def without_gain(torch: Any, evs: Any, reach: Any, masses: Any) -> Any:
    """Return expected values that are corrected as by `zero_sum.without_gain`: float32 tensor [n, 2, X, H].

    Parameters
    ----------
    torch : module
    evs, reach, masses : float32 tensor [n, 2, X, H]
    """
    weights = reach * masses
    both = (weights * evs).sum((1, 3))
    total = weights.sum((1, 3))
    share = torch.where(total > 0.0, both / total.clamp(min=1e-30), 0.0)
    return evs - share[:, None, :, None]


class BatchNet:
    """A network on a device.

    Parameters
    ----------
    net : ValueNet
    device : torch.device
    """

    def __init__(self, net: ValueNet, device: Any):
        self._torch = torch = importlib.import_module("torch")
        layers = net.layers
        self.num_bins = net.num_bins
        self._weights, self._biases = (
            [torch.tensor(each, dtype=torch.float32, device=device) for each in arrays]
            for arrays in (layers.weights, layers.biases)
        )
        self._slopes = [float(each) for each in layers.slopes]

    def outputs(self, inputs: Any) -> Any:
        """Return the outputs for rows of inputs: float32 tensor [..., 2 * num_bins]."""
        found = inputs
        for number, (weights, biases) in enumerate(zip(self._weights, self._biases, strict=True)):
            found = found @ weights + biases
            if number < len(self._slopes):
                found = self._torch.where(found > 0.0, found, self._slopes[number] * found)
        return found

    def residuals(self, bins: Any, holds: Any, reach: Any, spr: Any, features: Any) -> Any:
        """Return the gain of bets over checking down, in pots: float32 tensor [n, 2, X, H].

        `bins`, `spr` and `features` are as in `net_inputs`, and `holds` as in `fold_masses`.

        Parameters
        ----------
        reach : float32 tensor [n, 2, X, H]
            Weights of both seats' hands in any scale. A seat without any weight counts as holding all hands equally.
        """
        torch = self._torch
        count, _, number, hands = reach.shape
        live = (bins.sum(2) > 0.0).to(torch.float32)
        even = (live / live.sum(1, keepdim=True))[:, None, None]
        totals = reach.sum(3, keepdim=True)
        ranges = torch.where(totals > 0.0, reach / totals.clamp(min=1e-30), even)
        masses = fold_masses(torch, holds, ranges.flip(1).reshape(count, 2 * number, hands)).reshape(reach.shape)
        outputs = self.outputs(net_inputs(torch, bins, ranges, spr, features))
        outputs = outputs.reshape(count, number, 2, -1).transpose(1, 2).reshape(count, 2 * number, -1)
        gates = (spr / (1.0 + spr))[:, None, :, None]
        added = torch.bmm(outputs, bins.transpose(1, 2)).reshape(reach.shape) * gates
        return without_gain(torch, added, ranges, masses.clamp(min=0.0))
