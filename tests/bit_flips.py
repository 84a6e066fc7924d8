"""Files with one bit turned, as a worn disk gives them back."""

import random


def flipped(content, number, *, seed=0, head_of=0):
    """Yield copies of some bytes, each with another bit; every other one at the head of a page of so many bytes."""
    rng = random.Random(seed)
    for k in range(number):
        place = rng.randrange(len(content))
        if head_of and k % 2:
            place = min(place - place % head_of + rng.randrange(128), len(content) - 1)
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.randrange(8)
        yield bytes(damaged)
