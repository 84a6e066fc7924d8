"""xoshiro256++ with Python's unbounded integers, from the authors' description."""

MASK = 2**64 - 1


def rotate_left(word, count):
    return ((word << count) | (word >> (64 - count))) & MASK


def words(state, count):
    s0, s1, s2, s3 = state
    result = []
    for _ in range(count):
        result.append((rotate_left((s0 + s3) & MASK, 23) + s0) & MASK)
        shifted = (s1 << 17) & MASK
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        s3 = rotate_left(s3, 45)
    return result
