"""The person's score: unbiased by enumeration, and of less spread than the chips."""

import itertools

import numpy as np
import pytest

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import KUHN, LEDUC
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import play_hand
from plurispiel.tournaments.play.luck import RunningResult, TableScore, table_score

KUHN3 = parse_game("kuhn_poker(players=3)")


def hands(rules, names):
    """Every deal of a game between agents that draw no random numbers."""
    agents = [make_agent(name) for name in names]
    for deck in itertools.permutations(rules.cards.tolist(), rules.num_dealt_cards):
        rngs = [np.random.default_rng(0)] * rules.num_seats
        yield play_hand(rules, agents, np.array(deck, dtype=np.uint8), rngs), agents


@pytest.mark.parametrize(
    ("rules", "names", "silent"),
    [
        (KUHN, ("raise", "call"), {0}),
        (KUHN, ("tag", "raise"), {1}),
        (KUHN, ("tag", "raise"), {0, 1}),
        (KUHN3, ("raise", "call", "tag"), {0}),
        (KUHN3, ("raise", "call", "tag"), {1, 2}),
        (LEDUC, ("tag", "call"), {1}),
        (LEDUC, ("equity", "tag"), {0}),
    ],
)
def test_the_mean_over_all_deals_is_that_of_the_chips(rules, names, silent):
    """With the prior coefficient, which the first hand has."""
    aivat = Aivat(rules)
    chips, scores = [], []
    seat = min(silent)
    for hand, agents in hands(rules, names):
        trusted = [other for other in range(rules.num_seats) if other not in silent]
        tellers = [Agent() if other in silent else agent for other, agent in enumerate(agents)]
        result = RunningResult(1, [True] * len(silent) + [False] * (rules.num_seats - len(silent)))
        result.add(hand.payoffs[seat], table_score(aivat.scores(hand, tellers, trusted), seat, silent))
        chips.append(hand.payoffs[seat])
        scores.append(result.estimates()[0])
    assert np.mean(scores) == pytest.approx(np.mean(chips), abs=1e-9)
    if len(silent) == 1:
        assert np.std(scores) < np.std(chips)


def test_later_hands_change_no_estimate_and_the_fit_removes_what_the_sum_explains():
    rng = np.random.default_rng(2)
    result, found = RunningResult(100, [True, False]), []
    totals = rng.normal(scale=100.0, size=400)
    for total in totals:
        result.add(0.0, TableScore(0.5 * total + rng.normal(), total))
        found.append(result.estimates()[-1])
    assert found == result.estimates().tolist()
    assert np.std(found[200:]) < 0.2 * np.std(0.5 * totals)  # the prior, 1, would leave all of it


def test_a_running_result_in_words():
    result = RunningResult(100, [True, True])
    assert result.words() == ["0 hands, +0 chips"] and result.estimates().tolist() == []
    result.add(1_500.0, TableScore(120.0, 200.0))
    assert result.words() == ["1 hand, +1,500 chips", "won +15,000 mbb/hand", "by AIVAT +200 mbb/hand"]
    result.add(-1_700.5, TableScore(20.0, 0.0))
    assert result.words() == ["2 hands, -200.50 chips", "won -1,002 ± 203,331 mbb/hand", "by AIVAT +200 ± 0 mbb/hand"]
