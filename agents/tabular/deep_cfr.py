"""Deep CFR as a baseline: OpenSpiel's program for PyTorch, read out as a strategy for every infoset.

Iterations are those of ``open_spiel.python.pytorch.deep_cfr``. An iteration takes one player after another: traversals
by external sampling fill the player's memory of sampled regrets, then the player's advantage network is trained from
new weights. The result is a policy network, trained on a memory of the strategies played. This module reads out the
policy network's strategy at all infosets, so that nothing later needs PyTorch.

PyTorch is an extra (`deep`), imported only when a solver is made.

References
----------
N. Brown, A. Lerer, S. Gross and T. Sandholm: Deep counterfactual regret minimization. ICML (2019).
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from plurispiel.abstraction.trees.game_tree import GameTree, uniform_strategy
from plurispiel.agents.tabular.solver import Solver, normalised

NAME = "deep-cfr"

_FORM = f"{NAME}(ITERATIONS,TRAVERSALS,NAME=VALUE,...)"
_MAX_COUNT = 1_000_000
_MAX_LAYERS, _MAX_WIDTH = 8, 4_096
_MAX_MEMORY = 10_000_000
_NETWORKS = "plurispiel.agents.tabular._deep_cfr_networks"


@dataclass(frozen=True)
class DeepCfr:
    """Settings of Deep CFR. The defaults are those of OpenSpiel's own example for PyTorch, on Kuhn poker.

    Attributes
    ----------
    iterations : int
        Number of iterations of a run.
    traversals : int
        Number of traversals for each player in an iteration.
    layers : tuple of int
        Widths of the hidden layers, the same in the advantage networks and in the policy network.
    advantage_steps : int
        Steps of training of each advantage network, in each iteration.
    policy_steps : int
        Steps of training of the policy network, for each average strategy.
    batch : int
        Samples in a step of training. If a memory holds fewer, each step takes all of them.
    memory : int
        Size of each memory in samples. A full memory keeps a uniform sample of all samples so far.
    rate : float
        Learning rate of Adam.
    """

    iterations: int
    traversals: int
    layers: tuple[int, ...] = (64,)
    advantage_steps: int = 375
    policy_steps: int = 2_500
    batch: int = 256
    memory: int = 100_000
    rate: float = 1e-3

    def __post_init__(self):
        for name in ("iterations", "traversals", "advantage_steps", "policy_steps"):
            if not 1 <= getattr(self, name) <= _MAX_COUNT:
                raise ValueError(f"{NAME}: {name} must be 1..{_MAX_COUNT:,}, got {getattr(self, name):,}")
        if not 1 <= len(self.layers) <= _MAX_LAYERS or not all(1 <= width <= _MAX_WIDTH for width in self.layers):
            widths = "x".join(map(str, self.layers))
            raise ValueError(f"{NAME}: layers are 1..{_MAX_LAYERS} widths of 1..{_MAX_WIDTH:,}, got {widths or 'none'}")
        if not 1 <= self.batch <= self.memory <= _MAX_MEMORY:
            limits = f"1 <= batch <= memory <= {_MAX_MEMORY:,}"
            raise ValueError(f"{NAME}: {limits}, got a batch of {self.batch:,} and a memory of {self.memory:,}")
        if not 0.0 < self.rate <= 1.0:
            raise ValueError(f"{NAME}: rate must be above 0 and at most 1, got {self.rate:g}")

    @property
    def name(self) -> str:
        """The text with all settings, which `parse_deep_cfr` reads."""
        settings = vars(self).values()
        written = ["x".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in settings]
        options = [f"{name.replace('_', '-')}={value}" for name, value in zip(vars(self), written, strict=True)]
        return f"{NAME}({','.join([*written[:2], *options[2:]])})"


_OPTIONS = {field.name.replace("_", "-"): field.name for field in fields(DeepCfr)[2:]}


def parse_deep_cfr(text: str) -> DeepCfr:
    """Return the settings that a text names.

    A text is ``deep-cfr(ITERATIONS,TRAVERSALS)``, with options after the two numbers: ``layers=64x64``,
    ``advantage-steps=``, ``policy-steps=``, ``batch=``, ``memory=`` and ``rate=`` (see `DeepCfr`).

    Raises
    ------
    ValueError
        If the text is not of this form, or a setting is out of its range.

    Examples
    --------
    >>> parse_deep_cfr("deep-cfr(10, 200, layers=64x64, batch=128)").layers
    (64, 64)
    """
    match = re.fullmatch(rf"{NAME}\(([^()]*)\)", text.strip().lower())
    words = [word.strip() for word in match[1].split(",")] if match else []
    if len(words) < 2 or not all(re.fullmatch(r"[0-9]{1,18}", word) for word in words[:2]):
        raise ValueError(f"Deep CFR is written {_FORM}, such as {NAME}(10,375,layers=64x64), got {text!r}")
    settings: dict[str, Any] = {}
    for word in words[2:]:
        name, _, value = (part.strip() for part in word.partition("="))
        if name not in _OPTIONS or _OPTIONS[name] in settings:
            raise ValueError(f"{NAME} takes {', '.join(_OPTIONS)}, each at most once, got {word!r} in {text!r}")
        pattern = {"layers": r"[0-9]{1,18}(x[0-9]{1,18})*", "rate": r"[0-9.]+(e-?[0-9]{1,3})?"}.get(name, "[0-9]{1,18}")
        if not re.fullmatch(pattern, value):
            example = {"layers": "written like 64x64", "rate": "written like 0.001"}.get(name, "a whole number")
            raise ValueError(f"{NAME}: {name} is {example}, got {value!r} in {text!r}")
        settings[_OPTIONS[name]] = _number(name, value)
    return DeepCfr(int(words[0]), int(words[1]), **settings)


class DeepCfrSolver(Solver):
    """Deep CFR by OpenSpiel, one iteration at a time.

    OpenSpiel's program seeds the global random generators of numpy and PyTorch; each call restores them. The policy
    network of an average strategy is seeded by `seed` and the iteration, so that measuring changes no later iteration.
    Networks are trained by one thread of a processor.

    Parameters
    ----------
    tree : GameTree
    algorithm : DeepCfr
        Its `iterations` are not used here; `run` does as many iterations as it is told.
    seed : int
        At least 0.

    Raises
    ------
    ValueError
        If PyTorch or dm-tree is not installed, or the game has no information state tensor.
    """

    algorithm: DeepCfr
    keeps_last_average = True

    def __init__(self, tree: GameTree, algorithm: DeepCfr, seed: int):
        super().__init__(tree, algorithm, seed)
        networks = _networks()
        if not tree.openspiel_game.get_type().provides_information_state_tensor:
            raise ValueError(f"{tree.game} has no information state tensor, which {NAME} needs")
        self._networks = networks.SteppedDeepCfr(tree.openspiel_game, algorithm, seed)
        self._tensors = np.array([state.information_state_tensor() for state in tree.infoset_states()], np.float32)
        self._infosets = np.repeat(np.arange(tree.num_infosets), np.diff(tree.infoset_first))
        self._average = (0, uniform_strategy(tree))
        self._is_interrupted = False

    def run(self, num_iterations: int) -> None:
        """Do `num_iterations` more iterations.

        Raises
        ------
        RuntimeError
            If an earlier call was interrupted.
        """
        if self._is_interrupted:
            raise RuntimeError("an interrupted iteration of Deep CFR cannot be continued: make a new solver")
        for _ in range(num_iterations):
            self._guarded(self._networks.iterate)
            self.iteration += 1

    def current_strategy(self) -> np.ndarray:
        """Return the strategy that the next iteration begins with: float64[A].

        The strategy is proportional to the positive advantages of the networks. In an infoset without a positive
        advantage, it takes the action with the largest advantage.
        """
        tree = self.tree
        found = np.empty(tree.num_actions)
        owners = tree.infoset_player[self._infosets]
        for player in range(tree.num_players):
            chosen = owners == player
            found[chosen] = self._at_actions(self._networks.advantages(player, self._tensors))[chosen]
        positive = np.maximum(found, 0.0)
        best = np.maximum.reduceat(found, tree.infoset_first[:-1])[self._infosets]
        first_best = np.flatnonzero(found == best)
        firsts = first_best[np.unique(self._infosets[first_best], return_index=True)[1]]
        hopeless = (best <= 0.0)[firsts]
        positive[firsts[hopeless]] = 1.0
        return normalised(tree, positive)

    def average_strategy(self) -> np.ndarray:
        """Return the average strategy so far, as a policy network learns it: float64[A].

        The network is trained at the first call after an iteration. Its probabilities are divided by their sum over
        the legal actions. Before the first iteration, the strategy is uniform.
        """
        if self._average[0] != self.iteration:
            self._guarded(lambda: self._networks.train_policy(self.iteration))
            found = self._at_actions(self._networks.policy(self._tensors))
            self._average = (self.iteration, normalised(self.tree, found))
        return self._average[1].copy()

    def arrays(self) -> dict[str, np.ndarray]:
        """Return no arrays: networks and memories are not kept."""
        return {}

    def resume(self, iteration: int, arrays: Mapping[str, np.ndarray]) -> None:
        """Raise ValueError: a run of Deep CFR cannot be continued."""
        raise ValueError(f"a run of {NAME} cannot be continued, as its networks are not kept; give another folder")

    def _at_actions(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries of `rows` for the legal actions, infoset after infoset: float64[A].

        `rows` has a row for each infoset, with an entry for each of OpenSpiel's actions.
        """
        return rows[self._infosets, self.tree.action_ids].astype(np.float64)

    def _guarded(self, work: Any) -> None:
        """Do work; if it is interrupted, set `iteration` back to that of the last average strategy."""
        try:
            work()
        except BaseException:
            self.iteration = self._average[0]
            self._is_interrupted = True
            raise


def require_networks() -> None:
    """Raise ValueError if PyTorch or dm-tree is not installed."""
    _networks()


def _networks() -> Any:
    """Return the module `_deep_cfr_networks`, which imports PyTorch."""
    try:
        return importlib.import_module(_NETWORKS)
    except ImportError as error:
        raise ValueError(
            f"{NAME} needs PyTorch and dm-tree ({error}): pip install 'plurispiel[deep]'. PyTorch's CPU-only build "
            "is much smaller; PyTorch's pages tell how to install that build first"
        ) from None


def _number(name: str, text: str) -> Any:
    if name == "layers":
        return tuple(map(int, text.split("x")))
    try:
        return float(text) if name == "rate" else int(text)
    except ValueError:
        raise ValueError(f"{NAME}: {name} is a number, got {text!r}") from None
