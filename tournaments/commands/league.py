"""`plurispiel league`: begin a league, add and remove agents, play, and show the standings."""

import argparse
import contextlib
import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import Any

from plurispiel.abstraction.machine.files import write_atomically
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.commands.exit_codes import FAILED, FAULT_LIMIT, INTERRUPTED
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.league.config import LeagueConfig
from plurispiel.tournaments.league.folder import League, create_league, has_changed, holds_league, pairs_of
from plurispiel.tournaments.league.page import make_league_page
from plurispiel.tournaments.league.player import HANDS_PER_GROUP, LeaguePlayer, Limits
from plurispiel.tournaments.league.standings import make_standings, standings_text
from plurispiel.tournaments.run.block_player import RunAborted
from plurispiel.tournaments.run.results import aligned, printable
from plurispiel.tournaments.run.workers import WorkerFailed


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
    league = create_league(Path(options.folder), LeagueConfig(**given))
    print(f"began a league of {league.config.game} in {options.folder}")
    return 0


def _add(options: argparse.Namespace) -> int:
    folder = Path(options.folder)
    with contextlib.redirect_stdout(sys.stderr):  # an agent that prints must not write into the results
        if not holds_league(folder):
            create_league(folder, LeagueConfig())
            say(printable(f"began a league of {League(folder).config.game} in {folder}"))
        league = League(folder)
        added = [league.add(spec, _say, _say) for spec in options.agents]
    for entry, is_new in added:
        what = "added" if is_new else "is in the league already:"
        print(printable(f"{what} {entry.name}, number {entry.number}, digest {entry.digest}"))
    return 0


def _remove(options: argparse.Namespace) -> int:
    entry = League(Path(options.folder)).remove(options.agent)
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
        | {"hands": HANDS_PER_GROUP * groups[entry.number], "changed": entry.active and has_changed(entry)}
        for entry in entries
    ]
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    rows: list[tuple[str, ...]] = [("agent", "state", "number", "digest", "hands")]
    for each in found:
        state = "changed" if each["changed"] else "plays" if each["active"] else "removed"
        rows.append((printable(each["name"]), state, str(each["number"]), each["digest"], f"{each['hands']:,}"))
    print("\n".join(aligned(rows, num_texts=2)))
    return 0


def _play(options: argparse.Namespace) -> int:
    if options.hands is not None and options.hands < 1:
        raise ValueError(f"hands must be at least 1, got {options.hands}")
    if options.hours is not None and not 0.0 < options.hours < math.inf:
        raise ValueError(f"hours must be above 0, got {options.hours:g}")
    league = League(Path(options.folder))
    if len(league.active) < 2:
        raise ValueError(f"a league needs two agents or more; plurispiel league {options.folder} add AGENT adds one")
    limits = Limits(options.hands, None if options.hours is None else 3600.0 * options.hours)
    with contextlib.redirect_stdout(sys.stderr), league.playing():
        if options.fresh:
            league.forget_pairings()
        try:
            LeaguePlayer(league, limits, options.workers, _say, _say).play(progress=True)
        except KeyboardInterrupt:
            say("interrupted; all finished groups are stored. Give the same command to continue")
            return INTERRUPTED
        except (WorkerFailed, RefereeDisagrees, RunAborted) as error:
            say(printable(f"plurispiel league: {error}"))
            return FAILED
        record = make_standings(league)
    _show(record, as_json=options.json)
    return FAULT_LIMIT if any(agent["retired"] for agent in record["agents"]) else 0


def _standings(options: argparse.Namespace) -> int:
    league = League(Path(options.folder))
    record = make_standings(league)
    if options.html:
        path = Path(options.html)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, make_league_page(league, record))
        say(printable(f"wrote {path}"))
    _show(record, as_json=options.json)
    return 0


def _show(record: dict[str, Any], *, as_json: bool) -> None:
    print(json.dumps(record, indent=1, allow_nan=False) if as_json else standings_text(record))


def _say(text: str) -> None:
    say(printable(text))
