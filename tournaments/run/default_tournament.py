"""The default tournament, which `plurispiel tournament` plays if no setting chooses agents or a table."""

from collections.abc import Mapping
from typing import Any

DEFAULT_AGENTS = ("blueprint", "tag", "equity", "call", "raise", "random")
"""The agents that play where none are named."""

DEFAULT_TOURNAMENT: dict[str, Any] = {
    "agents": DEFAULT_AGENTS, "seats": 2, "format": "gauntlet", "decks": 1_500, "values": "checkdown"
}  # fmt: skip
"""The bundled blueprint heads-up against each of the other agents in turn.

AIVAT takes checkdown values, because blueprint values need a bucket table, which a new installation does not have.
"""

_TABLE = ("agents", "game", "seats", "format", "copies", "lineups")


def with_default_tournament(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings completed by `DEFAULT_TOURNAMENT`; unchanged if they hold one of the settings in `_TABLE`.

    All other settings, such as the number of decks or the seed, change the default tournament.
    """
    if any(name in settings for name in _TABLE):
        return dict(settings)
    default = dict(DEFAULT_TOURNAMENT)
    if settings.get("score") in ("raw", "duplicate"):
        del default["values"]
    return default | dict(settings)
