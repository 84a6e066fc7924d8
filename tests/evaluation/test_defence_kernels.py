"""Rows that depend on the range: the kernel's equal those that the agent reports, in full hold'em."""

import os

import numpy as np
import pytest
from random_blueprint import random_blueprint, timid

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.holdem.showdown_kernels import FIRST_HAND
from plurispiel.abstraction.machine.lanes import empty_blocks
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.acting_rows import ActingRows
from plurispiel.agents.blueprint.agent import DefendingAgent
from plurispiel.agents.blueprint.fallback import kept_rows
from plurispiel.agents.resolve.deals import deal_streets
from plurispiel.evaluation._defence_kernels import carry_defended, defence_workspace, fill_defence
from plurispiel.evaluation._flop_best_response_kernels import FacingRows
from plurispiel.evaluation._live_hands_kernels import gather_live, live_hands
from plurispiel.evaluation.flop_best_response import FlopBestResponse

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

DECISIONS = 25


def places(street):
    """Return the batch, the offset and the lane of each decision of a street."""
    return {
        int(node): (batch, offset, lane)
        for batch, members in enumerate(street.members)
        for (offset, lane), node in np.ndenumerate(members)
        if node >= 0
    }


def public_state(blueprint, node, board):
    tree, actions, at = blueprint.tree, [], node
    while at > 0:
        parent = int(tree.parent[at])
        actions.append(Action(int(tree.actor[parent]), int(tree.action[at]), int(tree.street[parent])))
        at = parent
    state = kept_rows(blueprint).states.state(node)
    return PublicState(HUNL, state.array.tolist(), board, tuple(reversed(actions)))


def kernel_rows(response, rows, node, place, board, reach, others=0.3):
    """Return the probabilities of a fold and of a call of each combo, 0 without reach: float[2, num_combos].

    The other lanes have random ranges over the share `others` of the combos.
    """
    batch, offset, lane = place
    street, seat = len(board) - 2, int(rows.blueprint.tree.actor[node])
    found, nodes = rows.street(street), response.streets[street - 1].nodes
    table, start = response.facing_tables(street, found)[seat], nodes.first[nodes.shape[batch]]
    children = np.flatnonzero(nodes.parent[start : nodes.first[nodes.shape[batch] + 1]] == offset)
    entry = int(nodes.entry[start + children[0]])
    number = int(table.defended.numbers[table.open_first[batch] + entry])
    assert number >= 0 and number == table.defended.numbers[table.open_first[batch] + entry + 1]
    dtype, everything = table.table.dtype, np.ones((2, HUNL.num_combos))
    deals = deal_streets(HUNL, street, board, everything, np.empty((0, HUNL.num_combos)), dtype)[0].arrays
    combos = deals.seats[0].combos
    strengths = rows.strength_order(board, street)[combos]
    order = np.argsort(-strengths, kind="stable").astype(np.int32)
    ranks = np.unique(-strengths, return_inverse=True)[1][order].astype(np.int32)
    facing = FacingRows(
        table.table,
        table.table_first,
        rows.buckets(street, board)[combos],
        table.open_first,
        table.numbers,
        table.places,
        found.earlier,
        np.empty((0, 1), np.int32),
        np.empty((1, 1)),
        table.defended._replace(order=order, ranks=ranks),
    )
    rng, width = np.random.default_rng(node), FIRST_HAND + len(combos)
    above = empty_blocks(HUNL.num_combos, dtype)
    above[:] = rng.random(above.shape) * (rng.random((len(above), 1)) < others)
    above[:, lane] = reach
    tiles = empty_blocks(3 * width, dtype)  # before the decision, after a fold and after a call
    live = live_hands(len(combos), int(facing.buckets.max()) + 1)
    for _ in range(2):  # the second time, the lists of the first are still there
        gather_live(deals, facing, 0, above, 0, live, tiles)
    numbers = live.numbers[: live.counts[0]]
    assert sorted(combos[numbers]) == np.flatnonzero(above.any(1) & HUNL.free_combos(board)).tolist()
    work = defence_workspace(facing.defended, len(combos), dtype)
    fold_block, num_entries = int(table.table_first[batch]) + entry, int(nodes.num_entries[seat, nodes.shape[batch]])
    fill_defence(facing, number, live, fold_block, num_entries, tiles, 0, work)
    for is_fold, after in ((True, width), (False, 2 * width)):
        carry_defended(live, tiles, 0, after, is_fold, work)
    assert not work.masses.any()
    before, *after = tiles[:, lane].reshape(3, -1)[:, FIRST_HAND : FIRST_HAND + len(numbers)]
    found = np.zeros((2, HUNL.num_combos))
    for row, each in zip(found, after, strict=True):
        row[combos[numbers]] = np.divide(each, before, out=np.zeros(len(each)), where=before > 0.0)
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernel_and_the_agent_agree(dtype):
    blueprint, rng = timid(random_blueprint(HUNL), 15), np.random.default_rng(7)
    agent, rows = DefendingAgent(blueprint, 0.8), ActingRows(blueprint, dtype, 0.8)
    response = FlopBestResponse(HUNL, blueprint.tree, rows, dtype=dtype)
    changed = 0
    for street in (2, 3):
        place_of = places(response.streets[street - 1])
        for node in rng.choice(rows.street(street).defended.nodes, DECISIONS).tolist():
            board = tuple(rng.permutation(52)[: street + 2].tolist())
            public, free = public_state(blueprint, node, board), HUNL.free_combos(board)
            agent.restart(HUNL, public.actor, np.random.default_rng(0))
            reach, strategy = agent._off_tree.reach(public), agent.range_strategy(public)
            told = np.stack([strategy.probability(action)[free] for action in (FOLD, CALL)])
            found = kernel_rows(response, rows, node, place_of[node], board, reach)[:, free]
            weights = reach[free] / reach[free].sum()
            errors = abs(found - told)
            assert errors[:, weights > 0.0].max() < 1e-9 if dtype == np.float64 else (errors @ weights).max() < 1e-5
            changed += bool(abs(told[0] - rows.strategy(node, board)[free, 0]).max() > 1e-6)
    assert DECISIONS // 2 < changed


def test_ranges_of_few_buckets():
    """The last place in the order of calls may be far behind the number of live buckets."""
    blueprint, rng = timid(random_blueprint(HUNL), 15), np.random.default_rng(7)
    rows = ActingRows(blueprint, defence=0.8)
    response = FlopBestResponse(HUNL, blueprint.tree, rows)
    changed = 0
    for street in (2, 3):
        place_of = places(response.streets[street - 1])
        for node in rng.choice(rows.street(street).defended.nodes, DECISIONS // 5).tolist():
            board = tuple(rng.permutation(52)[: street + 2].tolist())
            buckets, free = rows.buckets(street, board), HUNL.free_combos(board)
            one = np.eye(HUNL.num_combos, dtype=bool)[np.flatnonzero(free)[0]]
            for held in (free & (buckets < 2), free & (buckets == 5), free & (buckets >= 12) & (buckets < 14), one):
                reach = np.where(held, rng.random(HUNL.num_combos), 0.0)
                alone, among = (
                    kernel_rows(response, rows, node, place_of[node], board, reach, others) for others in (0.0, 1.0)
                )
                np.testing.assert_allclose(alone[:, held], among[:, held], rtol=0, atol=1e-9)
                changed += bool(abs(alone[0, held] - rows.strategy(node, board)[held, 0]).max(initial=0.0) > 1e-6)
    assert changed > DECISIONS // 2


def test_the_tables_are_counted():
    blueprint = timid(random_blueprint(HUNL), 15)
    plain, defended = (FlopBestResponse(HUNL, blueprint.tree, ActingRows(blueprint, defence=x)) for x in (0.0, 0.8))
    buckets = blueprint.cards.num_buckets
    places = sum(ActingRows(blueprint, defence=0.8).street(street).defended.places.nbytes for street in (2, 3))
    assert defended.memory_bytes(buckets) - plain.memory_bytes(buckets) == 2 * places > 0
