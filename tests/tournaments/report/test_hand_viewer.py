"""The hand viewer: what it shows is what was played and scored, and a real browser shows it."""

import base64
import contextlib
import dataclasses
import json
import random
import re
import sqlite3

import numpy as np
import pytest
from browser import Browser, find_browser
from played_run import play

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents import make_agent
from plurispiel.agents.base import Agent, Deal, PublicState, Strategy
from plurispiel.agents.specs import BUILT_IN
from plurispiel.tournaments import cli
from plurispiel.tournaments.report import hand_viewer
from plurispiel.tournaments.report.hand_choice import HandId, choose_hands, parse_hand
from plurispiel.tournaments.report.hand_viewer import HandViewer, ShownHand, make_hand_viewer
from plurispiel.tournaments.report.page import make_page
from plurispiel.tournaments.report.replays import replay_groups
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.hand_story import action_text, cell_names, combo_cells, grid_shares
from plurispiel.tournaments.run.kept_hands import kept_groups
from plurispiel.tournaments.run.store import RunStore

DICE = """
import random
import numpy as np
from plurispiel.agents.base import Agent, Strategy

class Dice(Agent):
    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.bold = rng.random()  # who tells has another process, and the same stream

    def act(self, view):
        if not view.public.max_raise:
            return 1
        return view.public.max_raise if random.SystemRandom().random() < self.bold else 1

    def range_strategy(self, public):
        if not public.max_raise:
            return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))
        shares = np.tile([1.0 - self.bold, self.bold], (public.rules.num_combos, 1))
        return Strategy(np.array([1, public.max_raise]), shares)
"""
FICKLE = """
import pathlib
from plurispiel.agents.base import Agent

class Fickle(Agent):
    def act(self, view):
        bold = (pathlib.Path(__file__).parent / "mood").exists()
        return view.public.max_raise if bold and view.public.max_raise else 1
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return play(tmp_path_factory.mktemp("runs") / "table", "all", agents=("tag", "raise", "random"), decks=10, seed=3)


def viewer_of(folder, count=12, wanted=()):
    return make_hand_viewer([read_run(folder, "A")], count, [("A", hand) for hand in wanted])


def test_hands_are_those_that_were_played_and_terms_those_that_were_stored(table):
    run = read_run(table, "A")
    every = [HandId(0, deck, rotation) for deck in range(10) for rotation in range(3)]
    viewer = viewer_of(table, 0, every)
    assert [hand.name for hand in viewer.hands] == [hand.text("A") for hand in every]
    assert not viewer.remarks and not any(hand.remark for hand in viewer.hands)
    estimates = np.zeros((10, 3))
    with contextlib.closing(RunStore.reading(table)) as store:
        kept = {(group.deck, k): hand for group in kept_groups(store) for k, hand in enumerate(group.hands)}
    for hand in viewer.hands:
        deck, rotation = map(int, hand.name.split(".")[2:])
        story = hand.story
        actions = tuple(step["action"] for step in story["steps"] if step["kind"] == "action")
        assert actions == kept[deck, rotation].actions and story["payoffs"] == list(kept[deck, rotation].payoffs)
        assert story["agents"] == list(kept[deck, rotation].agents) and story["forms"] == ["full"] * 3
        for seat in range(3):
            terms = sum(step["terms"][seat] for step in story["steps"])
            assert story["payoffs"][seat] + terms == pytest.approx(story["estimates"][seat], abs=1e-4)
            estimates[deck, story["agents"][seat]] += story["estimates"][seat]
        assert sum(story["steps"][-1]["paid"]) > 0 and story["steps"][0]["kind"] == "deal"
        assert all("grid" in step for step in story["steps"] if step["kind"] == "action")
    for row in run.rows:
        stored = row["chips"] + row["imaginary_hands"] + row["chance"] + row["own_actions"] + row["other_actions"]
        assert estimates[row["deck"], row["agent"]] == pytest.approx(stored, abs=1e-6)


def test_grids_are_the_strategies_of_the_whole_range(table):
    viewer = viewer_of(table)
    rules = TournamentConfig(agents=("tag", "raise", "random")).rules
    names, cells = cell_names(rules), combo_cells(rules)
    looked_at = 0
    for hand in viewer.hands:
        for step in hand.story["steps"]:
            if "grid" not in step:
                continue
            grid = step["grid"]
            shares = grid_shares(grid)
            held = shares[:, 1:].sum(axis=1) > 0.5
            assert np.allclose(shares[held, 1:].sum(axis=1), 1.0, atol=0.01)
            cards = hand.story["cards"][step["seat"]]
            assert {names[grid["cell"]][:2], names[grid["cell"]][1::-1]} & {cards[0][0] + cards[1][0]}
            assert sum(grid["own"]) == pytest.approx(1.0, abs=1e-3) and grid["own"][grid["played"]] > 0.0
            assert grid["totals"][grid["played"]] > 0.0 and sum(grid["totals"]) == pytest.approx(1.0, abs=1e-3)
        first = hand.story["steps"][1]
        if viewer.names["A"][hand.story["agents"][first["seat"]]] == "tag":  # its first decision, with every hand
            state = BettingState(rules)
            strategy = make_agent("tag").range_strategy(PublicState(rules, state.array.tolist()))
            for cell in range(169):
                for k, action in enumerate(strategy.actions.tolist()):
                    column = first["grid"]["actions"].index(action_text(state, action))
                    mean = strategy.probabilities[cells == cell, k].mean()
                    assert grid_shares(first["grid"])[cell, 1 + column] == pytest.approx(mean, abs=0.003)
            looked_at += 1
    assert looked_at


def test_cells_of_grids():
    names, cells = cell_names(HUNL), combo_cells(HUNL)
    assert names[:3] == ["AA", "AKs", "AQs"] and names[13] == "AKo" and names[-1] == "22"
    counts = np.bincount(cells, minlength=169)
    assert {name: int(count) for name, count in zip(names, counts, strict=True)}["AKs"] == 4
    assert sorted(set(counts.tolist())) == [4, 6, 12]
    assert sorted(cell_names(LEDUC)) == sorted(["4c", "4d", "3c", "3d", "2c", "2d"])
    assert sorted(combo_cells(LEDUC).tolist()) == list(range(6))


def test_games_with_one_hole_card(tmp_path):
    viewer = viewer_of(play(tmp_path / "leduc", "all", game="leduc_poker", agents=("tag", "random"), decks=6))
    assert len(viewer.hands) == 12 and not any(hand.remark for hand in viewer.hands)
    assert len(viewer.cells["A"]) == 6
    assert "</pre>" in viewer.html()


def test_hands_that_were_not_kept_are_played_again(tmp_path):
    folder = play(tmp_path / "run", keep="none", agents=("tag", "call"), decks=4)
    viewer = viewer_of(folder, 4)
    assert len(viewer.hands) == 4 and not any(hand.remark for hand in viewer.hands)


def test_the_cause_of_missing_hands_is_that_of_their_own_groups(tmp_path, monkeypatch):
    def with_a_broken_first_group(*arguments):
        first, *others = replay_groups(*arguments)
        yield dataclasses.replace(first, stories=(), trouble="its agent is gone")
        yield from others

    folder = play(tmp_path / "run", keep="none", agents=("tag", "call"), decks=2)
    monkeypatch.setattr(hand_viewer, "replay_groups", with_a_broken_first_group)
    viewer = viewer_of(folder, 0, [HandId(0, deck, rotation) for deck in range(2) for rotation in range(2)])
    assert [hand.name for hand in viewer.hands] == ["A.0.1.0", "A.0.1.1"]
    assert viewer.remarks == ["2 chosen hands of run are not shown: they were not kept, and its agent is gone."]


def test_the_reduced_form_corrects_chance_alone(tmp_path):
    (tmp_path / "bot.py").write_text(
        "from plurispiel.agents.base import Agent\n\nclass Caller(Agent):\n    def act(self, view):\n        return 1\n"
    )
    folder = play(tmp_path / "run", "all", agents=(f"{tmp_path / 'bot.py'}:Caller", "tag"), decks=3)
    for hand in viewer_of(folder).hands:
        seat = hand.story["agents"].index(0)
        assert hand.story["forms"][seat] == "chance only" and hand.story["forms"][1 - seat] == "full"
        terms = [step["terms"][seat] for step in hand.story["steps"]]
        assert hand.story["payoffs"][seat] + sum(terms) == pytest.approx(hand.story["estimates"][seat], abs=1e-4)
        assert not any("grid" in step for step in hand.story["steps"] if step.get("seat") == seat)


def test_kept_hands_are_shown_without_the_key_of_the_run(tmp_path):
    (tmp_path / "bot.py").write_text(FICKLE)
    folder = play(tmp_path / "run", "all", agents=(f"{tmp_path / 'bot.py'}:Fickle", "call"), decks=2, score="duplicate")
    (folder / "run.key").unlink()
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("DELETE FROM stories")
        database.commit()
    hands = viewer_of(folder).hands
    assert len(hands) == 4 and all("run.key is missing: without this key" in hand.remark for hand in hands)


@pytest.mark.slow
def test_agents_that_play_otherwise_now_tell_nothing(tmp_path):
    (tmp_path / "bot.py").write_text(FICKLE)
    folder = play(tmp_path / "run", "all", agents=(f"{tmp_path / 'bot.py'}:Fickle", "call"), decks=6)
    other = play(tmp_path / "other", keep="none", agents=(f"{tmp_path / 'bot.py'}:Fickle", "call"), decks=6)
    (tmp_path / "mood").touch()
    logged = viewer_of(folder)
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("DELETE FROM stories")
        database.commit()
    viewer = viewer_of(folder)
    assert len(viewer.hands) == 12
    for hand in viewer.hands:
        assert "an agent now plays the group differently" in hand.remark
        assert hand.story["forms"] == [None, None] and not any("grid" in step for step in hand.story["steps"])
    (tmp_path / "mood").unlink()
    again = viewer_of(folder)
    assert [hand.story for hand in again.hands] == [hand.story for hand in logged.hands]
    assert not any(hand.remark for hand in [*again.hands, *logged.hands])
    assert any("grid" in step for hand in logged.hands for step in hand.story["steps"])
    (tmp_path / "mood").touch()
    viewer = viewer_of(other, 6)
    assert not viewer.hands and "6 chosen hands of other are not shown" in viewer.remarks[0]


def test_what_agents_tell_that_may_never_tell_it_again_is_written_down(tmp_path):
    (tmp_path / "bot.py").write_text(DICE)
    agents = (f"{tmp_path / 'bot.py'}:Dice", "tag")
    told = {"agents": agents, "game": "leduc_poker", "believe": ("bot.py:Dice",)}
    folder = play(tmp_path / "run", keep="sample", decks=22, **told)
    (tmp_path / "bot.py").unlink()  # nobody is asked again
    viewer = viewer_of(folder, 0, [HandId(0, deck, 1) for deck in range(20)])
    assert len(viewer.hands) == 20 and not any(hand.remark for hand in viewer.hands)
    for hand in viewer.hands:
        assert hand.story["forms"] == ["full", "full"]
        for seat in range(2):
            terms = sum(step["terms"][seat] for step in hand.story["steps"])
            assert hand.story["payoffs"][seat] + terms == pytest.approx(hand.story["estimates"][seat], abs=1e-4)
        assert all("grid" in step for step in hand.story["steps"] if step["kind"] == "action")
    with contextlib.closing(RunStore.reading(folder)) as store:
        assert store.stories_of(0, 19) is not None and store.stories_of(0, 20) is None


class Moody(Agent):
    """Draws its mood where no seed reaches, so that it is another in every hand, and keeps what it was."""

    moods = {}

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.bold = round(random.SystemRandom().uniform(0.2, 0.8), 3)

    def observe(self, event):
        if isinstance(event, Deal):
            self.moods[event.hole_cards, self.seat] = self.bold

    def act(self, view):
        return 1

    def range_strategy(self, public):
        if not public.max_raise:
            return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))
        shares = np.tile([1.0 - self.bold, self.bold], (public.rules.num_combos, 1))
        return Strategy(np.array([1, public.max_raise]), shares)


def moody_grids(viewer):
    """Yield the story, the seat and what was told of it with the own cards, wherever the moody agent tells."""
    for hand in viewer.hands:
        for step in hand.story["steps"]:
            if step["kind"] == "action" and hand.story["agents"][step["seat"]] == 0 and "grid" in step:
                yield hand.story, step["seat"], step["grid"]["own"]


@pytest.mark.parametrize("score", ["duplicate", "aivat_duplicate"])
def test_an_agent_of_this_package_that_is_not_deterministic_shows_what_it_told_in_play_or_nothing(
    tmp_path, monkeypatch, score
):
    monkeypatch.setitem(BUILT_IN, "moody", f"{Moody.__module__}:Moody")
    monkeypatch.setattr(Moody, "moods", {})
    folder = play(tmp_path / "run", keep="sample", agents=("moody", "tag"), decks=4, score=score)
    moods = {cards: mood for (cards, _), mood in Moody.moods.items()}
    unlogged = play(tmp_path / "unlogged", keep="none", agents=("moody", "tag"), decks=4, score=score)
    plain = play(tmp_path / "plain", keep="sample", agents=("call", "tag"), decks=4, score=score)
    with contextlib.closing(RunStore.reading(plain)) as store:
        assert store.stories_of(0, 0) is None  # who says that it is deterministic is not written down
    with contextlib.closing(RunStore.reading(folder)) as store, contextlib.closing(RunStore.reading(unlogged)) as other:
        for column in ("chips", "faults", "true_chance"):  # that somebody listens changes no result
            assert np.array_equal(store.scores()[column], other.scores()[column], equal_nan=True)
    shown = list(moody_grids(viewer_of(folder, 8)))
    assert len(viewer_of(folder, 8).hands) == 8 and shown
    checked = 0
    for story, seat, own in shown:
        if len(own) == 2:
            cards = tuple(parse_cards("".join(story["cards"][seat])))
            checked += 1
            assert own[1] == pytest.approx(moods[cards], abs=1e-9)
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("DELETE FROM stories")
        database.commit()
    assert checked
    again = viewer_of(folder, 8)
    assert len(again.hands) == 8 and not list(moody_grids(again))
    for hand in again.hands:
        assert "was not recorded" in hand.remark and "full" not in hand.story["forms"]
        assert any("grid" in step for step in hand.story["steps"] if step.get("seat") == hand.story["agents"].index(1))


def test_chosen_hands_are_a_few_of_a_group_and_those_asked_for(table):
    run = read_run(table, "A")
    with contextlib.closing(RunStore.reading(table)) as store:
        chosen = choose_hands(run, store, 8, [HandId(0, 9, 2)])
        assert len(chosen) == len(set(chosen)) == 8 and HandId(0, 9, 2) in chosen
        assert chosen == sorted(chosen, key=lambda hand: (hand.deck, hand.lineup, hand.rotation))
        with pytest.raises(ValueError, match="holds no hand A.0.9.3"):
            choose_hands(run, store, 8, [HandId(0, 9, 3)])
    assert parse_hand("B.1.2.3") == ("B", HandId(1, 2, 3)) and parse_hand("1.2.3") == ("A", HandId(1, 2, 3))
    for text in ("", "1.2", "A.1.2.3.4", "1.2.-3", "a.1.2.3"):
        with pytest.raises(ValueError, match="a hand is named"):
            parse_hand(text)


def test_a_ledger_says_whose_values_it_is_made_of(tmp_path, table):
    scored = viewer_of(table, 1)
    assert "with checkdown values, as in the run" in scored.html()
    assert {row[-2:] for row in scored.files["hand_terms"][1:]} == {("checkdown", 1)}
    raw = viewer_of(play(tmp_path / "raw", "all", agents=("tag", "call"), decks=2, score="raw"), 1)
    assert "scored without AIVAT" in raw.html() and "with checkdown values" in raw.html()
    assert {row[-2:] for row in raw.files["hand_terms"][1:]} == {("checkdown", 0)}


@pytest.mark.parametrize("options", [["--hand", "0.99.0"], ["--hand", "B.0.0.0"], ["--hand", "x"], ["--hands", "101"]])
def test_wrong_hands_are_refused_in_a_line(table, capsys, options):
    assert cli.main(["report", str(table), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith("plurispiel report: ") and said.count("\n") == 1


def test_the_page_carries_the_hands_and_nothing_ends_its_script(table):
    run = read_run(table, "A")
    page = make_page([run], "report", viewer_of(table, 3))
    (text,) = re.findall(r'<script type="application/json" id="hands-data">(.*?)</script>', page.html)
    assert not set("<>&") & set(text)
    data = json.loads(text)
    assert len(data["hands"]) == 3 and data["names"] == {"A": ["tag", "raise", "random"]}
    found = [line.split(",") for line in page.files["hand_grids.csv"].splitlines()[1:]]
    story = data["hands"][0]["steps"][1]
    first = [row for row in found if row[1] == data["hands"][0]["name"] and row[2] == "1" and row[4] == "AA"]
    assert {row[6] for row in first} <= set(story["grid"]["actions"])
    assert sum(float(row[7]) for row in first) == pytest.approx(1.0, abs=0.01)
    assert page.files["hand_terms.csv"].startswith(
        "run,hand,step,kind,text,seat,agent,aivat_term_bb,values,in_scores\n"
    )
    without = make_page([run], "report")
    assert "hands-data" not in without.html.split("<script>")[0] and "hand_terms.csv" not in without.files


def test_the_viewer_opens_on_the_most_mixed_decision_of_the_best_agent():
    def step(seat, *cells):
        shares = np.array(cells, dtype=np.uint8) if cells else None
        grid = {"actions": ["fold", "call"], "shares": base64.b64encode(shares.tobytes()).decode()} if cells else None
        return {"seat": seat, **({"grid": grid} if grid else {})}

    pure, half = (255, 255, 0), (255, 128, 127)
    hands = [
        ShownHand(name, name[0], {"agents": agents, "steps": steps}, "")
        for name, agents, steps in (
            ("A.0.0.0", [0, 1], [step(None), step(0, half, half), step(1, pure, pure)]),
            ("A.0.1.0", [1, 0], [step(None), step(1), step(0, pure, half)]),
            ("B.0.0.0", [1, 0], [step(0, half, half)]),
        )
    ]

    def opening(ranking, shown=hands):
        return HandViewer(shown, {}, {}, {}, {}, {"A": ranking, "B": [0, 1]}, []).opening

    assert opening([1, 0]) == (1, 2)
    assert opening([0, 1]) == (0, 1)
    assert opening([2, 1, 0]) == (1, 2)  # the best agent tells nothing
    assert opening([2]) == opening([1], []) == (0, 0)


needs_browser = pytest.mark.skipif(find_browser() is None, reason="no Chromium on this system")


@pytest.fixture
def browser(tmp_path):
    driven = Browser(find_browser(), tmp_path / "profile")
    yield driven
    driven.close()


@needs_browser
def test_a_browser_steps_through_hands_and_asks_for_nothing(tmp_path, table, browser, capsys):
    assert cli.main(["report", str(table), "--out", str(tmp_path / "page.html"), "--hands", "5"]) == 0
    capsys.readouterr()
    address = (tmp_path / "page.html").as_uri()
    names = [hand.name for hand in viewer_of(table, 5).hands]
    browser.open(address)
    now = "document.querySelector('#viewer .chip.now').textContent"
    opening = viewer_of(table, 5).opening
    assert browser.evaluate("document.querySelector('#viewer select').value") == str(opening[0])
    step = browser.evaluate("document.querySelector('#viewer .counter').textContent").split()[0]
    assert int(step) == opening[1] + 1 > 1 and browser.evaluate("location.hash") == ""
    browser.evaluate("document.getElementById('viewer').focus()")
    for _ in range(opening[0]):
        browser.press("ArrowUp")
    browser.press("Home")
    assert browser.evaluate(now) == "blinds 50/100"
    chips = browser.evaluate("document.querySelectorAll('#viewer .chip').length")
    browser.press("ArrowRight")
    assert browser.evaluate("location.hash") == f"#hand={names[0]}&step=1"
    assert browser.evaluate("document.querySelectorAll('#viewer .cell').length") == 169
    assert browser.evaluate("document.querySelectorAll('#viewer .own').length") == 1
    assert "as in the run’s scores" in browser.evaluate("document.querySelector('.ledger').textContent")
    browser.press("End")
    assert browser.evaluate("location.hash") == f"#hand={names[0]}&step={chips - 1}"
    browser.press("ArrowRight")  # there is nothing behind the end
    browser.press("ArrowLeft")
    assert browser.evaluate("location.hash") == f"#hand={names[0]}&step={chips - 2}"
    browser.press("ArrowDown")
    assert browser.evaluate("location.hash") == f"#hand={names[1]}&step=0"
    browser.press("ArrowUp")
    assert browser.evaluate("location.hash") == f"#hand={names[0]}&step=0"
    browser.evaluate("document.querySelector('nav button').click()")
    assert browser.evaluate("document.documentElement.dataset.dress") in ("light", "dark")
    browser.open(f"{address}#hand={names[3]}&step=2")
    assert browser.evaluate("document.querySelector('#viewer select').value") == "3"
    assert browser.evaluate("document.querySelector('#viewer .counter').textContent").startswith("3 / ")
    notice = "document.querySelector('#viewer .missing').{}"
    assert browser.evaluate(notice.format("hidden"))
    for missing in ("A.0.99.1", "x"):
        browser.open("about:blank")
        browser.open(f"{address}#hand={missing}&step=2")
        assert browser.evaluate("document.querySelector('#viewer select').value") == str(opening[0])
        assert f"does not hold the hand {missing}:" in browser.evaluate(notice.format("textContent"))
        assert not browser.evaluate(notice.format("hidden"))
    browser.evaluate(f"location.hash = '#hand={names[3]}&step=2'")
    browser.wait_for(notice.format("hidden"))
    width = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    for size in ((1280, 900), (420, 800)):
        browser.resize(*size)
        assert browser.evaluate(width), f"the page is wider than the window of {size[0]} px"
    assert browser.messages == []
    assert {request.partition("#")[0] for request in browser.requests} <= {address, "about:blank"}


@needs_browser
def test_two_runs_stand_side_by_side_without_tables_that_scroll(tmp_path, table, browser, capsys):
    page = tmp_path / "page.html"
    assert cli.main(["report", str(table), str(table), "--out", str(page), "--hands", "1"]) == 0
    capsys.readouterr()
    browser.resize(1280, 900)
    browser.open(page.as_uri())
    places = "[...document.querySelectorAll('#ranking .run')].map((run) => run.getBoundingClientRect().top)"
    tops = browser.evaluate(places)
    assert len(tops) == 2 and tops[0] == tops[1]
    wide = "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth).length"
    assert browser.evaluate("document.querySelectorAll('.wide').length") > 4 and browser.evaluate(wide) == 0
    seen = "getComputedStyle(document.querySelector('#ranking .on-{}')).display"
    assert browser.evaluate(seen.format("wide")) == "block" and browser.evaluate(seen.format("narrow")) == "none"
    fading = "document.querySelectorAll('.wide.more').length"
    assert browser.evaluate(fading) == 0
    browser.resize(390, 800)
    browser.wait_for(f"{fading} > 0")  # what is cut shows that it scrolls
    assert browser.evaluate(wide) == browser.evaluate(fading)
    browser.evaluate("document.querySelectorAll('.wide').forEach((one) => { one.scrollLeft = one.scrollWidth })")
    browser.wait_for(f"{fading} === 0")
    assert browser.evaluate(seen.format("wide")) == "none" and browser.evaluate(seen.format("narrow")) == "block"
    assert browser.evaluate("document.documentElement.scrollWidth") == 390 and browser.messages == []


@needs_browser
def test_a_browser_without_scripts_reads_it(tmp_path, table, browser, capsys):
    assert cli.main(["report", str(table), "--out", str(tmp_path / "page.html"), "--hands", "2"]) == 0
    capsys.readouterr()
    browser.without_scripts()
    browser.open((tmp_path / "page.html").as_uri())
    assert browser.evaluate("document.querySelectorAll('#viewer *').length") == 0  # no script has run
    assert browser.evaluate("document.querySelectorAll('section').length") == 9
    assert browser.evaluate("document.querySelectorAll('#hands .texts pre').length") == 2
    assert browser.evaluate("document.querySelector('#win_rate svg').getBoundingClientRect().width") > 200
