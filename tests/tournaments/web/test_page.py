"""The pages in a browser, and what their server sends to them."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from browser import Browser, find_browser  # noqa: E402
from page_checks import FORBIDDEN, PALE  # noqa: E402
from phh_text import THREE  # noqa: E402
from played_run import play  # noqa: E402
from web_server import RawClient, served  # noqa: E402

import plurispiel.tournaments.web.app as app  # noqa: E402

STATIC = Path(app.__file__).parent / "static"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    play(folder / "a <b>run</b>", agents=("tag", "call", "random"), seats=2, decks=40)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with served(folder) as server:
        yield server


@pytest.fixture
def server_of_none(tmp_path):
    with served(tmp_path / "runs") as server:
        yield server


@pytest.fixture
def browser(tmp_path):
    program = find_browser()
    if not program:
        pytest.skip("there is no Chromium")
    browser = Browser(program, tmp_path / "profile")
    yield browser
    browser.close()


def test_texts_enter_the_page_as_text_only():
    for path in STATIC.glob("*.js"):
        assert not FORBIDDEN.search(path.read_text())


def test_all_files_are_served_and_small(tmp_path):
    with served(tmp_path) as server:
        client = RawClient(server)
        names = {path.name for path in STATIC.iterdir()}
        paths = {path.name for path, _ in app._FILES.values()}
        assert names <= paths
        sizes = [len(client.get(path, key=None)[2]) for path in app._FILES]
        assert min(sizes) > 100 and sum(sizes) < 250_000


def test_a_run_is_watched_and_reported(folder, tmp_path):
    with served(folder) as server:
        client = RawClient(server).enter()
        name = json.loads(client.get("/api/runs")[2])["runs"][0]["name"]
        with client.open_socket() as socket:
            socket.send(json.dumps({"run": name}))
            assert json.loads(socket.recv(timeout=20))["hands"] == 240
            assert json.loads(socket.recv(timeout=20)) == {"type": "alive"}
            play(folder / "a <b>run</b>", agents=("tag", "call", "random"), seats=2, decks=48)
            while (said := json.loads(socket.recv(timeout=20)))["type"] == "alive" or said["hands"] == 240:
                pass
            assert said["hands"] > 240
            (folder / "a <b>run</b>" / "logs").mkdir(exist_ok=True)
            (folder / "a <b>run</b>" / "logs" / "bot.txt").write_text("it is my turn\n")
            while json.loads(socket.recv(timeout=20)).get("log") != ["it is my turn"]:  # without a new group
                pass
        status, _, body = client.post("/api/report", {"run": name})
        assert status == 200 and Path(json.loads(body)["report"]).read_text(encoding="utf-8").startswith("<!DOCTYPE")


def test_a_browser_enters_once_and_shows_a_run(server, browser):
    browser.open(server.address)
    browser.wait_for("document.querySelector('section a') !== null")
    assert browser.evaluate("location.href") == f"http://127.0.0.1:{server.port}/"
    assert browser.evaluate("document.querySelector('section a').textContent") == "a <b>run</b>"
    browser.evaluate("document.querySelector('section a').click()")
    browser.wait_for("document.querySelectorAll('.curves svg').length === 3")
    assert browser.evaluate("document.querySelectorAll('main tbody tr').length") == 3
    for width in (320, 390, 800, 1280):
        browser.resize(width, 900)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert browser.evaluate("[...document.querySelectorAll('a, button')].every((node) => node.textContent.trim())")
    for dress in ("light", "dark"):
        browser.dress(dress)
        assert browser.evaluate(PALE) == []
    browser.evaluate("[...document.querySelectorAll('button')].find((b) => b.textContent === 'Show hands').click()")
    browser.wait_for("document.querySelectorAll('.range .cell').length === 169")
    assert browser.evaluate("document.querySelectorAll('.viewer-bar option').length") == 12
    browser.press("ArrowRight")
    assert browser.evaluate("document.documentElement.scrollWidth") <= 1280
    assert not browser.messages
    assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in browser.requests if url != "about:blank")
    browser.open(f"http://127.0.0.1:{server.port}/enter#token=x")
    browser.wait_for("document.body.textContent.includes('has been used, or is wrong')")


def test_pasted_hands_are_stepped_through(server_of_none, browser):
    browser.open(server_of_none.address)
    browser.wait_for("document.querySelector('section h2') !== null")
    browser.evaluate("location.hash = '#hands'")
    browser.wait_for("document.getElementById('hands-text') !== null")
    broken = THREE.replace("hand = 2", "hand = 4").replace("cbr 225", "cbr 110").replace("Hattori", "<img src=x>")
    text = json.dumps(f"[1]\n{THREE.replace('MrOrange', '<b>Orange')}\n[2]\n{broken}")
    browser.evaluate(f"document.getElementById('hands-text').value = {text}")
    browser.evaluate("document.querySelector('main button').click()")
    browser.wait_for("document.querySelectorAll('.chip').length > 5")
    assert "1 hand is shown" in browser.evaluate("document.querySelector('main .remark').textContent")
    assert "hand 4: " in browser.evaluate("document.querySelector('.troubles').textContent")
    assert "<b>Orange" in browser.evaluate("document.querySelector('svg').textContent")
    blueprint = "[...document.querySelectorAll('.adviser')].find((card) => card.textContent.startsWith('Blueprint'))"
    for _ in range(3):
        browser.press("ArrowRight")
    browser.wait_for(f"{blueprint}.textContent.includes('%')")
    browser.wait_for("document.querySelectorAll('.range .cell').length === 169")
    browser.wait_for("document.querySelectorAll('.decisions td').length > 0")
    controls = browser.controls()
    assert all(name.strip() for _, name in controls), controls
    assert sum(role == "button" and " · reach " in name for role, name in controls) == 169  # cells of the grid
    for dress in ("light", "dark"):
        browser.dress(dress)
        assert browser.evaluate(PALE) == []
    browser.evaluate("document.querySelector('.cell[tabindex=\"0\"]').focus()")
    browser.press("ArrowRight")  # moves in the grid
    assert browser.evaluate("document.querySelector('.readout').textContent").count("reach") == 1
    browser.evaluate("document.activeElement.blur()")
    for _ in range(3):
        browser.press("ArrowLeft")
    browser.evaluate("document.getElementById('hands-text').focus()")
    browser.press("ArrowRight")  # moves in the text
    assert browser.evaluate("document.querySelector('.counter').textContent").startswith("1 / ")
    browser.evaluate("document.activeElement.blur()")
    browser.press("ArrowRight")
    assert browser.evaluate("document.querySelector('.counter').textContent").startswith("2 / ")
    link = browser.evaluate("location.href")
    assert re.search(r"#hand=[\w-]+&step=1$", link)
    for width in (320, 390, 800, 1280):
        browser.resize(width, 900)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    browser.evaluate("location.hash = ''")
    browser.wait_for("document.getElementById('hands-text') === null")
    browser.open("about:blank")
    browser.open(link)
    browser.wait_for("document.querySelector('.counter')?.textContent.startsWith('2 / ')")
    assert "<b>Orange" in browser.evaluate("document.querySelector('svg').textContent")
    assert not browser.messages


@pytest.mark.slow
def test_a_bad_bet_is_found_in_four_clicks(tmp_path, browser):
    """A run, its hands, the exact spot, the decision that lost most; the address then leads there at once."""
    play(tmp_path / "match", agents=("blueprint", "call"), seats=2, decks=6, score="duplicate")
    with served(tmp_path) as server:
        browser.open(server.address)
        for selector, text in (("section a", "match"), ("button", "Show hands"), (".adviser", "Exact spot")):
            found = (
                f"[...document.querySelectorAll('{selector}')].find((node) => node.textContent.startsWith('{text}'))"
            )
            browser.wait_for(f"{found} !== undefined")
            browser.evaluate(f"{found}.click()")
        browser.wait_for("document.querySelector('.decisions tbody tr').lastChild.textContent.endsWith('bb')")
        browser.evaluate("document.querySelector('.decisions tbody button').click()")
        browser.wait_for("document.querySelector('.choices th:last-child')?.textContent === 'EV, bb'")
        evs = browser.evaluate(
            "[...document.querySelectorAll('.choices tr td:last-child')].map((td) => td.textContent)"
        )
        values = [float(ev.replace("−", "-")) for ev in evs]
        played = browser.evaluate("document.querySelector('.choices .played td:last-child').textContent")
        lost = browser.evaluate("document.querySelector('.decision[aria-current]').closest('tr').lastChild.textContent")
        assert float(lost.removesuffix(" bb")) == pytest.approx(
            max(values) - float(played.replace("−", "-")), abs=0.011 if max(values) < 10 else 0.11
        )
        hand = browser.evaluate("document.querySelector('.viewer-bar select').selectedOptions[0].textContent")
        link = browser.evaluate("location.href")
        assert re.search(r"#run=match&hand=A\.0\.\d\.[01]&step=\d+$", link)
        browser.open("about:blank")
        browser.open(link)
        browser.wait_for("document.querySelector('.viewer-bar select') !== null")
        assert browser.evaluate("document.querySelector('.viewer-bar select').selectedOptions[0].textContent") == hand
        assert browser.evaluate("location.href") == link
        assert not browser.messages


def test_a_server_that_ends_is_noticed(tmp_path, browser):
    with served(tmp_path) as server:
        browser.open(server.address)
        browser.wait_for("document.querySelector('section h2') !== null")
    browser.wait_for("document.getElementById('notice').textContent.includes('does not answer')")
