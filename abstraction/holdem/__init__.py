"""Hold'em: cards, hand ranks, rules and betting, and the border to OpenSpiel."""

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState, IllegalAction
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.abstraction.holdem.hand_rank import board_ranks, combo_ranks, hand_rank, rank_category
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, HoldemRules, no_limit_holdem
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
