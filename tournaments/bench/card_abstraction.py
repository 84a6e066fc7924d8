"""Speed of card abstraction: each stage of a build, and look-ups of buckets.

Stages run on one thread, with two exceptions. The equities of all rivers are timed on one thread and on all processors,
the buckets of one flop on all processors only.
"""

import functools
import time
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from plurispiel.abstraction.cards.buckets import NUM_BOARDS, BucketTable, StreetReport
from plurispiel.abstraction.cards.classifier import BOARD_CARDS, FeatureReader, StreetModel
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, PRESETS
from plurispiel.abstraction.cards.flops import flop_buckets
from plurispiel.abstraction.cards.kmeans import find_nearest, kmeans
from plurispiel.abstraction.cards.model import CardModel
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.cards.river import all_river_equities, river_equities
from plurispiel.abstraction.cards.run_outs import NUM_LIVE
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.bench.measurement import Measurement

_PEER_POINTS = 2_000
_NUM_SAMPLED = {"flop": 16, "turn": 128, "river": 512}


def bench_card_abstraction(seconds: float = 1.0) -> list[Measurement]:
    """Return all figures, most of them medians of at least three runs within about `seconds`."""
    rivers = all_river_equities()
    rows = []
    for threads in sorted({1, num_processors()}):
        elapsed = _time(functools.partial(all_river_equities, threads=threads), 0.0)
        rate = NUM_BOARDS["river"] * NUM_LIVE[5] / elapsed / 1e6
        rows.append(Measurement(f"equities of all rivers, {threads} thread(s)", elapsed, "s", f"{rate:,.0f} M hands/s"))
    models = {}
    for street in BUCKETED_STREETS:
        found, models[street] = _street_rows(street, rivers, seconds)
        rows += found
    rows += _look_up_rows(models, seconds)
    flop = parse_cards("QsJh2h")
    flop_buckets(flop, keep=False)
    begin = time.perf_counter()
    flop_buckets(flop, keep=False)
    elapsed = time.perf_counter() - begin
    rows.append(Measurement("flop-500 of one flop", elapsed, "s", f"{num_processors()} threads; most of it k-means"))
    return rows


def _street_rows(street: str, rivers, seconds: float) -> tuple[list[Measurement], StreetModel]:
    """Return the rates at which a street's features and nearest centroids are found, and the street's model.

    The note on the rate of nearest centroids compares it with the rate of scipy's `cdist`.
    """
    settings = PRESETS["pluribus"].street(street)
    classes = board_classes(BOARD_CARDS[street])
    rng = np.random.default_rng(0)
    boards = np.array(classes.boards[np.sort(rng.choice(len(classes.boards), _NUM_SAMPLED[street], replace=False))])
    reader = FeatureReader(street, settings.features, opponent_clusters(), rivers=rivers)
    feature_s = _time(lambda: reader.read(boards), seconds) / len(boards)
    points = reader.read(boards).points
    empty = np.empty((0, 0))
    unfitted = StreetModel(street, settings, opponent_clusters(), np.empty(0, np.int64), empty, empty)
    few = np.ascontiguousarray(points[:: max(1, len(points) // 20_000)])
    found = kmeans(few, np.ones(len(few), np.int64), settings.buckets, unfitted.distance, rng, rounds=5, restarts=1)
    nearest_s = _time(lambda: find_nearest(points, found.centroids, unfitted.distance), seconds) / len(points)
    peer = points[:: len(points) // _PEER_POINTS][:_PEER_POINTS].astype(float)
    centroids = found.centroids.astype(float)
    peers = {
        "emd": lambda: cdist(peer, centroids, "cityblock").argmin(axis=1),
        "euclidean": lambda: cdist(peer, centroids, "sqeuclidean").argmin(axis=1),
    }
    peer_s = _time(peers[settings.distance], seconds) / len(peer)
    number, num_live = NUM_BOARDS[street], NUM_LIVE[BOARD_CARDS[street]]
    limit = {
        "flop": "memory is the limit: each of a board's 1,176 rivers is a row of 1,326 equities",
        "turn": "memory is the limit: each of a board's 48 rivers is a row of 1,326 equities",
        "river": "the limit is a sort and a pass over a board's hands, in cache",
    }[street]
    rows = [
        Measurement(
            f"{street} features ({settings.features})",
            num_live / feature_s / 1e6,
            "M/s",
            f"{feature_s * number:,.1f} s for all {number:,} boards; {limit}",
        ),
        Measurement(
            f"{street} nearest of {settings.buckets} ({settings.distance})",
            1e-6 / nearest_s,
            "M/s",
            f"{peer_s / nearest_s:,.0f} x scipy's cdist; {nearest_s * number * num_live:,.0f} s for all; "
            "arithmetic is the limit",
        ),
    ]
    model = StreetModel(street, settings, opponent_clusters(), np.empty(0, np.int64), found.centroids, empty)
    return rows, model


def _look_up_rows(models: dict[str, StreetModel], seconds: float) -> list[Measurement]:
    """Return the times to find the buckets of all combos on one board, with the bucket table and without.

    The last measurement is the time to compute the equities of one river.
    """
    model = CardModel(PRESETS["pluribus"], opponent_clusters(), models)
    stored = {street: np.zeros((NUM_BOARDS[street], 1326), np.uint8) for street in BUCKETED_STREETS}
    none = np.empty(0)
    nothing = StreetReport(none, none, none, none, {})
    table = BucketTable(model, stored, dict.fromkeys(BUCKETED_STREETS, nothing))
    rng = np.random.default_rng(1)
    rows = []
    for street in BUCKETED_STREETS:
        boards = [rng.permutation(52)[: BOARD_CARDS[street]].astype(np.uint8) for _ in range(1000)]
        out = np.empty(1326, np.uint8)

        def look_up(boards: list[np.ndarray] = boards, out: np.ndarray = out) -> None:
            for board in boards:
                table.row(board, out)

        found_s = _time(look_up, seconds) / len(boards)
        computed_s = _time(functools.partial(model.classify, boards[0]), seconds)
        rows.append(Measurement(f"row of a {street} from the table", 1e6 * found_s, "us", "called from Python"))
        rows.append(Measurement("  computed without the table", 1e3 * computed_s, "ms"))
    equities_s = _time(lambda: river_equities(boards[0][None]), seconds)
    rows.append(Measurement("equities of one river", 1e6 * equities_s, "us", "all 1,081 hands"))
    return rows


def _time(run: Callable[[], object], seconds: float) -> float:
    """Return the median time of a call in seconds, over at least three calls; a first call is not timed."""
    run()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))
