"""A visit to a table: the agent is told what our own hands would tell it, and answers as it would there."""

import numpy as np
import pytest
from reference.random_histories import random_history, random_rules

from plurispiel.abstraction.holdem.rules import HUNL, LEDUC, SIXMAX
from plurispiel.agents.base import Action, Agent, Deal
from plurispiel.evaluation.hand import AgentFault, RemoteAgent, play_hand
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats.match_state import MatchState, seen_cards
from plurispiel.tournaments.remote.table import TableError
from plurispiel.tournaments.remote.visit import Player, visit


class Diary(Agent):
    """Plays a recorded hand, and writes down what it is told."""

    def __init__(self, history):
        self._history = history
        self.entries = []

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.entries.append(("restart", seat))

    def observe(self, event):
        self.entries.append(event)

    def act(self, view):
        self.entries.append((view.hole_cards, view.public.board, view.public.actions))
        return self._history.actions[len(view.public.actions)]


class Table:
    """A remote table at which recorded hands are played."""

    def __init__(self, histories, seat):
        self._histories, self._seat = iter(histories), seat

    def new_hand(self):
        self._history = next(self._histories, None)
        return self._history and self._from(0)

    def act(self, state, action):
        assert action == self._history.actions[len(state.betting.sizes)]
        return self._from(len(state.betting.sizes) + 1)

    def close(self):
        pass

    def _from(self, count):
        while True:
            history = self._history
            betting = replay_betting(history.rules, history.actions[:count])
            is_over = betting.state.is_over
            seen = seen_cards(history.hole_cards, self._seat, betting.state.folded if is_over else None)
            board = history.board[: betting.board_size]
            state = MatchState(self._seat, int(history.label), betting, tuple(map(tuple, seen)), board)
            if is_over or state.is_own_turn:
                return state
            count += 1


def told_at_our_table(history, seat):
    rules = history.rules
    agents = [Diary(history) for _ in range(rules.num_seats)]
    rest = [card for card in rules.cards.tolist() if card not in (*sum(history.hole_cards, ()), *history.board)]
    deck = [*sum(history.hole_cards, ()), *history.board, *rest][: rules.num_dealt_cards]
    rngs = [np.random.default_rng(0)] * rules.num_seats
    assert play_hand(rules, agents, np.array(deck, dtype=np.uint8), rngs).payoffs == history.payoffs
    return agents[seat].entries


def test_an_agent_is_told_what_our_own_table_tells_it():
    rng = np.random.default_rng(11)
    for number in range(60):
        rules = (HUNL, LEDUC, SIXMAX, random_rules(rng, 3))[number % 4]
        history, seat = random_history(rng, rules, str(number)), number % rules.num_seats
        diary = Diary(history)
        player = Player(diary, rules, 1, "we")
        (hand,) = visit(Table([history], seat), player)
        assert diary.entries == told_at_our_table(history, seat)
        assert (hand.payoffs, hand.actions, hand.label) == (history.payoffs, history.actions, str(number))
        assert hand.names[seat] == "we" and len(set(hand.names)) == rules.num_seats
        assert not player.faults


def test_random_streams_depend_on_hand_and_seat_alone():
    history = random_history(np.random.default_rng(1), HUNL, "5")
    streams = {}
    for number, seat in [(5, 0), (5, 1), (6, 0), (5, 0)]:
        agent = Diary(history)
        state = MatchState(seat, number, replay_betting(HUNL, []), history.hole_cards, ())
        Player(agent, HUNL, 3, "we").begin(state)
        streams.setdefault((number, seat), set()).add(agent.rng.random())
    assert all(len(values) == 1 for values in streams.values()) and len(set.union(*streams.values())) == 3


class Faulty(RemoteAgent):
    """Raises what it is given: at the deal, and when asked."""

    def __init__(self, at_deal=None, when_asked=None):
        self._at_deal, self._when_asked = at_deal, when_asked
        self.asked = self.ended = 0

    def observe(self, event):
        if self._at_deal is not None and isinstance(event, Deal):
            raise self._at_deal

    def act(self, view):
        self.asked += 1
        if isinstance(self._when_asked, Exception):
            raise self._when_asked
        return self._when_asked

    def end_hand(self):
        self.ended += 1

    def show_end(self, end):
        assert end == ((Action(1, 0, 0),), 0, (), ((), ()), (50.0, -50.0))


@pytest.mark.parametrize(
    ("agent", "kinds", "action", "goes_on"),
    [
        (Faulty(when_asked=350), [], 350, True),
        (Faulty(when_asked=150), ["illegal"], 200, True),
        (Faulty(when_asked="raise"), ["illegal"], 0, True),
        (Faulty(when_asked=RuntimeError("no")), ["exception"], 0, True),
        (Faulty(RuntimeError("no"), 1), ["exception"], 1, True),
        (Faulty(when_asked=AgentFault("timeout", "slow")), ["timeout"], 0, False),
        (Faulty(AgentFault("crash", "gone"), 1), ["crash"], 0, False),
    ],
)
def test_faults_cost_an_answer_or_the_hand(agent, kinds, action, goes_on):
    player = Player(agent, HUNL, 1, "we")
    holes = ((), (0, 1))
    player.begin(MatchState(1, 4, replay_betting(HUNL, []), holes, ()))
    assert player.act(MatchState(1, 4, replay_betting(HUNL, []), holes, ())) == action
    asked = agent.asked
    over = replay_betting(HUNL, [0])
    player.end(MatchState(1, 4, over, holes, ()), (50.0, -50.0))
    assert [(number, fault.kind) for number, fault in player.faults] == [(4, kind) for kind in kinds]
    assert (agent.ended == 1) == goes_on and asked == (0 if kinds == ["crash"] else 1)
    player.begin(MatchState(0, 5, replay_betting(HUNL, []), holes[::-1], ()))  # the next hand is a new chance
    player.act(MatchState(0, 5, replay_betting(HUNL, [1]), holes[::-1], ()))
    assert agent.asked == asked + (agent._at_deal is None or goes_on)


def test_a_hand_that_cannot_be_paid():
    history = random_history(np.random.default_rng(2), HUNL, "0")
    betting = replay_betting(HUNL, [20_000, 1])
    table = Table([history], 1)
    table.new_hand = lambda: MatchState(1, 0, betting, ((), (0, 1)), (2, 3, 4, 5, 6))
    with pytest.raises(TableError, match="hand 0 cannot be paid: a showdown with the hole cards of seat 0 unknown"):
        list(visit(table, Player(Diary(history), HUNL, 1, "we")))
