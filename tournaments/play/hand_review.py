"""The hand after its end: all hole cards, payoffs, and what each seat did with all hands at its decisions."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.machine.standard_streams import printable
from plurispiel.evaluation.aivat import Announced
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

_LEAST = 0.005
"""Actions that a range takes less often are left out."""


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
        The strategy with all hands (`hand_story.decision_grid`); None if the seat told no strategy.
    """

    who: str
    street: str
    did: str
    actions: list[str]
    grid: dict[str, Any] | None


class HandReview:
    """A finished hand, which may be shown whole.

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
        """Show the end of the hand with this number: board, all hole cards, payoffs and all decisions."""
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
                "folded" if seat in hand.folded else "",
            )
            for seat in range(rules.num_seats)
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for who, cards, chips, folded in rows:
            screen.line(
                f"  {who.ljust(widths[0])}  {cards}  {chips.rjust(widths[2])}  {folded}".rstrip(),
                "good" if chips.startswith("+") and chips != "+0" else "",
                indent=4,
            )
        if any(decision.grid for decision in self.decisions):
            screen.line("decisions, with the frequencies of the hand held and of the whole range:", "faint")
            for k, decision in enumerate(self.decisions, start=1):
                self._show_decision(screen, k, decision)

    def show_grid(self, screen: Screen, number: int) -> None:
        """Show what a seat did with all hands at a decision, numbered from 1."""
        if not 1 <= number <= len(self.decisions):
            screen.line(f"this hand has the decisions 1 to {len(self.decisions)}, got {number}", "bad")
            return
        decision = self.decisions[number - 1]
        self._show_decision(screen, number, decision)
        if decision.grid is None:
            screen.line("  this player tells no strategy", "faint")
            return
        screen.block(decision_text(decision.grid, self._hand.rules, screen.width))
        screen.line(LEGEND, "faint")

    def _show_decision(self, screen: Screen, number: int, decision: Reviewed) -> None:
        text = f"{number:>3} {decision.street} {decision.who}: {decision.did}"
        if decision.grid is not None:
            own, totals = decision.grid["own"], decision.grid["totals"]
            text += f"   held: {_shares(decision.actions, own)}   range: {_shares(decision.actions, totals)}"
        screen.line(text, indent=6)

    def _who(self, seat: int) -> str:
        return f"{seat_positions(self._hand.rules)[seat]} {printable(self._names[seat])}"


def _shares(actions: Sequence[str], shares: Sequence[float | None]) -> str:
    parts = [f"{action} {share:.0%}" for action, share in zip(actions, shares, strict=True) if (share or 0.0) >= _LEAST]
    return ", ".join(parts) or "-"
