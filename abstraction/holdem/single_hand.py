"""The rank of one hand at a time, for Python code that meets its hands one after another.

`hand_ranks.hand_rank` ranks many hands in one call; for one hand it spends almost all of its time making arrays. The
kernel here takes the cards as numbers. The tables of the evaluator are constants of the kernel's code: seven arrays as
arguments would take longer than the look-up.

A call through numba's dispatcher would take twice as long, because the dispatcher looks up the types of all seven
cards. The kernel is compiled for integers only. So Python calls the compiled entry directly, after a check that all
cards are integers.
"""

from collections.abc import Callable, Sequence

from plurispiel.abstraction.holdem.hand_rank_kernels import rank_word
from plurispiel.abstraction.holdem.hand_ranks import hand_rank, rank_tables
from plurispiel.abstraction.machine.jit import kernel

__all__ = ["single_hand_rank"]


def single_hand_rank(cards: Sequence[int]) -> int:
    """Return the rank of one hand, equal to that of `hand_ranks.hand_rank`.

    Parameters
    ----------
    cards : sequence of int, [k]
        Card ids of a hand with k = 1..7 cards, in any order. Repeated cards are not detected. Seven cards are fastest.

    Raises
    ------
    ValueError
        If the hand has another size, or a number is not a card id 0..51.

    >>> from plurispiel.abstraction.holdem.cards import parse_cards
    >>> single_hand_rank(parse_cards("AsKsQsJsTs2c3d"))
    7462
    """
    try:
        a, b, c, d, e, f, g = cards
        # The entry would take 0.5 for 0, so only Python's integers may reach it. Floats have no `|`, and with a numpy
        # number among the cards, the result of `|` is a numpy number.
        if type(a | b | c | d | e | f | g) is int and (rank := _rank_seven(a, b, c, d, e, f, g)):
            return rank
    except (TypeError, ValueError, OverflowError):  # not seven cards, a float, or an integer beyond int64
        pass
    return int(hand_rank(cards))


def warmup() -> None:
    """Compile the kernel of this module."""
    single_hand_rank(range(7))


def _rank_first(*cards: int) -> int:
    """Return the rank of seven cards, after putting the kernel's compiled entry in the place of this function."""
    global _rank_seven
    compiled = _make_kernel()
    compiled(0, 1, 2, 3, 4, 5, 6)
    overloads = getattr(compiled, "overloads", None)  # missing if numba's compiler is off
    _rank_seven = compiled if overloads is None else next(iter(overloads.values())).entry_point
    return _rank_seven(*cards)


_rank_seven: Callable[..., int] = _rank_first


def _make_kernel() -> Callable[..., int]:
    tables = rank_tables()
    words, masks, start = tables.words, tables.masks, int(tables.starts[7])

    @kernel
    def rank_seven(a, b, c, d, e, f, g):
        """Return the rank of seven cards; 0 if one of the numbers is not a card id."""
        if min(a, b, c, d, e, f, g) < 0 or max(a, b, c, d, e, f, g) > 51:
            return 0
        word = start + words[a] + words[b] + words[c] + words[d] + words[e] + words[f] + words[g]
        held = masks[a] | masks[b] | masks[c] | masks[d] | masks[e] | masks[f] | masks[g]
        return rank_word(tables, word, held)

    return rank_seven
