"""Card abstraction: exact features of hands, and buckets made from them by k-means.

Names are imported when they are first used, because most processes need only the module `features`.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_MODULES = {
    "PRESETS": "config",
    "AbstractionConfig": "config",
    "BucketTable": "buckets",
    "CardModel": "model",
    "FlopBuckets": "flops",
    "StreetConfig": "config",
    "build_table": "build",
    "flop_buckets": "flops",
    "load_table": "buckets",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
