"""Card abstraction: exact features of hands, and buckets made from them by k-means."""

from plurispiel.abstraction.cards.buckets import BucketTable, load_table
from plurispiel.abstraction.cards.build import build_table
from plurispiel.abstraction.cards.config import PRESETS, AbstractionConfig, StreetConfig
from plurispiel.abstraction.cards.flops import FlopBuckets, flop_buckets
from plurispiel.abstraction.cards.model import CardModel

__all__ = [
    "PRESETS",
    "AbstractionConfig",
    "BucketTable",
    "CardModel",
    "FlopBuckets",
    "StreetConfig",
    "build_table",
    "flop_buckets",
    "load_table",
]
