"""The spot explorer in a browser: what a newcomer wants is reached in four clicks, with mouse or keyboard."""

import json
import os

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")
from browser import Browser, find_browser  # noqa: E402
from page_checks import PALE  # noqa: E402
from web_server import served  # noqa: E402

from plurispiel.agents.blueprint.agent import blueprint_agent  # noqa: E402
from plurispiel.agents.resolve import vector_cfr  # noqa: E402
from plurispiel.agents.spots.blueprint_ranges import preflop_place  # noqa: E402
from plurispiel.tournaments import cli  # noqa: E402

pytestmark = [
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
    pytest.mark.skipif(not find_browser(), reason="there is no Chromium"),
    pytest.mark.xdist_group("spot page"),  # one page goes through all tests, in their order
]

SOLVED = "spots.view() !== null && document.querySelector('.result .tiles dd') !== null"


class Newcomer:
    """A person at the page, whose clicks are counted."""

    def __init__(self, browser, server):
        self.browser, self.clicks = browser, 0
        browser.open(server.address)
        browser.wait_for("location.pathname === '/' && document.readyState === 'complete'")

    def click(self, selector, text=""):
        self.browser.click(selector, text)
        self.clicks += 1

    def explorer(self):
        self.click("nav a", "Spots")
        self.browser.wait_for("document.querySelector('.size')?.textContent.includes('nodes')")

    def solved(self):
        self.browser.wait_for(SOLVED)

    def read(self, selector):
        return self.browser.evaluate(f"document.querySelector({json.dumps(selector)}).textContent")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    vector_cfr.prepare()  # compiled here, so that no page waits for it
    preflop_place(blueprint_agent("headsup-refined"), [])
    with served(tmp_path_factory.mktemp("spots")) as server:
        yield server


@pytest.fixture(scope="module")
def browser(tmp_path_factory, server):  # which ends after the browser
    browser = Browser(find_browser(), tmp_path_factory.mktemp("browser") / "profile")
    yield browser
    assert not browser.messages
    browser.close()


@pytest.fixture(scope="module")
def page(browser, server):
    """The page with its first river solved: two clicks from the first page."""
    person = Newcomer(browser, server)
    person.explorer()
    person.click("button", "Solve")
    person.solved()
    assert person.clicks == 2
    return person


@pytest.fixture
def person(page):
    page.clicks = 2
    return page


def test_solving_a_river_gives_the_commands_values(person, capsys):
    assert cli.main(["spot", "river", "--json"]) == 0
    known = json.loads(capsys.readouterr().out)
    tiles = person.browser.evaluate(
        "[...document.querySelectorAll('.result .tiles dd')].map((n) => Number(n.dataset.value))"
    )
    assert tiles == pytest.approx([*known["ev"], 100 * known["equity"][0], known["exploitability_pct"]], abs=1e-9)
    view = person.browser.evaluate("spots.view()")
    strategy = dict(zip(view["combos"], view["strategy"], strict=True))
    for hand, row in known["strategy"]["combos"].items():
        assert strategy[hand] == pytest.approx(row, abs=1e-9)
    for number, player in enumerate(("oop", "ip")):
        values = {
            hand: row[number] for hand, row in zip(view["combos"], view["ev"], strict=True) if row[number] is not None
        }
        assert values == pytest.approx(known["combo_ev"][player], abs=1e-9)
    assert "Solved: exploitability" in person.read(".result .remark")


def test_finding_the_ev_of_one_hand(person):
    person.click(".strategy .class-cell[data-place='1']")
    assert person.clicks <= 4
    row = person.read("tr[data-hand='AhKh']")
    view = person.browser.evaluate("spots.view()")
    ev = view["ev"][view["combos"].index("AhKh")][0]
    assert f"{ev:.1f}" in row and "ace high" in row
    assert (
        len(person.browser.evaluate("[...document.querySelectorAll('.combos tbody tr')].map((n) => n.dataset.hand)"))
        == 4
    )
    person.click("button", "Every class")


def test_saving_and_opening(person):
    person.click("button", "Save")
    person.browser.wait_for("document.querySelector('.result .remark').textContent.startsWith('Saved in')")
    person.click("button", "Open")
    assert person.clicks == 4
    before = person.browser.evaluate("spots.view().ev")
    person.click(".files button", "my spot")
    person.browser.wait_for("document.querySelector('.result .remark').textContent.startsWith('Solved')")
    person.browser.wait_for("!document.querySelector('.strategy').hidden")
    assert person.browser.evaluate("spots.view().ev") == before


def test_locking_a_node(person):
    person.click("button", "Lock as shown")
    person.browser.wait_for("document.querySelector('.locks li') !== null")
    person.click("button.main")
    assert person.clicks <= 4
    person.browser.wait_for("document.querySelector('.facts')?.textContent.includes('locked')")
    person.browser.evaluate("document.querySelector('.locks button').click()")


def test_comparing_two_sizes(person):
    """The sizes are typed; the first spot stays in the table beside the second."""
    person.click("input[data-kind='bet']")
    person.browser.type("33%")
    person.click("button.main")
    assert person.clicks <= 4
    person.browser.wait_for(
        "document.querySelector('[aria-label=\"Solved in this page\"]')?.textContent.includes('33%')"
    )
    person.browser.wait_for("!document.querySelector('.strategy').hidden")
    rows = person.browser.evaluate(
        "[...document.querySelectorAll('[aria-label=\"Solved in this page\"] tbody tr')].map((n) => n.textContent)"
    )
    assert "0.5p 1p allin" in rows[0] and "33%" in rows[-1]


def test_the_tree_is_walked_by_actions_and_the_way_back(person):
    person.click(".action", "bet 33")
    person.browser.wait_for("spots.view().node === 'b33%'")
    assert (
        person.browser.evaluate("[...document.querySelectorAll('.action:disabled')].length") == 2
    )  # fold and call end it
    person.click(".crumbs button", "Start")
    person.browser.wait_for("spots.view().node === ''")
    assert "--node" not in person.browser.evaluate("document.querySelector('code').textContent")


def test_a_lock_is_painted_for_the_hands_that_are_dragged_over(person):
    person.click("button", "Paint a lock")
    cells = [f".strategy .class-cell[data-place='{place}']" for place in (0, 1, 2)]
    person.browser.drag(*cells)
    person.click("button", "Lock painted hands")
    person.browser.wait_for("document.querySelector('.locks li') !== null")
    person.browser.evaluate("document.querySelector('.as-file').open = true")
    person.browser.wait_for("document.querySelector('.setup textarea[readonly]').value.includes('hands = ')")
    assert 'hands = "AA,AKs,AcQc,AdQd,AhQh"' in person.browser.evaluate(
        "document.querySelector('.setup textarea[readonly]').value"
    )
    person.browser.evaluate("document.querySelector('.locks button').click()")


def test_a_range_is_painted_and_typed(person):
    person.click("button", "None")
    person.browser.wait_for("document.querySelector('.size.wrong') !== null")  # its lines above the grid move it
    person.browser.drag(*[f".range-editor .class-cell[data-place='{place}']" for place in (0, 14, 28)])
    person.browser.wait_for("document.getElementById('range-oop').value === 'QQ+'")
    person.click("#range-oop")
    person.browser.type("AA,KQs:0.5")
    label = "document.querySelector('.range-editor .class-cell[data-place=\"15\"]').getAttribute('aria-label')"
    person.browser.wait_for(f"{label} === 'KQs: 50 %'")
    person.browser.type("QQ!")
    person.browser.wait_for("document.querySelector('.size').textContent.includes('oop: a range is written like')")
    assert person.browser.evaluate("document.querySelector('button.main').disabled")
    person.click("button", "All")
    person.browser.wait_for("document.getElementById('range-oop').value === 'random'")


def test_the_spot_is_copied_as_a_file_and_as_a_command(person):
    person.browser.evaluate("document.querySelector('.as-file').open = true")
    person.click("button", "Copy as TOML")
    assert person.read(".as-file .remark") == "Copied."
    assert person.read("code").startswith('plurispiel spot "')


def test_a_hand_is_played_by_the_keyboard(person):
    person.browser.evaluate("document.querySelector('.spot-play button').focus()")
    told = "document.querySelector('.spot-play [role=status]').textContent"
    lines = "document.querySelectorAll('.spot-play .lines li').length"
    person.browser.press("Enter")
    person.browser.wait_for(f"{told} !== ''")  # a hand is dealt: until then the page takes no action
    while "EV lost" not in person.browser.evaluate(told):
        seen = person.browser.evaluate(lines)
        person.browser.press("Enter")  # takes the first action
        person.browser.wait_for(f"{told}.includes('EV lost') || {lines} > {seen}")
    person.browser.wait_for("document.activeElement.textContent === 'Deal the next hand'")


def test_names_contrast_and_widths(person):
    browser = person.browser
    browser.evaluate("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
    browser.wait_for("document.querySelector('.take') !== null")
    assert [role for role, name in browser.controls() if not name] == []
    for dress in ("light", "dark"):
        browser.dress(dress)
        assert browser.evaluate(PALE) == []
    for width in (320, 390, 800, 1280, 2560):
        browser.resize(width, 900)
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith("http://127.0.0.1:") for url in browser.requests if url != "about:blank")


def test_the_process_goes_when_the_page_leaves(person, server):
    assert len(server.pages.spots.desks) == 1
    person.click("nav a", "Runs")
    person.browser.wait_for("document.querySelector('.setup') === null")
    while server.pages.spots.desks:
        person.browser.evaluate("1")
