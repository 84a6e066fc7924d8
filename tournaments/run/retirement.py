"""The retirement of agents with too many faults, which does not depend on the order in which blocks are played."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from plurispiel.tournaments.run.block_rows import Played
from plurispiel.tournaments.run.schedule import Block, Position, position


class FaultLedger:
    """The faults of a run in the order of its schedule.

    An agent is *retired* after the first group at whose end it has `max_faults` faults or more: in all later groups of
    the schedule its seat only folds. Workers may have played some of the later groups already, with the agent itself.
    Such groups are played again.

    Parameters
    ----------
    max_faults : int
        The number of faults at which an agent is retired.
    faults : iterable of (lineup, deck, agent, number of faults)
        The faults of the groups that a run has stored.
    """

    def __init__(self, max_faults: int, faults: Iterable[tuple[int, int, int, int]] = ()):
        self._max_faults = max_faults
        self._faults: dict[int, dict[Position, int]] = defaultdict(dict)
        for lineup, deck, agent, count in faults:
            self._faults[agent][position(lineup, deck)] = count

    def retirement(self, agent: int) -> Position | None:
        """Return the position of the last group that an agent plays itself; None if the agent is not retired."""
        total = 0
        for group, count in sorted(self._faults[agent].items()):
            total += count
            if total >= self._max_faults:
                return group
        return None

    def retired(self, block: Block) -> frozenset[int]:
        """Return the numbers of the agents that are retired before a block."""
        start = position(block.lineup, block.first)
        last_groups = {agent: self.retirement(agent) for agent in list(self._faults)}
        return frozenset(agent for agent, last in last_groups.items() if last is not None and last < start)

    def admit(self, played: Played) -> tuple[Played, Position | None]:
        """Count the faults of a block.

        Returns
        -------
        Played
            The groups of the block to store. These are all groups, or those up to the first group that retires an
            agent, or that moves an agent's retirement to an earlier group.
        Position or None
            The last valid group in the schedule: all groups after it must be played again. None if all stay valid.
        """
        if not played.rows["faults"].any():
            return played, None
        faulty = played.rows[played.rows["faults"] > 0]
        for deck in np.unique(faulty["deck"]).tolist():
            changes = []
            for lineup, agent, count in faulty[faulty["deck"] == deck][["lineup", "agent", "faults"]].tolist():
                before = self.retirement(agent)
                self._faults[agent][position(lineup, deck)] = count
                after = self.retirement(agent)
                if after is not None and after != before:
                    changes.append(after)
            if changes:
                # No group after `last` counts, because the retired agent itself played in it. The ledger may already
                # have faults of such groups, and drops them. The rest of this block is left out as well. All groups
                # that are then missing are played again.
                last = min(changes)
                for counts in self._faults.values():
                    for later in [other for other in counts if other > last]:
                        del counts[later]
                return played.until(deck), last
        return played, None
