"""The program that checks an agent against the contract (`agents.base`), in a process of its own that may crash.

When it has loaded the agent once, and after each hand, the program prints the number of hands played so far. Finally it
prints the report as a line of JSON.
"""

import json
import os
import time

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.agents.factory import make_agent
from plurispiel.agents.user_code import search_in
from plurispiel.evaluation.compliance import check_agent
from plurispiel.tournaments.contestants.process import limit_memory


def main(spec: str, game: str, num_hands: str, seconds: str, memory: str, folder: str) -> None:
    """Check an agent in random hands, and print the report. All arguments are texts, as on a command line.

    Parameters
    ----------
    spec : str
        The agent's spec, with an absolute path.
    game : str
        A preset or an OpenSpiel game string.
    num_hands : str
        Largest number of hands.
    seconds : str
        Time after which no further hand is begun; the first hand is always played.
    memory : str
        MiB that the process may allocate in addition to the memory that it holds before the agent's code is loaded.
    folder : str
        Folder that is searched for the agent's modules.
    """
    report_to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the agent's prints out of the report
    search_in(folder)
    limit_memory(int(memory))
    end = time.monotonic() + float(seconds)

    def go_on(number: int) -> bool:
        print(number, file=report_to, flush=True)
        return time.monotonic() < end

    make_agent(spec)
    go_on(0)
    report = check_agent(lambda: make_agent(spec), [parse_game(game)], num_hands=int(num_hands), on_hand=go_on)
    record = {"decisions": report.decisions, "tells_range": report.tells_range, "violations": report.violations}
    print(json.dumps(record), file=report_to, flush=True)
