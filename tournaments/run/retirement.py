"""Agents with too many faults: from when on their seat only folds, whatever the order in which blocks are played."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.tournaments.run.schedule import Block, Position, position

GroupT = TypeVar("GroupT", bound=Mapping[int, AgentScore])


class FaultLedger:
    """The faults of a run in the order of its schedule.

    An agent is *retired* behind the first group at whose end it has `max_faults` faults. As blocks are played
    in advance, this may come out when later groups are already played: they are then played again.

    Parameters
    ----------
    max_faults : int
    faults : iterable of (lineup, deck, agent, faults)
        What a run holds already.
    """

    def __init__(self, max_faults: int, faults: Iterable[tuple[int, int, int, int]] = ()):
        self._max_faults = max_faults
        self._faults: dict[int, dict[Position, int]] = defaultdict(dict)
        for lineup, deck, agent, count in faults:
            self._faults[agent][position(lineup, deck)] = count

    def retirement(self, agent: int) -> Position | None:
        """Return the last group that an agent plays itself; None if it plays all."""
        total = 0
        for place, count in sorted(self._faults[agent].items()):
            total += count
            if total >= self._max_faults:
                return place
        return None

    def retired(self, block: Block) -> frozenset[int]:
        """Return the agents that only fold in a block."""
        start = position(block.lineup, block.first)
        places = {agent: self.retirement(agent) for agent in list(self._faults)}
        return frozenset(agent for agent, place in places.items() if place is not None and place < start)

    def admit(self, block: Block, groups: Sequence[GroupT]) -> tuple[Sequence[GroupT], Position | None]:
        """Count the faults of a block's groups.

        Returns
        -------
        sequence
            The groups that stand: all up to the first that changes when an agent is retired.
        Position or None
            What stands behind this group in the schedule has to be played again.
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
