"""The environment of one learner, step by step beside universal_poker."""

import numpy as np
import pyspiel
import pytest
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import tabular_qlearner
from openspiel_table import Spy

from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string, load_game
from plurispiel.abstraction.holdem.rules import HULH, HUNL, LEDUC, SIXMAX
from plurispiel.agents.base import Action, Agent, Board, Deal
from plurispiel.agents.openspiel import make_environment

GAMES = {
    "kuhn": {"game": "kuhn"},
    "leduc": {"game": "leduc"},
    "leduc3": {"game": "leduc3"},
    "holdem-mini": {"game": "holdem-mini"},
    "fcpa": {"game": HUNL.with_menu("fcpa")},
    "fchpa": {"game": game_string(HUNL.with_menu("fchpa"))},
    "limit": {"game": load_game(HULH)},
    "six": {"game": SIXMAX.with_menu("fcpa")},
    "sizes": {"game": HUNL, "sizes": "0.3p 1p 2.5bb allin"},
    "six sizes": {"game": SIXMAX, "sizes": "0.5p 1p"},
}
TENSORS = {
    "information-state": pyspiel.State.information_state_tensor,
    "observation": pyspiel.State.observation_tensor,
}


class Beside:
    """A learner's table, and a state of universal_poker that follows each card and action."""

    def __init__(self, environment):
        self.table = environment.table
        self.game = OpenSpielGame(load_game(self.table.rules))
        self.state = self.game.game.new_initial_state()
        self.cards = [self.game.card_id(card) for card in self.table.deck.tolist()]
        self.num_followed = 0

    def follow(self, number=None):
        """Bring the state to where the table is; the learner's next action has this id."""
        actions = self.table.actions[self.num_followed :]
        self.num_followed += len(actions)
        while actions or self.state.is_chance_node():
            if self.state.is_chance_node():
                self.state.apply_action(self.cards.pop(0))
                continue
            seat, action, _ = actions[0]
            actions = actions[1:]
            assert self.state.current_player() == seat
            if seat == self.table.seat_of(0) and number is not None and "fullgame" not in str(self.game.game):
                self.state.apply_action(number)  # the learner's own id, in OpenSpiel's numbers as it stands
            else:
                self.state.apply_action(action if "fullgame" in str(self.game.game) else self._id(action))

    def _id(self, action):
        legal = self.state.legal_actions()
        if action < 2 or self.table.rules.is_limit:
            return min(action, 2)
        pot = self.state.pot_size(1.0) if 2 in legal else -1
        return 2 if action == pot else 3 if 3 in legal and action == self.state.all_in_size() else 4


def compare(settings, observation, num_hands, opponent="random"):
    environment = make_environment(opponents=[opponent], observation=observation, seed=3, **settings)
    rng = np.random.default_rng(1)
    big_blind, kinds = environment.table.rules.big_blind, set()
    for hand in range(num_hands):
        step = environment.reset()
        beside = Beside(environment)
        beside.follow()
        seat = environment.table.seat_of(0)
        assert seat == hand % environment.table.rules.num_seats
        while not step.last():
            assert beside.state.current_player() == seat and step.current_player() == 0
            legal = step.observations["legal_actions"][0]
            if "sizes" not in settings:
                assert legal == beside.state.legal_actions()
            expected = TENSORS[observation](beside.state, seat)
            assert step.observations["info_state"][0] == expected
            number = int(rng.choice(legal))
            kinds.add(number)
            step = environment.step([number])
            beside.follow(number)
        assert beside.state.is_terminal() and step.observations["legal_actions"] == [[]]
        assert step.observations["info_state"][0] == TENSORS[observation](beside.state, seat)
        assert step.rewards == [pytest.approx(beside.state.returns()[seat] / big_blind, abs=1e-9)]
        assert step.discounts == [0.0] and step.current_player() == pyspiel.PlayerId.TERMINAL
    assert kinds == set(range(environment.action_spec()["num_actions"]))


@pytest.mark.parametrize("observation", TENSORS)
@pytest.mark.parametrize("name", GAMES)
def test_hands_equal_universal_poker(name, observation):
    compare(GAMES[name], observation, 25)


@pytest.mark.slow
def test_10_000_hands_equal_universal_poker():
    for name, settings in GAMES.items():
        for observation in TENSORS:
            compare(settings, observation, 500, "call" if name == "sizes" else "random")


def test_a_hand_may_end_before_the_learner_is_to_act():
    environment = make_environment("HUNL", ["fold"], sizes="1p", seat=0)
    step = environment.reset()
    assert step.last() and step.rewards == [0.5] and step.discounts == [0.0]
    assert environment.step([0]).rewards == [0.5]  # the next hand
    environment = make_environment("HUNL", ["fold"], sizes="1p", seat=1)
    assert environment.reset().first() and environment.step([2]).rewards == [1.0]


def test_seats():
    at = {seat: make_environment("SIXMAX", "call", sizes="1p", seat=seat, seed=5) for seat in (4, "rotate", "random")}
    seats = {seat: [] for seat in at}
    for seat, environment in at.items():
        for _ in range(60):
            environment.reset()
            seats[seat].append(environment.table.seat_of(0))
    assert set(seats[4]) == {4} and seats["rotate"] == [k % 6 for k in range(60)]
    assert set(seats["random"]) == set(range(6)) and seats["random"] != seats["rotate"]


def test_opponents_are_told_what_a_table_tells_them():
    spies = [Spy(), Spy()]
    environment = make_environment("leduc3", spies, seed=2)
    for hand in range(10):
        step = environment.reset()
        while not step.last():
            step = environment.step(step.observations["legal_actions"][0][-1:])
        actions, deck = environment.table.actions, environment.table.deck.tolist()
        for k, spy in enumerate(spies, start=1):
            seat = (hand + k) % 3
            told = [
                event for event in spy.log if not isinstance(event, tuple) or isinstance(event, Deal | Action | Board)
            ]
            assert spy.log[0] == ("restart", seat) and told[0] == Deal((deck[seat],))
            assert tuple(event for event in told if isinstance(event, Action)) == actions
            boards = [event for event in told if isinstance(event, Board)]
            assert boards == [Board((deck[3],), 1)] * (actions[-1].street == 1)
            spy.log.clear()


def test_the_seed_decides_all():
    def hands(environment, number=20):
        rng, found = np.random.default_rng(0), []
        for _ in range(number):
            step = environment.reset()
            while not step.last():
                step = environment.step([rng.choice(step.observations["legal_actions"][0])])
            found.append((environment.table.deck.tolist(), environment.table.actions, step.rewards))
        return found

    environment = make_environment("leduc", ["random"], seed=7)
    first = hands(environment)
    assert hands(make_environment("leduc", ["random"], seed=7)) == first
    assert hands(make_environment("leduc", ["random"], seed=8)) != first
    environment.seed(7)
    assert hands(environment) == first


def test_a_score_takes_the_place_of_the_payoff():
    scored = []

    def score(hand):
        scored.append(hand)
        return 10.0 * hand.payoffs[hand.seat]

    environment = make_environment("leduc", ["call"], score=score, seed=3)
    for _ in range(4):
        step = environment.reset()
        while not step.last():
            step = environment.step([1])
        hand = scored.pop()
        assert not scored and hand.seat == environment.table.seat_of(0) and hand.actions == environment.table.actions
        assert step.rewards == [10.0 * hand.payoffs[hand.seat]] and sum(hand.payoffs) == 0.0
        assert hand.agents[hand.seat] is None and hand.agents[1 - hand.seat].name == "call"
        assert hand.deck.tolist() == environment.table.deck.tolist() and hand.rules == LEDUC


def test_an_agent_of_openspiel_learns_in_it():
    environment = make_environment("kuhn", ["call"], seed=1)
    learner = tabular_qlearner.QLearner(0, environment.action_spec()["num_actions"])
    np.random.seed(1)  # noqa: NPY002 - the learner of OpenSpiel draws from the global generator
    sums = []
    for _ in range(600):
        step = environment.reset()
        while not step.last():
            step = environment.step([learner.step(step).action])
        learner.step(step)
        sums.append(step.rewards[0])
    assert np.mean(sums[-300:]) > 0.2 > np.mean(sums[:50])  # betting kings and checking jacks: 1/3 of an ante


def test_time_steps_are_those_of_openspiel():
    environment = make_environment("leduc", ["call"], discount=0.9, seat=0)
    step = environment.reset()
    assert isinstance(step, rl_environment.TimeStep) and step.first() and step.rewards is step.discounts is None
    step = environment.step([1])
    assert step.mid() and step.rewards == [0.0] and step.discounts == [0.9]
    assert environment.observation_spec()["info_state"] == (len(step.observations["info_state"][0]),)
    assert environment.name == "universal_poker" and environment.num_players == 1
    assert environment.max_game_length == load_game(LEDUC).max_game_length()
    with pytest.raises(ValueError, match=r"legal actions are \[1, 2\], got 0"):
        environment.step([0])
    with pytest.raises(ValueError, match="one learner, got 2"):
        environment.step([1, 1])
    assert environment.step([1]).last()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "chess"}, "rules can be read from"),
        ({"game": "poker"}, "unknown game"),
        ({"game": "HUNL"}, "give sizes"),
        ({"game": "HUNL", "sizes": ""}, "at least one size"),
        ({"game": "HUNL", "sizes": "half"}, "bet sizes are written"),
        ({"game": "leduc", "sizes": "1p"}, "menu of its own"),
        ({"game": "leduc", "observation": "compct"}, "did you mean|unknown observation"),
        ({"game": "leduc", "seat": 2}, r"seat is 'rotate', 'random' or 0\.\.1, got 2"),
        ({"game": "leduc", "seat": "button"}, "got 'button'"),
        ({"game": "leduc", "opponents": ["call", "call"]}, "give one spec or 1, got 2"),
        ({"game": "leduc3", "opponents": [Agent()]}, "give one spec or 2, got 1"),
        ({"game": "leduc", "opponents": ["cal"]}, "unknown agent"),
        ({"game": "leduc", "opponents": ["stdio:./bot"]}, "is a program"),
        ({"game": "leduc", "discount": 1.5}, "discount is 0 to 1"),
        ({"game": "leduc", "seed": -1}, "seed is a whole number"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make_environment(**settings)


def test_an_illegal_action_of_an_opponent_is_refused():
    class Folder(Agent):
        def act(self, view):
            return 0

    environment = make_environment("leduc", [Folder()], seat=0)
    environment.reset()
    with pytest.raises(ValueError, match="Folder answers 0"):
        environment.step([1])


@pytest.mark.slow
def test_a_blueprint_plays_as_opponent():
    environment = make_environment("HUNL", ["blueprint"], sizes="0.5p 1p allin", observation="compact", seed=1)
    rng = np.random.default_rng(1)
    for _ in range(5):
        step = environment.reset()
        while not step.last():
            seen = np.array(step.observations["info_state"][0])
            assert 0.0 <= seen.min() and seen.max() == 1.0
            step = environment.step([rng.choice(step.observations["legal_actions"][0])])
