"""Kernels that step many tables together."""

from plurispiel.abstraction.holdem.betting_layout import ACTOR, NUM_SEATS
from plurispiel.abstraction.holdem.betting_state import settle
from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_below
from plurispiel.agents.environment.observation_kernels import write_observation
from plurispiel.agents.environment.opponent_kernels import choose, follow
from plurispiel.agents.environment.table_kernels import begin_hand, fill_ids, take_action

ROTATE, RANDOM_SEAT = -1, -2
"""Ways to seat the learner; a number from 0 on is the learner's seat."""

MAX_WALKS = 10_000
"""A step gives up after this many hands in a row in which the learner gets no turn.

In a hand the learner gets no turn if all others fold before it acts, or if its blind puts it all-in.
"""


@kernel(inline=True)
def _begin(game, opponents, tables, seats, i, seating):
    num_seats = game.rules[NUM_SEATS]
    if seating == ROTATE:
        seats[i] = (seats[i] + 1) % num_seats
    elif seating == RANDOM_SEAT:
        seats[i] = next_below(tables.streams[i], num_seats)
    else:
        seats[i] = seating
    begin_hand(game, tables, i)
    opponents.nodes[i] = 0


@kernel(inline=True)
def _act(game, opponents, tables, i, total, work):
    if opponents.has_tree:
        follow(game, opponents, tables, i, total, work)
    take_action(game, tables, i, total)


@kernel
def step_tables(game, opponents, layout, tables, seating, is_reset, actions, work, results):
    """Let the learner act at each table, then the opponents, until the learner is to act again.

    A table whose hand ends begins a new hand in the same step; see `TableBatch`.

    Parameters
    ----------
    game : TableGame
    opponents : KernelOpponents
        Modified in place.
    layout : Layout
    tables : HandTables
        Modified in place.
    seating : int
        `ROTATE`, `RANDOM_SEAT` or the learner's seat.
    is_reset : bool
        Whether all tables begin new hands, and the actions are ignored.
    actions : int64[num_tables]
        The ids of the learner's actions, all legal.
    work : BatchWorkspace
        Modified in place.
    results : BatchResults
        Modified in place.

    Returns
    -------
    int
        -1, or a table at which the learner got no turn in `MAX_WALKS` hands in a row; later tables are not stepped.
    """
    num_seats = game.rules[NUM_SEATS]
    per_chip = 1.0 / work.big_blind
    for i in range(len(actions)):
        state = tables.states[i]
        results.rewards[i] = 0.0
        results.dones[i] = False
        results.num_walks[i] = 0
        results.walk_rewards[i] = 0.0
        has_acted = not is_reset
        if is_reset:
            _begin(game, opponents, tables, results.seats, i, seating)
        else:
            fill_ids(game, state, work.opponent.offered, work.by_id)
            _act(game, opponents, tables, i, work.by_id[actions[i]], work.opponent)
        while True:
            actor = state[ACTOR]
            if actor == results.seats[i]:
                break
            if actor >= 0:
                kind = opponents.kinds[(actor - results.seats[i] - 1) % num_seats]
                total = choose(game, opponents, kind, tables, i, work.opponent)
                _act(game, opponents, tables, i, total, work.opponent)
                continue
            settle(game.rules, game.ranks, state, tables.cards[i], work.ranks, work.payoffs)
            won = work.payoffs[results.seats[i]] * per_chip
            if has_acted:
                results.rewards[i] = won
                results.dones[i] = True
                # The hand is kept in the results: the next one takes its place in `tables`.
                results.last_seats[i] = results.seats[i]
                for k in range(game.num_dealt):
                    results.last_decks[i, k] = tables.cards[i, k]
                for k in range(tables.counts[i]):
                    results.last_actions[i, k] = tables.totals[i, k]
                results.last_counts[i] = tables.counts[i]
                has_acted = False
            else:
                results.num_walks[i] += 1
                if results.num_walks[i] >= MAX_WALKS:
                    return i
                results.walk_rewards[i] += won
            _begin(game, opponents, tables, results.seats, i, seating)
        write_observation(game, layout, tables, i, results.seats[i], results.observations[i])
        fill_ids(game, state, work.opponent.offered, work.by_id)
        for number in range(len(work.by_id)):
            results.masks[i, number] = work.by_id[number] >= 0
    return -1


@kernel
def first_illegal(masks, actions):
    """Return the first table whose action is not legal, or -1."""
    num_ids = masks.shape[1]
    for i in range(len(actions)):
        if actions[i] < 0 or actions[i] >= num_ids or not masks[i, actions[i]]:
            return i
    return -1


@kernel
def draw_actions(masks, stream, actions):
    """Write a legal action of each table, drawn uniformly. Modified in place: `stream`, `actions`."""
    for i in range(len(actions)):
        count = 0
        for number in range(masks.shape[1]):
            count += masks[i, number]
        place = next_below(stream, count)
        for number in range(masks.shape[1]):
            if masks[i, number]:
                if place == 0:
                    actions[i] = number
                    break
                place -= 1
