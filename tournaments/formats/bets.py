"""Conversion of bets counted by the street into totals over the whole hand, and back.

This package counts a seat's chips over the whole hand, as OpenSpiel and the ACPC do. PHH files, Pokerbots, services on
the web and card rooms count the chips that the seat bets on one street; PHH counts the ante on no street. `before` is
the seat's contribution on earlier streets, in chips, plus its ante.
"""


def total_of_street_bet(chips: int, before: int) -> int:
    """Return the chips over the whole hand of a seat that bets to `chips` on one street.

    >>> total_of_street_bet(200, before=300)
    500
    """
    return before + chips


def street_bet_of_total(total: int, before: int) -> int:
    """Return the chips that a seat bets on one street to reach `total` over the whole hand.

    >>> street_bet_of_total(500, before=300)
    200
    """
    return total - before
