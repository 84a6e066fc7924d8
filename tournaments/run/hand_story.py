"""The *story* of a hand, a record for the hand viewer: its steps, strategies as grids, and AIVAT corrections.

A *cell* of a grid is here a class of hole cards, such as AKs (`cell_names`).
"""

import base64
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.cards import NUM_SUITS, RANKS, SUITS, card_text, cards_text
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import STREETS, HoldemRules
from plurispiel.evaluation.announced import Announced
from plurispiel.tournaments.run.scores import CHANCE_ONLY, FULL
from plurispiel.tournaments.run.witness import Told

FULL_BYTE = 255
"""The byte that stands for a share of 1 in a grid."""


def hand_story(told: Told) -> dict[str, Any]:
    """Return the story of a hand as plain values, which JSON can hold.

    Returns
    -------
    dict
        ``bb`` (the big blind in chips), ``positions`` and ``agents`` (name of the position and agent number of each
        seat), ``cards`` (of each seat), ``hole_size`` (hole cards of a seat), ``board``, ``board_size`` (board cards of
        the game), ``stacks``, ``payoffs`` and ``estimates`` of each seat in chips, and ``steps``. ``stacks`` is None in
        games without stacks, as in limit hold'em; ``estimates`` is empty if the hand was not scored.

        A step holds ``kind`` (deal, action, board, end), ``text``, ``street``, ``board`` (number of board cards dealt),
        ``paid`` (contribution of each seat), ``folded`` (0 or 1 for each seat) and ``terms``, the AIVAT terms of each
        seat at this step in chips. An action also holds ``seat``, ``action`` and, if the strategy was announced,
        ``grid`` (`decision_grid`).

        Each term and estimate is a pair: for AIVAT with all corrections (`FULL`), and for its reduced form
        (`CHANCE_ONLY`). `judged` chooses one of the two. The estimate with all corrections is None for a seat whose
        strategy is not known.
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
        "positions": list(seat_positions(rules)),
        "agents": list(told.numbers),
        "cards": [
            [card_text(card) for card in hand.deck[seat * size : (seat + 1) * size]] for seat in range(rules.num_seats)
        ],
        "hole_size": size,
        "board": [card_text(card) for card in board[:seen]],
        "board_size": rules.num_board_cards,
        "stacks": None if rules.stacks is None else list(rules.stacks),
        "payoffs": list(hand.payoffs),
        "estimates": [(score.estimate, score.reduced) for score in told.scores],
        "steps": steps,
    }


def judged(story: dict[str, Any], forms: Sequence[str | None]) -> dict[str, Any]:
    """Return a story in which one form of AIVAT is chosen for each seat's terms and estimate.

    Parameters
    ----------
    forms : sequence of str or None
        The form of AIVAT in each agent's scores in the run, by agent number (`scores.FULL`, `CHANCE_ONLY`); None in a
        run without AIVAT.

    Returns
    -------
    dict
        The story with ``forms``, the form of each seat. The form is `FULL` if the seat has an estimate with all
        corrections and its agent's form is not `CHANCE_ONLY`. Otherwise the form is `CHANCE_ONLY`, or None for a seat
        without a score. Each pair is replaced by a number; without a score, terms are 0 and the estimate is None.
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
    """Return the strategy of a decision as a grid of classes of hole cards, with the action that was played.

    Parameters
    ----------
    state : BettingState
        The state before the action.
    announced : Announced
        The strategy of all combos, and the action that was played.
    reach, is_free, own
        As in `strategy_grid`.

    Returns
    -------
    dict
        As from `strategy_grid`, with ``played``, the index of the action that was played.
    """
    kinds = list(zip(announced.actions, announced.highest, strict=True))
    return strategy_grid(state, kinds, announced.probabilities, reach, is_free, own) | {"played": announced.played}


def strategy_grid(
    state: BettingState,
    kinds: Sequence[tuple[int, int]],
    probabilities: np.ndarray,
    reach: np.ndarray,
    is_free: np.ndarray,
    own: int | None,
) -> dict[str, Any]:
    """Return a strategy as a grid of classes of hole cards.

    Parameters
    ----------
    state : BettingState
        The state before the action.
    kinds : sequence of (int, int)
        The lowest and the highest action of each kind of action.
    probabilities : float64[num_kinds, num_combos]
        The probability of each kind with each combo.
    reach : float64[num_combos]
        The seat's own reach with each combo; 0 for combos that share a card with the board.
    is_free : bool[num_combos]
        Combos that share no card with the board.
    own : int or None
        The seat's actual combo; None if it is not known.

    Returns
    -------
    dict
        ``actions`` (the text of each kind), ``kinds`` (0 fold, 1 check or call, 2 raise), ``own`` (probability of each
        kind with the actual combo, or None), ``cell`` (index of the actual combo's cell, or None), ``totals``
        (probability of each kind over the whole range; None for a range of weight 0) and ``shares``.

        ``shares`` is the base64 text of uint8[num_cells, 1 + num_kinds], in units of 1/255. A row holds the mean reach
        of the cell's free combos, and then the reach-weighted mean probability of each kind. With reach 0, all free
        combos of the cell have equal weights. The row of a cell without free combos is all 0.
    """
    cells = combo_cells(state.rules)
    num_cells = len(cell_names(state.rules))
    num_free = np.bincount(cells[is_free], minlength=num_cells)
    cell_reach = np.bincount(cells, weights=reach, minlength=num_cells)
    shares = np.zeros((num_cells, 1 + len(kinds)))
    shares[:, 0] = cell_reach / np.maximum(num_free, 1)
    # A cell with reach 0 still shows its strategy.
    weights = np.where((cell_reach > 0.0)[cells], reach, is_free.astype(float))
    total = np.bincount(cells, weights=weights, minlength=num_cells)
    for k, row in enumerate(probabilities):
        summed = np.bincount(cells, weights=weights * row, minlength=num_cells)
        shares[:, 1 + k] = summed / np.where(total > 0, total, 1)
    whole = float(reach.sum())
    return {
        "actions": [action_text(state, low, high) for low, high in kinds],
        "kinds": [min(low, 2) for low, _ in kinds],
        "own": None if own is None else [round(float(p), 4) for p in probabilities[:, own]],
        "cell": None if own is None else int(cells[own]),
        "totals": [round(float(row @ reach) / whole, 4) if whole > 0.0 else None for row in probabilities],
        "shares": base64.b64encode(np.rint(shares * FULL_BYTE).astype(np.uint8).tobytes()).decode(),
    }


def grid_shares(grid: dict[str, Any]) -> np.ndarray:
    """Return the shares of a grid in 0..1: float64[num_cells, 1 + num_actions]."""
    shares = np.frombuffer(base64.b64decode(grid["shares"]), dtype=np.uint8)
    return shares.reshape(-1, 1 + len(grid["actions"])) / FULL_BYTE


@functools.lru_cache(maxsize=16)
def cell_names(rules: HoldemRules) -> list[str]:
    """Return the names of a grid's cells, row by row, with the highest card rank first.

    With two hole cards, suited hands are above the diagonal and offsuit hands below. With one hole card, each row is a
    rank and each column a suit.
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
    """Return the index of each combo's cell in `cell_names`: int64[num_combos]."""
    cards = rules.combos.astype(np.int64)
    ranks, suits = rules.num_ranks - 1 - cards // NUM_SUITS, cards % NUM_SUITS
    if rules.num_hole_cards == 1:
        return ranks[:, 0] * rules.num_suits + suits[:, 0]
    high, low = ranks.min(axis=1), ranks.max(axis=1)
    is_suited = suits[:, 0] == suits[:, 1]
    return np.where(is_suited, high * rules.num_ranks + low, low * rules.num_ranks + high)


def action_text(state: BettingState, action: int, highest: int | None = None) -> str:
    """Return an action in words, given the state before the action.

    With `highest` above `action`, the words name the range of raises, from `action` to `highest` chips.
    """
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
    """Return a story as lines of text, for readers of the report without scripts; `names` are by agent number."""
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
