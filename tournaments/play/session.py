"""A person's session at a table: hands are dealt, played, refereed, scored, kept and shown until the person leaves."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from plurispiel.abstraction.holdem.openspiel import game_name
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat
from plurispiel.evaluation.announced import Announced
from plurispiel.evaluation.hand import Hand, play_hand
from plurispiel.evaluation.referee import Referee
from plurispiel.evaluation.streams import Keyed, Streams
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.play.hand_review import HandReview
from plurispiel.tournaments.play.history import PlayHistory
from plurispiel.tournaments.play.luck import RunningResult, TableScore, table_score
from plurispiel.tournaments.play.opponents import MAX_FAULTS, Opponents
from plurispiel.tournaments.play.person import Person
from plurispiel.tournaments.play.screen import Left, Screen
from plurispiel.tournaments.play.table_view import chips_words

YOU = "you"
"""The person's name."""

_KEY_BITS = 128
_GRID = re.compile(r"g ?(\d{1,3})", re.ASCII)
_AFTER = "next hand? (Enter, g N, q, ?):"
_AFTER_KEYS = ("Enter deals the next hand", "g N shows decision N with all hands", "q leave")


@dataclass(frozen=True)
class Table:
    """The properties of a table that stay the same from hand to hand.

    Attributes
    ----------
    rules : HoldemRules
        The game.
    names : tuple of str
        The person's name and those of the opponents, clockwise.
    values : str
        The name of AIVAT's value function (`value_choice.make_value_function`).
    seed : int or None
        The seed of all cards; None draws a new secret key.
    """

    rules: HoldemRules
    names: tuple[str, ...]
    values: str
    seed: int | None = None


class Session:
    """Plays hands between a person and agents.

    After each hand the button moves to the next player. All stacks are full again at the start of a hand.

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
        rules = table.rules
        key = secrets.randbits(_KEY_BITS) if table.seed is None else table.seed
        self._streams = Streams(rules.num_seats, Keyed([(0, key)]), once=True)
        self._referee = Referee(rules)
        self._aivat = Aivat(rules, make_value_function(table.values, rules))
        self._onlooker = Aivat(rules)  # asks agents from outside, whose reports are shown but correct no score
        self._asks_outsiders = not all(opponents.are_trusted)
        self._result = RunningResult(rules.big_blind, [True, *map(self._is_silent, range(1, rules.num_seats))])
        for kept in history.kept:
            self._result.add(kept.chips, kept.score)

    def play(self, num_hands: int | None = None) -> bool:
        """Play until the person leaves, or `num_hands` hands are played.

        Returns
        -------
        bool
            Whether the last hand was finished; False if the person left within a hand, which then does not count.

        Raises
        ------
        OutputLost
            If the output is lost. A hand that was being played does not count.
        KeyboardInterrupt
            After an interrupt. A hand that was being played does not count.
        RefereeDisagrees
            A RuntimeError: OpenSpiel scores a hand differently. The hand does not count.
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
                # True only if a pipe gave too many lines that are no keys after the hand was finished and kept.
                return self._history.next_number > number
        return True

    @property
    def result(self) -> RunningResult:
        """The person's result over all hands at this table, those of earlier sessions included."""
        return self._result

    def _play_hand(self, number: int) -> HandReview:
        """Play a hand, keep it, and show its end."""
        rules, num_seats = self._table.rules, self._table.rules.num_seats
        players: list[Agent] = [self._person, *self._opponents.agents]
        turn = [(number + seat) % num_seats for seat in range(num_seats)]  # the player in each seat; the button moves
        names = [self._table.names[player] for player in turn]
        seat = turn.index(0)
        group = (number,)
        self._screen.line()
        self._screen.line(f"hand {number}", "bold")
        self._person.sit(names, self._streams.adviser(group))
        seated = [players[player] for player in turn]
        hand = play_hand(rules, seated, self._streams.decks(rules, group)[0], next(iter(self._streams.seats(group))))
        self._referee.check(hand)
        if own := [fault for fault in hand.faults if fault.seat == seat]:
            raise RuntimeError(f"the person's seat failed: {own[0].message}")
        score, announced = self._score(hand, seated, turn, group)
        kept = self._history.keep(hand, names, seat, score)
        self._result.add(kept.chips, kept.score)
        review = HandReview(hand, names, announced)
        review.show(self._screen, number)
        self._show_faults(hand, turn)
        without_luck = chips_words(round(float(self._result.estimates()[-1]), 2))
        self._screen.line(f"this hand: {chips_words(kept.chips)} chips; with the luck removed (AIVAT) {without_luck}")
        self._screen.items(self._result.words())
        return review

    def _score(
        self, hand: Hand, seated: Sequence[Agent], turn: Sequence[int], group: tuple[int]
    ) -> tuple[TableScore, list[list[Announced] | None]]:
        """Return the scores of the hand, and the strategies that the seats announced."""
        trusted = [seat for seat, player in enumerate(turn) if player and self._opponents.are_trusted[player - 1]]
        tellers = [agent if seat in trusted else Agent() for seat, agent in enumerate(seated)]
        self._aivat.restart(self._streams.values(group))
        scores = self._aivat.scores(hand, tellers, trusted)
        announced = self._aivat.announced
        silent = {seat for seat, player in enumerate(turn) if not player or self._is_silent(player)}
        if self._asks_outsiders:
            others = [Agent() if seat in trusted or not turn[seat] else seated[seat] for seat in range(len(turn))]
            said = self._onlooker.scores(hand, others)
            announced = [own or other for own, other in zip(announced, self._onlooker.announced, strict=True)]
            # After a failed report no agent from outside is asked any more: each further failure could cost an agent
            # its process.
            self._asks_outsiders = not any(score.fault for score in said)
        return table_score(scores, turn.index(0), silent), announced

    def _is_silent(self, player: int) -> bool:
        """Return whether an opponent's strategy is unknown or not trusted; opponents are the players from 1 on."""
        agent = self._opponents.agents[player - 1]
        tells = getattr(type(agent), "range_strategy", Agent.range_strategy) is not Agent.range_strategy
        return not (tells and self._opponents.are_trusted[player - 1])

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

    def _show_faults(self, hand: Hand, turn: Sequence[int]) -> None:
        faults = [(turn[fault.seat] - 1, fault) for fault in hand.faults]
        for number, fault in faults:
            name = self._table.names[number + 1]
            text = f"{name} committed a fault ({fault.kind}), and then only checked or folded: {fault.message}"
            self._screen.line(printable(text), "bad", indent=2)
        for number in self._opponents.count(faults):
            text = f"{self._table.names[number + 1]} has committed {MAX_FAULTS} faults: its seat only folds from now on"
            self._screen.line(printable(text), "bad", indent=2)
