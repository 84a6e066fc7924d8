"""Progress: a bar where somebody watches, and lines now and then where nobody does."""

import io
import sys

import pytest

from plurispiel.abstraction.machine import progress
from plurispiel.abstraction.machine.progress import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Let time go on by what a test says."""
    now = [1_000.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


def shown(monkeypatch, stream, wait, **options):
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(total=200, unit="hand", **options) as bar:
        for _ in range(100):
            wait(1.0)
            bar.set_postfix_str("tag +12 ± 3", refresh=False)
            bar.update()
    return stream.getvalue()


def test_a_file_gets_a_plain_line_every_thirty_seconds(monkeypatch, clock):
    text = shown(monkeypatch, io.StringIO(), clock)
    assert "\r" not in text and "\x1b" not in text
    lines = text.splitlines()
    assert len(lines) == 100 // progress.LINE_SECONDS + 1  # and the last one
    assert "30/200" in lines[0] and "15%" in lines[0] and "tag +12 ± 3" in lines[0]
    assert "100/200" in lines[-1]


def test_what_is_over_soon_leaves_no_line(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for _ in progress_bar(range(20), unit="hand"):
        clock(1.0)
    assert sys.stderr.getvalue() == ""


def test_what_is_not_to_be_left_leaves_no_last_line(monkeypatch, clock):
    assert len(shown(monkeypatch, io.StringIO(), clock, leave=False).splitlines()) == 3


def test_steps_are_lines_too(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    for _ in progress_bar(range(200), unit="hand", desc="contract", leave=False):
        clock(1.0)
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) == 6 and all(line.startswith("contract: ") for line in lines)


def test_a_terminal_gets_a_bar(monkeypatch, clock):
    text = shown(monkeypatch, Terminal(), clock)
    assert text.count("\r") > 90 and "#####" in text


def test_a_closed_stream_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with progress_bar(total=2) as bar:
        bar.update()
