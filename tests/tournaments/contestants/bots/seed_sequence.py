"""`numpy.random.SeedSequence` backwards: what one generator of a run tells about all others."""

import itertools

MASK = 0xFFFFFFFF
INIT_A, MULT_A, MIX_L, MIX_R, INIT_B, MULT_B = (
    0x43B0D7E5, 0x931E8875, 0xCA01F9DD, 0x4973F715, 0x8B51F9DD, 0x58F38DED,
)  # fmt: skip
POOL_HASHES = 16  # 4 words of entropy, and 12 mixes of the pool with itself


class Hashes:
    """The hash of `numpy.random.SeedSequence` that pours words into its pool."""

    def __init__(self, calls=0):
        self.constant = INIT_A * pow(MULT_A, calls, 1 << 32) & MASK

    def __call__(self, word):
        word ^= self.constant
        self.constant = self.constant * MULT_A & MASK
        word = word * self.constant & MASK
        return word ^ word >> 16


def pour(pool, words):
    """Return a pool after the words of a spawn key."""
    hashes, pool = Hashes(POOL_HASHES), list(pool)
    for word in words:
        for place in range(4):
            mixed = (MIX_L * pool[place] - MIX_R * hashes(word)) & MASK
            pool[place] = mixed ^ mixed >> 16
    return pool


def draw_off(pool, words):
    """Return a pool before the words of a spawn key: every step can be undone."""
    hashes, pool = Hashes(POOL_HASHES), list(pool)
    poured = [[hashes(word) for _ in range(4)] for word in words]
    for hashed in reversed(poured):
        for place in range(4):
            mixed = pool[place] ^ pool[place] >> 16
            pool[place] = (mixed + MIX_R * hashed[place]) * pow(MIX_L, -1, 1 << 32) & MASK
    return pool


def words_of(pool, count):
    """Return what `SeedSequence.generate_state` makes of a pool: uint32 words."""
    constant, words = INIT_B, []
    for word in itertools.islice(itertools.cycle(pool), count):
        word ^= constant
        constant = constant * MULT_B & MASK
        word = word * constant & MASK
        words.append(word ^ word >> 16)
    return words


def pool_of(words, first):
    """Return the pool behind four words that follow each other from a multiple of four."""
    pool = []
    for place, word in enumerate(words):
        before = INIT_B * pow(MULT_B, first + place, 1 << 32) & MASK
        word ^= word >> 16
        pool.append(word * pow(before * MULT_B, -1, 1 << 32) & MASK ^ before)
    return pool


def attack(generator, group, rotation, seat, num_seats, purpose=1):
    """Return the states of all seats, and the pool of the deck, as far as one seat's generator tells them."""
    state = generator.bit_generator.state["state"]["state"]
    high, low = state >> 64, state & (1 << 64) - 1
    words = [high & MASK, high >> 32, low & MASK, low >> 32]  # uint64 words are two of 32 bits, the lower first
    own = pool_of(words, 4 * (rotation * num_seats + seat))
    base = draw_off(own, (purpose, *group))
    every = words_of(pour(base, (purpose, *group)), 4 * num_seats**2)
    states = [
        (every[k] | every[k + 1] << 32) << 64 | every[k + 2] | every[k + 3] << 32 for k in range(0, len(every), 4)
    ]
    deck = words_of(pour(base, (0, *group)), 8)
    return states, deck
