"""Spots: one post-flop situation of two players, or of three on the river.

The player out of position (``oop``) is seat 0, and the player in position (``ip``) the last seat. With three players,
``middle`` is seat 1. All players have put in the same share of the pot before the spot. With two players an odd chip of
the pot is dead money.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.menu import BetMenu, Sizes, parse_sizes
from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.betting_tree import RaiseMenu, StreetBetting
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, STREETS, HoldemRules
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.spots.locks import locked_strategy, require_keys
from plurispiel.agents.spots.node_names import PLAYERS, THREE_PLAYERS, action_names, find_decision

__all__ = ["Spot", "spot_record"]

CARDS = ("exact", "buckets")

Bets = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, eq=False)
class Spot:
    """A post-flop situation to solve.

    Ranges, bets and locks are checked when they are first used.

    Attributes
    ----------
    board : str
        Three to five cards.
    pot : int
        Chips in the pot when the spot begins, at least 2. With three players a multiple of 3.
    stacks : int or tuple of int
        Chips that players have left: one number for all of them, or one for each.
    oop, ip : str
        The players' ranges, see `ranges.parse_range`.
    middle : str, optional
        The range of a third player, who acts between the two others; on the river only.
    bets : mapping
        For each street and player, the sizes of the first bet and of raises (see `actions.menu`):
        ``{"river": {"oop": {"bet": "0.5p allin", "raise": "45%"}}}``. Sizes directly under a street are for all
        players. ``raise`` may be a list, for the first raise, the second and so on; its last entry serves all later
        raises. Where an entry is missing, no bet or raise is on offer.
    all_in_share : float
        A bet becomes all-in if it brings the player's chips in the pot to at least this share of the chips with which
        the player began the hand. 1 leaves sizes as they are.
    lock : mapping
        Fixed strategies, by the name of the node and then by action, as ranges whose weights are the
        probabilities: ``{"c b52%": {"f": "22-55,A2s:0.5", "c": "66+"}}``. One action may be left out and gets the
        remaining probability. With an entry ``hands``, only the hands named there are locked, and all others are free,
        also if an action's range names them: ``{"c b52%": {"hands": "AhKh,22", "f": "22"}}``. In a node's name ``*``
        stands for any card dealt. Nothing can be locked with three players, or on a street in buckets.
    cards : {"exact", "buckets"}
        With ``exact`` each hand has its own strategy on every board. With ``buckets``, all hands of a bucket share one
        strategy on each street after the first; a street has 500 buckets of similar hands.

    Raises
    ------
    ValueError
        If a value is out of range, or values do not fit together.
    """

    board: str
    pot: int
    stacks: int | tuple[int, ...]
    oop: str
    ip: str
    bets: Bets = field(default_factory=dict)
    all_in_share: float = 1.0
    lock: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cards: str = "exact"
    middle: str | None = None

    def __post_init__(self):
        cards = parse_cards(self.board)
        if not 3 <= len(cards) <= 5:
            raise ValueError(f"a spot has a board of 3 to 5 cards, got {self.board!r}")
        if not _is_chips(self.pot, 2):
            raise ValueError(f"pot must be whole chips, 2 to {MAX_CHIPS:,}, got {self.pot!r}")
        if self.middle is not None:
            self._check_three_players(len(cards))
        for chips in self._all_stacks():
            if not _is_chips(chips, 1):
                several = "two" if self.middle is None else "three"
                raise ValueError(
                    f"stacks must be whole chips, 1 to {MAX_CHIPS:,}, one number or {several}, got {self.stacks!r}"
                )
        if self.pot // 2 + self._deepest() > MAX_CHIPS // 4:
            raise ValueError(
                f"half of the pot and the second largest stack must sum to {MAX_CHIPS // 4:,} chips or less, "
                f"got pot {self.pot!r} and stacks {self.stacks!r}"
            )
        share = self.all_in_share
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0.0 < share <= 1.0:
            raise ValueError(f"all_in_share must be above 0 and at most 1, got {self.all_in_share!r}")
        if self.cards not in CARDS:
            raise ValueError(f"cards must be {' or '.join(CARDS)}, got {self.cards!r}")

    def _check_three_players(self, num_cards: int) -> None:
        if num_cards != 5:
            raise ValueError(f"three players are solved on the river only: board needs 5 cards, got {self.board!r}")
        if self.pot % 3:
            raise ValueError(f"with three players pot must be a multiple of 3, for equal shares, got {self.pot}")
        if self.lock:
            raise ValueError("lock is for spots of two players: leave it out, or leave out middle")

    @property
    def players(self) -> tuple[str, ...]:
        """The players' names, by seat."""
        return PLAYERS if self.middle is None else THREE_PLAYERS

    @property
    def street(self) -> int:
        """The street of the board: 1 flop, 2 turn, 3 river."""
        return len(parse_cards(self.board)) - 2

    @property
    def has_buckets(self) -> bool:
        """Whether hands of later streets are in buckets; never on the river, which has no later street."""
        return self.cards != "exact" and self.street < 3

    def subgame(self) -> Subgame:
        """Return the subgame of a spot of two players.

        Raises
        ------
        ValueError
            If a range, a bet or a lock is malformed or does not fit, or the betting is too large. Also if the spot has
            three players.
        """
        if self.middle is not None:
            raise ValueError("a Subgame is for two players; solve a spot of three with three_way.three_way_solver")
        board = parse_cards(self.board)
        subgame = Subgame(self.start(), board, self.ranges(), self.raises(), self.pot % 2)
        locks = self._locks(subgame, subgame.betting()) if self.lock else {}
        return dataclasses.replace(subgame, locks=locks, buckets=self._buckets(board))

    def raises(self) -> RaiseMenu:
        """Return the raises on offer, as a function of the rules and a betting state.

        Raises
        ------
        ValueError
            If `bets` is malformed.
        """
        menu, dead_chips = self.menu(), self.pot % len(self.players)

        def on_offer(game: HoldemRules, array: list[int]) -> tuple[int, ...]:
            return menu.raises(game, array, dead_chips)

        return on_offer

    def has_bets(self) -> bool:
        """Return whether any player can bet; if not, the hand is checked down.

        Raises
        ------
        ValueError
            If `bets` is malformed.
        """
        state, raises = self.start(), self.raises()
        while not state.is_over:
            if raises(state.rules, state.array.tolist()):
                return True
            state.apply(CALL)  # no player could bet so far, so all actions were checks
        return False

    def ranges(self) -> np.ndarray:
        """Return each player's weight of each combo, from 0 to 1: float64[num_players, 1326].

        Raises
        ------
        ValueError
            If a range is malformed.
        """
        return np.stack([self._range(player) for player in self.players])

    def start(self) -> BettingState:
        """Return the betting state at the first decision.

        Each player has put in a share of the pot before the flop. Then all have checked up to the spot's street.
        """
        num_players = len(self.players)
        share, deepest = self.pot // num_players, self._deepest()
        stacks = self._all_stacks() * (num_players if len(self._all_stacks()) == 1 else 1)
        rules = HoldemRules(
            blinds=(1,) * num_players,
            stacks=tuple(share + min(stack, deepest) for stack in stacks),
            first_seats=(0, 0, 0, 0),
            board_cards=(0, 3, 1, 1),
        )
        state = BettingState(rules)
        state.apply(share if share > 1 else CALL)
        while state.street < self.street:
            state.apply(CALL)
        return state

    def _all_stacks(self) -> tuple[Any, ...]:
        if isinstance(self.stacks, (list, tuple)):
            return tuple(self.stacks) if len(self.stacks) == len(self.players) else (None,)
        return (self.stacks,)

    def _deepest(self) -> int:
        """Return the second largest stack: the largest stack's chips above this amount cannot be contested.

        If one number was given, all stacks are equal, and the number is returned.
        """
        stacks = self._all_stacks()
        return sorted(stacks)[-2] if len(stacks) > 1 else stacks[0]

    def _range(self, player: str) -> np.ndarray:
        text = getattr(self, player)
        if not isinstance(text, str):
            raise ValueError(f"{player} must be a range as text, got {text!r}")
        try:
            return parse_range(text)
        except ValueError as error:
            raise ValueError(f"{player}: {error}") from None

    def _buckets(self, board: tuple[int, ...]) -> BucketRows | None:
        """Return the function from a board to its buckets; None if the spot has no buckets.

        The buckets are for the spot's flop alone. They are loaded from the cache, or else built.
        """
        if not self.has_buckets:
            return None
        from plurispiel.abstraction.cards.flops import flop_buckets  # slow to import

        return flop_buckets(board[:3]).row

    def _locks(
        self, subgame: Subgame, streets: list[StreetBetting]
    ) -> dict[tuple[tuple[int, int, int], ...], np.ndarray]:
        require_keys("lock", self.lock, self.lock)
        locks = {}
        for name, table in self.lock.items():
            decision = find_decision(subgame, streets, self.street, name)
            if self.has_buckets and decision.state[betting_layout.STREET] > subgame.state.street:
                raise ValueError(
                    f"lock {name!r} is on a street in buckets, where strategies cannot be locked: "
                    f'lock the {STREETS[self.street]} only, or take cards = "exact"'
                )
            names = action_names(subgame, decision)
            weights = self._range(PLAYERS[decision.seat])
            locks[decision.actions] = locked_strategy(name, table, names, weights)
        return locks

    def menu(self) -> BetMenu:
        """Return the bet sizes of all streets and players.

        Raises
        ------
        ValueError
            If `bets` is malformed.
        """
        require_keys("bets", self.bets, STREETS[1:])
        streets = []
        for street in STREETS:
            table = self.bets.get(street, {})
            shared = isinstance(table, Mapping) and not set(table) & set(self.players)
            require_keys(f"bets.{street}", table, ("bet", "raise") if shared else self.players)
            seats = []
            for player in self.players:
                sizes = table if shared else table.get(player, {})
                require_keys(f"bets.{street}.{player}", sizes, ("bet", "raise"))
                raises = sizes.get("raise", "")
                listed = raises if isinstance(raises, (list, tuple)) else [raises]
                # With no entry for raises, the sizes of the bet would serve raises, too (`BetMenu`).
                texts = [sizes.get("bet", ""), *(listed or [""])]
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


def spot_record(spot: Spot) -> dict[str, Any]:
    """Return a spot as a record for JSON and TOML, from which `Spot(**record)` makes the same spot."""
    record = dataclasses.asdict(spot)
    return {name: value for name, value in record.items() if name != "middle" or value is not None}
