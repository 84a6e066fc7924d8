"""The checks of a run against its stop rule while groups are stored."""

from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.schedule import look_decks, make_lineups
from plurispiel.tournaments.run.scores import RunScores
from plurispiel.tournaments.run.store import RunStore


class StopWatch:
    """Checks the rule (`stop_rule`) after fixed numbers of decks (`look_decks`), in order.

    A check is due when all line-ups have played that many decks. Its outcome depends only on the groups up to these
    decks: not on the number of workers, on interruptions, or on groups of later decks that are already stored.

    Parameters
    ----------
    config : TournamentConfig
        Settings with or without a stop rule.
    store : RunStore
        When the rule holds, its `decks` is set to the number of decks at that check, so that later groups do not count.
    """

    def __init__(self, config: TournamentConfig, store: RunStore):
        self._config = config
        self._store = store
        self._last_lineup = len(make_lineups(config)) - 1
        self._looks = list(look_decks(config.decks)) if config.stop_rule else []

    def is_over(self) -> bool:
        """Return whether the rule holds at one of the checks that have become due since the last call."""
        rule, store = self._config.stop_rule, self._store
        while rule and self._looks and store.holds(self._last_lineup, self._looks[0] - 1):
            store.decks = self._looks.pop(0)
            scores = RunScores(self._config, store, store.scores())
            if rule.holds(scores.group_rates(number) for number in self._config.measured):
                return True
            store.decks = self._config.decks
        return False
