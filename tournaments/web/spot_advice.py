"""The exact spot as adviser: a turn or river with two players left is solved from both players' ranges.

The ranges are the blueprint's beliefs at the start of the street. The solution is exact up to its exploitability, which
the advice states. If the exploitability is at most 5 % of the pot, the advice also has the EV of each action.
"""

from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import is_holdem
from plurispiel.agents.base import PublicState, Strategy
from plurispiel.agents.blueprint.agent import BundledAgent
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.node_ev import NodeEv
from plurispiel.agents.spots.node_strategy import NodePlace, find_node
from plurispiel.agents.spots.spot import Spot
from plurispiel.agents.spots.spot_solution import SpotSolution, solve_spot
from plurispiel.tournaments.web.advice import planned_ranges, strategy_advice
from plurispiel.tournaments.web.asked_hand import AskedHand

__all__ = ["SpotAdviser", "spot_of_street"]

_TARGET_PCT = 0.25
_TRUSTED_PCT = 5.0
"""The largest exploitability, in % of the pot, of a solution whose EVs are shown."""

_NUM_KEPT = 4
_MIN_WEIGHT = 1e-4
"""The smallest weight of a combo, as a share of the largest weight; above 0, as a player may hold any combo."""

_FIRST_BETS = (0.5, 1.0)
_FIRST_RAISES = (1.0,)
_LATER_BETS = "0.75p"
_SHALLOW = 3.0
"""The largest stack, in pots, at which all-in is a first bet, too."""

_NEAR = 0.2
"""A played size replaces a size of the menu if the two differ by at most this share of the played size."""


class SpotAdviser:
    """Solves the rest of the hand from the start of a decision's street, and keeps the last few solutions."""

    def __init__(self):
        self._blueprint = BundledAgent(None)
        self._solved: dict[tuple[AskedHand, int, float], tuple[Spot, SpotSolution]] = {}

    def warm(self) -> None:
        """Solve a small river."""
        bets = {"river": {"bet": "0.5p", "raise": "allin"}}
        solve_spot(Spot("Td9d6hQc7s", 60, 30, "AA,KQs", "JJ,98s", bets), max_iterations=10).node_ev()

    def advise(self, hand: AskedHand, decision: int, seconds: float) -> dict[str, Any]:
        """Return advice with the EV of each action.

        Returns
        -------
        dict
            As from `advice.strategy_advice`, with ``evs``, ``lost``, ``accuracy`` (the solution's exploitability in bb)
            and ``words``. ``evs`` has the EV of each action with the hand held, in bb. It is None if the hand or its EV
            is not known, or if the exploitability is above 5 % of the pot. ``lost`` is the best EV less the EV of the
            action that was played, in bb, or None.

        Raises
        ------
        ValueError
            If the decision is not on a turn or river of no-limit hold'em that two players have begun.
        """
        public = hand.public(decision)
        first = _first_decision(hand, public)
        start = hand.public(first)
        _require_two(start)
        key = hand, first, seconds
        if key not in self._solved:
            self._blueprint.restart(hand.rules, public.actor, np.random.default_rng(0))
            spot = spot_of_street(hand, first, planned_ranges(self._blueprint, hand.rules, start))
            solution = solve_spot(spot, target_pct=_TARGET_PCT, max_seconds=seconds)
            while len(self._solved) >= _NUM_KEPT:
                del self._solved[next(iter(self._solved))]
            self._solved[key] = spot, solution
        spot, solution = self._solved[key]
        words = [_word(hand, start, each) for each in range(first, decision + 1)]
        assert isinstance(solution.solver, VectorSolver), "the spot has two players"
        place = find_node(spot, solution.solver, " ".join(words[:-1]))
        strategy = Strategy(np.array(_real_actions(place, spot, start)), place.probabilities)
        advice = strategy_advice(hand, decision, strategy, place.weights[place.decision.seat])
        advice |= _accuracy(solution, hand)
        if solution.exploitability_pct > _TRUSTED_PCT:
            remark = f"After {solution.seconds:.0f} s this solution is too rough to tell EVs: allow it more seconds."
            return advice | {"evs": None, "lost": None, "remark": remark}
        return advice | _values(hand, decision, solution.node_ev(place.node), advice["grid"]["played"])


def _accuracy(solution: SpotSolution, hand: AskedHand) -> dict[str, Any]:
    big_blind = hand.rules.big_blind
    gain = solution.exploitability_pct / 100.0 * solution.spot.pot / big_blind
    words = (
        f"solved from the start of the street, pot {solution.spot.pot / big_blind:g} bb, with the ranges that the "
        f"blueprint would hold; a best response gains {gain:.3f} bb "
        f"({solution.exploitability_pct:.2f} % of the pot) in the mean of both seats; "
        f"{solution.iterations:,} iterations, {solution.seconds:.1f} s"
    )
    return {"accuracy": round(gain, 4), "words": words}


def spot_of_street(hand: AskedHand, first: int, ranges: np.ndarray) -> Spot:
    """Return the spot that begins with a street's first decision.

    Parameters
    ----------
    first : int
        The number of the street's first decision.
    ranges : float64[num_seats, num_combos]
        Each seat's range at this decision, in any scale.
    """
    start = hand.public(first)
    seats = [start.actor, next(seat for seat, out in enumerate(start.folded) if not out and seat != start.actor)]
    stacks = start.stacks
    assert stacks is not None, "limit games are refused before"
    left = (stacks[seats[0]], stacks[seats[1]])
    free = np.flatnonzero(hand.rules.free_combos(start.board))
    texts = []
    for seat in seats:
        row = ranges[seat] / ranges[seat][free].max()
        texts.append(",".join(f"{combo_text(combo)}:{max(row[combo], _MIN_WEIGHT):.4g}" for combo in free.tolist()))
    return Spot(
        board=cards_text(start.board),
        pot=start.pot,
        stacks=left,
        oop=texts[0],
        ip=texts[1],
        bets=_bets(hand, first, start, dict(zip(seats, ("oop", "ip"), strict=True)), min(left)),
    )


def _require_two(start: PublicState) -> None:
    rules = start.rules
    if rules.is_limit or not is_holdem(rules):
        raise ValueError("spots are of no-limit hold'em")
    if start.street < 2:
        raise ValueError("exact spots begin on the turn: earlier streets are too large to solve at once")
    if start.num_live != 2:
        raise ValueError(f"{start.num_live} players began this street; an exact spot has two")


def _first_decision(hand: AskedHand, public: PublicState) -> int:
    """Return the first decision of a public state's street."""
    return sum(action.street < public.street for action in public.actions)


def _bets(
    hand: AskedHand, first: int, start: PublicState, players: dict[int, str], stack: int
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the spot's bet sizes: a few usual ones, and those that were played."""
    played: dict[tuple[str, int], list[float]] = {}
    for decision in range(first, len(hand.actions)):
        seat, action, street = hand.actions[decision]
        if street != start.street:
            break
        if action > CALL:
            public = hand.public(decision)
            share = (action - max(public.contributions)) / (public.pot + public.to_call)
            played.setdefault((players[seat], public.num_raises), []).append(share)
    most = max((number for _, number in played), default=0)
    table = {}
    for player in players.values():
        menus = []
        for number in range(max(most, 1) + 1):
            usual = _FIRST_BETS if number == 0 else _FIRST_RAISES if number == 1 else ()
            own = played.get((player, number), [])
            shares = [*own, *(size for size in usual if all(abs(size - share) > _NEAR * share for share in own))]
            all_in = [] if number == 0 and stack > _SHALLOW * start.pot else ["allin"]
            menus.append(" ".join([*(f"{share:.9f}p" for share in sorted(shares)), *all_in]))
        table[player] = {"bet": menus[0], "raise": menus[1:]}
    names = {2: "turn", 3: "river"}
    later = {"river": {player: {"bet": _LATER_BETS, "raise": "allin"} for player in table}} if start.street == 2 else {}
    return {names[start.street]: table, **later}


def _word(hand: AskedHand, start: PublicState, decision: int) -> str:
    """Return the word of an action in a node's name; `start` is the state at the street's first decision."""
    action = hand.actions[decision].action
    if action <= CALL:
        return "f" if action == FOLD else "c"
    stacks = start.stacks
    assert stacks is not None
    contested = min(stack for stack, out in zip(stacks, start.folded, strict=True) if not out)
    letter = "r" if hand.public(decision).num_raises else "b"
    return f"{letter}{min(action - max(start.contributions), contested)}"


def _real_actions(place: NodePlace, spot: Spot, start: PublicState) -> list[int]:
    """Return a node's actions in chips of the hand. In the spot, each player begins with half of the pot put in."""
    shift = max(start.contributions) - spot.pot // 2
    return [action if action <= CALL else action + shift for action in place.decision.children]


def _values(hand: AskedHand, decision: int, values: NodeEv, played: int | None) -> dict[str, Any]:
    own = hand.combo(hand.actions[decision].seat)
    evs = None if own is None else values.action_ev[own] / hand.rules.big_blind
    if evs is None or not np.isfinite(evs).all():
        why = "" if own is None else "The solution never reaches this decision with this hand, so EVs are not known."
        return {"evs": None, "lost": None} | ({"remark": why} if why else {})
    lost = None if played is None else round(float(evs.max() - evs[played]), 4)
    return {"evs": [round(float(ev), 4) for ev in evs], "lost": lost}
