"""Tables that are stepped together, hand by hand beside universal_poker and the agents whose place kernels take."""

import dataclasses

import numpy as np
import pyspiel
import pytest
from random_blueprint import random_blueprint
from reference import observation as reference

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string, load_game, rules_of
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.abstraction.trees.ladder import find_game
from plurispiel.agents import make_agent
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig, MenuConfig
from plurispiel.agents.environment import opponent_kernels
from plurispiel.agents.environment.batch import RandomLearner, TableBatch
from plurispiel.agents.environment.opponents import KINDS, new_workspace

UNEQUAL = dataclasses.replace(no_limit_holdem(3), stacks=(2_000, 900, 350))
GAMES = {
    "kuhn": (KUHN, None),
    "leduc": (LEDUC, None),
    "fcpa": (HUNL.with_menu("fcpa"), None),
    "fchpa": (HUNL.with_menu("fchpa"), None),
    "limit": (HULH, None),
    "six": (SIXMAX.with_menu("fchpa"), None),
    "sizes": (HUNL, "0.4p 1p allin"),
    "unequal": (UNEQUAL, "0.5p 1p allin"),
}
TENSORS = {
    "information-state": pyspiel.State.information_state_tensor,
    "observation": pyspiel.State.observation_tensor,
}


def played(batch, num_hands, seed=0):
    """Play at random; yield each finished hand, and the learner's decisions in it: what it saw, its ids, its choice."""
    num_tables = len(batch.results.dones)
    learner, decisions = RandomLearner(num_tables, seed), [[] for _ in range(num_tables)]
    results, count = batch.reset(), 0
    while count < num_hands:
        chosen = learner.act(results.masks)
        for i in range(num_tables):
            decisions[i].append((results.observations[i].copy(), np.flatnonzero(results.masks[i]).tolist(), chosen[i]))
        results = batch.step(chosen)
        assert not results.rewards[~results.dones].any()
        for i in np.flatnonzero(results.dones):
            hand = results.last_decks[i].tolist(), results.last_actions[i][: results.last_counts[i]].tolist()
            yield *hand, int(results.last_seats[i]), results.rewards[i], decisions[i]
            decisions[i] = []
            count += 1


def compare(name, observation, num_hands):
    rules, sizes = GAMES[name]
    batch = TableBatch(
        rules, ["random"] * (rules.num_seats - 1), 7, sizes=sizes, observation=observation, seed=num_hands
    )
    compare_hands(batch, observation, num_hands, has_native_ids=sizes is None)


def compare_hands(batch, observation, num_hands, *, has_native_ids):
    """Each hand equals the one of universal_poker with the same cards and actions."""
    rules = batch.rules
    game, seats = OpenSpielGame(load_game(rules)), set()
    for deck, actions, seat, reward, decisions in played(batch, num_hands):
        seats.add(seat)
        cards = iter([game.card_id(card) for card in deck])
        state, betting, seen = game.game.new_initial_state(), BettingState(rules), iter(decisions)
        for action in actions:
            while state.is_chance_node():
                state.apply_action(next(cards))
            if state.current_player() == seat:
                tensor, ids, chosen = next(seen)
                assert tensor.tolist() == TENSORS[observation](state, seat)
                if has_native_ids:
                    assert ids == state.legal_actions()
                    state.apply_action(chosen)
                else:
                    state.apply_action(action)
            else:
                state.apply_action(game.action_id(betting.array.tolist(), action))
            betting.apply(action)
        while state.is_chance_node():
            state.apply_action(next(cards))
        assert state.is_terminal() and next(seen, None) is None
        assert reward == pytest.approx(state.returns()[seat] / rules.big_blind, abs=1e-9)
    assert seats == set(range(rules.num_seats))


@pytest.mark.parametrize("observation", TENSORS)
@pytest.mark.parametrize("name", GAMES)
def test_hands_equal_universal_poker(name, observation):
    compare(name, observation, 60)


@pytest.mark.slow
def test_10_000_hands_equal_universal_poker():
    for name in GAMES:
        for observation in TENSORS:
            compare(name, observation, 625)


@pytest.mark.parametrize("name", ["leduc", "sizes", "unequal"])
def test_compact_observations(name):
    rules, sizes = GAMES[name]
    batch = TableBatch(rules, ["random"] * (rules.num_seats - 1), 3, sizes=sizes, observation="compact", seed=2)
    for deck, actions, seat, _, decisions in played(batch, 30):
        betting, seen = BettingState(rules), iter(decisions)
        for k, action in enumerate(actions):
            if betting.actor == seat:
                np.testing.assert_allclose(next(seen)[0], reference.compact(rules, deck, actions[:k], seat), rtol=1e-6)
            betting.apply(action)


def decisions_of_others(rules, deck, actions, seat):
    """The opponents' decisions in a hand: the number of the opponent, its public state, its combo and its action."""
    betting, so_far = BettingState(rules), ()
    for action in actions:
        actor, street = betting.actor, betting.street
        if actor != seat:
            first = rules.num_seats * rules.num_hole_cards
            board = tuple(deck[first : first + rules.board_size(street)])
            hole = deck[actor * rules.num_hole_cards : (actor + 1) * rules.num_hole_cards]
            public = PublicState(rules, betting.array.tolist(), board, so_far)
            yield (actor - seat - 1) % rules.num_seats, public, rules.combo_id(hole), action
        so_far = (*so_far, Action(actor, action, street))
        betting.apply(action)


def check_play(rules, batch, agents, num_hands):
    """The kernels' opponents act as the agents say: never otherwise, and each kind of action as often as it should."""
    excess, variance = np.zeros(3), np.zeros(3)
    for deck, actions, seat, _, _ in played(batch, num_hands):
        for k, public, combo, action in decisions_of_others(rules, deck, actions, seat):
            strategy = agents[k](public)
            assert strategy.probability(action)[combo] > 0.0, (public.actions, action, strategy.actions)
            for kind in range(3):
                chance = strategy.probabilities[combo][np.minimum(strategy.actions, 2) == kind].sum()
                excess[kind] += (min(action, 2) == kind) - chance
                variance[kind] += chance * (1.0 - chance)
    assert (np.abs(excess) <= 4.0 * np.sqrt(variance) + 1e-6).all(), (excess, variance)


def strategy_of(agent, rules):
    agent.restart(rules, 0, np.random.default_rng(0))
    return agent.range_strategy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["leduc", "fcpa", "sizes", "six"])
def test_opponents_play_as_the_agents_of_their_names(name, kind):
    rules, sizes = GAMES[name]
    names = [kind, *["call"] * (rules.num_seats - 2)]
    batch = TableBatch(rules, names, 5, sizes=sizes, seed=4, seat=rules.num_seats - 1 if kind == "fold" else "rotate")
    check_play(rules, batch, [strategy_of(make_agent(each), rules) for each in names], 40)


@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow), "limit", "sizes", "six"])
def test_rows_of_tag_are_those_of_the_agent(name):
    rules, sizes = GAMES[name]
    batch = TableBatch(rules, ["random"] * (rules.num_seats - 1), 40, sizes=sizes, seed=8)
    learner, work, agent = RandomLearner(40), new_workspace(rules), make_agent("tag")
    results, game, streets = batch.reset(), batch._game, set()
    for number in range(10):
        tables = batch._tables
        for i, seat in enumerate(results.seats.tolist()):
            deck, count = tables.cards[i].tolist(), tables.counts[i]
            actions = [*tables.totals[i, :count].tolist(), 1]  # any action: the seat to act is the learner
            hole = rules.combo_id(deck[seat * rules.num_hole_cards : (seat + 1) * rules.num_hole_cards])
            *_, (_, public, combo, _) = decisions_of_others(rules, deck, actions, -1)
            streets.add(public.street)
            raise_to = opponent_kernels.tag_row_at_table(game, batch._opponents, tables, i, work)
            strategy = agent.strategy(public, np.array([combo]))
            assert combo == hole and public.actor == seat
            fold, call, bet = work.row[0].tolist()
            assert (fold, call) == (strategy.probability(0)[0], strategy.probability(1)[0])
            assert bet == (strategy.probability(raise_to)[0] if raise_to > 1 else 0.0)
        results = batch.step(learner.act(results.masks) if number % 3 == 2 else np.ones(40, np.int64))
    assert streets == set(range(rules.num_streets))


MINI = dataclasses.replace(rules_of(find_game("holdem-mini")), betting_abstraction="fullgame", stacks=(1_500, 1_500))
BLUEPRINTS = {
    "leduc": BlueprintConfig("leduc", 10, game="leduc"),
    "leduc3": BlueprintConfig("leduc3", 10, game="leduc3"),
    "holdem-mini": BlueprintConfig("mini", 10, game="holdem-mini"),
    "own menu": BlueprintConfig("own", 10, game=game_string(MINI), menu=MenuConfig(("0.4p 1p allin", "allin"))),
}


def blueprint_of(config, missing=0.0):
    found = random_blueprint(config.rules, config.game_menu, cards=lossless_buckets(config.rules), missing=missing)
    return dataclasses.replace(found, config=config)


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_a_blueprint_plays_as_its_agent(name):
    blueprint = blueprint_of(BLUEPRINTS[name])
    rules = blueprint.rules
    batch = TableBatch(rules, [blueprint, *["call"] * (rules.num_seats - 2)], 4, seed=2)
    agents = [strategy_of(BlueprintAgent(blueprint), rules), *[strategy_of(make_agent("call"), rules)] * 2]
    check_play(rules, batch, agents, 150)
    assert batch.num_missing == 0
    totals = {action for deck, actions, *_ in played(batch, 50) for action in actions}
    assert len(totals) > 3


@pytest.mark.parametrize("observation", TENSORS)
def test_hands_with_a_blueprint_of_a_game_with_every_size_equal_universal_poker(observation):
    batch = TableBatch(MINI, [blueprint_of(BLUEPRINTS["own menu"])], 7, observation=observation, seed=3)
    compare_hands(batch, observation, 60, has_native_ids=False)


def test_a_blueprint_without_a_row_acts_uniformly():
    blueprint = blueprint_of(BLUEPRINTS["leduc"], missing=1.0)
    batch = TableBatch(LEDUC, [blueprint], 4, seed=2)
    check_play(LEDUC, batch, [strategy_of(make_agent("random"), LEDUC)], 150)
    assert batch.num_missing > 200


def test_blueprints_that_do_not_fit_are_refused():
    leduc, mini = blueprint_of(BLUEPRINTS["leduc"]), blueprint_of(BLUEPRINTS["holdem-mini"])
    with pytest.raises(ValueError, match="for another game"):
        TableBatch(LEDUC, [mini], 2)
    with pytest.raises(ValueError, match="must be the same"):
        TableBatch(rules_of(find_game("leduc3")), [leduc, mini], 2)
    with pytest.raises(ValueError, match="blueprint's menu is for all seats"):
        TableBatch(LEDUC, [leduc], 2, sizes="1p")
    with pytest.raises(ValueError, match="without its configuration"):
        TableBatch(LEDUC, [dataclasses.replace(leduc, config=None)], 2)


def test_a_batch_is_the_same_whatever_its_size():
    def hands(num_tables):
        batch = TableBatch(HUNL.with_menu("fcpa"), ["tag"], num_tables, seed=3)
        results, found = batch.reset(), []
        for _ in range(30):
            found.append((results.observations[2].tolist(), results.rewards[2], results.num_walks[2]))
            results = batch.step(results.masks.argmax(axis=1))
        return found

    assert hands(3) == hands(50)


def test_walks_are_counted():
    batch = TableBatch(HUNL, ["fold"], 2, sizes="1p", seed=1)
    results = batch.reset()
    assert results.seats.tolist() == [1, 1]  # from the big blind the learner would win without an action
    assert results.num_walks.tolist() == [1, 0] and results.walk_rewards.tolist() == [0.5, 0.0]
    results = batch.step(np.array([2, 0]))
    assert results.dones.all() and results.rewards.tolist() == [1.0, -0.5]
    assert results.num_walks.tolist() == [1, 1] and results.walk_rewards.tolist() == [0.5, 0.5]
    stuck = TableBatch(HUNL, ["fold"], 2, sizes="1p", seat=0)
    for _ in range(2):
        with pytest.raises(ValueError, match="got no turn in 10,000 hands"):
            stuck.reset()
        with pytest.raises(ValueError, match="call reset"):
            stuck.step(np.array([1, 1]))


def test_chips_are_conserved():
    batch = TableBatch(SIXMAX.with_menu("fcpa"), ["tag", "call", "random", "raise", "fold"], 50, seed=5)
    learner, results = RandomLearner(50), batch.reset()
    for _ in range(20):
        results = batch.step(learner.act(results.masks))
        states = batch._tables.states
        contributions = states[:, 13:19]
        assert (contributions <= 10_000).all() and (states[:, 1] == results.seats).all()
        assert (np.abs(results.rewards) <= 500.0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opponents": ["equity"]}, "opponents in kernels are random, call"),
        ({"opponents": ["blueprint:nowhere"]}, "nowhere"),
        ({"opponents": []}, "leave 1 to opponents"),
        ({"num_tables": 0}, "num_tables is 1 to"),
        ({"seat": 2}, "seat is"),
        ({"seed": -1}, "seed is"),
        ({"observation": "tensor"}, "unknown observation"),
        ({"sizes": "1p"}, "menu of its own"),
        ({"opponents": ["blueprint"]}, "blueprint:NAME"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        TableBatch(**{"rules": LEDUC, "opponents": ["call"], "num_tables": 2} | settings)


def test_wrong_actions_are_refused():
    batch = TableBatch(LEDUC, ["call"], 3)
    batch.reset()
    before = batch._tables.states.copy()
    for actions, message in (
        ([1, 0, 1], r"legal actions at table 1 are \[1, 2\], got 0"),
        ([1, 1, -1], "at table 2"),
        ([3, 1, 1], "at table 0"),
        ([1, 1], "takes 3 actions"),
    ):
        with pytest.raises(ValueError, match=message):
            batch.step(np.array(actions))
    assert (batch._tables.states == before).all()
    with pytest.raises(ValueError, match="read-only"):
        batch.results.masks[0, 0] = True
