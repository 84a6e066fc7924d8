"""Lines of betting: the actions of hands from their start on, with the betting states that they lead to."""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action

__all__ = ["BettingLine", "BettingLines"]

_MAX_LINES = 20_000


class BettingLine:
    """Actions from the start of a hand, shared by all hands that begin with them.

    Attributes
    ----------
    actions : tuple of Action
    state : list of int
        The betting state (`betting_layout`) after the actions. Nobody may write to it.
    number : int
        The line's number among the lines of `BettingLines`, until these are forgotten.
    parent : BettingLine or None
        The line without the last action; None for the line without actions.
    following : dict of int to BettingLine
        By action, the lines with this action added. Only lines that were asked for are there.
    """

    __slots__ = ("actions", "state", "number", "parent", "following")

    def __init__(
        self, actions: tuple[Action, ...], state: list[int], number: int = 0, parent: "BettingLine | None" = None
    ):
        self.actions = actions
        self.state = state
        self.number = number
        self.parent = parent
        self.following: dict[int, BettingLine] = {}


class BettingLines:
    """The lines of one game, kept for later hands, since most lines before the flop occur in many hands.

    Parameters
    ----------
    rules : HoldemRules

    Attributes
    ----------
    rules : HoldemRules
    generation : int
        Changes when all lines are forgotten, after which new lines get the numbers of old ones.
    """

    def __init__(self, rules: HoldemRules):
        self.rules = rules
        self.generation = 0
        self._clear()

    def along(self, actions: Sequence[Action]) -> list[BettingLine]:
        """Return the line before every action of a hand, and after the last action.

        Earlier lines are forgotten if they are too many.
        """
        if len(self._lines) > _MAX_LINES:
            self._clear()
        found = [self._lines[0]]
        for _, action, _ in actions:
            found.append(self.after(found[-1], action))
        return found

    def after(self, line: BettingLine, action: int) -> BettingLine:
        """Return the line with one more action, which must be legal."""
        found = line.following.get(action)
        if found is None:
            state = BettingState(self.rules, np.array(line.state, dtype=np.int64))
            taken = Action(state.actor, action, state.street)
            state.apply_legal(action)
            found = line.following[action] = BettingLine(
                (*line.actions, taken), state.array.tolist(), len(self._lines), line
            )
            self._lines.append(found)
        return found

    def numbered(self, number: int) -> BettingLine:
        """Return the line with a number."""
        return self._lines[number]

    def _clear(self) -> None:
        self._lines = [BettingLine((), BettingState(self.rules).array.tolist())]
        self.generation += 1
