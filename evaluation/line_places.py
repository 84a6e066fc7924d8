"""The places of betting lines in a blueprint's tree, and the chips that convert a seat's values from tree to table."""

import numpy as np

from plurispiel.abstraction.actions.translation import Place, ShadowHand
from plurispiel.abstraction.holdem import betting_layout as betting
from plurispiel.agents.blueprint.blueprint import Blueprint
from plurispiel.agents.blueprint.roll_outs import RollOutPlace, place_at
from plurispiel.evaluation._blueprint_values_kernels import CONSTANT, FILLED
from plurispiel.evaluation._hand_plan_kernels import (
    IN_TREE,
    KINDS,
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
        self._is_own_game = lines.rules == blueprint.rules
        self._sizes = [lines.rules.board_size(street) for street in range(lines.rules.num_streets)]
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
        if line.parent is None:
            at = self._hand.at(())
        else:
            at = self._hand.after(self._at[line.parent.number], len(line.actions) - 1, line.actions[-1].action)
        self._at[line.number] = at
        place = place_at(self._hand, at)
        self._add_row(line, place)
        self._add_seats(line, place)

    def _clear(self) -> None:
        self._generation = self._lines.generation
        self._actions: dict[int, list[int]] = {}  # of the tree's decision, by the line's number
        self._at: dict[int, Place] = {}

    def _add_row(self, line: BettingLine, place: RollOutPlace | None) -> None:
        """Write the columns of a line that are the same for all seats."""
        tree, num_seats = self._blueprint.tree, self._lines.rules.num_seats
        parent = index = decides_with = -1
        node = street = seating = 0
        actions: list[int] = []
        if line.parent is not None:
            parent = line.parent.number
            offered, taken = self._actions[parent], line.actions[-1].action
            index = offered.index(taken) if taken in offered else -1
        if place is not None:
            actions = tree.actions(place.node).tolist()
            node, street = place.node, int(tree.street[place.node])
            seating = self._seatings.setdefault(place.seats, len(self._seatings))
            put_in = line.state[betting.CONTRIB : betting.CONTRIB + num_seats]
            in_tree = [place.paid[seat] for seat in place.seats if seat >= 0]
            if put_in == in_tree and self._is_own_game:
                decides_with = self._sizes[street]
        # In the order of the columns.
        common = (parent, index, node, street, decides_with, line.state[betting.ACTOR], len(actions), seating)
        self.rows[line.number, :KINDS] = common
        self._actions[line.number] = actions

    def _add_seats(self, line: BettingLine, place: RollOutPlace | None) -> None:
        """Write the columns and the chips of each seat."""
        state, num_seats = line.state, self._lines.rules.num_seats
        put_in = state[betting.CONTRIB : betting.CONTRIB + num_seats]
        kinds, chips = [FILLED] * num_seats, [(0.0, 0.0, 0.0)] * num_seats
        if place is not None:
            kinds = [IN_TREE] * num_seats
            self.rows[line.number, KINDS + num_seats :] = place.seats
            # A seat's value is the chips that it gets from the tree's pot, scaled to the pot at the table, less its
            # contribution at the table.
            scale = place.pot / sum(place.paid)
            chips = [(place.paid[own], scale, paid) for own, paid in zip(place.seats, put_in, strict=True)]
        for seat, own in enumerate(put_in):
            if state[betting.FOLDED + seat]:
                kinds[seat], chips[seat] = CONSTANT, (0.0, 0.0, -float(own))
            elif state[betting.NUM_LIVE] == 1:
                won = sum(min(own, paid) for paid in put_in) - own
                kinds[seat], chips[seat] = CONSTANT, (0.0, 0.0, float(won))
        self.rows[line.number, KINDS : KINDS + num_seats] = kinds
        self.chips[line.number] = chips
