"""A hand in the clauses of MIT's Pokerbots, and the answers of a player.

Player 0 posts the small blind. The first clauses of a hand are ``P`` with the player's number, and ``H`` with the
player's hole cards. Then every action of both players is a clause: ``F`` (fold), ``C`` (call), ``K`` (check), or ``R``
with the chips of the street (bet or raise). Each street after the first begins with ``B`` and the whole board so far.
At the end, ``O`` has the hole cards that the other player shows, and ``D`` the chips that the player won, negative if
lost. Cards are separated by commas. Once no further bet is possible, both players check on the streets that are left.
"""

import math
from collections.abc import Iterable, Sequence

from plurispiel.abstraction.holdem.betting_layout import CALL, FOLD
from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action
from plurispiel.evaluation.hand import AgentFault, HandEnd
from plurispiel.evaluation.replay import Betting, replay_betting
from plurispiel.tournaments.formats.bets import total_of_street_bet
from plurispiel.tournaments.formats.street_bets import chips_before, write_street_bet

__all__ = ["end_clauses", "hand_clauses", "read_answer"]

_LETTERS = {"f": "F", "c": "C", "k": "K", "b": "R"}  # the letter of a clause for each letter of `write_street_bet`
_MAX_DIGITS = 9
_MAX_SHOWN = 60  # characters of an answer in a message


def hand_clauses(
    rules: HoldemRules,
    seat: int,
    hole_cards: Iterable[int],
    actions: Sequence[Action],
    street: int,
    board: Sequence[int],
) -> list[str]:
    """Return the clauses of a hand up to a decision on `street`, or of a whole hand without its outcome.

    Parameters
    ----------
    rules : HoldemRules
        A game between two players.
    seat : int
        The seat that is told the hand.
    hole_cards : iterable of int
        The cards of `seat`.
    actions : sequence of Action
        All actions in order.
    street : int
        The street that the hand has reached; at a showdown the last one.
    board : sequence of int
        The board cards up to that street.
    """
    clauses = [f"P{_player(rules, seat)}", f"H{_cards(hole_cards)}"]
    sizes = [action.action for action in actions]
    last = actions[-1].street if actions and replay_betting(rules, sizes).state.is_over else street
    for number in range(street + 1):
        if number:
            clauses.append(f"B{_cards(board[: rules.board_size(number)])}")
        if number > last:
            clauses += ["K", "K"]
        for count, action in enumerate(actions):
            if action.street == number:
                move = write_street_bet(action.action, replay_betting(rules, sizes[:count]))
                clauses.append(_LETTERS[move[0]] + move[1:])
    return clauses


def end_clauses(rules: HoldemRules, seat: int, end: HandEnd) -> list[str]:
    """Return the clauses that tell `seat` the outcome; they follow the clauses of `hand_clauses`.

    Half a chip of a split pot goes to the player with the big blind.
    """
    other = 1 - seat
    shown = [f"O{_cards(end.hole_cards[other])}"] if end.hole_cards[other] else []
    small = seat if _player(rules, seat) == 0 else other
    won = math.floor(end.payoffs[small])
    return [*shown, f"D{won if seat == small else -won}"]


def read_answer(line: str, betting: Betting) -> int:
    """Return the action in the answer of the player to act: 0 fold, 1 check or call, N raise to N chips over the hand.

    Raises
    ------
    AgentFault
        Of kind ``protocol`` if the line is no clause of an answer. Of kind ``illegal`` if it is a check or call where
        none is possible, or a raise without a valid number. Whether a fold or a raise is legal is not checked.
    """
    letter, chips = line[:1], line[1:]
    if letter not in {*_LETTERS.values()} or (chips and letter != "R"):
        raise AgentFault(
            "protocol",
            "an answer is F, C, K, or R and chips of the street; variants with other clauses are not played; "
            f"got {line[:_MAX_SHOWN]!r}",
        )
    if letter == "F":
        return FOLD
    if letter == "R":
        is_number = chips.isascii() and chips.isdigit() and len(chips) <= _MAX_DIGITS
        total = total_of_street_bet(int(chips), chips_before(betting)) if is_number else 0
        if total <= CALL:
            raise AgentFault("illegal", f"a raise is R and chips of the street, as in R300, got {line[:_MAX_SHOWN]!r}")
        return total
    if (letter == "C") != betting.state.can_fold:
        raise AgentFault("illegal", f"{letter} is a {'call' if letter == 'C' else 'check'} where none is possible")
    return CALL


def _player(rules: HoldemRules, seat: int) -> int:
    return int(rules.blinds[seat] == rules.big_blind)


def _cards(cards: Iterable[int]) -> str:
    return ",".join(card_text(int(card)) for card in cards)
