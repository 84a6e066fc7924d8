"""Histories kept on disk, because walking a large game state by state takes long.

The folder ``trees`` of the user's cache holds an artefact for each game whose walk was slow. Artefacts may be deleted:
their games are then walked again.
"""

import hashlib
import importlib.metadata
import time
from pathlib import Path

import numpy as np
import pyspiel

from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.abstraction.machine.jit import user_cache_folder
from plurispiel.abstraction.trees.histories import CHANCE, TERMINAL, Histories, Size, walk

FORMAT_VERSION = 1
WORTH_KEEPING_S = 1.0
"""Histories are stored if the walk took at least this many seconds; a faster walk is repeated instead."""

_KIND = "game tree"
_CHECKED_PLAYS = 200


def cached_walk(game: pyspiel.Game, max_histories: int, expected: Size) -> Histories:
    """Return every history of a game, from the cache if the cache holds the game.

    A cached artefact is used if it is undamaged and agrees with 200 random plays of the game: in players to act,
    actions, chance probabilities, information states and payoffs. An equal game string is not enough: the string does
    not identify a game that is defined in Python or read from a file.

    Raises
    ------
    ValueError
        If there are more than `max_histories`.
    """
    folder = _folder(game)
    if (kept := _load(folder, game)) is not None:
        Size(len(kept.player)).require(max_histories)
        return kept
    begin = time.perf_counter()
    found = walk(game, max_histories, expected)
    if time.perf_counter() - begin >= WORTH_KEEPING_S:
        _keep(folder, game, found)
    return found


def _folder(game: pyspiel.Game) -> Path:
    facts = f"{game}\0{importlib.metadata.version('open_spiel')}\0{FORMAT_VERSION}"
    return user_cache_folder() / "trees" / hashlib.sha256(facts.encode()).hexdigest()[:24]


def _keep(folder: Path, game: pyspiel.Game, found: Histories) -> None:
    arrays = {name: values for name, values in found._asdict().items() if isinstance(values, np.ndarray)}
    config = {"game": str(game), "num_labels": found.num_labels, "openspiel_recall": found.openspiel_recall}
    try:
        write_artefact(folder, _KIND, FORMAT_VERSION, arrays, config)
    except (OSError, ArtefactRefused):  # a cache that cannot be written is no reason to fail
        return


def _load(folder: Path, game: pyspiel.Game) -> Histories | None:
    try:
        artefact = load_artefact(folder, _KIND, FORMAT_VERSION)
        arrays = {name: np.array(values) for name, values in artefact.arrays.items()}  # kernels need writeable arrays
        found = Histories(
            **arrays,
            num_labels=artefact.config["num_labels"],
            openspiel_recall=artefact.config["openspiel_recall"],
        )
    except (OSError, ArtefactRefused, KeyError, TypeError):
        return None
    return found if _is_tree(found, game.num_players()) and _agrees(found, game) else None


def _is_tree(found: Histories, num_players: int) -> bool:
    """Return whether the arrays form a tree with every index in bounds, which a valid manifest does not prove."""
    types = {
        "num_children": "<i4",
        "player": "|i1",
        "action": "<i4",
        "chance": "<f8",
        "label": "<i4",
        "payoff_id": "<i4",
    }
    size = len(found.player) if found.player.ndim == 1 else 0
    if size < 1 or any(
        (getattr(found, name).dtype.str, getattr(found, name).shape) != (t, (size,)) for name, t in types.items()
    ):
        return False
    if found.payoffs.dtype != np.float64 or found.payoffs.ndim != 2 or found.payoffs.shape[1] != num_players:
        return False
    ends, decides = found.player == TERMINAL, found.player >= 0
    return bool(
        type(found.num_labels) is int
        and type(found.openspiel_recall) is bool
        and found.num_children.sum(dtype=np.int64) == size - 1
        and (np.cumsum(found.num_children, dtype=np.int64)[:-1] >= np.arange(1, size)).all()  # children come later
        and (found.num_children[ends] == 0).all()
        and (found.num_children[~ends] > 0).all()
        and ((found.player >= TERMINAL) & (found.player < num_players)).all()
        and ((found.label[decides] >= 0) & (found.label[decides] < found.num_labels)).all()
        and (found.label[~decides] == -1).all()
        and ((found.payoff_id[ends] >= 0) & (found.payoff_id[ends] < len(found.payoffs))).all()
        and (found.payoff_id[~ends] == -1).all()
        and ((found.chance >= 0.0) & (found.chance <= 1.0)).all()
        and np.isfinite(found.payoffs).all()
    )


def _agrees(found: Histories, game: pyspiel.Game) -> bool:
    """Return whether random plays of a game have the actors, actions, chances, labels and payoffs of the histories."""
    first_child = 1 + np.cumsum(found.num_children, dtype=np.int64) - found.num_children
    rng = np.random.default_rng(0)
    labels: dict[tuple[int, str], int] = {}
    known: dict[int, tuple[int, str]] = {}
    for _ in range(_CHECKED_PLAYS):
        state, history = game.new_initial_state(), 0
        while True:
            children = slice(first_child[history], first_child[history] + found.num_children[history])
            actions = state.legal_actions()
            if found.action[children].tolist() != actions:
                return False
            if state.is_terminal():
                row = found.payoff_id[history]
                if found.player[history] != TERMINAL or found.payoffs[row].tolist() != state.returns():
                    return False
                break
            if found.player[history] != (CHANCE if state.is_chance_node() else state.current_player()):
                return False
            if state.is_chance_node():
                chances = [probability for _, probability in state.chance_outcomes()]
            else:
                chances = [1.0] * len(actions)
                label, seen = int(found.label[history]), (state.current_player(), state.information_state_string())
                # Equal labels belong to equal information states, and no others.
                if labels.setdefault(seen, label) != label or known.setdefault(label, seen) != seen:
                    return False
            if found.chance[children].tolist() != chances:
                return False
            k = int(rng.integers(len(actions)))
            state.apply_action(actions[k])
            history = children.start + k
    return True
