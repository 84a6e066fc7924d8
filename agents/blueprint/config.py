"""The settings of a blueprint: its game, bet sizes, card abstraction and training.

`read_blueprint_config` reads the settings from a TOML file. The presets are such files in the folder ``presets``, next
to this module.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from plurispiel.abstraction.actions.menu import ALL_IN_SHARE
from plurispiel.abstraction.actions.tree import GameMenu, StreetMenu, game_menu
from plurispiel.abstraction.holdem.openspiel import rules_of
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules, no_limit_holdem
from plurispiel.abstraction.machine import settings
from plurispiel.abstraction.machine.settings import make_record, require_name
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.blueprint.schedule import Schedule

LOSSLESS = "lossless"
CHIPS_PER_BIG_BLIND = 100
MAX_ITERATIONS = 10**13

EXTERNAL, PUBLIC = ALGORITHMS = ("external", "public")
"""External sampling, for any number of seats, and public chance sampling, for two."""

_CLEARLY_BAD_BB = 3.0
"""An action that loses this many big blinds per visit should be pruned when pruning begins; see `prune_below`."""

_DEALS_PER_VISIT = 10.0
"""A typical preflop decision is visited once in this many deals of its bucket."""

_MIN_LOST_STACKS = 10.0
"""A pruning threshold that is not set by `prune_below_bb` lies at least this many stacks below zero."""

Texts = tuple[str, ...]
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class MenuConfig:
    """The bet sizes of each street, by the number of raises so far on the street.

    Attributes
    ----------
    preflop, flop, turn, river : tuple of str or None
        Entry r holds the sizes on offer after r raises on the street, in the grammar of `parse_sizes`. After the last
        entry no raise is offered. On every street but the first, None takes the sizes of the previous street.
    multiway : dict
        Maps a street to the sizes while three or more seats have not folded, in the same form. A street that is not
        in `multiway` has the same sizes for any number of seats, with one exception: if its own sizes are None,
        its sizes for three or more seats are the previous street's, too.
    callers : dict
        Maps a street to the largest numbers of seats that may call a bet, by the number of raises so far; see
        `StreetMenu`.
    all_in_share : float
        A raise to at least this share of the stack at the start of the hand becomes all-in.
    push_or_fold : bool
        Whether a seat that faces a bet must raise or fold. It may still call where no raise is legal.

    Raises
    ------
    ValueError
        If a setting is of another type or out of range.
    """

    preflop: Texts
    flop: Texts | None = None
    turn: Texts | None = None
    river: Texts | None = None
    multiway: Mapping[str, Texts] = field(default_factory=dict)
    callers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    all_in_share: float = ALL_IN_SHARE
    push_or_fold: bool = False

    def __post_init__(self):
        for name, default in (("all_in_share", ALL_IN_SHARE), ("push_or_fold", False)):
            _require_type(name, getattr(self, name), default)
        if unknown := sorted({*self.multiway, *self.callers} - set(STREETS)):
            raise ValueError(f"multiway and callers are given for {', '.join(STREETS)}, got {unknown[0]!r}")
        if not 0.0 < self.all_in_share <= 1.0:
            raise ValueError(f"all_in_share is a share of the stack, above 0 and at most 1, got {self.all_in_share!r}")
        _ = self.game_menu  # building the menu checks the sizes

    @functools.cached_property
    def game_menu(self) -> GameMenu:
        """The menu that trees are built with."""
        streets: list[StreetMenu] = []
        for name in STREETS:
            raises = getattr(self, name)
            multiway = self.multiway.get(name)
            if raises is None:
                raises = streets[-1].raises
                multiway = streets[-1].multiway if multiway is None else multiway
            streets.append(StreetMenu(tuple(raises), multiway, self.callers.get(name)))
        return GameMenu(tuple(streets), self.all_in_share, push_or_fold=self.push_or_fold)


@dataclass(frozen=True)
class BlueprintConfig:
    """A blueprint's game and training.

    Attributes
    ----------
    name, text : str
        `name` is the blueprint's name, which must be valid as the name of a folder. `text` is its purpose in words.
    game : str
        A game's name in the ladder, a game preset, or an OpenSpiel game string. Empty for no-limit hold'em with `seats`
        and `stack_bb`.
    seats : int
        Number of seats; 0 if `game` is given.
    stack_bb : float
        Stack of each seat in big blinds; ignored if `game` is given.
    menu : MenuConfig or None
        The bet sizes; None for the raises of the game's own rules, which needs `game`.
    cards : str
        ``lossless``, or the name or folder of a bucket table.
    algorithm : str
        One of `ALGORITHMS`: ``external`` trains by external-sampling MCCFR (`Trainer`), ``public`` by public chance
        sampling (`PublicTrainer`).
    iterations : int
        Number of iterations of the whole run. In an iteration, one deal is traversed once for every seat; by public
        chance sampling, all deals with one board.
    discount_until, prune_from, average_from, average_over : float
    average_every, num_snapshots : int
        See `Schedule`, and `PublicTrainer` for those that have no effect there.
    prune_below_bb : float
        A negative regret in big blinds, below which actions are pruned; 0 for the value that `prune_below` computes.
    exact : bool
        For small games: whether regrets are float64 instead of whole chips, and every street is averaged like the
        first street. By public chance sampling, whether all numbers are float64 instead of float32.
    seed : int
        Seed of the training's random numbers.

    Raises
    ------
    ValueError
        If a setting is of another type or out of range, the settings contradict each other, or there is no such game.
    """

    name: str
    iterations: int
    text: str = ""
    game: str = ""
    seats: int = 0
    stack_bb: float = 100.0
    menu: MenuConfig | None = None
    cards: str = LOSSLESS
    algorithm: str = EXTERNAL
    discount_until: float = Schedule.discount_until
    prune_from: float = Schedule.prune_from
    average_from: float = Schedule.average_from
    average_over: float = Schedule.average_over
    average_every: int = Schedule.average_every
    num_snapshots: int = Schedule.num_snapshots
    prune_below_bb: float = 0.0
    exact: bool = False
    seed: int = 1

    def __post_init__(self):
        for each in dataclasses.fields(self):
            _require_type(each.name, getattr(self, each.name), each.default)
        require_name(self.name)
        if not all(character.isprintable() or character == "\n" for character in self.text):
            raise ValueError(f"text is the purpose of the blueprint, without control characters, got {self.text!r:.80}")
        if bool(self.game) == bool(self.seats):
            raise ValueError(
                "a blueprint has either a game, as in game = 'leduc', or seats and stack_bb, "
                f"got {'both' if self.game else 'neither'}"
            )
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise ValueError(f"iterations are 1 to {MAX_ITERATIONS:,}, got {self.iterations!r}")
        if not -math.inf < self.prune_below_bb <= 0.0:
            raise ValueError(f"prune_below_bb is a negative regret, or 0, got {self.prune_below_bb!r}")
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm is {' or '.join(ALGORITHMS)}, got {self.algorithm!r:.80}")
        if self.seed < 0:
            raise ValueError(f"seed is a whole number from 0, got {self.seed!r}")
        if not self.game and not 1.0 <= self.stack_bb <= 10_000.0:
            raise ValueError(f"stack_bb is 1 to 10,000 big blinds, got {self.stack_bb!r}")
        if not self.game and self.menu is None:
            raise ValueError("the bet sizes are missing: give a section [menu] with preflop = ['0.5p 1p allin', ...]")
        _ = self.rules, self.game_menu, self.schedule  # building these checks the other settings
        if self.algorithm == PUBLIC and self.rules.num_seats != 2:
            raise ValueError(f"algorithm = 'public' is for two seats, got {self.rules.num_seats}; take 'external'")

    @functools.cached_property
    def rules(self) -> HoldemRules:
        """The game."""
        if self.game:
            return rules_of(find_game(self.game))
        chips = CHIPS_PER_BIG_BLIND
        return no_limit_holdem(self.seats, round(self.stack_bb * chips), (chips // 2, chips))

    @functools.cached_property
    def game_menu(self) -> GameMenu:
        """The raises on offer."""
        return self.menu.game_menu if self.menu else game_menu(self.rules)

    @functools.cached_property
    def schedule(self) -> Schedule:
        """The iterations of discounts, pruning, averages and snapshots."""
        return Schedule(
            self.iterations,
            self.discount_until,
            self.prune_from,
            self.average_from,
            self.average_over,
            self.average_every,
            self.num_snapshots,
        )

    def prune_below(self, first_buckets: int) -> float:
        """Return the regret in chips below which actions are pruned.

        Parameters
        ----------
        first_buckets : int
            Number of buckets on the first street.

        Notes
        -----
        Pluribus prunes below -300,000,000 with stacks of 10,000 chips. Only a run as long as that of Pluribus reaches
        such a regret. Unless `prune_below_bb` is set, the threshold here scales with the run. An action reaches the
        threshold if it loses `_CLEARLY_BAD_BB` on each visit to a typical preflop decision in the first 5 % of the run,
        the default of `prune_from`. The threshold is at least `_MIN_LOST_STACKS` stacks below zero.
        """
        if self.prune_below_bb:
            return self.prune_below_bb * self.rules.big_blind
        # The default, not `self.prune_from`: runs without pruning (1.0) need the threshold, too, as the floor of
        # regrets lies just below it.
        visits = Schedule.prune_from * self.iterations / first_buckets / _DEALS_PER_VISIT
        stack = max(self.rules.stacks or (100 * self.rules.big_blind,))
        # In a short run, the bad luck of one lost stack would reach the scaled threshold.
        return -max(_CLEARLY_BAD_BB * visits * self.rules.big_blind, _MIN_LOST_STACKS * stack)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings as a dict that `config_from_dict` reads."""
        return dataclasses.asdict(self)


def config_from_dict(record: Mapping[str, Any]) -> BlueprintConfig:
    """Return the configuration of some settings, as read from a TOML file or written by `BlueprintConfig.as_dict`.

    Raises
    ------
    ValueError
        If a setting is missing or unknown, or `MenuConfig` or `BlueprintConfig` refuses the settings.
    """
    given = dict(record)
    if given.get("menu") is not None:
        if not isinstance(given["menu"], Mapping):
            raise ValueError(f"[menu] is a section with preflop, flop, turn, river, got {given['menu']!r:.80}")
        menu = dict(given["menu"])
        for street in STREETS:
            # None stands for the sizes of the previous street. `_texts` refuses None for the first street.
            if street in menu and (menu[street] is not None or street == STREETS[0]):
                menu[street] = _texts(f"[menu] {street}", menu[street])
        menu["multiway"] = _by_street("[menu.multiway]", menu.get("multiway", {}), _texts)
        menu["callers"] = _by_street("[menu.callers]", menu.get("callers", {}), _numbers)
        given["menu"] = make_record(MenuConfig, menu, "[menu]")
    return make_record(BlueprintConfig, given, "a blueprint")


def read_blueprint_config(path: Path, *, iterations: int | None = None) -> BlueprintConfig:
    """Return the configuration of a TOML file; `name` is by default the file's name without its suffix.

    Parameters
    ----------
    path : Path
    iterations : int, optional
        The number of iterations if the file has none; by default the file must have one.

    Raises
    ------
    ValueError
        If the file cannot be read, or its settings are not valid.
    """
    defaults = {} if iterations is None else {"iterations": iterations}
    return settings.read_config(path, lambda found: config_from_dict(defaults | found))


def preset_names() -> list[str]:
    """Return the names of the blueprint presets, sorted."""
    return sorted(path.stem for path in _PRESETS.glob("*.toml"))


def read_preset(name: str) -> BlueprintConfig:
    """Return the configuration of a preset, given by its name.

    Raises
    ------
    ValueError
        If there is no such preset.
    """
    return read_blueprint_config(_PRESETS / f"{name}.toml")


_PRESETS = Path(__file__).with_name("presets")


def _by_street(where: str, table: object, read: Callable[[str, object], _Value]) -> dict[str, _Value]:
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} is a section with {', '.join(STREETS)}, got {table!r:.80}")
    if set(table) - set(STREETS):
        return dict(table)  # which `MenuConfig` refuses
    return {street: read(f"{where} {street}", value) for street, value in table.items()}


def _texts(where: str, value: object) -> Texts:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{where} is a list of sizes by the number of raises so far, ['0.5p 1p', '1p'], got {value!r}")
    return tuple(texts)


def _numbers(where: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or not all(type(number) is int for number in value):
        raise ValueError(f"{where} is a list of the most callers after 0, 1, ... raises, such as [2, 1], got {value!r}")
    return tuple(value)


def _require_type(name: str, value: object, default: object) -> None:
    kinds: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float), str: (str,)}
    allowed = kinds.get(int if name == "iterations" else type(default), ())
    if name == "name":
        allowed = (str,)
    if allowed and (not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed)):
        raise ValueError(f"{name} is of type {allowed[-1].__name__}, got {value!r}")
