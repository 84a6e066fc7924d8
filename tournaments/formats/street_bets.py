"""Betting in the notation of services for heads-up play, where bets count the chips of a street.

The actions are ``f`` (fold), ``k`` (check), ``c`` (call) and ``bN``, a bet or raise to N chips of the street, blinds
included. A separate sign marks the end of a street.
"""

from collections.abc import Sequence

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.replay import Betting, replay_betting
from plurispiel.tournaments.formats.bets import street_bet_of_total, total_of_street_bet

_MAX_DIGITS = 9


def read_street_bets(moves: Sequence[str], end_of_street: str, rules: HoldemRules) -> Betting:
    """Return the replayed betting of a hand between two players.

    Parameters
    ----------
    moves : sequence of str
        The actions, with an `end_of_street` wherever a street ends and the hand goes on. Once the hand is over, the
        signs of streets without actions may follow, or be left out.

    Raises
    ------
    ValueError
        If a move is malformed, the rules do not allow an action, or a sign does not stand where a street ends.
    """
    state = BettingState(rules)
    sizes: list[int] = []
    street = before = 0
    for move in moves:
        if move == end_of_street:
            street += 1
            continue
        if state.is_over:
            raise ValueError(f"{move[:40]!r} comes after the end of the hand")
        if street != state.street:
            raise ValueError(f"street {state.street} ends elsewhere than at {end_of_street!r}")
        action = _action(move, state, before)
        state.apply(action)
        sizes.append(action)
        if state.street != street:
            before = max(state.contributions)
    if street > rules.num_streets - 1 or (not state.is_over and street != state.street):
        raise ValueError(f"street {state.street} ends elsewhere than at {end_of_street!r}")
    return replay_betting(rules, sizes)


def write_street_bet(action: int, betting: Betting) -> str:
    """Return an action of the seat to act in the form that `read_street_bets` reads."""
    if action == FOLD:
        return "f"
    if action == CALL:
        return "c" if betting.state.can_fold else "k"
    return f"b{street_bet_of_total(action, chips_before(betting))}"


def chips_before(betting: Betting) -> int:
    """Return the chips that the seat to act has paid on earlier streets; the game has two seats."""
    earlier = [size for size, when in zip(betting.sizes, betting.streets, strict=True) if when < betting.state.street]
    return max(betting.rules.big_blind, *earlier) if earlier else 0


def _action(move: str, state: BettingState, before: int) -> int:
    """Return the action of a move: 0 fold, 1 check or call, N raise to N chips over the whole hand."""
    if move == "f":
        return FOLD
    if move in ("k", "c"):
        if (move == "c") != state.can_fold:
            raise ValueError(f"{move!r} is {'a call' if move == 'c' else 'a check'} where none is possible")
        return CALL
    size = move[1:]
    if move[:1] != "b" or not (size.isascii() and size.isdigit() and len(size) <= _MAX_DIGITS and int(size) > CALL):
        raise ValueError(f"an action is written f, k, c or b and chips of the street, got {move[:40]!r}")
    return total_of_street_bet(int(size), before)
