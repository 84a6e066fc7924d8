"""Spots: one post-flop situation of two players, and its solution.

The player out of position (``oop``) is seat 0, the one in position (``ip``) seat 1. Both have put half of the pot in
before (an odd chip is nobody's). EV is a player's share of the final pot less its own further bets, so that both sum
to the pot.

Nodes are named by what leads to them, with blanks between: ``f`` fold, ``c`` check or call, ``b52%`` a bet and ``r45%``
a raise by so much of the pot, or by chips put in on the street as in ``b94``, ``allin``; and the cards dealt, as in
``c c 7d b55%``.
"""

import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from plurispiel.abstraction.actions.menu import BetMenu, Sizes, parse_sizes
from plurispiel.abstraction.holdem import _betting_kernels as betting_kernels
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import STREET_END, BettingDecision, StreetBetting
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.ranges import combo_text, parse_range
from plurispiel.abstraction.holdem.rules import MAX_CHIPS, HoldemRules
from plurispiel.abstraction.holdem.showdown import HandRanker, fold_mass, showdown_margin
from plurispiel.agents.resolve.discounting import DEFAULT
from plurispiel.agents.resolve.subgame import BucketRows, Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver

__all__ = ["PLAYERS", "NodeStrategy", "Spot", "SpotSolution", "equity", "solve_spot"]

PLAYERS = ("oop", "ip")
CARDS = ("exact", "buckets")
STREETS = ("preflop", "flop", "turn", "river")

TARGET_PCT = 0.5
MAX_ITERATIONS = 100_000
_LEAST_ITERATIONS, _GAIN = 64, 0.95  # with buckets, the end is where another round gains less

Bets = Mapping[str, Mapping[str, Any]]

OnProgress = Callable[[int, float, float], None]
"""Called with iterations, seconds and exploitability in % of the pot."""


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
        if isinstance(self.all_in_share, bool) or not 0.0 < self.all_in_share <= 1.0:
            raise ValueError(f"all_in_share must be above 0 and at most 1, got {self.all_in_share!r}")
        if self.cards not in CARDS:
            raise ValueError(f"cards must be {' or '.join(CARDS)}, got {self.cards!r}")

    @property
    def street(self) -> int:
        """1 flop, 2 turn, 3 river."""
        return len(parse_cards(self.board)) - 2

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
        if self.cards == "exact" or len(board) == 5:
            return None
        from plurispiel.abstraction.cards.flops import flop_buckets  # much to load

        return flop_buckets(board[:3]).row

    def _locks(
        self, subgame: Subgame, streets: list[StreetBetting]
    ) -> dict[tuple[tuple[int, int, int], ...], np.ndarray]:
        _require_keys("lock", self.lock, self.lock)
        locks = {}
        for name, table in self.lock.items():
            decision = _find_decision(subgame, streets, self.street, name)
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


@dataclass(frozen=True, eq=False)
class NodeStrategy:
    """What a player does at a node.

    Attributes
    ----------
    node : str
        Its name; empty at the root.
    player : {"oop", "ip"}
    board : tuple of int
    actions : tuple of str
    probabilities : float64[1326, num_actions]
        NaN for combos that the player cannot hold.
    weights : float64[1326]
        How likely the player is to be there with each combo, of the weight in its range.
    """

    node: str
    player: str
    board: tuple[int, ...]
    actions: tuple[str, ...]
    probabilities: np.ndarray
    weights: np.ndarray

    @property
    def combos(self) -> dict[str, list[float]]:
        """The probabilities of each combo of the range, by its letters."""
        held = np.flatnonzero(~np.isnan(self.probabilities[:, 0]))
        return {combo_text(int(combo)): self.probabilities[combo].tolist() for combo in held}

    @property
    def frequencies(self) -> np.ndarray:
        """How often each action is taken by the range that comes here: float64[num_actions]."""
        held = self.weights > 0.0
        weighed = self.weights[held] @ self.probabilities[held]
        return weighed / self.weights.sum() if held.any() else np.full(len(self.actions), np.nan)


@dataclass(frozen=True, eq=False)
class SpotSolution:
    """A solved spot.

    Attributes
    ----------
    spot : Spot
    ev : (float, float)
        Of both players, in chips, see above.
    equity : (float, float)
        Their shares of the pot if all were dealt out without a bet.
    exploitability_pct : float
        Half of what both gain by best responses, in % of the pot.
    iterations : int
    seconds : float
        Of iterations and measurements.
    memory_mb : float
    solver : VectorSolver
    """

    spot: Spot
    ev: tuple[float, float]
    equity: tuple[float, float]
    exploitability_pct: float
    iterations: int
    seconds: float
    memory_mb: float
    solver: VectorSolver = field(repr=False)

    def strategy(self, node: str = "") -> NodeStrategy:
        """Return the average strategy at a node.

        Raises
        ------
        ValueError
            If the name leads to none.
        """
        return node_strategy(self.spot, self.solver, node)

    def record(self, node: str = "") -> dict[str, Any]:
        """Return the solution as JSON can hold it, with the strategy of one node."""
        shown = self.strategy(node)
        return {
            "ev": list(self.ev),
            "equity": list(self.equity),
            "exploitability_pct": self.exploitability_pct,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "node": shown.node,
            "player": shown.player,
            "strategy": {"actions": list(shown.actions), "combos": shown.combos},
        }


def solve_spot(
    spot: Spot,
    *,
    algorithm: str = DEFAULT,
    target_pct: float = TARGET_PCT,
    max_seconds: float = math.inf,
    max_iterations: int = MAX_ITERATIONS,
    threads: int = 2,
    on_memory: Callable[[int], None] | None = None,
    on_progress: OnProgress | None = None,
) -> SpotSolution:
    """Solve a spot until its exploitability is small enough, or time or iterations are over.

    Parameters
    ----------
    algorithm : str
        See `discounting.parse_discounting`.
    target_pct : float
        Exploitability to reach, in % of the pot. It is that of the real cards: with buckets it will not come near 0,
        and the end is where it stops falling.
    max_seconds : float
    max_iterations : int
    threads : int
    on_memory : callable, optional
        Called with the bytes it will take, before they are taken.
    on_progress : callable, optional

    Raises
    ------
    ValueError
        If the spot makes no sense, or needs more memory than there is.

    Examples
    --------
    >>> river = {"river": {"oop": {"bet": "0.5p"}}}
    >>> spot = Spot(board="Td9d6h Qc 7s", pot=60, stacks=30, oop="random", ip="random", bets=river)
    >>> [round(chips) for chips in solve_spot(spot, target_pct=0.1).ev]
    [33, 27]
    """
    for name, value in (("target_pct", target_pct), ("max_seconds", max_seconds), ("max_iterations", max_iterations)):
        if not value > 0:
            raise ValueError(f"{name} must be positive, got {value!r}")

    def check(num_bytes: int) -> None:
        if on_memory is not None:
            on_memory(num_bytes)
        available = _available_memory()
        if num_bytes > available:
            raise ValueError(
                f"the spot needs {num_bytes / 2**30:.1f} GiB of memory, {available / 2**30:.1f} GiB are free: "
                "take fewer bet sizes, narrower ranges or buckets"
            )

    solver = VectorSolver(spot.subgame(), algorithm, threads=threads, on_memory=check)
    begin = time.perf_counter()
    _converge(solver, spot.pot, target_pct, max_seconds, int(max_iterations), on_progress)
    return solution_of(spot, solver, time.perf_counter() - begin)


def solution_of(spot: Spot, solver: VectorSolver, seconds: float) -> SpotSolution:
    """Return what a solver has found so far."""
    found = solver.evaluate()
    half = spot.pot / 2.0
    share = equity(parse_cards(spot.board), solver.ranges, solver.subgame.state.rules)
    return SpotSolution(
        spot=spot,
        ev=(float(found.values[0]) + half, float(found.values[1]) + half),
        equity=(share, 1.0 - share),
        exploitability_pct=100.0 * found.exploitability / spot.pot,
        iterations=solver.iteration,
        seconds=seconds,
        memory_mb=solver.memory_bytes / 1e6,
        solver=solver,
    )


def equity(board: tuple[int, ...], ranges: np.ndarray, rules: HoldemRules) -> float:
    """Return the share of the pot that seat 0 wins if the rest of the board is dealt out: exact, over all boards.

    Parameters
    ----------
    ranges : float64[2, num_combos]
        Without weight for combos on the board.
    """
    ranker = HandRanker(rules)
    left = [card for card in rules.cards.tolist() if card not in board]
    margin = pairs = 0.0
    for new in combinations(left, rules.num_board_cards - len(board)):
        hands = ranker.rank(board + new)
        own, other = ranges[:, hands.combos]
        margin += float(own @ showdown_margin(hands, other))
        pairs += float(own @ fold_mass(hands, other))
    return 0.5 + 0.5 * margin / pairs


def node_strategy(spot: Spot, solver: VectorSolver, node: str) -> NodeStrategy:
    """Return the average strategy at a node; see `SpotSolution.strategy`."""
    board = parse_cards(spot.board)
    dealt: list[tuple[int, ...]] = []
    index, number, image = 0, 0, np.arange(solver.subgame.state.rules.num_combos)
    weights = solver.ranges.copy()
    street = solver.streets[0].betting
    place = int(np.flatnonzero(street.nodes.number == 0)[0])
    taken: list[str] = []
    for word in [*node.split(), ""]:
        here = f"at node {' '.join(taken)!r}" if taken else "at the root"
        if street.nodes.kind[place] == STREET_END:
            if not word:
                raise ValueError(f"{here} the {STREETS[spot.street + index + 1]} card is dealt: name it")
            (card,) = _one_card(word, here)
            if card in board:
                raise ValueError(f"{here} {word!r} is on the board already")
            board, dealt = (*board, card), [*dealt, (card,)]
            number, image = solver.locate(dealt)
            weights[:, (solver.subgame.state.rules.combos == card).any(axis=1)] = 0.0
            index += 1
            root = int(street.nodes.end[place])
            street = solver.streets[index].betting
            place = int(np.flatnonzero(street.nodes.number == root)[0])
            taken.append(cards_text([card]))
            continue
        decision = next((each for each in street.decisions if each.node == place), None)
        if decision is None:
            raise ValueError(f"{here} the hand is over")
        names = action_names(solver.subgame, decision)
        probabilities = solver.strategy(index, decision, number)[image]
        probabilities[weights[decision.seat] <= 0.0] = np.nan
        if not word:
            return NodeStrategy(
                " ".join(taken),
                PLAYERS[decision.seat],
                board,
                tuple(name for name, _ in names),
                probabilities,
                weights[decision.seat],
            )
        column = next((k for k, pair in enumerate(names) if word in pair), None)
        if column is None:
            raise ValueError(f"{here} the actions are {' '.join(name for name, _ in names)}, got {word!r}")
        held = weights[decision.seat] > 0.0
        weights[decision.seat, held] *= probabilities[held, column]
        place = list(decision.children.values())[column]
        taken.append(names[column][0])
    raise AssertionError("the last word is empty and ends the walk")


def _find_decision(subgame: Subgame, streets: list[StreetBetting], first_street: int, name: str) -> BettingDecision:
    """Return the decision that a lock's name leads to."""
    index, street = 0, streets[0]
    place = int(np.flatnonzero(street.nodes.number == 0)[0])
    for word in [*name.split(), ""]:
        if street.nodes.kind[place] == STREET_END and word == "*":
            index, root = index + 1, int(street.nodes.end[place])
            street = streets[index]
            place = int(np.flatnonzero(street.nodes.number == root)[0])
            continue
        decision = next((each for each in street.decisions if each.node == place), None)
        if decision is None:
            where = (
                f"the {STREETS[first_street + index + 1]} card is dealt, written *"
                if (street.nodes.kind[place] == STREET_END)
                else "the hand is over"
            )
            raise ValueError(f"lock {name!r}: before {word!r} {where}")
        if not word:
            return decision
        names = action_names(subgame, decision)
        column = next((k for k, pair in enumerate(names) if word in pair), None)
        if column is None:
            raise ValueError(f"lock {name!r}: actions are {' '.join(own for own, _ in names)}, got {word!r}")
        place = list(decision.children.values())[column]
    raise AssertionError("the last word is empty and ends the walk")


def action_names(subgame: Subgame, decision: BettingDecision) -> list[tuple[str, str]]:
    """Return the names of a decision's actions: by shares of the pot, and by chips put in on the street."""
    state = decision.state
    contributions = state[betting_kernels.CONTRIB : betting_kernels.CONTRIB + 2]
    most = state[betting_kernels.MAX_CONTRIB]
    pot = sum(contributions) + subgame.dead_chips + most - contributions[decision.seat]
    letter = "r" if state[betting_kernels.NUM_RAISES] else "b"
    before = min(_street_start(subgame, decision))
    names = []
    for action in decision.children:
        if action == FOLD:
            names.append(("f", "f"))
        elif action == CALL:
            names.append(("c", "c"))
        else:
            chips = f"{letter}{action - before}"
            share = f"{letter}{100.0 * (action - most) / pot:.0f}%"
            names.append(("allin" if action == state[betting_kernels.MAX_RAISE] else share, chips))
    shares = [name for name, _ in names]
    return [(name if shares.count(name) == 1 else chips, chips) for name, chips in names]


def _street_start(subgame: Subgame, decision: BettingDecision) -> tuple[int, ...]:
    """Return the chips both seats had put in when the decision's street began."""
    state = subgame.state.copy()
    for _, action, _ in decision.actions:
        if state.street == decision.state[betting_kernels.STREET]:
            break
        state.apply_legal(action)
    return state.contributions


def _converge(
    solver: VectorSolver,
    pot: int,
    target_pct: float,
    max_seconds: float,
    max_iterations: int,
    on_progress: OnProgress | None,
) -> None:
    """Iterate until the goal or a limit; measure where the goal may have been reached by then."""
    begin = time.perf_counter()
    next_check = min(16, max_iterations)
    before = math.inf
    while True:
        while solver.iteration < next_check:
            done = next_check - solver.iteration
            if max_seconds < math.inf and solver.iteration:
                rate = solver.iteration / (time.perf_counter() - begin)
                done = min(done, max(1, int(rate * (max_seconds - (time.perf_counter() - begin)))))
            elif max_seconds < math.inf:
                done = 1
            solver.run(done)
            if time.perf_counter() - begin >= max_seconds:
                next_check = solver.iteration
        pct = 100.0 * solver.evaluate().exploitability / pot
        seconds = time.perf_counter() - begin
        if on_progress is not None:
            on_progress(solver.iteration, seconds, pct)
        if pct <= target_pct or solver.iteration >= max_iterations or seconds >= max_seconds:
            return
        if solver.subgame.buckets is not None and solver.iteration >= _LEAST_ITERATIONS and pct > _GAIN * before:
            return  # what is left is what the buckets cannot tell apart
        before = pct
        ratio = min(max((pct / target_pct) ** (1.0 / 1.5), 1.08), 2.0)
        next_check = min(math.ceil(solver.iteration * ratio), max_iterations)


def _one_card(word: str, here: str) -> tuple[int, ...]:
    try:
        cards = parse_cards(word)
    except ValueError:
        cards = ()
    if len(cards) != 1:
        raise ValueError(f"{here} a card is dealt, written like 7d, got {word!r}")
    return cards


def _available_memory() -> float:
    """Return the bytes that can be taken without swapping, infinity where the system does not tell."""
    try:
        with open("/proc/meminfo") as file:
            return next(1024.0 * int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


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
