"""Spots: one post-flop situation of two players.

The player out of position (``oop``) is seat 0, the one in position (``ip``) seat 1. Both have put half of the pot in
before (an odd chip is nobody's).
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.menu import BetMenu, Sizes, parse_sizes
from plurispiel.abstraction.holdem import betting_state as betting_kernels
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import StreetBetting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import combo_text, parse_range
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, STREETS, HoldemRules
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.spots.node_names import PLAYERS, action_names, find_decision

__all__ = ["Spot", "spot_record"]

CARDS = ("exact", "buckets")

Bets = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Spot:
    """A situation to solve.

    Attributes
    ----------
    board : str
        Three to five cards.
    pot : int
        Chips in the middle, at least 2.
    stacks : int or (int, int)
        Chips that are left to both players, or to each.
    oop, ip : str
        Their ranges, see `ranges.parse_range`.
    bets : mapping
        By street and player, the sizes of the first bet and of raises (see `actions.menu`):
        ``{"river": {"oop": {"bet": "0.5p allin", "raise": "45%"}}}``. Sizes directly under a street are both
        players'; ``raise`` may be a list, for the first raise, the second and so on. What is missing offers nothing.
    all_in_share : float
        A bet of this share of the stack or more becomes all-in; 1 leaves sizes as they are.
    lock : mapping
        Strategies that are given, by the name of the node and then by action, as ranges whose weights are the
        probabilities: ``{"c b52%": {"f": "22-55,A2s:0.5", "c": "66+"}}``. One action may be left out, and is what is
        left of 1. ``*`` stands for any card dealt.
    cards : {"exact", "buckets"}
        Whether each hand has a strategy of its own on every board, or on streets after the first only each of some
        hundred buckets of similar hands.

    Raises
    ------
    ValueError
        If anything of it makes no sense.
    """

    board: str
    pot: int
    stacks: int | tuple[int, int]
    oop: str
    ip: str
    bets: Bets = field(default_factory=dict)
    all_in_share: float = 1.0
    lock: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cards: str = "exact"

    def __post_init__(self):
        cards = parse_cards(self.board)
        if not 3 <= len(cards) <= 5:
            raise ValueError(f"a spot has a board of 3 to 5 cards, got {self.board!r}")
        if not _is_chips(self.pot, 2):
            raise ValueError(f"pot must be whole chips, 2 or more, got {self.pot!r}")
        for chips in self._both_stacks():
            if not _is_chips(chips, 1):
                raise ValueError(f"stacks must be whole chips, 1 or more, one number or two, got {self.stacks!r}")
        if self.pot // 2 + min(self._both_stacks()) > MAX_CHIPS // 4:
            raise ValueError(
                f"pot and stacks must be below {MAX_CHIPS // 4:,} chips, got {self.pot!r}, {self.stacks!r}"
            )
        share = self.all_in_share
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 < share <= 1.0:
            raise ValueError(f"all_in_share must be above 0 and at most 1, got {self.all_in_share!r}")
        if self.cards not in CARDS:
            raise ValueError(f"cards must be {' or '.join(CARDS)}, got {self.cards!r}")

    @property
    def street(self) -> int:
        """1 flop, 2 turn, 3 river."""
        return len(parse_cards(self.board)) - 2

    @property
    def has_buckets(self) -> bool:
        """Whether hands are put in buckets: there are later streets, and exact cards are not asked for."""
        return self.cards != "exact" and self.street < 3

    def subgame(self) -> Subgame:
        """Return what is to be solved.

        Raises
        ------
        ValueError
            If no player could ever bet, or no two hands of the ranges can meet.
        """
        ranges = np.stack([self._range(player) for player in PLAYERS])
        half = self.pot // 2
        stack = half + min(self._both_stacks())  # what the richer one has beyond cannot be played for
        rules = HoldemRules(blinds=(1, 1), stacks=(stack, stack), first_seats=(0, 0, 0, 0), board_cards=(0, 3, 1, 1))
        state = BettingState(rules)
        if half > 1:
            state.apply(half)
        else:
            state.apply(CALL)
        state.apply(CALL)
        while state.street < self.street:
            state.apply(CALL)
        menu, dead_chips = self._menu(), self.pot % 2

        def raises(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
            return menu.raises(game, array, dead_chips)

        board = parse_cards(self.board)
        subgame = Subgame(state, board, ranges, raises, dead_chips)
        streets = subgame.betting()
        if not any(len(each.children) > 1 for street in streets for each in street.decisions):
            raise ValueError("the menus leave no player a bet, so there is nothing to solve: give bets for a street")
        return dataclasses.replace(subgame, locks=self._locks(subgame, streets), buckets=self._buckets(board))

    def _both_stacks(self) -> tuple[Any, ...]:
        if isinstance(self.stacks, (list, tuple)):
            return tuple(self.stacks) if len(self.stacks) == 2 else (None,)
        return (self.stacks,)

    def _range(self, player: str) -> np.ndarray:
        text = getattr(self, player)
        if not isinstance(text, str):
            raise ValueError(f"{player} must be a range as text, got {text!r}")
        try:
            return parse_range(text)
        except ValueError as error:
            raise ValueError(f"{player}: {error}") from None

    def _buckets(self, board: tuple[int, ...]) -> BucketRows | None:
        """Return the buckets of later streets, those of this flop alone, made where they are not kept."""
        if not self.has_buckets:
            return None
        from plurispiel.abstraction.cards.flops import flop_buckets  # much to load

        return flop_buckets(board[:3]).row

    def _locks(
        self, subgame: Subgame, streets: list[StreetBetting]
    ) -> dict[tuple[tuple[int, int, int], ...], np.ndarray]:
        _require_keys("lock", self.lock, self.lock)
        locks = {}
        for name, table in self.lock.items():
            decision = find_decision(subgame, streets, self.street, name)
            if self.has_buckets and decision.state[betting_kernels.STREET] > subgame.state.street:
                raise ValueError(
                    f"lock {name!r} is on a street in buckets, where strategies cannot be locked: "
                    f'lock the {STREETS[self.street]} only, or take cards = "exact"'
                )
            names = action_names(subgame, decision)
            _require_keys(f"lock {name!r}", table, table)
            shares = np.full((subgame.state.rules.num_combos, len(names)), np.nan)
            for action, text in table.items():
                column = next((k for k, pair in enumerate(names) if action in pair), None)
                if column is None:
                    raise ValueError(f"lock {name!r}: actions are {' '.join(own for own, _ in names)}, got {action!r}")
                if not isinstance(text, str):
                    raise ValueError(f"lock {name!r}: {action} needs a range as text, got {text!r}")
                shares[:, column] = parse_range(text) if text.strip() else 0.0
            rest = np.flatnonzero(np.isnan(shares[0]))
            if len(rest) > 1:
                raise ValueError(f"lock {name!r} leaves out {len(rest)} actions; leave out one at most")
            named = np.nansum(shares, axis=1)
            wrong = named > 1.0 + 1e-6 if len(rest) else abs(named - 1.0) > 1e-6
            wrong &= self._range(PLAYERS[decision.seat]) > 0.0
            if wrong.any():
                combo = int(np.flatnonzero(wrong)[0])
                raise ValueError(f"lock {name!r}: {combo_text(combo)} does {named[combo]:g} in all, which must be 1")
            if len(rest):
                shares[:, rest[0]] = np.maximum(1.0 - named, 0.0)
            unused = shares.sum(axis=1) <= 0.0
            shares[unused] = 1.0
            locks[decision.actions] = shares / shares.sum(axis=1, keepdims=True)
        return locks

    def _menu(self) -> BetMenu:
        """Return the menu of all streets."""
        _require_keys("bets", self.bets, STREETS[1:])
        streets = []
        for street in STREETS:
            table = self.bets.get(street, {})
            shared = isinstance(table, Mapping) and not set(table) & set(PLAYERS)
            _require_keys(f"bets.{street}", table, ("bet", "raise") if shared else PLAYERS)
            seats = []
            for player in PLAYERS:
                own = table if shared else table.get(player, {})
                _require_keys(f"bets.{street}.{player}", own, ("bet", "raise"))
                raises = own.get("raise", "")
                texts = [own.get("bet", ""), *(raises if isinstance(raises, (list, tuple)) else [raises])]
                seats.append(tuple(_sizes(f"bets.{street}.{player}", text) for text in texts))
            streets.append(tuple(seats))
        return BetMenu(tuple(streets), self.all_in_share)


def _is_chips(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_CHIPS


def _sizes(where: str, text: object) -> Sizes:
    if not isinstance(text, str):
        raise ValueError(f"{where}: sizes are a text like '0.5p allin', got {text!r}")
    try:
        return parse_sizes(text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _require_keys(where: str, table: object, known: Iterable[str]) -> None:
    if not isinstance(table, Mapping):
        raise ValueError(f"{where} must be a table, got {table!r}")
    if unknown := sorted(map(str, set(table) - set(known))):
        raise ValueError(f"{where} holds {', '.join(known)}, got {unknown[0]!r}")


def spot_record(spot: Spot) -> dict[str, Any]:
    """Return a spot as JSON and TOML can hold it."""
    return dataclasses.asdict(spot)
