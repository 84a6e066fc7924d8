"""`plurispiel join slumbot` and `plurispiel join gtowizard`: play at the table of a service on the web."""

import argparse
import contextlib
import json
import os
import re
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from plurispiel import __version__
from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.abstraction.machine.interrupts import undisturbed
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.factory import game_note
from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.value_choice import choose_values, make_value_function
from plurispiel.evaluation.value_choice import warmup as warmup_values
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED, USAGE
from plurispiel.tournaments.commands.messages import say, say_all
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.remote import gtowizard, slumbot
from plurispiel.tournaments.remote.hand_log import write_hand_log
from plurispiel.tournaments.remote.http import MAX_TIMEOUT_S, HttpClient, service_url
from plurispiel.tournaments.remote.score import Scorer, results_of
from plurispiel.tournaments.remote.seat import seated_agent
from plurispiel.tournaments.remote.service import ServiceTable
from plurispiel.tournaments.remote.sitting import sit
from plurispiel.tournaments.remote.store import HandStore
from plurispiel.tournaments.remote.table import TableError
from plurispiel.tournaments.remote.visit import Player
from plurispiel.tournaments.run.results import number_text, printable

_SERVICES: dict[str, ModuleType] = {"slumbot": slumbot, "gtowizard": gtowizard}
_MAX_FAULTS = 20
_MAX_CONTACT = 200
_MAX_KEY = 500


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code.

    The code is 2 without permission to send, 1 after an error of the service or connection, and 130 after an interrupt.
    The code is 3 if all hands of the folder together have `_MAX_FAULTS` faults or more.
    """
    service = _SERVICES[options.action]
    _check(options)
    limits, sandbox = Limits(options.time_limit, options.memory_limit), None
    url = service_url(options.base_url) if options.base_url else service.URL
    if not options.allow_network:
        say(f"plurispiel join {options.action} would send to {url}, for {options.hands:,} hands of {options.agent}:")
        for request in service.REQUESTS:
            say(f"  {request}")
        say("nothing was sent; add --allow-network to play")
        return USAGE
    rules = service.RULES
    key = _key() if service is gtowizard else ""
    if note := game_note(options.agent, rules):
        say_all([f"{options.agent}: {note}"])
    values = choose_values(rules)
    settings = {
        "service": options.action,
        "url": url,
        "agent": options.agent,
        "digest": agent_digest(options.agent),
        "seed": options.seed,
        "values": values,
        "plurispiel": __version__,
    }
    folder = Path(options.out) if options.out else _default_folder(options)
    is_foreign = parse_spec(options.agent).is_foreign
    if is_foreign:
        sandbox = open_sandbox(options.sandbox, network=options.agent_network, warn=say)
    trouble = ""
    code = 0
    with contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:  # an agent may print
        store = stack.enter_context(contextlib.closing(HandStore(folder, settings)))
        agent = stack.enter_context(seated_agent(options.agent, rules, limits, sandbox))
        undisturbed(lambda: warmup_values(values, rules))
        player = Player(agent, rules, options.seed, parse_spec(options.agent).title)
        scorer = Scorer(agent, not is_foreign, make_value_function(values, rules), options.seed)
        table = _table(service, url, options.contact, key, options.request_timeout)
        bar = stack.enter_context(progress_bar(total=options.hands, unit="hand", leave=False))
        bar.update(store.next_number - 1 - len(store.open_hands()))
        started = time.monotonic()
        try:
            for hand in sit(table, player, store, scorer, options.hands):
                if hand.trouble:
                    say_all([f"hand {hand.number} is broken: {hand.trouble}"])
                bar.update()
        except TableError as error:
            trouble, code = str(error), FAILED
        except KeyboardInterrupt:
            trouble, code = "interrupted; give the same command to continue", INTERRUPTED
        seconds = time.monotonic() - started
        record: dict[str, Any] = {"agent": options.agent, "service": options.action, "url": url}
        record |= {"game": game_name(rules), **results_of(store.hands(), rules.big_blind), "values": values}
        log = store.path.with_name("join.log")
        write_hand_log(log, store.hands(), rules, player.name, options.seed)
        record |= {"seconds": seconds, "store": str(store.path), "log": str(log)}
    print(json.dumps(record, allow_nan=False) if options.json else _text(record))
    sys.stdout.flush()
    if trouble:
        say_all([f"plurispiel join: {trouble}"])
        return code
    return FAULT_LIMIT if record["faults"] >= _MAX_FAULTS else 0


def _check(options: argparse.Namespace) -> None:
    if options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if options.seed < 0:
        raise ValueError(f"the seed must not be negative, got {options.seed}")
    if not 0.0 < options.request_timeout <= MAX_TIMEOUT_S:
        raise ValueError(
            f"request-timeout must be above 0 and at most {MAX_TIMEOUT_S:g}, got {options.request_timeout:g}"
        )
    contact = options.contact
    is_text = contact.isascii() and contact.isprintable() and contact.strip() and not set(contact) & set("()")
    if not is_text or len(contact) > _MAX_CONTACT:
        raise ValueError(
            f"contact is an e-mail or web address, at most {_MAX_CONTACT} printable ASCII characters without "
            f"parentheses, got {contact[:80]!r}"
        )


def _key() -> str:
    """Return the key of GTO Wizard's benchmark from the environment; no error message contains the key."""
    key = os.environ.get(gtowizard.KEY, "")
    if not key:
        raise ValueError(
            f"the environment variable {gtowizard.KEY} has to hold the key of the benchmark; it is not set"
        )
    if not (key.isascii() and key.isprintable() and " " not in key and len(key) <= _MAX_KEY):
        raise ValueError(f"{gtowizard.KEY} has to hold 1 to {_MAX_KEY} printable ASCII characters without blanks")
    return key


def _table(service: ModuleType, url: str, contact: str, key: str, timeout: float) -> ServiceTable:
    headers = {"User-Agent": f"plurispiel/{__version__} ({contact})"}
    if service is gtowizard:
        client = HttpClient(url, headers | {"X-API-KEY": key}, secret=key, timeout=timeout)
        return gtowizard.GtoWizardTable(client)
    return slumbot.SlumbotTable(HttpClient(url, headers, timeout=timeout))


def _default_folder(options: argparse.Namespace) -> Path:
    """Return the folder of an agent at a service among the user's data."""
    agent = re.sub(r"[^\w-]+", "_", options.agent, flags=re.ASCII)[:60]
    return user_data_folder() / "matches" / f"{options.action}-{agent}"


def _text(record: dict[str, Any]) -> str:
    """Return the results as lines of text."""
    lines = [f"{record['agent']} against {' and '.join(record['opponents']) or record['service']}, {record['game']}:"]
    lines.append(f"{_rate(record)} mbb/hand raw in {record['hands']:,} hands")
    if record["aivat"]:
        lines.append(f"{_rate(record['aivat'])} mbb/hand by AIVAT with {record['values']} values")
    if record["by_service"]:
        lines.append(f"{_rate(record['by_service'])} mbb/hand by the service's own correction of luck")
    if record["broken"]:
        lines.append(f"{record['broken']:,} broken hands, not scored; the first: {record['first_trouble']}")
    if len(record["opponents"]) > 1:
        lines.append("the opponent has changed: these are results against different players")
    if record["faults"]:
        lines.append(f"{record['faults']:,} faults; the first: {record['first_fault']}")
    return "\n".join(printable(line) for line in [*lines, f"log: {record['log']}"])


def _rate(record: dict[str, Any]) -> str:
    return f"{number_text(record['mbb_per_hand'], '+,.1f')} ± {number_text(record['ci95'], ',.1f')}"
