"""AIVAT by Monte Carlo, and at its edges; `test_aivat_bias` enumerates small games."""

import os

import numpy as np
import pytest
from aivat_tables import Noise, Zero

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.agents.base import Agent, Strategy
from plurispiel.agents.baselines.equity import EquityAgent
from plurispiel.agents.baselines.simple import CallAgent, FoldAgent, RaiseAgent, RandomAgent
from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.value_functions import Checkdown

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


class Silent(Agent):
    """Calls, and tells nothing."""

    def act(self, view):
        return CALL


class Told(Agent):
    """Calls, and tells whatever it is given to tell."""

    def __init__(self, tell):
        self.tell = tell

    def act(self, view):
        return CALL

    def range_strategy(self, public):
        return self.tell(public)


def score_of(rules, agent, others, seed=1):
    agents = [agent, *others]
    rng = np.random.default_rng(seed)
    hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(rules.num_seats))
    aivat = Aivat(rules)
    return aivat.scores(hand, agents)[0], hand


@jit_only
@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six"])
def test_an_agent_that_tells_nothing_gets_the_correction_of_chance_only(rules):
    others = [TightAggressiveAgent() for _ in range(rules.num_seats - 1)]
    silent, hand = score_of(rules, Silent(), others)
    told, same = score_of(rules, CallAgent(), others)
    assert hand.actions == same.actions
    assert silent.estimate is silent.chance is silent.imaginary_hands is silent.own_actions is None
    assert silent.true_own_actions is None and silent.refused == ""
    assert silent.true_chance == told.true_chance != 0.0
    assert told.estimate is not None and told.estimate != told.payoff


@jit_only
def test_what_an_agent_says_is_checked():
    def rows(*columns):
        return np.tile(np.array(columns, dtype=float), (1326, 1))

    told = {
        "not probabilities": lambda public: Strategy(np.array([CALL]), rows(0.9)),
        "its rows are not probabilities": lambda public: Strategy(np.array([CALL, 300]), rows(1.5, -0.5)),
        "got shapes": lambda public: Strategy(np.array([CALL]), np.ones((7, 1))),
        "not legal": lambda public: Strategy(np.array([CALL, 31]), rows(0.5, 0.5)),
        "does not name 1": lambda public: Strategy(np.array([300]), rows(1.0)),
        "probability 0 with every possible combo": lambda public: Strategy(np.array([CALL, 300]), rows(0.0, 1.0)),
        "ZeroDivisionError": lambda public: 1 / 0,
        "AttributeError": lambda public: "raise",
        "NaN is none": lambda public: Strategy(np.array([CALL]), rows(np.nan)),
    }
    for what, tell in told.items():
        score, _ = score_of(HUNL, Told(tell), [CallAgent()])
        assert score.estimate is None, what
        assert score.refused, what
        assert np.isfinite(score.true_chance)
        if "NaN" not in what and "no prob" not in what:
            assert what in score.refused


@jit_only
def test_reports_that_the_board_leaves_no_combo_for_are_refused():
    """All chips are in before the flop, so that no later report shows the contradiction."""
    rules, refused = no_limit_holdem(2, stack=400), 0
    aivat, rng = Aivat(rules), np.random.default_rng(0)
    for chance in (0.0, 1e-305, 1.0):

        def tell(public, chance=chance):
            if not public.is_legal(FOLD):
                return Strategy(np.array([CALL]), np.ones((rules.num_combos, 1)))
            calls = np.full(rules.num_combos, chance)
            calls[rules.combo_id([48, 49])] = 1.0
            return Strategy(np.array([FOLD, CALL]), np.stack([1.0 - calls, calls], axis=1))

        agents = [RaiseAgent(), Told(tell)]
        for _ in range(25):
            deck = deal_deck(rules, rng)
            hand = play_hand(rules, agents, deck, rng.spawn(2))
            score = aivat.scores(hand, agents)[1]
            numbers = [score.reduced, score.estimate or 0.0, *(chips for term in score.terms for chips in term[2:])]
            assert hand.showdown and np.isfinite(numbers).all()
            assert (score.estimate is None) == ("probability 0 with every possible combo" in score.refused)
            blocked = bool({48, 49} & {*deck[:2].tolist(), *deck[4:].tolist()})
            assert (score.estimate is None) == (chance < 1.0 and blocked)
            refused += bool({48, 49} & set(deck[4:].tolist())) and score.estimate is None
    assert refused


@jit_only
def test_rows_of_hands_on_the_board_mean_nothing():
    def tell(public):
        probabilities = np.ones((1326, 1))
        probabilities[[bool(set(cards) & set(public.board)) for cards in public.rules.combos.tolist()]] = np.nan
        return Strategy(np.array([CALL]), probabilities)

    score, hand = score_of(HUNL, Told(tell), [CallAgent()])
    assert hand.showdown and score.refused == ""
    assert score.estimate == score_of(HUNL, CallAgent(), [CallAgent()])[0].estimate


@jit_only
def test_a_seat_that_committed_a_fault_is_not_scored_by_its_strategy():
    class Illegal(CallAgent):
        def act(self, view):
            return 10**9 if view.public.board else CALL

    score, hand = score_of(HUNL, Illegal(), [CallAgent()])
    assert hand.faults and score.estimate is None
    assert "fault" in score.refused


@jit_only
def test_decisions_are_kept_with_their_probabilities():
    score, hand = score_of(SIXMAX, RandomAgent(), [CallAgent() for _ in range(5)])
    own = [action for action in hand.actions if action.seat == 0]
    assert len(score.decisions) == len(own)
    for (played, actions, probabilities), action in zip(score.decisions, own, strict=True):
        assert sum(probabilities) == pytest.approx(1.0)
        assert actions[played] == action.action if action.action <= CALL else actions[played] <= action.action


def test_hands_of_one_deck_share_their_values():
    asked = []

    class Counting(Zero):
        def deal_mean(self, rules, seat):
            asked.append(seat)
            return 0.0

    aivat = Aivat(SIXMAX, Counting())
    rng = np.random.default_rng(3)
    agents = [FoldAgent() for _ in range(6)]
    hand = play_hand(SIXMAX, agents, deal_deck(SIXMAX, rng), rng.spawn(6))
    first = [aivat.scores(hand, agents) for _ in range(3)][0]
    assert asked == list(range(6))
    aivat.restart(rng)
    assert aivat.scores(hand, agents) == first
    aivat.scores(hand, agents)
    assert len(asked) == 12


@jit_only
@pytest.mark.parametrize(
    "agent",
    [TightAggressiveAgent, *(pytest.param(agent, marks=pytest.mark.slow) for agent in (EquityAgent, RandomAgent))],
)
def test_holdem_means_agree_with_raw(agent):
    agents = [agent(), CallAgent(), RaiseAgent()]
    rules = HoldemRules(blinds=(50, 100, 0), stacks=(2_000,) * 3, first_seats=(2, 0, 0, 0), board_cards=(0, 3, 1, 1))
    rng = np.random.default_rng(12)
    rngs = rng.spawn(3)
    plain, scaled, noise = Aivat(rules), Aivat(rules, Scaled(10.0)), Aivat(rules, Noise(500.0))
    differences = []
    for _ in range(25):
        hand = play_hand(rules, agents, deal_deck(rules, rng), rngs)
        scores = [aivat.scores(hand, agents)[0] for aivat in (plain, scaled, noise)]
        differences.append([score.estimate - score.payoff for score in scores])
    differences = np.array(differences)
    error = differences.std(axis=0, ddof=1) / len(differences) ** 0.5
    assert (abs(differences.mean(axis=0)) < 4.0 * error).all()


class Scaled(Checkdown):
    """Checkdown's values times a factor."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def values(self, situation):
        return self.factor * super().values(situation)

    def deal_mean(self, rules, seat):
        return self.factor * super().deal_mean(rules, seat)


@jit_only
def test_terms_sum_to_the_corrections_and_belong_to_events():
    agents = [TightAggressiveAgent(), RandomAgent(), CallAgent()]
    rules = no_limit_holdem(3)
    aivat = Aivat(rules)
    kinds = set()
    for seed in range(6):
        rngs = [np.random.default_rng((seed, seat)) for seat in range(4)]
        hand = play_hand(rules, agents, deal_deck(rules, rngs[3]), rngs[:3])
        for seat, score in enumerate(aivat.scores(hand, agents, {0, 1})):
            sums = dict.fromkeys(("deal", "board", "action", "other", "showdown"), 0.0)
            true_sums = dict(sums)
            for term in score.terms:
                sums[term.kind] += term.chips
                true_sums[term.kind] += term.true_chips
                assert term.kind != "action" or hand.actions[term.num_actions].seat == seat
                assert term.kind != "other" or hand.actions[term.num_actions].seat in {0, 1} - {seat}
            assert score.chance == pytest.approx(sums["deal"] + sums["board"], abs=1e-9)
            assert score.true_chance == pytest.approx(true_sums["deal"] + true_sums["board"], abs=1e-9)
            assert score.own_actions == pytest.approx(sums["action"], abs=1e-9)
            assert score.true_own_actions == pytest.approx(true_sums["action"], abs=1e-9)
            assert score.other_actions == pytest.approx(sums["other"], abs=1e-9)
            assert score.imaginary_hands == pytest.approx(sums["showdown"], abs=1e-9)
            assert [term.num_actions for term in score.terms] == sorted(term.num_actions for term in score.terms)
            kinds |= sums.keys() & {term.kind for term in score.terms}
        said = aivat.announced
        assert [len(seat) for seat in said] == [sum(a.seat == k for a in hand.actions) for k in range(3)]
    assert len(kinds) == 5
