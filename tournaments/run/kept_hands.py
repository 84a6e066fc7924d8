"""The hands that a run keeps: compressed, stored in the run's database group by group, and read as hand histories."""

import contextlib
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import cards_text, parse_cards
from plurispiel.evaluation.hand import Hand
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.store import RunRefused, RunStore

KEEP = ("sample", "all", "none")
SAMPLE_DECKS = 20
"""Number of decks of every line-up in a sample. A sample also holds every group with a fault."""


def is_kept(keep: str, deck: int, hands: Sequence[tuple[Hand, Sequence[int]]]) -> bool:
    """Return whether to keep the hands of a group on a deck, given each hand and its agent numbers by seat.

    `keep` is one of `KEEP`.
    """
    return keep == "all" or (keep == "sample" and (deck < SAMPLE_DECKS or any(hand.faults for hand, _ in hands)))


def pack_group(hands: Sequence[tuple[Hand, Sequence[int]]]) -> bytes:
    """Return a group's hands as compressed JSON: of each hand, the agent numbers by seat, actions, payoffs and deck.

    Parameters
    ----------
    hands : sequence of (Hand, sequence of int)
        Each hand of the group with the agent number in every seat.
    """
    record = [
        [list(agents), [action.action for action in hand.actions], list(hand.payoffs), cards_text(hand.deck)]
        for hand, agents in hands
    ]
    return zlib.compress(json.dumps(record).encode())


def pack_stories(stories: Sequence[dict[str, Any]]) -> bytes:
    """Return the stories of a group's hands, the records of `hand_story.hand_story`, as compressed JSON."""
    return zlib.compress(json.dumps(stories, separators=(",", ":"), allow_nan=False).encode())


def kept_stories(store: RunStore, lineup: int, deck: int) -> list[dict[str, Any]] | None:
    """Return the stories of a group's hands that were stored when it was played; None if none were stored.

    Raises
    ------
    RunRefused
        If the stored stories cannot be read.
    """
    packed = store.stories_of(lineup, deck)
    if packed is None:
        return None
    try:
        return json.loads(zlib.decompress(packed))
    except (zlib.error, ValueError, TypeError):
        raise RunRefused(f"{store.folder} is damaged: its hand viewer's data on deck {deck} cannot be read") from None


class KeptHand(NamedTuple):
    """A stored hand: the agent number and the net chips of each seat, the actions in order, and the deck as cards."""

    agents: tuple[int, ...]
    actions: tuple[int, ...]
    payoffs: tuple[float, ...]
    cards: tuple[int, ...]


class KeptGroup(NamedTuple):
    """The hands of a group, one for each rotation, with the group's line-up and deck."""

    lineup: int
    deck: int
    hands: tuple[KeptHand, ...]


def kept_groups(store: RunStore) -> Iterator[KeptGroup]:
    """Yield the counted groups (`RunStore.decks`) with kept hands, sorted by line-up, then by deck.

    Raises
    ------
    RunRefused
        If stored hands cannot be read.
    """
    for lineup, deck, packed in store.hands():
        yield _unpacked(store, lineup, deck, packed)


def kept_group(store: RunStore, lineup: int, deck: int) -> KeptGroup | None:
    """Return one group's hands, or None if they were not kept.

    Raises
    ------
    RunRefused
        If the stored hands cannot be read.
    """
    packed = store.hands_of(lineup, deck)
    return None if packed is None else _unpacked(store, lineup, deck, packed)


def stored_hands(folder: Path, *, check: bool = True) -> Iterator[HandHistory]:
    """Yield the kept hands of a run, line-up by line-up.

    Parameters
    ----------
    check : bool
        Check the whole database first. A caller that has just written the database can leave the check out.

    Raises
    ------
    RunRefused
        If the folder holds no run, or one that cannot be read.
    ValueError
        If the settings in ``config.toml`` cannot be read.
    """
    with contextlib.closing(RunStore.reading(folder)) as store:
        if check:
            store.check()
        number = 0
        for group in kept_groups(store):
            for history in _histories(store.config, group, number):
                yield history
                number += 1


def _unpacked(store: RunStore, lineup: int, deck: int, packed: bytes) -> KeptGroup:
    try:
        record = json.loads(zlib.decompress(packed))
        hands = tuple(
            KeptHand(tuple(agents), tuple(actions), tuple(payoffs), parse_cards(cards))
            for agents, actions, payoffs, cards in record
        )
        return KeptGroup(lineup, deck, hands)
    except (zlib.error, ValueError, TypeError):
        raise RunRefused(f"{store.folder} is damaged: its hands of deck {deck} cannot be read") from None


def _histories(config: TournamentConfig, group: KeptGroup, number: int) -> Iterator[HandHistory]:
    """Yield the histories of a group's hands; their labels are the whole numbers from `number` on."""
    rules = config.rules
    size = rules.num_hole_cards
    for offset, (agents, actions, payoffs, cards) in enumerate(group.hands):
        yield HandHistory(
            rules,
            tuple(config.names[agent] for agent in agents),
            tuple(cards[seat * size : (seat + 1) * size] for seat in range(rules.num_seats)),
            cards[rules.num_seats * size :][: _board_size(config, actions)],
            actions,
            payoffs,
            str(number + offset),
        )


def _board_size(config: TournamentConfig, actions: Sequence[int]) -> int:
    """Return the number of board cards that were dealt: all, if the hand came to a showdown."""
    betting = BettingState(config.rules)
    street = betting.street
    for action in actions:
        betting.apply(action)
        street = max(street, betting.street)
    live = betting.folded.count(False)
    return config.rules.num_board_cards if live > 1 else config.rules.board_size(street)
