"""The keys of a person at a decision: the legal keys with their amounts, and the action that a typed text means."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import PublicState
from plurispiel.tournaments.formats.bets import street_bet_of_total, total_of_street_bet
from plurispiel.tournaments.play.table_view import action_words, street_start

_MARKS = (("h", "half pot", 0.5), ("p", "pot", 1.0))
_CALLS = ("c", "k", "x")  # k and x: how players write a check
_RAISE = re.compile(r"[rb] ?(\d[\d,]{0,14})", re.ASCII)


class UnknownKey(ValueError):
    """The text stands for no legal action; the message names keys or amounts that do."""


class Key(NamedTuple):
    """A key with its action in the numbers of this package, and the words shown for it."""

    key: str
    action: int
    words: str


def legal_keys(public: PublicState) -> list[Key]:
    """Return keys for the legal actions, at most one for an action.

    In games with a menu of raises, every raise on offer has a key. Otherwise only the smallest raise, the marks (half
    pot, pot) and the largest raise have keys.
    """
    state, before = public.betting(), street_start(public)
    keys = [Key("f", FOLD, "fold")] if public.can_fold else []
    keys.append(Key("c", CALL, action_words(state, before, CALL)))
    for key, action, mark in _raises(public, before[public.actor]):
        if all(action != other.action for other in keys):
            words = action_words(state, before, action)
            keys.append(Key(key, action, f"{mark}: {words}" if mark else words))
    return keys


def raise_range(public: PublicState) -> tuple[int, int] | None:
    """Return the smallest and the largest raise in chips of the street; None unless all sizes between are legal."""
    if public.menu is not None or not public.max_raise:
        return None
    before = street_start(public)[public.actor]
    return street_bet_of_total(public.min_raise, before), street_bet_of_total(public.max_raise, before)


def raise_marks(public: PublicState) -> list[tuple[str, int]]:
    """Return half the pot, the pot and all chips, as words and chips of the street; empty without a `raise_range`.

    Each is at least the smallest legal raise and at most the largest.
    """
    if raise_range(public) is None:
        return []
    before = street_start(public)[public.actor]
    marks = [(mark, _mark_action(key, public)) for key, mark, _ in _MARKS] + [("all-in", public.max_raise)]
    return [(mark, street_bet_of_total(action, before)) for mark, action in marks]


def parse_key(text: str, public: PublicState) -> int:
    """Return the action that a typed text stands for.

    Parameters
    ----------
    text : str
        ``f``; ``c``, ``k`` or ``x``; ``h``, ``p``, ``a``; ``r`` or ``b`` with the chips on this street, as in ``r300``.
        ``r`` or ``b`` alone is the raise where only one is legal. Capitals are allowed, and commas within numbers.

    Raises
    ------
    UnknownKey
        If the text stands for no legal action.
    """
    word = text.lower()
    if word in _CALLS:
        if word != "c" and public.to_call:
            raise UnknownKey(f"there is a bet of {public.to_call:,} to call: c calls, f folds")
        return CALL
    if word == "f" and not public.can_fold:
        raise UnknownKey("there is no bet to fold to: c checks")
    keys = legal_keys(public)
    for key in keys:
        if key.key == word:
            return key.action
    raises = [key for key in keys if key.action > CALL]
    if word in ("r", "b", "h", "p", "a") and not raises:
        raise UnknownKey(f"no raise is legal here: {_listed([key.key for key in keys])}")
    if word in ("r", "b"):
        if len(raises) == 1:
            return raises[0].action
        raise UnknownKey(f"give the amount, too: {_amounts(public)}")
    if word in ("h", "p", "a"):  # may be typed, too, where its raise is shown under another key
        return _mark_action(word, public)
    if match := _RAISE.fullmatch(word):
        action = total_of_street_bet(int(match[1].replace(",", "")), street_start(public)[public.actor])
        if action > CALL and public.is_legal(action):
            return action
        raise UnknownKey(f"{text} is not legal here: {_amounts(public)}")
    raise UnknownKey(f"{text[:20]!r} is no key: {_listed([key.key for key in keys])}, or ? for help")


def _raises(public: PublicState, before: int) -> Iterator[tuple[str, int, str]]:
    """Yield key, action and mark of the raises that are shown."""
    if public.menu is not None:
        for total in public.menu:
            yield ("r" if len(public.menu) == 1 else f"r{street_bet_of_total(total, before)}"), total, ""
    elif public.max_raise:
        yield f"r{street_bet_of_total(public.min_raise, before)}", public.min_raise, ""
        for key, mark, _ in _MARKS:
            yield key, _mark_action(key, public), mark
        yield "a", public.max_raise, ""


def _mark_action(key: str, public: PublicState) -> int:
    """Return the raise of a mark, at least the smallest legal raise and at most the largest."""
    if key == "a":
        return public.max_raise
    return public.raise_by_pot({mark: fraction for mark, _, fraction in _MARKS}[key])


def _amounts(public: PublicState) -> str:
    """Return the legal raises in words."""
    if (found := raise_range(public)) is not None:
        return f"r{found[0]} to r{found[1]}"
    return _listed([key.key for key in legal_keys(public) if key.action > CALL]) or "no raise"


def _listed(words: Sequence[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
