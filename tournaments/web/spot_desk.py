"""The explorer's desk: one spot at a time, checked, solved in a thread, looked at, locked, saved and played.

A desk lives in a process of its own (`solver_process`), which ends with the page. The page's requests are methods of
`SpotDesk`. Such a method takes the fields of the request, and returns plain values.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import StreetTooLarge, street_betting
from plurispiel.abstraction.holdem.cards import card_text, parse_cards
from plurispiel.abstraction.holdem.ranges import parse_range, write_range
from plurispiel.abstraction.holdem.rules import HUNL, STREETS
from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.abstraction.machine.settings import require_name
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.agents.blueprint.agent import blueprint_agent
from plurispiel.agents.blueprint.library import bundled_blueprints
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.blueprint_ranges import PreflopPlace, preflop_place
from plurispiel.agents.spots.card_ev import CardEv, card_evs
from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.agents.spots.node_strategy import column_of, find_node
from plurispiel.agents.spots.spot import Spot, spot_record
from plurispiel.agents.spots.spot_file import (
    EXAMPLES,
    SolveSettings,
    load_spot_solution,
    read_spot,
    save_spot_solution,
    spot_of_table,
    spot_toml,
    stored_spot,
)
from plurispiel.agents.spots.spot_size import spot_size
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot
from plurispiel.tournaments.web.spot_play import SpotHand
from plurispiel.tournaments.web.spot_view import node_view, solution_summary

MAX_NODES = 30_000
"""Largest number of betting nodes on a street. The table of so many nodes is built in a few seconds."""

MAX_SECONDS = 3600.0
"""Longest time of one solve; *Go on* starts the time again."""

_MAX_SIZES = 8
_MAX_VIEWS = 32
_MAX_FILES = 200

Send = Callable[[dict[str, Any]], None]
"""Takes an event for the page: an object with the key ``type``."""


class SpotDesk:
    """A desk, which holds at most one spot and its solution.

    Parameters
    ----------
    folder : Path
        The folder in which solutions and spot files are found and saved.
    send : callable
        Takes events; called also in the thread that solves.
    """

    def __init__(self, folder: Path, send: Send):
        self._folder = folder
        self._send = send
        self._solution: SpotSolution | None = None
        self._is_busy = False
        self._stop = threading.Event()
        self._views: dict[str, dict[str, Any]] = {}
        self._cards: Iterator[CardEv] | None = None
        self._cards_of = "", ""
        self._hand: SpotHand | None = None
        self._rng = np.random.default_rng()

    @property
    def has_work(self) -> bool:
        """Whether `work` has something to do while no request waits."""
        return self._cards is not None

    def work(self) -> None:
        """Compute the EV after one more card, and send it."""
        assert self._cards is not None
        found = next(self._cards, None)
        if found is None:
            self._cards = None
            return
        node, word = self._cards_of
        ev = [None if np.isnan(chips) else float(chips) for chips in found.ev]
        after = {"card": card_text(found.card), "ev": ev, "pairs": found.pairs}
        self._send({"type": "card", "node": node, "word": word, **after})

    # Before solving

    def check(self, spot: dict[str, Any]) -> dict[str, Any]:
        """Return the size of a spot (`size_record`), and its text as a file; ``problem`` says why it is refused."""
        try:
            made, settings = self._spot(spot)
            size = size_record(made)  # which checks the locks, too, unless the betting is too large
        except ValueError as error:
            return {"problem": str(error)}
        return {"toml": spot_toml(made, settings), **size}

    def read_range(self, text: str) -> dict[str, Any]:
        """Return the weight of every combo in a range given as text; ``problem`` if the text is not a range."""
        try:
            return {"weights": parse_range(text).tolist() if text.strip() else [0.0] * 1326}
        except ValueError as error:
            return {"problem": str(error)}

    def write_range(self, weights: tuple[float, ...]) -> dict[str, Any]:
        """Return a range, given as the weight of every combo, as text."""
        if len(weights) != 1326:
            raise ValueError(f"a range has 1,326 weights, got {len(weights):,}")
        return {"text": write_range(weights)}

    def preflop(self, blueprint: str, line: tuple[str, ...]) -> dict[str, Any]:
        """Return the place to which preflop actions lead in a bundled blueprint, with the ranges there as texts."""
        names = [each.name for each in bundled_blueprints()]
        if blueprint not in names:
            raise ValueError(f"the blueprints are {', '.join(names)}, got {blueprint[:40]!r}")
        place = preflop_place(blueprint_agent(blueprint), line)
        return {"blueprints": names, **_preflop_record(place)}

    # Solving

    def solve(self, spot: dict[str, Any]) -> dict[str, Any]:
        """Begin to solve a spot; progress and the end come as events."""
        made, settings = self._spot(spot)
        problem = size_record(made)["problem"]
        if problem:
            raise ValueError(problem)

        def solved(goes_on: Callable[[], bool], show: Callable[[int, float, float], None]) -> SpotSolution:
            return solve_spot(
                made,
                algorithm=settings.algorithm,
                target_pct=settings.target_pct,
                max_seconds=settings.max_seconds,
                threads=num_processors(),
                goes_on=goes_on,
                on_progress=show,
            )

        self._begin(solved, forget=True)
        return {}

    def stop(self) -> dict[str, Any]:
        """Ask the solver to stop; the solution so far comes as an event."""
        self._stop.set()
        return {}

    def go_on(self, target_pct: float) -> dict[str, Any]:
        """Go on solving from the solution on the desk."""
        solution = self._solved()

        def solved(goes_on: Callable[[], bool], show: Callable[[int, float, float], None]) -> SpotSolution:
            return solution.go_on(target_pct=target_pct, goes_on=goes_on, on_progress=show)

        self._begin(solved, forget=False)
        return {}

    def open(self, name: str, kind: str) -> dict[str, Any]:
        """Return a spot by its kind and name in `listed`; a solution is read as well, and comes as an event."""
        self._require_idle()
        path = {(each["kind"], each["name"]): each["path"] for each in self._files()}.get((kind, name))
        if path is None:
            raise ValueError(f"there is no {kind} {name[:80]!r} in the folder of this server")
        if kind != "solution":
            made, settings = read_spot(path)
            return {"spot": _table(made, settings), "path": str(path)}
        made, settings = stored_spot(path), SolveSettings()
        self._begin(lambda goes_on, show: load_spot_solution(path, threads=num_processors()), forget=True)
        return {"spot": _table(made, settings), "path": str(path)}

    def _begin(
        self,
        solved: Callable[[Callable[[], bool], Callable[[int, float, float], None]], SpotSolution],
        *,
        forget: bool,
    ) -> None:
        self._require_idle()
        self._stop.clear()
        self._views.clear()
        self._cards = self._hand = None
        if forget:
            self._solution = None  # before the next one takes memory
        limit = time.monotonic() + MAX_SECONDS

        def show(iterations: int, seconds: float, pct: float) -> None:
            self._send({"type": "progress", "iterations": iterations, "seconds": seconds, "pct": pct})

        def run() -> None:
            try:
                found = solved(lambda: not self._stop.is_set() and time.monotonic() < limit, show)
            except (ValueError, MemoryError, OSError) as error:
                event: dict[str, Any] = {"type": "failed", "text": str(error) or type(error).__name__}
            else:
                self._solution = found
                state = {"stopped": self._stop.is_set(), "can_go_on": found.progress is not None}
                event = {"type": "solved", **solution_summary(found), **state}
            self._is_busy = False  # before the event, because the page may answer it with a request at once
            self._send(event)

        self._is_busy = True
        threading.Thread(target=run, daemon=True).start()

    # Looking

    def look(self, node: str) -> dict[str, Any]:
        """Return a decision of the solution; see `spot_view.node_view`."""
        solution = self._solved()
        self._cards = None
        name = " ".join(node.split())
        if name not in self._views:
            if len(self._views) >= _MAX_VIEWS:
                del self._views[next(iter(self._views))]
            self._views[name] = node_view(solution, name)
        return self._views[name]

    def cards(self, node: str, word: str) -> dict[str, Any]:
        """Begin to compute the EVs after each card that may be dealt after an action; they come as events."""
        solution = self._solved()
        solver = solution.solver
        assert isinstance(solver, VectorSolver)
        place = find_node(solution.spot, solver, node)
        column = column_of(word, [(name, name) for name in place.names], f"at node {node!r}")
        self._cards, self._cards_of = card_evs(solver, place, column), (node, word)
        return {}

    def lock(self, node: str, probabilities: tuple[float, ...]) -> dict[str, Any]:
        """Return the entry of a spot's ``lock`` for a node.

        `probabilities` has the probabilities of all actions, hand by hand, in the order of the node's ``combos``. Hands
        with a negative number stay free, and so do hands whose numbers do not sum to 1.
        """
        view = self.look(node)
        count = len(view["actions"])
        rows = np.array(probabilities).reshape(-1, count) if len(probabilities) % count == 0 else np.zeros((0, count))
        if len(rows) != len(view["combos"]):
            raise ValueError(f"the node has {len(view['combos']):,} hands, and each needs {count} probabilities")
        solver = self._solved().solver
        own = solver.ranges[PLAYERS.index(view["player"])]
        return {"name": view["lock"], "lock": lock_table(view, rows, own)}

    # Files

    def listed(self) -> dict[str, Any]:
        """Return the solutions and spot files of the folder, and the examples of the package."""
        return {"files": [{name: each[name] for name in ("kind", "name", "board")} for each in self._files()]}

    def save(self, name: str) -> dict[str, Any]:
        """Save the solution in a folder of its own."""
        solution = self._solved()
        require_name(name)
        folder = self._folder / name
        if folder.exists():
            raise ValueError(f"there is a folder {name!r} already: choose another name")
        self._folder.mkdir(parents=True, exist_ok=True)
        save_spot_solution(folder, solution)
        return {"path": str(folder)}

    def _files(self) -> list[dict[str, Any]]:
        root = self._folder.resolve()
        found: list[dict[str, Any]] = []
        for path in sorted([*root.glob("*/manifest.json"), *root.glob("*/*/manifest.json"), *root.glob("*.toml")]):
            try:
                if not path.resolve().is_relative_to(root):
                    continue
                is_file = path.suffix == ".toml"
                place = path if is_file else path.parent
                spot = read_spot(path)[0] if is_file else stored_spot(place)
            except (ValueError, OSError):  # another artefact, or another file
                continue
            kind, name = "file" if is_file else "solution", place.relative_to(root).as_posix()
            found.append({"kind": kind, "name": name, "path": place, "board": spot.board})
            if len(found) >= _MAX_FILES:
                break
        for path in sorted(EXAMPLES.glob("*.toml")):
            made, _ = read_spot(path)
            if made.middle is None:
                found.append({"kind": "example", "path": path, "board": made.board, "name": path.stem})
        return found

    # Playing

    def deal(self, seat: str) -> dict[str, Any]:
        """Deal a hand of the solution to a person in a seat, ``oop``, ``ip`` or ``random``."""
        if seat not in ("oop", "ip", "random"):
            raise ValueError(f"a seat is oop, ip or random, got {seat[:20]!r}")
        number = int(self._rng.integers(2)) if seat == "random" else ("oop", "ip").index(seat)
        self._hand = SpotHand(self._solved(), number, self._rng)
        return self._hand.view()

    def act(self, word: str) -> dict[str, Any]:
        """Take the person's action in the hand that is played."""
        self._solved()
        if self._hand is None:
            raise ValueError("no hand is played: deal one")
        self._hand.act(word)
        return self._hand.view()

    def _spot(self, table: dict[str, Any]) -> tuple[Spot, SolveSettings]:
        made, settings = spot_of_table(table)
        if made.middle is not None:
            raise ValueError("the explorer shows spots of two players; plurispiel spot solves rivers of three")
        menu = made.menu()
        if any(len(sizes) > _MAX_SIZES for street in menu.sizes for seat in street for sizes in seat):
            raise ValueError(f"there are more than {_MAX_SIZES} sizes for one bet or raise: take fewer")
        return made, settings

    def _solved(self) -> SpotSolution:
        self._require_idle()
        if self._solution is None:
            raise ValueError("nothing is solved yet: press Solve")
        return self._solution

    def _require_idle(self) -> None:
        if self._is_busy:
            raise ValueError("the spot is being solved: stop it first")


def size_record(spot: Spot) -> dict[str, Any]:
    """Return ``nodes`` (name and number of betting nodes of each street), ``memory``, ``available`` and ``problem``.

    ``memory`` is what the solver needs, and ``available`` what is free, in bytes. ``problem`` says why the spot cannot
    be solved, and on which street fewer sizes help. It is empty if the spot can be solved.
    """
    available = available_bytes()
    try:
        street_betting(spot.start(), menu=spot.raises(), dead_chips=spot.pot % 2, max_nodes=MAX_NODES)
    except StreetTooLarge as error:  # counting goes no further, so that a page can ask at every key
        large = int(str(error).partition("on street ")[2][:1])
        counts = [sum(len(sizes) for seat in street for sizes in seat) for street in spot.menu().sizes]
        most = max(range(spot.street, large + 1), key=counts.__getitem__)
        problem = (
            f"the {STREETS[large]} has more than {MAX_NODES:,} betting nodes after all earlier lines together: "
            f"take fewer sizes or raises on the {STREETS[most]}"
        )
        return {"nodes": [], "memory": None, "available": available, "problem": problem}
    size = spot_size(spot, threads=num_processors())
    nodes, problem = list(size.nodes.items()), size.refusal() or ""
    return {"nodes": nodes, "memory": size.memory_bytes, "available": available, "problem": problem}


def lock_table(view: dict[str, Any], rows: np.ndarray, own_range: np.ndarray) -> dict[str, str]:
    """Return fixed strategies as the ranges of a spot's ``lock``, by action; the likeliest action is left out.

    Parameters
    ----------
    view : dict
        See `spot_view.node_view`.
    rows : float64[num_hands, num_actions]
        The probabilities. Hands with a negative number, or whose numbers do not sum to 1, stay free.
    own_range : float64[1326]
        The player's weights at the beginning of the spot. If all hands of this range are locked, the lock has no key
        ``hands``.

    Raises
    ------
    ValueError
        If no hand is locked.
    """
    fixed = np.flatnonzero((rows >= 0.0).all(axis=1) & (abs(rows.sum(axis=1) - 1.0) < 1e-3))
    if not len(fixed):
        raise ValueError("no hand is locked: lock one at least")
    numbers = [HUNL.combo_id(parse_cards(view["combos"][hand])) for hand in fixed]
    shares = np.zeros((HUNL.num_combos, rows.shape[1]))
    shares[numbers] = np.floor(rows[fixed] / rows[fixed].sum(axis=1, keepdims=True) * 1e6) / 1e6  # no sum exceeds 1
    locked = np.zeros(HUNL.num_combos)
    locked[numbers] = 1.0
    left_out = int(shares.sum(axis=0).argmax())
    words = [action["word"] for action in view["actions"]]
    table = {word: write_range(shares[:, column]) for column, word in enumerate(words) if column != left_out}
    is_whole = not (own_range[locked == 0.0] > 0.0).any()
    return table if is_whole else {"hands": write_range(locked), **table}


def _table(spot: Spot, settings: SolveSettings) -> dict[str, Any]:
    """Return a spot as a table of the form of a spot's file."""
    record = spot_record(spot)
    cards = record.pop("cards")
    solve = {name: value for name, value in vars(settings).items() if value not in (None, math.inf)}
    return {**record, "solve": {**solve, **({"cards": cards} if cards != "exact" else {})}}


def _preflop_record(place: PreflopPlace) -> dict[str, Any]:
    own = place.weights[place.actor] if place.actor >= 0 else None
    choices = [] if own is None else [own * column for column in place.probabilities.T]
    frequencies = [float(each.sum() / own.sum()) if own is not None and own.any() else 0.0 for each in choices]
    raises = sum((each for each, word in zip(choices, place.actions, strict=True) if word[0] == "r"), np.zeros(1326))
    return {
        "line": list(place.line),
        "positions": list(place.positions),
        "actor": place.actor,
        "actions": list(place.actions),
        "frequencies": frequencies,
        "choices": [write_range(each) for each in choices],
        "raises": write_range(raises),
        "ranges": [write_range(each) for each in place.weights],
        "folded": list(place.folded),
        "contributions": list(place.contributions),
        "stacks": list(place.stacks),
        "players": list(place.players),
    }
