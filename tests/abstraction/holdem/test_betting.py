import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, IllegalAction
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem

NUM_HANDS = 2_500


def play(rules, actions):
    state = BettingState(rules)
    for action in actions:
        state.apply(action)
    return state


def deck_of(*hole_cards, board):
    return np.array([card for text in (*hole_cards, board) for card in parse_cards(text)], dtype=np.uint8)


def test_heads_up_the_button_acts_first_before_the_flop_and_last_after():
    state = BettingState(HUNL)
    assert (state.actor, state.to_call, state.can_fold) == (1, 50, True)
    state.apply(CALL)
    assert (state.actor, state.to_call, state.can_fold) == (0, 0, False)
    state.apply(CALL)
    assert (state.street, state.actor, state.min_raise, state.max_raise) == (1, 0, 200, 20_000)


def test_six_seats_the_third_acts_first_and_then_the_small_blind():
    state = BettingState(SIXMAX)
    order = []
    for _ in range(12):
        order.append(state.actor)
        state.apply(CALL)
    assert order == [2, 3, 4, 5, 0, 1, 0, 1, 2, 3, 4, 5]


def test_big_blind_may_raise_after_limps():
    state = play(SIXMAX, [CALL] * 5)
    assert (state.actor, state.can_fold, state.min_raise) == (1, False, 200)
    state.apply(400)
    assert (state.street, state.actor, state.min_raise) == (0, 2, 700)


def test_smallest_raise_grows_with_the_largest_one_of_the_street():
    state = play(HUNL, [300])
    assert state.min_raise == 500
    state.apply(1_000)
    assert state.min_raise == 1_700
    state.apply(CALL)
    assert state.min_raise == 1_100  # a new street begins with the big blind


@pytest.mark.parametrize(("all_in", "smallest"), [(400, 500), (450, 600)])
def test_short_all_in_reopens_the_betting_as_in_the_acpc(all_in, smallest):
    rules = HoldemRules(
        blinds=(50, 100, 0), stacks=(10_000, 10_000, all_in), first_seats=(0, 0, 0, 0), board_cards=(0, 3, 1, 1)
    )
    state = play(rules, [300, CALL, all_in])
    assert (state.actor, state.min_raise, state.max_raise) == (0, smallest, 10_000)


def test_last_seat_with_chips_cannot_raise():
    rules = HoldemRules(blinds=(100, 50), stacks=(10_000, 500), first_seats=(1, 0), board_cards=(0, 3))
    state = play(rules, [500])
    assert (state.actor, state.min_raise, state.max_raise) == (0, 0, 0)
    state.apply(CALL)
    assert state.is_over
    assert (state.street, state.to_call) == (1, 0)


def test_the_price_of_a_call_is_at_most_the_stack():
    rules = HoldemRules(blinds=(100, 50), stacks=(10_000, 500), first_seats=(1, 0), board_cards=(0, 3))
    state = play(rules, [CALL, 5_000])
    assert (state.actor, state.to_call) == (1, 400)
    with pytest.raises(IllegalAction, match=r"1 \(call 400\)$"):
        state.apply(500)


def test_walk_wins_the_small_blind_only():
    state = play(SIXMAX, [FOLD] * 5)
    assert state.is_over
    deck = np.arange(17, dtype=np.uint8)
    assert state.payoffs(deck).tolist() == [-50, 50, 0, 0, 0, 0]


def test_side_pots_with_three_stacks():
    rules = HoldemRules(
        blinds=(50, 100, 0), stacks=(1_000, 300, 101), first_seats=(0, 0, 0, 0), board_cards=(0, 3, 1, 1)
    )
    state = play(rules, [1_000, CALL, CALL])
    deck = deck_of("2c7d", "KsKh", "AsAh", board="Ac9c8hJd3s")
    assert state.payoffs(deck).tolist() == [-300, 300 - 202, 202]
    deck = deck_of("AsAh", "KsKh", "2c7d", board="Ac9c8hJd3s")
    assert state.payoffs(deck).tolist() == [401, -300, -101]


def test_odd_chips_are_split_into_fractions():
    rules = HoldemRules(blinds=(1, 2, 0), stacks=(100,) * 3, first_seats=(2, 0, 0, 0), board_cards=(0, 3, 1, 1))
    state = play(rules, [5, FOLD, CALL, *[CALL] * 6])
    deck = deck_of("2c3d", "AsKs", "AhKh", board="Ac9c8hJd3s")
    assert state.payoffs(deck).tolist() == [-1, 0.5, 0.5]


def test_everybody_ties_when_the_board_plays():
    state = play(SIXMAX, [CALL] * 24)
    deck = deck_of("2c3d", "2d3c", "2h3h", "4c4d", "5c5d", "6c6d", board="AsKsQsJsTs")
    assert state.payoffs(deck).tolist() == [0.0] * 6


def test_illegal_actions_say_what_is_legal_and_change_nothing():
    state = BettingState(HUNL)
    before = state.array.copy()
    for action in (-1, 150, 199, 20_001, 2**70, 1.0, True, None, "1"):
        with pytest.raises(IllegalAction, match=r"legal are 0 \(fold\), 1 \(call 50\), 200\.\.20000 \(raise to\)"):
            state.apply(action)
    assert np.array_equal(state.array, before)
    state.apply(CALL)
    with pytest.raises(IllegalAction, match=r"legal are 1 \(check\)"):
        state.apply(FOLD)
    over = play(HUNL, [FOLD])
    with pytest.raises(IllegalAction, match="the hand is over"):
        over.apply(CALL)


def test_numpy_integers_are_actions():
    state = BettingState(HUNL)
    state.apply(np.int64(300))
    assert state.contributions == (100, 300)


def test_payoffs_need_a_finished_hand():
    with pytest.raises(ValueError, match="not over"):
        BettingState(HUNL).payoffs(np.arange(9, dtype=np.uint8))


@pytest.mark.parametrize("num_cards", [0, 3, 8, 10])
def test_payoffs_need_the_whole_deck(num_cards):
    state = play(HUNL, [CALL] * 8)
    with pytest.raises(ValueError, match=rf"is uint8\[9\], got shape \({num_cards},\)"):
        state.payoffs(np.arange(num_cards, dtype=np.uint8))


def test_menus():
    assert BettingState(HUNL).menu is None
    assert BettingState(HUNL.with_menu("fc")).menu == ()
    assert BettingState(HUNL.with_menu("fcpa")).menu == (300, 20_000)
    assert BettingState(HUNL.with_menu("fchpa")).menu == (200, 300, 20_000)
    assert BettingState(HULH).menu == (20,)
    assert BettingState(LEDUC).menu == (3,)
    with pytest.raises(IllegalAction, match="legal are"):
        BettingState(HUNL.with_menu("fcpa")).apply(250)


def test_a_street_holds_at_most_64_actions():
    state = BettingState(HUNL)
    while state.min_raise:
        state.apply(state.min_raise)
    assert state.contributions == (6_300, 6_400)


def test_copy_is_independent():
    state = play(HUNL, [300])
    other = state.copy()
    other.apply(CALL)
    assert (state.street, other.street) == (0, 1)


def random_rules(rng):
    """Return a random game: 2..10 seats, limit or not, equal stacks or not, odd blinds and first seats."""
    seats = int(rng.integers(2, 11))
    streets = int(rng.integers(1, 5))
    is_limit = rng.random() < 0.25
    big = 2 * int(rng.integers(1, 6))
    standard = no_limit_holdem(seats)
    blinds = [blind * big // 100 for blind in standard.blinds]
    if rng.random() < 0.2:
        blinds = rng.integers(0, big + 1, seats).tolist()
        blinds[int(rng.integers(seats))] = big
    if rng.random() < 0.4:
        stacks = [int(rng.integers(2, 60)) * big] * seats
    else:
        stacks = [max(blind, int(rng.integers(1, 40 * big))) for blind in blinds]
        if all(stack == blind for stack, blind in zip(stacks, blinds, strict=True)):
            stacks[0] += big
    usual = rng.random() < 0.7
    caps = rng.integers(0, 5, streets).tolist() if is_limit or rng.random() < 0.5 else None
    return HoldemRules(
        blinds=tuple(blinds),
        stacks=None if is_limit else tuple(stacks),
        first_seats=standard.first_seats[:streets] if usual else tuple(rng.integers(0, seats, streets).tolist()),
        board_cards=(0, 3, 1, 1)[:streets],
        betting="limit" if is_limit else "no-limit",
        raise_sizes=tuple(rng.integers(1, 9, streets).tolist()) if is_limit else None,
        max_raises=tuple(caps) if caps else None,
        betting_abstraction="fcpa" if is_limit else "fullgame",
    )


def choose(rng, state, aggression):
    """Return a random legal action; small and large raises are likelier than a uniform choice makes them."""
    low, high = state.min_raise, state.max_raise
    if high and rng.random() < aggression:
        kind = rng.random()
        return low if kind < 0.4 else high if kind < 0.5 else int(rng.integers(low, low + (high - low) // 4 + 1))
    return FOLD if state.can_fold and rng.random() < 0.3 else CALL


def compare_with_universal_poker(num_hands, seed):
    """Play random hands in both engines; return the number of decisions that were compared."""
    rng = np.random.default_rng(seed)
    games = [random_rules(rng) for _ in range(max(40, num_hands // 50))] + [LEDUC, KUHN, HULH, SIXMAX]
    decisions = 0
    for number in range(num_hands):
        rules = games[number % len(games)]
        border = OpenSpielGame(load_game(rules))
        theirs, ours = border.game.new_initial_state(), BettingState(rules)
        deck = rng.permutation(rules.cards)[: rules.num_dealt_cards]
        cards = iter([border.card_id(int(card)) for card in deck])
        aggression = 0.6 * rng.random()
        full = rules != SIXMAX  # deep stacks make legal_actions slow, so there only the returns are compared
        while True:
            while theirs.is_chance_node():
                theirs.apply_action(next(cards))
            if theirs.is_terminal():
                break
            assert theirs.current_player() == ours.actor, rules
            decisions += 1
            if full:
                legal = theirs.legal_actions()
                passive = [FOLD, CALL] if ours.can_fold else [CALL]
                if rules.is_limit:
                    assert legal == passive + [2] * bool(ours.max_raise), rules
                else:
                    raises = legal[len(passive) :]
                    assert legal[: len(passive)] == passive, rules
                    assert (raises[0], raises[-1]) == (ours.min_raise, ours.max_raise) if raises else not ours.max_raise
            action = choose(rng, ours, aggression)
            theirs.apply_action(2 if rules.is_limit and action > CALL else action)
            ours.apply(action)
        assert ours.is_over
        np.testing.assert_allclose(ours.payoffs(deck), theirs.returns(), rtol=0, atol=1e-9)
    return decisions


def test_equals_universal_poker():
    assert compare_with_universal_poker(NUM_HANDS if not os.environ.get("NUMBA_DISABLE_JIT") else 300, seed=1) > 1_000


@pytest.mark.slow
def test_equals_universal_poker_on_a_million_hands():
    assert compare_with_universal_poker(1_000_000, seed=2) > 10_000_000


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_chips_are_conserved(seed):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng)
    state = BettingState(rules)
    num_actions = 0
    while not state.is_over:
        state.apply(choose(rng, state, 0.4))
        num_actions += 1
        assert num_actions <= 64 * rules.num_streets
    payoffs = state.payoffs(rng.permutation(rules.cards)[: rules.num_dealt_cards])
    assert abs(payoffs.sum()) < 1e-9
    assert (payoffs >= -np.array(state.contributions) - 1e-9).all()
