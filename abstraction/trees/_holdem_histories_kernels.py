"""Kernels that enumerate every deal of cards at the public nodes of a hold'em game."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting_layout import FOLDED, NUM_HOLE_CARDS, NUM_LIVE, NUM_SEATS, STREET
from plurispiel.abstraction.holdem.betting_state import settle, share_pot
from plurispiel.abstraction.holdem.hand_ranks import RankTables
from plurispiel.abstraction.machine.jit import kernel

CHANCE = -1


class Plan(NamedTuple):
    """The public nodes and the deck, as kernels read them; the first six arrays are those of `PublicNodes`."""

    player: np.ndarray
    first_child: np.ndarray
    num_children: np.ndarray
    action: np.ndarray
    dealt: np.ndarray
    states: np.ndarray
    label_first: np.ndarray  # int64[N]: the lowest label at each decision
    rules: np.ndarray  # int64[RULES_SIZE]
    cards: np.ndarray  # uint8[deck]: the card of each position in the deck
    street_cards: np.ndarray  # int64[num_streets]: board cards dealt on each street
    choose: np.ndarray  # int64[deck + 1, 8]: choose[n, k] is the binomial coefficient
    ranks: RankTables


@kernel(inline=True)
def _set_rank(choose, cards, history, start, count):
    """Return the number, in colexicographic order, of the set of cards ``cards[history, start : start + count]``."""
    rank = np.int64(0)
    for k in range(start, start + count):
        lower = 0
        for other in range(start, start + count):
            lower += cards[history, other] < cards[history, k]
        rank += choose[cards[history, k], lower + 1]
    return rank


@kernel
def name_level(plan, node, cards, deck, ranks, payoffs, label, outcome):
    """Write the label of each decision and the outcome of each terminal history among the F histories of one depth.

    Parameters
    ----------
    node : int32[F]
        Public node of each history.
    cards : uint8[F, num_dealt_cards]
        The cards of each history, as positions in the deck, in the order dealt; 0 for cards not yet dealt.
    deck, ranks, payoffs : uint8[num_dealt_cards], int64[10], float64[num_seats]
        Workspaces.
    label, outcome : int32[F], int64[F]
        Modified in place. A label numbers the information of the seat to act (`Histories`); the label is -1 where no
        seat decides. An outcome is -1 before the end of a hand. At the end, the outcome in base num_seats consists of
        the node and one digit for each seat, seat 0 first: at a showdown, the number of live hands that the seat's hand
        beats; 0 for a seat that has folded, and for all seats without a showdown.
    """
    num_seats = plan.rules[NUM_SEATS]
    num_hole = plan.rules[NUM_HOLE_CARDS]
    deck_size = len(plan.cards)
    for history in range(len(node)):
        number = node[history]
        actor = plan.player[number]
        label[history] = -1
        outcome[history] = -1
        if actor >= 0:
            name = _set_rank(plan.choose, cards, history, actor * num_hole, num_hole)
            start = num_seats * num_hole
            for street in range(plan.states[number, STREET] + 1):
                count = plan.street_cards[street]
                name = name * plan.choose[deck_size, count] + _set_rank(plan.choose, cards, history, start, count)
                start += count
            label[history] = plan.label_first[number] + name
        elif actor != CHANCE:
            state = plan.states[number]
            code = np.int64(number)  # at most some 200,000 nodes times 10^10, for ten digits: no overflow
            if state[NUM_LIVE] > 1:
                for k in range(len(deck)):
                    deck[k] = plan.cards[cards[history, k]]
                settle(plan.rules, plan.ranks, state, deck, ranks, payoffs)
            for seat in range(num_seats):
                beaten = 0
                if state[NUM_LIVE] > 1 and state[FOLDED + seat] == 0:
                    for other in range(num_seats):
                        # The number of hands that a hand beats orders the hands as their ranks do, ties included.
                        beaten += state[FOLDED + other] == 0 and ranks[other] < ranks[seat]
                code = code * num_seats + beaten
            outcome[history] = code


@kernel
def settle_outcomes(plan, outcome, ranks, payoffs):
    """Write every seat's net chips for each of m outcomes of `name_level`.

    Parameters
    ----------
    outcome : int64[m]
        Outcomes of terminal histories; all are at least 0.
    ranks : int64[10]
        Workspace for each seat's digit of an outcome. The digits replace the hand ranks: payoffs depend only on which
        hands beat which.
    payoffs : float64[m, num_seats]
        Modified in place.
    """
    num_seats = plan.rules[NUM_SEATS]
    for row in range(len(outcome)):
        code = outcome[row]
        for seat in range(num_seats - 1, -1, -1):
            ranks[seat] = code % num_seats
            code //= num_seats
        share_pot(plan.rules, plan.states[code], ranks, payoffs[row])


@kernel
def deal_level(plan, node, cards, child_node, child_cards, action, chance):
    """Write the children of each history of one depth, in the order of their parents.

    Modified in place, with one row for each child: `child_node` and `child_cards`, like `node` and `cards` in
    `name_level`; the `action` that leads to the child; and its probability `chance`, 1 unless a card is dealt.
    """
    deck_size = len(plan.cards)
    child = 0
    for history in range(len(node)):
        number = node[history]
        dealt = plan.dealt[number]
        first = plan.first_child[number]
        if plan.player[number] == CHANCE:
            used = np.int64(0)
            for k in range(dealt):
                used |= np.int64(1) << cards[history, k]
            for card in range(deck_size):
                if (used >> card) & 1 == 0:
                    for k in range(dealt):
                        child_cards[child, k] = cards[history, k]
                    child_cards[child, dealt] = card
                    child_node[child] = first
                    action[child] = card
                    chance[child] = 1.0 / (deck_size - dealt)
                    child += 1
        else:
            for following in range(first, first + plan.num_children[number]):
                for k in range(dealt):
                    child_cards[child, k] = cards[history, k]
                child_node[child] = following
                action[child] = plan.action[following]
                chance[child] = 1.0
                child += 1
