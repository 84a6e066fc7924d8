"""Rows that depend on the range: the kernel's equal those that the agent reports, in full hold'em."""

import os

import numpy as np
import pytest
from random_blueprint import random_blueprint, timid

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.abstraction.machine.lanes import LANES
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.acting_rows import ActingRows
from plurispiel.agents.blueprint.agent import DefendingAgent
from plurispiel.agents.blueprint.fallback import kept_rows
from plurispiel.evaluation._defence_kernels import carry_defended, defence_workspace, fill_defence
from plurispiel.evaluation._flop_best_response_kernels import FacingRows
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


def kernel_rows(response, rows, node, place, board, reach):
    """Return the probabilities of a fold and of a call of each combo that the board leaves free: float[2, n].

    The other lanes have ranges of their own.
    """
    batch, offset, lane = place
    street, free = len(board) - 2, np.flatnonzero(HUNL.free_combos(board))
    found, nodes, seat = rows.street(street), response.streets[street - 1].nodes, int(rows.blueprint.tree.actor[node])
    table, start = response.facing_tables(street, found)[seat], nodes.first[nodes.shape[batch]]
    children = np.flatnonzero(nodes.parent[start : nodes.first[nodes.shape[batch] + 1]] == offset)
    entry = int(nodes.entry[start + children[0]])
    number = int(table.defended.numbers[table.open_first[batch] + entry])
    assert number >= 0 and number == table.defended.numbers[table.open_first[batch] + entry + 1]
    strengths = rows.strength_order(board, street)[free]
    order = np.argsort(-strengths, kind="stable").astype(np.int32)
    ranks = np.unique(-strengths, return_inverse=True)[1][order].astype(np.int32)
    held = np.zeros((3 * len(free), LANES), table.table.dtype)  # before the decision, after a fold and after a call
    held[: len(free)] = np.random.default_rng(node).random((len(free), LANES))
    held[: len(free), lane] = reach[free]
    facing = FacingRows(
        table.table,
        table.table_first,
        rows.buckets(street, board)[free],
        table.open_first,
        table.numbers,
        table.places,
        found.earlier,
        np.empty((0, 1), np.int32),
        np.empty((1, 1)),
        table.defended._replace(order=order, ranks=ranks),
    )
    work = defence_workspace(facing.defended, len(free), held.dtype)
    fold_block, num_entries = int(table.table_first[batch]) + entry, int(nodes.num_entries[seat, nodes.shape[batch]])
    fill_defence(facing, number, 0, len(free), fold_block, num_entries, held, 0, work)
    for is_fold, here in ((True, len(free)), (False, 2 * len(free))):
        carry_defended(facing, 0, len(free), held, 0, here, is_fold, work)
    assert not work.masses.any()
    before, *after = held[:, lane].reshape(3, -1)
    return np.stack([np.divide(each, before, out=np.zeros(len(free)), where=before > 0.0) for each in after])


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
            found = kernel_rows(response, rows, node, place_of[node], board, reach)
            weights = reach[free] / reach[free].sum()
            errors = abs(found - told)
            assert errors[:, weights > 0.0].max() < 1e-9 if dtype == np.float64 else (errors @ weights).max() < 1e-5
            changed += bool(abs(told[0] - rows.strategy(node, board)[free, 0]).max() > 1e-6)
    assert DECISIONS // 2 < changed


def test_the_tables_are_counted():
    blueprint = timid(random_blueprint(HUNL), 15)
    plain, defended = (FlopBestResponse(HUNL, blueprint.tree, ActingRows(blueprint, defence=x)) for x in (0.0, 0.8))
    buckets = blueprint.cards.num_buckets
    places = sum(ActingRows(blueprint, defence=0.8).street(street).defended.places.nbytes for street in (2, 3))
    assert defended.memory_bytes(buckets) - plain.memory_bytes(buckets) == 2 * places > 0
