"""The places of betting lines in a blueprint's tree, and the chips that convert a seat's values from tree to table."""

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.holdem import betting_state as betting
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.blueprint.roll_outs import RollOutPlace
from plurispiel.evaluation._blueprint_values_kernels import CONSTANT, FILLED
from plurispiel.evaluation.betting_lines import BettingLine

__all__ = ["IN_TREE", "LinePlace"]

IN_TREE = 0
"""The kind of points whose values come from roll-outs, besides `CONSTANT` and `FILLED`."""


class LinePlace:
    """A line's place in the tree.

    Parameters
    ----------
    rules : HoldemRules
        The game at the table.
    tree : BettingTree
    tree_rules : HoldemRules
        The tree's game.
    line : BettingLine
    place : RollOutPlace or None

    Attributes
    ----------
    place : RollOutPlace or None
    actor : int
        The seat to act; -1 where all betting is over.
    street : int
        The street of the place's node; 0 without a place.
    decides_with : int
        The number of board cards at the tree's decision, if the chips at the table equal those in the tree; else -1,
        as the hand is then not exactly at the decision.
    actions : list of int
        The actions of the tree's decision; empty without a place.
    kinds : list of int
        For each seat `CONSTANT` if it has folded or all others have; else `IN_TREE`, or `FILLED` for values by
        checkdown.
    chips : list of (float, float, float)
        For each seat, its row of `PlannedPoints.chips`.
    """

    __slots__ = ("place", "actor", "street", "decides_with", "actions", "kinds", "chips")

    def __init__(
        self,
        rules: HoldemRules,
        tree: BettingTree,
        tree_rules: HoldemRules,
        line: BettingLine,
        place: RollOutPlace | None,
    ):
        state, num_seats = line.state, rules.num_seats
        put_in = state[betting.CONTRIB : betting.CONTRIB + num_seats]
        self.place = place
        self.actor = state[betting.ACTOR]
        self.street, self.decides_with, self.actions = 0, -1, []
        self.kinds = [FILLED if place is None else IN_TREE] * num_seats
        self.chips = [(0.0, 0.0, 0.0)] * num_seats
        if place is not None:
            self.street, self.actions = int(tree.street[place.node]), tree.actions(place.node).tolist()
            in_tree = [place.paid[seat] for seat in place.seats if seat >= 0]
            if put_in == in_tree and (rules is tree_rules or rules == tree_rules):
                self.decides_with = rules.board_size(self.street)
            # The chips that a seat gets from the tree's pot, scaled to the pot at the table, less its contribution
            # there.
            scale = place.pot / sum(place.paid)
            for seat, (own, chips) in enumerate(zip(place.seats, put_in, strict=True)):
                self.chips[seat] = (place.paid[own], scale, chips)
        for seat, own in enumerate(put_in):
            if state[betting.FOLDED + seat]:
                self.kinds[seat], self.chips[seat] = CONSTANT, (0.0, 0.0, -float(own))
            elif state[betting.NUM_LIVE] == 1:
                won = sum(min(own, chips) for chips in put_in) - own
                self.kinds[seat], self.chips[seat] = CONSTANT, (0.0, 0.0, float(won))

    def has_tree_values(self, seat: int) -> bool:
        """Whether a seat's values are those of the tree's play: at a place, at a hand's end, or after the seat folded.

        Elsewhere they are values by checkdown.
        """
        return self.actor < 0 or self.kinds[seat] != FILLED
