"""The border to OpenSpiel: the rules of a game string or game, and the translation of cards and actions both ways.

`HoldemRules` can express three OpenSpiel games: ``universal_poker`` and, as special cases, ``leduc_poker`` and
``kuhn_poker``. Each of the three games numbers cards and actions in its own way; only this module translates these
numbers. *Our* actions are those of `betting.BettingState`: 0 fold, 1 check or call, N raise to N chips.
"""

import dataclasses
import functools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import pyspiel

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, named_raises
from plurispiel.abstraction.holdem.cards import NUM_CARDS
from plurispiel.abstraction.holdem.rules import (
    BETTING_ABSTRACTIONS,
    KUHN,
    LEDUC,
    MAX_CHIPS,
    MAX_SEATS,
    PRESETS,
    HoldemRules,
)
from plurispiel.abstraction.machine.suggestion import suggestion

GAME_NAMES = ("universal_poker", "leduc_poker", "kuhn_poker")

_GAME_STRING = re.compile(r"\w+(\((\w+=[^(),=]*(,\w+=[^(),=]*)*)?\))?")
_NUMERIC = re.compile(r"=([-+.0-9]+)(?=[,)])")
"""A value that OpenSpiel's parser takes for a number. The parser raises RuntimeError if the number is malformed or too
large."""


def parse_game(text: str) -> HoldemRules:
    """Return the rules that a preset's name or an OpenSpiel game string stands for, without loading the game.

    Loading could end the process: ``universal_poker`` does so if a stack is below its blind.

    Raises
    ------
    ValueError
        If the text is neither a preset's name nor the string of a supported game, or `HoldemRules` refuses its rules.
    """
    if text.upper() in PRESETS:
        return PRESETS[text.upper()]
    if not (text.isascii() and _GAME_STRING.fullmatch(text)):  # before OpenSpiel's parser, as that prints to stderr
        raise ValueError(
            f"a game is a preset ({', '.join(PRESETS)}) or a game string NAME(parameter=value,parameter=value), got "
            f"{text!r}"
        )
    for value in _NUMERIC.findall(text):
        if not _is_number(value):
            raise ValueError(f"numbers of a game string are whole numbers up to {MAX_CHIPS}, got {value[:20]!r}")
    parameters = pyspiel.game_parameters_from_string(text)
    name = parameters["name"]
    if name not in GAME_NAMES:
        raise ValueError(
            f"unknown game {text!r}{suggestion(name, [*PRESETS, *GAME_NAMES])}: give a preset ({', '.join(PRESETS)}) "
            f"or an OpenSpiel game string of {', '.join(GAME_NAMES)}"
        )
    return _rules(name, parameters)


def rules_of(game: pyspiel.Game) -> HoldemRules:
    """Return the rules of a loaded ``universal_poker``, ``leduc_poker`` or ``kuhn_poker`` game.

    Raises
    ------
    ValueError
        If the game is none of these three, is a subgame (``potSize``, ``boardCards``, ``handReaches``), is Leduc with
        ``action_mapping`` or ``suit_isomorphism``, or has rules that `HoldemRules` refuses.
    """
    name = game.get_type().short_name
    if name not in GAME_NAMES:
        raise ValueError(f"hold'em rules can be read from {', '.join(GAME_NAMES)}, got {name}")
    return _rules(name, game.get_parameters())


def game_string(rules: HoldemRules) -> str:
    """Return the ``universal_poker`` game string of the rules."""

    def listed(values: Iterable[int]) -> str:
        entries = [str(value) for value in values]
        return " ".join(entries if len(entries) > 1 else entries * 2)  # a lone number would be read as an int

    parts = [
        f"betting={'limit' if rules.is_limit else 'nolimit'}",
        f"numPlayers={rules.num_seats}",
        f"numRounds={rules.num_streets}",
        f"blind={listed(rules.blinds)}",
        f"firstPlayer={listed(seat + 1 for seat in rules.first_seats)}",
        f"numSuits={rules.num_suits}",
        f"numRanks={rules.num_ranks}",
        f"numHoleCards={rules.num_hole_cards}",
        f"numBoardCards={listed(rules.board_cards)}",
    ]
    if rules.stacks is not None:
        parts.append(f"stack={listed(rules.stacks)}")
    if rules.raise_sizes is not None:
        # OpenSpiel crashes on limit games with more than four seats and no stacks, but limit games have no parameter
        # for stacks. OpenSpiel copies `raiseSize` into the ACPC's game definition, where a second line can give stacks.
        stacks = "\nstack " + listed([MAX_CHIPS] * rules.num_seats) if rules.num_seats > 4 else ""
        parts.append(f"raiseSize={listed(rules.raise_sizes)}{stacks}")
    if rules.max_raises is not None:
        parts.append(f"maxRaises={listed(rules.max_raises)}")
    parts.append(f"bettingAbstraction={rules.betting_abstraction}")
    return f"universal_poker({','.join(parts)})"


def game_name(rules: HoldemRules) -> str:
    """Return the name of the preset with these rules, or else their game string; `parse_game` reads both."""
    return next((name for name, preset in PRESETS.items() if preset == rules), game_string(rules))


@functools.lru_cache(maxsize=64)
def load_game(rules: HoldemRules) -> pyspiel.Game:
    """Return the ``universal_poker`` game of the rules."""
    return pyspiel.load_game(game_string(rules))


class OpenSpielGame:
    """An OpenSpiel game that `HoldemRules` can express, and the translation of its card and action numbers.

    Parameters
    ----------
    game : pyspiel.Game or str
        A loaded game, a preset's name or a game string.

    Attributes
    ----------
    game : pyspiel.Game
        The loaded game.
    rules : HoldemRules
        The rules of the game.

    Raises
    ------
    ValueError
        If `parse_game` refuses the text, or `rules_of` the loaded game.

    Examples
    --------
    >>> leduc = OpenSpielGame("leduc_poker")
    >>> state = leduc.replay([0, 4, 8], [3, 1, 1, 7, 1])  # cards 2c 3c 4c; raise, call, check, raise, call
    >>> state.returns()
    [-7.0, 7.0]
    """

    def __init__(self, game: "pyspiel.Game | str"):
        if isinstance(game, str):
            rules = parse_game(game)
            native = game.upper() not in PRESETS and not game.startswith("universal_poker")
            game = pyspiel.load_game(game) if native else load_game(rules)
        self.game = game
        self.rules = rules_of(game)
        self._name = game.get_type().short_name
        self._start = game.new_initial_state()  # for `clone`, which takes a fifth of the time of a new state
        self._card_ids = [self.card_id(card) for card in range(NUM_CARDS)]

    def card_id(self, card: int) -> int:
        """Return the game's chance outcome that deals a card."""
        return (card >> 2) * self.rules.num_suits + (card & 3)

    def card(self, card_id: int) -> int:
        """Return the card that a chance outcome of the game deals."""
        return int(self.rules.cards[card_id])

    def actions(self, state: list[int]) -> dict[int, int] | None:
        """Return a dict from the game's legal action ids to our actions; None if the game's ids are our actions.

        Parameters
        ----------
        state : list of int
            A betting state array as a list, at a decision.
        """
        if self._name == "kuhn_poker":
            return (
                {0: FOLD, 1: CALL} if state[betting_layout.CAN_FOLD] else {0: CALL, 1: state[betting_layout.MIN_RAISE]}
            )
        if self.rules.betting_abstraction == "fullgame":
            return None
        actions = {0: FOLD} if state[betting_layout.CAN_FOLD] else {}
        actions[1] = CALL
        if self.rules.betting_abstraction == "fc" or state[betting_layout.MAX_RAISE] == 0:
            return actions
        if self.rules.is_limit:
            return actions | {2: state[betting_layout.MIN_RAISE]}
        named = named_raises(self.rules, state)
        ids = {"pot": 2, "all_in": 3, "half_pot": 4}
        return actions | {number: named[name] for name, number in ids.items() if name in named}

    def action_id(self, state: list[int], action: int) -> int:
        """Return the game's id of one of our actions; `state` is as in `actions`.

        Raises
        ------
        ValueError
            If the game has a menu of raises, and does not offer the action in this state.
        """
        actions = self.actions(state)
        if actions is None:
            return action
        for number, ours in actions.items():
            if ours == action:
                return number
        raise ValueError(f"{self.game.get_type().short_name} offers {sorted(actions.values())} here, not {action}")

    def action(self, state: list[int], action_id: int) -> int:
        """Return our action for one of the game's action ids; `state` is as in `actions`.

        Raises
        ------
        ValueError
            If the game has a menu of raises, and does not offer the id in this state.
        """
        actions = self.actions(state)
        if actions is None:
            return action_id
        if action_id not in actions:
            raise ValueError(f"{self.game.get_type().short_name} offers ids {sorted(actions)} here, not {action_id}")
        return actions[action_id]

    def replay(self, deck: Sequence[int], actions: Iterable[int]) -> pyspiel.State:
        """Return OpenSpiel's state after our actions on a deck (hole cards seat by seat, then the board).

        Board cards are dealt wherever the state asks for a card, even after the end of `actions`. In a limit
        ``universal_poker`` every action N > 1 stands for the only raise on offer.

        Raises
        ------
        ValueError, pyspiel.SpielError
            If an action is not legal.
        """
        rules = self.rules
        action_ids = actions
        if rules.is_limit and self._name == "universal_poker":
            action_ids = [min(action, 2) for action in actions]
        elif rules.betting_abstraction != "fullgame":
            action_ids = self._menu_ids(actions)
        state = self._start.clone()
        apply_action, is_chance_node = state.apply_action, state.is_chance_node
        cards = iter([self._card_ids[card] for card in deck])
        for card_id in islice(cards, rules.num_seats * rules.num_hole_cards):
            apply_action(card_id)
        for action_id in action_ids:
            while is_chance_node():
                apply_action(next(cards))
            apply_action(action_id)
        while is_chance_node():
            apply_action(next(cards))
        return state

    def _menu_ids(self, actions: Iterable[int]) -> Iterator[int]:
        """Yield the game's id for each of our actions of a hand."""
        betting = BettingState(self.rules)
        for action in actions:
            yield self.action_id(betting.array.tolist(), action)
            betting.apply(action)


def _is_number(value: str) -> bool:
    """Return whether OpenSpiel's parser can read a text of digits, signs and points as a number."""
    try:
        return math.isfinite(float(value)) and ("." in value or abs(int(value)) <= MAX_CHIPS)
    except ValueError:
        return False


def _rules(name: str, parameters: dict[str, Any]) -> HoldemRules:
    if name == "universal_poker":
        return _universal_poker_rules(parameters)
    _refuse_unknown(name, parameters, _NATIVE_PARAMETERS[name])
    seats = _number(name, "players", parameters.get("players", 2))
    if not 2 <= seats <= MAX_SEATS:  # checked before tuples of this length are made
        raise ValueError(f"a table has 2..{MAX_SEATS} seats, got {seats}")
    if name == "kuhn_poker":
        return dataclasses.replace(KUHN, blinds=(1,) * seats, num_ranks=seats + 1)
    for option in ("action_mapping", "suit_isomorphism"):
        if parameters.get(option):
            raise ValueError(
                f"leduc_poker with {option} is not supported: {option} changes the numbers of actions or cards; "
                "leave it out"
            )
    first_seat = _number(name, "starting_player", parameters.get("starting_player", 0))
    return dataclasses.replace(LEDUC, blinds=(1,) * seats, num_ranks=seats + 1, first_seats=(first_seat,) * 2)


def _refuse_unknown(name: str, parameters: dict[str, Any], known: Iterable[str]) -> None:
    if unknown := set(parameters) - {"name", *known}:
        raise ValueError(f"{name} has no parameter {', '.join(sorted(unknown))}; it has {', '.join(known)}")


def _number(name: str, parameter: str, value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"{name}'s {parameter} must be a whole number, got {value!r}")
    return value


_NATIVE_PARAMETERS = {
    "kuhn_poker": ("players",),
    "leduc_poker": ("players", "starting_player", "action_mapping", "suit_isomorphism"),
}
_DEFAULTS = {
    "numPlayers": 2,
    "betting": "nolimit",
    "stack": "1200 1200",
    "blind": "100 100",
    "raiseSize": "100 100",
    "numRounds": 2,
    "firstPlayer": "1 1",
    "maxRaises": "",
    "numSuits": 4,
    "numRanks": 6,
    "numHoleCards": 1,
    "numBoardCards": "0 1",
    "bettingAbstraction": "fcpa",
}
_SUBGAME = ("potSize", "boardCards", "handReaches")


def _universal_poker_rules(parameters: dict[str, Any]) -> HoldemRules:
    if given := [option for option in _SUBGAME if parameters.get(option)]:
        raise ValueError(f"universal_poker subgames are not supported, leave out {', '.join(given)}")
    _refuse_unknown("universal_poker", parameters, (*_DEFAULTS, *_SUBGAME, "calcOddsNumSims"))
    values = _DEFAULTS | parameters

    def number(name: str) -> int:
        return _number("universal_poker", name, values[name])

    def numbers(name: str, count: int) -> tuple[int, ...]:
        try:
            found = tuple(int(word) for word in str(values[name]).partition("\n")[0].split())
        except ValueError:
            raise ValueError(f"universal_poker's {name} must be whole numbers, got {values[name]!r}") from None
        if len(found) < count:
            raise ValueError(f"universal_poker's {name} needs {count} numbers, got {values[name]!r}")
        return found[:count]

    seats, streets = number("numPlayers"), number("numRounds")
    betting = values["betting"]
    if betting not in ("limit", "nolimit"):
        raise ValueError(f"universal_poker's betting is limit or nolimit, got {betting!r}")
    if values["bettingAbstraction"] not in BETTING_ABSTRACTIONS:
        raise ValueError(
            f"universal_poker's bettingAbstraction is one of {', '.join(BETTING_ABSTRACTIONS)}, "
            f"got {values['bettingAbstraction']!r}"
        )
    limit = betting == "limit"
    if limit and values["bettingAbstraction"] in ("fullgame", "fchpa"):
        raise ValueError(
            "a limit universal_poker needs bettingAbstraction=fcpa or fc, as the others are broken in OpenSpiel; "
            f"got {values['bettingAbstraction']}"
        )
    return HoldemRules(
        blinds=numbers("blind", seats),
        stacks=None if limit else numbers("stack", seats),
        first_seats=tuple(seat - 1 for seat in numbers("firstPlayer", streets)),
        board_cards=numbers("numBoardCards", streets),
        betting="limit" if limit else "no-limit",
        raise_sizes=numbers("raiseSize", streets) if limit else None,
        max_raises=numbers("maxRaises", streets) if str(values["maxRaises"]).strip() else None,
        num_suits=number("numSuits"),
        num_ranks=number("numRanks"),
        num_hole_cards=number("numHoleCards"),
        betting_abstraction=values["bettingAbstraction"],
    )
