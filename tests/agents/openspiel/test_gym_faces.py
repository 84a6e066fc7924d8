"""The environments of Gymnasium and PettingZoo, by the checkers of these libraries."""

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX

gymnasium = pytest.importorskip("gymnasium")
pettingzoo = pytest.importorskip("pettingzoo")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from pettingzoo.test import api_test, seed_test  # noqa: E402

from plurispiel.agents.openspiel import make_environment  # noqa: E402
from plurispiel.agents.openspiel.gymnasium_face import GymnasiumEnvironment  # noqa: E402
from plurispiel.agents.openspiel.pettingzoo_face import PettingZooEnvironment  # noqa: E402

SETTINGS = {
    "leduc": {"game": "leduc", "opponents": ["random"]},
    "fcpa": {"game": HUNL.with_menu("fcpa"), "opponents": ["random"], "observation": "information-state"},
    "sizes": {"game": SIXMAX, "opponents": "call", "sizes": "0.5p 1p allin"},
    "walks": {"game": HUNL, "opponents": ["fold"], "sizes": "1p"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_gymnasium_checks(name):
    check_env(GymnasiumEnvironment(**SETTINGS[name]), skip_render_check=True)


# The checker warns of observations that are dicts, as those with a mask of actions are, unless it knows the name.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observations between agents are different classes")
@pytest.mark.parametrize(("game", "opponents"), [("leduc", []), ("leduc3", ["tag"]), ("kuhn", ["call"])])
def test_pettingzoo_checks(game, opponents):
    api_test(PettingZooEnvironment(game, opponents), num_cycles=200)
    seed_test(lambda: PettingZooEnvironment(game, opponents), num_cycles=20)


def test_gymnasium_plays_the_hands_of_the_environment():
    settings = SETTINGS["fcpa"]
    face, environment = GymnasiumEnvironment(**settings, seed=9), make_environment(**settings, seed=9)
    rng, hands = np.random.default_rng(1), 0
    while hands < 40:
        seen, info = face.reset()
        step = environment.reset()
        for _ in range(info["num_walks"]):
            assert step.last()
            step = environment.reset()
        is_over = False
        while not is_over:
            legal = np.flatnonzero(info["action_mask"])
            assert step.observations["info_state"] == [seen.tolist()]
            assert step.observations["legal_actions"] == [legal.tolist()]
            action = rng.choice(legal)
            seen, reward, is_over, is_cut, info = face.step(action)
            step = environment.step([action])
            assert step.rewards == [reward] and step.last() == is_over and not is_cut and not info["is_repaired"]
        hands += 1


def test_illegal_actions_are_repaired_or_refused():
    face = GymnasiumEnvironment("leduc", ["call"], seat=0)
    face.reset(seed=1)
    *_, info = face.step(0)  # a fold with nothing to call
    assert info["is_repaired"] and [action.action for action in face.table.actions] == [1, 1]
    assert not face.step(1)[-1]["is_repaired"]
    table = PettingZooEnvironment("leduc")
    table.reset(seed=1)
    with pytest.raises(ValueError, match="legal actions are"):
        table.step(0)


def test_walks_are_told():
    face = GymnasiumEnvironment(**SETTINGS["walks"], seed=1)
    _, info = face.reset()
    assert (info["num_walks"], info["walk_reward"], info["seat"]) == (1, 0.5, 1)
    stuck = GymnasiumEnvironment(**SETTINGS["walks"] | {"seat": 0})
    with pytest.raises(ValueError, match="no learner got a turn in 1,000 hands"):
        stuck.reset()


def test_all_seats_of_pettingzoo_share_the_chips():
    table = PettingZooEnvironment("leduc3")
    rng = np.random.default_rng(2)
    for hand in range(30):
        table.reset(seed=5 if hand == 0 else None)
        rewards = {}
        for name in table.agent_iter():
            seen, reward, is_over, _, _ = table.last()
            rewards[name] = reward
            assert seen["observation"][:3].argmax() == table.table.seat_of(int(name[-1]))
            table.step(None if is_over else int(rng.choice(np.flatnonzero(seen["action_mask"]))))
        assert len(rewards) == 3 and sum(rewards.values()) == pytest.approx(0.0)
