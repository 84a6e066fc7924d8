"""A solved game: the strategy of every infoset, as an agent, as an OpenSpiel policy and on disk."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.machine.artefact import (
    Artefact,
    ArtefactRefused,
    check_once,
    holds_artefact,
    load_artefact,
    write_artefact,
)
from plurispiel.abstraction.trees.game_tree import GameTree, flatten
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents.guests import PolicyAgent
from plurispiel.agents.tabular.solver import Solver

KIND = "solution"
FORMAT_VERSION = 1
FOLDER = "policy"
"""The solution's subfolder in the folder that `solve --out` makes."""

_SOLVER_PREFIX = "solver_"
_MAX_SHARING = 10_000
"""The largest ratio of histories to infosets in a stored solution's game. A game with a larger ratio is refused.

To check a stored solution, the game's tree is built, and this limit bounds its memory.
"""


@dataclass(frozen=True, eq=False)
class Solution:
    """A strategy for every infoset of a game, without the game's tree.

    A solution has OpenSpiel's method `action_probabilities`, so it can take the place of a policy. Below, I is the
    number of infosets, and A the number of actions in all infosets together.

    Attributes
    ----------
    game : str
        OpenSpiel's string of the game.
    algorithm : str
        Name of the solver's algorithm.
    iterations : int
        Number of iterations done.
    seed : int or None
        Seed of the sampling; None for a full-width algorithm.
    strategy : float64[A]
        The probability of each action, infoset after infoset.
    infoset_player : int8[I]
    infoset_first : int32[I + 1]
    infoset_parent : int32[I]
    action_ids : int32[A]
        The infosets and their actions, as in `GameTree`.
    infoset_keys : list of str
        OpenSpiel's information state string of each infoset.
    openspiel_recall : bool
        Whether OpenSpiel's information states have perfect recall. If not, an information state may stand for several
        infosets, which differ in the player's earlier actions.
    """

    game: str
    algorithm: str
    iterations: int
    seed: int | None
    strategy: np.ndarray
    infoset_player: np.ndarray
    infoset_first: np.ndarray
    infoset_parent: np.ndarray
    action_ids: np.ndarray
    infoset_keys: list[str]
    openspiel_recall: bool
    _numbers: dict[tuple[int, int, str], int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self):
        past = [0] * len(self.infoset_keys) if self.openspiel_recall else self.infoset_parent.tolist()
        for number, where in enumerate(zip(self.infoset_player.tolist(), past, self.infoset_keys, strict=True)):
            self._numbers[where] = number

    def action_probabilities(self, state: pyspiel.State, player_id: int | None = None) -> dict[int, float]:
        """Return the probability of each action, by OpenSpiel's action ids; empty if the infoset is unknown."""
        player = state.current_player() if player_id is None else player_id
        number = self._find(player, 0 if self.openspiel_recall else self._past(state, player), state)
        if number is None:
            return {}
        begin, end = self.infoset_first[number : number + 2].tolist()
        return dict(zip(self.action_ids[begin:end].tolist(), self.strategy[begin:end].tolist(), strict=True))

    def openspiel_policy(self) -> Any:
        """Return the strategy as an ``open_spiel.python.policy.TabularPolicy``.

        If information states lack perfect recall, a table with a row for each of them cannot hold the strategy. Then
        the result is a ``Policy`` that calls `action_probabilities`.

        Raises
        ------
        ValueError
            If OpenSpiel cannot load the game by its string.
        """
        from open_spiel.python import policy  # takes half a second

        from plurispiel.agents.state_policy import StatePolicy

        game = find_game(self.game)
        if not self.openspiel_recall:
            return StatePolicy(game, self.action_probabilities)
        table = policy.TabularPolicy(game)
        firsts = self.infoset_first.tolist()
        for number, key in enumerate(self.infoset_keys):
            chosen = slice(firsts[number], firsts[number + 1])
            row = table.action_probability_array[table.state_lookup[key]]
            row[:] = 0.0
            row[self.action_ids[chosen]] = self.strategy[chosen]
        return table

    def _find(self, player: int, past: int, state: pyspiel.State) -> int | None:
        return self._numbers.get((player, past, state.information_state_string(player)))

    def _past(self, state: pyspiel.State, player: int) -> int:
        """Return the player's last action before a state, as an index into `strategy`.

        -1 if the player has not acted, -2 if an infoset on the way is not in the solution.
        """
        past = -1
        before = state.get_game().new_initial_state()
        for action in state.history():
            if before.current_player() == player:
                number = self._find(player, past, before)
                if number is None:
                    return -2
                begin, end = self.infoset_first[number : number + 2].tolist()
                past = begin + self.action_ids[begin:end].tolist().index(action)
            before.apply_action(action)
        return past


class TabularAgent(PolicyAgent):
    """An agent that plays a solution, and uniformly at random in infosets that are not in it.

    Parameters
    ----------
    path : str
        Folder of a solution, or of ``plurispiel solve --out``.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged solution, or the solution's infosets differ from those of its game.
    ValueError
        If the game is not a poker game that `HoldemRules` can express, or offers every raise size.
    """

    is_deterministic = True

    def __init__(self, path: str):
        solution = load_solution(Path(path))
        super().__init__(solution, find_game(solution.game))
        self.name = f"tabular:{path}"


def solution_of(tree: GameTree, solver: Solver) -> Solution:
    """Return a solver's average strategy so far as a solution."""
    return Solution(
        game=tree.game,
        algorithm=solver.algorithm.name,
        iterations=solver.iteration,
        seed=solver.seed,
        strategy=solver.average_strategy(),
        infoset_player=tree.infoset_player,
        infoset_first=tree.infoset_first,
        infoset_parent=tree.infoset_parent,
        action_ids=tree.action_ids,
        infoset_keys=tree.infoset_keys,
        openspiel_recall=tree.openspiel_recall,
    )


def save_solution(folder: Path, solver: Solver, curve: np.ndarray) -> str:
    """Write a solver's average strategy and its state for continuing, and return the artefact's digest.

    Parameters
    ----------
    folder : Path
        The folder to write; an older solution in it is replaced.
    curve : float64[k, 3]
        At each measurement so far, the number of iterations, the seconds and the distance from an equilibrium in the
        game's unit: the exploitability with two players and zero-sum payoffs, else NashConv.

    Raises
    ------
    ArtefactRefused
        If the folder is not empty and holds anything but a solution.
    """
    solution = solution_of(solver.tree, solver)
    keys = [key.encode() for key in solution.infoset_keys]
    arrays = {
        "strategy": solution.strategy,
        "infoset_player": solution.infoset_player,
        "infoset_first": solution.infoset_first,
        "infoset_parent": solution.infoset_parent,
        "action_ids": solution.action_ids,
        "key_bytes": np.frombuffer(b"".join(keys), dtype=np.uint8),
        "key_first": np.cumsum([0, *map(len, keys)], dtype=np.int64),
        "curve": curve,
    }
    arrays |= {_SOLVER_PREFIX + name: values for name, values in solver.arrays().items()}
    config = {
        "game": solution.game,
        "algorithm": solution.algorithm,
        "iterations": solution.iterations,
        "openspiel_recall": solution.openspiel_recall,
    }
    return write_artefact(
        folder, KIND, FORMAT_VERSION, arrays, config, seed=solution.seed, source=_tree_digest(solver.tree)
    )


def find_solution(path: Path) -> Path:
    """Return the folder of a solution: the path itself, or its subfolder made by ``plurispiel solve --out``."""
    return path / FOLDER if holds_artefact(path / FOLDER) and not holds_artefact(path) else path


def load_solution(path: Path) -> Solution:
    """Return a stored solution.

    Parameters
    ----------
    path : Path
        The solution's folder, or the folder given to ``plurispiel solve --out``.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged solution, or the solution's infosets differ from those of its game.
    """
    artefact = load_artefact(find_solution(path), KIND, FORMAT_VERSION)
    solution = _read(artefact)
    check_once(artefact, lambda: _require_infosets(artefact, solution))
    return solution


def solution_digest(path: Path) -> str:
    """Return the digest of a solution's artefact, which identifies its strategy; `path` as in `load_solution`.

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged solution.
    """
    return load_artefact(find_solution(path), KIND, FORMAT_VERSION).digest


def resume_solver(path: Path, solver: Solver) -> np.ndarray:
    """Set a new solver to a saved state, and return the curve of `save_solution` so far: float64[k, 3].

    Raises
    ------
    ArtefactRefused
        If the folder holds no complete, undamaged solution.
    ValueError
        If the solution has another game, tree, algorithm or seed than the solver, or the solver cannot be resumed.
    """
    artefact = load_artefact(find_solution(path), KIND, FORMAT_VERSION)
    solution = _read(artefact)
    for what, saved, wanted in (
        ("of the game", solution.game, solver.tree.game),
        ("by the algorithm", solution.algorithm, solver.algorithm.name),
        ("with the seed", solution.seed, solver.seed),
        ("of the tree", artefact.source, _tree_digest(solver.tree)),
    ):
        if saved != wanted:
            raise ValueError(f"{artefact.folder} holds a solution {what} {saved}, not {wanted}; give another folder")
    if solver.keeps_last_average:
        raise ValueError(
            f"{artefact.folder} holds a run that cannot be continued, as its networks are not kept: "
            "choose another folder"
        )
    prefix = len(_SOLVER_PREFIX)
    state = {name[prefix:]: values for name, values in artefact.arrays.items() if name.startswith(_SOLVER_PREFIX)}
    try:
        solver.resume(solution.iterations, state)
        curve = _checked(artefact.arrays, "curve", np.float64, (-1, 3)).copy()
        if not np.isfinite(curve).all():
            raise ValueError("the curve holds numbers that are not finite")
        return curve
    except (ValueError, KeyError) as error:
        raise _refusal(artefact, error) from None


def _tree_digest(tree: GameTree) -> str:
    """Return a hash of a tree's game string, infosets and action ids, in hexadecimal digits."""
    digest = hashlib.sha256(tree.game.encode())
    for values in (tree.infoset_player, tree.infoset_first, tree.infoset_parent, tree.action_ids):
        digest.update(np.ascontiguousarray(values).tobytes())
    digest.update("\0".join(tree.infoset_keys).encode())
    return digest.hexdigest()


def _read(artefact: Artefact) -> Solution:
    """Return the solution in an artefact. The file is not trusted: every array is checked before it is used."""
    arrays, config = artefact.arrays, artefact.config
    try:
        first = _checked(arrays, "infoset_first", np.int32, (-1,))
        size = len(first) - 1
        key_first = _checked(arrays, "key_first", np.int64, (size + 1,))
        key_bytes = _checked(arrays, "key_bytes", np.uint8, (-1,))
        strategy = _checked(arrays, "strategy", np.float64, (-1,))
        # Offsets first: the sums of `reduceat` and the keys below are read through them.
        for offsets, end, least in ((first, len(strategy), 1), (key_first, len(key_bytes), 0)):
            if size < 1 or offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < least).any():
                raise ValueError("offsets are out of order")
        if not (strategy >= 0.0).all() or (abs(np.add.reduceat(strategy, first[:-1]) - 1.0) > 1e-6).any():
            raise ValueError("probabilities do not sum to 1, or are below 0")
        player = _checked(arrays, "infoset_player", np.int8, (size,))
        parent = _checked(arrays, "infoset_parent", np.int32, (size,))
        action_ids = _checked(arrays, "action_ids", np.int32, strategy.shape)
        if (player < 0).any() or (parent < -1).any() or (parent >= len(strategy)).any() or (action_ids < 0).any():
            raise ValueError("players, parents or actions are out of range")
        text = key_bytes.tobytes()
        ends = key_first.tolist()
        for name, kind in (("game", str), ("algorithm", str), ("iterations", int), ("openspiel_recall", bool)):
            if type(config.get(name)) is not kind:  # `isinstance` would take True for a number of iterations
                raise ValueError(f"{name} is missing or of another type than {kind.__name__}")
        if config["iterations"] < 0:
            raise ValueError(f"the number of iterations is below 0, {config['iterations']}")
        solution = Solution(
            game=config["game"],
            algorithm=config["algorithm"],
            iterations=config["iterations"],
            seed=artefact.seed,
            strategy=strategy,
            infoset_player=player,
            infoset_first=first,
            infoset_parent=parent,
            action_ids=action_ids,
            infoset_keys=[text[begin:end].decode() for begin, end in zip(ends, ends[1:], strict=False)],
            openspiel_recall=config["openspiel_recall"],
        )
        if len(solution._numbers) != size:
            raise ValueError("an infoset occurs twice")
        return solution
    except (ValueError, KeyError) as error:
        raise _refusal(artefact, error) from None


def _require_infosets(artefact: Artefact, solution: Solution) -> None:
    """Raise ArtefactRefused if the infosets differ from those of the game; not checked if no string loads the game."""
    try:
        game = find_game(solution.game)
    except ValueError:  # no string loads a game made in Python; `resume_solver` compares the game's tree
        return
    try:
        tree = flatten(game, max_histories=min(_MAX_SHARING * len(solution.infoset_keys), 2**31 - 2))
    except ValueError as error:
        raise _refusal(artefact, error) from None
    names = ("infoset_player", "infoset_first", "infoset_parent", "action_ids", "infoset_keys", "openspiel_recall")
    if not all(np.array_equal(getattr(solution, name), getattr(tree, name)) for name in names):
        raise _refusal(artefact, ValueError(f"its infosets are not those of {solution.game}"))


def _checked(arrays: Mapping[str, np.ndarray], name: str, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    values = arrays[name]
    fits = len(values.shape) == len(shape) and all(
        want in (-1, has) for want, has in zip(shape, values.shape, strict=True)
    )
    if values.dtype != dtype or not fits:
        raise ValueError(f"{name} has the wrong type or shape, {values.dtype}{list(values.shape)}")
    return values


def _refusal(artefact: Artefact, error: Exception) -> ArtefactRefused:
    return ArtefactRefused(f"{artefact.folder} is no sound {KIND}: {error}; solve the game again")
