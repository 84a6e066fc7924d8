import numpy as np

from plurispiel.abstraction.cards.preflop import preflop_classes, preflop_names


def test_starting_hands_are_numbered_by_equity():
    names = preflop_names()
    assert len(names) == 169 and names[0] == "32o" and names[-1] == "AA"
    assert np.bincount(preflop_classes()).tolist() == [{"s": 4, "o": 12}.get(name[2:], 6) for name in names]
