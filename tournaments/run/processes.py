"""The number of processes of outside agents, and the memory of these processes."""

from collections.abc import Mapping

from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import make_lineups

_BYTES_EACH = 60 << 20
"""Memory of a process with a minimal agent, in bytes; a page shared by n processes counts as 1/n of a page."""


def processes_by_agent(config: TournamentConfig, conduct: Conduct) -> dict[int, int]:
    """Return the largest number of processes that each outside agent has in all workers together, by agent number."""
    lineups = make_lineups(config)
    rotations = config.seats if conduct.processes == "rotation" else 1
    found = {}
    for number in sorted(config.outsiders):
        seats = max(lineup.count(number) for lineup in lineups)
        if config.controlled is not None and number == 0:
            seats += config.seats  # the Control's table
        speakers = seats if number in config.believed else 0
        found[number] = conduct.workers * (seats * rotations + speakers)
    return found


def process_notes(config: TournamentConfig, conduct: Conduct) -> list[str]:
    """Return messages about processes for the user, to be printed before a run; none without outside agents."""
    counts = processes_by_agent(config, conduct)
    return count_notes({config.names[number]: count for number, count in counts.items()}, "--decks once")


def count_notes(counts: Mapping[str, int], once: str) -> list[str]:
    """Return messages about numbers of processes for the user, to be printed before a run.

    Parameters
    ----------
    counts : mapping
        The number of processes of each outside agent, by its name.
    once : str
        The option that deals each rotation its own deck.
    """
    if not counts:
        return []
    notes = ["processes: " + ", ".join(f"{name} {count}" for name, count in counts.items())]
    taken, free = sum(counts.values()) * _BYTES_EACH, available_bytes()
    if taken > free / 2:
        notes.append(
            f"these processes take some {taken / 2**30:.1f} GiB, more than half of the {free / 2**30:.1f} GiB that are "
            f"free; run fewer processes by --workers 1, by {once} (each hand has its own deck) or, for agents "
            "trusted to forget decks, by --processes one"
        )
    return notes
