"""A person's session in the terminal: hands are played, kept and shown until the person leaves."""

import re

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.play.dealing import Dealing, Seating, Table
from plurispiel.tournaments.play.hand_review import HandReview
from plurispiel.tournaments.play.history import PlayHistory
from plurispiel.tournaments.play.luck import RunningResult
from plurispiel.tournaments.play.opponents import MAX_FAULTS, Opponents
from plurispiel.tournaments.play.person import Person
from plurispiel.tournaments.play.screen import Left, Screen
from plurispiel.tournaments.play.table_view import chips_words

_GRID = re.compile(r"g ?(\d{1,3})", re.ASCII)
_AFTER = "next hand? (Enter, g N, q, ?):"
_AFTER_KEYS = ("Enter deals the next hand", "g N shows the strategy of all hands at decision N", "q leave")


class Session:
    """Plays hands between a person and agents.

    Parameters
    ----------
    table : Table
        Game and names.
    person : Person
        The person's seat.
    opponents : Opponents
        The agents.
    history : PlayHistory
        Keeps the hands, and states the number of the next.
    screen : Screen
        Shows the hands.
    """

    def __init__(self, table: Table, person: Person, opponents: Opponents, history: PlayHistory, screen: Screen):
        self._table = table
        self._person = person
        self._opponents = opponents
        self._history = history
        self._screen = screen
        self._dealing = Dealing(table, person, opponents)
        self._result = self._dealing.no_result()
        for kept in history.kept:
            self._result.add(kept.chips, kept.score)

    def play(self, num_hands: int | None = None) -> bool:
        """Play until the person leaves, or `num_hands` hands are played.

        Returns
        -------
        bool
            Whether the last hand was finished. False if the input ended within a hand, or had too many lines that are
            no keys; this hand does not count. After the key to quit, the seat folds or checks to the end of the hand.

        Raises
        ------
        OutputLost
            If the output is lost. A hand that was being played does not count.
        KeyboardInterrupt
            After an interrupt. A hand that was being played does not count.
        RefereeDisagrees
            If OpenSpiel scores a hand differently (a subclass of RuntimeError). The hand does not count.
        """
        self._greet()
        played = 0
        while num_hands is None or played < num_hands:
            number = self._history.next_number
            try:
                review = self._play_hand(number)
                played += 1
                if self._person.has_quit or played == num_hands or not self._stays(review):
                    return True
            except Left as left:
                if left.__cause__ is not None:
                    raise left.__cause__ from None
                # True if the refused lines answered the question after the hand, which was kept by then.
                return self._history.next_number > number
        return True

    @property
    def result(self) -> RunningResult:
        """The person's result over all hands at this table, those of earlier sessions included."""
        return self._result

    def _play_hand(self, number: int) -> HandReview:
        """Play a hand, keep it, and show its end."""
        seating = self._dealing.seating(number)
        self._screen.line()
        self._screen.line(f"hand {number}", "bold")
        self._person.sit(seating.names, self._dealing.adviser_stream(seating))
        hand = self._dealing.play(seating)
        scored = self._dealing.score(hand, seating)
        kept = self._history.keep(hand, seating.names, seating.seat, scored.table)
        self._result.add(kept.chips, kept.score)
        review = HandReview(hand, seating.names, scored.announced)
        review.show(self._screen, number)
        self._show_faults(hand, seating)
        without_luck = chips_words(round(float(self._result.estimates()[-1]), 2))
        self._screen.line(f"this hand: {chips_words(kept.chips)} chips; with the luck removed (AIVAT) {without_luck}")
        self._screen.items(self._result.words())
        return review

    def _greet(self) -> None:
        rules, screen = self._table.rules, self._screen
        posted = "/".join(f"{chips:,}" for chips in sorted({*rules.blinds} - {0}))
        blinds = f"{'blinds' if len({*rules.blinds}) > 1 else 'antes'} {posted}"
        held = rules.stacks or ()
        differ = len({*held}) > 1
        chips_behind = "/".join(f"{chips:,}" for chips in (held if differ else held[:1]))
        stacks = f", stacks {chips_behind}{' by seat' if differ else ''} in every hand" if held else ""
        name = game_name(rules)
        title = "" if "(" in name else f"{name}: "  # a game string is long, and the rest of the line says the same
        screen.line(f"{title}{rules.num_seats} seats, {rules.betting}, {blinds}{stacks}", indent=2)
        others = ", ".join(map(printable, self._table.names[1:]))
        screen.line(f"to your left: {others}", indent=2)
        if self._history.kept:
            screen.line("so far at this table:", indent=2)
            screen.items(self._result.words())

    def _stays(self, review: HandReview) -> bool:
        """Return whether the person wants another hand; show grids as often as asked."""
        while (text := self._screen.ask(_AFTER)) is not None:
            word = text.lower()
            if word in ("", "n"):
                return True
            if word == "q":
                return False
            if word == "?":
                self._screen.items(_AFTER_KEYS)
            elif match := _GRID.fullmatch(word):
                review.show_grid(self._screen, int(match[1]))
            else:
                self._screen.refuse(f"{text[:20]!r} is no key after a hand: Enter deals the next, q leaves")
        return False

    def _show_faults(self, hand: Hand, seating: Seating) -> None:
        faults, retired = self._dealing.faults(hand, seating)
        for name, fault in faults:
            text = f"{name} committed a fault ({fault.kind}), and then only checked or folded: {fault.message}"
            self._screen.line(printable(text), "bad", indent=2)
        for name in retired:
            text = f"{name} has committed {MAX_FAULTS} faults: its seat only folds from now on"
            self._screen.line(printable(text), "bad", indent=2)
