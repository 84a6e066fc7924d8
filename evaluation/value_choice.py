"""Finds AIVAT's value function by its name, or the default of a game.

Modules of blueprints are imported inside the functions that need them. Most processes of a run never call these
functions, and the import takes a fifth of a worker's start.
"""

import functools
from typing import TYPE_CHECKING

import numpy as np

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import holds_artefact
from plurispiel.abstraction.machine.folders import tables_folder
from plurispiel.evaluation.value_functions import Checkdown, ValueFunction, first_questions

if TYPE_CHECKING:
    from plurispiel.agents.blueprint.blueprint import Blueprint

__all__ = ["choose_values", "eligible_values", "make_value_function", "values_note"]

_BLUEPRINT = "blueprint"


def choose_values(rules: HoldemRules, text: str = "") -> str:
    """Return the full name of a game's value function.

    Parameters
    ----------
    text : str
        ``checkdown``; ``blueprint:NAME`` or ``blueprint:FOLDER``; ``blueprint`` for a bundled blueprint of this game
        whose bucket table is built, or that needs none. Of several, the one trained for the most iterations is taken.
        An empty text is ``blueprint`` if there is such a blueprint, else ``checkdown``. A name or folder after
        ``blueprint:`` is not checked here, but in `make_value_function`.

    Raises
    ------
    ValueError
        If there is no such value function, or the text is ``blueprint`` and no bundled blueprint of this game is ready.
    ArtefactRefused
        If the text is ``blueprint`` and a bundled blueprint is damaged.

    >>> from plurispiel.abstraction.holdem.rules import LEDUC
    >>> choose_values(LEDUC)
    'checkdown'
    """
    name, _, argument = text.partition(":")
    if argument and name == _BLUEPRINT or text == Checkdown.name:
        return text
    if text not in ("", _BLUEPRINT):
        known = f"{Checkdown.name}, {_BLUEPRINT}, {_BLUEPRINT}:NAME or {_BLUEPRINT}:FOLDER"
        raise ValueError(f"values are {known}, got {text!r}")
    from plurispiel.agents.blueprint.config import LOSSLESS
    from plurispiel.agents.blueprint.library import bundled_blueprints, checked_blueprints

    sound = bundled_blueprints() if text else checked_blueprints()[0]
    fitting = sorted((found for found in sound if found.rules == rules), key=lambda found: -found.iterations)
    bundled = {found.name: found.config.cards for found in fitting}
    built = [found for found, cards in bundled.items() if cards == LOSSLESS or holds_artefact(tables_folder() / cards)]
    if not built and text:
        hints = [f"; {found} needs plurispiel abstraction build {cards}" for found, cards in bundled.items()]
        raise ValueError(f"no bundled blueprint is ready to value this game{''.join(hints)}; take {Checkdown.name}")
    return f"{_BLUEPRINT}:{built[0]}" if built else Checkdown.name


def eligible_values(rules: HoldemRules) -> list[str]:
    """Return the names of all value functions that `choose_values` could take by default, the present default first."""
    from plurispiel.agents.blueprint.library import checked_blueprints

    bundled = [f"{_BLUEPRINT}:{found.name}" for found in checked_blueprints()[0] if found.rules == rules]
    return list(dict.fromkeys([choose_values(rules), *bundled, Checkdown.name]))


def values_note(values: str) -> str:
    """Return a note on a damaged bundled blueprint, which may be the reason why AIVAT takes checkdown values.

    The text is empty for other values, or if no bundled blueprint is damaged.
    """
    if values != Checkdown.name:
        return ""
    from plurispiel.agents.blueprint.library import checked_blueprints

    damaged = checked_blueprints()[1]
    return f"AIVAT takes {values} values: {damaged[0]}" if damaged else ""


@functools.lru_cache(1)
def make_value_function(text: str, rules: HoldemRules) -> ValueFunction:
    """Return the value function of a full name, or `Checkdown` for an empty text. The latest result is cached.

    Raises
    ------
    ValueError
        If there is no such value function, it belongs to another game, or its bucket table is missing.
    ArtefactRefused
        If its blueprint is damaged.
    """
    text = choose_values(rules, text or Checkdown.name)
    if text == Checkdown.name:
        return Checkdown()
    from plurispiel.agents.blueprint.blueprint import load_blueprint
    from plurispiel.agents.blueprint.library import find_blueprint
    from plurispiel.evaluation.blueprint_values import BlueprintValues

    blueprint = load_blueprint(find_blueprint(text.partition(":")[2]))
    if blueprint.rules != rules:
        raise ValueError(f"the values {text!r} are those of another game; take {Checkdown.name}, or leave values out")
    return BlueprintValues(blueprint, _seat_values(blueprint))


def warmup(text: str, rules: HoldemRules) -> None:
    """Compile the kernels of a value function, and load its files; raises like `make_value_function`."""
    make_value_function(text, rules).answers(first_questions(rules))


def _seat_values(blueprint: "Blueprint") -> tuple[float, ...]:
    """Return each seat's mean winnings in self-play, in chips; they sum to 0.

    The means come from the final mark of the blueprint's training. If there are no marks, they come from a match of the
    blueprint against itself.
    """
    from plurispiel.agents.blueprint.marks import MATCH_DECKS
    from plurispiel.agents.blueprint.match import play_match
    from plurispiel.agents.blueprint.training_record import mark_from_dict

    marks = blueprint.training.get("marks")
    if marks:
        found = mark_from_dict(marks[-1]).seat_values
    else:
        found = play_match(blueprint, blueprint, MATCH_DECKS).seat_means
    values = np.array(found) * blueprint.rules.big_blind / 1000.0
    return tuple((values - values.mean()).tolist())
