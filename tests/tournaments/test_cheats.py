"""Agents that cheat at the tournament's table: each has to end within an honest interval.

What they try with the machine (processes, files, memory) is in `contestants/test_sandbox.py`.
"""

import contextlib
import json
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.results import make_results, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunRefused, RunStore

BOTS = Path(__file__).parent / "contestants" / "bots"
LIAR, ELEPHANT, READER, GUESSER = (
    f"{BOTS / name}" for name in ("lies.py:Liar", "remembers.py:Elephant", "inverts.py:Reader", "inverts.py:Guesser")
)


CALLER = """
from plurispiel.agents import CALL, Agent

class Bot(Agent):
    def act(self, view):
        return CALL
"""


def play(folder, agents, *, conduct=None, **settings):
    """Play a heads-up tournament; return its results and rows."""
    config = TournamentConfig(agents=tuple(agents), seats=2, **settings)
    with contextlib.closing(RunStore(folder, config)) as store:
        play_run(config, store, conduct or Conduct())
        return make_results(config, store), store.scores()


@pytest.mark.parametrize("deals", ["shared", pytest.param("once", marks=pytest.mark.slow)])
def test_a_lie_about_the_own_strategy_earns_nothing(tmp_path, deals):
    lied, lied_rows = play(tmp_path / "lied", (LIAR, "call"), decks=100, seed=5, deals=deals)
    liar, other = lied["agents"]
    assert abs(liar["mbb_per_hand"]) <= liar["ci95"] < (3_000.0 if deals == "shared" else 12_000.0)
    assert liar["aivat"] == "chance only" and not liar["believed"] and liar["from_outside"]
    (tmp_path / "silent.py").write_text(
        "from plurispiel.agents import CALL, Agent\n\n\nclass Silent(Agent):\n"
        "    def act(self, view):\n        return view.public.max_raise or CALL\n"
    )
    honest, honest_rows = play(
        tmp_path / "honest", (f"{tmp_path / 'silent.py'}:Silent", "call"), decks=100, seed=5, deals=deals
    )
    for number in range(2):  # a lie moves nobody's figure, not by a bit
        assert lied["agents"][number]["scores"] == honest["agents"][number]["scores"]
    assert honest_rows.tobytes() == lied_rows.tobytes()


def test_a_word_that_is_believed_is_marked_and_given_by_who_never_saw_the_cards(tmp_path):
    results, _ = play(tmp_path / "run", (LIAR, "call"), decks=24, seed=5, believe=("lies.py:Liar",))
    liar, other = results["agents"]
    assert liar["believed"] and not other["believed"]
    # Asked of a process without cards it has to fold its own hand, too, which it has not: the lie shows.
    assert liar["aivat"] == "chance only" and "impossible" in liar["aivat_complaint"]
    (tmp_path / "honest.py").write_text(HONEST)
    results, _ = play(
        tmp_path / "told", (f"{tmp_path}/honest.py:Honest", "call"), decks=16, believe=("honest.py:Honest",)
    )
    honest = results["agents"][0]
    assert honest["aivat"] == "full" and honest["aivat_complaint"] is None
    table = table_text(results)
    assert "honest.py:Honest†" in table and "† honest.py:Honest: corrected by its own reported strategy" in table
    assert not (tmp_path / "saw").exists()


HONEST = '''
import os
import pathlib

import numpy as np

from plurispiel.agents import CALL, Agent, Strategy

FOLDER = pathlib.Path(__file__).parent


class Honest(Agent):
    """Raises with any hand half of the time, by its stream; a process that tells must never have been dealt cards."""

    dealt = told = 0

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.bold = rng.random()  # the same wherever this hand is begun

    def observe(self, event):
        self.note(dealt=hasattr(event, "hole_cards"))

    def act(self, view):
        self.note(dealt=True)
        return self.raise_to(view.public) if self.rng.random() < self.bold else CALL

    def range_strategy(self, public):
        self.note(told=True)
        if not public.max_raise:
            return Strategy(np.array([CALL]), np.ones((public.rules.num_combos, 1)))
        rows = np.tile([1.0 - self.bold, self.bold], (public.rules.num_combos, 1))
        return Strategy(np.array([CALL, self.raise_to(public)]), rows)

    def raise_to(self, public):
        return public.max_raise or CALL

    def note(self, dealt=False, told=False):
        Honest.dealt += dealt
        Honest.told += told
        if Honest.dealt and Honest.told:
            (FOLDER / "saw").touch()
'''


def test_who_remembers_its_last_hand_gets_exactly_nothing(tmp_path):
    results, rows = play(tmp_path / "rotation", (ELEPHANT, "call"), decks=40, score="duplicate")
    assert results["processes"] == "rotation"
    assert not rows["chips"].any() and results["agents"][0]["mbb_per_hand"] == 0.0
    # With one process it does, which shows that it would; and the results say so.
    one, rows = play(
        tmp_path / "one", (ELEPHANT, "call"), decks=40, score="duplicate", conduct=Conduct(processes="one")
    )
    assert one["processes"] == "one" and rows["chips"].any()
    assert one["agents"][0]["mbb_per_hand"] > one["agents"][0]["ci95"]
    assert "one process for all rotations: agents may remember decks" in table_text(one)


def test_with_decks_dealt_once_there_is_nothing_to_remember(tmp_path):
    results, rows = play(
        tmp_path / "once", (ELEPHANT, "call"), decks=100, deals="once", conduct=Conduct(processes="one")
    )
    elephant = results["agents"][0]
    assert results["deals"] == "once" and abs(elephant["mbb_per_hand"]) <= 1.5 * elephant["ci95"]
    silent, plain = play(tmp_path / "plain", ("call", "call"), decks=40, deals="once", seed=1, score="duplicate")
    assert plain["chips"].any()  # the rotations do not mirror each other any more


@pytest.mark.parametrize("agent", [READER, GUESSER], ids=["reader", "guesser"])
def test_who_looks_at_its_generator_or_guesses_the_seed_reads_no_card(tmp_path, agent):
    results, rows = play(tmp_path / "run", (agent, "call"), decks=16, score="duplicate")
    assert not results["agents"][0]["faults"]
    assert not rows["chips"].any()  # it has called to the end of every hand


def test_what_reads_cards_would_read_them_from_a_seed(tmp_path, monkeypatch):
    """The cheat works where all streams come from a seed: else the test above shows nothing."""
    monkeypatch.setattr(TournamentConfig, "outsiders", frozenset())
    for name, agent in (("reader", READER), ("guesser", GUESSER)):
        results, rows = play(tmp_path / name, (agent, "call"), decks=16, score="duplicate", seed=1)
        found = estimate_mean(rows[rows["agent"] == 0]["chips"])
        assert found.mean > found.ci95


def test_the_key_lies_in_the_folder_and_is_told_when_the_run_has_ended(tmp_path, capsys):
    (tmp_path / "bot.py").write_text(CALLER)
    agents, folder = f"{tmp_path}/bot.py:Bot,tag", tmp_path / "run"
    command = ["tournament", "--agents", agents, "--score", "duplicate", "--workers", "1", "--processes", "one"]
    command += ["--out", str(folder), "--json"]
    assert main([*command, "--decks", "8"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert stat.S_IMODE((folder / "run.key").stat().st_mode) == 0o600
    assert first["seed"] is None and [entry["first_deck"] for entry in first["keys"]] == [0]
    key = int(first["keys"][0]["key"], 16)
    assert 0 < key < 2**128
    # The same command goes on with the same key; the same decks can be dealt again with it.
    assert main([*command, "--decks", "8"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out) == first and "nothing left to play" in captured.err
    again = [*command[:-2], str(tmp_path / "again"), "--json", "--decks", "8", "--seed", hex(key)]
    assert main(again) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert [agent["scores"] for agent in results["agents"]] == [agent["scores"] for agent in first["agents"]]
    assert "can compute all cards" in captured.err
    # What was told deals no further deck.
    assert main([*command, "--decks", "16"]) == 0
    more = json.loads(capsys.readouterr().out)
    assert [entry["first_deck"] for entry in more["keys"]] == [0, 8]
    assert more["keys"][0] == first["keys"][0] and more["keys"][1]["key"] != first["keys"][0]["key"]
    # Another run draws another; --fresh draws anew.
    assert main([*command, "--decks", "8", "--fresh"]) == 0
    assert json.loads(capsys.readouterr().out)["keys"] != first["keys"]


def test_a_run_that_goes_on_keeps_its_key_and_one_without_is_refused(tmp_path):
    (tmp_path / "bot.py").write_text(CALLER)
    config = TournamentConfig(agents=(f"{tmp_path}/bot.py:Bot", "tag"), score="duplicate", decks=24)

    class Stop(Exception):
        pass

    def stop(block, groups):
        raise Stop

    for _ in range(2):
        with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
            with pytest.raises(Stop):
                play_run(config, store, Conduct(processes="one"), stop)
            assert make_results(config, store)["keys"] is None  # not as long as it is played
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        play_run(config, store, Conduct(processes="one"))
        parts = store.scores()
        store.publish_key()
        (key,) = make_results(config, store)["keys"]
    _, whole = play(tmp_path / "whole", config.agents, score="duplicate", decks=24, seed=int(key["key"], 16))
    assert whole.tobytes() == parts.tobytes()
    for damage in (
        "",
        "{}",
        "[" * 5000,
        '{"keys": [], "is_told": true}',
        '{"keys": [{"first_deck": 1, "key": "0x1"}], "is_told": false}',
    ):
        (tmp_path / "run" / "run.key").write_text(damage)
        with pytest.raises(RunRefused, match="run.key is damaged"):
            RunStore(tmp_path / "run", config)
    (tmp_path / "run" / "run.key").unlink()
    with pytest.raises(RunRefused, match="run.key is missing"):
        RunStore(tmp_path / "run", config)


@pytest.mark.parametrize(
    "given, deals", [([], "once"), (["--decks", "4,shared"], "shared"), (["--decks", "once"], "once")]
)
def test_without_a_sandbox_each_rotation_has_a_deck_of_its_own(tmp_path, capsys, given, deals):
    (tmp_path / "bot.py").write_text(CALLER)
    command = ["tournament", "--agents", f"{tmp_path}/bot.py:Bot,call", "--score", "duplicate", "--sandbox", "none"]
    assert main([*command, "--decks", "4", *given, "--out", str(tmp_path / "run"), "--json"]) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert (results["deals"], results["processes"]) == (deals, "one" if deals == "once" else "rotation")
    assert ("without a sandbox (deals=shared" in captured.err) == (given == [])
    # What was chosen stands in the settings: the run goes on with it.
    assert main(["tournament", str(tmp_path / "run" / "config.toml"), "--out", str(tmp_path / "run"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == results


def test_decks_and_how_they_are_dealt_are_given_together(tmp_path, capsys):
    command = ["tournament", "--agents", "call,fold", "--json", "--score", "duplicate", "--out", str(tmp_path / "run")]
    assert main([*command, "--decks", "5,once"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert (results["decks"], results["deals"], results["processes"]) == (5, "once", None)
    assert main([*command, "--decks", "shared", "--decks", "5"]) == 2
    assert "another" in capsys.readouterr().err
    assert np.isclose(sum(agent["mbb_per_hand"] for agent in results["agents"]), 0.0)


def test_a_key_that_was_told_deals_nothing_whatever_the_run_goes_on_with(tmp_path):
    (tmp_path / "bot.py").write_text(CALLER)
    less, more = (
        TournamentConfig(agents=(f"{tmp_path}/bot.py:Bot", "call", "tag"), seats=2, score="duplicate", decks=decks)
        for decks in (8, 16)
    )

    class Stop(Exception):
        pass

    def stop(block, groups):
        if block.first == 8:
            raise Stop

    def end(config, on_block=lambda block, groups: None):
        with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
            with contextlib.suppress(Stop):
                play_run(config, store, Conduct(processes="one"), on_block)
            store.publish_key()
            return make_results(config, store)["keys"]

    (first,) = end(less)
    assert first["first_deck"] == 0
    for _ in range(2):  # drawn for decks that were not played after all, and told all the same
        with contextlib.closing(RunStore(tmp_path / "run", more)) as store:
            store.renew_key()
        told = end(less)
    assert told[0] == first and told[1]["first_deck"] == 8
    # One line-up has decks that others miss: the key that will deal them stays untold.
    with contextlib.closing(RunStore(tmp_path / "run", more)) as store, pytest.raises(Stop):
        play_run(more, store, Conduct(processes="one"), stop)
    assert end(less) is None
    last = end(more)
    assert last[0] == first and last[1]["first_deck"] == 8 and last[1] != told[1]


@pytest.mark.parametrize("spec", [pytest.param("bot.py:Bot", marks=pytest.mark.slow), "bot:Bot"])
def test_nothing_beside_an_agent_is_run_by_a_worker(tmp_path, spec):
    """A worker knows the key: it imports nothing from the current folder, where agents may lie."""
    bots = tmp_path / "bots"
    bots.mkdir()
    (bots / "bot.py").write_text(CALLER)
    for name in ("pickle", "multiprocessing", "coverage", "sitecustomize"):
        (bots / f"{name}.py").write_text(f"open({str(tmp_path / 'marker')!r}, 'a').write('{name} ')\n")
    command = tmp_path / "command.py"  # like the installed one: it has its own folder on the path, not the current
    command.write_text("from plurispiel.tournaments.cli import main\n\nif __name__ == '__main__':\n    main()\n")
    arguments = ["tournament", "--agents", f"{spec},call", "--decks", "16", "--score", "duplicate", "--workers", "2"]
    arguments += ["--processes", "one", "--referee", "none"]
    done = subprocess.run(
        [sys.executable, command, *arguments, "--out", tmp_path / "run"],
        cwd=bots,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and (tmp_path / "run" / "results.json").exists(), done.stderr
    assert not (tmp_path / "marker").exists()
