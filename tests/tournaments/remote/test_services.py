"""Sittings at stand-ins of the services: equal payoffs, hostile replies, interruptions, and no other address."""

import contextlib
import json
import socket
from pathlib import Path

import numpy as np
import pytest
from web_services import CLOSED, KEY, SLOW, GtoWizard, Slumbot

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.tournaments.formats.match_state import read_match_state
from plurispiel.tournaments.remote.gtowizard import GtoWizardTable
from plurispiel.tournaments.remote.http import HttpClient
from plurispiel.tournaments.remote.score import Scorer, results_of
from plurispiel.tournaments.remote.sitting import MAX_BROKEN, sit
from plurispiel.tournaments.remote.slumbot import SlumbotTable
from plurispiel.tournaments.remote.store import BROKEN, SCORED, HandStore
from plurispiel.tournaments.remote.table import TableError
from plurispiel.tournaments.remote.visit import Player

SETTINGS = {"agent": "test"}


@pytest.fixture(autouse=True)
def loopback(monkeypatch):
    """Refuse connections to any other machine."""
    connect = socket.socket.connect

    def guarded(self, address):
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), address
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


def table_of(service, waits=None, timeout=20.0):
    wait = ([] if waits is None else waits).append
    if isinstance(service, Slumbot):
        return SlumbotTable(HttpClient(service.url, {}, timeout=timeout, wait=wait))
    return GtoWizardTable(HttpClient(service.url, {"X-API-KEY": KEY}, secret=KEY, timeout=timeout, wait=wait))


def play(service, folder, num_hands, spec="random", **options):
    """Play until the folder holds that many hands, and return them, with the error that ended the sitting."""
    agent = make_agent(spec)
    trouble = None
    with contextlib.closing(HandStore(folder, SETTINGS)) as store:
        scorer = Scorer(agent, True, Checkdown(), 1)
        try:
            for _ in sit(table_of(service, **options), Player(agent, HUNL, 1, "we"), store, scorer, num_hands):
                pass
        except TableError as error:
            trouble = str(error)
        return list(store.hands()), trouble


@pytest.mark.parametrize("kind", [Slumbot, GtoWizard])
def test_payoffs_are_those_of_the_service(tmp_path, kind):
    service = kind()
    hands, trouble = play(service, tmp_path, 100)
    assert trouble is None and not service.troubles
    assert [hand.status for hand in hands] == [SCORED] * 100, [hand.trouble for hand in hands if hand.trouble]
    assert [hand.payoff for hand in hands] == service.finished
    assert [hand.seat for hand in hands] == [hand.seat for hand in service.hands]
    assert {hand.seat for hand in hands} == {0, 1}
    for hand, dealt in zip(hands, service.hands, strict=True):
        state = read_match_state(hand.state, HUNL)
        assert state.number == hand.number and state.hole_cards[hand.seat] == tuple(
            dealt.cards[2 * hand.seat : 2 * hand.seat + 2]
        )
        assert json.loads(hand.replies[-1])
    record = results_of(hands, 100)
    assert record["mbb_per_hand"] == pytest.approx(np.mean(service.finished) * 10.0)
    if kind is Slumbot:
        assert record["aivat"] is not None and record["by_service"] is None and record["opponents"] == {"Slumbot": 100}
    else:
        assert record["aivat"] is None and record["opponents"] == {"GTO Wizard AI version 2": 100}
        assert record["by_service"]["mbb_per_hand"] == pytest.approx(record["mbb_per_hand"] / 2)


def test_a_bot_that_the_service_does_not_name(tmp_path):
    service = GtoWizard()
    service.names_bot = False
    hands, _ = play(service, tmp_path, 10)
    assert [hand.payoff for hand in hands] == service.finished


def test_folding_scores_what_folding_costs(tmp_path):
    hands, _ = play(GtoWizard(), tmp_path, 20, "fold")
    assert {hand.payoff for hand in hands if hand.seat == 1} == {-50.0}
    assert {hand.payoff for hand in hands if hand.seat == 0} <= {-100.0, 0.0, 50.0, 100.0}


def test_our_own_estimate_is_that_of_all_cards(tmp_path):
    service = Slumbot(seed=3)
    hands, _ = play(service, tmp_path, 6, "call")
    agent = make_agent("call")
    for kept, dealt in zip(hands, service.hands, strict=True):
        hand, estimate = Scorer(agent, True, Checkdown(), 1).score(_history(kept), kept.seat, kept.number)
        assert kept.aivat == estimate
        assert hand.payoffs == tuple(dealt.state.payoffs(dealt.deck))
        aivat = Aivat(HUNL, Checkdown())
        aivat.restart(np.random.default_rng(np.random.SeedSequence(1, spawn_key=(kept.number, 2))))
        assert aivat.scores(hand, [agent, agent])[kept.seat].estimate == estimate


def _history(kept):
    from plurispiel.tournaments.formats.history import HandHistory

    state = read_match_state(kept.state, HUNL)
    names = ("we", "it") if kept.seat == 0 else ("it", "we")
    return HandHistory(HUNL, names, state.hole_cards, state.board, state.betting.sizes, None, "")


def test_a_hand_whose_cards_are_hidden_has_no_estimate(tmp_path):
    hands, _ = play(GtoWizard(), tmp_path, 30)
    estimates = [hand.aivat for hand in hands]
    assert None in estimates and any(estimate is not None for estimate in estimates)


def edited(change):
    """A spoiler that changes the reply to the act with the number 4 or the next of that kind."""
    done = []

    def spoil(number, path, status, data):
        if number < 4 or done or not path.endswith("act"):
            return None
        result = change(status, data)
        if result is not None:
            done.append(number)
        return result

    return spoil


def replaced(old, new):
    return lambda status, data: (status, data.replace(old, new)) if old in data else None


def without(name):
    def change(status, data):
        reply = json.loads(data)
        part = reply.get("game_state", reply)
        part.pop(name, None)
        return status, json.dumps(reply).encode()

    return change


def with_field(name, value):
    def change(status, data):
        reply = json.loads(data)
        (reply if name in reply or "game_state" not in reply else reply["game_state"])[name] = value
        return status, json.dumps(reply).encode()

    return change


def paid_wrongly(status, data):
    reply = json.loads(data)
    part = reply.get("game_state", reply)
    if part.get("winnings") is None:
        return None
    part["winnings"] += 100
    return status, json.dumps(reply).encode()


EITHER = [
    ("truncated", lambda status, data: (200, data[:-5]), "no JSON"),
    ("cut off", lambda status, data: (200, data[:-5], len(data)), "cut off"),
    ("long", lambda status, data: (200, b" " * 10_000_000), "more than 256 KiB"),
    ("deep", lambda status, data: (200, b"[" * 100_000), "no JSON"),
    ("nan", lambda status, data: (200, b'{"winnings": NaN}'), "no JSON"),
    ("list", lambda status, data: (200, b"[1, 2]"), "an object is expected"),
    ("slow", lambda status, data: SLOW, "no whole reply within"),
    ("redirect", lambda status, data: (302, b""), "status 302"),
    ("refused", lambda status, data: (400, b'{"detail": "no\\u0007"}'), "status 400"),
    ("wrong pay", paid_wrongly, "by our rules the hand pays"),
]
OF_SLUMBOT = [
    *EITHER,
    ("error_msg", lambda status, data: (200, b'{"error_msg": "Illegal bet"}'), "Illegal bet"),
    ("type", with_field("action", 7), "'action' has to be of type str"),
    ("no board", without("board"), "'board' has to be of type list"),
    ("bool", with_field("client_pos", True), "'client_pos' has to be of type int"),
    ("illegal bet", with_field("action", "b101"), "is not legal"),
    ("bad letter", with_field("action", "zz"), "an action is written"),
    ("digits", with_field("action", "b" + "9" * 900), "an action is written"),
    ("streets", with_field("action", "////"), "ends elsewhere"),
    ("repeated card", with_field("hole_cards", ["As", "As"]), "appears twice"),
    ("seat changes", with_field("client_pos", 5), "'client_pos' is 0 or 1"),
    ("token", with_field("token", "x\r\ny"), "printable characters"),
]
OF_GTOWIZARD = [
    *EITHER,
    ("409", lambda status, data: (409, b"{}"), "is over already"),
    ("type", with_field("action_history", "b300"), "'action_history' has to be of type list"),
    ("hand", with_field("hand_id", 7), "not about hand"),
    ("players", with_field("players", []), "two players are expected"),
    ("game", with_field("game", {"blinds": [2, 1], "starting_stack": 20000}), "the game has blinds"),
    ("illegal bet", with_field("action_history", ["b101"]), "is not legal"),
    ("after the end", with_field("action_history", ["f", "k"]), "after the end"),
]
CASES = [(Slumbot, *case) for case in OF_SLUMBOT] + [(GtoWizard, *case) for case in OF_GTOWIZARD]


@pytest.mark.parametrize(("kind", "name", "change", "what"), CASES, ids=[f"{c[0].__name__}-{c[1]}" for c in CASES])
def test_a_hostile_reply_breaks_one_hand(tmp_path, kind, name, change, what):
    service = kind(spoil=edited(change))
    hands, trouble = play(service, tmp_path, 4, "call", timeout=0.5 if name == "slow" else 20.0)
    assert trouble is None and len(hands) == 4
    (broken,) = [hand for hand in hands if hand.status == BROKEN]
    assert what in broken.trouble and "\n" not in broken.trouble and len(broken.trouble) < 500
    assert broken.replies and broken.payoff is None
    record = results_of(hands, 100)
    assert (record["hands"], record["broken"]) == (3, 1)


@pytest.mark.parametrize("kind", [Slumbot, GtoWizard])
def test_a_lost_answer_breaks_the_hand(tmp_path, kind):
    """The action was taken; asked again, the service takes it twice or refuses it."""

    def lose(number, path, status, data):
        if path.endswith("act") and number > 4 and not lost:
            lost.append(number)
            return CLOSED
        return None

    lost = []
    hands, trouble = play(kind(spoil=lose), tmp_path, 12, "call")
    assert trouble is None and len(hands) == 12
    assert [hand.status for hand in hands].count(BROKEN) == 1


@pytest.mark.parametrize("kind", [Slumbot, GtoWizard])
def test_a_busy_service_is_asked_again(tmp_path, kind):
    busy = {2: 500, 3: 503, 7: 504, 8: 502, 9: 429}
    waits = []
    service = kind(before=lambda number, path: busy.get(number))
    hands, trouble = play(service, tmp_path, 12, waits=waits)
    assert trouble is None and [hand.payoff for hand in hands] == service.finished
    assert len(waits) == 5 and all(0.0 <= wait <= 4.0 for wait in waits)


def test_too_many_open_hands_are_waited_for(tmp_path):
    waits = []
    service = GtoWizard(before=lambda number, path: 409 if number in (1, 2) and path == "/hands" else None)
    hands, trouble = play(service, tmp_path, 3, waits=waits)
    assert trouble is None and len(waits) == 2 and [hand.payoff for hand in hands] == service.finished


def test_a_service_that_stays_busy_ends_the_sitting(tmp_path):
    waits = []
    service = Slumbot(before=lambda number, path: 503 if number >= 8 else None)
    hands, trouble = play(service, tmp_path, 50, waits=waits)
    assert "status 503" in trouble and 5 <= len(waits) <= 10 and max(waits) <= 30.0
    assert [hand.status for hand in hands].count(BROKEN) <= 1 and len(hands) < 10
    service.before = lambda *_: None
    service.finished.clear()
    more, trouble = play(service, tmp_path, 20)  # goes on
    assert trouble is None and len(more) == 20 and more[: len(hands)] == hands
    assert [hand.payoff for hand in more[len(hands) :]] == service.finished


def test_a_service_that_has_changed_ends_the_sitting(tmp_path):
    service = Slumbot(spoil=lambda number, path, status, data: (200, b'{"hello": 1}'))
    hands, trouble = play(service, tmp_path, 50)
    assert f"{MAX_BROKEN} hands in succession are broken" in trouble and len(hands) == MAX_BROKEN


def test_a_refused_key_is_never_shown(tmp_path):
    service = GtoWizard()
    client = HttpClient(service.url, {"X-API-KEY": KEY + "x"}, secret=KEY + "x")
    with pytest.raises(TableError, match="status 403") as caught:
        GtoWizardTable(client).open(1)
    assert KEY not in str(caught.value) and "***" in str(caught.value) and KEY not in str(client.replies)


def test_a_key_in_disguise_is_no_reply(tmp_path):
    disguised = "".join(f"\\u{ord(letter):04x}" for letter in KEY).encode()
    service = GtoWizard(spoil=lambda number, path, status, data: (status, data.replace(b"GTO Wizard AI", disguised)))
    hands, _ = play(service, tmp_path, 2)
    assert {hand.trouble.partition(": ")[2] for hand in hands} == {"a reply repeats the key"}


@pytest.mark.parametrize("reply", [b'{"a": 1}', b"[", b"3"])
def test_an_open_hand_stays_open_while_the_list_cannot_be_read(tmp_path, reply):
    service = GtoWizard(spoil=lambda number, path, *_: (200, reply) if "in-progress" in path else None)
    service.deal("_")
    while service.hands[-1].is_over:
        service.deal("_")
    number = len(service.hands) - 1
    with contextlib.closing(HandStore(tmp_path, SETTINGS)) as store:
        store.begin(1, str(number + 100), "x")
    hands, trouble = play(service, tmp_path, 2)
    assert trouble and [hand.status for hand in hands] == ["open"]
    service.spoil = lambda *_: None
    hands, trouble = play(service, tmp_path, 2)
    assert trouble is None and [hand.status for hand in hands] == [SCORED] * 2
    assert hands[0].payoff == service.hands[number].winnings


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("kind", [Slumbot, GtoWizard])
def test_killed_and_gone_on(tmp_path, kind, monkeypatch):
    """The process ends at 20 points, before a request is sent or after its reply: no hand counts twice."""
    service, count = kind(), [0]
    request = HttpClient._request

    def fragile(self, method, path, body):
        count[0] += 1
        if count[0] % 9 == 4:
            raise Killed
        answer = request(self, method, path, body)
        if count[0] % 9 == 8:
            raise Killed
        return answer

    monkeypatch.setattr(HttpClient, "_request", fragile)
    kills = 0
    while True:
        try:
            hands, trouble = play(service, tmp_path, 40)
            break
        except Killed:
            kills += 1
    assert kills >= 15 and trouble is None
    assert [hand.number for hand in hands] == list(range(1, 41))
    scored = [hand for hand in hands if hand.status == SCORED]
    broken = [hand for hand in hands if hand.status == BROKEN]
    assert len(scored) + len(broken) == 40
    payoffs = [hand.payoff for hand in scored]
    if kind is GtoWizard:  # its hands are found again
        by_id = {str(number + 100): dealt.winnings for number, dealt in enumerate(service.hands)}
        assert [by_id[hand.hand_id] for hand in scored] == payoffs
        assert len({hand.hand_id for hand in scored}) == len(scored)
        assert all("no longer lists" in hand.trouble for hand in broken)
    else:
        rest = iter(service.finished)
        assert all(any(payoff == other for other in rest) for payoff in payoffs)  # in order, each once
        assert broken and all("ended within this hand" in hand.trouble for hand in broken)


def test_no_certificate(tmp_path):
    service = Slumbot()
    client = HttpClient(service.url.replace("http:", "https:"), {}, wait=lambda _: None)
    with pytest.raises(TableError):
        client.get("/")
    assert not service.requests


def test_a_trusted_certificate(tmp_path, monkeypatch):
    """The certificate of the stand-in is for this address, and no authority has signed it."""
    certificate = Path(__file__).parents[2] / "loopback_certificate.pem"
    service = Slumbot(certificate=certificate)
    url = service.url.replace("http:", "https:")
    with pytest.raises(TableError, match="CERTIFICATE_VERIFY_FAILED"):
        HttpClient(url, {}).post("/api/new_hand", {})
    assert not service.requests
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    state = SlumbotTable(HttpClient(url, {})).open(1)
    assert state.seat == service.hands[0].seat
    with pytest.raises(TableError, match="CERTIFICATE_VERIFY_FAILED"):
        HttpClient(url.replace("127.0.0.1", "localhost"), {}).post("/api/new_hand", {})
