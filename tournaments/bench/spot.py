"""Speed of vector CFR: example spots solved to an exploitability of 0.5 % of the pot."""

import dataclasses
import statistics
import time

from plurispiel.agents.resolve import VectorSolver
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_file import EXAMPLES, read_spot
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot
from plurispiel.tournaments.bench.measurement import Measurement

_TARGET_PCT = 0.5
_THREADS = 2


def bench_spot(seconds: float = 1.0) -> list[Measurement]:
    """Return the times to solve a river, a turn, a flop, and the same flop in buckets.

    The river and the turn are solved repeatedly for about `seconds` each, and the median time counts. The flops are
    solved once. Wall-clock times cover the iterations and the measurements of exploitability, but not setting up. With
    buckets they also leave out the last measurement, against responses that tell all hands apart. The processor time
    includes everything.
    """
    rows = []
    for name, title in (("river", "full-range river"), ("turn", "full-range turn"), ("flop", "flop, 430 combos each")):
        spot, _ = read_spot(EXAMPLES / f"{name}.toml")
        rows += _rows(title, spot, 0.0 if name == "flop" else seconds)
    return rows + _rows("the flop in buckets", dataclasses.replace(spot, cards="buckets"), 0.0)


def _rows(title: str, spot: Spot, seconds: float) -> list[Measurement]:
    found: list[SpotSolution] = []
    end = time.perf_counter() + seconds
    cpu_s = time.process_time()
    while not found or time.perf_counter() < end:
        found.append(solve_spot(spot, target_pct=_TARGET_PCT, threads=_THREADS))
    cpu_s = (time.process_time() - cpu_s) / len(found)
    taken = statistics.median(each.seconds for each in found)
    last = found[-1]
    assert isinstance(last.solver, VectorSolver)
    nodes = sum(len(street.betting.nodes.kind) * len(street.deals.boards) for street in last.solver.streets)
    size = f"{nodes:,} nodes on all boards, {last.memory_mb:,.0f} MB"
    reached = f"{last.exploitability_pct:.2f} % reached"
    if last.bucket_exploitability_pct is not None:
        reached = f"{last.bucket_exploitability_pct:.2f} % reached by bucket; if responses see all cards, {reached}"
    return [
        Measurement(f"{title} to {_TARGET_PCT:g} % of the pot", taken, "s", size),
        Measurement(
            "  an iteration", 1e3 * taken / last.iterations, "ms", f"{last.iterations} iterations, {_THREADS} threads"
        ),
        Measurement("  processor time of all threads", cpu_s, "s", f"setting up included; {reached}"),
    ]
