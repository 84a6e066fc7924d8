"""`plurispiel web`: pages in the browser, on this machine alone."""

import argparse
import contextlib
import sys
from pathlib import Path

from plurispiel.tournaments.run.known_runs import runs_folder


def main(options: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    try:
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
    server = WebServer(folder, options.port)
    print(server.address, flush=True)
    print("this address works once; Ctrl-C ends the server", file=sys.stderr)
    with contextlib.nullcontext() if options.no_open else browser_opened(server.address):
        server.run()
    return 0
