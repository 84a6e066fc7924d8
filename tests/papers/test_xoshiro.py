"""First outputs of xoshiro256++ by Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021).

They are those of the authors' program (https://prng.di.unimi.it/xoshiro256plusplus.c) from the state 1, 2, 3, 4.
"""

import numpy as np
from reference import xoshiro as reference

from plurispiel.abstraction.machine.xoshiro import next_word

WORDS = [41943041, 58720359, 3588806011781223]


def test_published_first_words():
    stream = np.array([1, 2, 3, 4], dtype=np.uint64)
    with np.errstate(over="ignore"):
        assert [int(next_word(stream)) for _ in WORDS] == WORDS
    assert reference.words([1, 2, 3, 4], 3) == WORDS
