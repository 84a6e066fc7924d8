"""Games by name: the ladder from Kuhn poker to two streets of hold'em, presets, and all games that OpenSpiel loads."""

import contextlib
import dataclasses
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyspiel

from plurispiel.abstraction.holdem.openspiel import game_string, load_game, parse_game
from plurispiel.abstraction.holdem.rules import LEDUC, PRESETS, HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion

_LEDUC_N = re.compile(r"leduc-(\d+)", re.IGNORECASE)
MIN_RANKS, MAX_RANKS = 2, 13


@dataclass(frozen=True)
class NamedGame:
    """One game of the ladder.

    Attributes
    ----------
    game : str
        OpenSpiel's game string.
    text : str
        Description of the game in a few words, as `plurispiel ls games` prints it.
    value : float or None
        Player 0's value in every equilibrium, in chips; None if it is not known.
    """

    game: str
    text: str
    value: float | None = None


def _two_street_holdem(stack: int, num_ranks: int, num_suits: int, flop: int) -> str:
    rules = HoldemRules(
        blinds=(100, 50),
        stacks=(stack, stack),
        first_seats=(1, 0),
        board_cards=(0, flop),
        num_suits=num_suits,
        num_ranks=num_ranks,
        betting_abstraction="fcpa",
    )
    return game_string(rules)


def leduc_n(num_ranks: int) -> NamedGame:
    """Return Leduc poker with `num_ranks` ranks in two suits, as ``universal_poker``.

    Raises
    ------
    ValueError
        If `num_ranks` is not 2..13.
    """
    if not MIN_RANKS <= num_ranks <= MAX_RANKS:
        raise ValueError(f"leduc-N has {MIN_RANKS}..{MAX_RANKS} ranks, got leduc-{num_ranks}")
    rules = dataclasses.replace(LEDUC, num_ranks=num_ranks)
    return NamedGame(game_string(rules), f"Leduc poker with {num_ranks} ranks")


LADDER = {
    "kuhn": NamedGame("kuhn_poker", "Kuhn poker", -1 / 18),
    "kuhn3": NamedGame("kuhn_poker(players=3)", "Kuhn poker, three players"),
    "leduc": NamedGame("leduc_poker", "Leduc poker", -0.085606424078),
    "leduc3": NamedGame("leduc_poker(players=3)", "Leduc poker, three players"),
    "holdem-mini": NamedGame(
        _two_street_holdem(600, 6, 2, 1), "hold'em of 12 cards: 6 bb, one board card; fold, call, pot, all-in"
    ),
    "holdem-flop": NamedGame(
        _two_street_holdem(10_000, 13, 4, 3), "hold'em until the flop: 100 bb; fold, call, pot, all-in"
    ),
}
"""The ladder by name, without the games ``leduc-N``, which `leduc_n` makes."""


def find_game(text: str) -> pyspiel.Game:
    """Return the game that a text names: one of the ladder, a preset, or the game of an OpenSpiel game string.

    Raises
    ------
    ValueError
        If there is no such game, or OpenSpiel or `HoldemRules` refuses its parameters.
    """
    if text.lower() in LADDER:
        text = LADDER[text.lower()].game
    elif ranks := _LEDUC_N.fullmatch(text):
        text = leduc_n(int(ranks[1])).game
    elif text.upper() in PRESETS:
        return load_game(PRESETS[text.upper()])
    found = re.match(r"\w*", text)
    name = found.group() if found else ""
    known = pyspiel.registered_names()
    if name not in known:  # OpenSpiel itself would print the names of all its games
        names = [*LADDER, "leduc-4", *map(str.lower, PRESETS), *known]
        hint = suggestion(text.partition("(")[0], names)
        raise ValueError(f"unknown game {text!r}{hint} (see plurispiel ls games; any OpenSpiel game string will do)")
    if name == "universal_poker":
        return load_game(parse_game(text))  # OpenSpiel ends the process on invalid rules
    try:
        with _silence():
            return pyspiel.load_game(text)
    except pyspiel.SpielError as error:
        raise ValueError(f"OpenSpiel refuses the game {text!r}: {' '.join(str(error).split())[:200]}") from None
    except TypeError:  # pybind11 takes only text that UTF-8 can hold
        raise ValueError(f"a game string is text in UTF-8, got {text!r}") from None


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Discard the output of C++ to standard error: OpenSpiel prints each error that it also raises."""
    try:
        kept = os.dup(2)
    except OSError:  # no stderr
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
