"""Finding blueprints by path or name, among the user's own blueprints and the bundled blueprints."""

import functools
import math
import shlex
from dataclasses import dataclass
from pathlib import Path

from plurispiel.abstraction.actions.game_difference import game_difference
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import ArtefactRefused, holds_artefact
from plurispiel.abstraction.machine.folders import blueprints_folder
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.blueprint.blueprint import CHECKPOINTS, FOLDER
from plurispiel.agents.blueprint.bundle import SUFFIX, packed_facts, unpacked_folder
from plurispiel.agents.blueprint.config import BlueprintConfig, config_from_dict
from plurispiel.agents.blueprint.training_record import work_done

__all__ = [
    "BundledBlueprint",
    "bundled_blueprints",
    "checked_blueprints",
    "find_blueprint",
    "find_packed",
    "pick_bundled",
]

_BOTS = Path(__file__).with_name("bots")


@dataclass(frozen=True)
class BundledBlueprint:
    """A blueprint that comes with the package.

    Attributes
    ----------
    name : str
    path : Path
        Path of the packed file.
    config : BlueprintConfig
        Settings of the training.
    digest : str
        See `PackedFacts`.
    iterations : int
        Iterations of its training, with those of the blueprint that it started from.
    """

    name: str
    path: Path
    config: BlueprintConfig
    digest: str
    iterations: int

    @property
    def rules(self) -> HoldemRules:
        """The game that the blueprint was trained for."""
        return self.config.rules

    def __str__(self) -> str:
        stacks = f", {_depth(self.rules):g} bb" if self.rules.stacks else ""
        return f"{self.name} ({'2' if self.rules.num_seats == 2 else f'2..{self.rules.num_seats}'} seats{stacks})"


def bundled_blueprints() -> list[BundledBlueprint]:
    """Return the blueprints that come with the package, sorted by name; nothing is unpacked.

    Raises
    ------
    ArtefactRefused
        If any of them is damaged.
    """
    sound, damaged = checked_blueprints()
    if damaged:
        raise damaged[0]
    return sound


def checked_blueprints() -> tuple[list[BundledBlueprint], list[ArtefactRefused]]:
    """Return the undamaged blueprints of the package, sorted by name, and the errors of the damaged ones."""
    sound: list[BundledBlueprint] = []
    damaged: list[ArtefactRefused] = []
    for path in sorted(_BOTS.glob(f"*{SUFFIX}")):
        try:
            sound.append(_bundled(path, path.stat().st_mtime_ns))
        except ArtefactRefused as error:
            damaged.append(error)
    return sound, damaged


def pick_bundled(rules: HoldemRules) -> BundledBlueprint:
    """Return the bundled blueprint that fits a game best: the fewest surplus seats, then the nearest stack depth.

    The depth is the geometric mean of the stacks in big blinds. Depths are compared by their ratio. Of blueprints that
    fit equally well, the one trained for the most iterations is preferred.

    Raises
    ------
    ValueError
        If no bundled blueprint has enough seats and the game's cards.
    ArtefactRefused
        If any bundled blueprint is damaged.
    """
    bundled = bundled_blueprints()
    fitting = [each for each in bundled if _plays(each, rules)]
    if not fitting:
        there = f"there are {', '.join(map(str, bundled))}" if bundled else "none comes with this package"
        raise ValueError(
            f"no bundled blueprint plays this game ({rules.num_seats} seats, {len(rules.cards)} cards, "
            f"{rules.num_board_cards} of them on the board): {there}; name one of your own, blueprint:NAME"
        )

    def misfit(each: BundledBlueprint) -> tuple[int, float, int]:
        return each.rules.num_seats, abs(math.log(_depth(each.rules) / _depth(rules))), -each.iterations

    return min(fitting, key=misfit)


def find_blueprint(text: str) -> Path:
    """Return the folder of a blueprint.

    Parameters
    ----------
    text : str
        The path of the blueprint's folder, of its run's folder, or of its packed file, which is unpacked into the
        user's cache. It may also be the name of a run in `blueprints_folder`, or of a bundled blueprint.

    Raises
    ------
    ValueError
        If no blueprint has this path or name, or it is that of a run that has not written its blueprint yet.
    ArtefactRefused
        If the packed file is damaged.
    """
    for folder in _folders(text):
        if holds_artefact(folder):
            return folder
    if (path := find_packed(text)) is not None:
        return unpacked_folder(path)
    for run in (folder.parent for folder in _folders(text)[1:]):
        if (run / CHECKPOINTS).is_dir():
            raise ValueError(
                f"{run} is a training run without a blueprint, which training writes at its end; to write it now: "
                f"{shlex.join(['plurispiel', 'blueprint', 'resume', str(run), '--minutes', '0'])}"
            )
    home = blueprints_folder()
    trained = [path.name for path in home.iterdir() if holds_artefact(path / FOLDER)] if home.is_dir() else []
    names = sorted({*trained, *(path.stem for path in _BOTS.glob(f"*{SUFFIX}"))})
    known = f"there are {', '.join(names)}" if names else f"none is in {home} yet"
    raise ValueError(f"{text!r} is neither a folder nor the name of a blueprint{suggestion(text, names)}: {known}")


def find_packed(text: str) -> Path | None:
    """Return the packed file that `find_blueprint` would unpack for a text, or None if it would unpack none."""
    if any(map(holds_artefact, _folders(text))):
        return None
    if Path(text).suffix == SUFFIX and Path(text).is_file():
        return Path(text)
    path = _BOTS / f"{text}{SUFFIX}"
    return path if Path(text).name == text and path.is_file() else None


def _folders(text: str) -> list[Path]:
    return [Path(text), Path(text) / FOLDER, blueprints_folder() / text / FOLDER]


@functools.lru_cache(16)
def _bundled(path: Path, changed_at: int) -> BundledBlueprint:
    facts = packed_facts(path)
    try:
        config, (iterations, _) = config_from_dict(facts.record["config"]), work_done(facts.record["training"])
        if type(iterations) is not int:
            raise TypeError(f"iterations of its training must be whole numbers, got {iterations!r:.40}")
        return BundledBlueprint(path.stem, path, config, facts.digest, iterations)
    except (KeyError, ValueError, TypeError) as error:
        raise ArtefactRefused(f"{path} is no sound blueprint ({error}); install the package again") from None


def _plays(bundled: BundledBlueprint, rules: HoldemRules) -> bool:
    try:
        game_difference(rules, bundled.rules)
    except ValueError:
        return False
    return True


def _depth(rules: HoldemRules) -> float:
    """Return the geometric mean of the stacks in big blinds; 1 in limit games, which have no stacks."""
    stacks = rules.stacks or (rules.big_blind,)
    return math.exp(sum(math.log(stack / rules.big_blind) for stack in stacks) / len(stacks))
