"""The game of a learner's table, and the memory of many such tables."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions import tree_kernels
from plurispiel.abstraction.actions.menu import parse_sizes
from plurispiel.abstraction.actions.tree import GameMenu, MenuArrays, StreetMenu, game_menu, menu_arrays
from plurispiel.abstraction.holdem.betting import BettingState, rules_array
from plurispiel.abstraction.holdem.hand_ranks import RankTables, rank_tables
from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.playout import MAX_HAND_ACTIONS
from plurispiel.abstraction.holdem.rules import MAX_SEATS, MAX_STREETS, HoldemRules
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream

__all__ = ["TableGame", "HandTables", "learner_menu", "new_tables", "num_ids", "table_game"]


class TableGame(NamedTuple):
    """A game as the kernels of tables read it.

    Attributes
    ----------
    rules : int64[RULES_SIZE]
    ranks : RankTables
    menu : MenuArrays
        The raises on offer to the learner and, unless `every_size`, to all other seats.
    start : int64[STATE_SIZE]
        The betting state with the blinds posted.
    board_sizes : int64[MAX_STREETS]
        Number of board cards on each street, the street's own cards included.
    num_dealt, num_suits : int
        Number of cards that a hand deals (all hole cards and the board), and number of suits.
    every_size : bool
        Whether the other seats may raise to any legal total.
    native_ids : bool
        Whether a learner's ids are those of ``universal_poker``.
    """

    rules: np.ndarray
    ranks: RankTables
    menu: MenuArrays
    start: np.ndarray
    board_sizes: np.ndarray
    num_dealt: int
    num_suits: int
    every_size: bool
    native_ids: bool


class HandTables(NamedTuple):
    """The memory of tables, one row for each.

    Attributes
    ----------
    cards : uint8[num_tables, num_cards]
        The deck, the hand's cards first: all hole cards, seat by seat, then the board.
    states : int64[num_tables, STATE_SIZE]
        The betting state.
    before : int64[num_tables, MAX_SEATS]
        Chips that each seat had put in before this street; the blinds belong to the first street.
    totals : int64[num_tables, MAX_HAND_ACTIONS]
        The actions of the hand.
    kinds, streets : int8[num_tables, MAX_HAND_ACTIONS]
        The kind (`table_kernels`) and the street of each action.
    shares : float64[num_tables, MAX_HAND_ACTIONS]
        The size of each raise as a share of the pot after a call; 0 for other actions.
    counts : int64[num_tables]
        Number of actions of the hand.
    streams : uint64[num_tables, 4]
        The random stream of each table.
    """

    cards: np.ndarray
    states: np.ndarray
    before: np.ndarray
    totals: np.ndarray
    kinds: np.ndarray
    streets: np.ndarray
    shares: np.ndarray
    counts: np.ndarray
    streams: np.ndarray


def learner_menu(rules: HoldemRules, sizes: str | None) -> GameMenu:
    """Return the raises on offer to a learner.

    Parameters
    ----------
    sizes : str or None
        Bet sizes in the grammar of `abstraction.actions.menu`, in a game where every size is legal; None in a game that
        has a menu of its own.

    Raises
    ------
    ValueError
        If the sizes are malformed, missing, or given in a game with a menu.
    """
    has_menu = rules.is_limit or rules.betting_abstraction != "fullgame"
    if has_menu:
        if sizes is not None:
            raise ValueError(f"sizes {sizes!r}: the game has a menu of its own ({rules.betting_abstraction})")
        return game_menu(rules)
    if sizes is None:
        raise ValueError("every size is legal in this game: give sizes, as in '0.5p 1p allin', or a game with a menu")
    if not parse_sizes(sizes):
        raise ValueError("sizes hold at least one size, as in '0.5p 1p allin', got none")
    return GameMenu((StreetMenu((sizes,) * tree_kernels.MAX_DEPTH),))


def num_ids(rules: HoldemRules, menu: GameMenu) -> int:
    """Return the number of a learner's ids.

    In a game with a menu of its own, this is the number of OpenSpiel's distinct actions.
    """
    if rules.is_limit or rules.betting_abstraction != "fullgame":
        return load_game(rules).num_distinct_actions()
    return 2 + max(
        len(parse_sizes(text)) for street in menu.streets for text in (*street.raises, *(street.multiway or ()))
    )


def table_game(rules: HoldemRules, menu: GameMenu, *, every_size: bool) -> TableGame:
    """Return a game as kernels read it; `every_size` is as in `TableGame`."""
    sizes = [rules.board_size(min(street, rules.num_streets - 1)) for street in range(MAX_STREETS)]
    return TableGame(
        rules_array(rules),
        rank_tables(),
        menu_arrays(rules, menu),
        BettingState(rules).array,
        np.array(sizes, np.int64),
        rules.num_dealt_cards,
        rules.num_suits,
        every_size,
        rules.is_limit or rules.betting_abstraction != "fullgame",
    )


def new_tables(rules: HoldemRules, num_tables: int, seed: np.random.SeedSequence) -> HandTables:
    """Return the memory of tables, without hands yet; each table has a random stream of its own."""
    shape = num_tables, MAX_HAND_ACTIONS
    return HandTables(
        cards=np.tile(rules.cards, (num_tables, 1)),
        states=np.tile(BettingState(rules).array, (num_tables, 1)),
        before=np.zeros((num_tables, MAX_SEATS), np.int64),
        totals=np.zeros(shape, np.int64),
        kinds=np.zeros(shape, np.int8),
        streets=np.zeros(shape, np.int8),
        shares=np.zeros(shape),
        counts=np.zeros(num_tables, np.int64),
        streams=np.stack([xoshiro_stream(each) for each in seed.spawn(num_tables)]),
    )
