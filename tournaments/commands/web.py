"""`plurispiel web`: serve pages for a browser on this machine; no other machine can reach the pages."""

import argparse
import contextlib
from pathlib import Path

from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.agents.specs import split_specs
from plurispiel.tournaments.commands.messages import say
from plurispiel.tournaments.contestants.isolation import measured_agents
from plurispiel.tournaments.contestants.outside_options import OutsideOptions
from plurispiel.tournaments.run.known_runs import runs_folder


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    try:
        from plurispiel.tournaments.web.play_pages import PlayPages
        from plurispiel.tournaments.web.server import WebServer, browser_opened
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "websockets"):
            raise
        raise ValueError(f'{error.name} is not installed; pip install "plurispiel[web]" brings it') from None
    folder = Path(options.folder) if options.folder else runs_folder()
    if options.folder and not folder.is_dir():
        raise ValueError(f"{folder} is no folder; give the folder that holds the run folders")
    if not 0 <= options.port < 1 << 16:
        raise ValueError(f"a port is 0 to 65535, got {options.port}")
    agents = [spec for text in options.agents or () for spec in split_specs(text)]
    outside = OutsideOptions.chosen(options)
    isolation = outside.isolation(agents, say)
    for spec in agents:
        with measured_agents(spec, isolation):  # shows that the agent exists and loads
            pass
    server = WebServer(folder, options.port, PlayPages(user_data_folder(), agents, outside), say)
    print(server.address, flush=True)
    say("this address works once; Ctrl-C ends the server; the advisers for hands are loading in the background")
    with contextlib.nullcontext() if options.no_open else browser_opened(server.address):
        server.run()
    return 0
