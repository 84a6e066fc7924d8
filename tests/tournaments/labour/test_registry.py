"""Files that clients send to the scheduler; without a scheduler."""

import asyncio
import hashlib

import pytest

pytest.importorskip("distributed")
registry = pytest.importorskip("plurispiel.tournaments.labour.registry")

FIRST, SECOND = "0" * 32, "1" * 32


def test_two_clients_that_send_the_same_file_do_not_spoil_it(tmp_path):
    found = registry._Registry(tmp_path, {}, False)
    digest = hashlib.sha256(b"abcd").hexdigest()

    async def send():
        await found._store(digest, FIRST, 0, b"ab", False)
        await found._store(digest, SECOND, 0, b"a", False)
        await found._store(digest, FIRST, 2, b"cd", True)
        assert await found._missing([digest]) == []
        await found._store(digest, SECOND, 1, b"bcd", True)
        assert await found._piece(digest, 0) == b"abcd"

    asyncio.run(send())
    assert [path.name for path in tmp_path.iterdir()] == [digest]


def test_a_file_that_changed_on_its_way_is_refused(tmp_path):
    found = registry._Registry(tmp_path, {}, False)
    digest = hashlib.sha256(b"abcd").hexdigest()
    with pytest.raises(ValueError, match="changed while it was sent"):
        asyncio.run(found._store(digest, FIRST, 0, b"abcx", True))
    with pytest.raises(ValueError, match="not a valid name of an upload"):
        asyncio.run(found._store(digest, "../x", 0, b"abcd", True))
    assert not list(tmp_path.iterdir())
