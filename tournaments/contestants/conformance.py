"""The program that checks an agent against the contract, in a process that may be lost."""

import json
import os
import sys

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.agents.specs import make_agent
from plurispiel.evaluation.compliance import check_agent
from plurispiel.tournaments.contestants.process import die_with, limit_memory


def main(spec: str, game: str, num_hands: str, memory: str) -> None:
    """Print the report as JSON."""
    die_with(os.getppid())
    report_to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the agent prints is no report
    limit_memory(int(memory))
    report = check_agent(lambda: make_agent(spec), [parse_game(game)], num_hands=int(num_hands))
    record = {"decisions": report.decisions, "tells_range": report.tells_range, "violations": report.violations}
    report_to.write(json.dumps(record))
    report_to.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
