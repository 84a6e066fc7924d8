"""Kernels of card features: how often hands win, with exact card removal."""

import numpy as np

from plurispiel.abstraction._jit import kernel
from plurispiel.abstraction.holdem._hand_rank_kernels import fill_board_ranks, fill_combo_ranks
from plurispiel.abstraction.holdem._showdown_kernels import sort_by_rank


@kernel
def sum_strength(tables, combos, boards, weights, work, strength, total_weight):
    """Add every combo's strength on each of the boards it can be held on, and the weights of those boards.

    Parameters
    ----------
    tables : RankTables
    combos : uint8[num_combos, num_hole_cards]
    boards : uint8[num_boards, num_board_cards]
    weights : float64[num_boards]
    work : StrengthWorkspace
    strength, total_weight : float64[num_combos]
        Modified in place.
    """
    num_combos, num_hole = combos.shape
    num_board = boards.shape[1]
    is_holdem = num_combos == 1326 and num_hole == 2 and 3 <= num_board <= 5
    for b in range(boards.shape[0]):
        if is_holdem:
            fill_board_ranks(tables, boards[b], work.ranks)
        else:
            fill_combo_ranks(tables, boards[b], combos, work.ranks)
        num_live = sort_by_rank(work.ranks, work.order, work.spare, work.counts)
        add_strength(work.ranks, combos, work.order, num_live, work.per_card, weights[b], strength)
        for k in range(num_live):
            total_weight[work.order[k]] += weights[b]


@kernel
def add_strength(ranks, combos, order, num_live, per_card, weight, strength):
    """Add to `strength` every live combo's chance to win, plus half its ties, against a uniform other combo.

    Parameters
    ----------
    ranks : uint16[num_combos]
    combos : uint8[num_combos, num_hole_cards]
        With three hole cards the cards that two combos share are ignored.
    order : int32[num_combos]
        Ids of the `num_live` combos that can be held, weakest first (`sort_by_rank`).
    per_card : float64[3, 52]
        Workspace.
    weight : float
        Multiplies what is added.
    strength : float64[num_combos]
        Modified in place.

    Notes
    -----
    One pass over groups of equal rank. Of W weaker combos, P[c] with card c, those that do not touch
    the own cards {c, d} are W - P[c] - P[d]: the combo {c, d} itself is not weaker. Among the equal
    ones and among all, it is subtracted twice, so it is put back once.
    """
    num_hole = combos.shape[1]
    num_removed = num_hole if num_hole < 3 else 0
    put_back = num_removed - 1
    held, weaker, equal = per_card[0], per_card[1], per_card[2]
    for card in range(52):
        held[card] = 0.0
        weaker[card] = 0.0
        equal[card] = 0.0
    for k in range(num_live):
        for c in range(num_removed):
            held[combos[order[k], c]] += 1.0
    start = 0
    while start < num_live:
        rank = ranks[order[start]]
        stop = start + 1
        while stop < num_live and ranks[order[stop]] == rank:
            stop += 1
        for k in range(start, stop):
            for c in range(num_removed):
                equal[combos[order[k], c]] += 1.0
        for k in range(start, stop):
            combo = order[k]
            others = np.float64(num_live + put_back)
            wins = np.float64(start)
            ties = np.float64(stop - start + put_back)
            for c in range(num_removed):
                card = combos[combo, c]
                others -= held[card]
                wins -= weaker[card]
                ties -= equal[card]
            if others > 0.0:
                strength[combo] += weight * (wins + 0.5 * ties) / others
        for k in range(start, stop):
            for c in range(num_removed):
                card = combos[order[k], c]
                weaker[card] += 1.0
                equal[card] = 0.0
        start = stop


@kernel
def count_outs(cards, combos, board, num_suits, outs):
    """Write the cards that would complete a straight or flush with the combo's help.

    Parameters
    ----------
    cards : uint8[num_cards]
        The deck.
    combos : uint8[num_combos, num_hole_cards]
    board : uint8[n]
    outs : float64[num_combos]
        Modified in place: missing ranks times suits for straights, cards left of the suit for flushes.
    """
    num_combos = combos.shape[0]
    num_ranks = cards.shape[0] // num_suits
    board_ranks = 0
    for k in range(board.shape[0]):
        board_ranks |= 1 << (board[k] >> 2)
    for combo in range(num_combos):
        ranks = board_ranks
        for c in range(combos.shape[1]):
            ranks |= 1 << (combos[combo, c] >> 2)
        found = 0
        if not has_straight(ranks):
            for rank in range(num_ranks):
                bit = 1 << rank
                if ranks & bit == 0 and has_straight(ranks | bit) and not has_straight(board_ranks | bit):
                    found += num_suits
        for suit in range(num_suits):
            own = 0
            for c in range(combos.shape[1]):
                own += (combos[combo, c] & 3) == suit
            if own > 0:
                for k in range(board.shape[0]):
                    own += (board[k] & 3) == suit
                if own == 4:
                    found += num_ranks - 4
        outs[combo] = found


@kernel(inline=True)
def has_straight(ranks):
    """Return whether a 13-bit set of ranks holds five in a row, the ace also below the deuce."""
    run = (ranks << 1) | ((ranks >> 12) & 1)
    return run & (run >> 1) & (run >> 2) & (run >> 3) & (run >> 4) != 0
