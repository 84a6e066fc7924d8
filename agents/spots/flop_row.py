"""One spot on many flops: solves the spot on a flop, and sums up the solution as a row of a table."""

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any

from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.abstraction.machine.sums import dot
from plurispiel.agents.spots.flop_equity import treats_suits_alike
from plurispiel.agents.spots.flops import WeightedFlop
from plurispiel.agents.spots.locks import HANDS
from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_file import SolveSettings
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot

__all__ = ["FlopRow", "check_suits", "on_flop", "solve_flop"]


@dataclass(frozen=True)
class FlopRow:
    """The solution of a spot on one flop.

    Attributes
    ----------
    flop : str
        The cards, such as ``QsJh2h``.
    weight : float
        The number of flops for which the flop stands.
    pairs : float
        The summed weights of all pairs of compatible hands on the flop. A mean over all deals gives each flop the
        weight ``weight * pairs``.
    ev : tuple of float
        EV of both players in chips, out of position first.
    equity : tuple of float
        The players' shares of the pot if no further bets are made, out of position first.
    exploitability_pct, bucket_exploitability_pct, iterations
        As in `SpotSolution`.
    frequencies : dict of str to float or None
        The frequency of each action of the first decision (``oop: c``), and of each answer (``ip after c: b52%``), over
        all combos that reach the decision. None if no combo does.
    seconds : float
        Time for the row.
    """

    flop: str
    weight: float
    pairs: float
    ev: tuple[float, float]
    equity: tuple[float, float]
    exploitability_pct: float
    bucket_exploitability_pct: float | None
    iterations: int
    frequencies: dict[str, float | None]
    seconds: float


def on_flop(spot: Spot, flop: WeightedFlop) -> Spot:
    """Return the spot with another board."""
    return dataclasses.replace(spot, board=flop.text)


def check_suits(spot: Spot) -> None:
    """Raise ValueError if ranges or locks tell suits apart, so that no flop can stand for another in other suits."""
    texts = [(player, getattr(spot, player)) for player in PLAYERS]
    texts += [
        (f"lock {node!r}: {action}", text)
        for node, table in spot.lock.items()
        for action, text in table.items()
        if isinstance(text, str) and (text.strip() or action == HANDS)
    ]
    for where, text in texts:
        try:
            weights = parse_range(text)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        if not treats_suits_alike(weights):
            raise ValueError(
                f"{where} tells suits apart, so that a flop cannot stand for flops in other suits: name whole classes "
                "of hands, such as AKs"
            )
    if any(_is_card(word) for node in spot.lock for word in node.split()):
        raise ValueError("a lock is for all flops of a sweep: in the name of its node, write * for each card dealt")


def solve_flop(spot: Spot, settings: SolveSettings, flop: WeightedFlop, *, threads: int = 2) -> FlopRow:
    """Solve a spot on a flop, and return the solution as a row.

    The row, but for `FlopRow.seconds`, depends on nothing but the first three arguments. With a limit of seconds
    (`SolveSettings.max_seconds`), the row also depends on the speed of the machine.
    """
    begin = time.perf_counter()
    solution = solve_spot(
        on_flop(spot, flop),
        algorithm=settings.algorithm,
        target_pct=settings.target_pct,
        max_seconds=settings.max_seconds,
        threads=threads,
    )
    first, second = solution.ev
    equity, other = solution.equity
    return FlopRow(
        flop=flop.text,
        weight=flop.weight,
        pairs=_pairs(solution),
        ev=(first, second),
        equity=(equity, other),
        exploitability_pct=solution.exploitability_pct,
        bucket_exploitability_pct=solution.bucket_exploitability_pct,
        iterations=solution.iterations,
        frequencies=_frequencies(solution),
        seconds=time.perf_counter() - begin,
    )


def _pairs(solution: SpotSolution) -> float:
    ranges, subgame = solution.spot.ranges(), solution.solver.subgame  # type: ignore[union-attr]
    hands = rank_hands(subgame.state.rules, subgame.board)
    first, second = ranges[:, hands.combos]
    return dot(first, fold_mass(hands, second))


def _frequencies(solution: SpotSolution) -> dict[str, float | None]:
    root = solution.strategy()
    found: dict[str, Any] = dict(zip((f"{PLAYERS[0]}: {name}" for name in root.actions), root.frequencies, strict=True))
    for name in root.actions:
        answer = solution.strategy(name)
        found.update(
            zip((f"{PLAYERS[1]} after {name}: {each}" for each in answer.actions), answer.frequencies, strict=True)
        )
    return {name: None if math.isnan(share) else float(share) for name, share in found.items()}


def _is_card(word: str) -> bool:
    return len(word) == 2 and word[0] in "23456789TJQKA" and word[1] in "cdhs"
