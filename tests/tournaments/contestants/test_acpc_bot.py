"""Programs that speak the ACPC's protocol: what they are sent, and what a wrong answer costs."""

import contextlib
import json
import os
import re
import shlex
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from contestant_hands import RULES, Recorder, numbers, play, same

from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.evaluation.hand import AgentFault, deal_deck, play_hand
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.contestants.acpc_bot import AcpcBot
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.formats.match_state import seen_cards, write_match_state

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOT = Path(__file__).parent / "bots" / "acpc_bot.py"
CLIENT = Path(__file__).parents[2] / "acpc_client.py"
LIMITS = Limits(seconds=20.0, memory=300)


class RecordedAcpcBot(Recorder, AcpcBot):
    """Keeps every line that is sent to its process."""

    def lines(self):
        """Return the lines since the last call, without their ends."""
        return [line.decode().removesuffix("\r\n") for line in super().lines()]


@contextlib.contextmanager
def bot(mode="behaves", limits=LIMITS, **more):
    spec = f"acpc:{shlex.join([sys.executable, '-I', '-S', str(BOT), mode])}"
    with contextlib.closing(RecordedAcpcBot(spec, limits, **more)) as made:
        yield made


def states(hand, seat, number):
    """The states that a seat is to be told in a hand."""
    rules, cards = hand.rules, hand.deck.tolist()
    holes = [cards[2 * k : 2 * k + 2] for k in range(rules.num_seats)]
    for count in range(len(hand.actions) + 1):
        betting = replay_betting(rules, [action.action for action in hand.actions[:count]])
        state = betting.state
        seen = seen_cards(holes, seat, state.folded if state.is_over and betting.showdown else None)
        board = cards[2 * rules.num_seats :]
        yield write_match_state(rules, seat, number, betting.actions, state.street, seen, board)


def test_a_program_is_sent_every_state_that_it_may_see_and_nothing_else():
    with bot() as agent:
        hands = [play(agent, number) for number in range(6)]
        agent.restart(RULES, 2, np.random.default_rng(0))
        agent._ask(agent._pass_notes, "end")
        sent = agent.lines()
    assert sent == [line for number, hand in enumerate(hands) for line in states(hand, 2, number)]
    assert not any(hand.faults for hand in hands)


FAULTS = {
    "garbage": ("protocol", "^act: lines are printable ASCII, got b'garbage"),
    "nul": ("protocol", "printable ASCII"),
    "long": ("protocol", "^act: a line has at most 4096 bytes"),
    "no-end": ("protocol", "at most 4096 bytes"),
    "other-hand": ("protocol", "more than 16 lines .* 'MATCHSTATE:92:9"),
    "states": ("protocol", "^act: more than 16 lines in a hand do not answer its last state; .* 'MATCHSTATE:2:"),
    "empty-lines": ("protocol", "more than 16 lines"),
    "comments": ("protocol", "more than 16 lines .* '# hello'"),
    "no-word": ("illegal", "^an action is written f, c or r and chips over the whole hand, got 'call'"),
    "no-raise": ("illegal", "got 'r'"),
    "huge": ("illegal", "got 'r9999"),
    "r1": ("illegal", "^2 is not legal: legal are 0 "),
    "too-small": ("illegal", "^2 is not legal"),
    "too-large": ("illegal", "^999999999 is not legal"),
    "exits": ("crash", r"^act: its process ended \(exit code 3\)$"),
    "killed": ("crash", "^act: its process was ended by SIGKILL$"),
    "kills-its-relay": ("crash", "^act: its process was ended by SIGKILL$"),
    "closes": ("crash", r"^act: its process ended \(exit code 0\)$"),
    "resets": ("crash", r"^act: its process ended \(exit code 0\)$"),
    "floods": ("output", "^act: it printed more than 1 MiB$"),
    "eats": ("crash", r"^act: its process ended \(exit code 1\)$"),
    "half": ("timeout", "^act: no answer within 0.7 s$"),
    "late": ("timeout", "^act: no answer within 0.7 s$"),
}


# The lines themselves are also tested without processes, in test_told_hand.py and test_connection.py.
RARER = ("nul", "long", "empty-lines", "comments", "states", "no-raise", "huge", "too-large", "late", "resets")


@pytest.mark.parametrize(
    ("mode", "kind", "message"),
    [
        pytest.param(mode, *fault, marks=[pytest.mark.slow] if mode in RARER else [], id=mode)
        for mode, fault in FAULTS.items()
    ],
)
def test_a_wrong_answer_costs_the_own_hand_only(mode, kind, message):
    before, after = numbers(2, ace=False)
    (bad,) = numbers(1, ace=True)
    limits = Limits(0.7, 300) if kind == "timeout" else LIMITS
    with bot(mode, limits) as agent:
        agent.load(RULES)
        if kind != "timeout":  # a hand that might be late on a crowded machine
            assert same(play(agent, before), play(CallAgent(), before))
        pid = agent.pid
        hand = play(agent, bad)
        assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, kind)], hand.faults
        assert re.search(message, hand.faults[0].message), hand.faults[0].message
        assert [action.action for action in hand.actions if action.seat == 2] == [0]
        assert (agent.pid == pid) == (kind == "illegal")  # only then the process lives on
        if kind != "timeout":
            assert same(play(agent, after), play(CallAgent(), after))


@pytest.mark.parametrize("mode", ["prints", "early", "second-connection", "in-pieces", "version-2.9"])
def test_what_is_allowed(mode):
    with bot(mode) as agent:
        for number in numbers(2, ace=True):
            assert same(play(agent, number), play(CallAgent(), number))


@pytest.mark.parametrize(
    ("mode", "kind", "message"),
    [
        ("silent", "load", "does not load: no answer within 1 s"),
        ("no-version", "load", "does not load: no answer within 1 s"),
        ("exits-at-start", "load", r"does not load: its process ended \(exit code 1\): no licence$"),
        ("version-1", "protocol", "the first line of a program is VERSION:2.x.y, got 'VERSION:1.0.0'"),
        ("hello", "protocol", "got 'HELLO'"),
    ],
)
def test_a_program_that_is_not_ready_costs_its_hands(mode, kind, message, monkeypatch):
    is_slow = mode in ("silent", "no-version")
    monkeypatch.setattr(isolated, "LOAD_SECONDS", 1.0 if is_slow else 60.0)
    with bot(mode, Limits(0.5 if is_slow else 20.0, 300)) as agent:
        hand = play(agent, 0)
        assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, kind)]
        assert re.search(message, hand.faults[0].message), hand.faults[0].message
        assert agent.pid is None
        with pytest.raises(AgentFault):
            agent.load(RULES)


def test_repair_replaces_a_raise_that_is_not_legal_by_the_nearest():
    (bad,) = numbers(1, ace=True)
    for mode, expected in (("too-small", 200), ("too-large", 10_000), ("no-word", 0)):
        with bot(mode) as agent:
            hand = play(agent, bad, repair=True)
            assert next(action.action for action in hand.actions if action.seat == 2) == expected
            assert {fault.kind for fault in hand.faults} == {"illegal"}


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as stream:
        return [int(word) for word in stream.read().split()]


def agents_of(agent):
    """The ids of the relay and of the program."""
    (relay,) = children(agent.pid)
    return [relay, *children(relay)]


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc here")
def test_a_process_that_is_ended_from_outside_is_told_the_present_state_as_hand_0():
    number = numbers(1, ace=False)[0]
    with bot() as agent:
        play(agent, number)

        family = []

        class Killer(CallAgent):
            def act(self, view):
                if view.public.street == 1:
                    family[:] = agents_of(agent)
                    os.kill(agent.pid, 9)
                    while any(map(is_alive, family)):
                        time.sleep(0.01)
                return super().act(view)

        agent.lines()
        deck = deal_deck(RULES, np.random.default_rng((1, number)))
        hand = play_hand(RULES, [CallAgent(), Killer(), agent], deck, [np.random.default_rng(0)] * 3)
        assert same(hand, play(CallAgent(), number))
        lines = [line.split(":")[2:4] for line in agent.lines()]
        assert ["1", ""] in lines and ["0", "ccc/cc"] in lines and len(family) == 2
        play(agent, number)
        agent._ask(agent._pass_notes, "end")
        assert {line.split(":")[2] for line in agent.lines()} == {"0", "1"}


def test_a_game_that_the_protocol_cannot_tell():
    rules = HoldemRules((1, 1), None, (0,), (1,), "limit", (1,), (1,), betting_abstraction="fcpa")
    with bot() as agent:
        agent.load(rules)
        hand = play_hand(rules, [agent, CallAgent()], deal_deck(rules, np.random.default_rng(0)), [None] * 2)
    assert [(fault.seat, fault.kind) for fault in hand.faults] == [(0, "load")]


@pytest.mark.skipif(working_sandbox("auto") is None, reason="no sandbox here")
def test_a_program_in_a_sandbox():
    number, bad = numbers(1, ace=False)[0], numbers(1, ace=True)[0]
    with bot("exits", sandbox=working_sandbox("auto")) as agent:
        for _ in range(2):
            assert same(play(agent, number), play(CallAgent(), number))
            assert [fault.kind for fault in play(agent, bad).faults] == ["crash"]


def test_in_a_tournament_and_in_compliance(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    spec = f"acpc:{sys.executable} -I {CLIENT}"
    settings = json.dumps(["call", spec])
    (tmp_path / "match.toml").write_text(f"agents = {settings}\nseats = 2\ndecks = 4\n")
    options = ["--workers", "1", "--score", "duplicate", "--json", "--out", "run", "--game", "HUNL"]
    assert main(["tournament", "match.toml", *options]) == 0
    record = json.loads(capsys.readouterr().out)
    rates = [agent["mbb_per_hand"] for agent in record["agents"]]
    assert sum(rates) == 0.0
    if working_sandbox("auto") is not None:  # otherwise each rotation has a deck of its own
        assert rates == [0.0, 0.0]  # both call
    assert [agent["faults"] for agent in record["agents"]] == [0, 0]
    assert main(["compliance", spec, "--game", "HUNL", "--hands", "4", "--seconds", "3", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["faults"] == {} and record["violations"] == [] and record["tells_range"] is False
    assert main(["lbr", "--agent", spec, "--hands", "4", "--workers", "1"]) == 2
    assert "only the line protocol (stdio:PROGRAM) has a way" in capsys.readouterr().err
