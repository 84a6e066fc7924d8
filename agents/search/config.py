"""The settings of a search: its budget, its bet sizes, and which of its strategies acts."""

import dataclasses
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

from plurispiel.abstraction.actions.menu import BetMenu, parse_sizes
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.search.continuations import CONTINUATIONS

__all__ = ["CARDS", "FREEZES", "PLAYS", "ROOTS", "SearchConfig", "config_from_options", "renamed_options"]

PLAYS = ("average", "final")
ROOTS = ("street", "decision")
FREEZES = ("range", "hand")
CARDS = ("flop-500", "blueprint")
MIN_SECONDS = 0.5
"""The shortest time limit, about twice the time to lay out a flop and its later streets. The shortest limit of a safe
search is twice as long."""
MAX_SECONDS = 3600.0
MAX_ITERATIONS = 1_000_000
MAX_THREADS = 1_024
MAX_WARM_START = 1_000_000.0
MAX_SIZES = 6

_FORMER_NAMES = {
    "first": "street_sizes",
    "river": "river_sizes",
    "later": "later_sizes",
    "three": "three_way_sizes",
    "crowd": "multiway_sizes",
    "preflop": "preflop_sizes",
    "doubt": "uniform_share",
    "k": "continuations",
}
"""The former names of options. Version 0.1 accepts them with a warning; the next release will not."""

Texts = tuple[str, ...]


@dataclass(frozen=True)
class SearchConfig:
    """A search's settings; "as published" means as in Pluribus (Brown and Sandholm, 2019).

    Attributes
    ----------
    time : float
        The time limit in seconds for each decision. All searches that the decision needs share this time. A search ends
        earlier if it reaches a fixed maximum number of iterations, which is not a setting.
    iterations : int
        Iterations of each search in place of a time limit, so that the same seed gives the same play; 0 for the time
        limit. A two-player search of the last street does ten times as many, since its iterations are cheap. In a
        search by Monte Carlo CFR each iteration is eight deals for every seat that can act.
    threads : int
        Number of threads, at most `MAX_THREADS`; 0 for as many as there are processors. With `iterations` above 0, a
        search by Monte Carlo CFR uses one thread.
    play : {"average", "final"}
        The strategy that acts: the weighted average over the iterations, or the strategy after the last iteration, as
        published. Beliefs follow the average; at frozen decisions they follow the frozen strategy.
    purge : float
        Actions below this probability are not played, unless all are below it; 0, as published, keeps all actions. A
        two-player search of the last street, where nothing is sampled, always keeps all actions.
    root : {"street", "decision"}
        Where a search after the first street begins. With ``street``, as published, it begins at the start of the
        street, so that the opponents' earlier strategies on the street are solved for, too; a fold that leaves two
        players begins another search. With ``decision`` it begins at each decision of the searching seat, from the
        beliefs at that decision.
    freeze : {"range", "hand"}
        The hands whose strategy is frozen, at the searching seat's earlier decisions on the street, when the subgame is
        solved again. ``range`` freezes all hands; ``hand``, as published, only the hand held. With ``hand`` the
        strategies of other hands depend on the hand held, so the agent reports no strategy to AIVAT and local best
        response.
    uniform_share : float
        Share of the uniform range mixed into the beliefs of each search; 0 as published.
    warm_start : float
        How strongly a search begins with the blueprint: the regret, in pots, of an action that the blueprint always
        takes. A search by Monte Carlo CFR multiplies this regret by 300, since the weights of its iterations grow. The
        effect fades; the larger the regret, the longer the search stays near the blueprint. With 0, as published, a
        search begins with equal probabilities; a two-player search of the game's final street always does.
    cards : {"flop-500", "blueprint"}
        In two-player searches, the buckets of the streets after the searched street: 500 a street, made for each flop
        separately, or the blueprint's. Games other than hold'em use the blueprint's. Under a time limit, so does a flop
        whose 500 buckets are not in the cache.
    street_sizes : tuple of str
        With two players, the sizes on the searched street where it is not the last one. The first entry has the sizes
        of the street's first raise, the second entry those of the second raise, and so on (see `actions.menu`). After
        as many raises as there are entries, no raise is offered. Other raises of opponents are added once they are
        made. Where the betting grows too large, some sizes are not offered (`SearchMenu`).
    river_sizes : tuple of str
        With two players, the sizes on the searched street where it is the last one, as in `street_sizes`.
    later_sizes : tuple of str
        With two players, the sizes on the streets after the searched street, as in `street_sizes`.
    three_way_sizes : tuple of str
        With more than two players left, of whom at most three have chips, the sizes on the searched street, as in
        `street_sizes`; the search ends with the street.
    multiway_sizes : tuple of str
        With more than three players who have chips, the sizes on the searched street, as in `street_sizes`.
    preflop_sizes : tuple of str
        The sizes in every search before the flop, in place of the sizes above: the sizes of the first raise after the
        root of the search, of the second and so on.
    continuations : int
        In searches that end with the street, the number k of continuation strategies at their leaves.
    run_outs : int
        In two-player searches, the number of boards of the next street that an iteration samples for each seat.
    last_boards : int
        In a two-player search of the flop, the maximum number of rivers dealt after each turn.
    safe : bool
        In two-player searches after the first street, whether to solve with a re-solving gadget: for each hand the
        opponent may terminate and take that hand's best-response value against the blueprint, so that wrong beliefs
        about the opponent cost little. In addition, the opponent's believed range enters the subgame without the choice
        to terminate. This range makes up the share `two_seats.FORCED_SHARE` of the opponent's total weight.

    Raises
    ------
    ValueError
        If a setting is of another type or out of range.
    """

    time: float = 1.0
    iterations: int = 0
    threads: int = 0
    play: str = "average"
    purge: float = 0.05
    root: str = "street"
    freeze: str = "range"
    uniform_share: float = 0.0
    warm_start: float = 100.0
    cards: str = "flop-500"
    street_sizes: Texts = ("0.5p 1p allin", "1p allin", "allin")
    river_sizes: Texts = ("0.5p 1p 2p allin", "1p allin", "1p allin", "allin")
    later_sizes: Texts = ("1p allin", "allin")
    three_way_sizes: Texts = ("0.5p 1p allin", "1p allin", "allin")
    multiway_sizes: Texts = ("0.75p allin", "allin")
    preflop_sizes: Texts = ("1p allin", "allin")
    continuations: int = 4
    run_outs: int = 4
    last_boards: int = 8
    safe: bool = False

    def __post_init__(self):
        for each in dataclasses.fields(self):
            _require_type(each.name, getattr(self, each.name), each.default)
        shortest = MIN_SECONDS * (1 + self.safe)
        if not (math.isfinite(self.time) and shortest <= self.time <= MAX_SECONDS):
            kind = "a safe search" if self.safe else "a search"
            raise ValueError(f"time is {shortest:g} to {MAX_SECONDS:g} seconds for {kind}, got {self.time!r}")
        if not 0 <= self.iterations <= MAX_ITERATIONS:
            raise ValueError(f"iterations are 1 to {MAX_ITERATIONS:,}, or 0 for a time limit, got {self.iterations!r}")
        if not 0 <= self.threads <= MAX_THREADS:
            raise ValueError(f"threads are 1 to {MAX_THREADS:,}, or 0 for all processors, got {self.threads!r}")
        for name, known in (("play", PLAYS), ("root", ROOTS), ("freeze", FREEZES), ("cards", CARDS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {' or '.join(known)}, got {getattr(self, name)!r}")
        for name in ("purge", "uniform_share"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is a probability, 0 or more and below 1, got {getattr(self, name)!r}")
        if not 0.0 <= self.warm_start <= MAX_WARM_START:
            raise ValueError(f"warm_start is a regret in pots, 0 to {MAX_WARM_START:,.0f}, got {self.warm_start!r}")
        if not 1 <= self.continuations <= len(CONTINUATIONS):
            raise ValueError(f"continuations must be 1..{len(CONTINUATIONS)}, got {self.continuations}")
        for name in ("run_outs", "last_boards"):
            if not 1 <= getattr(self, name) <= 16:
                raise ValueError(f"{name} must be 1..16, got {getattr(self, name)!r}")
        for name in (each.name for each in dataclasses.fields(self) if each.name.endswith("_sizes")):
            for text in getattr(self, name):
                if len(parse_sizes(text)) > MAX_SIZES:
                    raise ValueError(f"a search offers at most {MAX_SIZES} sizes of a raise, got {text!r} in {name}")

    @property
    def num_threads(self) -> int:
        """Number of threads to use."""
        return self.threads or num_processors()

    def multiway_menu(self, num_acting: int) -> BetMenu:
        """Return the sizes in a search that ends with its street, which is not the first.

        `num_acting` players have chips left.
        """
        return BetMenu(((_sizes(self.three_way_sizes if num_acting <= 3 else self.multiway_sizes),),))

    def preflop_menu(self, num_raises: int) -> BetMenu:
        """Return the sizes on offer in a search before the flop that begins after raise number `num_raises`."""
        return BetMenu(((((),) * num_raises + _sizes(self.preflop_sizes),),))

    def menu(self, street: int, num_streets: int) -> BetMenu:
        """Return the sizes on offer on a street, numbered from 0, and on all later streets, in a two-player search."""
        searched = self.river_sizes if street == num_streets - 1 else self.street_sizes
        rows = [((),)] * street + [_sizes(searched)] + [_sizes(self.later_sizes)] * (num_streets - street - 1)
        return BetMenu(tuple((row,) for row in rows))


def config_from_options(options: Mapping[str, str]) -> SearchConfig:
    """Return the settings that the options of an agent spec name.

    Raises
    ------
    ValueError
        If an option is unknown, is given by two names, cannot be read or is out of range.
    """
    fields = {each.name: each.default for each in dataclasses.fields(SearchConfig)}
    options = renamed_options(options)
    if unknown := sorted(set(options) - set(fields)):
        meant = suggestion(unknown[0], fields)
        raise ValueError(f"a search takes the options {', '.join(fields)}, got {unknown[0]}{meant}")
    return SearchConfig(**{name: _read(name, text, fields[name]) for name, text in options.items()})  # type: ignore[arg-type]


def renamed_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return options by their present names, and warn of each option that is given by its former name.

    Raises
    ------
    ValueError
        If an option is given by both names.
    """
    renamed = {}
    for former, text in options.items():
        name = _FORMER_NAMES.get(former, former)
        if name in renamed or (name != former and name in options):
            raise ValueError(f"the option {name} of search was called {former} before: give it by one name only")
        if name != former:
            # Python shows FutureWarning to users by default, but not DeprecationWarning.
            warnings.warn(f"the option {former} of search is now called {name}", FutureWarning, stacklevel=2)
        renamed[name] = text
    return renamed


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
    """Return the sizes for each number of raises so far; an empty entry at the end ends the raises."""
    return (*map(parse_sizes, texts), ())
