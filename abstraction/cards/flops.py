"""Buckets of the turns and rivers of one flop, for search: finer than the buckets of a table, and built on demand.

Hands on turns are clustered by their histograms of river equity, by default with the earth mover's distance, and hands
on rivers by their equities against clusters of hands. Finished buckets are kept in the user's cache, one artefact for
each class of flops. If an artefact is deleted, its buckets are built again.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from plurispiel import __version__
from plurispiel.abstraction.cards import _buckets_kernels as kernels
from plurispiel.abstraction.cards.classifier import BOARD_CARDS, FeatureReader, StreetModel
from plurispiel.abstraction.cards.config import StreetConfig
from plurispiel.abstraction.cards.kmeans import find_nearest, kmeans
from plurispiel.abstraction.cards.opponents import opponent_clusters
from plurispiel.abstraction.cards.river import NUM_COMBOS, narrow_relabel
from plurispiel.abstraction.cards.run_outs import NUM_LIVE
from plurispiel.abstraction.cards.soundness import require_buckets
from plurispiel.abstraction.holdem.boards import board_classes, find_boards, relabel_cards
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.machine.artefact import ArtefactRefused, check_once, load_artefact, write_artefact
from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.abstraction.machine.threads import num_processors, run_chunks

KIND = "flop buckets"
FORMAT_VERSION = 1
MARKER = np.iinfo(np.uint16).max
NUM_FLOPS = 1755
_CHUNK = 16
_STREETS = ("turn", "river")


@dataclass(frozen=True)
class FlopConfig:
    """Configuration of one flop's buckets.

    Attributes
    ----------
    name : str
        Beginning of the name of the folder in the cache.
    turn, river : StreetConfig
        Number of buckets and distance of each street. The features must be ``histogram`` on the turn and ``ochs`` on
        the river.
    seed : int
        Seed of the drawn points and of k-means.
    fit_points, rounds : int
        As in `AbstractionConfig`, for each street of one flop. All hands with equal features are one point, weighted by
        the number of hands; `fit_points` is the greatest number of points.
    """

    name: str
    turn: StreetConfig
    river: StreetConfig
    seed: int = 1
    fit_points: int = 40_000
    rounds: int = 10


FLOP_500 = FlopConfig("flop-500", StreetConfig(500, "histogram"), StreetConfig(500, "ochs"))


class FlopBuckets:
    """Buckets of all hands on the turns and rivers of one flop, made by `flop_buckets`.

    Attributes
    ----------
    flop : tuple of int
        Three cards, ascending.
    num_buckets : dict
        Number of buckets of the turn and of the river.
    """

    def __init__(self, flop: tuple[int, ...], stored: dict[str, np.ndarray], num_buckets: dict[str, int]):
        self.flop = tuple(sorted(flop))
        self.num_buckets = num_buckets
        self._permutation = _canonical(self.flop)[1]
        self._stored = stored
        canonical = _canonical(self.flop)[0]
        self._rest = np.setdiff1d(np.arange(52), canonical)

    def row(self, board: npt.ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """Return the bucket of each combo on a turn or river of this flop.

        Parameters
        ----------
        board : array-like of int, [4..5]
            Different cards, the flop's first.
        out : uint16[1326], optional
            Where to write the buckets.

        Returns
        -------
        uint16[1326]
            The bucket of each combo; 65535 for combos that share a card with the board.

        Raises
        ------
        ValueError
            If the board is not a turn or river of this flop.
        """
        cards = [int(card) for card in np.asarray(board).tolist()]
        differ = 4 <= len(set(cards)) == len(cards) <= 5
        if tuple(sorted(cards[:3])) != self.flop or not differ or not all(0 <= card < 52 for card in cards):
            raise ValueError(f"a board here is {cards_text(self.flop[::-1])} and one or two cards more, got {cards}")
        later = relabel_cards(cards[3:], self._permutation)
        places = np.sort(np.searchsorted(self._rest, later))
        number = places[0] if len(places) == 1 else places[1] * (places[1] - 1) // 2 + places[0]
        row = self._stored[_STREETS[len(places) - 1]][number][narrow_relabel()[self._permutation]]
        if out is None:
            return row
        out[:] = row
        return out


def flop_buckets(
    flop: npt.ArrayLike, config: FlopConfig = FLOP_500, *, threads: int | None = None, keep: bool = True
) -> FlopBuckets:
    """Return the buckets of a flop, read from the user's cache or built now.

    Parameters
    ----------
    flop : array-like of int, [3]
        Different cards.
    threads : int, optional
        By default as many as there are processors.
    keep : bool
        Whether to read the buckets from the cache, and to write new ones to it.

    Raises
    ------
    ValueError
        If the cards are not a flop.
    """
    cards = np.asarray(flop)
    if cards.shape != (3,):
        raise ValueError(f"a flop has three cards, got {cards.tolist()}")
    canonical, _ = _canonical(tuple(cards.tolist()))
    stored = _load(config, canonical) if keep else None
    if stored is None:
        stored = _build(canonical, config, threads or num_processors())
        if keep:
            _save(config, canonical, stored)
    num_buckets = {street: _num_buckets(stored[street]) for street in _STREETS}
    return FlopBuckets(tuple(cards.tolist()), stored, num_buckets)


def is_kept(flop: tuple[int, ...], config: FlopConfig = FLOP_500) -> bool:
    """Return whether a flop's buckets are in the cache, undamaged."""
    return _load(config, _canonical(flop)[0]) is not None


def all_flops() -> list[tuple[int, ...]]:
    """Return the representative of each of the 1,755 classes of flops, its cards ascending."""
    return [tuple(board) for board in board_classes(3).boards.tolist()]


def _canonical(flop: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """Return the representative of a flop's class, and the permutation that maps the flop to the representative."""
    number, permutation = find_boards([flop])
    return tuple(board_classes(3).boards[number[0]].tolist()), int(permutation[0])


def _build(flop: tuple[int, ...], config: FlopConfig, threads: int) -> dict[str, np.ndarray]:
    """Return the buckets of all combos on every turn and river of a flop: by street, uint16[num_boards, 1326].

    The 49 cards that are not on the flop have positions 0..48, in ascending order. Boards are in colexicographic order
    of the positions of the cards dealt after the flop.
    """
    stored = {}
    for street, boards in _boards(flop).items():
        labels = _cluster(street, boards, config, threads)
        stored[street] = np.empty((len(boards), NUM_COMBOS), np.uint16)
        kernels.spread_labels(boards, labels, MARKER, stored[street])
    return stored


def _boards(flop: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return the turn and river boards of a flop, in the order of their rows: uint8[n, 4..5] each."""
    rest = np.setdiff1d(np.arange(52, dtype=np.uint8), flop).astype(np.uint8)
    pairs = sorted(combinations(range(len(rest)), 2), key=lambda pair: pair[::-1])
    later = {"turn": rest[:, None].tolist(), "river": rest[np.array(pairs)].tolist()}
    return {street: np.array([[*flop, *cards] for cards in left], np.uint8) for street, left in later.items()}


def _cluster(street: str, boards: np.ndarray, config: FlopConfig, threads: int) -> np.ndarray:
    """Return the bucket of every free combo on each board: int32[n, num_live]."""
    settings: StreetConfig = getattr(config, street)
    num_live = NUM_LIVE[BOARD_CARDS[street]]
    empty = np.empty((0, 0))
    model = StreetModel(street, settings, opponent_clusters(), empty, empty, empty)
    dims = 56 if street == "turn" else 8
    points = np.empty((len(boards) * num_live, dims), np.uint8)
    sums = np.empty(len(points), np.int64)

    def make_worker():
        reader = FeatureReader(street, settings.features, model.clusters)

        def work(part: slice) -> None:
            target = slice(part.start * num_live, part.stop * num_live)
            points[target], _, sums[target] = reader.read(boards[part])

        return work

    run_chunks(make_worker, len(boards), chunk=_CHUNK, threads=threads)
    # Each vector becomes one item, so that `np.unique` compares whole vectors.
    whole = points.view(f"V{dims}" if dims > 8 else np.uint64).ravel()
    _, first, inverse, counts = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    different = points[first]
    rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(BOARD_CARDS[street],)))
    sample, weights = different, counts
    if len(different) > config.fit_points:
        few = np.sort(rng.choice(len(different), config.fit_points, replace=False))
        sample, weights = different[few], counts[few]
    found = kmeans(
        sample,
        weights,
        settings.buckets,
        model.distance,
        rng,
        rounds=config.rounds,
        restarts=1,
        seeding_points=10_000,
        threads=threads,
    )
    labels, _ = find_nearest(different, found.centroids, model.distance, threads=threads)
    everyone = labels[inverse]
    mass = np.bincount(everyone, minlength=len(found.centroids))
    equity = np.bincount(everyone, sums, len(found.centroids)) / np.maximum(mass, 1)
    order = np.argsort(np.where(mass > 0, equity, np.inf), kind="stable")
    # Buckets are numbered by mean equity: the second `argsort` gives the new number of each bucket.
    return np.argsort(order).astype(np.int32)[everyone].reshape(len(boards), num_live)


def _folder(config: FlopConfig, flop: tuple[int, ...]) -> Path:
    facts = json.dumps(asdict(config) | {"version": __version__, "format": FORMAT_VERSION}, sort_keys=True)
    digest = hashlib.sha256(facts.encode()).hexdigest()[:16]
    return user_cache_folder() / "flop-buckets" / f"{config.name}-{digest}" / cards_text(flop)


def _load(config: FlopConfig, flop: tuple[int, ...]) -> dict[str, np.ndarray] | None:
    try:
        artefact = load_artefact(_folder(config, flop), KIND, FORMAT_VERSION)
        stored = {street: artefact.arrays[street] for street in _STREETS}
        check_once(artefact, lambda: _require_rows(config, flop, stored))
        return stored
    except (OSError, ArtefactRefused, KeyError, ValueError):
        return None


def _require_rows(config: FlopConfig, flop: tuple[int, ...], stored: dict[str, np.ndarray]) -> None:
    for street, boards in _boards(flop).items():
        rows = stored[street]
        if rows.dtype != np.uint16 or rows.shape != (len(boards), NUM_COMBOS):
            raise ValueError(f"the rows of the {street} are {rows.dtype}{list(rows.shape)}")
        require_buckets(street, rows, boards, _num_buckets(rows))
        if _num_buckets(rows) > getattr(config, street).buckets:
            raise ValueError(f"the {street} has {_num_buckets(rows)} buckets")


def _num_buckets(rows: np.ndarray) -> int:
    return int(rows[rows != MARKER].max(initial=0)) + 1


def _save(config: FlopConfig, flop: tuple[int, ...], stored: dict[str, np.ndarray]) -> None:
    try:
        write_artefact(_folder(config, flop), KIND, FORMAT_VERSION, stored, asdict(config), seed=config.seed)
    except (OSError, ArtefactRefused):  # a cache that cannot be written is no reason to fail
        return
