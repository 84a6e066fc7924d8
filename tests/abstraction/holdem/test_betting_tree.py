"""The betting tree by street: every line of the betting once, with what it pays."""

import dataclasses
import os

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.betting_tree import FOLD_END, SHOWDOWN, STREET_END, street_betting
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.abstraction.trees.ladder import LADDER

HOLDEM_FLOP = parse_game(LADDER["holdem-flop"].game)
GAMES = {
    "holdem-flop": HOLDEM_FLOP,
    "holdem-mini": parse_game(LADDER["holdem-mini"].game),
    "leduc": LEDUC,
    "kuhn": KUHN,
    "four streets": dataclasses.replace(HUNL.with_menu("fchpa"), stacks=(700, 900)),
}


def lines(state, actions=()):
    """Yield every sequence of actions that ends the hand, with the state it ends in."""
    if state.is_over:
        yield actions, state
        return
    for action in ([FOLD] if state.can_fold else []) + [CALL, *state.menu]:
        following = state.copy()
        following.apply(action)
        yield from lines(following, (*actions, (state.actor, action, state.street)))


def ends(streets, root=0, index=0, node=None, actions=()):
    """Yield the same from the tree, with the kind and stake of the last node."""
    nodes = streets[index].nodes
    decisions = {decision.node: decision for decision in streets[index].decisions}
    if node is None:
        node = int(np.flatnonzero(nodes.number == root)[0])
    if nodes.kind[node] == STREET_END:
        yield from ends(streets, int(nodes.end[node]), index + 1, None, actions)
    elif node in decisions:
        decision = decisions[node]
        assert (decision.actions, decision.seat) == (actions, nodes.kind[node])
        for action, child in decision.children.items():
            taken = (decision.seat, action, decision.state[0])
            assert nodes.parent[child] == node
            assert nodes.depth[child] == nodes.depth[node] + 1
            yield from ends(streets, root, index, child, (*actions, taken))
    else:
        yield actions, int(nodes.kind[node]), float(nodes.stake[node])


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_holds_every_line_with_its_payoff(rules):
    if os.environ.get("NUMBA_DISABLE_JIT") and rules.num_streets > 2:
        pytest.skip("minutes without the compiler")
    expected = dict(lines(BettingState(rules)))
    found = {actions: (kind, stake) for actions, kind, stake in ends(street_betting(BettingState(rules)))}
    assert list(found) == list(expected)
    for actions, (kind, stake) in found.items():
        state = expected[actions]
        if any(state.folded):
            loser = state.folded.index(True)
            assert (kind, stake) == (FOLD_END, (-1 if loser == 0 else 1) * state.contributions[loser])
        else:
            assert (kind, stake) == (SHOWDOWN, min(state.contributions))


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_layout(rules):
    streets = street_betting(BettingState(rules))
    assert len(streets) == rules.num_streets
    num_roots = 1
    for street in streets:
        nodes = street.nodes
        assert street.num_roots == num_roots == (nodes.parent < 0).sum()
        assert nodes.number[nodes.parent < 0].tolist() == list(range(num_roots))
        assert (nodes.parent < np.arange(len(nodes.parent))).all()
        assert nodes.end[nodes.kind == STREET_END].tolist() == list(range(street.num_ends))
        assert street.max_depth == nodes.depth.max()
        # Children have a row of the actor's own, and share the other's with their parent.
        for seat in range(2):
            assert sorted(set(nodes.rows[seat].tolist())) == list(range(street.num_rows[seat]))
            for node in np.flatnonzero(nodes.parent >= 0):
                parent = nodes.parent[node]
                shared = nodes.rows[seat, node] == nodes.rows[seat, parent]
                assert shared == (nodes.kind[parent] != seat)
        # A node stands directly before what follows it: what is open at each depth is on the path to it.
        path = []
        for node, depth in enumerate(nodes.depth.tolist()):
            del path[depth:]
            assert nodes.parent[node] == (path[-1] if path else -1)
            path.append(node)
        num_roots = street.num_ends


def test_sizes_of_holdem_flop():
    preflop, flop = street_betting(BettingState(HOLDEM_FLOP))
    assert (len(preflop.decisions), preflop.num_ends) == (20, 19)
    assert (len(flop.decisions), flop.num_ends, len(flop.nodes.kind)) == (100, 0, 283)


def test_starts_anywhere():
    state = BettingState(HOLDEM_FLOP)
    taken = ()
    for action in (CALL, CALL, 300):
        taken += ((state.actor, action, state.street),)
        state.apply(action)
    (flop,) = street_betting(state, taken)
    assert flop.decisions[0].actions == taken
    assert flop.num_roots == 1


def test_refusals():
    with pytest.raises(ValueError, match="two seats"):
        street_betting(BettingState(SIXMAX.with_menu("fcpa")))
    with pytest.raises(ValueError, match="fullgame"):
        street_betting(BettingState(HUNL))
    capped = dataclasses.replace(HUNL, max_raises=(0, 1, 1, 1))  # every size is on offer from the flop on
    with pytest.raises(ValueError, match="fullgame"):
        street_betting(BettingState(capped))
    with pytest.raises(ValueError, match="more than 50 nodes on street 0"):
        street_betting(BettingState(HOLDEM_FLOP), max_nodes=50)
