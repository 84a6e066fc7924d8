"""`plurispiel play`: a person plays against agents in the terminal."""

import argparse
import contextlib
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

from plurispiel.abstraction.holdem.openspiel import game_name, parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.factory import game_note, try_stored
from plurispiel.agents.specs import parse_spec, split_specs, unique_names
from plurispiel.evaluation.value_choice import choose_values
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.commands.exit_codes import INTERRUPTED
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.play.adviser import HintAdviser
from plurispiel.tournaments.play.dealing import YOU, Table
from plurispiel.tournaments.play.history import AGENTS_LOG, PlayHistory
from plurispiel.tournaments.play.opponents import Opponents, default_agent, with_opponents
from plurispiel.tournaments.play.person import Person
from plurispiel.tournaments.play.screen import Screen
from plurispiel.tournaments.play.session import Session
from plurispiel.tournaments.run.config import default_rules
from plurispiel.tournaments.run.kernels import LOADING, warmup_play

_MAX_SEATS = 10


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    _check_numbers(options)
    limits = Limits(options.time_limit, options.memory_limit)
    given = [spec for text in options.agents or () for spec in split_specs(text)]
    rules = _rules(options, len(given))
    specs = with_opponents(rules, given or [default_agent(rules)])
    everyone = [*specs, *([options.hint] if options.hint else [])]
    values = choose_values(rules)
    for spec in dict.fromkeys(everyone):
        if note := game_note(spec, rules):
            say_all([f"{spec}: {note}"])
        try_stored(spec, rules)
    outsiders = [spec for spec in everyone if parse_spec(spec).is_foreign]
    sandbox = open_sandbox(options.sandbox, network=options.agent_network, warn=say) if outsiders else None
    if outsiders and options.seed is not None:
        say(
            f"seed {options.seed}: an agent from outside that guesses the seed can compute all cards; "
            "without --seed they come from a secret key"
        )
    settings = _settings(rules, specs, options.hint)
    folder = Path(options.out) if options.out else _default_folder(settings)
    with contextlib.ExitStack() as stack:
        opponents = stack.enter_context(Opponents(specs, limits, sandbox, folder / AGENTS_LOG))
        adviser = HintAdviser(opponents.make(options.hint), parse_spec(options.hint).title) if options.hint else None
        history = stack.enter_context(contextlib.closing(PlayHistory(folder, rules, settings)))
        before = len(history.kept)
        if history.was_cut:
            say(f"{history.path}: a hand that was cut off at the end of the file is removed")
        say(LOADING)
        warmup_play(everyone, rules)
        undisturbed(lambda: warmup_values(values, rules))
        screen = Screen(sys.stderr if options.json else None)
        table = Table(rules, (YOU, *unique_names(specs)), values, options.seed)
        session = Session(table, Person(screen, adviser), opponents, history, screen)
        code = 0
        try:
            if not session.play(options.hands):
                say("the input ended, or was no longer read, within a hand: this hand does not count")
            say(_kept_words(history, before))
        except KeyboardInterrupt:
            screen.line()
            say(f"interrupted: a hand that was not over does not count. {_kept_words(history, before)}")
            code = INTERRUPTED
        if options.json:
            record = {"game": game_name(rules), "agents": specs, "hint": options.hint, **session.result.record()}
            print(json.dumps(record | {"new_hands": len(history.kept) - before, "file": str(history.path)}, indent=1))
    return code


def _check_numbers(options: argparse.Namespace) -> None:
    if options.hands is not None and options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if options.seats is not None and not 2 <= options.seats <= _MAX_SEATS:
        raise ValueError(f"seats must be 2 to {_MAX_SEATS}, got {options.seats}")
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"the seed must not be negative, got {options.seed}")
    if options.hint is not None and not options.hint:
        raise ValueError("--hint needs an agent, got an empty text")


def _rules(options: argparse.Namespace, num_agents: int) -> HoldemRules:
    if options.game is None:
        seats = options.seats or max(2, num_agents + 1)
        if seats > _MAX_SEATS:
            raise ValueError(f"a table has at most {_MAX_SEATS} seats, got {num_agents} agents and you")
        return default_rules(seats)
    rules = parse_game(options.game)
    if options.seats not in (None, rules.num_seats):
        raise ValueError(f"the game {options.game!r} has {rules.num_seats} seats, got --seats {options.seats}")
    return rules


def _settings(rules: HoldemRules, specs: list[str], hint: str | None) -> dict[str, Any]:
    """Return the settings that must be equal for results to be added up."""
    return {
        "game": game_name(rules),
        "agents": [parse_spec(spec).title for spec in specs],
        "hint": hint and parse_spec(hint).title,
        "digests": [agent_digest(spec) for spec in dict.fromkeys([*specs, *([hint] if hint else [])])],
    }


def _default_folder(settings: dict[str, Any]) -> Path:
    """Return the folder of a table in the user's data, named after the agents and a hash of the settings."""
    agents = re.sub(r"[^\w-]+", "_", "-".join(dict.fromkeys(settings["agents"])), flags=re.ASCII)[:40]
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode(errors="replace")).hexdigest()[:8]
    return user_data_folder() / "play" / f"{agents}-{digest}"


def _kept_words(history: PlayHistory, before: int) -> str:
    new = len(history.kept) - before
    return f"{new:,} hand{'s' * (new != 1)} kept in {history.path}; the same command continues with hand " + str(
        history.next_number
    )
