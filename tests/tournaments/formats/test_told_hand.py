"""A hand told in the ACPC's lines: states and answers, apart from any connection."""

import numpy as np
import pytest
from reference.random_histories import random_histories, random_history

from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC
from plurispiel.agents.base import Deal, PublicState
from plurispiel.evaluation.hand import AgentFault, RemoteAgent, play_hand
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats.match_state import seen_cards, write_match_state
from plurispiel.tournaments.formats.told_hand import MAX_IGNORED, ToldHand


class Listener(RemoteAgent):
    """Plays a recorded hand, and keeps the lines that its seat is told."""

    def __init__(self, history):
        self._history = history
        self.lines = []

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self._hand = ToldHand(rules, seat, 7)

    def observe(self, event):
        if self._hand.observe(event):
            self.lines.append(self._hand.line)

    def act(self, view):
        action = self._history.actions[len(view.public.actions)]
        answer = "fc"[action] if action < 2 else "r" if self.rules.is_limit else f"r{action}"
        assert self._hand.answer(f"{self._hand.line}:{answer}", view.public) == action
        return action

    def show_end(self, end):
        self._hand.end(end)
        self.lines.append(self._hand.line)


def test_every_seat_is_told_every_state_once():
    rng = np.random.default_rng(5)
    for history in [*random_histories(6, 40), *(random_history(rng, rules) for rules in (HULH, LEDUC) * 5)]:
        rules = history.rules
        known = [*sum(history.hole_cards, ()), *history.board]
        rest = [card for card in rules.cards.tolist() if card not in known]
        deck = np.array([*known, *rest][: rules.num_dealt_cards], dtype=np.uint8)
        seats = [Listener(history) for _ in range(rules.num_seats)]
        play_hand(rules, seats, deck, [rng] * rules.num_seats)
        for seat, listener in enumerate(seats):
            expected = []
            for count in range(len(history.actions) + 1):
                betting = replay_betting(rules, history.actions[:count])
                state = betting.state
                shows = state.is_over and betting.showdown
                seen = seen_cards(history.hole_cards, seat, state.folded if shows else None)
                args = (betting.actions, state.street, seen, history.board)
                expected.append(write_match_state(rules, seat, 7, *args))
            assert listener.lines == expected


@pytest.fixture
def hand():
    told = ToldHand(HUNL, 1, 3)
    assert told.observe(Deal((51, 46)))
    assert told.line == "MATCHSTATE:1:3::|AsKh"
    return told


PUBLIC = PublicState(HUNL, replay_betting(HUNL, []).state.array.tolist())


def test_lines_that_answer_another_state_are_ignored_up_to_a_number(hand):
    others = ["", "# comment", "MATCHSTATE:1:2::|AsKh:c", "MATCHSTATE:1:3::|AsKd:c", hand.line] * 3 + ["x"]
    assert len(others) == MAX_IGNORED
    assert [hand.answer(line, PUBLIC) for line in others] == [None] * MAX_IGNORED
    assert hand.answer(f"{hand.line}:c", PUBLIC) == 1
    with pytest.raises(AgentFault, match="more than 16 lines in a hand do not answer its last state.* 'x'") as fault:
        hand.answer("x", PUBLIC)
    assert fault.value.kind == "protocol"


@pytest.mark.parametrize(("text", "action"), [("f", 0), ("c", 1), ("r300", 300), ("r0", 2), ("r1", 2), ("r7", 7)])
def test_answers(hand, text, action):
    assert hand.answer(f"{hand.line}:{text}", PUBLIC) == action


@pytest.mark.parametrize("text", ["", "x", "r", "c:c", "r-3", "fold"])
def test_malformed_actions_are_illegal(hand, text):
    with pytest.raises(AgentFault, match="an action is written f, c or r and chips") as fault:
        hand.answer(f"{hand.line}:{text}", PUBLIC)
    assert fault.value.kind == "illegal"


def test_raises_of_a_limit_game():
    told = ToldHand(HULH, 1, 0)
    told.observe(Deal((51, 46)))
    state = replay_betting(HULH, []).state
    public = PublicState(HULH, state.array.tolist())
    assert told.answer(f"{told.line}:r", public) == state.max_raise
    capped = PublicState(HULH, replay_betting(HULH, [-1, -1, -1]).state.array.tolist())
    assert told.answer(f"{told.line}:r", capped) == 2 and not capped.is_legal(2)
