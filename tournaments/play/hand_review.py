"""The hand after its end: all hole cards, payoffs, and the strategy of each seat at its decisions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.hand_ranks import hand_rank, rank_category
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.evaluation.announced import Announced
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.figures.decision_text import LEGEND, decision_text
from plurispiel.tournaments.play.screen import Screen
from plurispiel.tournaments.play.table_view import (
    Follower,
    action_words,
    cards_words,
    chips_words,
    street_name,
)
from plurispiel.tournaments.run.hand_story import hand_story
from plurispiel.tournaments.run.witness import Told

_MIN_SHARE = 0.005
"""Actions that a hand or a range takes with a smaller probability are left out."""

_MIN_RANKED = 5
"""Hands of fewer cards have no categories (`hand_rank`)."""


class Reviewed(NamedTuple):
    """A decision of the hand.

    Attributes
    ----------
    who, street : str
        Position and name of the player, and the street.
    did : str
        The action in words.
    actions : list of str
        All actions of the strategy in words; empty if the seat told no strategy.
    grid : dict or None
        The strategy of the seat's whole range (`hand_story.decision_grid`); None if the seat told no strategy.
    """

    who: str
    street: str
    did: str
    actions: list[str]
    grid: dict[str, Any] | None


class HandReview:
    """A finished hand, whose hidden cards may now be shown.

    Parameters
    ----------
    hand : Hand
        The hand.
    names : sequence of str
        The player in each seat.
    announced : sequence of (sequence of Announced or None)
        The strategies that each seat announced, decision by decision; None for a seat that announced none.
    """

    def __init__(self, hand: Hand, names: Sequence[str], announced: Sequence[Sequence[Announced] | None]):
        self._hand = hand
        self._names = names
        story = hand_story(Told(hand, range(hand.rules.num_seats), (), announced))
        self._board = story["board"]
        taken = iter(step for step in story["steps"] if step["kind"] == "action")
        follower = Follower(hand.rules)
        decisions = [0] * hand.rules.num_seats
        self.decisions: list[Reviewed] = []
        for action in hand.actions:
            follower.begin_street(action.street)
            said = announced[action.seat]
            actions = []
            if said is not None:
                this = said[decisions[action.seat]]
                actions = [
                    action_words(follower.state, follower.before, low, high)
                    for low, high in zip(this.actions, this.highest, strict=True)
                ]
            decisions[action.seat] += 1
            self.decisions.append(
                Reviewed(
                    self._who(action.seat),
                    street_name(action.street),
                    follower.take(action.action),
                    actions,
                    next(taken).get("grid"),
                )
            )

    def show(self, screen: Screen, number: int) -> None:
        """Show the end of the hand with this number: board, all hole cards and payoffs.

        All decisions follow if one of the players has told a strategy.
        """
        hand = self._hand
        rules = hand.rules
        board = [f"board {' '.join(self._board)}"] if self._board else []
        end = "showdown" if hand.showdown else "all others folded"
        screen.line()
        screen.line("   ".join([f"hand {number} is over: {end}", *board]), "bold")
        size = rules.num_hole_cards
        rows = [
            (
                self._who(seat),
                cards_words(hand.deck[seat * size : (seat + 1) * size].tolist()),
                chips_words(hand.payoffs[seat]),
                made_words(hand, seat),
            )
            for seat in range(rules.num_seats)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for who, cards, chips, made in rows:
            screen.line(
                f"  {who.ljust(widths[0])}  {cards}  {chips.rjust(widths[2])}  {made}".rstrip(),
                "good" if chips.startswith("+") and chips != "+0" else "",
                indent=4,
            )
        if any(decision.grid for decision in self.decisions):
            screen.line("decisions (brackets: the action's frequency with the hand held, and over the range)", "faint")
            for k, decision in enumerate(self.decisions, start=1):
                screen.line(self._decision_words(k, decision), indent=6)

    def show_grid(self, screen: Screen, number: int) -> None:
        """Show the strategy of the seat's whole range at a decision; decisions are numbered from 1."""
        if not 1 <= number <= len(self.decisions):
            screen.line(f"this hand has the decisions 1 to {len(self.decisions)}, got {number}", "bad")
            return
        decision = self.decisions[number - 1]
        screen.line(self._decision_words(number, decision), "bold", indent=6)
        if decision.grid is None:
            told = [str(k) for k, each in enumerate(self.decisions, start=1) if each.grid is not None]
            others = f"; g shows decision {', '.join(told)}" * bool(told)
            screen.line(f"this player tells no strategy{others}", "faint")
            return
        for name, shares in (("hand held", decision.grid["own"]), ("whole range", decision.grid["totals"])):
            screen.line(f"{name + ':':13}{_shares(decision.actions, shares)}", indent=13)
        screen.block(decision_text(decision.grid, self._hand.rules, screen.width))
        screen.line(LEGEND, "faint")

    def _decision_words(self, number: int, decision: Reviewed) -> str:
        """Return a decision as a line, with the frequencies of the action taken if the player tells a strategy."""
        text = f"{number:>3} {decision.street} {decision.who}: {decision.did}"
        if decision.grid is None:
            return text
        played = decision.grid["played"]
        return f"{text} ({decision.grid['own'][played]:.0%}, {decision.grid['totals'][played] or 0.0:.0%})"

    def _who(self, seat: int) -> str:
        return f"{seat_positions(self._hand.rules)[seat]} {printable(self._names[seat])}"


def made_words(hand: Hand, seat: int) -> str:
    """Return ``folded``, or the category of a seat's hand at a showdown (``flush``).

    Empty without a showdown, and for hands too short to have a category.
    """
    rules = hand.rules
    if seat in hand.folded:
        return "folded"
    size = rules.num_hole_cards
    if not hand.showdown or size + rules.num_board_cards < _MIN_RANKED:
        return ""
    cards = [*hand.deck[seat * size : (seat + 1) * size], *hand.deck[rules.num_seats * size :]]
    return rank_category(int(hand_rank(np.array(cards))))


def _shares(actions: Sequence[str], shares: Sequence[float | None]) -> str:
    parts = [
        f"{action} {share:.0%}" for action, share in zip(actions, shares, strict=True) if (share or 0.0) >= _MIN_SHARE
    ]
    return ", ".join(parts) or "-"
