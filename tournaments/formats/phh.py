"""Hand histories in the PHH format, which is TOML.

A ``.phh`` file holds one hand, a ``.phhs`` file a table for each hand. Players are listed in the order of this
package's seats: p1 is the small blind, but heads-up the big blind. The field ``blinds_or_straddles`` is an exception:
it begins with the small blind heads-up as well. Bets count the chips of their street without antes. Amounts may be
fractions with up to six decimals. A chip of this package is therefore 1, 0.1, 0.01, ... units of the file. Of these
values it is the largest with which all stacks before the hand, antes, blinds, fixed bets and bets made are whole
numbers of chips.

The reader takes no-limit (``NT``) and fixed-limit (``FT``) hold'em. Antes must be equal and become part of the blinds,
as `universal_poker` has no antes. The smallest no-limit raise is then the sum of the ante and the largest blind or
straddle. A smaller raise is refused, also where ``min_bet`` allows it, unless it is all-in. If ``min_bet`` is above
that sum, a raise by less than ``min_bet`` is refused, unless it is all-in. Fixed-limit rules have no stacks here, so a
fixed-limit hand in which a stack runs out is refused. The field ``winnings`` is ignored, as it omits the rake.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import NUM_RANKS, NUM_SUITS, cards_text
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, HoldemRules
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats._phh_hand import BOARD_CARDS, first_seats, history_of
from plurispiel.tournaments.formats.bets import street_bet_of_total
from plurispiel.tournaments.formats.game_definition import most_chips
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

PHH_BEGIN = b"[1]"
"""How a file of hands begins that `write_phh` numbers from 1."""

_MAX_BYTES = 1 << 22
_TABLE = re.compile(rb"\s*\[\s*([\"']?)([\w-]+)\1\s*\]\s*(#.*)?")
_NUMBER = re.compile(r"0|[1-9]\d{0,17}", re.ASCII)


def read_phh(path: Path) -> Iterator[HandHistory | BrokenHistory]:
    """Yield the hands of a ``.phh`` or ``.phhs`` file, and a `BrokenHistory` for each defect."""
    file = str(path)
    try:
        with path.open("rb") as stream:
            many = path.suffix.lower() == ".phhs"
            for label, text in _tables(stream) if many else [("1", stream.read(_MAX_BYTES + 1))]:
                try:
                    fields = _parse(text)
                    label = _label(fields.get("hand"), label)
                    yield history_of(fields, label)
                except ValueError as error:
                    yield BrokenHistory(file, label, str(error))
    except OSError as error:
        yield BrokenHistory(file, None, error.strerror or str(error))
    except ValueError as error:
        yield BrokenHistory(file, None, str(error))


def write_phh(stream: TextIO, histories: Iterable[HandHistory], *, first: int = 1) -> None:
    """Write hold'em hands as the tables of a ``.phhs`` file, numbered from `first`.

    pokerkit and card rooms refuse two kinds of raises that this package allows. The first is the raise of a seat that
    has already acted, over an all-in of less than a full raise. The second is a raise beyond the stacks of all
    opponents. pokerkit and card rooms also give the odd chips of a split pot to one seat.

    Raises
    ------
    ValueError
        If PHH cannot express a hand's game, or the hand's actions break the rules of that game.
    """
    for number, history in enumerate(histories, start=first):
        try:
            fields = _fields(history)
        except ValueError as error:
            raise ValueError(f"hand {history.label}: {error}") from None
        lines = [f"[{number}]", *(f"{key} = {value}" for key, value in fields.items())]
        stream.write("\n".join(lines) + "\n\n")


def check_phh_game(rules: HoldemRules) -> None:
    """Check that PHH can express a game.

    Raises
    ------
    ValueError
        If PHH has no such game.
    """
    deck = (rules.num_suits, rules.num_ranks, rules.num_hole_cards, rules.board_cards)
    if deck != (NUM_SUITS, NUM_RANKS, 2, BOARD_CARDS) or rules.first_seats != first_seats(rules.blinds):
        raise ValueError(
            "PHH has no such game: it needs hold'em with four streets, in which the seat after the largest blind acts "
            "first before the flop, and seat 0 first on later streets"
        )
    sizes = _raise_sizes(rules)
    if sizes[0] != sizes[1] or sizes[2] != sizes[3]:
        raise ValueError(f"PHH has no such game: limits may change after the flop only, got raises of {sizes}")


def _tables(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the text of every table of a file, holding one table in memory at a time."""
    label = ""
    lines: list[bytes] = []
    size = 0
    while line := stream.readline(_MAX_BYTES):
        if match := _TABLE.fullmatch(line.rstrip()):
            if label:
                yield label, b"".join(lines)
            label = match[2].decode()
            lines, size = [], 0
        elif label:
            if size <= _MAX_BYTES:
                lines.append(line)
            size += len(line)
        elif line.strip() and not line.lstrip().startswith(b"#"):
            raise ValueError(f"a .phhs file begins with a table such as [1], and this file begins with {line[:40]!r}")
    if not label:
        raise ValueError("holds no hand")
    yield label, b"".join(lines)


def _parse(text: bytes) -> dict[str, Any]:
    """Return the fields of a hand's TOML text; numbers with a decimal point become `Decimal`."""
    if len(text) > _MAX_BYTES:
        raise ValueError(f"a hand has at most {_MAX_BYTES:,} bytes of text, and the text of this hand has more")
    if not text.strip():
        raise ValueError("the hand's text is empty")
    try:
        return tomllib.loads(text.decode("utf-8"), parse_float=Decimal)
    except UnicodeDecodeError:
        raise ValueError("the hand's text is not in UTF-8") from None
    except RecursionError:
        raise ValueError("not valid TOML: nested too deeply") from None
    except (ValueError, ArithmeticError) as error:  # some numbers are too long for Python, or for a decimal
        raise ValueError(f"not valid TOML: {error}") from None


def _label(hand: object, table: str) -> str:
    return str(hand)[:80] if isinstance(hand, int | str) and hand != "" else table


def _fields(history: HandHistory) -> dict[str, str]:
    """Return the fields of a hand by name, each value as TOML text."""
    rules = history.rules
    check_phh_game(rules)
    sizes = _raise_sizes(rules)
    stacks = rules.stacks or (2 * most_chips(rules),) * rules.num_seats  # larger than any loss

    def chips(values: Iterable[float]) -> str:
        return f"[{', '.join(_chips_text(value, history.chip_value) for value in values)}]"

    fields = {
        "variant": '"FT"' if rules.is_limit else '"NT"',
        "antes": chips([0] * rules.num_seats),
        "blinds_or_straddles": chips(rules.blinds[::-1] if rules.num_seats == 2 else rules.blinds),
    }
    if rules.is_limit:
        fields["small_bet"] = _chips_text(sizes[0], history.chip_value)
        fields["big_bet"] = _chips_text(sizes[2], history.chip_value)
    else:
        fields["min_bet"] = _chips_text(rules.big_blind, history.chip_value)
    fields["starting_stacks"] = chips(stacks)
    fields["actions"] = f"[{', '.join(map(_text, _written_actions(history)))}]"
    fields["hand"] = history.label if _NUMBER.fullmatch(history.label) else _text(history.label)
    fields["players"] = f"[{', '.join(map(_text, history.names))}]"
    if history.payoffs is not None:
        fields["finishing_stacks"] = chips(stack + won for stack, won in zip(stacks, history.payoffs, strict=True))
    return fields


def _raise_sizes(rules: HoldemRules) -> tuple[int, ...]:
    """Return the smallest raise of each street."""
    return rules.raise_sizes or (rules.big_blind,) * len(BOARD_CARDS)


def _written_actions(history: HandHistory) -> Iterator[str]:
    """Yield the actions in PHH notation, in the order that pokerkit requires."""
    rules = history.rules
    betting = replay_betting(rules, history.actions)
    stacks = rules.stacks or (MAX_CHIPS,) * rules.num_seats
    paid = list(rules.blinds)
    before = [0] * rules.num_seats
    street = 0

    def deal(until: int) -> Iterator[str]:
        """Yield the board cards dealt after `street` up to the street `until`, as an action for each street."""
        for dealt in range(street + 1, until + 1):
            if cards := history.board[rules.board_size(dealt - 1) : rules.board_size(dealt)]:
                yield f"d db {cards_text(cards)}"

    for seat, cards in enumerate(history.hole_cards):
        yield f"d dh p{seat + 1} {cards_text(cards) or '????'}"
    for seat, action, action_street in betting.actions:
        if action_street > street:
            yield from deal(action_street)
            street = action_street
            before = list(paid)
        if action == CALL and paid[seat] >= max(stacks[:seat] + stacks[seat + 1 :]):
            continue  # no opponent has chips left to bet, and pokerkit skips this check
        if action != FOLD:
            paid[seat] = min(max(*paid, action), stacks[seat])
        if action > CALL:
            size = street_bet_of_total(action, before[seat])
            yield f"p{seat + 1} cbr {_chips_text(size, history.chip_value)}"
        else:
            yield f"p{seat + 1} {'f' if action == FOLD else 'cc'}"
    if betting.state.is_over and betting.showdown:
        for seat in betting.live_seats:
            if seat in history.mucked:
                yield f"p{seat + 1} sm"
            else:
                yield f"p{seat + 1} sm {cards_text(history.hole_cards[seat]) or '????'}"
        yield from deal(rules.num_streets - 1)


def _chips_text(chips: float, value: Decimal) -> str:
    """Return chips as text in the units of the source, exactly if the chips are a whole number."""
    if chips == int(chips):
        number = int(chips) * value
        return f"{number.quantize(Decimal(1)) if number == int(number) else number.normalize():f}"
    return repr(chips * float(value))


def _text(value: str) -> str:
    """Return a text as a TOML string; lone surrogates, which TOML cannot hold, are replaced."""
    whole = value.encode("utf-8", errors="replace").decode()
    return json.dumps(whole, ensure_ascii=False).replace("\x7f", "\\u007f")
