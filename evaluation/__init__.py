"""Numbers about agents: hands, duplicate groups, statistics. Pure computation: no files, no scheduling."""

from plurispiel.evaluation.compliance import check_agent
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.hand import Hand, deal_deck, play_hand
from plurispiel.evaluation.statistics import Estimate, estimate_mean

__all__ = ["Estimate", "Hand", "check_agent", "deal_deck", "estimate_mean", "play_group", "play_hand"]
