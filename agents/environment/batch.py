"""Many tables of one learner each, stepped together by kernels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.rules import LEDUC, MAX_SEATS, HoldemRules
from plurispiel.abstraction.machine.xoshiro import xoshiro_stream
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.environment import batch_kernels as kernels
from plurispiel.agents.environment.observation import Observer
from plurispiel.agents.environment.opponents import OpponentWorkspace, find_opponents, new_workspace
from plurispiel.agents.environment.tables import learner_menu, new_tables, num_ids, table_game

__all__ = ["BatchResults", "TableBatch"]

MAX_TABLES = 1 << 20


class BatchResults(NamedTuple):
    """The results of a step, with a row for each table.

    Attributes
    ----------
    observations : float32[num_tables, size]
        The learner's observation at its next decision.
    masks : bool[num_tables, num_ids]
        Whether each id is a legal action at that decision.
    rewards : float64[num_tables]
        The learner's payoff in big blinds where a hand in which it acted has ended in this step; 0 at other tables.
    dones : bool[num_tables]
        Whether a hand in which the learner acted has ended in this step.
    num_walks : int64[num_tables]
        Number of hands that ended in this step before the learner was to act in them.
    walk_rewards : float64[num_tables]
        The sum of the payoffs of these hands, in big blinds.
    seats : int64[num_tables]
        The learner's seat in the present hand.
    last_seats : int64[num_tables]
        The learner's seat in the last hand in which it acted and that has ended.
    last_decks : uint8[num_tables, num_dealt_cards]
        The cards of that hand.
    last_actions : int64[num_tables, MAX_HAND_ACTIONS]
        The actions of that hand; only the first `last_counts` entries count.
    last_counts : int64[num_tables]
        The number of actions of that hand.
    """

    observations: np.ndarray
    masks: np.ndarray
    rewards: np.ndarray
    dones: np.ndarray
    num_walks: np.ndarray
    walk_rewards: np.ndarray
    seats: np.ndarray
    last_seats: np.ndarray
    last_decks: np.ndarray
    last_actions: np.ndarray
    last_counts: np.ndarray


class BatchWorkspace(NamedTuple):
    """Memory of one table's step.

    Attributes
    ----------
    opponent : OpponentWorkspace
    by_id : int64[num_ids]
        The action of each id.
    ranks : int64[MAX_SEATS]
    payoffs : float64[num_seats]
    big_blind : int
        Chips of the big blind.
    """

    opponent: OpponentWorkspace
    by_id: np.ndarray
    ranks: np.ndarray
    payoffs: np.ndarray
    big_blind: int


class TableBatch:
    """Tables of one learner each, against opponents that act inside kernels.

    After a step, the learner is to act at every table. Where a hand has ended, the next one has begun; a hand that ends
    before the learner is to act is counted, and the table goes on to the next. Each table has a random stream of its
    own, and its hands do not depend on the other tables.

    Parameters
    ----------
    rules : HoldemRules
    opponents : sequence of (str or Blueprint)
        An opponent for each other seat (`opponents.find_opponents`), in the order of the seats after the learner's.
    num_tables : int
    seat : {"rotate", "random"} or int
        The learner's seat. ``rotate``: the next seat in each hand, beginning with seat k mod n at table k. ``random``:
        drawn for each hand. A number: always this seat.
    observation : str
        The name of a layout (`observation.OBSERVATIONS`).
    sizes : str or None
        The learner's bet sizes in a game where every size is legal; None in other games, and with a blueprint, whose
        menu is for all seats.
    seed : int

    Attributes
    ----------
    num_ids : int
        Number of ids of the learner's actions.
    observer : Observer
    results : BatchResults
        The results of the last step, read-only. The next step writes over them.

    Raises
    ------
    ValueError
        If an argument is out of range, `sizes` do not suit the game or the opponents, or `find_opponents` refuses an
        opponent.
    ArtefactRefused
        If a blueprint is damaged.

    Examples
    --------
    >>> tables = TableBatch(LEDUC, ["call"], 4, seed=1)
    >>> tables.reset().masks.tolist()[0]
    [False, True, True]
    """

    def __init__(
        self,
        rules: HoldemRules,
        opponents: Sequence["str | Blueprint"],
        num_tables: int,
        *,
        seat: "str | int" = "rotate",
        observation: str = "information-state",
        sizes: str | None = None,
        seed: int = 0,
    ):
        if not 1 <= num_tables <= MAX_TABLES:
            raise ValueError(f"num_tables is 1 to {MAX_TABLES:,}, got {num_tables}")
        if len(opponents) != rules.num_seats - 1:
            raise ValueError(f"{rules.num_seats} seats leave {rules.num_seats - 1} to opponents, got {len(opponents)}")
        seating = {"rotate": kernels.ROTATE, "random": kernels.RANDOM_SEAT}
        if seat not in seating and seat not in range(rules.num_seats):
            raise ValueError(f"seat is 'rotate', 'random' or 0..{rules.num_seats - 1}, got {seat!r}")
        if seed < 0:
            raise ValueError(f"seed is a whole number from 0, got {seed}")
        self.rules = rules
        self._opponents, menu = find_opponents(rules, opponents, num_tables)
        if menu is not None and sizes is not None:
            raise ValueError(f"the blueprint's menu is for all seats: leave out sizes, got {sizes!r}")
        every_size = menu is None and sizes is not None
        menu = menu or learner_menu(rules, sizes)
        self.num_ids = num_ids(rules, menu)
        self.observer = Observer(rules, observation)
        self._seating = seating[seat] if isinstance(seat, str) else seat
        self._game = table_game(rules, menu, every_size=every_size)
        self._tables = new_tables(rules, num_tables, np.random.SeedSequence(seed))
        self._work = BatchWorkspace(
            new_workspace(rules),
            np.empty(self.num_ids, np.int64),
            np.zeros(MAX_SEATS, np.int64),
            np.empty(rules.num_seats),
            rules.big_blind,
        )
        self._own = BatchResults(
            observations=np.zeros((num_tables, self.observer.size), np.float32),
            masks=np.zeros((num_tables, self.num_ids), np.bool_),
            rewards=np.zeros(num_tables),
            dones=np.zeros(num_tables, np.bool_),
            num_walks=np.zeros(num_tables, np.int64),
            walk_rewards=np.zeros(num_tables),
            seats=np.arange(-1, num_tables - 1) % rules.num_seats,
            last_seats=np.zeros(num_tables, np.int64),
            last_decks=np.zeros((num_tables, rules.num_dealt_cards), np.uint8),
            last_actions=np.zeros_like(self._tables.totals),
            last_counts=np.zeros(num_tables, np.int64),
        )
        self.results = BatchResults(*(_read_only(array) for array in self._own))
        self._is_new = True

    @property
    def num_missing(self) -> int:
        """Number of decisions so far for which a blueprint had no row."""
        return int(self._opponents.missing.sum())

    def reset(self) -> BatchResults:
        """Begin a new hand at every table; errors are as in `step`."""
        self._is_new = False
        return self._step(True, np.zeros(len(self._own.dones), np.int64))

    def step(self, actions: np.ndarray) -> BatchResults:
        """Take the learner's action at every table.

        Parameters
        ----------
        actions : int[num_tables]
            The id of the action at each table.

        Raises
        ------
        ValueError
            If `reset` was not called yet, `actions` has another shape, or an action is not legal: then no table has
            moved. Also if a learner gets no turn in `batch_kernels.MAX_WALKS` hands in a row: then only `reset` can
            follow.
        """
        actions = np.ascontiguousarray(actions, np.int64)
        if self._is_new:
            raise ValueError("call reset before a step: no hand has begun, or a learner got no turn")
        if actions.shape != self._own.dones.shape:
            raise ValueError(f"a step takes {len(self._own.dones)} actions, got the shape {actions.shape}")
        i = kernels.first_illegal(self._own.masks, actions)
        if i >= 0:
            legal = np.flatnonzero(self._own.masks[i]).tolist()
            raise ValueError(f"legal actions at table {i} are {legal}, got {actions[i]}")
        return self._step(False, actions)

    def _step(self, is_reset: bool, actions: np.ndarray) -> BatchResults:
        with np.errstate(over="ignore"):  # without the compiler, numpy warns where a uint64 wraps around
            stuck = kernels.step_tables(
                self._game,
                self._opponents,
                self.observer.layout,
                self._tables,
                self._seating,
                is_reset,
                actions,
                self._work,
                self._own,
            )
        if stuck >= 0:
            self._is_new = True
            raise ValueError(
                f"at table {stuck} the learner got no turn in {kernels.MAX_WALKS:,} hands; give another seat, or "
                "opponents that fold less"
            )
        return self.results


class RandomLearner:
    """A learner that draws among the legal actions of each table, for measurements and tests."""

    def __init__(self, num_tables: int, seed: int = 0):
        self._stream = xoshiro_stream(np.random.SeedSequence(seed))
        self._actions = np.zeros(num_tables, np.int64)

    def act(self, masks: np.ndarray) -> np.ndarray:
        """Return a legal id for each table: int64[num_tables], overwritten by the next call."""
        with np.errstate(over="ignore"):
            kernels.draw_actions(masks, self._stream, self._actions)
        return self._actions


def warmup() -> None:
    """Compile the kernels of this module."""
    tables, learner = TableBatch(LEDUC, ["random"], 1), RandomLearner(1)
    tables.step(learner.act(tables.reset().masks))


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.setflags(write=False)
    return view
