"""`plurispiel league`: begin a league, add and remove agents, play, and show the standings."""

import argparse
import contextlib
import dataclasses
import json
import sys
from pathlib import Path

from plurispiel.abstraction.machine.files import require_writable, write_atomically
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.api.league import (
    add_to_league,
    create_league,
    league_standings,
    play_league,
    remove_from_league,
)
from plurispiel.tournaments.api.league_result import LeagueResult
from plurispiel.tournaments.commands.connection import labour_of
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.labour.work import WorkerFailed
from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.entries import change_of
from plurispiel.tournaments.league.folder import League, pairs_of
from plurispiel.tournaments.league.page import make_league_page
from plurispiel.tournaments.league.player import HANDS_PER_GROUP
from plurispiel.tournaments.report.document import PAGE_BEGIN
from plurispiel.tournaments.run.block_player import RunAborted
from plurispiel.tournaments.run.results import BELIEVED, aligned, printable


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    actions = {
        "create": _create,
        "add": _add,
        "remove": _remove,
        "list": _list,
        "play": _play,
        "standings": _standings,
    }
    if options.action is None:
        raise ValueError(f"give an action: {', '.join(actions)} (plurispiel league --help tells more)")
    return actions[options.action](options)


def _create(options: argparse.Namespace) -> int:
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(LeagueConfig)
        if hasattr(options, field.name)
    }
    create_league(options.folder, **given)
    print(f"began a league of {League(Path(options.folder)).config.game} in {options.folder}")
    return 0


def _add(options: argparse.Namespace) -> int:
    for agent in options.agents or [None]:  # one at a time: if one is refused, those before it are told of
        with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
            added = add_to_league(
                options.folder, None if agent is None else [agent], believe=options.believe, progress=True
            )
        for entry, is_new in added:
            what = "added" if is_new else "is in the league already:"
            print(printable(f"{what} {entry.name}, number {entry.number}, digest {entry.digest}"))
        if not added:
            print("no agent has changed")
    return 0


def _remove(options: argparse.Namespace) -> int:
    entry = remove_from_league(options.folder, options.agent)
    print(printable(f"removed {entry.name}; its results count again if it is added again"))
    return 0


def _list(options: argparse.Namespace) -> int:
    league = League(Path(options.folder))
    entries = league.entries
    groups = dict.fromkeys((entry.number for entry in entries), 0)
    for first, second in pairs_of(entries):
        if pairing := league.pairing(first, second):
            groups[first.number] += pairing.groups
            groups[second.number] += pairing.groups
    found = [
        dataclasses.asdict(entry)
        | {"hands": HANDS_PER_GROUP * groups[entry.number], "change": change_of(entry) or None}
        for entry in entries
    ]
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    rows: list[tuple[str, ...]] = [("agent", "state", "number", "digest", "hands")]
    states = {None: "plays", "file": "changed", "code": "older code"}
    for each in found:
        name = printable(each["name"]) + BELIEVED * each["believe"]
        state = states[each["change"]] if each["active"] else "removed"
        rows.append((name, state, str(each["number"]), each["digest"], f"{each['hands']:,}"))
    print("\n".join(aligned(rows, num_texts=2)))
    return 0


def _play(options: argparse.Namespace) -> int:
    try:
        with contextlib.redirect_stdout(sys.stderr), labour_of(options) as labour:
            result = play_league(
                options.folder,
                hands=options.hands,
                hours=options.hours,
                workers=options.workers,
                fresh=options.fresh,
                progress=True,
                labour=labour,
            )
    except KeyboardInterrupt:
        say("interrupted; all finished groups are stored. Give the same command to continue")
        return INTERRUPTED
    except (WorkerFailed, RefereeDisagrees, RunAborted) as error:
        say(printable(f"plurispiel league: {error}"))
        return FAILED
    _show(result, as_json=options.json)
    return FAULT_LIMIT if any(agent["retired"] for agent in result.record["agents"]) else 0


def _standings(options: argparse.Namespace) -> int:
    result = league_standings(options.folder)
    if options.html:
        path = Path(options.html)
        path.parent.mkdir(parents=True, exist_ok=True)
        require_writable(path, "give another file (--html)", (PAGE_BEGIN,))
        write_atomically(path, make_league_page(League(result.folder), result.record))
        say(printable(f"wrote {path}"))
    _show(result, as_json=options.json)
    return 0


def _show(result: LeagueResult, *, as_json: bool) -> None:
    print(json.dumps(result.record, indent=1, allow_nan=False) if as_json else result)
