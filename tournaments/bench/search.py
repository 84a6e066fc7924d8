"""Times of search's decisions in self-play, and the share of searched decisions that search moves (`MOVED_SHARE`)."""

import time

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.agents.search.agent import MOVED_SHARE, SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.bench.decision_times import TimedAgent, times_by_street
from plurispiel.tournaments.bench.measurement import Measurement

_GAMES = {"heads-up, 200 bb": HUNL, "six seats, 100 bb": SIXMAX}
_HANDS_A_SECOND = 30


class _TimedSearch(TimedAgent, SearchAgent):
    """Search that records the times of its decisions."""


def bench_search(seconds: float = 1.0, config: SearchConfig | None = None) -> list[Measurement]:
    """Return the times of decisions by street, the time of a hand, and the share of moved decisions.

    In each game, thirty hands are played for each second of `seconds`, but at least two. An earlier hand, which loads
    tables, is not counted. A searched decision counts as moved if search shifts a probability above `MOVED_SHARE`
    between fold, call and raise, for the hand held.

    Parameters
    ----------
    config : SearchConfig, optional
        The settings of search; by default those of the agent ``search``.
    """
    rows = []
    for name, rules in _GAMES.items():
        rows += _measure(name, rules, max(2, round(_HANDS_A_SECOND * seconds)), config)
    return rows


def _measure(name: str, rules: HoldemRules, num_hands: int, config: SearchConfig | None) -> list[Measurement]:
    agents, hands = [_TimedSearch(config=config) for _ in range(rules.num_seats)], []
    for number in range(num_hands + 1):
        deck = deal_deck(rules, np.random.default_rng((1, number)))
        began = time.perf_counter()
        play_hand(rules, agents, deck, [np.random.default_rng((2, number, seat)) for seat in range(rules.num_seats)])
        hands.append(time.perf_counter() - began)
        if not number:  # the first hand loads tables
            for agent in agents:
                agent.taken.clear()
                agent.counts.clear()
    rows = [
        Measurement(
            f"{name}: a hand", float(np.mean(hands[1:])), "s", f"{num_hands} hands, the longest {max(hands[1:]):.2f} s"
        )
    ]
    rows += times_by_street([each for agent in agents for each in agent.taken])
    searched = sum(agent.counts["searched"] for agent in agents)
    moved = sum(agent.counts["moved"] for agent in agents)
    share = 100.0 * moved / max(searched, 1)
    note = f"of {searched} searched, by more than {100.0 * MOVED_SHARE:g} % between folds, calls and raises"
    return [*rows, Measurement("  moved decisions", share, "%", note)]
