"""Profiles of bots with known play, and the bot that bets as little as it may."""

import json
import math
import os

import numpy as np
import pytest
from min_raiser import MinRaiser, SmallBettor
from table import agent_at, public_after

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents import make_agent
from plurispiel.tournaments.bench.bot_profile import (
    ProfileSettings,
    bench_bot_profile,
    bot_profile_text,
    play_profile,
    profile_settings,
)
from plurispiel.tournaments.bench.leak_spots import measure_spot, spots_of
from plurispiel.tournaments.cli import main

FEW = ProfileSettings(("call", "fold"), "HUNL", 4, 1, ("self", "raise"))


@pytest.fixture(scope="module")
def rows():
    return bench_bot_profile(FEW)


def test_callers_and_folders(rows):
    figures = {row.name: round(row.value, 9) for row in rows}
    assert len(figures) == len(rows)
    call, fold = (f"first look | VPIP | | {name}, self".replace("| |", "|  |") for name in ("call", "fold"))
    assert figures[call] == 50.0 and figures[fold] == 0.0  # the big blind only checks
    assert figures["first look | WTSD |  | call, raise"] == 100.0
    assert figures["first look | limps first in, BTN |  | call, self"] == 100.0
    assert figures["leaks | after the flop, call above 0.99 |  | call, raise"] == 100.0
    assert figures["leaks | on the tree, facing a bet: calls |  | call, raise"] == 100.0
    assert math.isnan(figures["leaks | on the tree, facing a bet: calls |  | call, self"])
    assert figures["leaks | flop, 100 into 500 after a check: 72o goes on |  | call, self"] == 100.0
    assert figures["leaks | flop, 100 into 500 after a check: range goes on |  | fold, self"] == 0.0
    answers = [figures[f"situations | flop, 2 players, no bet, 0.45-0.65 | {a} | call, self"] for a in ("fold", "call")]
    assert answers == [0.0, 100.0]
    number = next(row.note for row in rows if row.name == "first look | VPIP |  | call, self")
    assert number == "8.0 hands"  # both seats of four hands
    assert next(row.note for row in rows if row.name == "first look | VPIP |  | call, raise") == "4.0 hands"


def test_text_has_a_column_for_each_agent(rows):
    lines = bot_profile_text(rows).splitlines()
    assert lines[0].split("  ")[-4:] == ["call, self", "call, raise", "fold, self", "fold, raise"]
    vpip = next(line for line in lines if line.startswith("VPIP  "))
    assert vpip.split()[1:] == ["50.00", "(8)", "100.00", "(4)", "0.00", "(8)", "0.00", "(4)"]
    assert len({len(line) for line in lines if line}) == 1
    assert not any(line.startswith("flop, 2 players, no bet") for line in lines)  # too few decisions


def test_command(capsys):
    assert main("bench bot-profile --agents tag --hands 2 --opponents log-uniform --own-sizes 0.5 --json".split()) == 0
    figures = json.loads(capsys.readouterr().out)["figures"]
    assert {"first look | VPIP |  | tag", "sources | after the flop: row |  | tag"} <= {row["name"] for row in figures}
    for words in (
        "engine --time-limit 3",
        "engine --hands 3",
        "bot-profile --hands 0",
        "bot-profile --own-sizes 2",
        "bot-profile --game LEDUC",
    ):
        assert main(["bench", *words.split()]) == 2
    assert "got bench engine" in capsys.readouterr().err


def test_settings():
    assert profile_settings(agents="tag, call", hands=3) == ProfileSettings(("tag", "call"), hands=3)
    for unknown in ({"hands": 0}, {"seed": -1}, {"own_sizes": -0.1}, {"game": "HULH", "hands": -1}):
        with pytest.raises(ValueError):
            profile_settings(**unknown)


def test_opponents_have_the_other_seats():
    settings = ProfileSettings(("fold",), "SIXMAX", 12)
    profile = play_profile("fold", SIXMAX, "raise", settings)
    assert profile.num_hands == 12 and profile.counts[:, 0].tolist() == [2] * 6
    assert play_profile("fold", SIXMAX, "self", settings).counts[:, 0].tolist() == [12] * 6


def test_spots():
    named = {spot.name: spot for spot in spots_of(SIXMAX)}
    assert len(named) == 6 and len(spots_of(HUNL)) == 2
    flop = public_after(SIXMAX, named["flop, 100 into 500 after a check"].actions)
    assert (flop.position, flop.pot, flop.to_call) == ("BB", 600, 100)
    river = public_after(HUNL, spots_of(HUNL)[1].actions, spots_of(HUNL)[1].board)
    assert (river.street, river.pot, river.to_call, river.board) == (3, 600, 100, parse_cards("AhKdQs9c8h"))
    assert public_after(SIXMAX, named["CO, UTG raises to 225, HJ to 350"].actions).position == "CO"
    spot = named["HJ, UTG raises to 220"]
    shares = measure_spot(make_agent("tag"), SIXMAX, spot, 1)
    strategy = make_agent("tag").range_strategy(public_after(SIXMAX, spot.actions))
    assert shares["72o"] == 0.0
    assert shares["range"] == pytest.approx(1.0 - strategy.probabilities[:, 0].mean())


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_sources_of_a_blueprint_that_meets_other_sizes():
    profile = play_profile("blueprint", SIXMAX, "log-uniform", ProfileSettings(hands=60))
    later = sum(count for (_, place), count in profile.sources.items() if place == "after the flop")
    assert later == profile.num_after_flop > 0
    before = {source: count for (source, place), count in profile.sources.items() if place == "before the flop"}
    assert before["row"] > 20 and before["large bet"] > 20 and sum(before.values()) > 60
    assert set(profile.sources) - {("row", "before the flop"), ("row", "after the flop")}


def test_min_raiser():
    agent = agent_at(MinRaiser(), HUNL)
    answers = {
        (): 200,
        (250,): 400,
        (250, 1): 350,  # a fifth of 500
        (250, 1, 350): 450,
        (250, 1, 350, 650): 950,
        (250, 20_000): 1,
        (1,): 200,
    }
    for actions, answer in answers.items():
        assert agent.action(public_after(HUNL, actions, "QsJh2h")) == answer


def test_small_bettor():
    agent = agent_at(SmallBettor(), HUNL)
    small = agent.range_strategy(public_after(HUNL, (250, 1), "QsJh2h"))
    assert small.actions.tolist() == [350] and (small.probabilities == 1.0).all()
    faced = public_after(HUNL, (250, 1, 350, 650), "QsJh2h")
    strategy = agent.range_strategy(faced)
    assert strategy.actions.tolist() == [950, 1, 0]
    queens, air = (faced.rules.combo_id(parse_cards(cards)) for cards in ("QdQc", "7c3d"))
    assert strategy.probabilities[[queens, air]].tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.slow  # six processes
def test_an_agent_from_outside_has_the_profile_of_the_object(tmp_path):
    (tmp_path / "mine.py").write_text(
        "from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent\n\n\n"
        "class Mine(TightAggressiveAgent):\n    pass\n"
    )
    for opponents in ("self", "call"):
        settings = ProfileSettings(hands=8, game="HUNL")
        ours, mine = (play_profile(spec, HUNL, opponents, settings) for spec in ("tag", f"{tmp_path}/mine.py:Mine"))
        assert np.array_equal(ours.counts, mine.counts) and np.array_equal(ours.situations, mine.situations)
