"""What agents answer for whole ranges is checked before it counts."""

import dataclasses

import numpy as np
import pytest
from public_games import SMALL, Noise, pair

from plurispiel.abstraction.holdem.betting import CALL
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.agents import make_agent
from plurispiel.agents.base import Action, Agent, Board, Deal, Strategy
from plurispiel.evaluation.public_best_response import public_best_response


class Broken(Agent):
    """Calls, but for one thing."""

    def __init__(self, answer):
        self.answer = answer

    def range_strategy(self, public):
        strategy = Strategy(np.array([CALL]), np.ones((public.rules.num_combos, 1)))
        return self.answer(public, strategy) if public.board else strategy


def with_row(change):
    def answer(public, strategy):
        row = max(k for k, combo in enumerate(public.rules.combos.tolist()) if not set(combo) & set(public.board))
        strategy.probabilities[row] = change
        return strategy

    return answer


@pytest.mark.parametrize(
    "answer, message",
    [
        (lambda public, strategy: None, "does not tell its strategy"),
        (lambda public, strategy: 1 / 0, "ZeroDivisionError"),
        (lambda public, strategy: Strategy(strategy.actions, np.ones((3, 1))), "must have the shape"),
        (lambda public, strategy: Strategy(np.array([77]), strategy.probabilities), "legal actions"),
        (with_row(0.9), "sum to 1"),
        (with_row(np.nan), "sum to 1"),
    ],
)
def test_what_is_no_strategy_is_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        public_best_response(LEDUC, [Broken(answer), make_agent("call")])


def test_negative_probabilities_are_refused():
    def answer(public, strategy):
        if not public.menu:
            return strategy
        probabilities = np.tile([2.0, -1.0], (public.rules.num_combos, 1))
        return Strategy(np.array([CALL, public.menu[0]]), probabilities)

    with pytest.raises(ValueError, match="sum to 1"):
        public_best_response(LEDUC, [Broken(answer), make_agent("call")])


def test_rows_of_hands_on_the_board_mean_nothing():
    def answer(public, strategy):
        strategy.probabilities[np.isin(public.rules.combos, public.board).any(axis=1)] = np.nan
        return strategy

    expected = public_best_response(LEDUC, pair("call")).values
    np.testing.assert_array_equal(public_best_response(LEDUC, [Broken(answer), make_agent("call")]).values, expected)


def test_raises_from_a_range_are_single_sizes_of_the_menu():
    rules = SMALL["one board card"]

    class Spread(Agent):
        def range_strategy(self, public):
            actions = [CALL, *([public.menu[-1]] if public.menu else [])]
            probabilities = np.full((public.rules.num_combos, len(actions)), 1.0 / len(actions))
            return Strategy(np.array(actions), probabilities, np.array(actions))

    class Plain(Spread):
        def range_strategy(self, public):
            return dataclasses.replace(super().range_strategy(public), highest=None)

    spread, plain = (public_best_response(rules, [kind(), kind()]) for kind in (Spread, Plain))
    np.testing.assert_array_equal(spread.combo_values, plain.combo_values)


def test_columns_of_one_action_add_up():
    class Twice(Noise):
        def range_strategy(self, public):
            strategy = super().range_strategy(public)
            actions = np.concatenate([strategy.actions, strategy.actions])
            return Strategy(actions, np.hstack([0.25 * strategy.probabilities, 0.75 * strategy.probabilities]))

    twice, once = (public_best_response(LEDUC, [kind(1), kind(2)]) for kind in (Twice, Noise))
    np.testing.assert_allclose(twice.combo_values, once.combo_values, rtol=0, atol=1e-12)


def test_play_that_depends_on_the_order_of_a_flop_is_refused():
    class Reader(Agent):
        def range_strategy(self, public):
            descends = len(public.board) > 1 and public.board[0] > public.board[1]
            action = public.raise_by_pot(1.0) if descends else CALL
            return Strategy(np.array([action]), np.ones((public.rules.num_combos, 1)))

    with pytest.raises(ValueError, match="order of cards"):
        public_best_response(SMALL["two of three suits"], [Reader(), Reader()])


def test_an_agent_that_listens_is_told_the_hand():
    class Listener(Noise):
        def restart(self, rules, seat, rng):
            super().restart(rules, seat, rng)
            self.heard = []

        def observe(self, event):
            self.heard.append(event)

        def range_strategy(self, public):
            assert isinstance(self.heard[0], Deal)
            assert not set(self.heard[0].hole_cards) & set(public.board)
            assert tuple(event for event in self.heard if isinstance(event, Action)) == public.actions
            boards = [event for event in self.heard if isinstance(event, Board)]
            assert sum((event.cards for event in boards), ()) == public.board
            assert [event.street for event in boards] == list(range(1, public.street + 1))
            return super().range_strategy(public)

    rules = SMALL["three streets"]
    heard = public_best_response(rules, [Listener(1), Listener(2)])
    np.testing.assert_array_equal(heard.values, public_best_response(rules, [Noise(1), Noise(2)]).values)
