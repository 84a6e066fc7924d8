"""Kernels that compute a blueprint's rows from sums and regrets of training, play hands by these rows, and count rows.

A row is the strategy at a decision in a bucket, with a number for each action. A float32 row sums to 1. A uint8 row
sums to 255 up to rounding, as each number is rounded by itself. A missing row is all zeros.

All rows stand in one flat array of cells; a variable `cell` is the index of a row's first cell.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.xoshiro import next_float, next_word
from plurispiel.agents.blueprint.traversal_kernels import (
    COUNT_SHIFT,
    FIRST_CHILD,
    NUMBER,
    ROW,
    SEAT_SHIFT,
    SLOT,
    WORD,
    deal_hand,
    draw_row,
    end_value,
    find_buckets,
    match_regrets,
)


@kernel
def fill_rows(cells, is_early, sums, later_sums, regrets, highest, rows, strategy):
    """Write one street's rows: the average strategy; without an average, the current one; zeros in rows never visited.

    Parameters
    ----------
    cells : StreetCells
    is_early : bool
        Whether this street's averages are in `sums`. If not, they are in `later_sums`.
    sums : float64[cells of the streets averaged by `add_strategy`]
        Sums of current strategies over the updates of the average (`add_strategy`).
    later_sums : float32 or uint16[num_cells]
        Sums of current strategies over visits (`traverse_betting`) or snapshots (`add_snapshot`).
    regrets : float64 or int32[num_cells]
        Regrets, from which the current strategy of a row is computed.
    highest : float
        The number that stands for probability 1: 1 in float32 rows, 255 in uint8 rows.
    rows : float32 or uint8[num_cells]
        Modified in place.
    strategy : float64[MAX_ACTIONS]
        Workspace.

    Returns
    -------
    int
        The number of rows that are not zeros.
    """
    num_kept = 0
    for bucket in range(cells.num_buckets):
        for d in range(len(cells.rows)):
            num_actions = np.int64(cells.num_actions[d])
            cell = cells.base + bucket * cells.pairs + cells.rows[d]
            total = 0.0
            for a in range(num_actions):
                strategy[a] = sums[cell + a] if is_early else np.float64(later_sums[cell + a])
                total += strategy[a]
            if total > 0.0:
                for a in range(num_actions):
                    strategy[a] /= total
            else:
                met = False
                for a in range(num_actions):
                    met |= regrets[cell + a] != 0
                if not met:  # never visited: the row stays missing
                    for a in range(num_actions):
                        rows[cell + a] = 0
                    continue
                # Visited, but in no average yet: the current strategy is better than none.
                match_regrets(regrets, cell, num_actions, strategy)
            num_kept += 1
            for a in range(num_actions):
                value = strategy[a] * highest
                # Rounded one by one: a row of bytes need not sum to 255, so readers divide by its sum.
                rows[cell + a] = value if highest == 1.0 else np.rint(value)
    return num_kept


@kernel
def read_rows(rows, first, pairs, buckets, out):
    """Write the probabilities of a decision's actions in some buckets, zeros for missing rows.

    Parameters
    ----------
    rows : float32 or uint8[num_cells]
    first : int
        The cell of the decision's row in bucket 0.
    pairs : int
        The stride between the rows of adjacent buckets: the number of (decision, action) pairs of the street.
    buckets : int64[n]
    out : float32[n, num_actions]
        The probabilities, in the order of `buckets`. Modified in place.
    """
    for k in range(len(buckets)):
        cell = first + buckets[k] * pairs
        total = np.float32(0.0)
        for a in range(out.shape[1]):
            out[k, a] = rows[cell + a]
            total += out[k, a]
        if total > 0.0:
            for a in range(out.shape[1]):
                out[k, a] /= total


@kernel
def count_rows(cells, rows):
    """Return how many rows of one street are not zeros."""
    num_kept = 0
    for bucket in range(cells.num_buckets):
        for d in range(len(cells.rows)):
            cell = cells.base + bucket * cells.pairs + cells.rows[d]
            for a in range(np.int64(cells.num_actions[d])):
                if rows[cell + a] > 0:
                    num_kept += 1
                    break
    return num_kept


@kernel
def sum_regrets(cells, regrets):
    """Return the sum over one street's rows of each row's largest positive regret, and the number of rows ever visited.

    A row without positive regret adds 0. A row counts as visited if one of its regrets is not 0. CFR bounds a player's
    overall regret by such a sum over all of the player's infosets (Zinkevich et al., NIPS 2007, theorem 3).
    """
    total, num_met = 0.0, 0
    for bucket in range(cells.num_buckets):
        for d in range(len(cells.rows)):
            cell = cells.base + bucket * cells.pairs + cells.rows[d]
            most, met = 0.0, False
            for a in range(np.int64(cells.num_actions[d])):
                met |= regrets[cell + a] != 0
                most = max(most, np.float64(regrets[cell + a]))
            total += most
            num_met += met
    return total, num_met


@kernel
def play_hands(dealt, others, own, other, num_decks, stream, luck, work, spare, sums):
    """Play every deck once for each seat, with the blueprint `own` in that seat and `other` in all other seats.

    A deck's random numbers are the same in every seat, so blueprints with equal strategies win exactly nothing from
    each other.

    Parameters
    ----------
    dealt, others : DealtGame
        The game with the buckets of each blueprint.
    own, other : float32 or uint8[num_cells]
        The rows of the two blueprints.
    num_decks : int
        Number of decks.
    stream, luck : uint64[4]
        The random streams of decks and of actions. For each deck, `luck` gets a new state from `stream`, and every hand
        played with the deck begins with this state. Modified in place.
    work, spare : TraversalWorkspace
        Modified in place. `spare` gets the buckets of the second blueprint.
    sums : MatchSums
        Modified in place.
    """
    tree, game = dealt.tree, dealt.game
    first = game.num_seats * game.num_hole_cards
    for _ in range(num_decks):
        deal_hand(dealt.tables, dealt.game, dealt.cards, stream, work)
        for seat in range(game.num_seats):
            spare.combos[seat] = work.combos[seat]
        find_buckets(others.game, others.cards, work.deck[first : first + game.num_board_cards], spare)
        luck0, luck1, luck2, luck3 = next_word(stream), next_word(stream), next_word(stream), next_word(stream)
        deck_chips = 0.0
        for seat in range(game.num_seats):
            luck[0], luck[1], luck[2], luck[3] = luck0, luck1, luck2, luck3
            node = np.int64(0)
            while tree.nodes[node, WORD] >= 0:
                word = np.int64(tree.nodes[node, WORD])
                num_actions = word >> COUNT_SHIFT & 0xFF
                slot, row = word & SLOT, tree.nodes[node, ROW]
                if slot >> SEAT_SHIFT == seat:
                    place = draw_row(own, work.starts[slot] + row, num_actions, luck)
                else:
                    place = draw_row(other, spare.starts[slot] + row, num_actions, luck)
                sums.counts[0] += 1
                if place < 0:
                    sums.counts[1] += 1
                    place = min(np.int64(next_float(luck) * num_actions), num_actions - 1)
                node = np.int64(tree.nodes[node, FIRST_CHILD]) + place
            # `end_value` is for seats that have not folded; at ends the word is the complement of the live seats.
            if ~np.int64(tree.nodes[node, WORD]) >> seat & 1:
                won = end_value(tree, node, seat, game.num_seats, work.ranks)
            else:
                won = -np.float64(tree.contributions[tree.nodes[node, NUMBER], seat])
            sums.chips[seat] += won
            sums.squares[seat] += won * won
            deck_chips += won
        sums.chips[game.num_seats] += deck_chips
        sums.squares[game.num_seats] += deck_chips * deck_chips


@kernel
def meet_rows(dealt, rows, num_decks, stream, work, nodes, cells):
    """Write the node and the first cell of each row that self-play reaches, except missing rows.

    Parameters
    ----------
    dealt : DealtGame
    rows : float32 or uint8[num_cells]
        The rows of the blueprint.
    num_decks : int
        Number of decks.
    stream : uint64[4]
        Modified in place; so is `work`.
    work : TraversalWorkspace
    nodes, cells : int64[capacity]
        The results, in the order of play. A row is written each time that it is reached; rows beyond the capacity are
        dropped. Modified in place.

    Returns
    -------
    int
        The number of entries written.
    """
    tree = dealt.tree
    count = 0
    for _ in range(num_decks):
        deal_hand(dealt.tables, dealt.game, dealt.cards, stream, work)
        node = np.int64(0)
        while tree.nodes[node, WORD] >= 0:
            word = np.int64(tree.nodes[node, WORD])
            num_actions = word >> COUNT_SHIFT & 0xFF
            cell = work.starts[word & SLOT] + tree.nodes[node, ROW]
            place = draw_row(rows, cell, num_actions, stream)
            if place < 0:
                place = min(np.int64(next_float(stream) * num_actions), num_actions - 1)
            elif count < len(cells):
                nodes[count], cells[count] = node, cell
                count += 1
            node = np.int64(tree.nodes[node, FIRST_CHILD]) + place
    return count


@kernel
def reach_rows(dealt, rows, num_decks, share, stream, work, reached):
    """Count how often each row is reached by a player of the blueprint whose opponents often act uniformly at random.

    Parameters
    ----------
    dealt : DealtGame
    rows : float32 or uint8[num_cells]
        The rows of the blueprint.
    num_decks : int
        Number of decks; each is played once for each seat.
    share : float
        Probability that an opponent acts uniformly at random.
    stream : uint64[4]
        Modified in place; so is `work`.
    work : TraversalWorkspace
    reached : uint8[num_cells]
        The counts so far, up to 255, at the first cell of each row; other entries stay. Modified in place.
    """
    tree, game = dealt.tree, dealt.game
    for _ in range(num_decks):
        deal_hand(dealt.tables, dealt.game, dealt.cards, stream, work)
        for seat in range(game.num_seats):
            node = np.int64(0)
            while tree.nodes[node, WORD] >= 0:
                word = np.int64(tree.nodes[node, WORD])
                num_actions = word >> COUNT_SHIFT & 0xFF
                cell = work.starts[word & SLOT] + tree.nodes[node, ROW]
                place = np.int64(-1)
                if (word & SLOT) >> SEAT_SHIFT == seat:
                    reached[cell] = min(reached[cell] + 1, 255)  # uint8 would wrap around to 0
                    place = draw_row(rows, cell, num_actions, stream)
                elif next_float(stream) >= share:
                    place = draw_row(rows, cell, num_actions, stream)
                if place < 0:
                    place = min(np.int64(next_float(stream) * num_actions), num_actions - 1)
                node = np.int64(tree.nodes[node, FIRST_CHILD]) + place
