"""The page: its figures are those of the results, whatever is in the run folder."""

import contextlib
import csv
import dataclasses
import html.parser
import io
import itertools
import json
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from colour_vision import VISIONS, difference
from played_run import play

from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments import cli
from plurispiel.tournaments.figures.picture import CALL_COLOUR, FOLD_COLOUR, RAISE_COLOURS
from plurispiel.tournaments.report import page as page_module
from plurispiel.tournaments.report.hand_choice import HandId
from plurispiel.tournaments.report.hand_viewer import make_hand_viewer
from plurispiel.tournaments.report.page import make_page
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.kept_hands import kept_groups
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunRefused, RunStore

EVIL = "<script>alert(1)</script>"
BOT = f"""
from plurispiel.agents.base import Agent

class Bot(Agent):
    name = "{EVIL}"

    def __init__(self, **options):
        pass

    def act(self, view):
        if view.public.street:
            raise ValueError("{EVIL}")
        return 1
"""


@pytest.fixture(scope="module")
def heads_up(tmp_path_factory):
    """A round-robin of three."""
    return play(tmp_path_factory.mktemp("runs") / "headsup", agents=("tag", "call", "random"), seats=2, decks=12)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """One line-up of three seats."""
    return play(tmp_path_factory.mktemp("runs") / "table", agents=("tag", "raise", "random"), decks=10, seed=3)


class Checker(html.parser.HTMLParser):
    """Finds what would load anything, and elements that are not closed."""

    VOID = {"meta", "link", "img", "br", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.ids, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if "src" in given or tag in ("link", "iframe", "object", "embed", "img"):
            self.loads.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def checked(page):
    """Return what a page holds after checking that it is whole, and loads nothing."""
    checker = Checker()
    checker.feed(page)
    assert not checker.open and not checker.loads
    assert len(checker.ids) == len(set(checker.ids))
    assert "http:" not in page.replace("http://www.w3.org/2000/svg", "")  # a name that is no address
    assert "https:" not in page and "@import" not in page and "url(http" not in page
    return checker


def rows_of(page, name):
    return list(csv.DictReader(io.StringIO(page.files[f"{name}.csv"])))


def test_files_hold_the_figures_of_the_results(heads_up):
    run = read_run(heads_up, "A")
    page = make_page([run], "report")
    checked(page.html)
    agents = {agent["name"]: agent for agent in run.results["agents"]}
    ranking = rows_of(page, "ranking")
    rates = [float(row["mbb_per_hand"]) for row in ranking]
    assert rates == sorted(rates, reverse=True) and len(ranking) == 3
    for row in ranking:
        agent = agents[row["agent"]]
        assert float(row["mbb_per_hand"]) == agent["mbb_per_hand"] and float(row["ci95"]) == agent["ci95"]
        assert float(row["raw_ci95"]) == agent["scores"]["raw"]["ci95"]
        curve = [point for point in rows_of(page, "win_rate") if point["agent"] == row["agent"]]
        assert int(curve[-1]["hands"]) == agent["hands"] and int(curve[0]["groups"]) == 2
        assert float(curve[-1]["score_mbb_per_hand"]) == pytest.approx(agent["mbb_per_hand"], rel=1e-12)
        assert float(curve[-1]["score_ci95"]) == pytest.approx(agent["ci95"], rel=1e-9)
        assert float(curve[-1]["raw_ci95"]) == pytest.approx(agent["scores"]["raw"]["ci95"], rel=1e-9)
        found = [step for step in rows_of(page, "corrections") if step["agent"] == row["agent"]]
        spreads = [float(step["sd_bb_per_hand"]) for step in found]
        assert spreads[0] == pytest.approx(agent["scores"]["raw"]["sd_bb"])
        assert spreads[1] == pytest.approx(agent["scores"]["duplicate"]["sd_bb"])
        assert spreads[-1] == pytest.approx(agent["scores"]["aivat_zero_sum"]["sd_bb"])
        assert spreads[-2] == pytest.approx(agent["scores"]["aivat_duplicate"]["sd_bb"])
        assert float(found[-1]["share_of_raw_variance"]) == pytest.approx(1.0 / agent["variance_ratio"])
        play = [one for one in rows_of(page, "play") if one["agent"] == row["agent"]]
        assert [one["position"] for one in play] == ["all", "BB", "BTN"]
        assert float(play[0]["vpip"]) == agent["stats"]["vpip"]
        assert play[2]["first_in_raise"] == str(agent["stats"]["first_in_raise"]["BTN"])
    names = list(agents)
    for cell in rows_of(page, "crosstable"):
        expected = run.results["matrix"][names.index(cell["agent"])][names.index(cell["other"])]
        assert float(cell["mbb_per_hand"]) == pytest.approx(expected["mbb_per_hand"], rel=1e-12)
        assert float(cell["ci95"]) == pytest.approx(expected["ci95"], rel=1e-9)
    assert len(rows_of(page, "crosstable")) == 6
    facts = {row["what"]: row["value"] for row in rows_of(page, "provenance")}
    assert facts["seed"] == "1" and "Python" in facts["machine that played last"]
    assert run.results["digest"] in facts.values()


def test_points_of_the_curve_are_the_scores_of_shorter_runs(tmp_path, heads_up):
    point = rows_of(make_page([read_run(heads_up, "A")], "report"), "win_rate")
    short = play(tmp_path / "short", agents=("tag", "call", "random"), seats=2, decks=8)
    for agent in read_run(short, "A").results["agents"]:
        (found,) = [p for p in point if p["agent"] == agent["name"] and int(p["groups"]) == agent["groups"]]
        assert float(found["score_mbb_per_hand"]) == pytest.approx(agent["mbb_per_hand"], rel=1e-9)
        assert float(found["score_ci95"]) == pytest.approx(agent["ci95"], rel=1e-9)


def test_decisions_are_timed(heads_up):
    times = {row["agent"]: row for row in rows_of(make_page([read_run(heads_up, "A")], "report"), "decision_times")}
    assert set(times) == {"tag", "call", "random"}
    for row in times.values():
        assert int(row["decisions"]) >= 24
        assert 0.0 < float(row["mean_s"]) <= float(row["longest_s"]) <= float(row["total_s"])
        assert float(row["mean_s"]) == pytest.approx(float(row["total_s"]) / int(row["decisions"]))


def test_rates_by_position_are_those_of_all_hands_with_luck_and_without(heads_up):
    run = read_run(heads_up, "A")
    rows = rows_of(make_page([run], "report"), "positions")
    assert [row["position"] for row in rows[:2]] == ["BB", "BTN"]
    for agent in run.results["agents"]:
        own = [row for row in rows if row["agent"] == agent["name"]]
        assert [int(row["hands"]) for row in own] == [agent["hands"] // 2] * 2
        for column, score in (("raw", "raw"), ("aivat", "aivat_duplicate")):
            rates = [float(row[f"{column}_mbb_per_hand"]) for row in own]
            assert np.mean(rates) == pytest.approx(agent["scores"][score]["mbb_per_hand"])
    every = [HandId(lineup, deck, rotation) for lineup in range(3) for deck in range(12) for rotation in range(2)]
    viewer = make_hand_viewer([run], 0, [("A", hand) for hand in every])
    told = [(hand.story, hand.story["agents"].index(0)) for hand in viewer.hands if 0 in hand.story["agents"]]
    found = next(row for row in rows if row["agent"] == "tag" and row["position"] == "BTN")
    for column, values in (("raw", "payoffs"), ("aivat", "estimates")):
        expected = estimate_mean(np.array([story[values][1] for story, seat in told if seat == 1]) * 10.0)
        assert float(found[f"{column}_mbb_per_hand"]) == pytest.approx(expected.mean)
        assert float(found[f"{column}_ci95"]) == pytest.approx(expected.ci95)
    with contextlib.closing(RunStore.reading(heads_up)) as store:
        chips = [h.payoffs[1] for g in kept_groups(store) for h in g.hands if h.agents[1] == 0]
    assert float(found["raw_mbb_per_hand"]) == pytest.approx(np.mean(chips) * 10.0)  # all 12 decks are kept


def test_positions_are_those_of_the_game(tmp_path):
    """Seat 0 posts less, is the button and acts first before the flop."""
    reverse = dataclasses.replace(HUNL, blinds=HUNL.blinds[::-1], first_seats=(0, 1, 1, 1))
    settings = {"agents": ("tag", "call"), "decks": 3, "score": "duplicate", "game": game_string(reverse)}
    run = read_run(play(tmp_path / "run", **settings), "A")
    page = make_page([run], "report")
    assert [row["position"] for row in rows_of(page, "play")] == ["all", "BTN", "BB"] * 2
    assert [row["position"] for row in rows_of(page, "positions")] == ["BTN", "BB"] * 2
    called = next(row for row in rows_of(page, "play") if row["agent"] == "call" and row["position"] == "BTN")
    assert called["first_in_limp"] == str(run.results["agents"][1]["stats"]["first_in_limp"]["BTN"]) == "1.0"
    for section in ("play", "positions"):
        part = page.html.split(f'id="{section}"')[1].split("</section>")[0]
        assert re.findall(r">(BTN|BB)</text>", part) == ["BTN", "BB"] * 2
    (hand,) = make_hand_viewer([run], 0, [("A", HandId(0, 0, 0))]).hands
    assert hand.story["positions"] == ["BTN", "BB"]


def test_positions_of_an_agent_with_a_control_are_what_it_makes_more(tmp_path):
    folder = play(tmp_path / "run", agents=("tag", "call"), seats=3, format="lineup-5v1", decks=5)
    run = read_run(folder, "A")
    rows = rows_of(make_page([run], "report"), "positions")
    for agent in run.results["agents"]:
        own = [row for row in rows if row["agent"] == agent["name"]]
        for column, score in (("raw", "duplicate"), ("aivat", "aivat_duplicate")):
            rates = [float(row[f"{column}_mbb_per_hand"]) for row in own]
            assert np.mean(rates) == pytest.approx(agent["scores"][score]["mbb_per_hand"])


def test_positions_without_aivat_are_raw(tmp_path):
    run = read_run(play(tmp_path / "run", agents=("tag", "call"), decks=3, score="duplicate"), "A")
    page = make_page([run], "report")
    rows = rows_of(page, "positions")
    assert {row["aivat_mbb_per_hand"] for row in rows} == {""} and all(row["raw_mbb_per_hand"] for row in rows)


def test_a_run_that_lost_rows_is_refused(tmp_path, heads_up):
    folder = shutil.copytree(heads_up, tmp_path / "old")
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("UPDATE blocks SET rows = x'00'")
        database.commit()
    with pytest.raises(RunRefused, match="the row of line-up 0, deck 0 in the table of blocks is damaged"):
        read_run(folder, "A")


def test_a_run_whose_machine_is_not_known_is_shown(tmp_path, heads_up):
    folder = shutil.copytree(heads_up, tmp_path / "old")
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("DELETE FROM run WHERE key = 'machine'")
        database.commit()
    assert rows_of(make_page([read_run(folder, "A")], "report"), "positions")


def test_runs_side_by_side(heads_up, table):
    runs = [read_run(heads_up, "A"), read_run(table, "B")]
    page = make_page(runs, "report")
    assert checked(page.html).ids.count("comparison") == 1
    rows = rows_of(page, "comparison")
    assert [(row["agent"], row["run"]) for row in rows].count(("call", "A")) == 1
    tag = [row for row in rows if row["agent"] == "tag"]
    assert [row["run"] for row in tag] == ["A", "B"]
    rates = [run.results["agents"][0] for run in runs]
    assert float(tag[1]["difference_to_first_run"]) == rates[1]["mbb_per_hand"] - rates[0]["mbb_per_hand"]
    assert float(tag[1]["difference_ci95"]) == pytest.approx(np.hypot(rates[0]["ci95"], rates[1]["ci95"]))
    assert tag[0]["difference_to_first_run"] == ""
    assert {row["run"] for row in rows_of(page, "win_rate")} == {"A", "B"}


def test_an_unfinished_run_says_so(tmp_path, capsys):
    config = TournamentConfig(agents=("tag", "call"), decks=24)
    part = TournamentConfig(agents=("tag", "call"), decks=8)
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        empty = make_page([read_run(tmp_path / "run", "A")], "report")
        play_run(part, store, Conduct())
    assert "Unfinished: 0 of 24 groups" in empty.html and checked(empty.html)
    assert cli.main(["report", str(tmp_path / "run"), "--json"]) == 0
    said = capsys.readouterr()
    assert "unfinished: 8 of 24 groups" in said.err
    written = json.loads(said.out)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Unfinished: 8 of 24 groups" in page and written["bytes"] == len(page.encode())
    for path in written["csv"]:
        assert path.startswith(str(tmp_path / "run" / "report")) and path.endswith(".csv")
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        assert len(store.done()) == 8  # a report does not stand in the way of going on


def test_names_and_faults_of_agents_are_only_text(tmp_path):
    (tmp_path / "bot.py").write_text(BOT, encoding="utf-8")
    evil = f"{tmp_path / 'bot.py'}:Bot?note={EVIL}"
    folder = play(tmp_path / "run", agents=(evil, "call"), decks=3)
    run = read_run(folder, "A")
    assert EVIL in run.names[0] and run.results["agents"][0]["faults"]
    checker = checked(make_page([run], "report").html)
    assert any(EVIL in text for text in checker.texts)  # it is read as text
    (tmp_path / "bot.py").unlink()
    assert make_page([read_run(folder, "A")], "report").html  # the agent's file is not needed


def test_a_run_that_stopped_early_is_finished_and_says_so(tmp_path):
    folder = play(tmp_path / "50% off#1", agents=("call", "fold"), decks=200, stop_when="ci<=100000", score="duplicate")
    run = read_run(folder, "A")
    page = make_page([run], "50% off#1")
    assert run.is_finished and 100 <= run.num_groups < 200
    assert f"after {run.num_groups} decks of each line-up" in page.html and "Unfinished" not in page.html
    assert 'href="50%25%20off%231/ranking.csv"' in page.html
    assert {row["score_ci95"] for row in rows_of(page, "win_rate")} != {""}


def test_an_agent_named_like_a_formula_is_a_text_in_every_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "=1+1.py").write_text(
        "from plurispiel.agents.base import Agent\nclass Bot(Agent):\n    def act(self, view):\n        return 7\n"
    )
    folder = play(tmp_path / "run", agents=("=1+1.py:Bot", "call"), decks=4)
    page = make_page([read_run(folder, "A")], "report")
    cells = [cell for text in page.files.values() for row in csv.reader(io.StringIO(text)) for cell in row]
    assert "'=1+1.py:Bot" in cells
    for cell in cells:
        if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
            float(cell)


def test_the_final_table_holds_each_score_once_and_the_ranking_one_first(heads_up):
    run = read_run(heads_up, "A")
    section = make_page([run], "report").html.partition('<section id="ranking">')[2].partition("</section>")[0]
    assert run.scores.headline == "aivat_zero_sum"
    assert re.findall(r"<th(?: [^>]*)?>(.*?)</th>", section) == [
        "agent",
        "AIVAT + zero-sum",
        "raw",
        "duplicate",
        "AIVAT",
        "AIVAT + duplicate",
        "ratio",
        "p",
        "hands",
        "faults",
    ]


def test_a_crosstable_without_cells_is_left_out(heads_up, table):
    one, other = read_run(table, "A"), read_run(heads_up, "B")
    page = make_page([one], "report")
    assert "crosstable" not in page.html and "crosstable.csv" not in page.files
    both = make_page([one, other], "report")
    assert both.html.count('<section id="crosstable">') == 1 and "One line-up plays the whole run" in both.html
    assert {row["run"] for row in rows_of(both, "crosstable")} == {"B"}


ACTIONS = ("fold", "call", "raise-1", "raise-2", "raise-3", "raise-4")


def test_actions_are_told_apart_by_all_eyes_in_light_and_dark_dress():
    style = (Path(page_module.__file__).parent / "page.css").read_text(encoding="utf-8")
    dresses = [re.findall(rf"--{name}: (#\w{{6}});", style) for name in (*ACTIONS, "card")]
    light, *dark = zip(*dresses, strict=True)
    assert len(dark) == 2 and dark[0] == dark[1]  # asked for by the system, and by the button
    assert list(light[:-1]) == [FOLD_COLOUR, CALL_COLOUR, *RAISE_COLOURS]
    for *actions, card in (light, dark[0]):
        for vision in VISIONS:
            for first, second in itertools.combinations(actions, 2):
                assert difference(first, second, vision) > 15.0, (first, second, vision)
            assert min(difference(colour, card, vision) for colour in actions) > 8.0
