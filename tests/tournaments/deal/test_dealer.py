"""The dealer's order of players, decks and names, with agents of this package alone."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import LEDUC, no_limit_holdem
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.streams import Keyed, Streams
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.tournaments.deal.correction import Correction
from plurispiel.tournaments.deal.dealer import Match
from plurispiel.tournaments.formats.acpc import read_acpc
from plurispiel.tournaments.formats.match_log import MatchLog

RULES = no_limit_holdem(3, stack=20_000)
NAMES = ("A", "B", "C")


def played(tmp_path, agents, num_hands=12):
    """Play all parts of a duplicate match; the match, the payoffs and the hands by part."""
    match = Match(RULES, NAMES, num_hands, Streams(3, Keyed([(0, 7)])), False, 1.0)
    payoffs, hands, counted = [], [], []
    for part in range(3):
        path = tmp_path / f"{part}.log"
        with MatchLog(path, RULES, num_hands) as log:
            payoffs.append(match.play(list(map(make_agent, agents)), part, log, lambda *_: counted.append(1)))
        hands.append(list(read_acpc(path)))
    assert len(counted) == 3 * num_hands
    return match, np.array(payoffs), hands


def test_everybody_moves_one_seat_on_and_holds_every_hand_of_a_deck(tmp_path):
    match, payoffs, hands = played(tmp_path, ("random", "random", "call"))
    for part in range(3):
        assert [hand.label for hand in hands[part]] == list(map(str, range(12)))
        for number, hand in enumerate(hands[part]):
            assert hand.names == tuple(NAMES[(seat - number - part) % 3] for seat in range(3))
            assert hand.hole_cards == hands[0][number].hole_cards
            by_name = dict(zip(hand.names, hand.payoffs, strict=True))
            assert [by_name[name] for name in NAMES] == payoffs[part, number].tolist()
    assert abs(payoffs.sum()) < 1e-6 and not match.faults and match.seconds > 0.0
    assert match.answers == sum(len(hand.actions) for part in hands for hand in part)


def test_equal_players_end_equal(tmp_path):
    _, payoffs, _ = played(tmp_path, ("call", "call", "call"))
    assert np.allclose(payoffs.sum(axis=0), 0.0)


def corrected(tmp_path, rules, names, trusted, num_hands):
    """A match of agents: its payoffs and estimates."""
    agents = list(map(make_agent, names))
    streams = Streams(rules.num_seats, Keyed([(0, 7)]))
    correction = Correction(agents, trusted, Checkdown(), streams)
    with MatchLog(tmp_path / "log", rules, num_hands) as log:
        payoffs = Match(rules, names, num_hands, streams, False, 1.0).play(agents, 0, log, correction.add)
    found = np.array(correction.estimates)
    assert found.shape == payoffs.shape and np.abs(found.sum(axis=1)).max() < 1e-6
    return payoffs, found


@pytest.mark.parametrize("trusted", [(), (0,), (0, 1)])
def test_results_without_luck_estimate_the_same(tmp_path, trusted):
    payoffs, found = corrected(tmp_path, LEDUC, ("tag", "random"), trusted, 500)
    luck = estimate_mean(payoffs[:, 0] - found[:, 0])  # whose expectation is 0
    assert abs(luck.mean) < 2.5 * luck.ci95  # five standard errors
    assert found[:, 0].std() < (0.8 if trusted else 1.0) * payoffs[:, 0].std()


def test_estimates_follow_the_players_from_seat_to_seat(tmp_path):
    """Who always folds pays the blinds of the seat; the wrong seat would be off by 50 chips or more."""
    payoffs, found = corrected(tmp_path, RULES, ("fold", "fold", "fold"), (0, 1, 2), 6)
    assert {tuple(row) for row in payoffs.tolist()} == {(-50.0, 50.0, 0.0), (0.0, -50.0, 50.0), (50.0, 0.0, -50.0)}
    np.testing.assert_allclose(found, payoffs, atol=24.0)
