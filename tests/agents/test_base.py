"""What agents see of a hand, beside OpenSpiel's own account of it."""

import re

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action, Agent, PublicState
from plurispiel.agents.openspiel import OpenSpielBot
from plurispiel.tournaments.contestants.wire import public_message, read_public

SHORT = no_limit_holdem(4, 900)


class Random(Agent):
    """Often raises and keeps what it saw last."""

    def act(self, view):
        self.public = public = view.public
        if public.max_raise and self.rng.random() < 0.2:
            return public.raise_to(int(self.rng.integers(public.min_raise, 4 * public.min_raise)))
        return FOLD if public.can_fold and self.rng.random() < 0.1 else CALL


def money_of(state):
    """Return the chips that each seat has left, as universal_poker writes them."""
    return tuple(map(int, re.search(r"\[Money: ([\d ]+)\]", state.information_state_string(0))[1].split()))


def last_raise_of(state):
    """Return the raise-to total that comes last on this street in universal_poker's sequence of actions."""
    sequence = re.search(r"\[Sequences?: ([^\]]*)\]", state.information_state_string(0))[1].split("|")[-1]
    totals = re.findall(r"r(\d+)", sequence)
    return int(totals[-1]) if totals else None


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, SHORT, HUNL.with_menu("fcpa")], ids=str)
def test_chips_are_those_of_universal_poker(rules):
    game, rng = load_game(rules), np.random.default_rng(1)
    streets = set()
    for hand in range(30):
        agents = [Random() for _ in range(rules.num_seats)]
        bots = [OpenSpielBot(agent, game, seat, seed=hand) for seat, agent in enumerate(agents)]
        state, street, before = game.new_initial_state(), 0, rules.stacks
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(int(rng.choice([action for action, _ in state.chance_outcomes()])))
                continue
            seat = state.current_player()
            action = bots[seat].step(state)
            public, money = agents[seat].public, money_of(state)
            if public.street != street:
                street, before = public.street, money
            assert public.stacks == money
            assert public.street_contributions == tuple(then - now for then, now in zip(before, money, strict=True))
            last, total = public.last_raise, last_raise_of(state)
            assert (last and last.action) == total
            if last:
                assert last in public.actions and last.street == street
                assert public.contributions[last.seat] == last.action
            streets.add(street)
            state.apply_action(action)
    assert streets == {0, 1, 2, 3}


@pytest.mark.parametrize("rules", [HUNL, HULH, SIXMAX], ids=str)
def test_what_is_derived_travels_to_other_processes(rules):
    state, actions = BettingState(rules), []
    board = ()
    for action in (rules.big_blind * 3, CALL):
        actions.append(Action(state.actor, PublicState(rules, state.array.tolist()).raise_to(action), 0))
        state.apply(actions[-1].action)
    public = PublicState(rules, state.array.tolist(), board, tuple(actions))
    twin = read_public(rules, public_message(public))
    for name in ("street_contributions", "stacks", "position", "last_raise", "contributions", "menu"):
        assert getattr(public, name) == getattr(twin, name)
    assert public.raise_to(5_000) == twin.raise_to(5_000)


def test_a_raise_goes_to_the_nearest_legal_total():
    public = PublicState(HUNL, BettingState(HUNL).array.tolist())
    assert [public.raise_to(chips) for chips in (0, 150, 250, 10**6)] == [200, 200, 250, 20_000]
    menu = PublicState(HUNL.with_menu("fcpa"), BettingState(HUNL).array.tolist())
    assert [menu.raise_to(chips) for chips in (0, 9_000, 11_000)] == [menu.menu[0], menu.menu[0], menu.menu[1]]
    state = BettingState(HUNL)
    state.apply(20_000)
    assert PublicState(HUNL, state.array.tolist()).raise_to(20_000) == CALL


def test_limit_games_have_no_stacks():
    public = PublicState(LEDUC, BettingState(LEDUC).array.tolist())
    assert public.stacks is None and public.street_contributions == LEDUC.blinds
    limit = BettingState(HULH)
    actions = []
    for action in (CALL, CALL, CALL):
        actions.append(Action(limit.actor, action, limit.street))
        limit.apply(action)
    public = PublicState(HULH, limit.array.tolist(), (0, 1, 2), tuple(actions))
    assert public.street == 1 and public.street_contributions == (0, 0) and public.last_raise is None


def test_positions_are_named_by_the_blinds():
    state = BettingState(SIXMAX)
    names = []
    for _ in range(6):
        names.append(PublicState(SIXMAX, state.array.tolist()).position)
        state.apply(CALL)
    assert names == ["UTG", "HJ", "CO", "BTN", "SB", "BB"]
    button = PublicState(HUNL, BettingState(HUNL).array.tolist())
    assert button.position == "BTN" and HUNL.blinds[button.actor] == min(HUNL.blinds)
