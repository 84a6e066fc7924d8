"""Scores of hands at a service: our own AIVAT estimate, where it is unbiased, and the results of all hands.

The estimate needs the opponent's cards in every hand. Some services show these cards at showdowns only. The hands with
an estimate would then differ from the others, and the mean would be biased. So a mean of estimates is given only if all
hands have one.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from plurispiel.agents.base import Agent
from plurispiel.evaluation.aivat import Aivat, Score
from plurispiel.evaluation.hand import Fault, Hand
from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.value_functions import ValueFunction
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.remote.store import BROKEN, SCORED, ServiceHand

_VALUES = 2  # last number of the spawn key of the value function's stream; the seats' streams have 0 and 1 there


class Scorer:
    """Scores hands of our agent against an opponent whose strategy is unknown.

    Parameters
    ----------
    agent : Agent
        Our agent.
    is_trusted : bool
        Whether the agent's reported strategy corrects the score, as for agents of this package.
    values : ValueFunction
        The value function of AIVAT.
    seed : int
        Seed of the values' random samples.
    """

    def __init__(self, agent: Agent, is_trusted: bool, values: ValueFunction, seed: int):
        self._teller = agent if is_trusted else Agent()
        self._values = values
        self._seed = seed

    def score(
        self, history: HandHistory, seat: int, number: int, faults: Sequence[Fault] = ()
    ) -> tuple[Hand, float | None]:
        """Return a hand that has just been played, and our AIVAT estimate in chips; None if hole cards are unknown."""
        rules = history.rules
        hand = replay_hand(replay_betting(rules, history.actions), history.hole_cards, history.board)
        if not all(history.hole_cards):
            return hand, None
        hand = dataclasses.replace(hand, faults=tuple(faults))
        aivat = Aivat(rules, self._values)
        aivat.restart(np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(number, _VALUES))))
        tellers = [self._teller if other == seat else Agent() for other in range(rules.num_seats)]
        return hand, zero_sum_estimates(aivat.scores(hand, tellers))[seat]


def zero_sum_estimates(scores: Sequence[Score]) -> list[float]:
    """Return the seats' estimates of a hand, in chips, which sum to 0 and are unbiased.

    A seat whose strategy is known starts from its AIVAT estimate, any other seat from `Score.reduced`. The payoffs of a
    hand sum to 0, so the sum of these scores is luck. The sum is taken off the seats whose strategy is not known, in
    equal parts, or off all seats if all strategies are known.
    """
    known = [score.estimate is not None for score in scores]
    found = [score.reduced if score.estimate is None else score.estimate for score in scores]
    bearers = [seat for seat in range(len(scores)) if all(known) or not known[seat]]
    share = sum(found) / len(bearers)
    return [chips - share if seat in bearers else chips for seat, chips in enumerate(found)]


def results_of(hands: Iterable[ServiceHand], big_blind: int) -> dict[str, Any]:
    """Return the results of hands as plain values, rates in mbb/hand.

    Keys: ``hands`` (number of scored hands), ``broken``, ``first_trouble``, ``mbb_per_hand``, ``ci95``, ``aivat`` (by
    our estimates), ``by_service`` (by the service's estimates), ``opponents`` (scored hands by name), ``faults`` (of
    all hands) and ``first_fault``. ``aivat`` and ``by_service`` are dicts of ``mbb_per_hand`` and ``ci95``. They are
    None if no hand is scored, or a scored hand has no estimate.
    """
    everything = list(hands)
    scored = [hand for hand in everything if hand.status == SCORED]
    broken = [hand for hand in everything if hand.status == BROKEN]
    faults = [f"hand {hand.number}: {text}" for hand in everything for text in hand.faults]
    raw = _rates([hand.payoff for hand in scored], big_blind) or {"mbb_per_hand": None, "ci95": None}
    return {
        "hands": len(scored),
        "broken": len(broken),
        "first_trouble": f"hand {broken[0].number}: {broken[0].trouble}" if broken else None,
        **raw,
        "aivat": _rates([hand.aivat for hand in scored], big_blind),
        "by_service": _rates([hand.service_corrected for hand in scored], big_blind),
        "opponents": dict(Counter(hand.opponent for hand in scored)),
        "faults": len(faults),
        "first_fault": faults[0] if faults else None,
    }


def _rates(chips: Sequence[float | None], big_blind: int) -> dict[str, float | None] | None:
    known = [each for each in chips if each is not None]
    if not known or len(known) < len(chips):
        return None
    estimate = estimate_mean(np.array(known) * (1000.0 / big_blind))
    return {"mbb_per_hand": estimate.mean, "ci95": estimate.ci95}
