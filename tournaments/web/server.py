"""The web server: its socket on 127.0.0.1, the address to enter by, and the browser that opens the address."""

import contextlib
import os
import secrets
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from plurispiel.abstraction.machine.folders import user_data_folder
from plurispiel.tournaments.web.app import ENTRANCE, Pages, make_app
from plurispiel.tournaments.web.messages import MAX_FRAME
from plurispiel.tournaments.web.play_pages import PlayPages

_LOOPBACK = "127.0.0.1"


class WebServer:
    """A server of the pages, on 127.0.0.1 and nowhere else.

    Parameters
    ----------
    folder : Path
        The folder of the runs.
    port : int
        The port; 0 chooses a free one.
    play : PlayPages, optional
        Lobby and tables. By default, no agents from outside are listed, and played hands are kept in the user's data
        folder.
    say : callable, optional
        As in `Pages`.

    Raises
    ------
    OSError
        If the port cannot be used.

    Attributes
    ----------
    port : int
        The port.
    address : str
        The address that lets one browser in; it works once. Its token is a fragment, which browsers do not send.
    pages : Pages
        The handlers of the pages' requests.
    server : uvicorn.Server
        The server that `run` runs.
    """

    def __init__(
        self,
        folder: Path,
        port: int = 0,
        play: PlayPages | None = None,
        say: Callable[[str], None] | None = None,
    ):
        self._socket = socket.create_server((_LOOPBACK, port))
        self.port = self._socket.getsockname()[1]
        key = secrets.token_urlsafe(32)
        self.pages = Pages(folder, key, say)
        self.address = f"http://{_LOOPBACK}:{self.port}{ENTRANCE}#token={self.pages.token}"
        config = uvicorn.Config(
            make_app(self.pages, play or PlayPages(user_data_folder()), self.port, key),
            ws="websockets-sansio",
            ws_max_size=MAX_FRAME,
            http="h11",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=100,
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until a signal ends the server."""
        with self._socket:
            self.server.run(sockets=[self._socket])


@contextlib.contextmanager
def browser_opened(address: str) -> Iterator[Path]:
    """Open the browser on a file of mode 0600 that leads to the address, and remove the file at the end.

    Arguments of programs can be read by all users of a machine, so the address with its token is not passed as one.
    """
    with tempfile.TemporaryDirectory(prefix="plurispiel-") as folder:  # its mode is 0700
        path = Path(folder) / "enter.html"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as stream:
            stream.write(
                '<!DOCTYPE html><meta charset="utf-8"><title>plurispiel</title>'
                f'<meta http-equiv="refresh" content="0;url={address}"><p><a href="{address}">plurispiel</a></p>\n'
            )
        threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
        yield path
