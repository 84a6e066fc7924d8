"""Value networks in plain loops: the means of random ranges, and the values of a network."""

import math
from functools import cache
from itertools import product


@cache
def mean_shares(size):
    """The mean share of each hand of a set, weakest first, in ranges R(S, 1)."""
    if size == 1:
        return (1.0,)
    halves = {size // 2, size - size // 2}
    ways = []
    for weaker in halves:
        ways.append([each / 2 for each in mean_shares(weaker)] + [each / 2 for each in mean_shares(size - weaker)])
    return tuple(sum(column) / len(ways) for column in zip(*ways, strict=True))


def mean_range(groups):
    """The mean weight of each hand; hands of one group come in random order."""
    shares = mean_shares(groups[-1])
    found = []
    for first, end in zip(groups, groups[1:], strict=False):
        found += [sum(shares[first:end]) / (end - first)] * (end - first)
    return found


def inputs(ranges, spr):
    """What a network sees of the ranges of both seats, each [num_hands] weakest first, and of the stacks."""
    row = [sum(weights[: hand + 1]) - 0.5 for weights in ranges for hand in range(len(weights))]
    tails = [sum(weights[hand:]) for weights in ranges for hand in range(len(weights))]
    row += [math.log10(max(tail, 1e-4)) / 4.0 for tail in tails]
    return [*row, math.log(1.0 + spr) / math.log(201.0), math.log(1.0 + 1.0 / spr), spr / (1.0 + spr), min(spr, 4.0)]


def outputs(layers, inputs):
    """The outputs of a network for one row of inputs, in double precision."""
    row = [float(each) for each in inputs]
    for number, (weights, biases) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        row = [
            float(biases[k]) + sum(row[i] * float(weights[i, k]) for i in range(len(row))) for k in range(len(biases))
        ]
        if number < len(layers.slopes):
            row = [each if each > 0.0 else float(layers.slopes[number]) * each for each in row]
    return row


def evs(answers, ranges, cards, strengths, spr):
    """The values of all hands of both seats in pots, from an answer for each hand.

    Parameters
    ----------
    answers, ranges : [2][num_hands]
        Ranges sum to 1.
    cards : [num_hands]
        Sets of cards.
    strengths : [num_hands]
    spr : float
    """
    hands = range(len(cards))
    mass, value = [[0.0 for _ in hands] for _ in range(2)], [[0.0 for _ in hands] for _ in range(2)]
    for seat, h, g in product(range(2), hands, hands):
        if not cards[h] & cards[g]:
            mass[seat][h] += ranges[1 - seat][g]
            better = int(strengths[h] > strengths[g]) - int(strengths[h] < strengths[g])
            value[seat][h] += 0.5 * better * ranges[1 - seat][g]
    for seat, h in product(range(2), hands):
        value[seat][h] += spr / (1 + spr) * answers[seat][h] * mass[seat][h]
    gain = sum(ranges[seat][h] * value[seat][h] for seat, h in product(range(2), hands))
    both = sum(ranges[seat][h] * mass[seat][h] for seat, h in product(range(2), hands))
    return [[value[seat][h] / mass[seat][h] - gain / both for h in hands] for seat in range(2)]
