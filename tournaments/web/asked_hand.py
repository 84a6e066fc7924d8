"""A hand about which an adviser is asked: read from a question, with the public state at each decision."""

from dataclasses import dataclass

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import card_text, parse_cards
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, PublicState
from plurispiel.evaluation.replay import replay_betting
from plurispiel.tournaments.formats.game_definition import parse_game_definition
from plurispiel.tournaments.web.messages import Question

__all__ = ["AskedHand", "read_asked_hand"]


@dataclass(frozen=True)
class AskedHand:
    """A hand, finished or not.

    Attributes
    ----------
    rules : HoldemRules
    actions : tuple of Action
        The hand's actions. An action is also called a *decision*; decisions are numbered from 0.
    hole_cards : tuple of tuple of int
        The hole cards of each seat; empty where they are not known.
    board : tuple of int
        The board cards, at least those that were dealt before the last decision.
    """

    rules: HoldemRules
    actions: tuple[Action, ...]
    hole_cards: tuple[tuple[int, ...], ...]
    board: tuple[int, ...]

    def public(self, decision: int) -> PublicState:
        """Return the public state at a decision."""
        state = BettingState(self.rules)
        for _, action, _ in self.actions[:decision]:
            state.apply_legal(action)
        seen = self.board[: self.rules.board_size(state.street)]
        return PublicState(self.rules, state.array.tolist(), seen, self.actions[:decision])

    def combo(self, seat: int) -> int | None:
        """Return the combo of a seat's hole cards; None if they are not known."""
        cards = self.hole_cards[seat]
        return self.rules.combo_id(cards) if cards else None


def read_asked_hand(question: Question) -> AskedHand:
    """Return the hand of a question.

    Raises
    ------
    ValueError
        If the game, an action, a card or a decision's number is malformed or not allowed, or if board cards are
        missing.
    """
    rules = parse_game_definition(question.game)
    actions = replay_betting(rules, question.actions).actions
    hole_cards = tuple(map(parse_cards, question.cards))
    board = parse_cards(question.board)
    if len(hole_cards) != rules.num_seats or any(len(each) not in (0, rules.num_hole_cards) for each in hole_cards):
        raise ValueError(f"cards must list {rules.num_seats} seats, each with {rules.num_hole_cards} cards or none")
    needed = rules.board_size(actions[-1].street) if actions else 0
    if any(decision >= len(actions) for decision in question.decisions):
        raise ValueError(f"the hand has {len(actions)} decisions, got {max(question.decisions)}")
    if not needed <= len(board) <= rules.num_board_cards:
        raise ValueError(f"the board needs {needed} to {rules.num_board_cards} cards, got {len(board)}")
    known = [card for cards in (*hole_cards, board) for card in cards]
    for card in known:
        if card not in rules.cards:
            raise ValueError(f"the game's deck has no {card_text(card)}")
        if known.count(card) > 1:
            raise ValueError(f"{card_text(card)} is dealt twice")
    return AskedHand(rules, actions, hole_cards, board)
