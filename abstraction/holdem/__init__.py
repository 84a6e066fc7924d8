"""Hold'em: cards, hand ranks, rules and betting, and the border to OpenSpiel.

Ranks of hands are imported when they are first used: they need numba, which the process of a simple agent does without.
"""

import importlib
from typing import TYPE_CHECKING, Any

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, IllegalAction
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem

if TYPE_CHECKING:
    from plurispiel.abstraction.holdem.hand_ranks import board_ranks, combo_ranks, hand_rank, rank_category
    from plurispiel.abstraction.holdem.single_hand import single_hand_rank

__all__ = [
    "CALL",
    "FOLD",
    "HULH",
    "HUNL",
    "KUHN",
    "LEDUC",
    "SIXMAX",
    "BettingState",
    "HoldemRules",
    "IllegalAction",
    "board_ranks",
    "cards_text",
    "combo_ranks",
    "hand_rank",
    "no_limit_holdem",
    "parse_cards",
    "rank_category",
    "single_hand_rank",
]

_RANKS = ("board_ranks", "combo_ranks", "hand_rank", "rank_category")


def __getattr__(name: str) -> Any:
    if name not in (*_RANKS, "single_hand_rank"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{'hand_ranks' if name in _RANKS else 'single_hand'}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
