"""A spot desk of the explorer, opened over HTTP as the page does it."""

import contextlib
import json
import time


class DeskClient:
    """Asks a desk, and hears its events."""

    def __init__(self, client, socket):
        self._client, self._socket = client, socket
        socket.send("{}")
        self.name = self.hear("desk")["desk"]

    def ask(self, request, status=200, **fields):
        """Return the answer to a request, which must have a status."""
        found, _, body = self._client.post(f"/api/spot/{request}", {"desk": self.name, **fields})
        assert found == status, body
        return json.loads(body)

    def hear(self, kind, patience=300):
        """Return the next event of a kind; no event may say that something failed."""
        limit = time.monotonic() + patience
        while (event := json.loads(self._socket.recv(timeout=patience)))["type"] != kind:
            assert event["type"] not in ("failed", "lost"), event
            assert time.monotonic() < limit
        return event


@contextlib.contextmanager
def opened_desk(client):
    with client.open_socket(path="/desk") as socket:
        yield DeskClient(client, socket)
