"""The conditions for a run's work on another machine: equal agents and bucket tables, and a sandbox."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from plurispiel.abstraction.cards.buckets import load_table
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.config import AbstractionConfig
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.artefact import ArtefactRefused, holds_artefact
from plurispiel.abstraction.machine.folders import alone_in, tables_folder
from plurispiel.agents.blueprint.blueprint import missing_table, missing_table_config
from plurispiel.agents.blueprint.library import find_blueprint, pick_bundled
from plurispiel.agents.specs import parse_spec
from plurispiel.tournaments.contestants.isolated import IsolatedAgent
from plurispiel.tournaments.contestants.sandbox import Sandbox, working_sandbox
from plurispiel.tournaments.contestants.trial import try_to_load
from plurispiel.tournaments.labour.travel import Outsiders, Site, moved_spec
from plurispiel.tournaments.run.kernels import CARDS, warmup

__all__ = ["Departure", "is_fickle", "missing_tables", "moved_sandbox", "outsiders_in", "try_here"]


class Departure(NamedTuple):
    """Facts about a run's own machine, its agents and bucket tables, which another machine must match.

    Attributes
    ----------
    digest : str
        The digest of the settings on the run's machine. It covers the agents' files.
    missing : mapping of str to str
        The result of `missing_tables` on the run's machine.
    """

    digest: str
    missing: Mapping[str, str]

    def check(self, digest: str, rules: HoldemRules, site: Site) -> None:
        """Copy or build the tables that are missing here, and refuse this machine if agents, values or tables differ.

        Parameters
        ----------
        digest : str
            The digest of the settings here.

        Raises
        ------
        ValueError
            If agents, values or bucket tables differ.
        """
        missing = {moved_spec(spec, site): name for spec, name in self.missing.items()}
        provide_tables(missing, rules, site.artefacts)
        if digest != self.digest:
            raise ValueError("the agents or the values of the run differ on this machine")


def missing_tables(specs: Sequence[str], rules: HoldemRules) -> dict[str, str]:
    """Return, by spec, the name of the bucket table that the spec's blueprint lacks on this machine; "" if none.

    Specs without a blueprint are left out.
    """
    folders = {spec: _blueprint_of(spec, rules) for spec in dict.fromkeys(filter(None, specs))}
    return {spec: missing_table(folder) for spec, folder in folders.items() if folder is not None}


def provide_tables(missing: Mapping[str, str], rules: HoldemRules, artefacts: Path | None = None) -> None:
    """Copy or build the bucket tables that the machine of the run has and this machine lacks.

    Parameters
    ----------
    missing : mapping
        The result of `missing_tables` on the machine of the run, with the specs as they are here.
    artefacts : Path, optional
        A folder with bucket tables, each in a subfolder of its name; by default all are built.

    Raises
    ------
    ValueError
        If a table is here that the machine of the run lacks, because agents would play differently. Also if another
        table has the name of a missing one.
    """
    for spec, there in missing.items():
        folder = _blueprint_of(spec, rules)
        if folder is None:
            continue
        with alone_in(tables_folder() / ".building"):  # the processes of a machine build one after another
            config = missing_table_config(folder)
            if config is not None and not there:
                place = tables_folder() / config.name
                if artefacts is None or not _copied(artefacts / config.name, config, place):
                    warmup(CARDS)
                    build_table(config, place)
        here = missing_table(folder)
        if here != there:
            raise ValueError(
                f"{spec} plays without the bucket table {there} on the machine of the run, and with it on this one; "
                f"build it there: plurispiel abstraction build {there}"
                if there
                else f"{spec} needs the bucket table {here}, and {tables_folder() / here} holds another of that name"
            )


def _copied(source: Path, config: AbstractionConfig, place: Path) -> bool:
    """Copy a bucket table if it is undamaged and has the wanted configuration; return whether it was copied.

    No other table in the place is overwritten.
    """
    if holds_artefact(place):
        return False
    try:
        table = load_table(source)
    except ArtefactRefused:
        return False
    if table.model.config != config:
        return False
    table.save(place)
    return True


def outsiders_in(sandbox: Sandbox | None, seconds: float) -> Outsiders:
    """Return how agents in processes of their own play.

    Parameters
    ----------
    sandbox : Sandbox or None
        The agents' sandbox; None if they play without a sandbox.
    seconds : float
        See `Outsiders`.
    """
    return Outsiders(sandbox is not None, sandbox is None or sandbox.network, seconds)


def moved_sandbox(sandbox: Sandbox | None, site: Site) -> Sandbox | None:
    """Return a sandbox of this machine that hides the same files as the given one, and also the site's own files.

    Raises
    ------
    ValueError
        If a sandbox is needed and does not work.
    """
    if sandbox is None:
        return None
    here = working_sandbox("bwrap", network=sandbox.network)
    assert here is not None
    return here.hiding(*map(Path, sandbox.hidden), *site.hidden)


def try_here(contestant: IsolatedAgent, rules: HoldemRules) -> None:
    """Load an agent once: modules that it imports may be missing on this machine.

    Raises
    ------
    ValueError
        If it does not load.
    """
    with closing(contestant):
        try:
            try_to_load(contestant, rules)
        except ValueError as error:
            raise ValueError(f"{error} (--ship FOLDER sends what an agent's file imports)") from None


def is_fickle(spec: str) -> bool:
    """Return whether an agent is from outside or has the option ``time``: it may play differently elsewhere."""
    parsed = parse_spec(spec)
    return parsed.is_foreign or "time" in dict(parsed.options)


def _blueprint_of(spec: str, rules: HoldemRules) -> Path | None:
    parsed = parse_spec(spec)
    if not parsed.has_blueprint:
        return None
    return find_blueprint(parsed.argument or str(pick_bundled(rules).path))
