"""The size of a bet, as formats count it; nothing else converts.

We count chips over the whole hand (as OpenSpiel and the ACPC do), PHH counts chips of the street, and some logs
count what a raise adds to the bet it raises. `before` is what the seat has put in on earlier streets (antes
included: they belong to no street), `matched` the highest total so far, which a caller would match.
"""


def total_of_street_bet(chips: int, before: int) -> int:
    """Return the hand total of a bet to `chips` on its street.

    >>> total_of_street_bet(200, before=300)
    500
    """
    return before + chips


def street_bet_of_total(total: int, before: int) -> int:
    """Return what a hand total comes to on its street.

    >>> street_bet_of_total(500, before=300)
    200
    """
    return total - before


def total_of_raise_by(chips: int, matched: int) -> int:
    """Return the hand total of a raise by `chips` over the highest total so far.

    >>> total_of_raise_by(200, matched=300)
    500
    """
    return matched + chips


def raise_by_of_total(total: int, matched: int) -> int:
    """Return what a hand total adds to the highest one so far.

    >>> raise_by_of_total(500, matched=300)
    200
    """
    return total - matched
