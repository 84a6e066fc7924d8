"""Checkdown values against plain loops, and the defaults of value functions against checkdown's exact means."""

import dataclasses
import os

import numpy as np
import pytest
from reference.checkdown import checkdown

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
from plurispiel.agents.baselines.simple import RandomAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.value_functions import (
    NO_CARD,
    Checkdown,
    Situation,
    ValueFunction,
    next_boards,
)

jit_only = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

SMALL = HoldemRules(  # unequal stacks, few enough cards that ties and side pots are common
    blinds=(1, 2, 0, 0),
    stacks=(9, 20, 5, 14),
    first_seats=(2, 0, 0),
    board_cards=(0, 2, 1),
    num_suits=2,
    num_ranks=6,
)
STUD = dataclasses.replace(LEDUC, blinds=(1, 1, 1), num_ranks=8, num_hole_cards=3, board_cards=(1, 1))
GAMES = [SMALL, STUD, LEDUC, KUHN, HULH, SIXMAX, no_limit_holdem(3, stack=700)]


def situations(rules, seed, num_hands=1):
    """Yield every point of some random hands as each live seat sees it, with the deck."""
    rng = np.random.default_rng(seed)
    for _ in range(num_hands):
        agents = [RandomAgent() for _ in range(rules.num_seats)]
        hand = play_hand(rules, agents, deal_deck(rules, rng), rng.spawn(rules.num_seats))
        shown = rules.num_seats * rules.num_hole_cards
        hole_cards = hand.deck[:shown].reshape(rules.num_seats, -1)
        board = tuple(hand.deck[shown:].tolist())
        state = BettingState(rules)
        for number in range(len(hand.actions) + 1):
            street = rules.num_streets - 1 if state.is_over else state.street
            seen = board if state.is_over else board[: rules.board_size(street)]
            for seat in range(rules.num_seats):
                others = hole_cards.copy()
                others[seat] = NO_CARD
                yield Situation(rules, seat, others, seen, hand.actions[:number], state.array.tolist()), hand
            if number < len(hand.actions):
                state.apply(hand.actions[number].action)


def expected(situation, combo):
    hole_cards = situation.hole_cards.copy()
    hole_cards[situation.seat] = situation.rules.combos[combo]
    state = BettingState(situation.rules, np.array(situation.state))
    values = checkdown(situation.rules, hole_cards.tolist(), situation.board, state.contributions, state.folded)
    return values[situation.seat]


@pytest.mark.parametrize("rules", [SMALL, STUD, LEDUC, KUHN], ids=["side pots", "three hole cards", "leduc", "kuhn"])
def test_checkdown_is_the_mean_over_all_boards(rules):
    rng = np.random.default_rng(5)
    seen = 0
    for situation, _ in situations(rules, seed=3, num_hands=3):
        if rng.random() < 0.5:
            continue
        values = Checkdown().values(situation)
        combos = np.flatnonzero(situation.holdable())
        for combo in rng.choice(combos, size=min(2, len(combos)), replace=False).tolist():
            assert values[combo] == pytest.approx(expected(situation, combo), abs=1e-9)
            seen += 1
    assert seen > 10


@jit_only
@pytest.mark.parametrize("seats", [2, 6], ids=["heads-up", "six"])
def test_checkdown_in_holdem_is_the_mean_over_all_boards(seats):
    rules, rng = no_limit_holdem(seats, 200, blinds=(1, 2)), np.random.default_rng(6)
    late = [case for case, _ in situations(rules, 8, num_hands=8) if len(case.board) >= 4 and case.state[1] >= 0]
    for situation in [late[k] for k in rng.choice(len(late), size=6, replace=False)]:
        combo = int(rng.choice(np.flatnonzero(situation.holdable())))
        assert Checkdown().values(situation)[combo] == pytest.approx(expected(situation, combo), abs=1e-9)


@pytest.mark.parametrize("rules", GAMES)
def test_at_the_end_the_value_is_the_payoff(rules):
    seen = 0
    for situation, hand in situations(rules, seed=11, num_hands=25):
        if situation.state[1] < 0:
            own = rules.combo_id(hand.deck[situation.seat * rules.num_hole_cards :][: rules.num_hole_cards].tolist())
            payoff = Checkdown().values(situation)[own]
            assert payoff == pytest.approx(hand.payoffs[situation.seat], abs=1e-9)
            seen += 1
    assert seen == 25 * rules.num_seats


@jit_only
def test_sampled_boards_agree_with_all_of_them():
    rules = dataclasses.replace(SMALL, num_suits=4, board_cards=(0, 3, 1))  # 3,060 boards
    situation = next(case for case, _ in situations(rules, 1, 9) if case.seat == 0 and sum(case.state[13:17]) > 20)
    assert not situation.board
    sampled = []
    for seed in range(60):
        values = Checkdown(200)
        values.restart(np.random.default_rng(seed))
        sampled.append(values.values(situation))
    error = np.std(sampled, axis=0, ddof=1) / 60**0.5
    for combo in np.flatnonzero(situation.holdable())[::40].tolist():
        assert abs(np.mean(sampled, axis=0)[combo] - expected(situation, combo)) <= 4.5 * error[combo]
    assert (error[situation.holdable()] > 0.0).all()


@pytest.mark.parametrize("rules", [KUHN, LEDUC, dataclasses.replace(KUHN, blinds=(1, 1, 1), num_ranks=4)])
def test_the_mean_over_deals_is_that_of_all_deals(rules):
    for seat in range(rules.num_seats):
        assert Checkdown().deal_mean(rules, seat) == pytest.approx(
            ValueFunction.deal_mean(Checkdown(), rules, seat), abs=1e-12
        )


@jit_only
def test_the_mean_over_deals_with_sampled_ones_is_near():
    values = Checkdown(300)
    estimates = []
    for seed in range(40):
        values.restart(np.random.default_rng(seed))
        values.num_samples = 100
        estimates.append(ValueFunction.deal_mean(values, SMALL, 1))
    assert abs(np.mean(estimates) - values.deal_mean(SMALL, 1)) <= 4.5 * np.std(estimates, ddof=1) / 40**0.5


@pytest.mark.parametrize("rules", [SMALL, LEDUC, SIXMAX, HUNL], ids=["small", "leduc", "six", "heads-up"])
def test_the_mean_over_the_next_card_is_the_value_before_it(rules):
    cases = [case for case, _ in situations(rules, 21, 30) if case.state[1] >= 0 and not case.state[23 + case.seat]]
    cases = [case for case in cases if rules.num_board_cards - len(case.board) == 1]
    for case in cases[:3]:
        held = case.holdable()
        means = ValueFunction.next_board_means(Checkdown(), case, 1)
        assert means[held] == pytest.approx(Checkdown().next_board_means(case, 1)[held], abs=1e-9)
    assert cases


def test_sampled_next_boards_are_free_and_equally_likely():
    situation = next(case for case, _ in situations(SIXMAX, 2))
    boards = next_boards(situation, 3, 50, 20_000, np.random.default_rng(4))
    assert boards.shape == (20_000, 3)
    assert (np.diff(np.sort(boards, axis=1).astype(int), axis=1) > 0).all()
    counts = np.bincount(boards.ravel(), minlength=52)
    free = situation.free_cards()
    assert counts.sum() == counts[free].sum()
    mean = 60_000 / len(free)
    assert (abs(counts[free] - mean) < 5.0 * mean**0.5).all()


def test_all_next_boards_come_once_where_they_are_few():
    case = next(case for case, _ in situations(SIXMAX, 9, 30) if len(case.board) == 3)
    boards = next_boards(case, 1, 50, 3, np.random.default_rng(0))
    assert boards[:, 0].tolist() == case.free_cards().tolist()
    assert len(boards) == 52 - 10 - 3


def test_names_of_value_functions():
    assert Checkdown(250).digest == Checkdown().digest != Checkdown(600).digest
    with pytest.raises(ValueError, match="num_samples is 64"):
        Checkdown(10)
    with pytest.raises(TypeError, match="must define values"):
        ValueFunction().values(next(case for case, _ in situations(KUHN, 1)))
