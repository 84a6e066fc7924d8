"""The story of a hand for the viewer: its steps, the strategies as grids, and the AIVAT corrections.

A *cell* of a grid is a class of hole cards, such as AKs (`cell_names`).
"""

import base64
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import NUM_SUITS, RANKS, SUITS, card_text, cards_text
from plurispiel.abstraction.holdem.positions import position_names
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.evaluation.aivat import Announced
from plurispiel.tournaments.run.scores import CHANCE_ONLY, FULL
from plurispiel.tournaments.run.witness import Told

FULL_BYTE = 255
"""The byte that stands for 1 in a grid."""


def hand_story(told: Told) -> dict[str, Any]:
    """Return a hand as plain values: chips as numbers, grids as text.

    Returns
    -------
    dict
        ``bb, positions, agents, cards, board, board_size, stacks, payoffs, estimates, steps``. A step holds ``kind``
        (deal, action, board, end), ``text``, ``street``, ``board`` (number of cards dealt), ``paid`` and ``folded``
        by seat; an action also ``seat``, ``action`` and, if announced, ``grid`` (`decision_grid`). ``terms`` are the
        AIVAT terms of each seat at this step, in chips. Terms and estimates are pairs: for AIVAT with all corrections
        (`FULL`), and for its reduced form (`CHANCE_ONLY`); `judged` chooses one of the two. An estimate may be None.
    """
    hand, rules = told.hand, told.hand.rules
    size = rules.num_hole_cards
    state = BettingState(rules)
    steps = [_step("deal", _deal_text(rules), state, 0, rules.board_size(0))]
    events = {("deal", 0): 0}  # index of the step, by kind and number of earlier actions
    seen = rules.board_size(0)
    board = hand.deck[rules.num_seats * size :].tolist()
    decisions = [0] * rules.num_seats
    ranges = [np.ones(rules.num_combos) for _ in range(rules.num_seats)]
    for number, action in enumerate(hand.actions):
        if rules.board_size(action.street) > seen:
            seen, since = rules.board_size(action.street), seen
            events["board", number] = len(steps)
            steps.append(_step("board", cards_text(board[since:seen]), state, action.street, seen))
        before = state.copy()
        state.apply_legal(action.action)
        step = _step("action", action_text(before, action.action), state, action.street, seen)
        step |= {"seat": action.seat, "action": action.action}
        said = told.announced[action.seat]
        if said is not None:
            announced = said[decisions[action.seat]]
            free = rules.free_combos(board[:seen])
            own = rules.combo_id(hand.deck[action.seat * size : (action.seat + 1) * size].tolist())
            step["grid"] = decision_grid(before, announced, ranges[action.seat] * free, free, own)
            ranges[action.seat] = ranges[action.seat] * announced.probabilities[announced.played]
        decisions[action.seat] += 1
        events["action", number] = len(steps)
        steps.append(step)
    last = len(hand.actions)
    if hand.showdown and seen < len(board):
        events["board", last] = len(steps)
        street = rules.num_streets - 1
        steps.append(_step("board", cards_text(board[seen:]), state, street, len(board)))
        seen = len(board)
    events["showdown", last] = len(steps)
    steps.append(_step("end", "showdown" if hand.showdown else "all others folded", state, steps[-1]["street"], seen))
    _add_terms(steps, events, told)
    return {
        "bb": rules.big_blind,
        "positions": position_names(rules.num_seats),
        "agents": list(told.numbers),
        "cards": [
            [card_text(card) for card in hand.deck[seat * size : (seat + 1) * size]] for seat in range(rules.num_seats)
        ],
        "board": [card_text(card) for card in board[:seen]],
        "board_size": rules.num_board_cards,
        "stacks": None if rules.stacks is None else list(rules.stacks),
        "payoffs": list(hand.payoffs),
        "estimates": [(score.estimate, score.reduced) for score in told.scores],
        "steps": steps,
    }


def judged(story: dict[str, Any], forms: Sequence[str | None]) -> dict[str, Any]:
    """Return a story with the terms and estimates in the form that the score of each seat's agent has.

    Parameters
    ----------
    forms : sequence of str or None
        The corrections in each agent's scores (`scores.FULL`, `CHANCE_ONLY`); None without AIVAT.

    Returns
    -------
    dict
        The story with ``forms`` by seat (None if not scored), and a number or None in place of each pair. Terms are 0
        for seats that are not scored.
    """
    estimates = story["estimates"] or [(None, None)] * len(story["agents"])
    seat_forms: list[str | None] = []
    for number, (whole, reduced) in zip(story["agents"], estimates, strict=True):
        is_full = whole is not None and forms[number] != CHANCE_ONLY
        seat_forms.append(None if reduced is None else FULL if is_full else CHANCE_ONLY)

    def chosen(pairs: Sequence) -> list[float | None]:
        both = zip(pairs, seat_forms, strict=True)
        return [None if form is None else pair[0 if form == FULL else 1] for pair, form in both]

    steps = [step | {"terms": [chips or 0.0 for chips in chosen(step["terms"])]} for step in story["steps"]]
    return story | {"forms": seat_forms, "estimates": chosen(estimates), "steps": steps}


def decision_grid(
    state: BettingState, announced: Announced, reach: np.ndarray, is_free: np.ndarray, own: int
) -> dict[str, Any]:
    """Return a strategy as a grid of classes of hole cards.

    Parameters
    ----------
    state : BettingState
        The state before the action.
    announced : Announced
        The strategy of all combos, and the action that was played.
    reach : float64[num_combos]
        The seat's own reach with each combo; 0 for combos that share a card with the board.
    is_free : bool[num_combos]
        Combos that share no card with the board.
    own : int
        The seat's actual combo.

    Returns
    -------
    dict
        ``actions`` (labels), ``kinds`` (0 fold, 1 check or call, 2 raise), ``played`` (index of the action), ``own``
        (probabilities of the actual combo), ``cell`` (index of the actual combo's cell), ``totals`` (probabilities over
        the whole range; None if its reach is 0) and ``shares``: base64 of uint8[num_cells, 1 + num_actions] in 1/255,
        for each cell the mean reach of its free combos, then their reach-weighted probabilities of the actions. A cell
        without free combos is all 0.
    """
    cells = combo_cells(state.rules)
    num_cells = len(cell_names(state.rules))
    num_free = np.bincount(cells[is_free], minlength=num_cells)
    cell_reach = np.bincount(cells, weights=reach, minlength=num_cells)
    shares = np.zeros((num_cells, 1 + len(announced.actions)))
    shares[:, 0] = cell_reach / np.maximum(num_free, 1)
    # A cell with reach 0 still shows its strategy: all its free combos have equal weights.
    weights = np.where((cell_reach > 0.0)[cells], reach, is_free.astype(float))
    total = np.bincount(cells, weights=weights, minlength=num_cells)
    for k, row in enumerate(announced.probabilities):
        summed = np.bincount(cells, weights=weights * row, minlength=num_cells)
        shares[:, 1 + k] = summed / np.where(total > 0, total, 1)
    whole = float(reach.sum())
    return {
        "actions": [
            action_text(state, low, high) for low, high in zip(announced.actions, announced.highest, strict=True)
        ],
        "kinds": [min(low, 2) for low in announced.actions],
        "played": announced.played,
        "own": [round(float(p), 4) for p in announced.probabilities[:, own]],
        "cell": int(cells[own]),
        "totals": [round(float(row @ reach) / whole, 4) if whole > 0.0 else None for row in announced.probabilities],
        "shares": base64.b64encode(np.rint(shares * FULL_BYTE).astype(np.uint8).tobytes()).decode(),
    }


def grid_shares(grid: dict[str, Any]) -> np.ndarray:
    """Return the shares of a grid in 0..1: float64[num_cells, 1 + num_actions]."""
    shares = np.frombuffer(base64.b64decode(grid["shares"]), dtype=np.uint8)
    return shares.reshape(-1, 1 + len(grid["actions"])) / FULL_BYTE


@functools.lru_cache(maxsize=16)
def cell_names(rules: HoldemRules) -> list[str]:
    """Return the names of a grid's cells, row by row, aces first.

    With two hole cards, suited hands are above the diagonal, offsuit hands below; with one, columns are suits.
    """
    ranks = RANKS[: rules.num_ranks][::-1]
    if rules.num_hole_cards == 1:
        return [rank + suit for rank in ranks for suit in SUITS[: rules.num_suits]]
    return [
        high + low + ("" if row == column else "s" if column > row else "o")
        for row in range(len(ranks))
        for column in range(len(ranks))
        for high, low in [(ranks[min(row, column)], ranks[max(row, column)])]
    ]


def cells_across(rules: HoldemRules) -> int:
    """Return the number of columns of a grid."""
    return rules.num_suits if rules.num_hole_cards == 1 else rules.num_ranks


@functools.lru_cache(maxsize=16)
def combo_cells(rules: HoldemRules) -> np.ndarray:
    """Return the cell of each combo: int64[num_combos]."""
    cards = rules.combos.astype(np.int64)
    ranks, suits = rules.num_ranks - 1 - cards // NUM_SUITS, cards % NUM_SUITS
    if rules.num_hole_cards == 1:
        return ranks[:, 0] * rules.num_suits + suits[:, 0]
    high, low = ranks.min(axis=1), ranks.max(axis=1)
    is_suited = suits[:, 0] == suits[:, 1]
    return np.where(is_suited, high * rules.num_ranks + low, low * rules.num_ranks + high)


def action_text(state: BettingState, action: int, highest: int | None = None) -> str:
    """Return an action in words, given the state before it; with `highest`, all raises to `action` up to that."""
    if action == FOLD:
        return "fold"
    paid = state.contributions
    asked = max(paid) - paid[state.actor]
    if action == CALL:
        stacks = state.rules.stacks
        price = asked if stacks is None else min(asked, stacks[state.actor] - paid[state.actor])
        return f"call {price:,}" if price else "check"
    everything = state.rules.stacks is not None and action == state.rules.stacks[state.actor]
    word = "all-in" if everything else "raise to"
    if highest is not None and highest > action:
        return f"raise to {action:,}–{highest:,}"
    return f"{word} {action:,}"


def story_text(story: dict[str, Any], names: Sequence[str]) -> str:
    """Return a story as lines of text, for readers of the page without scripts."""
    bb = story["bb"]
    lines = []
    for seat, position in enumerate(story["positions"]):
        who = f"{position:5} {names[story['agents'][seat]]}"
        lines.append(f"{who:32} {''.join(story['cards'][seat]):6} {story['payoffs'][seat] / bb:+9.2f} bb")
    for step in story["steps"]:
        if step["kind"] == "action":
            lines.append(f"  {story['positions'][step['seat']]:5} {step['text']}")
        elif step["kind"] == "board":
            lines.append(f"{STREETS[min(step['street'], 3)]}: {step['text']}, pot {sum(step['paid']) / bb:g} bb")
        else:
            lines.append(f"{step['text']}")
    return "\n".join(lines)


def _step(kind: str, text: str, state: BettingState, street: int, seen: int) -> dict[str, Any]:
    return {
        "kind": kind,
        "text": text,
        "street": street,
        "board": seen,
        "paid": list(state.contributions),
        "folded": [int(folded) for folded in state.folded],
    }


def _deal_text(rules: HoldemRules) -> str:
    return "blinds " + "/".join(f"{blind:,}" for blind in sorted(set(rules.blinds) - {0}))


def _add_terms(steps: list[dict[str, Any]], events: dict[tuple[str, int], int], told: Told) -> None:
    """Add to each step the AIVAT terms of every seat. `steps` are modified in place."""
    for step in steps:
        step["terms"] = [[0.0, 0.0] for _ in told.numbers]
    for seat, score in enumerate(told.scores):
        for term in score.terms:
            kind = "action" if term.kind == "other" else term.kind
            found = steps[events[kind, term.num_actions]]["terms"][seat]
            found[0] += round(term.chips, 6)
            found[1] += round(term.true_chips, 6) if term.kind in ("deal", "board", "other") else 0.0
