"""Continual re-solving at the table: times of decisions by street, and whether the opponent is held to its bounds.

The agent plays itself, heads-up. After each solve with a gadget, the values of the opponent's best response to the new
strategy are compared with the bounds from which the solve began. A hand *keeps* its bound if the hand's value is at
most half a percent of the pot above the bound.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from plurispiel.abstraction.holdem.rules import HUNL, STREETS
from plurispiel.abstraction.machine.artefact import holds_artefact
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Decision, PublicState, View
from plurispiel.agents.continual.table import TableAgent, TableConfig
from plurispiel.agents.continual.table.config import PREFLOP_NETS
from plurispiel.agents.continual.table.street import load_street_nets
from plurispiel.agents.continual.table.subgame import TOLERANCE
from plurispiel.agents.values.bundled import BUNDLED, find_nets
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.bench.decision_times import TimedAgent, time_of_decisions, times_by_street
from plurispiel.tournaments.bench.measurement import Measurement

_HANDS_A_SECOND = 10
_TIMED_HANDS_A_SECOND = 5
_THREADS = 2
_SHARE = 0.99
"""The note counts the solves in which at least this share of all hands keep their bounds."""


@dataclass
class _Kept:
    """Figures of the solves with a gadget on one street; each list has a number for each solve.

    Attributes
    ----------
    hands : list of float
        The share of hands that keep their bounds, among all hands that share no card with the board.
    range : list of float
        The share of the opponent's range whose hands keep their bounds.
    slack : list of float
        The mean over the opponent's range of the hand's bound minus its value, in pots.
    """

    hands: list[float] = field(default_factory=list)
    range: list[float] = field(default_factory=list)
    slack: list[float] = field(default_factory=list)

    def add(self, agent: TableAgent, public: PublicState) -> None:
        """Add the solve behind a decision, if the solve has bounds; range and pot are those at the solve's root."""
        solved = agent.solution(public)
        if solved.bounds is None:
            return
        estimate, pot = solved.root.beliefs[1 - solved.seat], sum(solved.root.state.contributions)
        free, over = public.rules.free_combos(public.board), solved.bounds_after(()) - solved.bounds
        keeps = over <= TOLERANCE * pot
        self.hands.append(float(keeps[free].mean()))
        self.range.append(float(estimate[keeps].sum()))
        self.slack.append(float(-(estimate * over).sum() / pot))

    def clear(self) -> None:
        """Forget all solves."""
        for numbers in (self.hands, self.range, self.slack):
            numbers.clear()

    def rows(self, street: str) -> list[Measurement]:
        """Return the figures."""
        if not self.hands:
            return []
        whole = 100.0 * np.mean(np.array(self.hands) >= _SHARE)
        note = f"of all hands, mean of {len(self.hands)} solves; {100.0 * _SHARE:g} % or more in {whole:.0f} % of them"
        slack = (
            f"of the opponent's range; its bounds are {100.0 * np.mean(self.slack):.1f} % of the pot above its values"
        )
        return [
            Measurement(f"  bounds kept, {street}", 100.0 * float(np.mean(self.hands)), "%", note),
            Measurement(f"  range kept, {street}", 100.0 * float(np.mean(self.range)), "%", slack),
        ]


class _CheckedTableAgent(TimedAgent, TableAgent):
    """Continual re-solving that records the times of its decisions, and which bounds its solves keep."""

    def __init__(self, config: TableConfig, kept: list[_Kept] | None):
        super().__init__(config)
        self._kept = kept

    def act(self, view: View) -> Decision:
        decision = super().act(view)
        if self._kept is not None and (view.public.street or self.blueprint is None):
            self._kept[view.public.street].add(self, view.public)
        return decision


def bench_continual(seconds: float = 1.0, config: TableConfig | None = None, nets: str = BUNDLED) -> list[Measurement]:
    """Return the times of decisions by street, and the shares of bounds that solves keep, for each way of play.

    The ways are C1, C2 and, if the folder `nets` has the networks for the preflop, C3. Solves have a fixed number of
    iterations. The times are then measured again with the option ``time=1``.

    Ten hands are played for each second of `seconds`, and five with the time limit, but at least one. An earlier hand,
    which loads tables, is not counted. Buckets of flops that are not in the cache are made during a decision. Where
    lookaheads end with networks, bounds are compared with means of the solver's values over its iterations, and not
    with the values of a best response.

    Parameters
    ----------
    config : TableConfig, optional
        The settings of C1 without a time limit; by default those of the agent ``continual``, with two threads.
    nets : str, optional
        The networks, as in `TableConfig`.

    Raises
    ------
    ArtefactRefused
        If a network is missing or damaged, before anything is measured; those for the preflop may be missing.
    """
    base = config or TableConfig(threads=_THREADS)
    ways = {"C1": base, "C2": replace(base, nets=nets)}
    folder = find_nets(nets)
    load_street_nets(folder)  # at the table a refusal would only be a fault of the agent
    if all(holds_artefact(folder / name) for name in PREFLOP_NETS):
        load_street_nets(folder, PREFLOP_NETS)
        ways["C3"] = replace(base, nets=nets, preflop="nets", cards=TableConfig.cards)
    rows = []
    for way, each in ways.items():
        kept = [_Kept() for _ in STREETS]
        rows += _times(f"{way}, by iterations", each, max(1, round(_HANDS_A_SECOND * seconds)), kept)
        for street, figures in zip(STREETS, kept, strict=True):
            rows += figures.rows(street)
        limited = replace(each, iterations=0, time=1.0)
        rows += _times(f"{way}, time=1", limited, max(1, round(_TIMED_HANDS_A_SECOND * seconds)), None)
    return rows


def _times(name: str, config: TableConfig, num_hands: int, kept: list[_Kept] | None) -> list[Measurement]:
    agents = [_CheckedTableAgent(config, kept) for _ in range(2)]
    with progress_bar(total=num_hands, desc=name, unit="hand") as progress:
        for number in range(num_hands + 1):
            deck = deal_deck(HUNL, np.random.default_rng((1, number)))
            play_hand(HUNL, agents, deck, [np.random.default_rng((2, number, seat)) for seat in range(2)])
            if number:
                progress.update()
                continue
            for agent in agents:  # the first hand loads tables
                agent.taken.clear()
                agent.counts.clear()
            for each in kept or ():
                each.clear()
    taken = [each for agent in agents for each in agent.taken]
    mean = time_of_decisions(f"{name}: a decision", [spent for _, spent in taken], f"{num_hands} hands, ")
    anew = sum(agent.counts["anew"] for agent in agents)
    anew_row = Measurement("  solves without bounds: no hand of the seat's range takes its last action", anew, "solves")
    return [mean, *times_by_street(taken), anew_row]
