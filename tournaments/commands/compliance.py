"""`plurispiel compliance`: test whether an agent makes faults, breaks the contract or remembers decks."""

import argparse
import contextlib
import io
import json
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from plurispiel.abstraction.holdem.openspiel import game_name, parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import game_note, make_agent, try_stored
from plurispiel.agents.pokerbots import build_pokerbot
from plurispiel.agents.specs import parse_spec, relocate_spec
from plurispiel.evaluation.compliance import ComplianceReport, check_agent
from plurispiel.evaluation.hand import AgentFault, Fault, deal_deck, play_hand
from plurispiel.tournaments.commands.exit_codes import FAILED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.contestants.family import Family
from plurispiel.tournaments.contestants.isolated import IsolatedAgent, Limits
from plurispiel.tournaments.contestants.isolation import Isolation, isolate, split_agents
from plurispiel.tournaments.contestants.line_bot import LineBot
from plurispiel.tournaments.contestants.outside_options import open_sandbox
from plurispiel.tournaments.contestants.recall import check_recall
from plurispiel.tournaments.contestants.sandbox import Sandbox
from plurispiel.tournaments.contestants.speaker import SplitAgent
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.report.answer_times import seconds_text
from plurispiel.tournaments.run.kernels import LOADING, warmup_play
from plurispiel.tournaments.run.results import printable

_OPPONENTS = ("random", "tag", "call", "raise")
_MAX_FAULTS = 20
_CONTRACT_HANDS = 1_000
_RECALL_DECKS = 40
_PARTS = 3
_COMPARED_PROGRAMS = 5
"""Number of hands that a program plays again in processes started for the hand, at least three for each hand."""

_UNSEEDED = ("acpc", "pokerbots")
"""The kinds of programs whose protocol has no seed: they cannot be asked to repeat their play."""

_MAX_HANDS = 10**9

_PATIENCE, _LEAST_PATIENCE_S = 10, 20.0
"""Time for a hand in the test of the contract: a multiple of the time limit of one answer, and at least some seconds.

A hand is played up to four times in this test, and an agent may compile code in its first hand.
"""

_LOADS = 3
"""How many times the test of the contract makes the agent anew for a hand; this time is added."""


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    rules = parse_game(options.game)
    if not 1 <= options.hands <= _MAX_HANDS:
        raise ValueError(f"hands must be 1..{_MAX_HANDS:,}, got {options.hands}")
    if not options.seconds > 0.0:
        raise ValueError(f"seconds must be above 0, got {options.seconds:g}")
    if options.seed < 0:
        raise ValueError(f"the seed must not be negative, got {options.seed}")
    limits = Limits(options.time_limit, options.memory_limit)
    if options.build:
        _build(options.spec)
    if note := game_note(options.spec, rules):
        print(printable(f"{options.spec}: {note}"), file=sys.stderr, flush=True)
    try_stored(options.spec, rules)
    if parse_spec(options.spec).is_stored:
        print(LOADING, file=sys.stderr, flush=True)
        warmup_play([options.spec], rules)
    seconds = options.seconds / _PARTS
    record: dict[str, Any] = {"agent": options.spec, "game": game_name(rules)}
    sandbox = open_sandbox(options.sandbox, network=options.agent_network, warn=say)
    record |= _play(options.spec, rules, limits, sandbox, options.hands, seconds, options.seed)
    if sum(record["faults"].values()) < _MAX_FAULTS:  # enough faults make the other parts pointless
        record |= _check_contract(options.spec, rules, limits, sandbox, seconds)
        record |= _check_recall(options.spec, rules, limits, sandbox, seconds, options.seed)
    print(json.dumps(record, indent=1) if options.json else _text(record, limits, options.hands))
    return FAILED if record["faults"] or record["violations"] else 0


def _build(spec: str) -> None:
    parsed = parse_spec(spec)
    if parsed.name != "pokerbots":
        raise ValueError(f"--build is for agents written pokerbots:FOLDER, got {spec!r}")
    build_pokerbot(parsed.argument)


def _play(
    spec: str,
    rules: HoldemRules,
    limits: Limits,
    sandbox: Sandbox | None,
    num_hands: int,
    seconds: float,
    seed: int,
) -> dict[str, Any]:
    """Return the record of hands played as in a tournament, with the agent in all seats in turn.

    Ends after `num_hands` hands, `seconds` seconds or `_MAX_FAULTS` faults.
    """
    faults: list[Fault] = []
    waits: list[float] = []
    opponents: list[Agent] = [make_agent(_OPPONENTS[k % len(_OPPONENTS)]) for k in range(rules.num_seats)]
    played = 0
    with contextlib.closing(isolate(spec, limits, sandbox=sandbox)) as contestant:
        try_to_load(contestant, rules)
        end = time.monotonic() + seconds
        for number in progress_bar(range(num_hands), unit="hand", desc="tournament", leave=False):
            seat = number % rules.num_seats
            agents = [contestant if place == seat else opponents[place] for place in range(rules.num_seats)]
            deck = deal_deck(rules, np.random.default_rng((seed, number)))
            rngs = [np.random.default_rng((seed, number, place)) for place in range(rules.num_seats)]
            hand = play_hand(rules, agents, deck, rngs)
            faults.extend(hand.faults)
            waits += [seconds for who, seconds in hand.waits if who == seat]
            played += 1
            if len(faults) >= _MAX_FAULTS or time.monotonic() > end:
                break
        fallbacks = None
        if isinstance(contestant, LineBot):
            cause = contestant.last_fallback
            fallbacks = {"answers": contestant.num_actions, "fallbacks": contestant.num_fallbacks, "last": cause}
    first = {fault.kind: fault.message for fault in reversed(faults)}
    counts = Counter(fault.kind for fault in faults)
    return {
        "hands": played,
        "faults": dict(counts),
        "first_faults": first,
        "decisions": 0,
        "tells_range": False,
        "violations": [],
        "remembers": None,
        "notes": [],
        "fallbacks": fallbacks,
        "answer_seconds": float(np.median(waits)) if waits else None,
        "answers_per_second": len(waits) / sum(waits) if waits else None,
    }


def _check_contract(
    spec: str, rules: HoldemRules, limits: Limits, sandbox: Sandbox | None, seconds: float
) -> dict[str, Any]:
    """Return the report on whether an agent keeps the contract, from a process that runs `conformance`.

    The process is ended if it does not load the agent in time, or if a hand takes too long (`_PATIENCE`). A program has
    processes of its own, and is checked by this process (`_check_program`).
    """
    if parse_spec(spec).is_program:
        return _check_program(spec, rules, limits, sandbox, seconds)
    here = Path.cwd()
    told = (relocate_spec(spec, here), game_name(rules), _CONTRACT_HANDS, seconds, limits.memory, here)
    program = ["conformance", *map(str, told)]
    report, begun = "", time.monotonic()
    heard, patience, is_loaded = begun, limits.load_seconds, False
    with (
        tempfile.TemporaryFile() as errors,
        contextlib.closing(Family(program, spec, sandbox, mebibytes=limits.memory, errors=errors)) as family,
        progress_bar(total=_CONTRACT_HANDS, unit="hand", desc="contract", leave=False) as progress,
    ):
        assert family.process.stdin is not None
        family.process.stdin.close()
        lines = io.TextIOWrapper(io.BufferedReader(cast(io.RawIOBase, family.answers)), errors="replace")
        watch = threading.Timer(patience, family.dismiss)
        watch.start()
        try:
            for report in lines:
                if not report.strip().isdecimal():
                    break
                watch.cancel()
                heard = time.monotonic()
                if is_loaded:
                    progress.update()
                else:  # the first report is of no hand
                    patience = max(_LEAST_PATIENCE_S, _PATIENCE * limits.seconds) + _LOADS * (heard - begun)
                    is_loaded = True
                watch = threading.Timer(patience, family.dismiss)
                watch.start()
            family.process.wait()
        finally:
            watch.cancel()
        errors.seek(0)
        last = (errors.read().decode(errors="replace").strip().splitlines() or ["no message"])[-1]
    with contextlib.suppress(ValueError):
        if isinstance(record := json.loads(report or "0"), dict):
            return record
    if time.monotonic() - heard >= patience:
        what = "one hand" if is_loaded else "loading"
        return {"violations": [f"the contract could not be checked: {what} took more than {patience:.0f} s"]}
    return {
        "violations": [f"the process that checked the contract ended early (exit code {family.exit_code(0)}): {last}"]
    }


def _check_program(
    spec: str, rules: HoldemRules, limits: Limits, sandbox: Sandbox | None, seconds: float
) -> dict[str, Any]:
    """Return the report on whether a program keeps the contract.

    The strategy that the program reports comes from its second process, which is never told the hole cards.
    """
    record: dict[str, Any] = {"decisions": 0, "tells_range": False, "violations": []}
    with contextlib.ExitStack() as processes:

        def start() -> SplitAgent | IsolatedAgent:
            (agent,) = split_agents(spec, Isolation(limits, sandbox))
            processes.callback(agent.close)
            return agent

        first = start()
        try:
            first.load(rules)
        except AgentFault as fault:
            return record | {"violations": [f"{fault.kind}: {fault.message}"]}
        begin = time.monotonic()
        # Starts are slow. The first half of the time has none, because many hands are needed to compare the frequencies
        # of actions with the reported strategy.
        stages = [(0, begin + seconds / 2), (_COMPARED_PROGRAMS, begin + seconds)]
        if parse_spec(spec).name in _UNSEEDED:
            stages = [(0, begin + seconds)]
        for num_compared, end in stages:
            report = _check_first(first, start, rules, num_compared, end)
            record["decisions"] += report.decisions
            record["tells_range"] |= report.tells_range
            record["violations"] += [text for text in report.violations if text not in record["violations"]]
    return record


def _check_first(
    first: SplitAgent | IsolatedAgent,
    start: Callable[[], SplitAgent | IsolatedAgent],
    rules: HoldemRules,
    num_compared: int,
    end: float,
) -> ComplianceReport:
    """Check a program that has been loaded, until `time.monotonic` reaches `end`, and return the report.

    Parameters
    ----------
    start : callable
        Starts the program once more, and returns it as an agent. In each of `num_compared` hands, one new agent is
        compared with `first`, and two more are compared with each other.
    """
    others: list[SplitAgent | IsolatedAgent] = []
    waiting = [first]  # plays all hands

    def make() -> SplitAgent | IsolatedAgent:
        if waiting:
            return waiting.pop()
        others.append(start())
        return others[-1]

    with progress_bar(total=_CONTRACT_HANDS, unit="hand", desc="contract", leave=False) as progress:

        def go_on(number: int) -> bool:
            progress.update()
            while others:
                others.pop().close()
            return time.monotonic() < end

        return check_agent(make, [rules], num_hands=_CONTRACT_HANDS, num_compared=num_compared, on_hand=go_on)


def _check_recall(
    spec: str, rules: HoldemRules, limits: Limits, sandbox: Sandbox | None, seconds: float, seed: int
) -> dict[str, Any]:
    """Return the report on whether an agent plays a deck differently once it has seen the deck.

    An agent may do so, but the report notes it.
    """
    with progress_bar(total=_RECALL_DECKS, unit="deck", desc="remembers", leave=False) as progress:
        try:
            found = check_recall(
                spec,
                rules,
                limits,
                sandbox,
                num_decks=_RECALL_DECKS,
                seconds=seconds,
                seed=seed,
                on_deck=progress.update,
            )
        except AgentFault as fault:
            return {"notes": [f"its memory of decks could not be checked: {fault.message}"]}
    notes = []
    if found.different:
        notes.append(
            "it remembers decks or other hands, or its play depends on more than rng, such as the clock: "
            f"{found.different} of {2 * found.decks} hands went differently when each rotation of a deck had its own "
            "process"
        )
    return {"remembers": found._asdict(), "notes": notes}


def _text(record: dict[str, Any], limits: Limits, wanted: int) -> str:
    lines = [
        printable(f"{record['agent']} in {record['game']}"),
        f"{record['hands']:,} hands as in a tournament, "
        f"at most {limits.seconds:g} s for an answer and {limits.memory:,} MiB:",
    ]
    if record["hands"] < wanted and sum(record["faults"].values()) < _MAX_FAULTS:
        lines[-1] = lines[-1].replace(" hands", f" of {wanted:,} hands", 1)
        lines.append("  stopped as the time was over; --seconds gives more")
    for kind, count in record["faults"].items():
        lines.append(printable(f"  {kind} ({count:,}), the first: {record['first_faults'][kind]}"))
    if not record["faults"]:
        lines.append("  no faults")
    elif sum(record["faults"].values()) >= _MAX_FAULTS:
        lines.append("  stopped after these; the contract was not checked")
        return "\n".join(lines)
    if (found := record["fallbacks"]) and found["fallbacks"]:
        which = "all" if found["fallbacks"] == found["answers"] else f"{found['fallbacks']:,} of"
        lines.append(printable(f"  {which} {found['answers']:,} answers were fallbacks, the last for: {found['last']}"))
    if record["answer_seconds"] is not None:
        rate = f"{record['answers_per_second']:,.0f} answers a second"
        lines.append(f"  {rate}, the median time of an answer is {seconds_text(record['answer_seconds'])}")
    tells = "reports" if record["tells_range"] else "does not report"
    lines.append(f"the contract, {record['decisions']:,} decisions; the agent {tells} its strategy for every hand:")
    lines += [printable(f"  {violation}") for violation in record["violations"]] or ["  no violations"]
    if record["remembers"]:
        decks = record["remembers"]["decks"]
        lines.append(f"{decks} decks in two rotations, played by one process and by a process for each rotation:")
        lines += ["  played the same"] * (not record["notes"])
    return "\n".join(lines + [printable(f"  note: {note}") for note in record["notes"]])
