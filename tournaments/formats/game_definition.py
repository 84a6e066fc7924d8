"""Reader and writer of the ACPC's game files (``.game``), in which a ``GAMEDEF`` text describes the rules.

Keys are not case-sensitive, ``=`` is optional, lines that begin with ``#`` are comments. As in the ACPC's dealer,
``firstPlayer`` counts seats from 1 and defaults to 1, and without ``maxRaises`` the number of raises is not limited.
"""

import re
from pathlib import Path

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import (
    HULH,
    HUNL,
    KUHN,
    LEDUC,
    MAX_STREET_RAISES,
    UNLIMITED_RAISES,
    HoldemRules,
    no_limit_holdem,
)

_LIMIT_3P = HoldemRules(
    blinds=(5, 10, 0),
    stacks=None,
    first_seats=(2, 0, 0, 0),
    board_cards=(0, 3, 1, 1),
    betting="limit",
    raise_sizes=(10, 10, 20, 20),
    max_raises=(3, 4, 4, 4),
    betting_abstraction="fcpa",
)
_KUHN_3P = HoldemRules(
    blinds=(1, 1, 1),
    stacks=None,
    betting="limit",
    raise_sizes=(1,),
    max_raises=(1,),
    num_suits=1,
    num_ranks=4,
    num_hole_cards=1,
    betting_abstraction="fcpa",
)

BUILT_IN = {
    "holdem.limit.2p.reverse_blinds.game": HULH,
    "holdem.limit.3p.game": _LIMIT_3P,
    "holdem.nolimit.2p.reverse_blinds.game": HUNL,
    "holdem.nolimit.3p.game": no_limit_holdem(3, stack=20_000),
    "kuhn.limit.3p.game": _KUHN_3P,
    "kuhn.limit.2p.game": KUHN,
    "leduc.limit.2p.game": LEDUC,
}
"""Rules by file name: the five games of the ACPC's dealer, and two-player Kuhn and Leduc under their usual names."""

_MAX_BYTES = 1 << 16
_LINE = re.compile(r"\s*(end gamedef|[a-z]+)[\s=]*((?:\d{1,10}(?:\s+|$))*)", re.IGNORECASE)
_KEYS = {
    "stack",
    "blind",
    "raisesize",
    "numplayers",
    "numrounds",
    "firstplayer",
    "maxraises",
    "numsuits",
    "numranks",
    "numholecards",
    "numboardcards",
}


def parse_game_definition(text: str) -> HoldemRules:
    """Return the rules of a game definition.

    Raises
    ------
    ValueError
        If the text is not a game definition, or `HoldemRules` refuses the rules. A limit game is also refused if its
        stacks can run out, because `universal_poker` gives limit games no stacks.
    """
    betting = "limit"
    found: dict[str, tuple[int, ...]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        match = _LINE.fullmatch(line)
        key = match[1].lower() if match else ""
        if key == "end gamedef":
            break
        if key in ("limit", "nolimit"):
            betting = "limit" if key == "limit" else "no-limit"
        elif match and key in _KEYS:
            found[key] = tuple(map(int, match[2].split()))
        elif key != "gamedef":
            raise ValueError(f"line {number} does not belong to a game definition: {line[:60]!r}; write KEY = NUMBERS")

    def numbers(key: str, count: int, default: int | None = None) -> tuple[int, ...]:
        """Return the first `count` numbers of a key. Missing ones are `default`, or an error without a default."""
        values = found.get(key, ())[:count]
        if default is not None:
            values += (default,) * (count - len(values))
        if len(values) < count:
            raise ValueError(
                f"a game definition needs {count} number(s) of {key}, got {len(values)}; add a line '{key} = ...'"
            )
        return values

    (seats,) = numbers("numplayers", 1)
    (streets,) = numbers("numrounds", 1)
    if not (seats and streets):
        raise ValueError(f"numPlayers and numRounds must be at least 1, got {seats} and {streets}")
    limit = betting == "limit"
    rules = HoldemRules(
        blinds=numbers("blind", seats),
        stacks=None if limit else numbers("stack", seats),
        first_seats=tuple(seat - 1 for seat in numbers("firstplayer", streets, default=1)),
        board_cards=numbers("numboardcards", streets),
        betting=betting,
        raise_sizes=numbers("raisesize", streets) if limit else None,
        max_raises=numbers("maxraises", streets, default=UNLIMITED_RAISES) if "maxraises" in found else None,
        num_suits=numbers("numsuits", 1)[0],
        num_ranks=numbers("numranks", 1)[0],
        num_hole_cards=numbers("numholecards", 1)[0],
        betting_abstraction="fcpa" if limit else "fullgame",
    )
    if limit and "stack" in found and min(numbers("stack", seats)) < most_chips(rules):
        raise ValueError(
            f"limit games have no stacks that run out, got {numbers('stack', seats)}; "
            f"give each seat at least {most_chips(rules)} chips, or leave stack out"
        )
    return rules


def read_game_definition(path: Path) -> HoldemRules:
    """Return the rules of a ``.game`` file, of which only the first 64 KiB are read.

    Raises
    ------
    ValueError
        If the file cannot be read or is no game definition; the message names the path of the file.
    """
    try:
        with path.open("rb") as stream:
            text = stream.read(_MAX_BYTES).decode("utf-8", errors="backslashreplace")
        return parse_game_definition(text)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def game_by_name(name: str) -> HoldemRules:
    """Return the rules of a ``.game`` file, or of the built-in game of that name if the file does not exist.

    Raises
    ------
    ValueError
        If there is neither such a file nor such a built-in game, or if the file is broken.
    """
    path = Path(name)
    if path.name in BUILT_IN and not path.exists():
        return BUILT_IN[path.name]
    return read_game_definition(path)


def find_game(text: str) -> HoldemRules:
    """Return the rules that a text names: ``NAME.game`` (`game_by_name`), a preset or an OpenSpiel game string.

    Raises
    ------
    ValueError
        If the text names no game, or a broken one.
    """
    return game_by_name(text) if text.endswith(".game") else parse_game(text)


def built_in_name(rules: HoldemRules) -> str | None:
    """Return the name in `BUILT_IN` of a game with these rules, or None; the betting abstraction may differ."""
    text = game_definition_text(rules)
    return next((name for name, known in BUILT_IN.items() if game_definition_text(known) == text), None)


def game_definition_text(rules: HoldemRules) -> str:
    """Return rules as the text of a ``.game`` file, which cannot express OpenSpiel's betting abstraction."""
    lines = ["GAMEDEF", "limit" if rules.is_limit else "nolimit"]
    for key, values in (
        ("numPlayers", (rules.num_seats,)),
        ("numRounds", (rules.num_streets,)),
        ("stack", rules.stacks),
        ("blind", rules.blinds),
        ("raiseSize", rules.raise_sizes),
        ("firstPlayer", tuple(seat + 1 for seat in rules.first_seats)),
        ("maxRaises", rules.max_raises),
        ("numSuits", (rules.num_suits,)),
        ("numRanks", (rules.num_ranks,)),
        ("numHoleCards", (rules.num_hole_cards,)),
        ("numBoardCards", rules.board_cards),
    ):
        if values is not None:
            lines.append(f"{key} = {' '.join(map(str, values))}")
    return "\n".join([*lines, "END GAMEDEF"]) + "\n"


def most_chips(rules: HoldemRules) -> int:
    """Return the largest number of chips that a seat can bet in a hand of a limit game."""
    raises = rules.max_raises or (UNLIMITED_RAISES,) * rules.num_streets
    return rules.big_blind + sum(
        size * min(count, MAX_STREET_RAISES) for size, count in zip(rules.raise_sizes or (), raises, strict=True)
    )
