"""Random numbers inside kernels: xoshiro256++ streams held in uint64 arrays.

The state of a stream is uint64[4], seeded from a `numpy.random.SeedSequence`. Source: Blackman and Vigna, "Scrambled
linear pseudorandom number generators" (2021).
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

_S17, _S23, _S41, _S45, _S19 = (np.uint64(shift) for shift in (17, 23, 41, 45, 19))
_S11 = np.uint64(11)
_HIGH = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def xoshiro_stream(seed: np.random.SeedSequence) -> np.ndarray:
    """Return the state of a new stream: uint64[4], never all zero."""
    state = seed.generate_state(4, np.uint64)
    if not state.any():
        state[0] = 1
    return state


@kernel(inline=True)
def next_word(stream):
    """Return 64 random bits as a uint64, and advance the stream (uint64[4], modified in place)."""
    s0, s1, s2, s3 = stream[0], stream[1], stream[2], stream[3]
    total = s0 + s3
    word = ((total << _S23) | (total >> _S41)) + s0
    shifted = s1 << _S17
    s2 ^= s0
    s3 ^= s1
    stream[1] = s1 ^ s2
    stream[0] = s0 ^ s3
    stream[2] = s2 ^ shifted
    stream[3] = (s3 << _S45) | (s3 >> _S19)
    return word


@kernel(inline=True)
def next_float(stream):
    """Return a random float64 in [0, 1) and advance the stream."""
    return (next_word(stream) >> _S11) * 2.0**-53


@kernel(inline=True)
def scale_below(bits, bound):
    """Return an integer in 0..bound-1 from `bits`, 32 random bits in a uint64.

    Each integer's probability differs from 1 / bound by less than 2**-32.
    """
    return np.int64((bits * np.uint64(bound)) >> _HIGH)


@kernel(inline=True)
def next_below(stream, bound):
    """Return a random integer in 0..bound-1 and advance the stream; `bound` must be below 2**31."""
    return scale_below(next_word(stream) >> _HIGH, bound)


@kernel(inline=True)
def deal(stream, cards, num_dealt):
    """Move `num_dealt` random cards to the front of `cards`, in random order. Modified in place: `cards`, `stream`."""
    num_cards = cards.shape[0]
    word = np.uint64(0)
    for k in range(num_dealt):
        # One word serves two cards, as its two halves of 32 bits are independent.
        word = word >> _HIGH if k & 1 else next_word(stream)
        other = k + scale_below(word & _LOW, num_cards - k)
        card = cards[other]
        cards[other] = cards[k]
        cards[k] = card
