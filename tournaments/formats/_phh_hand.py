"""One hand of a PHH file, read from its fields and replayed under this package's rules.

Amounts in the file may be fractions, while chips are whole numbers. `unit` is the number of chips that stand for an
amount of 1 in the file.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, HoldemRules
from plurispiel.tournaments.formats.bets import total_of_street_bet
from plurispiel.tournaments.formats.history import HandHistory

BOARD_CARDS = (0, 3, 1, 1)
"""Cards dealt to the board on each street of hold'em."""

_MAX_DECIMALS = 6
_LIMIT_RAISES = (4, 4, 4, 4)
_AMOUNT = re.compile(r"\d{1,12}(\.\d{0,12})?")


def history_of(fields: dict[str, Any], label: str) -> HandHistory:
    """Return the hand that the fields of a TOML table describe.

    Parameters
    ----------
    fields : dict
        The values of the table by name, with `Decimal` for numbers with a decimal point.
    label : str
        Number or name of the hand within its file.

    Raises
    ------
    ValueError
        If a field is missing or wrong, the game is not hold'em, or the antes differ. Also if an action is illegal under
        this package's rules or ``min_bet``, a stack runs out in a fixed-limit hand, or the hand is not over after its
        last action.
    """
    variant = fields.get("variant")
    if variant not in ("NT", "FT"):
        raise ValueError(f"variant is NT or FT (hold'em, no-limit or fixed-limit), got {str(variant)[:20]!r}")
    if fields.get("bring_in"):
        raise ValueError(f"hold'em has no bring_in, got {str(fields['bring_in'])[:20]}; leave bring_in out")
    limit = variant == "FT"
    starting = _numbers(fields, "starting_stacks")
    seats = len(starting)
    antes = _numbers(fields, "antes", seats)
    if len(set(antes)) > 1:
        raise ValueError(f"antes that differ between players cannot be replayed, got {fields['antes']}")
    blinds = _numbers(fields, "blinds_or_straddles", seats, signed=True)
    if seats == 2:
        blinds.reverse()  # heads-up our seat 0 is the big blind, while PHH lists the small blind first
    bets = [_number(name, fields.get(name)) for name in ("small_bet", "small_bet", "big_bet", "big_bet") if limit]
    moves = _moves(fields)
    amounts = [_amount(words[1]) for _, words in moves if words[0] == "cbr"]
    decimals = _decimals([*starting, *antes, *blinds, *bets, *amounts])
    unit = 10**decimals
    stacks = tuple(int(stack * unit) for stack in starting)
    rules = HoldemRules(
        blinds=tuple(int((ante + max(blind, -blind)) * unit) for ante, blind in zip(antes, blinds, strict=True)),
        stacks=None if limit else stacks,
        first_seats=first_seats(blinds),
        board_cards=BOARD_CARDS,
        betting="limit" if limit else "no-limit",
        raise_sizes=tuple(int(bet * unit) for bet in bets) if limit else None,
        max_raises=_LIMIT_RAISES if limit else None,
        betting_abstraction="fcpa" if limit else "fullgame",
    )
    # PHH requires `min_bet` in no-limit hands; a hand without it is replayed by the rules alone.
    min_bet = None if limit or "min_bet" not in fields else _number("min_bet", fields["min_bet"])
    play = _Play(rules, stacks, int(antes[0] * unit), min_bet, unit)
    for player, words in moves:
        play.take(player, words)
    play.end()
    payoffs = None
    if "finishing_stacks" in fields:
        finishing = _numbers(fields, "finishing_stacks", seats)
        payoffs = tuple(float((after - before) * unit) for after, before in zip(finishing, starting, strict=True))
    return HandHistory(
        rules,
        _names(fields.get("players"), seats),
        tuple(_known(cards, all_or_none=True) for cards in play.hole_cards),
        _known(play.board),
        tuple(play.actions),
        payoffs,
        label,
        chip_value=Decimal(1).scaleb(-decimals),
        mucked=tuple(sorted(play.mucked)),
    )


def first_seats(blinds: Sequence[int | Fraction]) -> tuple[int, ...]:
    """Return the first seat to act on each of four streets, given the blinds by seat.

    Before the flop, the seat after the largest blind acts first; of several equally large blinds the last counts. On
    later streets seat 0 acts first. pokerkit writes a blind posted out of turn as a negative number, which is never the
    largest.
    """
    last = max(range(len(blinds)), key=lambda seat: (blinds[seat], seat), default=-1)
    return ((last + 1) % max(1, len(blinds)), 0, 0, 0)


class _Play:
    """Replays a hand's actions.

    Parameters
    ----------
    rules : HoldemRules
        The game.
    stacks : tuple of int
        The chips of each seat before the hand.
    ante : int
        The ante of every seat in chips. The blinds in `rules` contain this ante.
    min_bet : int or Fraction or None
        The smallest bet, and raise, on every street, in units of the file; None for the smallest bet of `rules`.
    unit : int
        Chips for an amount of 1 in the file.

    Attributes
    ----------
    hole_cards : list of list of int or None
        The cards of each seat; None for an unknown card.
    board : list of int or None
        The board cards dealt so far; None for an unknown card.
    actions : list of int
        0 fold, 1 check or call, N raise to N chips over the whole hand.
    mucked : set of int
        Seats that mucked at the showdown.
    """

    def __init__(
        self, rules: HoldemRules, stacks: tuple[int, ...], ante: int, min_bet: int | Fraction | None, unit: int
    ):
        self.hole_cards: list[list[int | None]] = [[] for _ in range(rules.num_seats)]
        self.board: list[int | None] = []
        self.actions: list[int] = []
        self.mucked: set[int] = set()
        self._seats = {f"p{seat + 1}": seat for seat in range(rules.num_seats)}
        self._state = BettingState(rules)
        self._stacks = stacks
        self._before = [ante] * rules.num_seats  # contributions on earlier streets, with the ante
        self._min_bet, self._unit = min_bet, unit
        self._largest_raise = 0  # chips of the largest raise on this street

    def take(self, player: str, words: list[str]) -> None:
        """Apply an action of `player`, the dealer (``d``) or ``p1``, ...; `words` are the rest of the action in PHH."""
        match player, words:
            case "d", ["db", cards]:
                self.board += _cards(cards)
            case "d", ["dh", name, cards]:
                self.hole_cards[self._seat(name)] += _cards(cards)
            case _, ["sm", *cards] if len(cards) < 2:
                self._show(self._seat(player), cards)
            case _, ["f"]:
                self._act(self._seat(player), FOLD)
            case _, ["cc"]:
                self._act(self._seat(player), CALL)
            case _, ["cbr", amount]:
                seat = self._seat(player)
                self._skip_to(seat)
                self._act(seat, total_of_street_bet(int(_amount(amount) * self._unit), self._before[seat]))
            case _:
                raise ValueError(
                    f"not an action of hold'em: {' '.join([player, *words])[:60]!r} (d db CARDS, d dh PLAYER CARDS, "
                    "or a player's f, cc, cbr CHIPS, sm or sm CARDS)"
                )

    def end(self) -> None:
        """Add the checks of seats that can only check, and refuse the hand if it is still not over."""
        self._skip_to(-1)
        if not self._state.is_over:
            raise ValueError(f"the hand stops before its end, with p{self._state.actor + 1} to act")

    def _seat(self, player: str) -> int:
        if player not in self._seats:
            raise ValueError(f"there is no player {player[:20]!r}: players are p1..p{len(self._seats)}")
        return self._seats[player]

    def _skip_to(self, seat: int) -> None:
        """Add the checks of seats that can only check, until the seat to act is `seat` or has another legal action.

        With -1 for `seat`, only a seat with another legal action ends the checks. The checks are added because some
        card rooms leave out the checks of the only player with chips left.
        """
        state = self._state
        while not state.is_over and state.actor != seat and not state.can_fold and not state.max_raise:
            self._apply(CALL)

    def _act(self, seat: int, action: int) -> None:
        self._skip_to(seat)
        state = self._state
        if state.actor != seat:
            turn = "after the last action" if state.is_over else f"when it is p{state.actor + 1}'s turn"
            raise ValueError(f"action {len(self.actions) + 1}: p{seat + 1} acts {turn}")
        seen, due = len(self.board), state.rules.board_size(state.street)
        if seen != due:
            raise ValueError(
                f"action {len(self.actions) + 1}: {seen} board cards where street {state.street} has {due}"
            )
        self._apply(action)

    def _apply(self, action: int) -> None:
        """Apply an action of the seat to act, and refuse a limit hand in which a stack runs out."""
        state = self._state
        seat, street = state.actor, state.street
        refused = self._too_small(action)
        raised_by = action - max(state.contributions)
        if not refused:
            try:
                state.apply(action)
            except ValueError as error:
                refused = str(error)
        if refused:
            refused = f"action {len(self.actions) + 1}, of p{seat + 1}: {refused}"
        stack = self._stacks[seat]
        if state.rules.is_limit and (action == stack or state.contributions[seat] >= stack):
            refused = f"action {len(self.actions) + 1}: p{seat + 1} is all in, but our limit games have no stacks"
        if refused:
            raise ValueError(refused)
        self.actions.append(action)
        if action > CALL:
            self._largest_raise = max(self._largest_raise, raised_by)
        if state.street != street:
            self._before = list(state.contributions)
            self._largest_raise = 0

    def _too_small(self, action: int) -> str:
        """Return a message if `min_bet` forbids a raise, or allows a raise that is too small for the rules; else empty.

        All-in raises are left to the rules. So are all raises if `min_bet` is the smallest bet of the rules. Unless
        `min_bet` forbids it, a raise by less than the largest raise on the street is left to the rules, too.
        """
        state = self._state
        if self._min_bet is None or not CALL < action < self._stacks[state.actor] or not state.max_raise:
            return ""
        smallest = self._min_bet * self._unit
        highest = max(state.contributions)
        raised_by, stated = action - highest, _text(self._min_bet)
        if raised_by < smallest and smallest > state.rules.big_blind:
            return f"a raise by {self._chips(raised_by)} is less than min_bet = {stated}"
        if raised_by >= max(smallest, self._largest_raise) and action < state.min_raise:
            return (
                f"min_bet = {stated} is not supported: the smallest raise here is the largest blind or straddle plus "
                f"the ante, {self._chips(state.rules.big_blind)}, or all chips, and this raise is by "
                f"{self._chips(raised_by)}"
            )
        return ""

    def _chips(self, chips: int) -> str:
        """Return chips as text in units of the file."""
        return _text(Fraction(chips, self._unit))

    def _show(self, seat: int, cards: list[str]) -> None:
        self._skip_to(-1)
        if not self._state.is_over:
            raise ValueError(f"p{seat + 1} shows or mucks before the betting is over")
        if not cards:  # `sm` without cards is a muck, `sm -` shows nothing
            self.mucked.add(seat)
        elif cards != ["-"]:
            shown, dealt = _cards(cards[0]), self.hole_cards[seat]
            if None in dealt or not dealt:
                self.hole_cards[seat] = shown
            elif None not in shown and set(shown) != set(dealt):
                raise ValueError(f"p{seat + 1} shows other cards than it was dealt")


def _text(amount: int | Fraction) -> str:
    return f"{float(amount):.15g}"


def _amount(text: str) -> int | Fraction:
    return Fraction(text) if "." in text else int(text)


def _number(name: str, value: object, signed: bool = False) -> int | Fraction:
    """Return the exact amount in the field `name`, in units of the file; it may be negative only if `signed`."""
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) < 40:
        number: int | Fraction = Fraction(value)  # the fraction of a larger exponent would fill the memory
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    else:
        raise ValueError(f"{name} must be chips, got {str(value)[:40]!r}")
    lowest = -MAX_CHIPS if signed else 0
    if not lowest <= number <= MAX_CHIPS:
        raise ValueError(f"{name} must be {lowest}..{MAX_CHIPS} chips, got {str(value)[:40]}")
    return number


def _numbers(fields: dict[str, Any], name: str, seats: int | None = None, signed: bool = False) -> list[int | Fraction]:
    """Return the numbers of a field that lists a number for each player.

    If `seats` is None, any number of players is accepted.
    """
    values = fields.get(name)
    if not isinstance(values, list):
        raise ValueError(f"{name} must list the chips of every player, got {str(values)[:40]}")
    if seats is not None and len(values) != seats:
        raise ValueError(f"{name} must list the chips of {seats} players, as starting_stacks does, got {len(values)}")
    return [_number(name, value, signed) for value in values]


def _decimals(numbers: Iterable[int | Fraction]) -> int:
    """Return the smallest number of decimals that writes all numbers exactly."""
    denominators = {number.denominator for number in numbers}
    for decimals in range(_MAX_DECIMALS + 1):
        if all(10**decimals % denominator == 0 for denominator in denominators):
            return decimals
    raise ValueError(
        f"amounts of chips must have at most {_MAX_DECIMALS} decimals, and an amount of this hand has more"
    )


def _moves(fields: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the player (or ``d``) and the further words of each action, without comments."""
    actions = fields.get("actions")
    if not isinstance(actions, list) or not all(isinstance(action, str) for action in actions):
        raise ValueError("actions must be a list of texts")
    moves = []
    for action in actions:
        player, *words = action.partition("#")[0].split() or [""]
        if words[:1] == ["cbr"] and not (len(words) == 2 and _AMOUNT.fullmatch(words[1])):
            raise ValueError(f"a bet is written p1 cbr 200, got {action[:60]!r}")
        if player and not words:
            raise ValueError(f"not an action of hold'em: {player[:60]!r} (a player and a move, as in 'p1 f')")
        if player:
            moves.append((player, words))
    return moves


def _cards(text: str) -> list[int | None]:
    """Return the cards in a text such as ``AsKd``; None for a card with an unknown rank or suit (``A?``, ``??``)."""
    if "?" not in text:
        return list(parse_cards(text))
    cards: list[int | None] = []
    for k in range(0, len(text), 2):
        card = text[k : k + 2]
        cards += [None] if "?" in card and len(card) == 2 else parse_cards(card)
    return cards


def _known(cards: list[int | None], all_or_none: bool = False) -> tuple[int, ...]:
    """Return the cards before the first unknown card. With `all_or_none`, a single unknown card leaves no cards."""
    known = cards[: cards.index(None)] if None in cards else cards
    return () if all_or_none and len(known) < len(cards) else tuple(card for card in known if card is not None)


def _names(players: object, seats: int) -> tuple[str, ...]:
    if players is None:
        players = [""] * seats
    if not isinstance(players, list) or not all(isinstance(name, str) for name in players):
        raise ValueError("players must be a list of names")
    if len(players) != seats:
        raise ValueError(f"players must list {seats} names, as many as starting_stacks lists, got {len(players)}")
    return tuple(name or f"p{number}" for number, name in enumerate(players, start=1))
