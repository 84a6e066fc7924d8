"""A server of the pages in a thread, and a client that sends what no browser would."""

import contextlib
import http.client
import json
import socket
import threading
import time

from websockets.sync.client import connect

from plurispiel.tournaments.web.server import WebServer


@contextlib.contextmanager
def served(folder, play=None):
    """Serve a folder of runs, and lobby and tables."""
    server = WebServer(folder, play=play)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield server
    finally:
        server.server.should_exit = True
        thread.join(10)
        assert not thread.is_alive()


class RawClient:
    """Sends requests as they are given; of the page's own it has the host, the origin and the key."""

    def __init__(self, server):
        self.port = server.port
        self.host = f"127.0.0.1:{server.port}"
        self.origin = f"http://{self.host}"
        self.token = server.address.partition("#token=")[2]
        self.key = None

    def enter(self):
        status, _, body = self.post("/api/enter", {"token": self.token}, key=None)
        assert status == 200
        self.key = json.loads(body)["key"]
        return self

    def headers(self, **changed):
        """Return the headers of the page, some of which are changed; None leaves one out."""
        usual = {"Host": self.host, "Origin": self.origin, "Sec-Fetch-Site": "same-origin"}
        given = usual | {"X-Plurispiel-Key": self.key}
        names = {"key": "X-Plurispiel-Key", "site": "Sec-Fetch-Site"}
        given |= {names.get(name, name.capitalize()): value for name, value in changed.items()}
        return {name: value for name, value in given.items() if value is not None}

    def send(self, method, path, body=b"", **changed):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers(**changed).items():
                connection.putheader(name, value)
            if body:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()

    def get(self, path, **changed):
        return self.send("GET", path, **changed)

    def post(self, path, message, **changed):
        return self.send(
            "POST", path, message if isinstance(message, bytes) else json.dumps(message).encode(), **changed
        )

    def raw(self, data):
        """Send bytes, and return the first line of what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as stream:
            stream.sendall(data)
            return stream.makefile("rb").readline()

    @contextlib.contextmanager
    def open_socket(self, *, path="/watch", origin="own", key="own", **changed):
        """Open a WebSocket and say the key; ``origin`` and ``key`` may be others, or None."""
        headers = {"Sec-Fetch-Site": "same-origin"} | changed
        opened = connect(
            f"ws://{self.host}{path}",
            origin=self.origin if origin == "own" else origin,
            additional_headers=headers,
            compression=None,
            ping_interval=None,  # a client that does not read would not see the pongs
            proxy=None,
        )
        with opened as socket:
            if key is not None:
                socket.send(json.dumps({"key": self.key if key == "own" else key}))
            yield socket
