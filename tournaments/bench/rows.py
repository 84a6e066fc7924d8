"""A hash of the results of small fixed tournaments. If a change of the code changes no result, the hash stays."""

import dataclasses
import hashlib
import operator
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import read_preset
from plurispiel.agents.blueprint.devices import make_trainer
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

_FIELD = ("blueprint", "tag", "equity", "call", "raise", "random")
_TRAINED = "blueprint:{folder}"
_SEARCH = "search?iterations=20&cards=blueprint&threads=1"
_TOURNAMENTS: dict[str, dict[str, Any]] = {
    "six seats, AIVAT": {"agents": _FIELD, "decks": 24, "score": "aivat_duplicate", "values": "checkdown"},
    "heads-up, duplicate": {"agents": ("tag", "equity"), "decks": 256, "score": "duplicate"},
    "heads-up, AIVAT": {
        "agents": ("blueprint", "tag"), "decks": 128, "score": "aivat_duplicate", "values": "checkdown"
    },
    "all-in or fold, a blueprint's values": {
        "agents": (_TRAINED, "tag"), "decks": 256, "score": "aivat_duplicate", "values": _TRAINED
    },
    "heads-up, a deck for each rotation": {
        "agents": ("tag", "random"), "decks": 256, "score": "aivat_duplicate", "values": "checkdown", "deals": "once"
    },
    "heads-up, search": {"agents": (_SEARCH, "tag"), "decks": 16, "score": "duplicate"},
}  # fmt: skip
_COLUMNS = [field.name for field in dataclasses.fields(AgentScore) if field.compare]  # all but the times
_fields = operator.attrgetter(*_COLUMNS)


def bench_rows(seconds: float = 1.0) -> list[Measurement]:
    """Return the number of rows that each tournament stores, with the hash of these rows in the note.

    The last measurement has the number of all rows, and the hash of all hashes.

    Parameters
    ----------
    seconds : float
        Not used: a tournament of another length would have another hash.
    """
    rows, digests = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in _TOURNAMENTS.items():
            number, digest = rows_digest(_config(settings, Path(folder)))
            rows.append(Measurement(name, number, "rows", f"SHA-256 {digest}"))
            digests.append(digest)
    total = hashlib.sha256(" ".join(digests).encode()).hexdigest()
    return [*rows, Measurement("all", sum(row.value for row in rows), "rows", f"SHA-256 {total}")]


def _config(settings: Mapping[str, Any], folder: Path) -> TournamentConfig:
    """Return a tournament's settings. If the settings name `_TRAINED`, a blueprint is first trained into `folder`."""
    if settings.get("values") != _TRAINED:
        return TournamentConfig(**settings, seed=1)
    training = dataclasses.replace(read_preset("headsup-pushfold"), iterations=2_000, num_snapshots=0)
    trainer = make_trainer(training, lossless_buckets(training.rules, 1))
    trainer.run()
    trainer.blueprint(training, {"iterations": training.iterations}).save(folder)
    own = _TRAINED.format(folder=folder)
    agents = tuple(own if spec == _TRAINED else spec for spec in settings["agents"])
    game = game_string(training.rules)
    return TournamentConfig(**{**settings, "agents": agents, "values": own, "game": game}, seed=1)


def rows_digest(config: TournamentConfig) -> tuple[int, str]:
    """Return the number of rows that a tournament stores, and the SHA-256 of all their fields but the times.

    A row is an agent's score in one group of hands.

    Floating-point numbers count with all their digits. Their sums have a fixed order on every processor
    (`machine.sums`), but not in every version of numpy.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder), config)
        try:
            play_run(config, store, Conduct())
            rows = [(*key, *map(_plain, _fields(score))) for *key, score in store.agent_scores()]
        finally:
            store.close()
    return len(rows), hashlib.sha256(repr((["lineup", "deck", "agent", *_COLUMNS], rows)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return a value with 0.0 in place of -0.0."""
    return value + 0.0 if isinstance(value, float) else value
