"""The hands that a run keeps: packed by the group, and given back as histories."""

import contextlib
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.config import TournamentConfig
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.store import RunStore

KEEP = ("sample", "all", "none")
SAMPLE_DECKS = 20
"""A sample holds the first decks of every line-up, and every group with a fault."""


def is_kept(keep: str, deck: int, hands: Sequence[tuple[Hand, Sequence[int]]]) -> bool:
    """Return whether the hands of a group are to be kept."""
    return keep == "all" or (keep == "sample" and (deck < SAMPLE_DECKS or any(hand.faults for hand, _ in hands)))


def pack_group(hands: Sequence[tuple[Hand, Sequence[int]]]) -> bytes:
    """Return a group's hands, each with the agent in every seat, as compressed JSON."""
    record = {
        "deck": cards_text(hands[0][0].deck),
        "hands": [
            [list(agents), [action.action for action in hand.actions], list(hand.payoffs)] for hand, agents in hands
        ],
    }
    return zlib.compress(json.dumps(record).encode())


def stored_hands(folder: Path) -> Iterator[HandHistory]:
    """Yield the hands that a run has kept, line-up by line-up.

    Raises
    ------
    RunRefused
        If the folder holds no run, or it cannot be read.
    """
    with contextlib.closing(RunStore.reading(folder)) as store:
        number = 0
        for _, _, packed in store.hands():
            for history in _unpack_group(store.config, packed, number):
                yield history
                number += 1


def _unpack_group(config: TournamentConfig, packed: bytes, number: int) -> Iterator[HandHistory]:
    rules = config.rules
    record = json.loads(zlib.decompress(packed))
    cards = parse_cards(record["deck"])
    size = rules.num_hole_cards
    for offset, (agents, actions, payoffs) in enumerate(record["hands"]):
        yield HandHistory(
            rules,
            tuple(config.names[agent] for agent in agents),
            tuple(cards[seat * size : (seat + 1) * size] for seat in range(rules.num_seats)),
            cards[rules.num_seats * size :][: _board_size(config, actions)],
            tuple(actions),
            tuple(payoffs),
            str(number + offset),
        )


def _board_size(config: TournamentConfig, actions: Sequence[int]) -> int:
    """Return how many board cards a hand saw: all, if it came to a showdown."""
    betting = BettingState(config.rules)
    street = betting.street
    for action in actions:
        betting.apply(action)
        street = max(street, betting.street)
    live = betting.folded.count(False)
    return config.rules.num_board_cards if live > 1 else config.rules.board_size(street)
