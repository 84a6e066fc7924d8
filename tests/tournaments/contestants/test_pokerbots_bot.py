"""Bots of Pokerbots: what they are sent, how they play, and what a wrong answer costs."""

import contextlib
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from contestant_hands import Recorder, same

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.openspiel import game_string
from plurispiel.abstraction.holdem.rules import no_limit_holdem
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.hand import AgentFault, deal_deck, play_hand
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.pokerbots_bot import PokerbotsBot
from plurispiel.tournaments.contestants.sandbox import working_sandbox

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOTS = Path(__file__).parent / "bots"
RULES = no_limit_holdem(2)
LIMITS = Limits(seconds=20.0, memory=300)


class RecordedPokerbotsBot(Recorder, PokerbotsBot):
    """Keeps every line that is sent to its process."""

    def lines(self):
        """Return the lines since the last call, without their ends."""
        return [line.decode().removesuffix("\n") for line in super().lines()]


def write_bot(folder, mode="behaves"):
    folder.mkdir(exist_ok=True)
    (folder / "player.py").write_bytes((BOTS / "pokerbot.py").read_bytes())
    run = [sys.executable, "-I", "-S", "player.py", mode]
    (folder / "commands.json").write_text(json.dumps({"build": [], "run": run}))
    return f"pokerbots:{folder}"


@pytest.fixture
def bot(tmp_path):
    """A function that returns the stand-in for a bot of a mode."""
    with contextlib.ExitStack() as made:

        def make(mode="behaves", limits=LIMITS, options="", **more):
            spec = write_bot(tmp_path / "pokerbot", mode) + options
            return made.enter_context(contextlib.closing(RecordedPokerbotsBot(spec, limits, **more)))

        yield make


def play(agent, number, *, opponent=RandomAgent, repair=False):
    """Play a hand that depends on its number alone, in both seats by turns."""
    deck = deal_deck(RULES, np.random.default_rng((1, number)))
    rngs = [np.random.default_rng((2, number, seat)) for seat in range(2)]
    return play_hand(RULES, [agent, opponent()][:: 1 - 2 * (number % 2)], deck, rngs, repair=repair)


def numbers(count, *, ace):
    """Return the first hands in which the bot holds an ace and acts first, or holds none."""
    found = []
    for number in range(1, 200, 2):
        deck = deal_deck(RULES, np.random.default_rng((1, number)))
        if any(card // 4 == 12 for card in deck[2:4]) == ace:
            found.append(number)
    return found[:count]


def long_hand():
    """Return the first hand in which the bot acts first, and meets a call on every street."""
    twin = make_agent(f"{BOTS}/by_cards.py:Bot")
    return next(n for n in range(1, 99, 2) if len(play(twin, n, opponent=CallAgent).actions) > 5)


def told_cards(line):
    return set(re.findall(r"[2-9TJQKA][cdhs]", line))


def test_it_plays_as_the_same_strategy_does_in_this_process_and_sees_only_its_cards(bot):
    agent, twin = bot(), make_agent(f"{BOTS}/by_cards.py:Bot")
    ends = set()
    for number in range(60):
        hand = play(agent, number)
        assert same(hand, play(twin, number)) and not hand.faults
        seat, cards = number % 2, [card_text(int(card)) for card in hand.deck]
        own, other, board = cards[2 * seat : 2 * seat + 2], cards[2 - 2 * seat : 4 - 2 * seat], cards[4:]
        lines = agent.lines()
        streets = [action.street for action in hand.actions if action.seat == seat]
        assert len(lines) == len(streets) + 1  # one for each decision, and one for the end
        seen = set()
        for line, street in zip(lines, streets, strict=False):
            seen |= told_cards(line)
            assert seen == {*own, *board[: RULES.board_size(street)]}
        last = max(action.street for action in hand.actions)
        seen |= told_cards(lines[-1])
        shown = {*other, *board} if hand.showdown else {*board[: RULES.board_size(last)]}
        assert seen == {*own, *shown}
        assert lines[-1].endswith(f" D{hand.payoffs[seat]:.0f}") and (" O" in lines[-1]) == hand.showdown
        assert all(re.fullmatch(r"T\d+\.\d{3}( [PHFCKRBOD][^ ]+| [FCK])*", line) for line in lines)
        ends.add((hand.showdown, max(abs(chips) for chips in hand.payoffs) == 10_000, seat))
    assert ends >= {(False, False, 0), (False, False, 1), (True, True, 1), (True, False, 1)}


def test_a_hand_in_lines(bot):
    agent = bot()
    play(agent, 0)
    agent.lines()
    number = long_hand()
    hand = play(agent, number, opponent=CallAgent)
    lines = agent.lines()
    cards = [card_text(int(card)) for card in hand.deck]
    assert lines[0].split()[1:] == ["P0", f"H{cards[2]},{cards[3]}"]
    clauses = " ".join(line.partition(" ")[2] for line in lines).split()
    assert clauses.count(f"B{','.join(cards[4:7])}") == 1  # history is sent once
    clocks = [float(line.split()[0][1:]) for line in lines]
    assert clocks == sorted(clocks, reverse=True) and 59_000.0 < clocks[-1] < 60_000.0  # 1,000 hands of 3 x 20 s


FAULTS = {
    "garbage": ("protocol", "^act: lines are printable ASCII, got b'hello"),
    "bid": ("protocol", "^act: .* variants with other clauses are not played; got 'A20'"),
    "words": ("protocol", "got 'K 3'"),
    "no-end": ("protocol", "at most 4096 bytes"),
    "twice": ("protocol", "^act: it wrote a line that answers no question"),
    "no-number": ("illegal", "^a raise is R and chips of the street, as in R300, got 'R'"),
    "huge": ("illegal", "got 'R9999"),
    "tiny": ("illegal", "got 'R1'"),
    "too-large": ("illegal", "^99999 is not legal: legal are 0 "),
    "wrong-check": ("illegal", "^K is a check where none is possible"),
    "exits": ("crash", r"^act: its process ended \(exit code 3\)$"),
    "killed": ("crash", "^act: its process was ended by SIGKILL$"),
    "silent": ("timeout", "^act: no answer within 0.7 s$"),
}


@pytest.mark.parametrize(("mode", "kind", "message"), [(mode, *fault) for mode, fault in FAULTS.items()])
def test_a_wrong_answer_costs_the_own_hand_only(bot, mode, kind, message):
    before, after = numbers(2, ace=False)
    (bad,) = numbers(1, ace=True)
    agent, twin = bot(mode, Limits(0.7, 300) if kind == "timeout" else LIMITS), make_agent(f"{BOTS}/by_cards.py:Bot")
    agent.load(RULES)
    if kind != "timeout":  # a hand that might be late on a crowded machine
        assert same(play(agent, before), play(twin, before))
    pid = agent.pid
    hand = play(agent, bad)
    assert [(fault.seat, fault.kind) for fault in hand.faults] == [(1, kind)], hand.faults
    assert re.search(message, hand.faults[0].message), hand.faults[0].message
    assert [action.action for action in hand.actions if action.seat == 1] == [0]
    assert (agent.pid == pid) == (kind == "illegal")  # only then the process lives on
    if kind != "timeout":
        assert same(play(agent, after), play(twin, after))


def test_the_end_of_a_hand_has_to_be_acknowledged(bot):
    agent = bot("no-check")
    for number in (0, 1):
        hand = play(agent, number)
        assert [fault.kind for fault in hand.faults] == ["illegal"]
        assert "the end of a hand is acknowledged by K, got 'C'" in hand.faults[0].message


def test_repair_replaces_a_raise_by_the_nearest(bot):
    (bad,) = numbers(1, ace=True)
    hand = play(bot("too-large"), bad, opponent=CallAgent, repair=True)
    assert next(action.action for action in hand.actions if action.seat == 1) == 10_000


def test_a_match_has_its_hands_and_its_clock(bot, tmp_path):
    log = tmp_path / "logs" / "bot.log"
    agent = bot(options="?hands=2&clock=100", log=log)
    pids = []
    for number in range(5):
        play(agent, number)
        pids.append(agent.pid)
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]
    lines = agent.lines()
    assert lines.count("Q") == 2 and sum(line.startswith("T100.000 P") for line in lines) == 3
    agent.close()
    assert log.read_text() == "quits\n" * 3


def test_a_clock_that_runs_out_is_a_timeout(bot):
    agent = bot("silent", options="?clock=0.5")
    agent.load(RULES)
    agent.restart(RULES, 1, np.random.default_rng(0))
    hand = play(agent, numbers(1, ace=True)[0])
    assert [(fault.kind, fault.message) for fault in hand.faults] == [
        ("timeout", "act: the clock of its match has run out")
    ]


def test_a_process_that_is_ended_from_outside_is_told_the_whole_hand(bot):
    agent, twin = bot(), make_agent(f"{BOTS}/by_cards.py:Bot")
    agent.load(RULES)

    class Killer(CallAgent):
        def act(self, view):
            if view.public.street == 1:
                agent._end()
            return super().act(view)

    number = long_hand()
    assert same(play(agent, number, opponent=Killer), play(twin, number, opponent=CallAgent))
    first = [line for line in agent.lines() if " P0 " in line]
    assert len(first) == 2 and " B" in first[1]


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("exits-at-start", r"does not load: its process ended \(exit code 1\): no licence$"),
        ("never-connects", "does not load: no answer within 1 s"),
    ],
)
def test_a_bot_that_does_not_connect_costs_its_hands(bot, mode, message, monkeypatch):
    is_slow = mode == "never-connects"
    monkeypatch.setattr(isolated, "LOAD_SECONDS", 1.0 if is_slow else 60.0)
    agent = bot(mode, Limits(0.5 if is_slow else 20.0, 300))
    hand = play(agent, 1)
    assert [(fault.seat, fault.kind) for fault in hand.faults] == [(1, "load")]
    assert re.search(message, hand.faults[0].message), hand.faults[0].message
    assert agent.pid is None
    with pytest.raises(AgentFault):
        agent.load(RULES)


def test_a_bot_that_does_not_start_may_have_to_be_built(bot, tmp_path):
    agent = bot("exits-at-start")
    run = [sys.executable, "-c", "raise SystemExit('no class')"]
    (tmp_path / "pokerbot" / "commands.json").write_text(json.dumps({"build": ["make"], "run": run}))
    with pytest.raises(AgentFault, match=r"no class; plurispiel compliance pokerbots:.* --build --game HUNL builds"):
        agent.load(RULES)


def test_other_games_are_refused(bot):
    agent = bot()
    with pytest.raises(ValueError, match="this game has 3 seats"):
        agent.load(no_limit_holdem(3))
    with pytest.raises(AgentFault, match="this game has 3 seats"):
        agent.restart(no_limit_holdem(3), 0, np.random.default_rng(0))


@pytest.mark.skipif(working_sandbox("auto") is None, reason="no sandbox here")
def test_a_bot_in_a_sandbox_finds_localhost(bot):
    agent, twin = bot(sandbox=working_sandbox("auto")), make_agent(f"{BOTS}/by_cards.py:Bot")
    assert same(play(agent, 0), play(twin, 0))


@pytest.mark.slow
def test_in_a_tournament_and_in_compliance(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write_bot(tmp_path / "mine")
    arguments = ["tournament", "--agents", f"pokerbots:mine,{BOTS}/by_cards.py:Bot", "--score", "duplicate"]
    arguments += ["--workers", "1", "--json", "--out", "run"]
    assert main([*arguments, "--decks", "3", "--game", game_string(RULES)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [agent["name"] for agent in record["agents"]] == ["pokerbots:mine", "by_cards.py:Bot"]
    assert [agent["mbb_per_hand"] for agent in record["agents"]] == [0.0, 0.0]
    assert [agent["faults"] for agent in record["agents"]] == [0, 0]
    assert main(["tournament", "--agents", "pokerbots:mine,call,tag", "--decks", "3", "--out", "other"]) == 2
    captured = capsys.readouterr().err
    assert "this game has 3 seats" in captured and captured.count("\n") <= 2 and not Path("other").exists()
    commands = json.loads(Path("mine/commands.json").read_text())
    commands["build"] = [sys.executable, "-c", "print('built')"]
    Path("mine/commands.json").write_text(json.dumps(commands))
    arguments = ["compliance", "pokerbots:mine", "--build", "--hands", "4", "--seconds", "1", "--json"]
    assert main([*arguments, "--game", game_string(RULES)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["faults"] == {} and record["violations"] == [] and record["tells_range"] is False
    assert main(["compliance", "tag", "--build"]) == 2
    assert "--build is for agents written pokerbots:FOLDER, got 'tag'" in capsys.readouterr().err
