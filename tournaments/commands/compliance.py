"""`plurispiel compliance`: what an agent would be faulted for, before it plays for anything."""

import argparse
import contextlib
import json
import subprocess
import sys
from collections import Counter
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name, parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Agent
from plurispiel.agents.specs import game_note, make_agent, parse_spec, try_stored
from plurispiel.evaluation.hand import Fault, deal_deck, play_hand
from plurispiel.tournaments.contestants.supervisor import Contestant, Limits
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.results import printable
from plurispiel.tournaments.warmup import LOADING, warmup_play

_OPPONENTS = ("random", "tag", "call", "raise")
_MAX_FAULTS = 20
_CONTRACT_HANDS = 1_000
_CONTRACT_SECONDS = 600.0


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    rules = parse_game(options.game)
    if options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if note := game_note(options.spec, rules):
        print(printable(f"{options.spec}: {note}"), file=sys.stderr, flush=True)
    try_stored(options.spec, rules)
    if parse_spec(options.spec).is_stored:
        print(LOADING, file=sys.stderr, flush=True)
        warmup_play([options.spec], rules)
    limits = Limits(options.time_limit, options.memory_limit)
    record: dict[str, Any] = {"agent": options.spec, "game": game_name(rules)}
    record |= _play(options.spec, rules, limits, options.hands, options.seed)
    if record["hands"] == options.hands:  # else it has shown enough
        record |= _check_contract(options.spec, rules, limits)
    print(json.dumps(record, indent=1) if options.json else _text(record, limits))
    return 1 if record["faults"] or record["violations"] else 0


def _play(spec: str, rules: HoldemRules, limits: Limits, num_hands: int, seed: int) -> dict[str, Any]:
    """Play as in a tournament, seat after seat, until there are too many faults."""
    faults: list[Fault] = []
    opponents: list[Agent] = [make_agent(_OPPONENTS[k % len(_OPPONENTS)]) for k in range(rules.num_seats)]
    played = 0
    with contextlib.closing(Contestant(spec, limits)) as contestant:
        try_to_load(contestant)
        for number in progress_bar(range(num_hands), unit="hand", leave=False):
            seat = number % rules.num_seats
            agents = [contestant if place == seat else opponents[place] for place in range(rules.num_seats)]
            deck = deal_deck(rules, np.random.default_rng((seed, number)))
            rngs = [np.random.default_rng((seed, number, place)) for place in range(rules.num_seats)]
            faults.extend(play_hand(rules, agents, deck, rngs).faults)
            played += 1
            if len(faults) >= _MAX_FAULTS:
                break
    first = {fault.kind: fault.message for fault in reversed(faults)}
    counts = Counter(fault.kind for fault in faults)
    return {
        "hands": played,
        "faults": dict(counts),
        "first_faults": first,
        "decisions": 0,
        "tells_range": False,
        "violations": [],
    }


def _check_contract(spec: str, rules: HoldemRules, limits: Limits) -> dict[str, Any]:
    """Return the contract's report on an agent, made in a process of its own."""
    program = [sys.executable, "-P", "-m", "plurispiel.tournaments.contestants.conformance"]
    arguments = [spec, game_name(rules), str(_CONTRACT_HANDS), str(limits.memory)]
    try:
        done = subprocess.run(
            [*program, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_CONTRACT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"violations": [f"the contract could not be checked within {_CONTRACT_SECONDS:g} s"]}
    try:
        return json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return {"violations": [f"checking the contract ended its process (exit code {done.returncode}): {last}"]}


def _text(record: dict[str, Any], limits: Limits) -> str:
    lines = [
        printable(f"{record['agent']} in {record['game']}"),
        f"{record['hands']:,} hands as in a tournament, {limits.seconds:g} s and {limits.memory:,} MiB at most:",
    ]
    for kind, count in record["faults"].items():
        lines.append(printable(f"  {kind} ({count:,}), the first: {record['first_faults'][kind]}"))
    if not record["faults"]:
        lines.append("  no faults")
    elif sum(record["faults"].values()) >= _MAX_FAULTS:
        lines.append("  stopped there; the contract was not checked")
        return "\n".join(lines)
    tells = "reports" if record["tells_range"] else "does not report"
    lines.append(f"the contract, {record['decisions']:,} decisions; it {tells} what it does with every hand:")
    lines += [printable(f"  {violation}") for violation in record["violations"]] or ["  no violations"]
    return "\n".join(lines)
