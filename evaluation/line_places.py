"""The places of betting lines in a blueprint's tree, and the chips that convert a seat's values from tree to table."""

import numpy as np

from plurispiel.abstraction.actions.translation import ShadowHand
from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.roll_outs import RollOutPlace, find_place
from plurispiel.evaluation._blueprint_values_kernels import CONSTANT, FILLED
from plurispiel.evaluation._hand_plan_kernels import (
    ACTOR,
    DECIDES_WITH,
    IN_TREE,
    INDEX,
    KINDS,
    NODE,
    NUM_ACTIONS,
    PARENT,
    SEATING,
    STREET,
)
from plurispiel.evaluation.betting_lines import BettingLine, BettingLines

__all__ = ["LinePlaces"]

_FIRST_LINES = 64


class LinePlaces:
    """The places of the lines of one game, in tables with a row for each line, found by the line's number.

    Parameters
    ----------
    lines : BettingLines
        The lines of the game at the table.
    blueprint : Blueprint
    hand : ShadowHand
        Finds the positions of the game's hands in the blueprint's tree.
    seatings : dict of tuple to int
        The number of each *seating* so far; new ones are added. A seating gives the tree's seat of each seat at the
        table. The numbers stay valid when lines are forgotten, because `KnownValues` keeps groups by seating.

    Attributes
    ----------
    rows : int64[num_rows, 8 + 2 * num_seats]
        The columns of each line that was added:

        - `PARENT`: the number of the line without the last action, -1 for the line without actions;
        - `INDEX`: the index of the last action among the actions of the tree's decision before it, -1 if the tree does
          not have the action there;
        - `NODE`, `STREET`: the tree's node and its street;
        - `DECIDES_WITH`: the number of board cards at the node if the rules and the chips put in are equal at the table
          and in the tree; else -1, as the hand is then not exactly at the node;
        - `ACTOR`: the seat to act, -1 where all betting is over;
        - `NUM_ACTIONS`: the number of actions at the node, 0 without a place;
        - `SEATING`: the number of the seating;
        - from `KINDS` on, for each seat: `CONSTANT` if the seat or all others have folded, else `IN_TREE` if the line
          has a place in the tree, else `FILLED`, for values by checkdown;
        - last, for each seat at the table, its seat in the tree.
    chips : float64[num_rows, num_seats, 3]
        For each seat, its row of `PlannedPoints.chips`.
    """

    def __init__(
        self, lines: BettingLines, blueprint: Blueprint, hand: ShadowHand, seatings: dict[tuple[int, ...], int]
    ):
        self._seatings = seatings
        self._lines = lines
        self._blueprint = blueprint
        self._hand = hand
        num_seats = lines.rules.num_seats
        self.rows = np.empty((_FIRST_LINES, KINDS + 2 * num_seats), np.int64)
        self.chips = np.empty((_FIRST_LINES, num_seats, 3))
        self._clear()

    def add(self, line: BettingLine) -> None:
        """Add a line, unless it was added before."""
        if self._lines.generation != self._generation:
            self._clear()
        if line.number in self._actions:
            return
        if line.parent is not None:
            self.add(line.parent)
        if line.number >= len(self.rows):
            more = line.number + 1
            self.rows = np.concatenate([self.rows, np.empty((more, *self.rows.shape[1:]), np.int64)])
            self.chips = np.concatenate([self.chips, np.empty((more, *self.chips.shape[1:]))])
        place = find_place(self._hand, tuple([action for _, action, _ in line.actions]))
        self._add_row(line, place)
        self._add_seats(line, place)

    def _clear(self) -> None:
        self._generation = self._lines.generation
        self._actions: dict[int, list[int]] = {}  # of the tree's decision, by the line's number

    def _add_row(self, line: BettingLine, place: RollOutPlace | None) -> None:
        """Write the columns of a line that are the same for all seats."""
        tree, tree_rules, rules = self._blueprint.tree, self._blueprint.rules, self._lines.rules
        row = self.rows[line.number]
        row[PARENT] = row[INDEX] = row[DECIDES_WITH] = -1
        row[NODE] = row[STREET] = row[SEATING] = 0
        row[ACTOR] = line.state[betting.ACTOR]
        actions: list[int] = []
        if line.parent is not None:
            row[PARENT] = line.parent.number
            offered, taken = self._actions[line.parent.number], line.actions[-1].action
            row[INDEX] = offered.index(taken) if taken in offered else -1
        if place is not None:
            actions = tree.actions(place.node).tolist()
            row[NODE], row[STREET] = place.node, tree.street[place.node]
            row[SEATING] = self._seatings.setdefault(place.seats, len(self._seatings))
            put_in = line.state[betting.CONTRIB : betting.CONTRIB + rules.num_seats]
            in_tree = [place.paid[seat] for seat in place.seats if seat >= 0]
            if put_in == in_tree and (rules is tree_rules or rules == tree_rules):
                row[DECIDES_WITH] = rules.board_size(int(row[STREET]))
        row[NUM_ACTIONS] = len(actions)
        self._actions[line.number] = actions

    def _add_seats(self, line: BettingLine, place: RollOutPlace | None) -> None:
        """Write the columns and the chips of each seat."""
        state, num_seats = line.state, self._lines.rules.num_seats
        put_in = state[betting.CONTRIB : betting.CONTRIB + num_seats]
        kinds = self.rows[line.number, KINDS : KINDS + num_seats]
        chips = self.chips[line.number]
        kinds[:], chips[:] = FILLED, 0.0
        if place is not None:
            kinds[:] = IN_TREE
            self.rows[line.number, KINDS + num_seats :] = place.seats
            # A seat's value is the chips that it gets from the tree's pot, scaled to the pot at the table, less its
            # contribution at the table.
            chips[:, 0] = [place.paid[own] for own in place.seats]
            chips[:, 1], chips[:, 2] = place.pot / sum(place.paid), put_in
        for seat, own in enumerate(put_in):
            if state[betting.FOLDED + seat]:
                kinds[seat], chips[seat] = CONSTANT, (0.0, 0.0, -float(own))
            elif state[betting.NUM_LIVE] == 1:
                won = sum(min(own, paid) for paid in put_in) - own
                kinds[seat], chips[seat] = CONSTANT, (0.0, 0.0, float(won))
