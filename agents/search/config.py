"""How a search is done: its budget, its bets, and what it plays."""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.search.continuations import CONTINUATIONS

__all__ = ["CARDS", "FREEZES", "PLAYS", "ROOTS", "SearchConfig", "config_from_options"]

PLAYS = ("average", "final")
ROOTS = ("street", "decision")
FREEZES = ("range", "hand")
CARDS = ("flop-500", "blueprint")
MIN_SECONDS = 0.5
"""About twice what it takes to lay out a flop with all that follows; a safe search needs as much again."""
MAX_SECONDS = 3600.0
MAX_ITERATIONS = 1_000_000
MAX_WARM_START = 1_000_000.0
MAX_SIZES = 6
NUM_STREETS = 4

Texts = tuple[str, ...]


@dataclass(frozen=True)
class SearchConfig:
    """A search's settings.

    Attributes
    ----------
    time : float
        Seconds for each search, everything counted; it may end sooner where it is exact enough.
    iterations : int
        Of each search instead of a time, which makes play repeatable; 0 for the time. With two players on the last
        street, where they cost little, ten times as many; with more than two, on any street, each is eight deals for
        every seat.
    threads : int
        0 for as many as there are processors.
    play : {"average", "final"}
        Which strategy of the search acts: the weighted average of its iterations, or the last iteration's (as
        published). Beliefs are always updated by the average.
    purge : float
        Actions of less probability are not taken, unless all are; 0 takes all of them, as published. On the last street
        with two players, where nothing is sampled, all of them are.
    root : {"street", "decision"}
        Where searches begin: with the street, as published, so that opponents may change what they did on it; or anew
        at each own decision, with the beliefs there.
    freeze : {"range", "hand"}
        What stays as it was at the own decisions of this street when a search is done again: what all hands do, or
        (as published) only what the hand that is held does. With ``hand`` the strategy of other hands depends on the
        one held, so that AIVAT and local best response are told nothing.
    doubt : float
        Share of all hands alike that is mixed into the beliefs of each search; 0 as published.
    warm_start : float
        Regrets that a search begins with, in proportion to the blueprint's strategy, as a share of the pot. They fade;
        with few iterations, the search stays nearer to the blueprint the larger they are. 0 begins with all actions
        alike, as published. With two players on the last street iterations are cheap, and it always does so.
    cards : {"flop-500", "blueprint"}
        What tells hands apart on streets after the one that is searched: the 500 buckets of the flop, or those of
        the blueprint. With a time to keep, a flop whose 500 buckets are not in the cache has the blueprint's.
    first : tuple of str
        The sizes of the first raise of the street that is searched, of the second and so on (see `actions.menu`);
        behind the last no raise is offered. The raises of others are added as they come.
    river : tuple of str
        The same where that street is the last one.
    later : tuple of str
        The same for streets after it. Where the betting grows too large, sizes are left out (`SearchMenu`).
    three : tuple of str
        The same with three players, and with more (`crowd`); their streets are searched one at a time.
    crowd : tuple of str
    preflop : tuple of str
        The same before the flop, from the raise on that a search begins behind.
    k : int
        Before the flop, and with three players and more: how many continuations of the blueprint there are behind the
        street.
    run_outs : int
        Boards of the next street that an iteration draws.
    last_boards : int
        Boards of the last street, behind each before, that a search of two streets before it deals at all.
    safe : bool
        With two players: the opponent may turn a subgame down, hand by hand, for what its best response to the
        blueprint wins from there (re-solving gadget), so that little is lost by wrong beliefs about its hands. Often
        it has to go on, with what it is believed to hold (`subgame.FORCED_SHARE`), so that those are played well.

    Raises
    ------
    ValueError
        If a setting makes no sense.
    """

    time: float = 1.0
    iterations: int = 0
    threads: int = 0
    play: str = "average"
    purge: float = 0.05
    root: str = "street"
    freeze: str = "range"
    doubt: float = 0.0
    warm_start: float = 100.0
    cards: str = "flop-500"
    first: Texts = ("0.5p 1p allin", "1p allin", "allin")
    river: Texts = ("0.5p 1p 2p allin", "1p allin", "1p allin", "allin")
    later: Texts = ("1p allin", "allin")
    three: Texts = ("0.5p 1p allin", "1p allin", "allin")
    crowd: Texts = ("0.75p allin", "allin")
    preflop: Texts = ("1p allin", "allin")
    k: int = 4
    run_outs: int = 4
    last_boards: int = 8
    safe: bool = False

    def __post_init__(self):
        for each in dataclasses.fields(self):
            _require_type(each.name, getattr(self, each.name), each.default)
        least = MIN_SECONDS * (1 + self.safe)
        if not (math.isfinite(self.time) and least <= self.time <= MAX_SECONDS):
            kind = "a safe search" if self.safe else "a search"
            raise ValueError(f"time is {least:g} to {MAX_SECONDS:g} seconds for {kind}, got {self.time!r}")
        if not 0 <= self.iterations <= MAX_ITERATIONS:
            raise ValueError(f"iterations are 1 to {MAX_ITERATIONS:,}, or 0 for a time, got {self.iterations!r}")
        if self.threads < 0:
            raise ValueError(f"threads must be at least 1, or 0 for all processors, got {self.threads!r}")
        for name, known in (("play", PLAYS), ("root", ROOTS), ("freeze", FREEZES), ("cards", CARDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {' or '.join(known)}, got {getattr(self, name)!r}")
        for name in ("purge", "doubt"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is a probability, 0 or more and below 1, got {getattr(self, name)!r}")
        if not 0.0 <= self.warm_start <= MAX_WARM_START:
            raise ValueError(f"warm_start is a share of the pot, 0 to {MAX_WARM_START:,.0f}, got {self.warm_start!r}")
        if not 1 <= self.k <= len(CONTINUATIONS):
            raise ValueError(f"k must be 1..{len(CONTINUATIONS)}, got {self.k}")
        for name in ("run_outs", "last_boards"):
            if not 1 <= getattr(self, name) <= 16:
                raise ValueError(f"{name} must be 1..16, got {getattr(self, name)!r}")
        for name in ("first", "river", "later", "three", "crowd", "preflop"):
            for text in getattr(self, name):
                if len(parse_sizes(text)) > MAX_SIZES:
                    raise ValueError(f"a search has one to {MAX_SIZES} sizes of a raise, got {text!r} in {name}")

    @property
    def num_threads(self) -> int:
        """Threads to use."""
        return self.threads or num_processors()

    def multiway_menu(self, num_acting: int) -> BetMenu:
        """Return the sizes on offer in a search of a street for so many players, more than two."""
        return BetMenu(((_sizes(self.three if num_acting <= 3 else self.crowd),),))

    def preflop_menu(self, num_raises: int) -> BetMenu:
        """Return the sizes on offer in a search before the flop that begins behind so many raises."""
        return BetMenu(((((),) * num_raises + _sizes(self.preflop),),))

    def menu(self, street: int, num_streets: int) -> BetMenu:
        """Return the sizes on offer in a search of a street for two players."""
        own = self.river if street == num_streets - 1 else self.first
        rows = [((),)] * street + [_sizes(own)] + [_sizes(self.later)] * (num_streets - street - 1)
        return BetMenu(tuple((row,) for row in rows))


def config_from_options(options: Mapping[str, str]) -> SearchConfig:
    """Return the settings that the options of an agent spec name.

    Raises
    ------
    ValueError
        If one is unknown or makes no sense.
    """
    fields = {each.name: each.default for each in dataclasses.fields(SearchConfig)}
    if unknown := sorted(set(options) - set(fields)):
        meant = suggestion(unknown[0], fields)
        raise ValueError(f"a search takes the options {', '.join(fields)}, got {unknown[0]}{meant}")
    return SearchConfig(**{name: _read(name, text, fields[name]) for name, text in options.items()})  # type: ignore[arg-type]


def _read(name: str, text: str, default: object) -> object:
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(f"{name} is true or false, got {text!r}")
        return text == "true"
    if isinstance(default, tuple):
        return tuple(text.replace("_", " ").split("|"))
    if isinstance(default, str):
        return text
    try:
        return int(text) if isinstance(default, int) else float(text)
    except ValueError:
        raise ValueError(f"{name} is a {'whole ' * isinstance(default, int)}number, got {text!r}") from None


def _require_type(name: str, value: object, default: object) -> None:
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return
    if type(value) is not type(default):
        raise ValueError(f"{name} must be a {type(default).__name__} like {default!r}, got {value!r}")


def _sizes(texts: Texts) -> tuple:
    """Return the sizes by the number of raises so far; behind the last there are none."""
    return (*map(parse_sizes, texts), ())
