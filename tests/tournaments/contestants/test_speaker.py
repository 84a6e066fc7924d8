"""Agents in two processes: one that plays, and one that reports strategies and never sees hole cards."""

import contextlib
import os
import signal

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents.base import Action, Board, Deal, PublicState, View
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.hand import AgentFault
from plurispiel.evaluation.local_best_response import MENUS, LocalBestResponse, Prober
from plurispiel.evaluation.streams import Keyed
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.speaker import SplitAgent
from plurispiel.tournaments.contestants.supervisor import Contestant

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),
]

LIMITS = Limits(seconds=20.0, memory=300)


class Recorder(Contestant):
    """Keeps the JSON of every frame that is sent to its process; the lengths before it may look like cards."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sent = b""

    def send(self, frame):
        self.sent += frame[8:]
        super().send(frame)


@pytest.mark.parametrize("rules", [HUNL, pytest.param(LEDUC, marks=pytest.mark.slow)], ids=["hunl", "leduc"])
def test_no_process_is_sent_a_card_of_local_best_response_and_the_teller_none_of_its_own(monkeypatch, rules):
    player, teller = Recorder("tag", LIMITS), Recorder("tag", LIMITS)
    num_seen = 0
    expectation = LocalBestResponse.expectation

    def scan(prober, hand):
        nonlocal num_seen
        told, asked = player.sent.decode("latin-1"), teller.sent.decode("latin-1")
        size, street = rules.num_hole_cards, max((action.street for action in hand.actions), default=0)
        seat = 1 - prober.seat
        own = {cards_text([card]) for card in hand.deck[seat * size : (seat + 1) * size]}
        board = {cards_text([card]) for card in hand.deck[2 * size :][: rules.board_size(street)]}
        for card in (cards_text([card]) for card in range(52)):
            assert (card in told) <= (card in own | board) and (card in asked) <= (card in board), card
        num_seen += all(card in told for card in own)
        value = expectation(prober, hand)  # asks about the last decision
        player.sent = teller.sent = b""
        return value

    monkeypatch.setattr(LocalBestResponse, "expectation", scan)
    with contextlib.closing(SplitAgent(player, teller)) as agent:
        prober = Prober(rules, agent, MENUS["56bets"], Keyed(((0, 1),)))
        for number in range(3):
            prober.play(number)
    assert num_seen >= 8  # the scan finds cards where there are some


COUNTER = """
import numpy as np
from plurispiel.agents import CALL, Agent, Strategy


class Bot(Agent):
    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.events = 0

    def observe(self, event):
        self.events += 1
"""

COUNTS = f"""{COUNTER}
    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return Strategy(np.array([CALL, 100 + self.events]), np.full((public.rules.num_combos, 2), 0.5))
"""


def test_a_teller_that_is_killed_hears_the_hand_again_but_for_the_deal(tmp_path):
    (tmp_path / "counts.py").write_text(COUNTS)
    player, teller = (Contestant(f"{tmp_path}/counts.py:Bot", LIMITS) for _ in range(2))
    public = PublicState(HUNL, BettingState(HUNL).array.tolist())
    with contextlib.closing(SplitAgent(player, teller)) as agent:
        agent.restart(HUNL, 0, np.random.default_rng(1))
        agent.observe(Deal((0, 1)))
        agent.observe(Action(1, CALL, 0))
        assert agent.range_strategy(public).actions.tolist() == [CALL, 101]
        agent.observe(Action(0, CALL, 0))
        agent.observe(Board((2, 3, 4), 1))
        assert agent.range_strategy(public).actions.tolist() == [CALL, 103]
        os.kill(teller.pid, signal.SIGKILL)
        assert agent.range_strategy(public).actions.tolist() == [CALL, 103]
        agent.restart(HUNL, 1, np.random.default_rng(2))
        assert agent.range_strategy(public).actions.tolist() == [CALL, 100]


SILENT = f"""{COUNTER}
    def act(self, view):
        return 200 + self.events
"""


def test_an_agent_that_reports_nothing_has_no_teller_and_hears_the_hand_again(tmp_path):
    (tmp_path / "silent.py").write_text(SILENT)
    player, teller = (Contestant(f"{tmp_path}/silent.py:Bot", LIMITS) for _ in range(2))
    public = PublicState(HUNL, BettingState(HUNL).array.tolist())
    with contextlib.closing(SplitAgent(player, teller)) as agent:
        agent.restart(HUNL, 1, np.random.default_rng(1))
        agent.observe(Deal((0, 1)))
        assert agent.act(View(public, 1, (0, 1))).action == 201
        assert agent.range_strategy(public) is None and agent.expected_strategies([public]) == [None]
        os.kill(player.pid, signal.SIGKILL)
        assert agent.act(View(public, 1, (0, 1))).action == 201
        agent.end_hand()
        assert teller.num_starts == 0 and teller.pid is None


MEANS = """
import numpy as np
from plurispiel.agents import CALL, Agent, Strategy


class Bot(Agent):
    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return Strategy(np.array([CALL]), np.ones((public.rules.num_combos, 1)))

    def expected_strategy(self, public):
        if public.last_raise is not None and public.last_raise.action == 777:
            raise LookupError("seven")
        return Strategy(np.arange(2, 22), np.full((public.rules.num_combos, 20), 1.0 / 20.0))
"""


def test_expected_strategies_are_answered_one_by_one_until_the_first_fault(tmp_path):
    (tmp_path / "means.py").write_text(MEANS)
    spec = f"{tmp_path}/means.py:Bot"
    inside = make_agent(spec)

    def public(raise_to):
        state = BettingState(HUNL)
        state.apply(raise_to)
        return PublicState(HUNL, state.array.tolist(), (), (Action(1, raise_to, 0),))

    with contextlib.closing(Contestant(spec, LIMITS)) as contestant:
        for agent in (contestant, inside):
            agent.restart(HUNL, 0, np.random.default_rng(1))
        publics = [public(size) for size in (300, 400, 500)]
        told = contestant.expected_strategies(publics)
        for strategy, each in zip(told, publics, strict=True):  # 212 kB each
            expected = inside.expected_strategy(each)
            assert np.array_equal(strategy.actions, expected.actions)
            assert np.array_equal(strategy.probabilities, expected.probabilities)
        assert contestant.expected_strategies([]) == []
        pid = contestant.pid
        with pytest.raises(AgentFault, match="expected: LookupError: seven") as caught:
            contestant.expected_strategies([publics[0], public(777), publics[1]])
        assert caught.value.kind == "exception"
        assert contestant.range_strategy(publics[0]).actions.tolist() == [1] and contestant.pid == pid
