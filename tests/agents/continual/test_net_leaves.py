import dataclasses
import os

import numpy as np
import pytest
from reference import value_net as reference
from solved_leduc import leduc_net, sample_leduc

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.betting_tree import street_betting
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.agent_files import agent_digest
from plurispiel.agents.continual import ContinualConfig
from plurispiel.agents.continual.leaf_values import Boundary, CheckdownLeaves
from plurispiel.agents.continual.net_leaves import NetLeaves
from plurispiel.agents.continual.resolver import Resolver
from plurispiel.agents.factory import make_agent
from plurispiel.agents.values.encoding import bins_of, board_features, canonical_hands, inputs
from plurispiel.agents.values.net_file import load_net

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("nets")
    leduc_net(sample_leduc(found / "data"), found / "net")
    return found / "net"


@pytest.fixture(scope="module")
def stored(folder):
    return load_net(folder)


def boundary(rules):
    return Boundary(rules, 0, (), street_betting(BettingState(rules))[1], rank_hands(rules, ()))


def test_values_in_plain_loops(stored):
    """Each end and board: the network's values of the normalised ranges, times pot, chance and the other's reach."""
    reach = np.random.default_rng(1).random((2, 5, 6))
    end = boundary(LEDUC)
    actual = NetLeaves(stored, end).values(reach)
    combos = end.hands.combos
    for e, pot in enumerate(end.pots()):
        for b, (card,) in enumerate(CheckdownLeaves(end).boards):
            found = canonical_hands(LEDUC, (card,))
            numbers = [combos.tolist().index(combo) for combo in found.combos]
            totals = reach[:, e, numbers].sum(axis=1)
            ranges = reach[:, e, numbers] / totals[:, None]
            cards = [set(each) for each in LEDUC.combos[found.combos].tolist()]
            groups = found.hands.groups
            strengths = np.repeat(np.arange(len(groups) - 1), np.diff(groups))
            row = inputs(
                bins_of(found.hands, 5),
                ranges[:, None],
                np.array([8.0 / pot]),
                board_features(LEDUC, found.board),
            )
            answers = np.reshape(reference.outputs(stored.net.layers, row[0]), (2, 5))
            evs = np.array(reference.evs(answers, ranges, cards, strengths, 8.0 / pot))
            for seat in range(2):
                facing = [
                    sum(reach[1 - seat, e, numbers[g]] for g in range(5) if not cards[g] & cards[h]) for h in range(5)
                ]
                np.testing.assert_allclose(
                    actual[seat, e, b, numbers], pot * evs[seat] * facing / 4.0, rtol=1e-4, atol=1e-5
                )
            assert np.count_nonzero(actual[0, e, b]) == 5
    gain = (reach[:, :, None] * actual).sum(axis=(0, 3))
    assert abs(gain).max() < 1e-6 * abs(actual).max()


def test_ends_that_one_seat_never_reaches(stored):
    """A seat without reach still has values against the other seat's hands; the other seat's are 0."""
    reach = np.random.default_rng(1).random((2, 5, 6))
    reach[0, 1] = 0.0
    values = NetLeaves(stored, boundary(LEDUC)).values(reach)
    assert np.isfinite(values).all()
    assert (values[1, 1] == 0.0).all() and (values[0, 1] != 0.0).any()


def test_another_game(stored):
    rules = dataclasses.replace(LEDUC, num_ranks=4)
    with pytest.raises(ArtefactRefused, match="the network is for the level leduc, not for street 1 of this game"):
        NetLeaves(stored, boundary(rules))


def test_another_game_is_refused_before_a_hand(folder):
    agent = make_agent(f"continual?values=net:{folder}")
    with pytest.raises(ArtefactRefused, match="the level leduc, not for street 1 of this game"):
        agent.restart(dataclasses.replace(LEDUC, num_ranks=4), 0, np.random.default_rng(1))


def test_resolving_asks_the_network(folder):
    config = ContinualConfig(iterations=4, values=f"net:{folder}")
    found = Resolver(LEDUC, config)
    played = found.resolved((), ()).played
    exact = Resolver(LEDUC, dataclasses.replace(config, values="checkdown")).resolved((), ()).played
    assert (played != exact).any() and found.counts["inner_solves"] == 0


def test_an_agent_with_a_network(folder):
    """The network is part of the agent: another network is another agent, for a tournament that goes on."""
    spec = f"continual?iterations=2&values=net:{folder}"
    assert make_agent(spec).is_deterministic
    assert agent_digest(spec) == f"{agent_digest('continual?iterations=2')} {load_net(folder).digest}"
    with pytest.raises(ArtefactRefused, match="there is no folder"):
        agent_digest("continual?values=net:nowhere")


@pytest.mark.parametrize("values", ["net:", "nets", "exactly"])
def test_unknown_values(values):
    with pytest.raises(ValueError, match="values is exact, checkdown or net:FOLDER"):
        ContinualConfig(values=values)


def test_no_network():
    with pytest.raises(ArtefactRefused, match="there is no folder"):
        Resolver(LEDUC, ContinualConfig(values="net:nowhere"))
