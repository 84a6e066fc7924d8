"""Stories of a run's hands (`hand_story`), as recorded during play or replayed from the run's seed or keys."""

import contextlib
import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurispiel.agents.specs import parse_spec
from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.evaluation.referee import RefereeDisagrees
from plurispiel.tournaments.contestants.process import close_to_others
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.report.run_record import RunRecord
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct, RunAborted
from plurispiel.tournaments.run.hand_story import hand_story
from plurispiel.tournaments.run.kept_hands import KeptGroup, kept_group, kept_stories
from plurispiel.tournaments.run.retirement import FaultLedger
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.store import RunRefused, RunStore
from plurispiel.tournaments.run.witness import Told, Witness

_CLOSE = 1e-9


@dataclass(frozen=True)
class Replay:
    """The stories of a group's hands.

    Attributes
    ----------
    lineup, deck : int
        The numbers of the group's line-up and deck.
    stories : sequence of dict
        A story for each rotation. Empty if the replay failed, or differed from the run in chips or actions. Where the
        run kept no hands, AIVAT's corrections are compared instead of actions.
    trouble : str
        Why there are no stories, or why the stories lack strategies, or that their corrections differ from those of the
        run; otherwise empty.
    """

    lineup: int
    deck: int
    stories: Sequence[dict[str, Any]]
    trouble: str = ""


def replay_groups(run: RunRecord, store: RunStore, groups: Iterable[tuple[int, int]]) -> Iterator[Replay]:
    """Yield the stories of each group. A group not recorded during play is replayed and compared with the run.

    Parameters
    ----------
    groups : iterable of (int, int)
        The line-up and the deck of each group.

    Raises
    ------
    RunRefused
        If hands or stories that were stored during play cannot be read.
    """
    ledger = FaultLedger(run.config.max_faults, store.faults())
    try:
        witness = Witness(run.config)
    except ValueError as error:
        yield from _recorded(store, groups, f"the values of AIVAT cannot be computed now: {error}")
        return
    try:
        streams = store.streams()
    except RunRefused as error:
        yield from _recorded(store, groups, f"the group cannot be played again: {error}")
        return
    if run.config.outsiders:
        close_to_others()  # before any code from outside the package runs: this process knows the cards
    sandbox = working_sandbox("auto")
    conduct = Conduct(sandbox=sandbox.hiding(store.folder) if sandbox else None)
    with contextlib.closing(BlockPlayer(run.config, conduct, streams, witness)) as player:
        for lineup, deck in groups:
            if stories := kept_stories(store, lineup, deck):
                yield Replay(lineup, deck, stories)
                continue
            witness.forget()
            retired = ledger.retired(Block(lineup, deck, 1))
            try:
                scores, hands = player.replay((lineup, deck), retired)
            except (RunAborted, RefereeDisagrees, ValueError) as error:
                yield Replay(lineup, deck, (), f"the group cannot be played again: {error}")
                continue
            told = witness.take(hands)
            kept = kept_group(store, lineup, deck)
            is_corrected = _same_corrections(run, lineup, deck, scores)
            # Without kept hands, only a group's sums can be compared. Sums of chips may agree by chance, so the sums of
            # AIVAT's corrections must agree, too.
            is_same = _same_actions(kept, told) if kept else is_corrected
            if not is_same or not _same_chips(run, lineup, deck, scores):
                yield Replay(lineup, deck, (), "an agent now plays the group differently from the run")
            else:
                trouble = "" if is_corrected else "AIVAT's corrections differ from the run's corrections"
                # Equal actions and corrections do not prove that an agent would have reported the same strategy.
                telling = {n for one in told for n, said in zip(one.numbers, one.announced, strict=True) if said}
                silent = {number for number in telling if not player.is_deterministic(number)}
                if silent:
                    names = ", ".join(run.names[number] for number in sorted(silent))
                    is_trusted = any(not parse_spec(run.config.agents[number]).is_foreign for number in silent)
                    trouble = f"the strategy of {names} was not recorded during play, and may have changed since"
                    told = [_without(one, silent, range(len(run.names)) if is_trusted else silent) for one in told]
                yield Replay(lineup, deck, list(map(hand_story, told)), trouble)


def _recorded(store: RunStore, groups: Iterable[tuple[int, int]], trouble: str) -> Iterator[Replay]:
    """Yield the stories recorded during play. `trouble` is the reason that no group can be replayed."""
    for lineup, deck in groups:
        stories = kept_stories(store, lineup, deck)
        yield Replay(lineup, deck, stories or (), "" if stories else trouble)


def _rows(run: RunRecord, lineup: int, deck: int) -> np.ndarray:
    return run.rows[(run.rows["lineup"] == lineup) & (run.rows["deck"] == deck)]


def _same_chips(run: RunRecord, lineup: int, deck: int, scores: dict[int, AgentScore]) -> bool:
    own = {int(row["agent"]): row for row in _rows(run, lineup, deck)}
    return all(
        number in own and own[number]["chips"] == score.chips and own[number]["chips_squared"] == score.chips_squared
        for number, score in scores.items()
    )


def _same_actions(kept: KeptGroup, told: Sequence[Told]) -> bool:
    """Return whether replayed hands have the same agents in each seat and the same actions as the kept hands."""
    return len(kept.hands) == len(told) and all(
        then.agents == tuple(now.numbers) and then.actions == tuple(action.action for action in now.hand.actions)
        for then, now in zip(kept.hands, told, strict=True)
    )


def _same_corrections(run: RunRecord, lineup: int, deck: int, scores: dict[int, AgentScore]) -> bool:
    """Return whether AIVAT's sums equal the run's sums, up to rounding; True in a run without AIVAT."""
    if not run.config.uses_aivat:
        return True
    for row in _rows(run, lineup, deck):
        score = scores.get(int(row["agent"]))
        for name in ("imaginary_hands", "chance", "own_actions", "other_actions", "true_chance", "true_other_actions"):
            now = getattr(score, name, None)
            then = float(row[name])
            if score is not None and (now is None) != np.isnan(then):
                return False
            if now is not None and abs(now - then) > _CLOSE * max(1.0, abs(then)):
                return False
    return True


def _without(told: Told, silent: Collection[int], unscored: Collection[int]) -> Told:
    """Return a hand without some agents' strategies and full AIVAT scores.

    `silent` are the numbers of the agents that lose their strategies, `unscored` those of the agents that lose their
    full AIVAT scores.
    """
    return dataclasses.replace(
        told,
        announced=[
            None if number in silent else said for number, said in zip(told.numbers, told.announced, strict=True)
        ],
        scores=[
            dataclasses.replace(score, imaginary_hands=None, chance=None, own_actions=None, other_actions=None)
            if number in unscored
            else score
            for number, score in zip(told.numbers, told.scores, strict=True)
        ],
    )
