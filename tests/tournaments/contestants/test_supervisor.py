"""Real agents that misbehave in every way: each costs its own hand only, and nothing else changes."""

import contextlib
import functools
import os
import random
import re
import signal
import threading
import time
from pathlib import Path

import contestant_hands
import numpy as np
import pytest
from contestant_hands import RULES, numbers, same

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import LEDUC, SIXMAX
from plurispiel.agents.base import Action
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.hand import AgentFault, deal_deck, play_hand
from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.contestants.child import MAX_OUTPUT
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.contestants.supervisor import Contestant

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOTS = Path(__file__).parent / "bots"
play = functools.partial(contestant_hands.play, big_blind=RandomAgent)
LIMITS = Limits(seconds=20.0, memory=300)


def spec(name):
    return f"{BOTS / name}.py:Bot"


@pytest.fixture
def contestant(request):
    """A contestant of the bot that a test names, ended with the test."""
    made = Contestant(spec(request.param), LIMITS)
    yield made
    made.close()


LIVES_ON = {
    "raises": ("exception", r"^act: RuntimeError: two\nlines <script> =cmd \(raises.py, line \d+\)$"),
    "recurses": ("exception", "RecursionError"),
    "exits_politely": ("exception", "act: SystemExit: no more"),
    "illegal": ("illegal", "^2 is not legal: legal are 0 "),
    "answers_none": ("illegal", "^None is not an action: FOLD, CALL or a whole number to raise to$"),
    "answers_nan": ("illegal", "^nan is not an action: "),
    "answers_too_much": ("illegal", "^1180591620717411303424 is not legal"),
    "answers_huge": ("exception", "Exceeds the limit"),
    "answers_nonsense": ("exception", "invalid literal|must be"),
}
"""Kinds and messages of faults after which the process goes on, by bot, in the order of `errs_by_turns.py`."""

ENDS = {
    "exits": ("crash", r"^act: its process ended \(exit code 7\)$"),
    "kills_itself": ("crash", "^act: its process was ended by SIGKILL$"),
    "crashes": ("crash", "SIGSEGV"),
    "floods": ("output", "^act: it printed more than 1 MiB$"),
    "forks": ("fork", "^act: it forked its process$"),
    "forks_and_answers_twice": ("fork", "^act: it forked its process$"),
    "leaks": ("memory", "^act: out of memory$"),
    "tampers": ("protocol", "makes no sense"),
    "pickles": ("protocol", "makes no sense"),
}


def check_fault(contestant, number, kind, message):
    """Check that a contestant commits a fault at its first decision of a hand, and folds."""
    hand = play(contestant, number)
    assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, kind)]
    assert re.search(message, hand.faults[0].message), hand.faults[0].message
    assert hand.actions[0] == Action(2, 0, 0)
    assert hand.payoffs[2] == 0.0


@pytest.mark.parametrize(
    ("contestant", "kind", "message"), [(name, *how) for name, how in ENDS.items()], indirect=["contestant"]
)
def test_a_fault_costs_the_own_hand_only(contestant, kind, message):
    behaves = make_agent(spec("behaves"))
    before, after = numbers(2, ace=False)
    (bad,) = numbers(1, ace=True)
    assert same(play(contestant, before), play(behaves, before))
    check_fault(contestant, bad, kind, message)
    assert same(play(contestant, after), play(behaves, after))


@pytest.mark.parametrize("contestant", ["errs_by_turns"], indirect=True)
def test_faults_of_a_process_that_goes_on_cost_their_own_hands_only(contestant):
    behaves = make_agent(spec("behaves"))
    good, bad = numbers(len(LIVES_ON) + 1, ace=False), numbers(len(LIVES_ON), ace=True)
    assert same(play(contestant, good[0]), play(behaves, good[0]))
    pid = contestant.pid
    for number, after, (kind, message) in zip(bad, good[1:], LIVES_ON.values(), strict=True):
        check_fault(contestant, number, kind, message)
        assert same(play(contestant, after), play(behaves, after))
    assert contestant.pid == pid


@pytest.mark.parametrize("name", ["hangs", "hangs_deaf"])
def test_hanging_costs_the_own_hand_only(name):
    contestant = Contestant(spec(name), Limits(seconds=1.0))
    try:
        start = time.monotonic()
        hand = play(contestant, numbers(1, ace=True)[0])
        assert [(fault.kind, fault.message) for fault in hand.faults] == [("timeout", "act: no answer within 1 s")]
        assert contestant.pid is None
        assert time.monotonic() - start < 15.0
        (other,) = numbers(1, ace=False)
        assert same(play(contestant, other), play(make_agent(spec("behaves")), other))
    finally:
        contestant.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("raises_at_restart", r"restart: ZeroDivisionError: no seat for me \(raises_at_restart.py, line \d+\)"),
        ("raises_at_observe", r"observe: LookupError: an ace on the board \(raises_at_observe.py, line \d+\)"),
    ],
)
def test_faults_out_of_turn_count_for_the_hand_they_happen_in(name, message):
    isolated, inside = Contestant(spec(name), LIMITS), make_agent(spec(name))
    deck = deal_deck(RULES, np.random.default_rng(5))
    aces = [card for card in range(48, 52) if card not in deck[:6]]
    deck[6:9] = [*aces[:1], *[card for card in range(40) if card not in deck[:6]][:2]]
    try:
        for seat in range(3):
            hands = []
            for agent in (isolated, inside):
                agents = [CallAgent(), CallAgent(), CallAgent()]
                agents[seat] = agent
                hands.append(play_hand(RULES, agents, deck, [np.random.default_rng(seat) for _ in range(3)]))
            assert [fault.seat for fault in hands[1].faults] == (
                [seat] if name.endswith("observe") or seat == 0 else []
            )
            assert same(*hands)
            for fault in hands[0].faults:
                assert fault.kind == "exception"
                assert re.fullmatch(message, fault.message), fault.message
    finally:
        isolated.close()


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("raises_at_import", "load", "raises_at_import.py cannot be loaded: RuntimeError: two\nlines"),
        ("exits_at_import", "crash", r"its process ended (exit code 5)"),
        ("hangs_at_import", "timeout", "load: no answer within 1 s"),
    ],
)
def test_files_that_do_not_load_cost_hands(name, kind, message, monkeypatch):
    if name == "hangs_at_import":
        monkeypatch.setattr(isolated, "LOAD_SECONDS", 1.0)
    contestant = Contestant(spec(name), Limits(seconds=0.5))
    try:
        hand = play(contestant, 0)
        assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, kind)]
        assert message in hand.faults[0].message
        assert contestant.pid is None
        with pytest.raises(AgentFault):
            contestant.load()
    finally:
        contestant.close()


def test_a_syntax_error_is_the_agents_own_and_a_missing_file_is_not(tmp_path):
    (tmp_path / "bad.py").write_text("class Bot(\n")
    bad = Contestant(f"{tmp_path}/bad.py:Bot", LIMITS)
    with pytest.raises(AgentFault, match="SyntaxError"):
        bad.load()
    (tmp_path / "bad.py").write_text("class Bot:\n    def act(self, view): return 1\n")
    for name, message in [("bad.py:Bot", "lacks restart"), ("worse.py:Bot", "no file")]:
        missing = Contestant(f"{tmp_path}/{name}", LIMITS)
        with pytest.raises(ValueError, match=message):
            missing.load()
        assert missing.pid is None


def test_repair_replaces_one_answer_as_long_as_the_agent_lives():
    (ace,) = numbers(1, ace=True)
    inside = {}
    for name, expected in [("illegal", 200), ("answers_too_much", 10_000), ("answers_none", 0), ("raises", 0)]:
        inside[name] = hand = play(make_agent(spec(name)), ace, repair=True)
        own = [action.action for action in hand.actions if action.seat == 2]
        assert own[0] == expected
        assert len(hand.faults) == len(own)
    for name in ("answers_too_much", "raises"):
        contestant = Contestant(spec(name), LIMITS)
        try:
            hand = play(contestant, ace, repair=True)
            assert (hand.actions, len(hand.faults)) == (inside[name].actions, len(inside[name].faults))
        finally:
            contestant.close()
    contestant = Contestant(spec("exits"), LIMITS)
    try:
        assert [fault.kind for fault in play(contestant, ace, repair=True).faults] == ["crash"]
    finally:
        contestant.close()


def family_of(pid):
    """Return a process and all below it."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
    family = {pid} & parents.keys()
    while more := {other for other, parent in parents.items() if parent in family} - family:
        family |= more
    return sorted(family)


def ended(pid):
    """Kill a process and all below it, and wait for their end: a sandboxed agent could answer once more meanwhile."""
    family = family_of(pid) if os.path.isdir("/proc/self") else [pid]
    for process in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    until = time.monotonic() + 20.0
    while any(Path(f"/proc/{process}").exists() and not is_zombie(process) for process in family):
        assert time.monotonic() < until, family
        time.sleep(0.001)


def is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("contestant", ["behaves"], indirect=True)
def test_a_process_ended_from_outside_changes_nothing(contestant):
    behaves = make_agent(spec("behaves"))

    class Killer(CallAgent):
        """Ends the contestant's process in the middle of the hand."""

        done = False

        def act(self, view):
            if contestant.pid and view.public.street == 1 and not self.done:
                ended(contestant.pid)
                self.done = True  # twice in a hand would look like its own doing
            return super().act(view)

    kills = 0
    for number in range(6):
        deck = deal_deck(RULES, np.random.default_rng((1, number)))
        hands = []
        for first, agent in ((Killer(), contestant), (CallAgent(), behaves)):
            rngs = [np.random.default_rng((2, number, seat)) for seat in range(3)]
            pid = contestant.pid
            hands.append(play_hand(RULES, [first, CallAgent(), agent], deck, rngs))
            kills += contestant.pid != pid
        assert same(*hands)
    assert kills >= 2


REMEMBERS_THE_HAND = """
from plurispiel.agents import CALL, Agent
from plurispiel.agents.base import Action

class Bot(Agent):
    def restart(self, rules, seat, rng):
        self.seen, self.asked = [], 0

    def observe(self, event):
        first = not self.seen
        self.seen.append(event)
        if first and {where!r} == "observe":
            raise LookupError("no hole cards")

    def act(self, view):
        self.asked += 1
        if self.asked == 1 and {where!r} == "act":
            raise RuntimeError("not yet")
        seen = tuple(event for event in self.seen if isinstance(event, Action))
        assert seen == view.public.actions, seen
        return CALL
"""


@pytest.mark.parametrize("kills", [False, True], ids=["lives", "is killed"])
@pytest.mark.parametrize("where", ["act", "observe"])
def test_after_a_fault_the_agent_still_hears_of_everything(tmp_path, where, kills):
    """The big blind errs at its first decision, and is asked again on the flop, perhaps in a new process."""
    (tmp_path / "bot.py").write_text(REMEMBERS_THE_HAND.format(where=where))
    name = f"{tmp_path}/bot.py:Bot"
    contestant, inside = Contestant(name, LIMITS), make_agent(name)

    class Killer(CallAgent):
        def act(self, view):
            if kills and contestant.pid and view.public.street == 1:
                ended(contestant.pid)
            return super().act(view)

    deck = deal_deck(RULES, np.random.default_rng(1))
    rngs = [np.random.default_rng(seat) for seat in range(3)]
    with contextlib.closing(contestant):
        first = play_hand(RULES, [CallAgent(), inside, CallAgent()], deck, rngs, repair=True)
        contestant.load()
        pid = contestant.pid
        hand = play_hand(RULES, [Killer(), contestant, CallAgent()], deck, rngs, repair=True)
        assert (contestant.pid != pid) == kills
    assert len(hand.faults) == 1 and same(hand, first)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    "choice",
    [
        pytest.param("none", marks=pytest.mark.slow),
        pytest.param("auto", marks=pytest.mark.skipif(working_sandbox("auto") is None, reason="no sandbox here")),
    ],
)
def test_fifteen_kills_while_it_starts_change_nothing(choice):
    """At any moment of it, and though it had never been there before."""
    contestant = Contestant(spec("behaves"), LIMITS, sandbox=working_sandbox(choice))
    moments = random.Random(choice)
    killed, is_over = set(), threading.Event()

    def kill():
        while len(killed) < 15 and not is_over.is_set():
            pid = contestant.pid
            if pid is None or pid in killed:
                time.sleep(0.001)
                continue
            time.sleep(0.15 * moments.random())  # a start takes 0.2 s and more
            family = family_of(pid)
            if family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(moments.choice(family), signal.SIGKILL)
            killed.add(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        (number,) = numbers(1, ace=False)
        hand = play(make_agent(spec("behaves")), number)
        while killer.is_alive():
            assert same(play(contestant, number), hand)
        assert len(killed) == 15
    finally:
        is_over.set()  # without this, a failure would wait for kills of processes that nobody starts
        killer.join()
        contestant.close()


@pytest.mark.slow  # many starts; one that exits at import is among test_files_that_do_not_load_cost_hands
def test_an_agent_that_kills_itself_while_it_loads_is_told_from_kills_by_others():
    contestant = Contestant(spec("kills_itself_at_import"), LIMITS)
    with contextlib.closing(contestant):
        for _ in range(2):
            hand = play(contestant, 1)
            assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, "crash")]
            assert "ended by SIGKILL" in hand.faults[0].message


def test_what_an_agent_has_started_ends_with_it(tmp_path):
    (tmp_path / "starts.py").write_text(
        "import subprocess, sys\n"
        "from plurispiel.agents import Agent\n"
        "class Bot(Agent):\n"
        "    def __init__(self):\n"
        "        self.helper = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        "        open('helper', 'w').write(str(self.helper.pid))\n"
        "    def act(self, view):\n"
        "        return 1\n"
    )
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        contestant = Contestant("starts.py:Bot", LIMITS)
        assert not play(contestant, 0).faults
        helper = int((tmp_path / "helper").read_text())
        os.kill(helper, 0)
        contestant.close()
        limit = time.monotonic() + 10.0
        while Path(f"/proc/{helper}").exists() and "Z" not in Path(f"/proc/{helper}/stat").read_text().split()[2]:
            assert time.monotonic() < limit
            time.sleep(0.05)
    finally:
        os.chdir(here)


class Recorder(Contestant):
    """Keeps every byte that is sent to its process."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sent = b""

    def send(self, frame):
        self.sent += frame
        super().send(frame)


@pytest.mark.parametrize(
    ("rules", "decks"),
    [(RULES, 4), (LEDUC, 5), pytest.param(SIXMAX, 5, marks=pytest.mark.slow)],
    ids=["hold'em", "leduc", "sixmax"],
)
def test_no_byte_sent_names_a_card_the_agent_must_not_see(rules, decks):
    names = ("tag", "random", "equity", "call", "fold", "raise")[: rules.num_seats]
    seats, plain = [Recorder(name, LIMITS) for name in names], [make_agent(name) for name in names]
    hands = []
    size = rules.num_hole_cards
    seen = 0

    def scan(hand, numbers, _):
        nonlocal seen
        hands.append((hand.actions, hand.payoffs))
        shown = rules.board_size(max((action.street for action in hand.actions), default=0))
        for seat, number in enumerate(numbers):
            told = seats[number].sent.decode("latin-1")
            seats[number].sent = b""
            own = hand.deck[seat * size : (seat + 1) * size]
            board = hand.deck[rules.num_seats * size :][:shown]
            allowed = {cards_text([card]) for card in (*own, *board)}
            for card in (cards_text([card]) for card in range(52)):
                assert (card in told) <= (card in allowed), (card, told)
            seen += all(cards_text([card]) in told for card in own)

    contestants = list(range(rules.num_seats))
    try:
        streams = Streams(rules.num_seats, Seeded(1))
        for deck in range(decks):
            play_group(rules, lambda rotation: seats, contestants, streams, (0, deck), scan)
        isolated, hands = hands, []
        for deck in range(decks):
            keep = lambda hand, *_: hands.append((hand.actions, hand.payoffs))  # noqa: E731
            play_group(rules, lambda rotation: plain, contestants, streams, (0, deck), keep)
        assert isolated == hands
        assert seen > decks * rules.num_seats  # the scan finds cards where there are some
    finally:
        for seat in seats:
            seat.close()


def test_range_strategies_come_through_whole():
    hand = play(CallAgent(), 3)
    from plurispiel.abstraction.holdem.betting import BettingState
    from plurispiel.agents.base import PublicState

    for name in ("tag", "equity"):
        isolated, inside = Contestant(name, LIMITS), make_agent(name)
        try:
            betting = BettingState(RULES)
            for agent in (isolated, inside):
                agent.restart(RULES, 0, np.random.default_rng(1))
            for count, action in enumerate(hand.actions[:5]):
                board = tuple(hand.deck[6 : 6 + RULES.board_size(betting.street)].tolist())
                public = PublicState(RULES, betting.array.tolist(), board, hand.actions[:count])
                ours, theirs = isolated.range_strategy(public), inside.range_strategy(public)
                assert np.array_equal(ours.actions, theirs.actions)
                assert np.array_equal(ours.probabilities, theirs.probabilities)
                assert (ours.highest is None) == (theirs.highest is None)
                assert theirs.highest is None or np.array_equal(ours.highest, theirs.highest)
                betting.apply(action.action)
        finally:
            isolated.close()
    silent = Contestant(spec("behaves"), LIMITS)
    try:
        silent.restart(RULES, 0, np.random.default_rng(1))
        assert silent.range_strategy(public) is None
    finally:
        silent.close()


def test_the_log_keeps_what_was_printed_up_to_a_limit(tmp_path):
    contestant = Contestant(spec("floods"), LIMITS, tmp_path / "logs" / "agent-0.log")
    try:
        for _ in range(2):
            play(contestant, numbers(1, ace=True)[0])
        assert (tmp_path / "logs" / "agent-0.log").stat().st_size == MAX_OUTPUT
    finally:
        contestant.close()
