"""The table as text, from the view of one seat: the public state and the seat's own cards, and nothing else.

Bets are shown as card rooms announce them: the chips of a seat on the present street. The number of an action counts
the chips of the whole hand; `formats.bets` converts.
"""

from collections.abc import Sequence

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import PublicState, View
from plurispiel.tournaments.formats.bets import street_bet_of_total

_MIN_NAME = 6


def table_lines(view: View, names: Sequence[str], width: int) -> list[str]:
    """Return the table at a decision: a line for each seat, and a line for board and pot.

    Parameters
    ----------
    names : sequence of str
        The player in each seat.
    width : int
        Characters in a line.
    """
    public = view.public
    stacks, before = public.stacks, street_start(public)
    bets = [total - earlier for total, earlier in zip(public.contributions, before, strict=True)]
    rows = []
    for seat, position in enumerate(seat_positions(public.rules)):
        state = "folded" if public.folded[seat] else f"bet {bets[seat]:,}" if bets[seat] else ""
        if stacks is not None and stacks[seat] == 0:
            state = f"{state} all-in".strip()
        rows.append(
            (
                ">" if seat == view.seat else " ",
                position,
                cards_words(view.hole_cards) if seat == view.seat else "",
                "" if stacks is None else f"{stacks[seat]:,}",
                state,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    used = sum(widths) + 2 * len(widths)
    room = min(max(map(len, names)), max(_MIN_NAME, width - used))
    lines = []
    for row, name in zip(rows, names, strict=True):
        mark, position, cards, stack, state = (cell.ljust(wide) for cell, wide in zip(row, widths, strict=True))
        cells = (
            mark + position,
            _clipped(printable(name), room).ljust(room),
            cards,
            stack.strip().rjust(widths[3]),
            state,
        )
        lines.append("  ".join(cell for cell in cells if cell).rstrip())
    return [*lines, "   ".join([*board_words(public.board), f"pot {public.pot:,}"])]


def board_words(board: Sequence[int]) -> list[str]:
    """Return the board as a list of one text; an empty list without a board."""
    return [f"board {cards_words(board)}"] if board else []


def cards_words(cards: Sequence[int]) -> str:
    """Return cards with blanks between them.

    >>> cards_words((51, 44))
    'As Kc'
    """
    return " ".join(map(card_text, cards))


def street_start(public: PublicState) -> tuple[int, ...]:
    """Return the chips that each seat had put in before this street; antes are put in before the first street."""
    if public.street == 0:
        return _antes(public.rules)
    return tuple(total - bet for total, bet in zip(public.contributions, public.street_contributions, strict=True))


def action_words(state: BettingState, before: Sequence[int], action: int, highest: int | None = None) -> str:
    """Return an action in words, such as ``raise to 300``, in chips of the street.

    Parameters
    ----------
    state : BettingState
        The state before the action.
    before : sequence of int
        The chips that each seat had put in before the street.
    highest : int, optional
        If above `action`, the words stand for all raises between `action` and `highest`.
    """
    if action == FOLD:
        return "fold"
    actor, stacks, paid = state.actor, state.rules.stacks, state.contributions
    if action == CALL:
        price = state.to_call
        is_last = stacks is not None and price and price == stacks[actor] - paid[actor]
        return f"call {price:,}{' (all-in)' if is_last else ''}" if price else "check"
    bet = street_bet_of_total(action, before[actor])
    word = "raise to" if max(paid) > max(before) else "bet"
    if highest is not None and highest > action:
        return f"{word} {bet:,} to {street_bet_of_total(highest, before[actor]):,}"
    return f"{word} {bet:,}{' (all-in)' if stacks is not None and action == stacks[actor] else ''}"


class Follower:
    """Follows the betting of a hand from its public actions, to put each action in words.

    Attributes
    ----------
    state : BettingState
        The betting so far.
    before : tuple of int
        The chips that each seat had put in before the present street (`street_start`).
    """

    def __init__(self, rules: HoldemRules):
        self.state = BettingState(rules)
        self.before = _antes(rules)
        self._street = 0

    def begin_street(self, street: int) -> None:
        """Begin a street, unless it has begun already."""
        if street > self._street:
            self._street, self.before = street, self.state.contributions

    def take(self, action: int) -> str:
        """Apply an action, which must be legal, and return it in words."""
        words = action_words(self.state, self.before, action)
        self.state.apply_legal(action)
        return words


def street_name(street: int) -> str:
    """Return the name of a street."""
    return STREETS[street]


def chips_words(chips: float) -> str:
    """Return net chips with their sign; split pots give fractions.

    >>> chips_words(-1250.0), chips_words(100 / 3)
    ('-1,250', '+33.33')
    """
    return f"{chips:+,.0f}" if chips == int(chips) else f"{chips:+,.2f}"


def _clipped(name: str, room: int) -> str:
    """Return a name cut to `room` characters; a number at its end, as in ``call#2``, is kept."""
    title, mark, number = name.partition("#")
    return title[: max(0, room - len(mark + number))] + mark + number if len(name) > room else name


def _antes(rules: HoldemRules) -> tuple[int, ...]:
    """Return the ante of each seat: blinds that are equal for all seats, as in Kuhn and Leduc poker, are antes."""
    return rules.blinds if len(set(rules.blinds)) == 1 else (0,) * rules.num_seats
