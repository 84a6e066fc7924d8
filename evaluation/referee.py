"""The referee: OpenSpiel's universal_poker replays hands, and its payoffs must agree."""

import pyspiel

from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.hand import Hand


class RefereeDisagrees(RuntimeError):
    """OpenSpiel scores a hand differently or refuses it, or the deck is impossible: a bug here or in OpenSpiel."""


class Referee:
    """Replays hands of one game through ``universal_poker``."""

    def __init__(self, rules: HoldemRules):
        self._game = OpenSpielGame(load_game(rules))

    def check(self, hand: Hand) -> None:
        """Compare a hand's payoffs with OpenSpiel's.

        Raises
        ------
        RefereeDisagrees
            If a payoff differs by more than 1e-9 chips, the hand is not over, or an action is refused. Also if the deck
            lacks a card, or holds a card twice, which ``universal_poker`` would not notice.
        """
        deck = hand.deck.tolist()
        if len(set(deck)) != hand.rules.num_dealt_cards:
            raise RefereeDisagrees(f"a card is dealt twice or missing in {_text(hand)}")
        actions = [action for _, action, _ in hand.actions]
        try:
            state = self._game.replay(deck, actions)
        except (pyspiel.SpielError, ValueError) as error:
            raise RefereeDisagrees(f"universal_poker refuses {_text(hand)}: {error}") from None
        if not state.is_terminal():
            raise RefereeDisagrees(f"universal_poker waits for more actions in {_text(hand)}")
        returns = state.returns()
        if returns != list(hand.payoffs) and not all(
            abs(ours - theirs) <= 1e-9 for ours, theirs in zip(hand.payoffs, returns, strict=True)
        ):
            raise RefereeDisagrees(f"universal_poker pays {returns}, not {hand.payoffs}, for {_text(hand)}")


def _text(hand: Hand) -> str:
    moves = " ".join(f"{action.seat}:{action.action}" for action in hand.actions)
    return f"deck {cards_text(hand.deck)}, actions (seat:action) {moves}"
