"""Hands of a run played again from its seed, with what everybody said of its strategy, and what AIVAT made of it."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Announced, Score
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.evaluation.value_choice import make_value_function
from plurispiel.tournaments.block_player import BlockPlayer, Conduct, RunAborted
from plurispiel.tournaments.config import TournamentConfig
from plurispiel.tournaments.hands import KeptGroup, kept_group
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.retirement import FaultLedger
from plurispiel.tournaments.schedule import BLOCK_DECKS, Block
from plurispiel.tournaments.store import RunStore

_CLOSE = 1e-9


@dataclass(frozen=True)
class Told:
    """What a replayed hand tells.

    Attributes
    ----------
    hand : Hand
    numbers : sequence of int
        The agent in each seat.
    scores : sequence of Score
        Of every seat.
    announced : sequence of (sequence of Announced or None)
        What each seat's agent said of its decisions.
    """

    hand: Hand
    numbers: Sequence[int]
    scores: Sequence[Score]
    announced: Sequence[Sequence[Announced] | None]


@dataclass(frozen=True)
class Replay:
    """A group played again.

    Attributes
    ----------
    lineup, deck : int
    hands : sequence of Told
        One a rotation; empty if the group could not be played, or was another then.
    trouble : str
        Why there are none; or how they differ from what the run holds; empty if they do not.
    """

    lineup: int
    deck: int
    hands: Sequence[Told]
    trouble: str = ""


class Witness(Aivat):
    """AIVAT that keeps what it was told."""

    def __init__(self, config: TournamentConfig):
        super().__init__(config.rules, make_value_function(config.values, config.rules))
        self.heard: list[tuple[Sequence[Score], Sequence[Sequence[Announced] | None]]] = []

    def scores(self, hand: Hand, agents: Sequence[Agent]) -> tuple[Score, ...]:
        """Return the score of every seat."""
        scores = super().scores(hand, agents)
        self.heard.append((scores, self.announced))
        return scores


def replay_groups(run: RunRecord, store: RunStore, groups: Iterable[tuple[int, int]]) -> Iterator[Replay]:
    """Yield groups, each played again with the same cards, seats and random streams, and compared with the run."""
    ledger = FaultLedger(run.config.max_faults, store.faults())
    witness = Witness(run.config)
    with contextlib.closing(BlockPlayer(run.config, Conduct(), witness)) as player:
        for lineup, deck in groups:
            witness.heard = []
            first = deck // BLOCK_DECKS * BLOCK_DECKS
            retired = ledger.retired(Block(lineup, first, BLOCK_DECKS))
            try:
                scores, hands = player.replay((lineup, deck), retired)
            except (RunAborted, RefereeDisagrees, ValueError) as error:
                yield Replay(lineup, deck, (), f"it cannot be played again: {error}")
                continue
            told = [Told(hand, numbers, *heard) for (hand, numbers), heard in zip(hands, witness.heard, strict=True)]
            kept = kept_group(store, lineup, deck)
            is_corrected = _same_corrections(run, lineup, deck, scores)
            # Of hands that were not kept only sums are known, and those of chips may agree by chance.
            is_same = _same_actions(kept, told) if kept else is_corrected
            if not is_same or not _same_chips(run, lineup, deck, scores):
                yield Replay(lineup, deck, (), "an agent plays it otherwise now than in the run")
            else:
                yield Replay(lineup, deck, told, "" if is_corrected else "AIVAT's corrections are not those of the run")


def _rows(run: RunRecord, lineup: int, deck: int) -> np.ndarray:
    return run.rows[(run.rows["lineup"] == lineup) & (run.rows["deck"] == deck)]


def _same_chips(run: RunRecord, lineup: int, deck: int, scores: dict[int, AgentScore]) -> bool:
    own = {int(row["agent"]): row for row in _rows(run, lineup, deck)}
    return all(
        number in own and own[number]["chips"] == score.chips and own[number]["chips_squared"] == score.chips_squared
        for number, score in scores.items()
    )


def _same_actions(kept: KeptGroup, told: Sequence[Told]) -> bool:
    """Return whether the hands are those that were kept."""
    return len(kept.hands) == len(told) and all(
        then.agents == tuple(now.numbers) and then.actions == tuple(action.action for action in now.hand.actions)
        for then, now in zip(kept.hands, told, strict=True)
    )


def _same_corrections(run: RunRecord, lineup: int, deck: int, scores: dict[int, AgentScore]) -> bool:
    if not run.config.uses_aivat:
        return True
    for row in _rows(run, lineup, deck):
        score = scores.get(int(row["agent"]))
        for name in ("imaginary_hands", "chance", "own_actions", "true_chance"):
            now = getattr(score, name, None)
            then = float(row[name])
            if score is not None and (now is None) != np.isnan(then):
                return False
            if now is not None and abs(now - then) > _CLOSE * max(1.0, abs(then)):
                return False
    return True
