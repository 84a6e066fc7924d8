"""A hand as it is told to one player in the ACPC's lines, and the player's answers."""

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Board, Deal, Event, PublicState
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.evaluation.replay import RAISE
from plurispiel.tournaments.formats.match_state import read_action, write_match_state

MAX_IGNORED = 16
"""Largest number of ignored lines in a hand. A line that does not answer the last state is ignored, as it is by the
ACPC's dealer."""


class ToldHand:
    """The lines of one hand to one seat: a state at the beginning, after every action, and at the end.

    Parameters
    ----------
    rules : HoldemRules
        The game, which has to be one without board cards before the first betting.
    seat : int
        The player's seat.
    number : int
        The number of the hand in the match.

    Attributes
    ----------
    line : str
        The last state, without a newline; empty before the first state.
    """

    def __init__(self, rules: HoldemRules, seat: int, number: int):
        self.line = ""
        self._rules = rules
        self._seat = seat
        self._number = number
        self._betting = BettingState(rules)
        self._hole_cards: tuple[int, ...] = ()
        self._board: tuple[int, ...] = ()
        self._actions: list[Action] = []
        self._street = 0
        self._ignored = 0

    def observe(self, event: Event) -> bool:
        """Take in an event, and return whether `line` is a new state.

        After an action that ends a street, `line` is new only after the event `Board`, because the state has the board
        of the next street. The last state of a hand comes from `end`.
        """
        if isinstance(event, Deal):
            self._hole_cards = event.hole_cards
        elif isinstance(event, Board):
            self._board += event.cards
            self._street = event.street
        else:
            self._actions.append(event)
            self._betting.apply_legal(event.action)
        if self._betting.is_over or self._betting.street != self._street:
            return False
        self._tell([() if seat != self._seat else self._hole_cards for seat in range(self._rules.num_seats)])
        return True

    def end(self, end: HandEnd) -> None:
        """Take in the end of the hand: `line` becomes its last state."""
        self._actions, self._street, self._board = list(end.actions), end.street, end.board
        shown = list(end.hole_cards)
        shown[self._seat] = self._hole_cards
        self._tell(shown)

    def renumber(self, number: int) -> None:
        """Change the number of the hand, also in the last state, for a new process that counts hands from 0."""
        head, _, rest = self.line.split(":", 3)[1:]
        self._number = number
        self.line = f"MATCHSTATE:{head}:{number}:{rest}"

    def answer(self, line: str, public: PublicState) -> int | None:
        """Return the action in a player's line; None if the line does not answer the last state.

        Raises
        ------
        AgentFault
            If the action is malformed (``illegal``), or too many lines were ignored (``protocol``).
        """
        if line.startswith(f"{self.line}:"):
            try:
                action = read_action(line[len(self.line) + 1 :], self._rules)
            except ValueError as error:
                raise AgentFault("illegal", str(error)) from None
            return action if action != RAISE else public.max_raise or 2  # where no raise is legal, 2 is illegal, too
        self._ignored += 1
        if self._ignored > MAX_IGNORED:
            text = f"more than {MAX_IGNORED} lines in a hand do not answer its last state"
            raise AgentFault("protocol", f"{text}; the latest such line is {line[:80]!r}")
        return None

    def _tell(self, seen: list[tuple[int, ...]]) -> None:
        self.line = write_match_state(
            self._rules, self._seat, self._number, self._actions, self._street, seen, self._board
        )
