"""`plurispiel deal`: deal a match to programs that connect and to agents, or write an example of a bot."""

import argparse
import contextlib
import functools
import json
import secrets
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import game_note
from plurispiel.agents.specs import parse_spec, split_specs, unique_names
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.streams import Keyed, Streams
from plurispiel.evaluation.value_choice import choose_values, make_value_function
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.contestants.example_bots import EXAMPLES, write_example
from plurispiel.tournaments.contestants.isolated import MAX_TIME_LIMIT, Limits
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.deal.clocks import PlayerClock
from plurispiel.tournaments.deal.correction import Correction
from plurispiel.tournaments.deal.dealer import Match
from plurispiel.tournaments.deal.server import NoPlayer, TcpSeat, is_loopback
from plurispiel.tournaments.formats.game_definition import find_game
from plurispiel.tournaments.formats.match_log import MatchLog
from plurispiel.tournaments.remote.seat import match_folder, seated_agent
from plurispiel.tournaments.run.results import aligned, number_text, printable

_TCP = "tcp"
_NO_VALUES = "none"
_FORMS = {"mbb_per_hand": "+,.1f", "ci95": ",.1f"}
_MAX_FAULTS = 20
_MAX_PORT = 65_535
_KEY_BITS = 128


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    The code is 1 if a program does not connect in time, 130 after an interrupt, and 3 if a player had `_MAX_FAULTS`
    faults or more.
    """
    if options.example is not None:
        return _write_example(options)
    if options.folder is not None:
        raise ValueError(f"a folder belongs to --example, got {options.folder!r}")
    if options.agents is None:
        raise ValueError('name the players: --agents "tcp,blueprint"; tcp is a program that connects')
    rules = find_game(options.game)
    specs = split_specs(options.agents)
    ports = _ports(options.ports, specs.count(_TCP))
    _check(options, rules, specs)
    folder = Path(options.out) if options.out else match_folder("deal")
    names = [f"deal.{part}" for part in range(rules.num_seats)] if options.duplicate else ["deal"]
    paths = [folder / f"{name}.log" for name in names]
    if taken := [path for path in paths if path.exists()]:
        raise ValueError(f"{taken[0]} exists, and a match is not continued; choose another folder")
    say_all(f"{spec}: {note}" for spec in dict.fromkeys(specs) if spec != _TCP and (note := game_note(spec, rules)))
    key = secrets.randbits(_KEY_BITS) if options.seed is None else options.seed
    streams = Streams(rules.num_seats, Keyed([(0, key)]))
    match = Match(
        rules,
        tuple(unique_names(specs)),
        options.hands,
        streams,
        options.on_fault == "repair",
        options.start_timeout,
    )
    limits = {"response": options.t_response, "hand": options.t_hand}
    comments = tuple(f"#--t_{name} {round(1000 * seconds)}" for name, seconds in limits.items())
    values = None if options.values == _NO_VALUES else choose_values(rules, options.values)
    if values is not None:
        undisturbed(lambda: warmup_values(values, rules))
    payoffs: list[np.ndarray] = []
    estimates: list[np.ndarray] = []
    with contextlib.ExitStack() as stack:
        sandbox = _sandbox(options, specs)
        bar = stack.enter_context(progress_bar(total=len(paths) * options.hands, unit="hand", leave=False))
        clients = [stack.enter_context(_open_seat(options, port)) for port in ports]
        if clients:
            print(" ".join(str(client.port) for client in clients), flush=True)
        with contextlib.redirect_stdout(sys.stderr):  # an agent may print
            for part, path in enumerate(paths):
                # A part is all hands with one seating. Its agents are new, so that they remember no other part.
                with contextlib.ExitStack() as seats:
                    agents = _agents(options, rules, specs, clients, sandbox, seats)
                    log = seats.enter_context(MatchLog(path, rules, options.hands, options.seed or 0, comments))
                    correction = _correction(rules, specs, agents, values, streams)
                    try:
                        payoffs.append(
                            match.play(agents, part, log, functools.partial(_after_hand, correction, bar.update))
                        )
                    except NoPlayer as error:
                        say_all([f"plurispiel deal: {error}; {path} has all hands so far"])
                        return FAILED
                    except KeyboardInterrupt:
                        say_all([f"plurispiel deal: interrupted; {path} has all hands so far"])
                        return INTERRUPTED
                    if correction is not None:
                        estimates.append(np.array(correction.estimates))
                    if options.seed is None and path == paths[-1]:
                        log.add_comment(f"the key of all cards, for --seed: 0x{key:x}")
                for client in clients:
                    client.disconnect()
    record = _record(match, specs, game_name(rules), payoffs, estimates)
    record["values"] = values
    record["logs"] = [str(path) for path in paths]
    print(json.dumps(record, allow_nan=False) if options.json else _text(record))
    sys.stdout.flush()
    return FAULT_LIMIT if any(player["faults"] >= _MAX_FAULTS for player in record["players"]) else 0


def _write_example(options: argparse.Namespace) -> int:
    """Write an example of a bot, and print how to try it."""
    if options.folder is None:
        raise ValueError(f"give a folder for the example: --example {options.example} FOLDER")
    commands = write_example(options.example, Path(options.folder))
    print(printable(f"written to {options.folder}: {', '.join(EXAMPLES[options.example])}. To try it:"))
    print("\n".join(printable(f"  {command}") for command in commands))
    return 0


def _check(options: argparse.Namespace, rules: HoldemRules, specs: list[str]) -> None:
    """Raise ValueError if no match can be dealt with these options."""
    if len(specs) != rules.num_seats:
        raise ValueError(f"{game_name(rules)} has {rules.num_seats} seats, got {len(specs)} players in --agents")
    if rules.board_cards[0]:
        raise ValueError("the protocol of the ACPC has no place for board cards before the first betting")
    if options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if options.seed is not None and options.seed < 0:
        raise ValueError(f"the seed must not be negative, got {options.seed}")
    for name in ("t_response", "t_hand", "start_timeout"):
        if not 0.0 < (seconds := getattr(options, name)) < 1e6:
            raise ValueError(f"--{name.replace('_', '-')} must be above 0 and below 1e6 seconds, got {seconds:g}")
    Limits(memory=options.memory_limit)  # checks the limit before a seat is opened
    if not is_loopback(options.listen):
        if not options.allow_remote:
            raise ValueError(f"other machines can reach {options.listen}; give --allow-remote to allow that")
        say_all(
            [
                f"listening on {options.listen}: whoever reaches this address can take a seat. Cards and actions are "
                "sent unencrypted, and nobody is asked for a password"
            ]
        )


def _open_seat(options: argparse.Namespace, port: int) -> contextlib.closing[TcpSeat]:
    return contextlib.closing(TcpSeat(options.listen, port, PlayerClock(options.t_response, options.t_hand)))


def _ports(text: str | None, count: int) -> list[int]:
    """Return a port for each tcp seat; 0 for a free one."""
    if text is None:
        return [0] * count
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() and int(word[:9]) <= _MAX_PORT for word in words):
        raise ValueError(f"--ports are numbers up to {_MAX_PORT}, separated by commas, got {text[:80]!r}")
    if len(words) != count:
        raise ValueError(f"{count} tcp seats need as many ports, got {len(words)}")
    return [int(word) for word in words]


def _sandbox(options: argparse.Namespace, specs: list[str]) -> Sandbox | None:
    """Return the sandbox of agents from outside; None without such agents.

    Also None, after a warning, if the agents play without a sandbox.
    """
    if not any(spec != _TCP and parse_spec(spec).is_foreign for spec in specs):
        return None
    return open_sandbox(options.sandbox, network=options.agent_network, warn=say)


def _agents(
    options: argparse.Namespace,
    rules: HoldemRules,
    specs: list[str],
    clients: list[TcpSeat],
    sandbox: Sandbox | None,
    stack: contextlib.ExitStack,
) -> list[Agent]:
    """Return the players: the next client for each ``tcp``, and for any other spec an agent that `stack` closes."""
    limits = Limits(min(options.t_response, MAX_TIME_LIMIT), options.memory_limit)
    waiting = iter(clients)
    return [
        next(waiting) if spec == _TCP else stack.enter_context(seated_agent(spec, rules, limits, sandbox))
        for spec in specs
    ]


def _correction(
    rules: HoldemRules, specs: list[str], agents: list[Agent], values: str | None, streams: Streams
) -> Correction | None:
    if values is None:
        return None
    trusted = [player for player, spec in enumerate(specs) if spec != _TCP and not parse_spec(spec).is_foreign]
    return Correction(agents, trusted, make_value_function(values, rules), streams)


def _after_hand(
    correction: Correction | None, update: Callable[[], object], hand: Hand, players: Sequence[int], number: int
) -> None:
    if correction is not None:
        correction.add(hand, players, number)
    update()


def _record(
    match: Match, specs: list[str], game: str, payoffs: list[np.ndarray], estimates: list[np.ndarray]
) -> dict[str, Any]:
    """Return the results; a sample is a hand, or with `--duplicate` the mean over all hands of a deck."""
    per_chip = 1000.0 / match.rules.big_blind
    means = np.mean(payoffs, axis=0) * per_chip
    corrected = np.mean(estimates, axis=0) * per_chip if estimates else None
    players = []
    for player, (name, spec) in enumerate(zip(match.names, specs, strict=True)):
        faults = [
            f"hand {number}: {fault.kind}: {fault.message}" for number, fault in match.faults if fault.seat == player
        ]
        players.append(
            {
                "name": name,
                "spec": spec,
                **_rates(means[:, player]),
                "aivat": None if corrected is None else _rates(corrected[:, player]),
                "faults": len(faults),
                "first_fault": faults[0] if faults else None,
            }
        )
    hands = match.num_hands * len(payoffs)
    return {"game": game, "hands": hands, "answers": match.answers, "seconds": match.seconds, "players": players}


def _rates(samples: np.ndarray) -> dict[str, float | None]:
    estimate = estimate_mean(samples)
    return {"mbb_per_hand": estimate.mean, "ci95": estimate.ci95}


def _text(record: dict[str, Any]) -> str:
    """Return the results as a table."""
    rows: list[tuple[str, ...]] = [("player", "mbb/hand", "± 95 %", "by AIVAT", "± 95 %", "hands", "faults")]
    for player in record["players"]:
        figures = (player, player["aivat"] or {"mbb_per_hand": None, "ci95": None})
        texts = [number_text(each[key], form) for each in figures for key, form in _FORMS.items()]
        rows.append((printable(player["name"]), *texts, f"{record['hands']:,}", f"{player['faults']:,}"))
    notes = [
        f"{player['name']}, first fault: {player['first_fault']}" for player in record["players"] if player["faults"]
    ]
    logs = [f"log: {path}" for path in record["logs"]]
    return "\n".join([*aligned(rows), "", *map(printable, [*notes, *logs])])
