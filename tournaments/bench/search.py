"""Times of search's decisions in self-play, and the share of searched decisions that differ from the blueprint's."""

import time

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, STREETS, HoldemRules
from plurispiel.agents.base import Decision, View
from plurispiel.agents.search.agent import MOVED_SHARE, SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.bench.measurement import Measurement

_GAMES = {"heads-up, 200 bb": HUNL, "six seats, 100 bb": SIXMAX}
_HANDS_A_SECOND = 30


class _Timed(SearchAgent):
    """Search that records the street and the time of each of its decisions."""

    def __init__(self, config: SearchConfig | None):
        super().__init__(config=config)
        self.taken: list[tuple[int, float]] = []

    def act(self, view: View) -> Decision:
        began = time.perf_counter()
        decision = super().act(view)
        self.taken.append((view.public.street, time.perf_counter() - began))
        return decision


def bench_search(seconds: float = 1.0, config: SearchConfig | None = None) -> list[Measurement]:
    """Return times by street and by hand, and the share of moved decisions.

    In each game, thirty hands are played for each second of `seconds`, but at least two. An earlier hand, which loads
    tables, is not counted. Search has moved a decision if, for the hand held, it shifts more than the probability
    `MOVED_SHARE` between fold, call and raise.

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
    agents, hands = [_Timed(config) for _ in range(rules.num_seats)], []
    for number in range(num_hands + 1):
        deck = deal_deck(rules, np.random.default_rng((1, number)))
        began = time.perf_counter()
        play_hand(rules, agents, deck, [np.random.default_rng((2, number, seat)) for seat in range(rules.num_seats)])
        hands.append(time.perf_counter() - began)
        if not number:  # the first hand loads tables
            for agent in agents:
                agent.taken.clear()
                agent.counts.clear()
    taken = [each for agent in agents for each in agent.taken]
    rows = [
        Measurement(
            f"{name}: a hand", float(np.mean(hands[1:])), "s", f"{num_hands} hands, the longest {max(hands[1:]):.2f} s"
        )
    ]
    for street, title in enumerate(STREETS):
        times = [each for where, each in taken if where == street]
        if times:
            note = f"{len(times)} decisions, the longest {max(times):.2f} s"
            rows.append(Measurement(f"  a decision, {title}", float(np.mean(times)), "s", note))
    searched = sum(agent.counts["searched"] for agent in agents)
    moved = sum(agent.counts["moved"] for agent in agents)
    share = 100.0 * moved / max(searched, 1)
    note = f"of {searched} searched, by more than {100.0 * MOVED_SHARE:g} % between folds, calls and raises"
    return [*rows, Measurement("  moved decisions", share, "%", note)]
