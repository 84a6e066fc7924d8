"""`plurispiel ls`: list agents, games, presets and runs."""

import argparse
import inspect
import json
from collections.abc import Callable
from typing import Any

from plurispiel.abstraction.cards.config import PRESETS as CARD_PRESETS
from plurispiel.abstraction.cards.config import AbstractionConfig
from plurispiel.abstraction.holdem.openspiel import GAME_NAMES, OpenSpielGame, game_string
from plurispiel.abstraction.holdem.rules import PRESETS, HoldemRules
from plurispiel.abstraction.trees.holdem_histories import public_nodes
from plurispiel.abstraction.trees.ladder import LADDER, MAX_RANKS, MIN_RANKS, NamedGame, leduc_n
from plurispiel.agents.blueprint.config import preset_names, read_preset
from plurispiel.agents.blueprint.library import bundled_blueprints
from plurispiel.agents.openspiel import OPENSPIEL_BOTS
from plurispiel.agents.specs import BUILT_IN, built_in_class
from plurispiel.tournaments.run.known_runs import known_runs
from plurispiel.tournaments.run.results import aligned, printable

_GAMES = {
    "universal_poker": "hold'em by its parameters: 2..10 seats, limit or no-limit, any deck (an OpenSpiel game string)",
    "leduc_poker": "OpenSpiel's Leduc hold'em; also leduc_poker(players=3)",
    "kuhn_poker": "OpenSpiel's Kuhn poker; also kuhn_poker(players=3)",
}
_RIVER_SPOT = (
    "a river with all hands and one bet of half the pot: EV 32.8 and 27.2 of 60 chips (plurispiel spot river-spot)"
)
_OPENSPIEL_AGENTS = {
    "uniform_random": "every legal action id equally likely",
    "fixed_action_preference": "the first legal action of the ids in ?actions=1:0",
    "uniform_restricted_actions": "?policy_name=AlwaysCall, AlwaysFold, AlwaysRaise or HalfCallHalfRaise",
    "cfr": "CFR, for games as small as Leduc; ?iterations=300",
    "cfr+": "CFR+, for games as small as Leduc; ?iterations=300",
    "mccfr": "external-sampling MCCFR, for games as small as Leduc; ?iterations=100000",
}
_OTHER_AGENTS = {
    "tabular:FOLDER": "the strategy of a game solved with plurispiel solve --out FOLDER",
    "blueprint:FOLDER": "a trained blueprint: its folder, its run's folder, its name or its packed file",
    "search": "the bundled blueprint that fits the table, with search; ?time=1.0 or ?iterations=100",
    "search:FOLDER": "the same with a blueprint of your own, as in blueprint:FOLDER",
    "continual": "continual re-solving, in small games or heads-up hold'em from the flop on; ?iterations=300",
    "openspiel:FILE.py:NAME": "a policy or learner of OpenSpiel, which a function in your own file returns",
    "FILE.py:CLASS": "an agent class in your own file",
    "MODULE:CLASS": "an agent class in an importable module",
    "stdio:PROGRAM": "a program of your own, with its arguments, that speaks the line protocol",
    "acpc:PROGRAM": "a program of your own, with its arguments, that speaks the protocol of the ACPC",
    "pokerbots:FOLDER": "a program of your own that speaks the protocol of Pokerbots, by its folder",
}


def main(options: argparse.Namespace) -> int:
    """Run the command."""
    lists: dict[str, Callable[[], dict[str, Any]]] = {
        "agents": _agents,
        "games": _games,
        "presets": _presets,
        "runs": _runs,
    }
    entries = lists[options.what]()
    if options.json:
        print(json.dumps(entries, indent=1))
    elif options.what == "runs":
        print(_runs_text(entries))
    else:
        width = max(map(len, entries))
        for name, entry in entries.items():
            print(f"{name.ljust(width)}  {entry if isinstance(entry, str) else _game_text(entry)}")
    return 0


def _agents() -> dict[str, str]:
    built_in = {name: (inspect.getdoc(built_in_class(name)) or "").splitlines()[0] for name in BUILT_IN}
    openspiel = {f"openspiel:{bot}": _OPENSPIEL_AGENTS.get(bot, "a bot of OpenSpiel's") for bot in OPENSPIEL_BOTS}
    return built_in | _bundled_agents() | openspiel | _OTHER_AGENTS


def _bundled_agents() -> dict[str, str]:
    bundled = bundled_blueprints()
    there = ", ".join(map(str, bundled)) or "none comes with this package"
    named = {f"blueprint:{found.name}": f"a bundled blueprint: {found.config.text}" for found in bundled}
    return {
        "blueprint": f"the bundled blueprint that fits the table: {there}",
        "blueprint?defence=0": "the same without added calls on the turn and river; defence is 0 to 1, by default 0.8",
    } | named


def _games() -> dict[str, dict[str, Any]]:
    """Return the games by name: the ladder with sizes, families of games that take parameters, and an example spot."""
    example = leduc_n(4)
    ladder = {name: _game(game) for name, game in LADDER.items()}
    text = f"Leduc poker with N = {MIN_RANKS}..{MAX_RANKS} ranks; leduc-4: {_size_text(_game(example))}"
    others = {"leduc-N": text} | {name: _GAMES[name] for name in GAME_NAMES}
    unknown: dict[str, Any] = dict.fromkeys(("game", "histories", "infosets", "value"))
    others["river-spot"] = _RIVER_SPOT
    return ladder | {name: {"text": text, **unknown} for name, text in others.items()}


def _game(game: NamedGame) -> dict[str, Any]:
    nodes = public_nodes(OpenSpielGame(game.game))
    return {
        "text": game.text,
        "game": game.game,
        "histories": nodes.num_histories,
        "infosets": nodes.num_infosets,
        "value": game.value,
    }


def _game_text(entry: dict[str, Any]) -> str:
    return f"{entry['text']}: {_size_text(entry)}" if entry["game"] else entry["text"]


def _size_text(entry: dict[str, Any]) -> str:
    histories = entry["histories"]
    text = f"{histories:,}" if histories < 10**9 else f"{histories:.2g}"
    text += f" histories, {entry['infosets']:,} infosets"
    return text if entry["value"] is None else f"{text}, value {entry['value']:.9f} chips for player 0"


def _presets() -> dict[str, str]:
    """Return the text of each preset.

    The key of a game is its name. The key of a blueprint or bucket table is the command that uses the preset.
    """
    games = {name: f"{_game_preset_text(rules)}: {game_string(rules)}" for name, rules in PRESETS.items()}
    blueprints = {f"blueprint train {name}": read_preset(name).text for name in preset_names()}
    tables = {f"abstraction build {name}": _table_text(config) for name, config in CARD_PRESETS.items()}
    return games | blueprints | tables


def _runs() -> dict[str, dict[str, Any]]:
    """Return the user's runs by name, the latest first."""
    return {
        run.name: {
            "folder": str(run.folder),
            "game": run.game or None,
            "format": run.format or None,
            "agents": list(run.agents),
            "hands": run.hands,
            "hands_wanted": run.hands_wanted,
            "state": run.state,
            "date": run.date_text,
        }
        for run in known_runs()
    }


def _runs_text(entries: dict[str, dict[str, Any]]) -> str:
    if not entries:
        return "no runs yet: plurispiel tournament plays one"
    rows: list[tuple[str, ...]] = [("run", "date", "game", "hands", "state", "agents")]
    for name, run in entries.items():
        hands = f"{run['hands']:,}"
        if run["hands"] != run["hands_wanted"]:
            hands += f" of {run['hands_wanted']:,}"
        row = (name, run["date"], run["game"] or "", hands, run["state"].partition(":")[0], ", ".join(run["agents"]))
        rows.append(tuple(map(printable, row)))
    return "\n".join(line.rstrip() for line in aligned(rows, num_texts=len(rows[0])))


def _table_text(config: AbstractionConfig) -> str:
    streets = (config.flop, config.turn, config.river)
    counts = "/".join(str(street.buckets) for street in streets)
    return f"169/{counts} buckets of {', '.join(street.features for street in streets)}"


def _game_preset_text(rules: HoldemRules) -> str:
    chips = f"blinds {' '.join(map(str, rules.blinds))}"
    if rules.stacks:
        chips += f", stacks {rules.stacks[0]}"
    return f"{rules.num_seats} seats, {rules.betting}, {chips}"
