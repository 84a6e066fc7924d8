"""Counts of a profile, against counts by hand."""

import os

import numpy as np
import pytest
from table import public_after

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, no_limit_holdem
from plurispiel.agents import make_agent
from plurispiel.agents.base import Agent, Decision, RangeAgent, Strategy, View
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.play_profile import FACED, PlayProfile, answer_shares, bet_faced, occasions
from plurispiel.evaluation.play_statistics import COUNTERS
from plurispiel.evaluation.watched_agent import LogUniformSizes, WatchedAgent

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="a minute without the compiler")

THREE = no_limit_holdem(3)
BOARD = "QsJh2h7c3d"


class Script(Agent):
    """Answers from a list, and tells nothing about other hands."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def act(self, view):
        return self.answers.pop(0)


class Aces(RangeAgent):
    """Raises aces and folds half of the others before the flop; then bets the pot with three tenths of its hands."""

    def strategy(self, public, combo_ids):
        is_pair = (public.rules.combos[combo_ids] >= 48).all(axis=1)
        if public.street or not public.can_fold:
            shares = np.tile([0.7, 0.3], (len(combo_ids), 1))
            return Strategy(np.array([1, public.raise_by_pot(1.0)]), shares)
        shares = np.where(is_pair[:, None], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0])
        return Strategy(np.array([0, 1, public.raise_by_pot(1.0)]), shares)


def play(rules, agents, cards):
    left = [card for card in rules.cards.tolist() if card not in cards]
    deck = np.array([*cards, *left], dtype=np.uint8)[: rules.num_dealt_cards]
    return play_hand(rules, agents, deck, [np.random.default_rng(seat) for seat in range(rules.num_seats)])


@pytest.mark.parametrize(
    "actions, faced",
    [
        ((), "no bet"),
        ((250,), "raise"),
        ((250, 700), "re-raise"),
        ((200, 1), "no bet"),
        ((200, 1, 300), "bet < 0.3 pot"),  # 100 into 400
        ((200, 1, 320), "bet < 0.7 pot"),
        ((200, 1, 480), "bet < 1.2 pot"),
        ((200, 1, 680), "larger bet"),
        ((200, 1, 300, 500), "raise"),
        ((200, 1, 300, 500, 900), "re-raise"),
        ((200, 1, 20_000), "all-in bet"),
        ((200, 1, 1, 600, 1, 1, 1000), "bet < 0.7 pot"),  # 400 into 1,200 on the turn
    ],
)
def test_bet_faced(actions, faced):
    assert FACED[bet_faced(public_after(HUNL, actions, BOARD))] == faced


@pytest.mark.parametrize(
    "actions, names",
    [
        ((), ["first in"]),
        ((0, 0), ["first in"]),
        ((225,), ["a raise", "cold raise"]),
        ((225, 1), ["a raise"]),
        ((225, 0, 0, 0, 0), ["a raise", "cold raise", "big blind, raise"]),
        ((225, 1, 0, 0, 0), ["a raise", "big blind, raise and call"]),
        ((1, 400, 0, 0, 0, 0), ["a raise"]),
        ((225, 700, 0, 0, 0, 0), ["a 3-bet"]),
        ((225, 700), []),
        ((0, 0, 0, 225, 0, 1), ["after the flop", "donk flop"]),
        ((0, 0, 0, 225, 0, 1, 1), ["after the flop", "c-bet"]),
        ((0, 0, 0, 225, 0, 1, 1, 400), ["after the flop", "facing a bet", "facing a c-bet"]),
        ((0, 0, 0, 225, 0, 1, 400), ["after the flop", "facing a bet"]),
        ((0, 0, 0, 225, 0, 1, 1, 1), ["after the flop"]),
        ((0, 0, 0, 225, 0, 1, 1, 400, 1), ["after the flop", "donk turn"]),
        ((0, 0, 0, 225, 0, 1, 400, 1, 1, 1), ["after the flop"]),
    ],
)
def test_occasions(actions, names):
    assert occasions(public_after(SIXMAX, actions, BOARD)) == names


def test_a_hand_counted_by_hand():
    # The button opens, the small blind folds, the big blind calls; check, bet 200 into 550, call; turn: check, check;
    # river: the big blind bets 300 and the button folds.
    profile = PlayProfile(3)
    scripts = [Script(0), Script(1, 1, 1, 1, 750), Script(250, 450, 1, 0)]
    agents = [WatchedAgent(script, profile) for script in scripts]
    cards = parse_cards("7c2d" + "KsKd" + "AsAd")
    board = parse_cards("Qh9h4c3d2s")
    deck = np.array([*cards, *board], dtype=np.uint8)
    hand = play_hand(THREE, agents, deck, [np.random.default_rng(seat) for seat in range(3)])
    assert not hand.faults and hand.payoffs == (-50.0, 500.0, -450.0)
    for seat in range(3):
        profile.see_hand(hand, seat)
    table = profile.situations
    assert profile.num_decisions == 10 and profile.num_hands == 3 and profile.num_after_flop == 7
    assert table[..., 3].sum() == pytest.approx(10)
    assert table.sum(axis=(1, 2, 3)).tolist() == [[1, 1, 1, 3], [0, 2, 1, 3], [0, 2, 0, 2], [1, 0, 1, 2]]
    bet = FACED.index("bet < 0.7 pot")
    assert table[1, 0, bet].sum(axis=0).tolist() == [0, 1, 0, 1]  # the call on the flop, of a strong hand
    assert table[1, 0, bet, 3:].sum() == 2
    assert table[3, 0, bet].sum(axis=0).tolist() == [1, 0, 0, 1]
    assert table[0, 1, FACED.index("raise")].sum(axis=0).tolist() == [1, 0, 0, 1]  # the small blind, three players
    assert table[0, 1, FACED.index("raise"), 0].sum() == 2  # 72o against two hands: the weakest band
    assert profile.occasion("first in", "BTN").tolist() == [0, 0, 1, 1]
    assert profile.occasion("a raise").tolist() == [1, 1, 0, 2]
    assert profile.occasion("a raise", "SB").tolist() == [1, 0, 0, 1]
    assert profile.occasion("big blind, raise").tolist() == [0, 1, 0, 1]
    assert profile.occasion("c-bet").tolist() == [0, 0, 1, 1]
    assert profile.occasion("facing a c-bet", "BB").tolist() == [0, 1, 0, 1]
    assert profile.occasion("donk flop").tolist() == profile.occasion("donk turn").tolist() == [0, 1, 0, 1]
    assert profile.occasion("after the flop").tolist() == [1, 4, 2, 7]
    assert profile.occasion("facing a bet").tolist() == [1, 1, 0, 2]
    assert profile.occasion("a 3-bet").tolist() == [0, 0, 0, 0]
    assert profile.certain.tolist() == [1, 4, 2, 7]
    assert profile.counts[:, COUNTERS.index("vpip")].tolist() == [0, 1, 1]
    assert profile.flops.tolist() == [[0, 0], [1, 0], [1, 0]]


def test_decisions_count_with_the_whole_range():
    # The button opens with aces only: later it holds aces, here without the ace on the board, and bets 30 % of them.
    profile = PlayProfile(2)
    deck = parse_cards("KsKd" + "AsAd" + "Ac9h4c3d2s")
    agents = [Script(1, 1, 1, 1, 1, 1, 1), WatchedAgent(Aces(), profile)]
    play(HUNL, agents, deck)
    share = 6 / 1326
    first = profile.occasion("first in")
    assert first == pytest.approx([(1 - share) / 2, (1 - share) / 2, share, 1])
    assert profile.situations[1].sum(axis=(0, 1, 2)) == pytest.approx([0, 0.7, 0.3, 1])
    # Three aces are above 0.85 against a random hand: all of the range is.
    assert profile.situations[1, 0, 0, 4] == pytest.approx([0, 0.7, 0.3, 1])
    assert profile.certain.tolist() == [0, 0, 0, 0] and profile.num_after_flop == 3
    assert profile.sources["", "before the flop"] == 1 and profile.sources["", "after the flop"] == 3


def test_probabilities_of_a_decision_count_without_a_range():
    class Coin(Agent):
        def act(self, view):
            return Decision(1, (0, 1), (0.25, 0.75))

    profile = PlayProfile(2)
    play(HUNL, [Script(1), WatchedAgent(Coin(), profile)], parse_cards("KsKdAsAd"))
    assert profile.occasion("first in", "BTN").tolist() == [0.25, 0.75, 0, 1]


@pytest.mark.parametrize("spec", ["tag", "random"])
def test_a_watched_agent_plays_as_it_does(spec):
    profile = PlayProfile(6)
    plain, watched = ([make_agent(spec) for _ in range(6)] for _ in range(2))
    watched = [WatchedAgent(agent, profile) for agent in watched]
    number = 0
    for seed in range(10):
        deck = deal_deck(SIXMAX, np.random.default_rng(seed))
        hands = [
            play_hand(SIXMAX, agents, deck, [np.random.default_rng((seed, seat)) for seat in range(6)])
            for agents in (plain, watched)
        ]
        assert hands[0].actions == hands[1].actions
        number += len(hands[0].actions)
    assert profile.num_decisions == number == pytest.approx(profile.situations[..., 3].sum())


def test_log_uniform_sizes():
    public = public_after(HUNL, (250,))
    wrapped, kept = LogUniformSizes(Script(*[700] * 4000)), LogUniformSizes(Script(700, 1), 0.0)
    assert [answer(kept, public), answer(kept, public)] == [700, 1]
    raises = np.array([answer(wrapped, public, seed) for seed in range(4000)])
    assert raises.min() >= 400 and raises.max() <= 20_000
    logs = np.log(raises - 250)
    low, high = np.log([150, 19_750])
    for share in (0.25, 0.5, 0.75):
        assert (logs < low + share * (high - low)).mean() == pytest.approx(share, abs=0.03)


def answer(agent, public, seed=0):
    agent.rng = np.random.default_rng(seed)
    return agent.act(View(public, public.actor, (0, 1)))


def test_answer_shares():
    strategy = Strategy(np.array([0, 1, 300, 900]), np.array([[0.1, 0.2, 0.3, 0.4]]))
    assert answer_shares(strategy) == pytest.approx(np.array([[0.1, 0.2, 0.7]]))
