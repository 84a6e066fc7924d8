"""How long search takes to decide, and how often it moves away from its blueprint, when it plays itself."""

import time

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, STREETS, HoldemRules
from plurispiel.abstraction.machine.memory import peak_bytes
from plurispiel.agents.base import Decision, View
from plurispiel.agents.search.agent import MOVED_SHARE, SearchAgent
from plurispiel.agents.search.config import SearchConfig
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.bench.row import Row

_GAMES = {"heads-up, 200 bb": HUNL, "six seats, 100 bb": SIXMAX}
_HANDS_A_SECOND = 30


class _Timed(SearchAgent):
    """Notes how long its decisions take, by street."""

    def __init__(self, config: SearchConfig | None):
        super().__init__(config=config)
        self.taken: list[tuple[int, float]] = []

    def act(self, view: View) -> Decision:
        began = time.perf_counter()
        decision = super().act(view)
        self.taken.append((view.public.street, time.perf_counter() - began))
        return decision


def bench_search(seconds: float = 1.0, config: SearchConfig | None = None) -> list[Row]:
    """Return times by street and by hand, the share of moved decisions, and memory: thirty hands for each second."""
    rows = []
    for name, rules in _GAMES.items():
        rows += _measure(name, rules, max(2, round(_HANDS_A_SECOND * seconds)), config)
    return [*rows, Row("memory", peak_bytes() / 2**20, "MiB", "at most, of the whole process")]


def _measure(name: str, rules: HoldemRules, num_hands: int, config: SearchConfig | None) -> list[Row]:
    agents, hands = [_Timed(config) for _ in range(rules.num_seats)], []
    for number in range(num_hands + 1):
        deck = deal_deck(rules, np.random.default_rng((1, number)))
        began = time.perf_counter()
        play_hand(rules, agents, deck, [np.random.default_rng((2, number, seat)) for seat in range(rules.num_seats)])
        hands.append(time.perf_counter() - began)
        if not number:  # loading
            for agent in agents:
                agent.taken.clear()
                agent.counts.clear()
    taken = [each for agent in agents for each in agent.taken]
    rows = [
        Row(f"{name}: a hand", float(np.mean(hands[1:])), "s", f"{num_hands} hands, the longest {max(hands[1:]):.2f} s")
    ]
    for street, title in enumerate(STREETS):
        times = [each for where, each in taken if where == street]
        if times:
            note = f"{len(times)} decisions, the longest {max(times):.2f} s"
            rows.append(Row(f"  a decision, {title}", float(np.mean(times)), "s", note))
    searched = sum(agent.counts["searched"] for agent in agents)
    moved = sum(agent.counts["moved"] for agent in agents)
    share = 100.0 * moved / max(searched, 1)
    note = f"of {searched} searched, by more than {100.0 * MOVED_SHARE:g} % between folds, calls and raises"
    return [*rows, Row("  moved decisions", share, "%", note)]
