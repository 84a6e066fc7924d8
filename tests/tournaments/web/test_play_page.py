"""Lobby and table in a browser: by keyboard alone, in two tabs, after a reload, and when the server has ended."""

import contextlib
import json
import os
import random
import subprocess
import sys
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from browser import Browser, find_browser  # noqa: E402
from browser_table import sit_down  # noqa: E402
from page_checks import PALE  # noqa: E402
from web_server import RawClient, served  # noqa: E402

from plurispiel.evaluation.replay import replay_betting, replay_hand  # noqa: E402
from plurispiel.tournaments.formats.files import read_hands  # noqa: E402
from plurispiel.tournaments.play.table_view import Follower  # noqa: E402
from plurispiel.tournaments.web.history import FILE, PlayStore  # noqa: E402
from plurispiel.tournaments.web.play_pages import PlayPages  # noqa: E402

KEYS = [
    *([["c"]] * 3),
    ["2", "ArrowUp", "ArrowRight", "Enter"],
    ["r", "Enter"],
    ["r", *"1999999", "ArrowDown", "Enter"],  # a typed amount that no seat has is brought to a legal one
    ["1", "ArrowDown", "Enter"],
    ["3", "Enter"],
]
TABLE = "document.querySelector('.play-table').dataset"


@pytest.fixture
def browser(tmp_path):
    program = find_browser()
    if not program:
        pytest.skip("there is no Chromium")
    browser = Browser(program, tmp_path / "profile")
    yield browser
    browser.close()


@pytest.fixture
def server(tmp_path):
    with served(tmp_path / "runs", PlayPages(tmp_path)) as server:
        yield server


def sit(browser, address, game="holdem", agents=("call",), **changed):
    """Enter, and sit down by keyboard with choices that the lobby remembers."""
    browser.open(address)
    browser.wait_for("document.querySelector('section h2') !== null")
    wish = {name: list(v) if isinstance(v, tuple) else v for name, v in vars(sit_down(game, agents, **changed)).items()}
    browser.evaluate(f"localStorage.setItem('plurispiel-lobby', {json.dumps(json.dumps(wish))})")
    browser.evaluate("location.hash = '#play'")
    browser.wait_for("document.querySelector('.choices-form') !== null")
    if changed.get("seed"):
        browser.evaluate(f"document.querySelector('[placeholder=secret]').value = '{changed['seed']}'")
    for _ in range(30):
        if browser.evaluate("document.activeElement.textContent") == "Sit down":
            break
        browser.press("Tab")
    browser.press("Enter")
    browser.wait_for("document.querySelector('.felt') !== null")
    browser.wait_for(f"{TABLE}.wants")


def play_by_keys(browser, rng):
    """Play the hand by random keys until it is over."""
    while browser.evaluate(f"{TABLE}.wants") == "act":
        number = browser.evaluate(f"{TABLE}.number")
        can_fold, can_raise = (
            not browser.evaluate(f"document.querySelector('.moves button:nth-child({k})').disabled") for k in (1, 3)
        )
        keys = rng.choice([["f"] if can_fold else ["f", "c"], *KEYS])
        if "Enter" in keys and not can_raise:
            keys = ["c"]
        for key in keys:
            browser.press(key)
        browser.wait_for(f"{TABLE}.number > {number} && {TABLE}.wants")


def shown_hand(browser):
    """Return the actions and the payoffs on the page of a hand that is over."""
    actions = browser.evaluate("[...document.querySelectorAll('.log li')].map((li) => li.lastChild.textContent.trim())")
    chips = browser.evaluate("[...document.querySelectorAll('.log td:last-child')].map((td) => td.textContent)")
    return actions, [float(text.replace("−", "-").replace("±", "").replace(",", "")) for text in chips]


@pytest.mark.parametrize("num_hands", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_hands_played_by_keyboard_alone_are_those_that_are_stored_and_replayed(tmp_path, server, browser, num_hands):
    sit(browser, server.address, seed="7")
    rng, shown = random.Random(3), []
    for number in range(1, num_hands + 1):
        play_by_keys(browser, rng)
        shown.append(shown_hand(browser))
        if number < num_hands:
            browser.press("Enter")
            browser.wait_for(f"{TABLE}.wants && !document.querySelector('.log table')")
    with contextlib.closing(PlayStore(tmp_path / FILE)) as store:
        name, text = store.export(1)
        assert [hand.kept.number for hand in store.hands(1)] == list(range(1, num_hands + 1))
    (tmp_path / name).write_text(text)
    kept = list(read_hands(tmp_path / name))
    for (actions, payoffs), history in zip(shown, kept, strict=True):
        betting = replay_betting(history.rules, history.actions)
        hand = replay_hand(betting, history.hole_cards, history.board)
        follower, words = Follower(history.rules), []
        for action in hand.actions:
            follower.begin_street(action.street)
            words.append(follower.take(action.action))
        assert actions == words and payoffs == list(hand.payoffs) == list(history.payoffs)
    assert not browser.messages
    assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in browser.requests if url != "about:blank")


def test_a_reload_loses_nothing_and_a_second_tab_cannot_act_twice(server, browser):
    sit(browser, server.address, seed="1")
    browser.press("c")
    browser.wait_for(f"{TABLE}.wants === 'act' && {TABLE}.number === '2'")
    spoken = "document.querySelector('.unseen').textContent"
    before = browser.evaluate(spoken)
    browser.open(browser.evaluate("location.origin") + "/")
    browser.evaluate("location.hash = '#table=1'")
    browser.wait_for("document.querySelector('.felt') !== null")
    assert browser.evaluate(spoken) == before and " of " in before
    other = RawClient(server)
    other.key = browser.evaluate("localStorage.getItem('plurispiel-key')")
    with other.open_socket(path="/table") as tab:
        tab.send(json.dumps({"session": 1}))
        tab.send(json.dumps({"type": "act", "number": 2, "action": "c"}))
        browser.wait_for(f"{TABLE}.number === '3'")
        tab.send(json.dumps({"type": "act", "number": 2, "action": "c"}))
        while (said := json.loads(tab.recv(timeout=20)))["type"] != "error":
            pass
        assert "decided already" in said["text"]
    assert browser.evaluate(f"{TABLE}.number") == "3"


def check_page(browser, widths=(320, 390, 800, 1280, 2560)):
    """Check that the page fits all widths, that all controls have names, and the contrast of all texts."""
    for width in widths:
        browser.resize(width, 900)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    controls = browser.controls()
    assert controls and all(name.strip() for _, name in controls), controls
    for dress in ("light", "dark"):
        browser.dress(dress)
        assert browser.evaluate(PALE) == []
    return controls


def test_lobby_and_table_have_names_contrast_and_room(server, browser):
    sit(browser, server.address, "LEDUC", ("tag",), assist="advice", adviser="tag")
    browser.wait_for("document.querySelector('.help .range') !== null || document.querySelector('.help').hidden")
    found = check_page(browser)
    assert {("button", "Leave the table"), ("combobox", "Help"), ("combobox", "Pace")} <= set(found)
    browser.press("?")
    browser.wait_for("document.querySelector('dialog').open")
    assert ("dialog", "Keys") in browser.controls()
    browser.press("Escape")
    browser.wait_for("!document.querySelector('dialog').open")
    play_by_keys(browser, random.Random(1))
    browser.evaluate("document.querySelector('.review details').open = true")
    browser.wait_for("document.querySelector('.review .viewer-bar') !== null")
    check_page(browser)
    browser.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Leave').click()")
    browser.wait_for("document.querySelector('.choices-form') !== null")
    found = check_page(browser)
    assert ("button", "Export the hands of session 1") in found and ("combobox", "Game") in found
    browser.evaluate("document.querySelector('[aria-label^=Continue]').click()")
    browser.wait_for(f"document.querySelector('.felt') !== null && {TABLE}.wants")
    assert browser.evaluate("document.querySelector('.luck').textContent").count("1 hand,") == 1
    assert not browser.messages


def test_a_killed_server_is_said_within_three_seconds(tmp_path, browser):
    command = [sys.executable, "-m", "plurispiel", "web", "--no-open"]
    environment = os.environ | {"PLURISPIEL_HOME": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, **pipes, env=environment) as process:
        try:
            sit(browser, process.stdout.readline().strip(), "LEDUC")
        finally:
            process.kill()
        killed = time.monotonic()
        browser.wait_for("document.querySelector('.turn').textContent.includes('this hand does not count')")
        assert time.monotonic() - killed < 3.0
    assert browser.evaluate("document.getElementById('notice').textContent").startswith("The server does not answer")
    assert browser.evaluate("[...document.querySelectorAll('.moves button')].every((button) => button.disabled)")
