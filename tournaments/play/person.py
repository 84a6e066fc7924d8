"""The person's seat: an agent that shows its view and asks for a key."""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import Action, Agent, Board, Deal, Event, View
from plurispiel.tournaments.play.adviser import HintAdviser
from plurispiel.tournaments.play.prompt import UnknownKey, legal_keys, parse_key, raise_range
from plurispiel.tournaments.play.screen import Left, Screen
from plurispiel.tournaments.play.table_view import Follower, cards_words, street_name, table_lines

HELP = (
    "f fold",
    "c call or check",
    "rN bet or raise to N chips on this street",
    "h half the pot",
    "p the pot",
    "a all-in",
    "t the table again",
    "q fold (or check) to the end of this hand and leave",
    "Ctrl-C leave now: this hand does not count",
)
"""The keys at a decision, with their meanings."""


class Person(Agent):
    """Shows the events of a hand as they come, and asks for an action at each decision.

    All cards and chips that are shown come from the arguments of `restart`, `observe` and `act`, which hold no card
    that is hidden from the seat.

    Attributes
    ----------
    has_quit : bool
        Whether the person has typed ``q``: the seat then folds, or checks, to the end of the hand.
    """

    def __init__(self, screen: Screen, adviser: HintAdviser | None = None):
        self._screen = screen
        self._adviser = adviser
        self._names: Sequence[str] = ()
        self._adviser_rng = np.random.default_rng(0)
        self.has_quit = False

    def sit(self, names: Sequence[str], adviser_rng: np.random.Generator) -> None:
        """Take a seat for the next hand.

        Parameters
        ----------
        names : sequence of str
            The player in each seat.
        adviser_rng : Generator
            The adviser's random stream.
        """
        self._names = names
        self._adviser_rng = adviser_rng

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a hand; `rng` is not used."""
        super().restart(rules, seat, rng)
        self._follower = Follower(rules)
        self._board: tuple[int, ...] = ()
        if self._adviser is not None:
            self._adviser.restart(rules, seat, self._adviser_rng)

    def observe(self, event: Event) -> None:
        """Show an event."""
        if self._adviser is not None:
            self._adviser.observe(event)
        match event:
            case Deal(hole_cards):
                position = seat_positions(self.rules)[self.seat]
                self._screen.line(f"you are {position} with {cards_words(hole_cards)}", "bold")
            case Board(cards, street):
                self._follower.begin_street(street)
                self._board += cards
                pot = sum(self._follower.state.contributions)
                self._screen.line(f"-- {street_name(street)}: {cards_words(self._board)}   pot {pot:,}", "bold")
            case Action(seat, action, street):
                self._follower.begin_street(street)
                self._screen.line(f"{self._who(seat)}: {self._follower.take(action)}", indent=4)

    def act(self, view: View) -> int:
        """Return the action of the key that the person types; ask again until it is legal.

        Raises
        ------
        Left
            If the input has ended, too many lines of a pipe or file were no keys, or the output is lost.
        """
        public = view.public
        if self.has_quit:
            return FOLD if public.can_fold else CALL
        screen = self._screen
        self._show_table(view)
        if self._adviser is not None:
            screen.line(printable(self._adviser.words(view)), "faint", indent=4)
        while (text := screen.ask("your action (? for help):")) is not None:
            match text.lower():
                case "":
                    self._show_keys(view)
                case "?":
                    screen.items(HELP)
                case "t":
                    self._show_table(view)
                case "q":
                    self.has_quit = True
                    return FOLD if public.can_fold else CALL
                case _:
                    try:
                        return parse_key(text, public)
                    except UnknownKey as error:
                        screen.refuse(str(error), indent=2)
        raise Left

    def _who(self, seat: int) -> str:
        return f"  {seat_positions(self.rules)[seat]} {printable(self._names[seat])}"

    def _show_table(self, view: View) -> None:
        self._screen.line()
        self._screen.block(table_lines(view, self._names, self._screen.width))
        self._show_keys(view)

    def _show_keys(self, view: View) -> None:
        items = [f"{key.key} {key.words}" for key in legal_keys(view.public)]
        if (found := raise_range(view.public)) is not None and found[0] < found[1]:
            items.append(f"rN any N from {found[0]:,} to {found[1]:,}")
        self._screen.items(items)
