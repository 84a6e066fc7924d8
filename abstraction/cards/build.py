"""Building a bucket table: features of hands, centroids fitted to them, and the bucket of every hand on every board.

Streets are built from the river back to the flop, because the features of a street may use the next street's buckets.
If the table is to be saved, each finished street is stored in a folder beside the table until all streets are finished.
A stopped build then resumes with the first unfinished street.
"""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards.buckets import (
    KIND,
    NUM_BOARDS,
    NUM_EXAMPLES,
    QUALITY,
    BucketTable,
    StreetReport,
    load_table,
)
from plurispiel.abstraction.cards.classifier import BOARD_CARDS, FeatureReader, StreetClassifier, StreetModel
from plurispiel.abstraction.cards.config import BUCKETED_STREETS, AbstractionConfig
from plurispiel.abstraction.cards.kmeans import kmeans
from plurispiel.abstraction.cards.model import CardModel, bucket_dtype
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.cards.quality import measure_partition, percentiles
from plurispiel.abstraction.cards.river import EQUITY_UNITS, NUM_CLUSTERS, NUM_COMBOS, RiverTable, all_river_equities
from plurispiel.abstraction.cards.run_outs import HISTOGRAM_DIMS, NUM_LIVE, NUM_RIVERS
from plurispiel.abstraction.cards.stages import StreetBuckets, load_stage, save_stage, stage_folder
from plurispiel.abstraction.holdem.boards import board_classes
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.artefact import ArtefactRefused, holds_artefact, require_replaceable
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.abstraction.machine.threads import num_processors, run_chunks

_CHUNK = 16
_MIB = 1 << 20


def build_table(
    config: AbstractionConfig,
    folder: Path | None = None,
    *,
    threads: int | None = None,
    show_progress: bool = False,
) -> BucketTable:
    """Return the bucket table of a configuration.

    Parameters
    ----------
    folder : Path, optional
        Where to save the table; by default the table is not saved. If the folder holds a finished table of this
        configuration, that table is loaded; an unfinished build of this configuration by this version of plurispiel is
        resumed.
    threads : int, optional
        By default as many as there are processors; the table is the same with any number of threads.
    show_progress : bool
        Whether to show the progress on standard error.

    Raises
    ------
    ArtefactRefused
        If the folder holds anything but an undamaged table of this configuration.

    >>> build_table(PRESETS["small"]).row(parse_cards("Qs Jh 2h"))  # doctest: +SKIP
    """
    if folder is not None and (found := _finished(config, folder)) is not None:
        return found
    builder = _Builder(config, threads or num_processors(), show_progress)
    streets: dict[str, StreetBuckets] = {}
    for street in reversed(BUCKETED_STREETS):
        stage = None if folder is None else stage_folder(folder) / street
        part = None if stage is None else load_stage(stage, config, street)
        if part is None:
            part = builder.build_street(street, streets)
            if stage is not None:
                save_stage(stage, config, part)
        streets[street] = part
    clusters = streets["river"].model.clusters
    table = BucketTable(
        CardModel(config, clusters, {street: part.model for street, part in streets.items()}),
        {street: part.rows for street, part in streets.items()},
        {street: part.report for street, part in streets.items()},
    )
    if folder is not None:
        table.save(folder)
        shutil.rmtree(stage_folder(folder), ignore_errors=True)
    return table


def table_bytes(config: AbstractionConfig) -> int:
    """Return the approximate size of a configuration's table in bytes, on disk and in memory."""
    return sum(
        NUM_BOARDS[street] * NUM_COMBOS * bucket_dtype(config.street(street).buckets).itemsize
        for street in BUCKETED_STREETS
    )


def peak_bytes(config: AbstractionConfig) -> int:
    """Return a build's approximate peak memory in bytes: river equities, the table and the hands to be clustered."""
    dims = max(_dims(config, street) for street in BUCKETED_STREETS)
    rivers = NUM_BOARDS["river"] * NUM_COMBOS * np.dtype(np.uint16).itemsize
    return 250 * _MIB + rivers + table_bytes(config) + config.fit_points * (2 * dims + 60)


class _Builder:
    """Builds one street after another; all streets share one table of river equities."""

    def __init__(self, config: AbstractionConfig, threads: int, show_progress: bool):
        self.config = config
        self.threads = threads
        self._show_progress = show_progress
        self._rivers: RiverTable | None = None

    def build_street(self, street: str, later: dict[str, StreetBuckets]) -> StreetBuckets:
        """Return a street's buckets, given the buckets of the later streets by name."""
        rivers = self._river_table()
        settings = self.config.street(street)
        boards, sizes = _boards_of(street)
        rng = np.random.default_rng(
            np.random.SeedSequence(self.config.seed, spawn_key=(BUCKETED_STREETS.index(street),))
        )
        drawn = _draw_boards(len(boards), -(-self.config.fit_points // NUM_LIVE[BOARD_CARDS[street]]), rng)
        following = later.get(BUCKETED_STREETS[BUCKETED_STREETS.index(street) + 1]) if street != "river" else None
        ground = np.empty((0, 0), np.float32)
        make_reader = self._reader_maker(street, settings.features, rivers, following)
        if settings.features == "potential":
            assert following is not None
            ground = bucket_distances(following.model, following.report)

        num_live = NUM_LIVE[BOARD_CARDS[street]]
        weights = np.repeat(sizes[drawn], num_live)
        sample = self._read(make_reader, boards[drawn], _dims(self.config, street), num_live, f"{street} features")
        thresholds, centroids = np.empty(0, np.int64), np.empty((0, 0), np.uint8)
        unlabelled = StreetModel(street, settings, opponent_clusters(), thresholds, centroids, ground)
        if settings.distance == "percentile":
            thresholds = percentiles(sample.values, weights, settings.buckets)
            labels = np.searchsorted(thresholds, sample.values, side="right").astype(np.int32)
            distances = np.zeros(len(labels), np.float32)
        else:
            with self._bar(f"{street} k-means", self.config.rounds, "round") as progress:
                found = kmeans(
                    sample.points,
                    weights,
                    settings.buckets,
                    unlabelled.distance,
                    rng,
                    rounds=self.config.rounds,
                    threads=self.threads,
                    progress=progress,
                )
            order = _by_equity(found.labels, sample.sums, weights, len(found.centroids))
            centroids = found.centroids[order]
            # `argsort` inverts a permutation: here it gives the new number of each centroid.
            labels, distances = np.argsort(order).astype(np.int32)[found.labels], found.distances
        model = StreetModel(street, settings, unlabelled.clusters, thresholds, centroids, ground)

        def describe() -> tuple[dict[str, float], np.ndarray]:
            quality = self._quality(street, sample, weights, labels, boards[drawn], rivers)
            return quality, _examples(labels, distances, drawn, boards, num_live, model.num_buckets)

        if self.threads == 1:
            return self._label_all(model, make_reader, describe)
        with ThreadPoolExecutor(1) as aside:  # `describe` mostly uses one thread, so it runs beside `_label_all`
            return self._label_all(model, make_reader, aside.submit(describe).result)

    def _reader_maker(
        self, street: str, features: str, rivers: RiverTable, following: StreetBuckets | None
    ) -> Callable[[], FeatureReader]:
        """Return a function that makes a feature reader for each thread."""
        next_rows, num_next = None, 0
        if features == "potential":
            assert following is not None
            classes, num_next = board_classes(BOARD_CARDS[street] + 1), following.model.num_buckets

            def next_rows(boards: np.ndarray) -> np.ndarray:
                out = np.empty((len(boards), NUM_COMBOS), following.rows.dtype)
                kernels.fill_rows(classes, rivers.relabel, following.rows, boards, out)
                return out.astype(np.uint16)

        return lambda: FeatureReader(
            street, features, opponent_clusters(), rivers=rivers, next_rows=next_rows, num_next_buckets=num_next
        )

    def _read(self, make_reader, boards: np.ndarray, dims: int, num_live: int, name: str) -> "_Sample":
        sample = _Sample(
            np.empty((len(boards) * num_live, dims), np.uint8),
            np.empty(len(boards) * num_live, np.int64),
            np.empty(len(boards) * num_live, np.int64),
        )

        def make_worker():
            reader = make_reader()

            def work(part: slice) -> None:
                points = slice(part.start * num_live, part.stop * num_live)
                found = reader.read(boards[part])
                sample.points[points], sample.values[points], sample.sums[points] = found

            return work

        with self._bar(name, len(boards), "board") as progress:
            run_chunks(make_worker, len(boards), chunk=_CHUNK, threads=self.threads, progress=progress)
        return sample

    def _quality(
        self,
        street: str,
        sample: "_Sample",
        weights: np.ndarray,
        labels: np.ndarray,
        boards: np.ndarray,
        rivers: RiverTable,
    ) -> dict[str, float]:
        """Return the values by the names in `QUALITY`."""
        # Quality is measured on the same features for all abstractions, whatever features made the buckets.
        features = "ochs" if street == "river" else "histogram"
        points = sample.points
        if self.config.street(street).features != features:
            make_reader = self._reader_maker(street, features, rivers, None)
            dims = 8 if street == "river" else HISTOGRAM_DIMS
            points = self._read(make_reader, boards, dims, NUM_LIVE[BOARD_CARDS[street]], "").points
        cut = percentiles(sample.sums, weights, int(labels.max()) + 1)
        plain = np.searchsorted(cut, sample.sums, side="right")
        figures = [*measure_partition(points, weights, labels, features)]
        figures += measure_partition(points, weights, plain, features)
        return dict(zip(QUALITY, figures, strict=True))

    def _label_all(
        self,
        model: StreetModel,
        make_reader: Callable[[], FeatureReader],
        describe: Callable[[], tuple[dict[str, float], np.ndarray]],
    ) -> StreetBuckets:
        """Return a street's model, the bucket of every hand on every board, and the report on these buckets.

        `describe` returns the report's values of quality and its examples.
        """
        boards, sizes = _boards_of(model.street)
        dtype = bucket_dtype(model.num_buckets)
        rows = np.empty((len(boards), NUM_COMBOS), dtype)
        num_rivers = NUM_RIVERS[BOARD_CARDS[model.street]]
        parts: list[np.ndarray] = []

        def make_worker():
            classifier = StreetClassifier(model, make_reader())
            wide = np.empty((_CHUNK, NUM_COMBOS), np.uint16)
            moments = np.zeros((model.num_buckets, 4), np.int64)
            parts.append(moments)

            def work(part: slice) -> None:
                labels, _, sums = classifier.classify(boards[part])
                kernels.spread_labels(boards[part], labels, np.iinfo(dtype).max, wide)
                rows[part] = wide[: part.stop - part.start]
                kernels.add_statistics(labels, sums, sizes[part], num_rivers, moments)

            return work

        with self._bar(f"{model.street} buckets", len(boards), "board") as progress:
            run_chunks(make_worker, len(boards), chunk=_CHUNK, threads=self.threads, progress=progress)
        number, total, rounded, squares = np.sum(parts, axis=0).T
        held = np.maximum(number, 1)
        equity = total / held / (EQUITY_UNITS * num_rivers)
        deviation = np.sqrt(np.maximum(squares / held - (rounded / held) ** 2, 0.0)) / EQUITY_UNITS
        quality, examples = describe()
        report = StreetReport(number, equity, deviation, examples, quality)
        return StreetBuckets(model, rows, report)

    def _river_table(self) -> RiverTable:
        if self._rivers is None:
            with self._bar("river equities", len(board_classes(5).boards), "board") as progress:
                self._rivers = all_river_equities(threads=self.threads, progress=progress)
        return self._rivers

    def _bar(self, name: str, total: int, unit: str) -> tqdm:
        """Return a progress bar. Without a name it shows nothing, because another bar is on show meanwhile."""
        disable = not (name and self._show_progress)
        return progress_bar(desc=name, total=total, unit=unit, unit_scale=True, disable=disable)


class _Sample(NamedTuple):
    """Features of the n hands to which centroids are fitted, as in `classifier.Features`.

    Attributes
    ----------
    points : uint8[n, dims]
        Feature vectors, which k-means clusters.
    values : int64[n]
        Single numbers, which percentiles divide into buckets.
    sums : int64[n]
        Sums of river equities over all run-outs, in 1/1980, by which the buckets of k-means are ordered.
    """

    points: np.ndarray
    values: np.ndarray
    sums: np.ndarray


def bucket_distances(model: StreetModel, report: StreetReport) -> np.ndarray:
    """Return the distances between a street's buckets: float32[num_buckets, num_buckets], symmetric.

    The distances are rounded to whole numbers, so that their sums are exact in any order. Before rounding, differences
    of equity are multiplied by 10,000, and Euclidean distances by 16, to keep digits.
    """
    if model.config.distance == "percentile":
        return np.rint(10_000 * abs(report.equity[:, None] - report.equity)).astype(np.float32)
    if model.config.distance == "greedy-emd":
        searches = [model.distance.to(model.centroids[j : j + 1]) for j in range(len(model.centroids))]
        found = np.empty((len(searches), len(searches)), np.float32)
        for j, nearest in enumerate(searches):
            nearest.fill(model.centroids, np.empty(len(searches), np.int32), found[j])
        return np.maximum(found, found.T)  # the greedy distance of two buckets depends on which one is moved
    values = model.centroids.astype(np.float64)
    gaps = values[:, None] - values
    if model.config.distance == "emd":  # the L1 distance of cumulative histograms
        return np.abs(gaps).sum(axis=2).astype(np.float32)
    return np.rint(16 * np.sqrt((gaps**2).sum(axis=2))).astype(np.float32)


def _boards_of(street: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the representatives of a street's boards, and the sizes of their classes."""
    classes = board_classes(BOARD_CARDS[street])
    return np.array(classes.boards), np.array(classes.sizes)


def _draw_boards(num_boards: int, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """Return the ascending numbers of `wanted` boards drawn without repetition, or of all boards if there are fewer."""
    if wanted >= num_boards:
        return np.arange(num_boards)
    return np.sort(rng.choice(num_boards, wanted, replace=False))


def _dims(config: AbstractionConfig, street: str) -> int:
    """Return the number of bytes of a hand's feature vector; 0 for features that are a single number."""
    features = config.street(street).features
    if features == "potential":
        return config.street(BUCKETED_STREETS[BUCKETED_STREETS.index(street) + 1]).buckets
    return {"histogram": HISTOGRAM_DIMS, "ochs": NUM_CLUSTERS}.get(features, 0)


def _by_equity(labels: np.ndarray, sums: np.ndarray, weights: np.ndarray, k: int) -> np.ndarray:
    """Return the labels 0..k-1 in order of their members' mean equity, labels without members last."""
    mass = np.bincount(labels, weights, k)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(labels, weights * sums.astype(np.float64), k) / mass
    return np.argsort(np.where(mass > 0, mean, np.inf), kind="stable")


def _examples(
    labels: np.ndarray, distances: np.ndarray, drawn: np.ndarray, boards: np.ndarray, num_live: int, k: int
) -> np.ndarray:
    """Return the members nearest to each bucket's centroid, on different boards: int32[k, 3, 2].

    The last axis holds board class and combo id; -1 fills the places of missing members. Percentiles have no centroids:
    all their distances are 0, and any members are taken. At most 2,000 members of a bucket are searched.
    """
    found = np.full((k, NUM_EXAMPLES, 2), -1, np.int32)
    order = np.lexsort((distances, labels))
    starts = np.searchsorted(labels[order], np.arange(k + 1))
    for bucket in range(k):
        seen: list[int] = []
        for point in order[starts[bucket] : min(starts[bucket + 1], starts[bucket] + 2000)].tolist():
            board = point // num_live
            if board not in seen:
                live = _live_combos(boards[drawn[board]])
                found[bucket, len(seen)] = drawn[board], live[point % num_live]
                seen.append(board)
                if len(seen) == NUM_EXAMPLES:
                    break
    return found


def _live_combos(board: np.ndarray) -> np.ndarray:
    return np.flatnonzero(HUNL.free_combos(board))


def _finished(config: AbstractionConfig, folder: Path) -> BucketTable | None:
    """Return the finished table in a folder, or None if a new table can be saved there; else raise ArtefactRefused."""
    if not holds_artefact(folder):
        require_replaceable(folder, KIND)  # a build takes minutes: the folder must not be refused at its end
        return None
    table = load_table(folder)
    if table.model.config != config:
        raise ArtefactRefused(
            f"{folder} holds the bucket table {table.model.config.name!r} with other settings; give another folder"
        )
    return table
