"""How many processes the agents from outside take."""

from plurispiel.abstraction.machine.memory import available_bytes
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import make_lineups

_BYTES_EACH = 60 << 20
"""Memory of a process with an agent that needs next to nothing, shared pages by their share."""


def processes_by_agent(config: TournamentConfig, conduct: Conduct) -> dict[int, int]:
    """Return how many processes each agent from outside has in all workers together."""
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
    """Return what to say of the processes before a run; nothing of a run without agents from outside."""
    counts = processes_by_agent(config, conduct)
    if not counts:
        return []
    notes = ["processes: " + ", ".join(f"{config.names[number]} {count}" for number, count in counts.items())]
    taken, free = sum(counts.values()) * _BYTES_EACH, available_bytes()
    if taken > free / 2:
        notes.append(
            f"they take some {taken / 2**30:.1f} GiB, more than half of the {free / 2**30:.1f} GiB that are free; "
            "--workers 1 takes fewer, --decks once (each rotation has a deck of its own), or, of agents that are "
            "trusted to forget decks, --processes one"
        )
    return notes
