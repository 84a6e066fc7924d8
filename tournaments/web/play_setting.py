"""The choices at a table, checked against the games and agents of the server.

A page must not start programs, so it names agents of the server's list and no others.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, STREETS, HoldemRules, no_limit_holdem
from plurispiel.agents.factory import game_note
from plurispiel.agents.specs import BUILT_IN, parse_spec
from plurispiel.tournaments.contestants.outside_options import OutsideOptions
from plurispiel.tournaments.play.opponents import default_agent
from plurispiel.tournaments.run.config import default_rules


@dataclass(frozen=True)
class Sit:
    """The wish to sit down at a new table.

    Attributes
    ----------
    game : str
        A key of `GAMES`.
    seats : int
        Seats at the table, the person's included.
    stack : int
        The stack of every seat at the start of a hand, in big blinds; 0 for the usual stack.
    agents : tuple of str
        The specs of the opponents, clockwise; the server must list them.
    seed : str
        The seed of the cards in digits; empty for secret cards.
    pace, assist : str
        A key of `PACES`, and one of `ASSISTS`.
    adviser : str
        The agent that gives advice.
    """

    game: str
    seats: int
    stack: int
    agents: tuple[str, ...] = field(metadata={"length": 9})
    seed: str
    pace: str
    assist: str
    adviser: str


@dataclass(frozen=True)
class SessionChoice:
    """A session, by its number in the list of sessions."""

    session: int


@dataclass(frozen=True)
class Move:
    """A person's move at a table.

    Attributes
    ----------
    type : str
        ``act``; ``next`` for the next hand; ``assist`` for another amount of help; ``pace``.
    number : int
        The number in the view to which ``act`` or ``next`` answers; ``assist`` and ``pace`` may have any number.
    action : str
        The key of an action as `play.prompt.parse_key` takes it, or the wanted help or pace; empty for ``next``.
    """

    type: str
    number: int
    action: str


@dataclass(frozen=True)
class Order:
    """The first message to a table's process.

    Attributes
    ----------
    sit : Sit or None
        The choices of a new session; None to continue one.
    session : int
        The session to continue; 0 for a new one.
    folder : str
        The folder of ``play.sqlite``.
    outside : OutsideOptions
        How agents from outside run.
    """

    sit: Sit | None
    session: int
    folder: str
    outside: OutsideOptions

    def text(self) -> str:
        """Return the order as a line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def parsed(cls, text: str) -> "Order":
        """Return the order that the method `text` has written as a line."""
        found = json.loads(text)
        sit = found["sit"] and Sit(**(found["sit"] | {"agents": tuple(found["sit"]["agents"])}))
        return cls(sit, found["session"], found["folder"], OutsideOptions(**found["outside"]))


class PlayGame(NamedTuple):
    """A game of the lobby.

    The fields are its name, the possible numbers of seats, whether the stack may be chosen, and the function from the
    number of seats to the rules.
    """

    title: str
    seats: tuple[int, ...]
    has_stack: bool
    rules: Callable[[int], HoldemRules]


GAMES = {
    "holdem": PlayGame("No-limit hold’em", (2, 3, 4, 5, 6), True, default_rules),
    "HULH": PlayGame("Limit hold’em", (2,), False, lambda seats: HULH),
    "LEDUC": PlayGame("Leduc poker", (2,), False, lambda seats: LEDUC),
    "KUHN": PlayGame("Kuhn poker", (2,), False, lambda seats: KUHN),
}
"""The games of the lobby by key."""

LISTED = (*BUILT_IN, "blueprint", "search?time=1", "continual?time=1", "continual")
"""The agents that every server lists."""

PACES = {"at once": 0.0, "quick": 0.3, "calm": 1.0}
"""Seconds of the pause after an agent's action, by pace."""

ASSISTS = ("off", "after", "range", "advice")
"""The amounts of help: none; strategies after the hand; also ranges during the hand; also advice during the hand."""

HELPING = ASSISTS[2:]
"""The amounts of help that include help during a hand; such hands are counted apart."""

_STACKS = (5, 1000)  # big blinds
_MAX_SEED = 1 << 64


def rules_of(sit: Sit) -> HoldemRules:
    """Return the rules of a table.

    Raises
    ------
    ValueError
        If there is no such game, or the game cannot have this number of seats or this stack.
    """
    if sit.game not in GAMES:
        raise ValueError(f"the game must be one of {', '.join(GAMES)}, got {sit.game!r}")
    game = GAMES[sit.game]
    if sit.seats not in game.seats:
        raise ValueError(f"{game.title} has {game.seats[0]} to {game.seats[-1]} seats here, got {sit.seats}")
    if not sit.stack:
        return game.rules(sit.seats)
    low, high = _STACKS
    if not game.has_stack or not low <= sit.stack <= high:
        raise ValueError(f"a stack is {low} to {high:,} big blinds, chosen only in no-limit hold'em; got {sit.stack}")
    return no_limit_holdem(sit.seats, sit.stack * HUNL.big_blind)


def checked(sit: Sit, listed: Sequence[str]) -> Sit:
    """Return a wish if it can be fulfilled.

    Parameters
    ----------
    listed : sequence of str
        The specs that the server lists.

    Raises
    ------
    ValueError
        If the wish is impossible.
    """
    rules = rules_of(sit)
    if len(sit.agents) != rules.num_seats - 1:
        raise ValueError(f"{rules.num_seats} seats need {rules.num_seats - 1} agents, got {len(sit.agents)}")
    for spec in (*sit.agents, sit.adviser):
        if spec not in listed:
            raise ValueError(f"the server lists no agent {spec!r}; plurispiel web --agents adds agents")
        game_note(spec, rules)
    if sit.seed and (not sit.seed.isdecimal() or not sit.seed.isascii() or int(sit.seed) >= _MAX_SEED):
        raise ValueError(f"a seed is a whole number below 2^64, got {sit.seed!r}")
    if sit.pace not in PACES:
        raise ValueError(f"the pace must be one of {', '.join(PACES)}, got {sit.pace!r}")
    if sit.assist not in ASSISTS:
        raise ValueError(f"the help must be one of {', '.join(ASSISTS)}, got {sit.assist!r}")
    return sit


def lobby_choices(listed: Sequence[str]) -> dict[str, Any]:
    """Return the choices of the lobby as plain values.

    For each number of seats a game has ``stacks`` (the usual stack in big blinds; 0 if it cannot be chosen), ``agents``
    (the agents that play the game) and ``usual`` (the usual agent).
    """
    games = []
    for key, game in GAMES.items():
        rules = [game.rules(seats) for seats in game.seats]
        playing = [[spec for spec in listed if _plays(spec, each)] for each in rules]
        games.append(
            {
                "key": key,
                "title": game.title,
                "seats": list(game.seats),
                "stacks": [each.stacks[0] // each.big_blind if game.has_stack and each.stacks else 0 for each in rules],
                "agents": playing,
                "usual": [default_agent(each) for each in rules],
            }
        )
    return {"games": games, "paces": list(PACES), "assists": list(ASSISTS)}


def _plays(spec: str, rules: HoldemRules) -> bool:
    if parse_spec(spec).name == "continual":  # in `LISTED` without options for small games, with options for hold'em
        is_small = rules.num_streets < len(STREETS)
        return rules.num_seats == 2 and is_small == (parse_spec(spec).options == ())
    try:
        game_note(spec, rules)
    except ValueError:
        return False
    return True
