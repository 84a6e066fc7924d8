import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.boards import find_boards
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.base import CALL, RangeAgent, Strategy
from plurispiel.agents.values import self_play
from plurispiel.agents.values.drawn_situation import draw_situation, is_from_play
from plurispiel.agents.values.levels import LEVELS, chips_behind, pot_of

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

RIVER = LEVELS["river"]


class Teller(RangeAgent):
    """Raises two cards from the six up on the button; first on the flop, it bets half of its hands with a nine."""

    is_deterministic = True

    def strategy(self, public, combo_ids):
        ranks = HUNL.combos[combo_ids] // 4
        bets = np.zeros(len(combo_ids))
        if not public.actions:
            bets = (ranks >= 4).all(axis=1) * 1.0
        elif public.street == 1 and public.actor == 0 and not public.can_fold:
            bets = (ranks == 7).any(axis=1) / 2.0
        to = 300 if public.street == 0 else public.min_raise
        return Strategy(np.array([CALL, to]), np.stack([1.0 - bets, bets], axis=1))


def test_ranges_are_what_the_play_tells(monkeypatch):
    agent = Teller()
    monkeypatch.setattr(self_play, "_agent", lambda name: agent)
    board = (0, 5, 22, 31, 51)
    free, ranks = HUNL.free_combos(board), HUNL.combos // 4
    high, nines = (ranks >= 4).all(axis=1), (ranks == 7).any(axis=1)
    pots = set()
    for seed in range(80):
        state, ranges = self_play.play_to("any", HUNL, board, 3, np.random.default_rng(seed))
        assert state.street == 3 and not state.is_over and state.contributions[0] == state.contributions[1]
        pot = pot_of(state)
        pots.add(pot)
        was_raised, was_bet = pot >= 600, pot in (400, 800)
        first = free * (nines / 2.0 if was_bet else 1.0 - nines / 2.0)
        button = free * (high if was_raised else ~high)
        np.testing.assert_allclose(ranges[0], first / first.sum(), atol=1e-12)
        np.testing.assert_allclose(ranges[1], button / button.sum(), atol=1e-12)
    assert pots == {200, 400, 600, 800}


def test_a_third_of_river_situations_is_from_play():
    np.testing.assert_array_equal(np.flatnonzero(is_from_play(RIVER, np.arange(6))), [2, 5])
    assert not is_from_play(LEVELS["leduc"], np.arange(6)).any()
    for number in (2, 5, 8):
        situation = draw_situation(RIVER, 3, "unseen", number)
        again = draw_situation(RIVER, 3, "unseen", number)
        np.testing.assert_array_equal(situation.ranges, again.ranges)
        assert situation.board == again.board and situation.state.contributions == again.state.contributions
        assert pot_of(situation.state) + 2 * chips_behind(situation.state) == 40_000
        assert int(find_boards(np.array(situation.board, np.uint8), 4, 13)[1]) == 0
        np.testing.assert_array_equal(situation.ranges > 0.0, np.tile(HUNL.free_combos(situation.board), (2, 1)))
        np.testing.assert_allclose(situation.ranges.sum(axis=1), 1.0, rtol=2e-3)
