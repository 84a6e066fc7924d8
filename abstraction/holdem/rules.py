"""The rules of one hold'em game: seats, chips, streets, cards.

Seats are numbered as in OpenSpiel's ``universal_poker`` and the ACPC. In the presets with three or more seats, seat 0
posts the small blind, seat 1 the big blind and the last seat is the button. In heads-up hold'em, seat 0 is the big
blind and seat 1 the small blind and button. Chips are integers; a raise is always *to* a total contribution over the
whole hand.
"""

import dataclasses
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.cards import combo_cards, combo_ids, combos_without, deck_cards

MAX_SEATS = 10
MAX_STREETS = 4
STREETS = ("preflop", "flop", "turn", "river")
MAX_HAND_CARDS = 7
MAX_CHIPS = 2**31 - 1
UNLIMITED_RAISES = 255
MAX_STREET_RAISES = 64  # universal_poker has room for 64 actions on a street

BETTING_ABSTRACTIONS = ("fullgame", "fchpa", "fcpa", "fc")
"""OpenSpiel's names for the raises on offer; see `HoldemRules`."""


@dataclass(frozen=True)
class HoldemRules:
    """The rules of a hold'em game; their meaning is that of OpenSpiel's ``universal_poker``.

    Parameters
    ----------
    blinds : tuple of int
        Chips that each of 2..10 seats posts before the cards. Antes are written as blinds too, and count as blinds for
        the smallest raise, as in ``universal_poker``.
    stacks : tuple of int or None
        Chips each seat starts a hand with, at least its blind. None in limit games, which have no stacks.
    first_seats : tuple of int
        The seat that acts first on each of 1..4 streets. If that seat has folded or is all-in, the next seat that can
        act is first.
    board_cards : tuple of int
        Number of board cards dealt at the start of each street.
    betting : {"no-limit", "limit"}
        Whether raises have any size or the fixed sizes of `raise_sizes`.
    raise_sizes : tuple of int or None
        Chips that a raise adds to the largest contribution, on each street of a limit game; None in a no-limit game.
    max_raises : tuple of int or None
        Most raises allowed on each street, blinds not counted; None allows any number.
    num_suits, num_ranks, num_hole_cards : int
        Number of suits and of ranks in the deck, which has the first suits and the lowest ranks; number of hole cards
        of a seat.
    betting_abstraction : {"fullgame", "fchpa", "fcpa", "fc"}
        The raises on offer. "fullgame": any size; "fchpa": half pot, pot and all-in; "fcpa": pot and all-in; "fc":
        none. A limit game takes "fcpa", with the fixed raise on offer, or "fc".

    Raises
    ------
    ValueError
        If a value is out of range, the rules contradict themselves, or ``universal_poker`` would crash on them.

    Notes
    -----
    By a rule of the ACPC that card rooms do not have, every all-in raise re-opens the betting. In a no-limit game, the
    smallest raise after a raise to ``x`` is to ``max(s, 2x - m)``. Here ``m`` is the largest contribution before the
    raise to ``x``, and ``s`` the raise-to total that was then the smallest legal one for a seat with enough chips. A
    street has at most 64 actions.
    """

    blinds: tuple[int, ...]
    stacks: tuple[int, ...] | None
    first_seats: tuple[int, ...] = (0,)
    board_cards: tuple[int, ...] = (0,)
    betting: str = "no-limit"
    raise_sizes: tuple[int, ...] | None = None
    max_raises: tuple[int, ...] | None = None
    num_suits: int = 4
    num_ranks: int = 13
    num_hole_cards: int = 2
    betting_abstraction: str = "fullgame"

    def __post_init__(self):
        for name in ("blinds", "stacks", "first_seats", "board_cards", "raise_sizes", "max_raises"):
            value = getattr(self, name)
            _require(value is None or isinstance(value, tuple), f"{name} must be a tuple, got {value!r}")
        _check_table(self)
        _check_chips(self)
        _check_streets(self)
        _check_cards(self)

    @functools.cached_property
    def num_seats(self) -> int:
        """Number of seats at the table."""
        return len(self.blinds)

    @functools.cached_property
    def num_streets(self) -> int:
        """Number of streets."""
        return len(self.first_seats)

    @functools.cached_property
    def is_limit(self) -> bool:
        """Whether raises have fixed sizes."""
        return self.betting == "limit"

    @functools.cached_property
    def big_blind(self) -> int:
        """Chips of the largest blind; an mbb is a thousandth of it."""
        return max(self.blinds)

    @functools.cached_property
    def num_board_cards(self) -> int:
        """Number of board cards of a hand played to its end."""
        return sum(self.board_cards)

    @functools.cached_property
    def num_dealt_cards(self) -> int:
        """Length of a deck: all hole cards, seat by seat, then the board."""
        return self.num_seats * self.num_hole_cards + self.num_board_cards

    @functools.cached_property
    def cards(self) -> np.ndarray:
        """The cards of the game, ascending: uint8[num_suits * num_ranks]."""
        return deck_cards(self.num_suits, self.num_ranks)

    @functools.cached_property
    def combos(self) -> np.ndarray:
        """The cards of every combo: uint8[num_combos, num_hole_cards]."""
        return combo_cards(self.num_suits, self.num_ranks, self.num_hole_cards)

    @functools.cached_property
    def num_combos(self) -> int:
        """Number of different hole cards: 1326 for a full deck and two cards."""
        return len(self.combos)

    def combo_id(self, hole_cards: Iterable[int]) -> int:
        """Return the row of `combos` that holds these cards, which may be in any order.

        Raises
        ------
        KeyError
            If the cards are not a combo of the game.
        """
        return self._combo_ids[frozenset(hole_cards)]

    def free_combos(self, cards: Iterable[int]) -> np.ndarray:
        """Return which combos share no card with the given cards: bool[num_combos]."""
        without = combos_without(self.num_suits, self.num_ranks, self.num_hole_cards)
        # `cards` may hold a placeholder for an unknown card: a larger number, which takes the last row.
        return np.logical_and.reduce(without.take(np.fromiter(cards, np.intp), axis=0, mode="clip"), axis=0)

    @functools.cached_property
    def _combo_ids(self) -> dict[frozenset[int], int]:
        return combo_ids(self.num_suits, self.num_ranks, self.num_hole_cards)

    def board_size(self, street: int) -> int:
        """Return the number of board cards on a street, the street's own cards included."""
        return sum(self.board_cards[: street + 1])

    def street_of_board(self, board: Sequence[int]) -> int:
        """Return the first street on which the board has as many cards as `board`.

        Raises
        ------
        ValueError
            If there is no such street.
        """
        sizes = [self.board_size(street) for street in range(self.num_streets)]
        if len(board) not in sizes:
            raise ValueError(f"boards have {', '.join(map(str, sizes))} cards, got {len(board)}")
        return sizes.index(len(board))

    def with_menu(self, betting_abstraction: str) -> "HoldemRules":
        """Return the same rules with the raises on offer that `betting_abstraction` names.

        Raises
        ------
        ValueError
            If the game has no such menu, see `HoldemRules`.
        """
        return dataclasses.replace(self, betting_abstraction=betting_abstraction)


def no_limit_holdem(num_seats: int, stack: int = 10_000, blinds: tuple[int, int] = (50, 100)) -> HoldemRules:
    """Return no-limit Texas hold'em for 2..10 seats with equal stacks.

    Parameters
    ----------
    stack : int
        Chips of every seat; the default is 100 big blinds.
    blinds : tuple of int
        Small and big blind.

    Raises
    ------
    ValueError
        If there are fewer seats than 2 or more than 10, or `HoldemRules` refuses the chips.
    """
    _require(2 <= num_seats <= MAX_SEATS, f"a table has 2..{MAX_SEATS} seats, got {num_seats}")
    small, big = blinds
    heads_up = num_seats == 2
    return HoldemRules(
        blinds=(big, small) if heads_up else (small, big, *[0] * (num_seats - 2)),
        stacks=(stack,) * num_seats,
        first_seats=(1, 0, 0, 0) if heads_up else (2, 0, 0, 0),
        board_cards=(0, 3, 1, 1),
    )


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _is_count(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _check_table(rules: HoldemRules) -> None:
    _require(2 <= len(rules.blinds) <= MAX_SEATS, f"a table has 2..{MAX_SEATS} seats, got {len(rules.blinds)} blinds")
    _require(rules.betting in ("no-limit", "limit"), f"betting is 'no-limit' or 'limit', got {rules.betting!r}")
    menus = BETTING_ABSTRACTIONS[2:] if rules.is_limit else BETTING_ABSTRACTIONS
    _require(
        rules.betting_abstraction in menus,
        f"betting_abstraction of a {rules.betting} game is one of {', '.join(menus)}, "
        f"got {rules.betting_abstraction!r}",
    )


def _check_chips(rules: HoldemRules) -> None:
    for seat, blind in enumerate(rules.blinds):
        _require(_is_count(blind, 0, MAX_CHIPS), f"blinds are whole chips from 0, got {blind!r} for seat {seat}")
    _require(max(rules.blinds) > 0, f"at least one seat must post a blind, got blinds {rules.blinds}")
    if rules.is_limit:
        _require(rules.stacks is None, f"limit games have no stacks (give None), got {rules.stacks}")
        _require(
            sum(rules.blinds) <= MAX_CHIPS,
            f"the blinds together may be at most {MAX_CHIPS} chips, got {sum(rules.blinds)}",
        )
        return
    if rules.stacks is None or len(rules.stacks) != rules.num_seats:
        raise ValueError(f"no-limit needs a stack for each of the {rules.num_seats} seats, got {rules.stacks}")
    for seat, (stack, blind) in enumerate(zip(rules.stacks, rules.blinds, strict=True)):
        _require(_is_count(stack, 1, MAX_CHIPS), f"stacks must be positive chips, got {stack!r} for seat {seat}")
        _require(stack >= blind, f"a stack must cover its blind, got stack {stack} and blind {blind} for seat {seat}")
    _require(
        sum(rules.stacks) <= MAX_CHIPS,
        f"the stacks together may be at most {MAX_CHIPS} chips, got {sum(rules.stacks)}",
    )
    _require(
        any(stack > blind for stack, blind in zip(rules.stacks, rules.blinds, strict=True)),
        f"at least one seat needs chips behind its blind, got stacks {rules.stacks} and blinds {rules.blinds}",
    )


def _check_streets(rules: HoldemRules) -> None:
    streets = len(rules.first_seats)
    _require(1 <= streets <= MAX_STREETS, f"a hand has 1..{MAX_STREETS} streets, got first_seats {rules.first_seats}")
    for seat in rules.first_seats:
        _require(
            _is_count(seat, 0, rules.num_seats - 1),
            f"first_seats are seats 0..{rules.num_seats - 1}, got {rules.first_seats}",
        )
    for name, low, high, needed in (
        ("board_cards", 0, MAX_HAND_CARDS, True),
        ("raise_sizes", 1, MAX_CHIPS, rules.is_limit),
        ("max_raises", 0, UNLIMITED_RAISES, False),
    ):
        values = getattr(rules, name)
        if values is None:
            _require(not needed, f"{name} must be given for each of the {streets} streets")
            continue
        _require(len(values) == streets, f"{name} needs {streets} entries, one a street, got {values}")
        _require(all(_is_count(v, low, high) for v in values), f"{name} must lie in {low}..{high}, got {values}")
    _require(rules.is_limit or rules.raise_sizes is None, "raise_sizes belong to limit games only; give None")
    if rules.raise_sizes is not None:  # universal_poker counts a pot in 32 bits
        largest_pot = rules.num_seats * (rules.big_blind + MAX_STREET_RAISES * sum(rules.raise_sizes))
        _require(
            largest_pot <= MAX_CHIPS,
            f"a pot may be at most {MAX_CHIPS} chips, got raise_sizes {rules.raise_sizes}, which allow {largest_pot}",
        )


def _check_cards(rules: HoldemRules) -> None:
    _require(_is_count(rules.num_suits, 1, 4), f"num_suits must be 1..4, got {rules.num_suits}")
    _require(_is_count(rules.num_ranks, 2, 13), f"num_ranks must be 2..13, got {rules.num_ranks}")
    _require(_is_count(rules.num_hole_cards, 1, 3), f"num_hole_cards must be 1..3, got {rules.num_hole_cards}")
    shown = rules.num_hole_cards + rules.num_board_cards
    _require(shown <= MAX_HAND_CARDS, f"hole and board cards together are at most {MAX_HAND_CARDS}, got {shown}")
    deck = rules.num_suits * rules.num_ranks
    _require(
        rules.num_dealt_cards <= deck,
        f"{rules.num_seats} seats need {rules.num_dealt_cards} cards, the deck has {deck}",
    )


HUNL = no_limit_holdem(2, stack=20_000)
SIXMAX = no_limit_holdem(6)
HULH = HoldemRules(
    blinds=(10, 5),
    stacks=None,
    first_seats=(1, 0, 0, 0),
    board_cards=(0, 3, 1, 1),
    betting="limit",
    raise_sizes=(10, 10, 20, 20),
    max_raises=(3, 4, 4, 4),
    betting_abstraction="fcpa",
)
LEDUC = HoldemRules(
    blinds=(1, 1),
    stacks=None,
    first_seats=(0, 0),
    board_cards=(0, 1),
    betting="limit",
    raise_sizes=(2, 4),
    max_raises=(2, 2),
    num_suits=2,
    num_ranks=3,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)
KUHN = HoldemRules(
    blinds=(1, 1),
    stacks=None,
    first_seats=(0,),
    board_cards=(0,),
    betting="limit",
    raise_sizes=(1,),
    max_raises=(1,),
    num_suits=1,
    num_ranks=3,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)

PRESETS = {"HUNL": HUNL, "SIXMAX": SIXMAX, "HULH": HULH, "LEDUC": LEDUC, "KUHN": KUHN}


def is_holdem(rules: HoldemRules) -> bool:
    """Return whether a game has the cards of hold'em."""
    return (rules.num_suits, rules.num_ranks, rules.num_hole_cards) == (4, 13, 2) and rules.board_cards == (0, 3, 1, 1)
