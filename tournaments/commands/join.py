"""`plurispiel join`: play at a table that another program runs."""

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.interrupts import interrupts_held
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.factory import game_note
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.formats.game_definition import find_game
from plurispiel.tournaments.formats.match_log import MatchLog
from plurispiel.tournaments.remote.acpc import AcpcTable
from plurispiel.tournaments.remote.connection import connect
from plurispiel.tournaments.remote.seat import match_folder, seated_agent
from plurispiel.tournaments.remote.table import TableError
from plurispiel.tournaments.remote.visit import Player, visit
from plurispiel.tournaments.run.results import number_text, printable

_CONNECT_S = 30.0
_MAX_FAULTS = 20
_MAX_PORT = 65_535


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    The code is 1 if the match could not be finished, 130 after an interrupt, and 3 after `_MAX_FAULTS` faults or more.
    """
    host, port = _address(options.address)
    if options.hands is not None and options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if options.seed < 0:
        raise ValueError(f"the seed must not be negative, got {options.seed}")
    limits, sandbox = Limits(options.time_limit, options.memory_limit), None
    rules = find_game(options.game)
    if note := game_note(options.agent, rules):
        say_all([f"{options.agent}: {note}"])
    out = Path(options.out) if options.out else match_folder("join")
    if parse_spec(options.agent).is_foreign:
        sandbox = open_sandbox(options.sandbox, network=options.agent_network, warn=say)
    trouble, code = "", FAILED
    payoffs: list[float] = []
    started = time.monotonic()
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:  # an agent may print
        agent = stack.enter_context(seated_agent(options.agent, rules, limits, sandbox))
        player = Player(agent, rules, options.seed, parse_spec(options.agent).title)
        log = stack.enter_context(MatchLog(out / "join.log", rules, options.hands or 0, options.seed))
        connection = connect(host, port, _CONNECT_S)
        table = stack.enter_context(contextlib.closing(AcpcTable(connection, rules)))
        bar = stack.enter_context(progress_bar(total=options.hands, unit="hand", leave=False))
        started = time.monotonic()
        try:
            for history in visit(table, player, options.hands):
                assert history.payoffs is not None
                with interrupts_held():  # so that the log and the result have the same hands
                    log.add(history)
                    payoffs.append(history.payoffs[history.names.index(player.name)])
                bar.update()
            if options.hands is not None and len(payoffs) < options.hands:
                trouble = f"the dealer ended the match after {len(payoffs):,} of {options.hands:,} hands"
            elif not payoffs:
                trouble = "the dealer ended the match before the end of the first hand"
        except TableError as error:
            trouble = str(error)
        except KeyboardInterrupt:
            trouble, code = "interrupted", INTERRUPTED
        seconds = time.monotonic() - started
    record = _record(options, game_name(rules), payoffs, rules.big_blind, player, seconds)
    record["log"] = str(log.path)
    print(json.dumps(record, allow_nan=False) if options.json else _text(record))
    sys.stdout.flush()
    if trouble:
        say_all([f"plurispiel join: {trouble}"])
        return code
    return FAULT_LIMIT if len(player.faults) >= _MAX_FAULTS else 0


def _address(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; an IPv6 host may stand in brackets."""
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port[:9]) <= _MAX_PORT):
        raise ValueError(f"the dealer's address is written HOST:PORT, as in 127.0.0.1:18374, got {text[:80]!r}")
    return host.strip("[]"), int(port)


def _record(
    options: argparse.Namespace, game: str, payoffs: list[float], big_blind: int, player: Player, seconds: float
) -> dict[str, Any]:
    estimate = estimate_mean(np.array(payoffs) * (1000.0 / big_blind)) if payoffs else None
    return {
        "agent": options.agent,
        "game": game,
        "hands": len(payoffs),
        "mbb_per_hand": estimate and estimate.mean,
        "ci95": estimate and estimate.ci95,
        "answers": player.num_answers,
        "faults": [f"hand {number}: {fault.kind}: {fault.message}" for number, fault in player.faults],
        "seconds": seconds,
    }


def _text(record: dict[str, Any]) -> str:
    """Return the result as lines of text."""
    rate, width = (number_text(record[key], form) for key, form in (("mbb_per_hand", "+,.1f"), ("ci95", ",.1f")))
    faults = record["faults"]
    lines = [f"{record['agent']} won {rate} ± {width} mbb/hand in {record['hands']:,} hands of {record['game']}"]
    if faults:
        lines.append(f"{len(faults):,} faults; the first: {faults[0]}")
    return "\n".join(printable(line) for line in [*lines, f"log: {record['log']}"])
