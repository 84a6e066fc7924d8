"""Kernels of AIVAT's corrections: the passes of all seats through a hand, and the sums of the corrections (`aivat`).

A *kind* of action is one action, or a range of raises among which the reported strategy draws evenly
(`announced.Announced`).
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.sums import numpy_sum, ordered_dot
from plurispiel.evaluation.situations import ALONE, COMBO, LINE, NUM_CARDS, POINT, ROW, SEAT, SIZE

ACTOR, STREET, AFTER, PLAYED, FIRST_KIND, NUM_KINDS, WATCHED, FOLDS = range(8)
"""Columns of `PlayedHand.actions`."""

KIND, NUM_ACTIONS, WHOSE = range(3)
"""Columns of `Walks.events`."""

DEAL, BOARD, ACTION, OTHER = range(4)
"""Kinds of events."""

LAST_ROW, LAST_SIZE, REFUSED = range(3)
"""Columns of `Walks.ends`."""

NUM_ROWS, NUM_QUESTIONS, NUM_PARTS, NUM_EVENTS = range(4)
"""Places in `Walks.counts`."""

CHANCE, OWN_ACTIONS, OTHER_ACTIONS = range(3)
"""Columns of the sums of a seat; those of the true cards follow."""

_CERTAIN = 1.0 - 1e-12
"""An action's probability over all combos counts as 1 from this value on. It is a sum of up to 1,326 products, whose
rounding error is below 1e-12."""

_IMPOSSIBLE = 1e-290
"""A probability over all combos counts as 0 below this value: its inverse, times chips, must stay finite."""


class PlayedHand(NamedTuple):
    """A hand with the strategies that its agents reported.

    Attributes
    ----------
    actions : int64[num_actions, 8]
        The columns:

        - `ACTOR`, `STREET`: the seat and the street of the action;
        - `AFTER`: the number of the line after the action;
        - `PLAYED`: the kind of the report that was played;
        - `FIRST_KIND`, `NUM_KINDS`: the rows of `probabilities` with the report; no rows if the seat reports nothing;
        - `WATCHED`: 1 if only two seats are left before the action, and the report is trusted, else 0;
        - `FOLDS`: 1 if the action is a fold, else 0.
    after : int64[num_kinds]
        The number of the line after the lowest action of each kind.
    probabilities : float64[num_kinds, num_combos]
        The probability of each kind with each combo.
    starts : float64[num_seats, num_combos]
        For each seat B_1, the weights after the deal.
    free : bool[num_streets, num_combos]
        The combos that share no card with the cards that came on each street.
    sizes : int64[num_streets]
        The number of board cards on each street.
    held : int64[num_seats]
        The combo that each seat really held.
    tells, is_shown : bool[num_seats]
        Whether the seat's strategy is known, and whether the seat is at the showdown.
    order : int64[num_leaves, 3]
        The order of sums over all combos (`sums.numpy_order`).
    """

    actions: np.ndarray
    after: np.ndarray
    probabilities: np.ndarray
    starts: np.ndarray
    free: np.ndarray
    sizes: np.ndarray
    held: np.ndarray
    tells: np.ndarray
    is_shown: np.ndarray
    order: np.ndarray


class Walks(NamedTuple):
    """The passes of all seats through a hand. There may be more rows than are used.

    Attributes
    ----------
    weights : float64[num_rows, num_combos]
        The rows of weights that questions and ends name.
    questions, factors
        As in `HandQuestions`.
    parts : int64[num_parts, 2]
        The parts of corrections: the event and the question of each.
    part_factors : float64[num_parts, 2]
        The factor of the question's weighted sum in the correction over imaginary hands, and the factor of the value of
        the true combo in the correction with the true cards.
    events : int64[num_events, 3]
        The events to correct for, seat by seat and in the order of the hand: the kind, the number of actions in the
        hand before the event, and the seat whose score is corrected.
    ends : int64[num_seats, 3]
        Where each seat's pass ended: the row of its last weights, the number of board cards, and the number of its
        decisions before its reports contradict the play or the board, -1 if they never do.
    rows : float64[num_kinds]
        The probability of each kind of `PlayedHand.after` with the true combo of the actor, for seats that tell.
    counts : int64[4]
        The numbers of rows, questions, parts and events.
    """

    weights: np.ndarray
    questions: np.ndarray
    factors: np.ndarray
    parts: np.ndarray
    part_factors: np.ndarray
    events: np.ndarray
    ends: np.ndarray
    rows: np.ndarray
    counts: np.ndarray


@kernel
def walk_hand(hand, walks):
    """Pass through a hand with each seat, and ask for the values that the corrections need.

    Parameters
    ----------
    hand : PlayedHand
    walks : Walks
        Modified in place.
    """
    counts, sizes, last = walks.counts, hand.sizes, len(hand.sizes) - 1
    counts[:] = 0
    for seat in range(len(hand.held)):
        row, street, tells, own = counts[NUM_ROWS], 0, hand.tells[seat], hand.held[seat]
        counts[NUM_ROWS] += 1
        for combo in range(hand.starts.shape[1]):
            walks.weights[row, combo] = hand.starts[seat, combo]
        walks.ends[seat, REFUSED] = -1
        told, number, line = tells, 0, np.int64(0)
        _add_event(walks, DEAL, 0, seat)
        _add_part(walks, _ask(walks, seat, line, sizes[0], 0, row, 1.0, tells, own), -1.0, -1.0)
        for k in range(len(hand.actions)):
            action = hand.actions[k]
            if sizes[action[STREET]] > sizes[street]:
                row, is_possible = _see_board(hand, walks, seat, k, line, street, action[STREET], row)
                street = action[STREET]
                if told and not is_possible:
                    told = False
                    walks.ends[seat, REFUSED] = number
            if action[ACTOR] == seat and told:
                after = _act(hand, walks, k, sizes[street], row)
                if after < 0:
                    told = False
                    walks.ends[seat, REFUSED] = number
                else:
                    row = after
                number += 1
            elif action[ACTOR] != seat and action[WATCHED]:
                _watch(hand, walks, seat, k, sizes[street], row)
            line = action[AFTER]
            if action[ACTOR] == seat and action[FOLDS]:
                break  # no later event changes the seat's payoff, and therefore no later correction is needed
        if hand.is_shown[seat] and sizes[street] < sizes[last]:
            row, is_possible = _see_board(hand, walks, seat, len(hand.actions), line, street, last, row)
            street = last
            if told and not is_possible:
                walks.ends[seat, REFUSED] = number
        walks.ends[seat, LAST_ROW], walks.ends[seat, LAST_SIZE] = row, sizes[street]


@kernel(inline=True)
def _add_event(walks, kind, num_actions, seat):
    """Begin the correction of an event; the parts that are added next belong to it."""
    event = walks.events[walks.counts[NUM_EVENTS]]
    event[KIND], event[NUM_ACTIONS], event[WHOSE] = kind, num_actions, seat
    walks.counts[NUM_EVENTS] += 1


@kernel(inline=True)
def _ask(walks, seat, line, size, num_cards, row, factor, tells, own):
    """Ask for the value of the true combo and, if the strategy is known, for a weighted sum; return the question.

    `factor` is the largest factor of the weighted sum in the score. The forms with the true cards need the value of the
    true combo alone.
    """
    number = walks.counts[NUM_QUESTIONS]
    walks.counts[NUM_QUESTIONS] += 1
    question = walks.questions[number]
    question[POINT], question[ROW], question[COMBO], question[SEAT] = -1, row, own, seat
    question[LINE], question[SIZE], question[ALONE], question[NUM_CARDS] = line, size, not tells, num_cards
    walks.factors[number] = factor if tells else 0.0
    return number


@kernel(inline=True)
def _add_part(walks, question, factor, true_factor):
    """Add a question's answers, times their factors, to the correction of the last event."""
    number = walks.counts[NUM_PARTS]
    walks.counts[NUM_PARTS] += 1
    walks.parts[number, 0], walks.parts[number, 1] = walks.counts[NUM_EVENTS] - 1, question
    walks.part_factors[number, 0], walks.part_factors[number, 1] = factor, true_factor


@kernel(inline=True)
def _see_board(hand, walks, seat, num_actions, line, street, new_street, row):
    """Correct for the cards of the streets after `street`, up to `new_street`.

    Returns the row of the new weights, and whether the cards leave any combo possible. Reports that deny the true combo
    may leave none. Then the new weights are those of the true combo alone, so that all numbers stay finite.
    """
    size, new_size, own, tells = hand.sizes[street], hand.sizes[new_street], hand.held[seat], hand.tells[seat]
    before, after, new_row = walks.weights[row], walks.weights[walks.counts[NUM_ROWS]], walks.counts[NUM_ROWS]
    walks.counts[NUM_ROWS] += 1
    # B_t+1: these cards were equally likely with every combo that is still free, so only the other combos drop out.
    for combo in range(len(before)):
        after[combo] = before[combo] * hand.free[street + 1, combo]
    for more in range(street + 2, new_street + 1):
        for combo in range(len(after)):
            after[combo] *= hand.free[more, combo]
    total = numpy_sum(after, hand.order)
    is_possible = total >= _IMPOSSIBLE
    if not is_possible:
        after[:] = 0.0
        after[own] = total = 1.0
    for combo in range(len(after)):
        after[combo] /= total
    _add_event(walks, BOARD, num_actions, seat)
    _add_part(walks, _ask(walks, seat, line, size, new_size - size, row, 1.0, tells, own), 1.0, 1.0)
    _add_part(walks, _ask(walks, seat, line, new_size, 0, new_row, 1.0, tells, own), -1.0, -1.0)
    return new_row, is_possible


@kernel(inline=True)
def _act(hand, walks, k, size, row):
    """Correct for an own action, and update the weights: B_t+1(h) ~ B_t(h) p(a|h).

    Returns the row of the new weights, -1 if the report gives the action played probability 0 with every possible
    combo.
    """
    action = hand.actions[k]
    seat, played, first_kind, number = action[ACTOR], action[PLAYED], action[FIRST_KIND], action[NUM_KINDS]
    own, before, first = hand.held[seat], walks.weights[row], walks.counts[NUM_ROWS]
    chances = hand.probabilities[first_kind : first_kind + number]
    total = ordered_dot(chances[played], before)
    if not total >= _IMPOSSIBLE:
        return np.int64(-1)
    for kind in range(number):
        walks.rows[first_kind + kind] = chances[kind, own]
    if total >= _CERTAIN and chances[played, own] == 1.0:  # no choice, no luck
        _pass_on(hand, walks, seat, k, size, row)
        return row
    walks.counts[NUM_ROWS] += number + 1
    _add_event(walks, ACTION, k, seat)
    for kind in range(number):
        share, true_share = ordered_dot(chances[kind], before), chances[kind, own]
        if share <= 0.0 and true_share <= 0.0:
            continue
        products = walks.weights[first + kind]
        for combo in range(len(before)):
            products[combo] = before[combo] * chances[kind, combo]
        # A raise drawn from a range of sizes takes the value of the lowest size on both sides of the correction. Any
        # value leaves the score unbiased if both sides take the same value.
        line, factor = hand.after[first_kind + kind], 1.0
        if kind == played:  # the products divided by the share of the action are B_t+1
            factor = max(1.0 / share, 1.0)
        question = _ask(walks, seat, line, size, 0, first + kind, factor, True, own)
        if kind == played:
            _add_part(walks, question, -1.0 / share, -1.0)
        _add_part(walks, question, 1.0, true_share)
    products, after = walks.weights[first + played], walks.weights[first + number]
    for combo in range(len(before)):
        after[combo] = products[combo] / total
    return first + number


@kernel(inline=True)
def _watch(hand, walks, seat, k, size, row):
    """Correct for an opponent's action, by its probabilities with the opponent's true cards."""
    action = hand.actions[k]
    combo, first_kind = hand.held[action[ACTOR]], action[FIRST_KIND]
    taken = hand.probabilities[first_kind + action[PLAYED], combo]
    if taken == 1.0 or taken == 0.0:  # no luck, or a report that contradicts the play
        _pass_on(hand, walks, seat, k, size, row)
        return
    _add_event(walks, OTHER, k, seat)
    for kind in range(action[NUM_KINDS]):
        # The mean less the value of the action that came, in one sum: B is the same before and after.
        share = hand.probabilities[first_kind + kind, combo] - (kind == action[PLAYED])
        if share != 0.0:
            line, tells = hand.after[first_kind + kind], hand.tells[seat]
            question = _ask(walks, seat, line, size, 0, row, abs(share), tells, hand.held[seat])
            _add_part(walks, question, share, share)


@kernel(inline=True)
def _pass_on(hand, walks, seat, k, size, row):
    """Ask for the values after an action that needs no correction.

    No correction contains these values. They are asked for because a value function may compute the values before an
    action as means of the values after the possible actions (`BlueprintValues.sums`).
    """
    _ask(walks, seat, hand.actions[k, AFTER], size, 0, row, 1.0, hand.tells[seat], hand.held[seat])


@kernel
def settle_hand(walks, weighted, single, deal_means, terms, sums):
    """Write the corrections of all events, and each seat's sums.

    Parameters
    ----------
    walks : Walks
    weighted, single : float64[num_questions]
        The answers to all questions about the hand (`ValueFunction.sums`).
    deal_means : float64[num_seats]
        Each seat's mean value over all deals.
    terms : float64[num_events, 2]
        Each event's correction over imaginary hands and that with the true cards. Modified in place.
    sums : float64[num_seats, 6]
        For each seat the sums of chance, own actions and other actions; the same with the true cards follow. Modified
        in place.
    """
    sums[:] = 0.0
    part = 0
    for k in range(walks.counts[NUM_EVENTS]):
        kind, seat = walks.events[k, KIND], walks.events[k, WHOSE]
        chips = deal_means[seat] if kind == DEAL else 0.0
        true_chips = chips
        while part < walks.counts[NUM_PARTS] and walks.parts[part, 0] == k:
            question = walks.parts[part, 1]
            chips += walks.part_factors[part, 0] * weighted[question]
            true_chips += walks.part_factors[part, 1] * single[question]
            part += 1
        terms[k, 0], terms[k, 1] = chips, true_chips
        column = OWN_ACTIONS if kind == ACTION else (OTHER_ACTIONS if kind == OTHER else CHANCE)
        sums[seat, column] += chips
        sums[seat, 3 + column] += true_chips
