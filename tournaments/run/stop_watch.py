"""Checks a run against its stop rule as groups are stored."""

from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import look_decks, make_lineups
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import RunStore


class StopWatch:
    """Checks the rule (`stop_rule`) after fixed numbers of decks of all line-ups, in order.

    The verdict depends only on the groups up to these decks: not on the number of workers, on interruptions, or on
    groups that are stored beyond them.

    Parameters
    ----------
    config : TournamentConfig
    store : RunStore
        When the run is over, its `decks` is set to the number after which the rule held.
    """

    def __init__(self, config: TournamentConfig, store: RunStore):
        self._config = config
        self._store = store
        self._last_lineup = len(make_lineups(config)) - 1
        self._looks = list(look_decks(config.decks)) if config.stop_rule else []

    def is_over(self) -> bool:
        """Return whether the rule holds at one of the checks that are due and were not made yet."""
        rule, store = self._config.stop_rule, self._store
        while rule and self._looks and store.holds(self._last_lineup, self._looks[0] - 1):
            store.decks = self._looks.pop(0)
            scores = RunScores(self._config, store, store.scores())
            if rule.holds(scores.group_rates(number) for number in self._config.measured):
                return True
            store.decks = self._config.decks
        return False
