import numpy as np
from reference import xoshiro as reference

from plurispiel.abstraction.machine.xoshiro import deal, next_below, next_float, next_word, xoshiro_stream


def test_words_equal_the_reference():
    stream = xoshiro_stream(np.random.SeedSequence(5))
    expected = reference.words([int(word) for word in stream], 200)
    with np.errstate(over="ignore"):
        assert [int(next_word(stream)) for _ in range(200)] == expected


def test_floats_are_the_upper_53_bits():
    stream = xoshiro_stream(np.random.SeedSequence(6))
    expected = [(word >> 11) / 2**53 for word in reference.words([int(word) for word in stream], 100)]
    with np.errstate(over="ignore"):
        assert [float(next_float(stream)) for _ in range(100)] == expected
    assert 0.0 <= min(expected) and max(expected) < 1.0


def test_next_below_is_uniform():
    stream = xoshiro_stream(np.random.SeedSequence(1))
    with np.errstate(over="ignore"):
        counts = np.bincount([next_below(stream, 7) for _ in range(7_000)], minlength=7)
    assert counts.sum() == 7_000
    assert len(counts) == 7
    assert (np.abs(counts - 1_000) < 5 * 30).all()


def test_deal_puts_every_card_everywhere():
    stream = xoshiro_stream(np.random.SeedSequence(2))
    cards = np.arange(6, dtype=np.uint8)
    counts = np.zeros((3, 6))
    with np.errstate(over="ignore"):
        for _ in range(6_000):
            deal(stream, cards, 3)
            assert sorted(cards) == list(range(6))
            counts[np.arange(3), cards[:3]] += 1
    assert (np.abs(counts - 1_000) < 5 * 29).all()
