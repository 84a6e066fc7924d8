"""Retirement of agents with too many faults, independent of the order in which blocks are played."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.tournaments.run.schedule import Block, Position, position

GroupT = TypeVar("GroupT", bound=Mapping[int, AgentScore])


class FaultLedger:
    """The faults of a run in the order of its schedule.

    An agent is *retired* after the first group at whose end it has `max_faults` faults: its seat only folds from then
    on. Workers play ahead, so later groups may already be played by then; they are played again.

    Parameters
    ----------
    max_faults : int
    faults : iterable of (lineup, deck, agent, faults)
        The faults of the groups that a run has stored.
    """

    def __init__(self, max_faults: int, faults: Iterable[tuple[int, int, int, int]] = ()):
        self._max_faults = max_faults
        self._faults: dict[int, dict[Position, int]] = defaultdict(dict)
        for lineup, deck, agent, count in faults:
            self._faults[agent][position(lineup, deck)] = count

    def retirement(self, agent: int) -> Position | None:
        """Return the last group that an agent plays itself; None if it is not retired."""
        total = 0
        for place, count in sorted(self._faults[agent].items()):
            total += count
            if total >= self._max_faults:
                return place
        return None

    def retired(self, block: Block) -> frozenset[int]:
        """Return the agents that are retired before a block."""
        start = position(block.lineup, block.first)
        places = {agent: self.retirement(agent) for agent in list(self._faults)}
        return frozenset(agent for agent, place in places.items() if place is not None and place < start)

    def admit(self, block: Block, groups: Sequence[GroupT]) -> tuple[Sequence[GroupT], Position | None]:
        """Count the faults of a block's groups.

        Returns
        -------
        sequence
            The valid groups: all up to the first that changes when an agent is retired.
        Position or None
            Groups after this one in the schedule have to be played again; None if none has.
        """
        for k, group in enumerate(groups):
            place = position(block.lineup, block.first + k)
            changes = []
            for agent, score in group.items():
                if score.faults:
                    before = self.retirement(agent)
                    self._faults[agent][place] = score.faults
                    after = self.retirement(agent)
                    if after is not None and after != before:
                        changes.append(after)
            if changes:
                last = min(changes)
                for counts in self._faults.values():
                    for later in [other for other in counts if other > last]:
                        del counts[later]
                return groups[: k + 1], last
        return groups, None
