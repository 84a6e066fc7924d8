"""Programs that speak the line protocol: what they are sent, what they may answer, and what a wrong answer costs."""

import base64
import contextlib
import json
import os
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from contestant_hands import RULES, Recorder, numbers, play, same
from line_schema import SCHEMA, fits
from markdown_blocks import ROOT

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC, SIXMAX
from plurispiel.agents.base import PublicState
from plurispiel.agents.baselines.simple import CallAgent, RandomAgent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.hand import AgentFault, deal_deck, play_hand
from plurispiel.evaluation.streams import Seeded, Streams
from plurispiel.tournaments.contestants import isolated
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.line_bot import MAX_LINE, LineBot
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.formats.match_state import read_match_state

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

BOT = Path(__file__).parent / "bots" / "line_bot.py"
LIMITS = Limits(seconds=20.0, memory=300)


def spec(mode="behaves", options=""):
    command = [sys.executable, "-I", "-S", str(BOT), mode]
    return f"stdio:{shlex.join(command)}{options}"


class RecordedLineBot(Recorder, LineBot):
    """Keeps every line that is sent to its process."""


@contextlib.contextmanager
def bot(mode="behaves", limits=LIMITS, **more):
    with contextlib.closing(RecordedLineBot(spec(mode), limits, **more)) as made:
        yield made


FAULTS = {
    "no-json": ("protocol", '^act: the line "call, please" is no JSON object'),
    "empty-line": ("protocol", "no JSON object"),
    "list": ("protocol", r"a line is a JSON object, got \[1, 2\]"),
    "number": ("protocol", "a line is a JSON object, got 17"),
    "wrong-id": ("protocol", r"^act: the question has the id (\d+), got"),
    "text-id": ("protocol", 'has the id .*, got "'),
    "wrong-type": ("protocol", "the answer has the type 'action', got \"act\""),
    "no-type": ("protocol", "the answer has the type 'action', got null"),
    "no-action": ("protocol", "^act: an answer has the action as a text, got null"),
    "action-number": ("protocol", "as a text, got 1"),
    "no-word": ("illegal", '^"call" is not an action: give f, c, or r with the chips'),
    "no-raise": ("illegal", '"r" is not an action'),
    "minus": ("illegal", '"r-300" is not an action'),
    "r1": ("illegal", '"r1" is not an action'),
    "too-small": ("illegal", "^2 is not legal: legal are 0 "),
    "too-large": ("illegal", "^9007199254740991 is not legal"),
    "huge": ("illegal", '"r9999.*[.][.][.] is not an action'),
    "huge-id": ("protocol", "is no JSON object: Exceeds the limit"),
    "nan": ("protocol", "NaN is no number"),
    "odd-probabilities": ("protocol", "probabilities are an object of numbers by action"),
    "huge-probability": ("protocol", "a probability has too many digits"),
    "twice": ("protocol", "a key appears twice"),
    "nested": ("protocol", "is no JSON object"),
    "not-utf8": ("protocol", "can't decode byte"),
    "nul": ("protocol", "is no JSON object"),
    "long": ("protocol", "^act: a line has at most 65,536 bytes here"),
    "no-end": ("protocol", "at most 65,536 bytes"),
    "two-lines": ("protocol", "^act: it wrote a line that answers no question"),
    "ahead": ("protocol", "^act: it wrote a line that answers no question"),
    "exits": ("crash", r"^act: its process ended \(exit code 3\)$"),
    "killed": ("crash", "^act: its process was ended by SIGKILL$"),
    "closes": ("crash", "^act: its process closed its pipe$"),
    "floods": ("output", "^act: it printed more than 1 MiB$"),
    "eats": ("crash", r"^act: its process ended"),
    "half": ("timeout", "^act: no answer within 0.7 s$"),
    "late": ("timeout", "^act: no answer within 0.7 s$"),
}


@pytest.mark.parametrize(("mode", "kind", "message"), [(mode, *fault) for mode, fault in FAULTS.items()])
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
        own = [action.action for action in hand.actions if action.seat == 2]
        assert own == ([1, 1, 1, 1] if mode in ("two-lines", "ahead") else [0])
        assert (agent.pid == pid) == (kind == "illegal")  # only then the process lives on
        if kind != "timeout":
            assert same(play(agent, after), play(CallAgent(), after))


@pytest.mark.parametrize(
    ("mode", "kind", "message"),
    [
        (
            "silent",
            "load",
            r"no answer within 1 s: does it read one line at a time, and flush its output after each line\?$",
        ),
        ("exits-at-start", "load", r"does not load: its process ended \(exit code 1\): no licence$"),
        ("protocol-2", "protocol", "speaks version 1 of the protocol, got 2"),
        ("protocol-true", "protocol", "got true"),
        ("no-act", "protocol", 'a list with "act" in it, got ["range"]'),
        ("odd-answers", "protocol", 'a list with "act" in it, got "act"'),
        ("early", "protocol", "the answer has the type 'ready', got \"action\""),
    ],
)
def test_a_program_that_is_not_ready_costs_its_hands(mode, kind, message, monkeypatch):
    monkeypatch.setattr(isolated, "LOAD_SECONDS", 1.0 if mode == "silent" else 60.0)
    with bot(mode, Limits(0.5 if mode == "silent" else 20.0, 300)) as agent:
        hand = play(agent, 0)
        assert [(fault.seat, fault.kind) for fault in hand.faults] == [(2, kind)]
        assert re.search(message.replace("[", r"\["), hand.faults[0].message), hand.faults[0].message
        assert agent.pid is None
        with pytest.raises(AgentFault):
            agent.load(RULES)


def test_keys_that_nobody_knows_are_ignored():
    (bad,) = numbers(1, ace=True)
    with bot("unknown-keys") as agent:
        assert same(play(agent, bad), play(CallAgent(), bad))


def test_nobody_can_tell_the_number_of_the_next_question():
    with bot() as agent:
        play(agent, numbers(1, ace=False)[0])
        play(agent, 5)
        ids = [json.loads(line)["id"] for line in agent.lines() if b'"id"' in line]
    steps = {after - before for before, after in zip(ids, ids[1:], strict=False)}
    assert len(ids) >= 5 and len(steps) == len(ids) - 1 and all(0 < number < 1 << 31 for number in ids)


def test_a_program_may_leave_the_plain_english_out():
    (number,) = numbers(1, ace=False)
    for mode, has_text in (("behaves", True), ("no-text", False)):
        with bot(mode) as agent:
            assert same(play(agent, number), play(CallAgent(), number))
            questions = [json.loads(line) for line in agent.lines() if b'"act"' in line]
        assert questions and all(("text" in question) == has_text for question in questions)


def test_repair_replaces_a_raise_that_is_not_legal_by_the_nearest():
    (bad,) = numbers(1, ace=True)
    for mode, expected in (("too-small", 200), ("too-large", 10_000), ("no-word", 0)):
        with bot(mode) as agent:
            hand = play(agent, bad, repair=True)
            assert next(action.action for action in hand.actions if action.seat == 2) == expected
            assert {fault.kind for fault in hand.faults} == {"illegal"}


def test_a_process_ended_from_outside_changes_nothing():
    (number,) = numbers(1, ace=False)
    with bot() as agent:
        whole = play(agent, number)

        class Killer(CallAgent):
            def act(self, view):
                if view.public.street == 1 and agent.pid:
                    os.kill(agent.pid, 9)
                    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
                return super().act(view)

        agent.lines()
        deck = deal_deck(RULES, np.random.default_rng((1, number)))
        rngs = [np.random.default_rng((2, number, seat)) for seat in range(3)]
        assert same(play_hand(RULES, [Killer(), CallAgent(), agent], deck, rngs), whole)
        kinds = [json.loads(line)["type"] for line in agent.lines()]
    assert kinds[:3] == ["end", "hand", "act"] and kinds.count("hello") == 1 and kinds.count("act") == 5
    assert kinds[kinds.index("hello") :][:3] == ["hello", "hand", "act"]


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, HULH, LEDUC], ids=["hunl", "sixmax", "hulh", "leduc"])
def test_every_line_fits_the_schema_and_names_no_card_that_the_seat_must_not_see(rules):
    seats = [RecordedLineBot(spec(), LIMITS) if seat < 2 else RandomAgent() for seat in range(rules.num_seats)]
    size = rules.num_hole_cards
    kinds = set()

    def scan(hand, seating, _):
        shown = rules.board_size(max((action.street for action in hand.actions), default=0))
        cards = [hand.deck[seat * size : (seat + 1) * size] for seat in range(rules.num_seats)]
        board = hand.deck[rules.num_seats * size :]
        for seat, number in enumerate(seating):
            if number > 1:
                continue
            for line in seats[number].lines():
                message = json.loads(line)
                assert fits(message), line
                assert len(line) < MAX_LINE and line.endswith(b"\n")
                kinds.add(message["type"])
                if message["type"] in ("act", "hand") and message["hand"] == seats[number]._hand:
                    allowed = {cards_text([card]) for card in (*cards[seat], *board[:shown])}
                    check_cards(message, allowed, rules)
                if message["type"] == "act" and not rules.board_cards[0] and message["state"]:
                    state = read_match_state(message["state"], rules)
                    assert (state.seat, state.number) == (seat, message["hand"])
                    assert list(state.betting.state.contributions) == message["contributions"]

    with contextlib.ExitStack() as processes:
        for seat in seats[:2]:
            processes.enter_context(contextlib.closing(seat))
        streams = Streams(rules.num_seats, Seeded(1))
        for deck in range(3):
            play_group(rules, lambda rotation: seats, list(range(rules.num_seats)), streams, (0, deck), scan)
    assert {"hello", "hand", "act", "end"} <= kinds


def check_cards(message, allowed, rules):
    """The cards of a message, its state aside, are allowed ones. (The ACPC numbers small decks in another way.)"""
    told = {key: value for key, value in message.items() if key != "state"}
    found = set(re.findall(r"\b[2-9TJQKA][cdhs](?![a-z])", json.dumps(told).replace('"', " ")))
    pairs = {
        cards[k : k + 2] for cards in (message.get("cards", ""), message.get("board", "")) for k in range(0, 10, 2)
    }
    assert found | (pairs - {""}) <= allowed | {""}, (message, allowed)
    if message["type"] == "act" and rules.num_ranks == 13:
        cards = message["state"].split(":")[4]
        assert set(re.findall("[2-9TJQKA][cdhs]", cards)) <= allowed


def test_the_end_tells_what_a_showdown_shows():
    with bot() as agent:
        hand = play(agent, numbers(1, ace=False)[0])
        play(agent, 5)  # its question brings the end of the hand before
        lines = [json.loads(line) for line in agent.lines()]
    (end,) = [line for line in lines if line["type"] == "end"]
    cards = [cards_text(hand.deck[2 * seat : 2 * seat + 2].tolist()) for seat in range(3)]
    assert end["payoffs"] == list(hand.payoffs) and end["hand"] == 1
    assert end["shown"] == ["" if seat in hand.folded else cards[seat] for seat in range(3)]
    number, betting, shown, chips = end["state"].split(":")[1:]
    assert (number, betting.count("/"), shown.split("/")[0]) == ("1", 3, "|".join(end["shown"]))
    assert list(map(float, chips.split("|"))) == list(hand.payoffs)


def test_the_seed_depends_on_the_seats_stream_alone():
    seeds = []
    for _ in range(2):
        with bot() as agent:
            play(agent, 3)
            seeds += [json.loads(line)["seed"] for line in agent.lines() if b'"hand","hand"' in line]
    assert len(seeds) == 2 and seeds[0] == seeds[1] and 0 <= seeds[0] < 1 << 48


def public_of(rules=RULES):
    betting = BettingState(rules)
    return PublicState(rules, betting.array.tolist())


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("behaves", (1326, 1)),
        ("range-none", None),
        ("range-short", (5, 1)),  # AIVAT refuses it, which is no fault
        ("range-sums", (1326, 1)),
        ("range-deep", (1326, 1, 1)),  # refused in the same way
        ("range-text", "probabilities cannot be read"),
        ("range-ragged", "probabilities cannot be read"),
        ("range-word", '"call" is not an action'),
        ("range-number", "actions are a list of texts, got 1"),
    ],
)
def test_ranges(mode, expected):
    with bot(mode) as agent:
        agent.restart(RULES, 2, np.random.default_rng(1))
        if isinstance(expected, str):
            with pytest.raises(AgentFault, match=re.escape(expected)) as caught:
                agent.range_strategy(public_of())
            assert caught.value.kind == "protocol"
            return
        strategy = agent.range_strategy(public_of())
        lines = [json.loads(line) for line in agent.lines()]
        assert [line["type"] for line in lines] == ["hello", "hand", "range"]
        assert not any("cards" in line for line in lines) and all(map(fits, lines))
    if expected is None:
        assert strategy is None
    else:
        assert strategy.probabilities.shape == expected and strategy.actions.tolist() == [1]


def test_ranges_come_as_base64_too_in_the_order_of_the_protocol(tmp_path):
    combos = [(a, b) for b in range(52) for a in range(b)]
    protocol = (ROOT / "tournaments" / "contestants" / "PROTOCOL.md").read_text(encoding="utf-8")
    assert "`[(a, b) for b in range(52) for a in range(b)]`" in protocol
    folds = np.array([(a + b / 52) / 52 for a, b in combos])
    text = base64.b64encode(np.column_stack([folds, 1.0 - folds]).astype("<f4").tobytes()).decode()
    (tmp_path / "bot.py").write_text(
        "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    a = None\n"
        "    if m['type'] == 'hello': a = dict(type='ready', protocol=1, answers=['act', 'range'])\n"
        f"    if m['type'] == 'range': a = dict(type='range', id=m['id'], actions=['f', 'c'], probabilities={text!r})\n"
        "    if a: print(json.dumps(a), flush=True)\n"
    )
    with contextlib.closing(LineBot(f"stdio:{sys.executable} {tmp_path}/bot.py", LIMITS)) as agent:
        agent.restart(RULES, 2, np.random.default_rng(1))
        strategy = agent.range_strategy(public_of())
    assert strategy.actions.tolist() == [0, 1]
    own = strategy.probabilities[[RULES.combo_id(combo) for combo in combos], 0]
    np.testing.assert_allclose(own, folds, atol=1e-7)  # float32
    np.testing.assert_allclose(strategy.probabilities.sum(axis=1), 1.0, atol=1e-12)


def test_the_spec_may_ask_for_less_time():
    with contextlib.closing(RecordedLineBot(spec("late", "?seconds=0.3"), LIMITS)) as agent:
        hand = play(agent, numbers(1, ace=True)[0])
        assert hand.faults[0].message == "act: no answer within 0.3 s"
        assert [json.loads(line).get("seconds") for line in agent.lines()] == [0.3, None, 0.3]


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_it_plays_in_the_sandbox_and_leaves_nothing(choice, tmp_path):
    with contextlib.closing(LineBot(spec(), LIMITS, sandbox=working_sandbox(choice))) as agent:
        (number,) = numbers(1, ace=False)
        assert same(play(agent, number), play(CallAgent(), number))
        pid = agent.pid
    assert not Path(f"/proc/{pid}").exists()


def test_another_game_starts_another_process():
    with bot() as agent:
        agent.load()
        pid = agent.pid
        assert not play(agent, 1).faults and agent.pid != pid


def test_it_equals_an_agent_of_this_package():
    call = make_agent("call")
    with bot() as agent:
        for number in numbers(4, ace=False):
            assert same(play(agent, number), play(call, number))


def test_the_documented_lines_fit_the_schema():
    text = (ROOT / "tournaments" / "contestants" / "PROTOCOL.md").read_text(encoding="utf-8")
    block = re.search(r"```text\n(.*?)```", text, re.DOTALL)[1]
    rows = block.replace("\n  ", "").splitlines()
    lines = [(row[0], json.loads(row[2:])) for row in rows if row[:2] in ("> ", "< ")]
    assert len(lines) == len(rows) == 9
    for sign, message in lines:
        assert fits(message, kind="told" if sign == ">" else "said"), message
    kinds = {(sign, message["type"]) for sign, message in lines}
    assert len(kinds) == 9 == len(SCHEMA["$defs"]["told"]["oneOf"]) + len(SCHEMA["$defs"]["said"]["oneOf"])
