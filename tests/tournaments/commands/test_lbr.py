"""`plurispiel lbr`: the record, runs that go on, and refusals."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from bit_flips import flipped
from reference import zero_sum as reference

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.abstraction.trees.game_tree import flatten
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.tabular import solution
from plurispiel.agents.tabular.solution import TabularAgent, save_solution
from plurispiel.agents.tabular.solvers import make_solver
from plurispiel.evaluation.local_best_response import MENUS, Prober
from plurispiel.evaluation.streams import Keyed
from plurispiel.tournaments.api.lbr import LbrOutsideOptions, admit_agent
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.run.folder_lock import locked
from plurispiel.tournaments.run.kernels import LOADING
from plurispiel.tournaments.run.lbr_config import LbrConduct, LbrConfig
from plurispiel.tournaments.run.lbr_run import LbrRun

KEYS = [
    "agent",
    "menu",
    "hands",
    "mbb_per_hand",
    "ci95",
    "sd",
    "paid_mbb_per_hand",
    "paid_ci95",
    "aivat_mbb_per_hand",
    "aivat_ci95",
    "aivat_zero_sum_mbb_per_hand",
    "aivat_zero_sum_ci95",
    "game",
    "seed",
    "keys",
    "deals",
    "from_outside",
    "digest",
    "seconds",
    "hands_per_second",
]

BOT = """
import numpy as np
from plurispiel.agents import Agent, Strategy

class Bot(Agent):
    def act(self, view):
        return 1

    def range_strategy(self, public):
        return {}
"""
BOTS = {"silent": "None", "lists": "[1.0]", "rows": "Strategy(np.array([1]), np.ones((169, 1)))"} | {
    name: f"Strategy(np.array([1]), np.full((public.rules.num_combos, 1), {number}))"
    for name, number in (("half", "0.5"), ("infinite", "np.inf"), ("nan", "np.nan"))
}


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))


def lbr(capsys, *arguments):
    assert main(["lbr", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_record_of_an_agent_that_folds(capsys):
    record = lbr(capsys, "--agent", "fold", "--hands", "10", "--workers", "1")
    assert list(record) == KEYS
    assert (record["agent"], record["menu"], record["hands"]) == ("fold", "fcpa", 12)
    assert (record["mbb_per_hand"], record["ci95"], record["sd"]) == (750.0, 0.0, 0.0)
    assert (record["paid_mbb_per_hand"], record["game"], record["seed"]) == (750.0, "HUNL", 1)
    assert (record["keys"], record["deals"], record["from_outside"]) == (None, "shared", False)
    assert record["aivat_mbb_per_hand"] is None and record["aivat_ci95"] is None
    record = lbr(capsys, "--agent", "fold", "--hands", "10", "--workers", "1", "--aivat")
    assert (record["mbb_per_hand"], record["aivat_mbb_per_hand"]) == (750.0, pytest.approx(750.0, abs=300.0))


def test_all_menus_at_once(capsys):
    found = lbr(capsys, "--agent", "fold", "--menu", "all", "--hands", "4", "--workers", "1")
    assert {record["menu"]: record["paid_mbb_per_hand"] for record in found} == {
        "fc": 250.0,
        "fcpa": 750.0,
        "56bets": 750.0,
        "flop56": 750.0,
    }


def test_a_run_goes_on_and_any_number_of_workers_plays_the_same(capsys, tmp_path):
    config = LbrConfig("tag", "fcpa")
    whole, parts = LbrRun(tmp_path / "whole", config), LbrRun(tmp_path / "parts", config)
    whole.play(20)
    parts.play(9)
    path = tmp_path / "parts" / "groups.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]) + lines[-1][:7])  # the last one was being written when it was killed
    parts = LbrRun(tmp_path / "parts", config)
    assert parts.num_played(20) == 8
    parts.play(20, LbrConduct(2))
    assert parts.results(20) == whole.results(20) == LbrRun(tmp_path / "parts", config).results(20)
    assert parts.results(5)["hands"] == 20
    again = lbr(capsys, "--agent", "tag", "--hands", "80", "--out", str(tmp_path / "parts"))
    assert again["hands_per_second"] is None and again["mbb_per_hand"] == whole.results(20)["mbb_per_hand"]


TELLS = """
import numpy as np
from plurispiel.agents import Agent, Strategy

class Bot(Agent):
    def act(self, view):
        return 1

    def range_strategy(self, public):
        return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))
"""


def test_aivat_is_corrected_by_the_sum_of_both_seats(tmp_path):
    """An agent from outside counts without its own report, and the same agent of the package with all corrections."""
    (tmp_path / "bot.py").write_text("from plurispiel.agents.baselines.simple import RandomAgent as Bot\n")
    found = {}
    for name in ("random", f"{tmp_path / 'bot.py'}:Bot"):
        run = LbrRun(tmp_path / name.rpartition(":")[2], LbrConfig(name, "fc", game="leduc_poker", seed=1, aivat=True))
        run.play(20, LbrConduct(processes="one"))
        lines = (run.folder / "groups.csv").read_text().splitlines()[1:]
        groups = np.array([list(map(float, line.split(",")[1:-1])) for line in lines])
        found[name] = run.results(20), groups
        assert run.results(9)["aivat_zero_sum_mbb_per_hand"] == pytest.approx(
            zero_sum_mean(groups[:9], name == "random") * 1000.0 / run.config.rules.big_blind
        )
    (ours, groups), (theirs, others) = found.values()
    prober = Prober(LEDUC, RandomAgent(), MENUS["fc"], Keyed(((0, 1),)), aivat=True)
    assert np.array_equal(others, [prober.play(number) for number in range(20)])  # as an object plays its decks
    unit = 1000.0 / LbrConfig("call", game="leduc_poker").rules.big_blind
    assert ours["aivat_zero_sum_mbb_per_hand"] == pytest.approx(zero_sum_mean(groups, True) * unit)
    assert theirs["aivat_zero_sum_mbb_per_hand"] == pytest.approx(zero_sum_mean(others, False) * unit)
    assert 0.0 < ours["aivat_zero_sum_ci95"] < 0.8 * theirs["aivat_zero_sum_ci95"]


def zero_sum_mean(groups, tells):
    """Return the mean score of local best response by the reference, given rows of groups.csv."""
    _, _, corrected, reduced, own = groups.T
    scores = np.stack([own, -(corrected if tells else reduced)], axis=1)
    prior = np.array([1.0, 0.0] if tells else [0.5, 0.5])
    return reference.corrected(scores, np.arange(len(scores)) // 8, prior)[:, 0].mean()


@pytest.mark.parametrize("num_flips", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_a_flipped_bit_is_refused_or_changes_nothing(tmp_path, num_flips):
    config, folder = LbrConfig("fold", "fc"), tmp_path / "run"
    run = LbrRun(folder, config)
    run.play(12)
    want, path = run.results(12), folder / "groups.csv"
    good = path.read_bytes()
    outcomes = set()
    for content in flipped(good, num_flips):
        path.write_bytes(content)
        try:
            run = LbrRun(folder, config)
        except ValueError as error:
            assert "damaged" in str(error) and str(error).isprintable()
            outcomes.add("refused")
        else:
            run.play(12)  # what was taken for a line that was not written whole
            assert run.results(12) == want
    assert "refused" in outcomes


def test_only_one_process_at_a_time_plays_a_run(capsys, tmp_path):
    out = ["--out", str(tmp_path / "run"), "--workers", "1", "--hands", "4"]
    with locked(tmp_path / "run"):
        for options in ([], ["--fresh"]):
            assert main(["lbr", "--agent", "fold", *out, *options]) == 2
            assert f"another process writes {tmp_path / 'run'}; wait for it" in capsys.readouterr().err
    assert main(["lbr", "--agent", "fold", *out]) == 0


def test_other_runs_are_not_mixed_up(capsys, tmp_path):
    out = ["--out", str(tmp_path / "run"), "--workers", "1", "--hands", "4"]
    assert main(["lbr", "--agent", "fold", *out]) == 0
    assert main(["lbr", "--agent", "call", *out]) == 2
    assert "holds another run: agent was fold, and is call now; give another folder (--out)" in capsys.readouterr().err
    assert main(["lbr", "--agent", "fold", "--seed", "2", "--game", "LEDUC", *out]) == 2
    err = capsys.readouterr().err
    assert "seed was 1, and is 2 now" in err and "game was universal_poker(" in err
    kept = (tmp_path / "run" / "config.json").read_text()
    for name, what in (("package", "the package's code"), ("source", "the file of fold")):
        (tmp_path / "run" / "config.json").write_text(json.dumps(json.loads(kept) | {name: "another"}, indent=1) + "\n")
        assert main(["lbr", "--agent", "fold", *out]) == 2
        assert f"another run: {what} has changed since; give" in capsys.readouterr().err
    (tmp_path / "run" / "config.json").write_text("nothing")
    assert main(["lbr", "--agent", "fold", *out]) == 2
    assert "holds another run; give another folder (--out)" in capsys.readouterr().err
    assert main(["lbr", "--agent", "call", "--fresh", *out]) == 0
    (tmp_path / "run" / "groups.csv").write_text("nothing\n")
    assert main(["lbr", "--agent", "call", *out]) == 2
    assert "is damaged; start over (--fresh)" in capsys.readouterr().err
    (tmp_path / "other").mkdir()
    for name in ("letter.txt", "config.json"):
        (tmp_path / "other" / name).write_text("dear")
        for options in ([], ["--fresh"]):
            assert main(["lbr", "--agent", "call", "--out", str(tmp_path / "other"), *options]) == 2
            assert "hold" in capsys.readouterr().err
        assert (tmp_path / "other" / name).read_text() == "dear"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agent", "unknown"], "unknown agent 'unknown'"),
        (["--agent", "call", "--game", "SIXMAX"], "heads-up, and SIXMAX has 6 seats"),
        (["--agent", "call", "--hands", "0"], "hands must be at least 1"),
        (["--agent", "call", "--seed", "-1"], "seed must not be negative"),
        (["--agent", "call", "--menu", "all", "--out", "there"], "--out is for one menu"),
        (["--agent", "openspiel:uniform_random", "--hands", "4", "--workers", "2"], "does not tell"),
        (
            ["--agent", "silent.py:Bot", "--workers", "2"],
            "give it range_strategy(public) (python -m pydoc plurispiel.ag",
        ),
        (["--agent", "lists.py:Bot"], "range_strategy returned list, not a plurispiel.agents.Strategy"),
        (["--agent", "half.py:Bot"], "are not probabilities of at least 0 that sum to 1 within 1e-06"),
        (["--agent", "broken.py:Bot"], "SyntaxError: expected ':' (broken.py, line 1)"),
        (["--agent", "exits.py:Bot"], "exits.py:Bot does not load: its process ended (exit code 0)"),
        (["--agent", "call", "--time-limit", "0"], "time_limit must be above 0"),
    ],
)
def test_bad_input_is_refused_in_one_line(capsys, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    for name, strategy in BOTS.items():
        Path(f"{name}.py").write_text(BOT.format(strategy))
    Path("broken.py").write_text("class Bot\n")
    Path("exits.py").write_text("import os\nos._exit(0)\n")
    assert main(["lbr", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err and LOADING not in err


@pytest.mark.parametrize(
    ("agent", "code"),
    [("continual?values=net:nope", 4), ("tabular:nope", 4), ("tag?x=1", 2), ("continual?purge=3", 2), ("nope", 2)],
)
def test_an_agent_that_cannot_play_leaves_no_folder(tmp_path, agent, code):
    folder = tmp_path / "run"
    arguments = ["lbr", "--game", "LEDUC", "--hands", "4", "--workers", "1", "--out", str(folder)]
    assert main([*arguments, "--agent", agent]) == code
    assert not folder.exists()
    with pytest.raises(ValueError, match="there is no folder"):
        LbrRun(folder, LbrConfig("tabular:nope"))
    assert not folder.exists()
    assert main([*arguments, "--agent", "tag"]) == 0
    with pytest.raises(ValueError, match="cannot use the folder .*config.json/x: Not a directory; give another folder"):
        LbrRun(folder / "config.json" / "x", LbrConfig("tag"))


def test_a_stored_agent_is_loaded_once(tmp_path, monkeypatch):
    solver = make_solver(flatten("leduc"), "cfr+")
    solver.run(2)
    save_solution(tmp_path / "leduc", solver, np.empty((0, 3)))
    loaded = []
    monkeypatch.setattr(solution, "TabularAgent", lambda path: loaded.append(path) or TabularAgent(path))
    config = LbrConfig(f"tabular:{tmp_path / 'leduc'}", game="LEDUC")
    admit_agent(config, LbrOutsideOptions(), 1, None, print, print)
    assert loaded == [str(tmp_path / "leduc")]
    with pytest.raises(ValueError, match="leduc"):
        admit_agent(dataclasses.replace(config, game="HUNL"), LbrOutsideOptions(), 1, None, print, print)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rows", r"range_strategy has rows of shape \(169, 1\), not \(1326, 1\)"),
        ("infinite", "are not probabilities of at least 0 that sum to 1 within 1e-06"),
        ("nan", "are not probabilities of at least 0 that sum to 1 within 1e-06"),
    ],
)
def test_a_report_that_is_no_strategy_is_refused(tmp_path, name, message):
    (tmp_path / f"{name}.py").write_text(BOT.format(BOTS[name]))
    prober = Prober(HUNL, make_agent(f"{tmp_path}/{name}.py:Bot"), MENUS["fcpa"], Keyed(((0, 1),)))
    with pytest.raises(ValueError, match=message):
        prober.play(0)


@pytest.mark.slow
def test_an_agent_that_falls_silent_later_is_named_by_any_worker(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = "None if public.board else Strategy(np.array([1]), np.ones((1326, 1)))"
    Path("later.py").write_text(BOT.format(told))
    for workers in ("1", "2"):
        assert main(["lbr", "--agent", "later.py:Bot", "--hands", "80", "--workers", workers]) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith("plurispiel lbr: later.py:Bot: it does not tell")


LATE = """
import time
import numpy as np
from plurispiel.agents import Agent, Strategy

class Bot(Agent):
    def act(self, view):
        return 1 if view.public.street == 0 else self.trouble("act")

    def range_strategy(self, public):
        if public.street:
            self.trouble("range")
        return Strategy(np.array([1]), np.ones((public.rules.num_combos, 1)))

    def trouble(self, where):
        if where == "{}":
            {}
        return 1
"""


@pytest.mark.parametrize(
    ("where", "trouble", "message"),
    [
        ("range", "time.sleep(100)", "range_strategy: no answer within 1.5 s"),
        pytest.param("act", "time.sleep(100)", "act: no answer within 1.5 s", marks=pytest.mark.slow),
        pytest.param(
            "act", "raise LookupError('oh')", "act: LookupError: oh (late.py, line 17)", marks=pytest.mark.slow
        ),
        pytest.param("act", "return 77", "act: 77 is not legal", marks=pytest.mark.slow),
    ],
)
def test_trouble_after_the_first_hands_is_one_line(capsys, tmp_path, monkeypatch, where, trouble, message):
    monkeypatch.chdir(tmp_path)
    Path("late.py").write_text(LATE.format(where, trouble))
    arguments = ["--agent", "late.py:Bot", "--game", "LEDUC", "--hands", "40", "--workers", "1", "--processes", "one"]
    assert main(["lbr", *arguments, "--time-limit", "1.5"]) == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert last == f"plurispiel lbr: late.py:Bot: {message}" or message.startswith("act: 77") and message[5:] in last


@pytest.mark.parametrize(
    ("given", "deals", "notes"),
    [
        pytest.param(
            [],
            "shared",
            ["four hands are dealt the same deck", "processes: bot.py:Bot 5"],
            marks=pytest.mark.skipif(working_sandbox("auto") is None, reason="no sandbox here"),
        ),
        (
            ["--sandbox", "none", "--seed", "0x5"],
            "once",
            ["no sandbox (as asked)", "own deck", "seed 5: an agent from"],
        ),
    ],
)
def test_an_agent_from_outside_is_protected_as_in_tournaments(capsys, tmp_path, given, deals, notes):
    (tmp_path / "bot.py").write_text(TELLS)
    out = ["--out", str(tmp_path / "run"), "--game", "LEDUC", "--hands", "8", "--workers", "1", "--menu", "fc"]
    arguments = ["lbr", "--agent", f"{tmp_path}/bot.py:Bot", *out, *given]
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    record = json.loads(captured.out)
    assert (record["deals"], record["from_outside"], record["seed"] is None) == (deals, True, not given)
    assert all(note in captured.err for note in notes)
    assert (record["keys"] is None) == bool(given) and (tmp_path / "run" / "run.key").exists() == (not given)
    assert main(arguments) == 0  # the run is found complete
    table = capsys.readouterr().out
    assert "columns that believe the agent's reported strategy: mbb/hand; columns that do not: as paid" in table
    assert ("came from the key 0x" in table) == (not given)


def test_a_table_for_people(capsys):
    assert main(["lbr", "--agent", "fold", "--hands", "4", "--workers", "1"]) == 0
    out = capsys.readouterr().out
    assert (
        "win rate of local best response against fold in HUNL; a best response wins at least as much:" in out
        and "+750.0" in out
    )
