"""The checks of a run against its stop rule while groups are stored."""

from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import Block, look_decks, make_lineups
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import RunStore


class StopWatch:
    """Checks the rule (`stop_rule`) after fixed numbers of decks (`look_decks`), in order.

    A check is due when all line-ups have played its number of decks. The outcome depends only on the groups of these
    decks. The number of workers, interruptions and stored groups of later decks have no influence.

    Parameters
    ----------
    config : TournamentConfig
        Settings with or without a stop rule.
    store : RunStore
        The run. When the rule holds, `RunStore.decks` is set to the number of decks at the check, so that later groups
        do not count.
    """

    def __init__(self, config: TournamentConfig, store: RunStore):
        self._config = config
        self._store = store
        self._last_lineup = len(make_lineups(config)) - 1
        self._looks = list(look_decks(config.decks)) if config.stop_rule else []

    def is_due_after(self, block: Block) -> bool:
        """Return whether a check is due once a block, and all blocks before it in the schedule, are stored."""
        is_last = block.lineup == self._last_lineup
        return is_last and bool(self._looks) and block.first + block.num_decks >= self._looks[0]

    def is_over(self) -> bool:
        """Make the checks that are due and were not made before; return whether the rule holds at one of them.

        False without a rule.
        """
        rule, store = self._config.stop_rule, self._store
        while rule and self._looks and store.holds(self._last_lineup, self._looks[0] - 1):
            store.decks = self._looks.pop(0)
            scores = RunScores(self._config, store, store.scores())
            if rule.holds(scores.group_rates(number) for number in self._config.measured):
                return True
            store.decks = self._config.decks
        return False
