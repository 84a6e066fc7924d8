"""Frequencies of fold, call and raise by situation: street, players left, bet faced, hand strength and position.

A decision is counted with every hand in the actor's range, weighted by the range. Frequencies are then expectations at
the public states that were met, not single draws. If the agent reports no strategy, its range is the hand held.
`watched_agent` reports the decisions.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards.features import crowd_strength, made_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import RANKS
from plurispiel.agents.base import PublicState, Strategy
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.play_statistics import COUNTERS, hand_counts, new_counts

__all__ = [
    "BANDS",
    "CERTAIN",
    "FACED",
    "FOLDS",
    "PLAYERS",
    "RAISES",
    "SOURCE_PLACES",
    "CALLS",
    "WEIGHT",
    "PlayProfile",
    "WatchedDecision",
    "answer_shares",
    "bet_faced",
    "occasions",
]

PLAYERS = ("2", "3", "4+")
"""Classes of the number of players that have not folded, the actor included."""

FACED = (
    "no bet", "bet < 0.3 pot", "bet < 0.7 pot", "bet < 1.2 pot", "larger bet", "all-in bet", "raise", "re-raise"
)  # fmt: skip
"""Classes of the bet that the actor faces.

Before the flop blinds count as no bet, the first raise is a raise, and every later raise a re-raise. On later streets
the first bet is measured as a share of the pot before the bet, the first raise over it is a raise, and every later
raise a re-raise. Such a first bet is an all-in bet if it leaves the bettor no chips, or if a call leaves the actor
none.
"""

NO_BET, ALL_IN_BET, RAISE, RE_RAISE = map(FACED.index, ("no bet", "all-in bet", "raise", "re-raise"))
_BET_ENDS = (0.3, 0.7, 1.2)

BANDS = ("< 0.25", "0.25-0.45", "0.45-0.65", "0.65-0.85", "> 0.85")
"""Classes of hand strength: the chance of beating uniform hands of all other players left (`crowd_strength`).

A strength at a bound belongs to the lower class.
"""

_BAND_ENDS = (0.25, 0.45, 0.65, 0.85)

FOLDS, CALLS, RAISES, WEIGHT = range(4)
"""Columns of the counts by situation and by occasion: the expected numbers of folds, of checks and calls, of bets and
raises, and of decisions."""

CERTAIN = 0.99
"""Probability above which an action of a hand's strategy counts as certain."""

SOURCE_PLACES = ("before the flop", "after the flop", "after the flop, pot of 40 bb or more")
"""Classes of decisions in which sources are counted. A decision of the last class is also in the second."""

_LARGE_POT_BB = 40

TOP_SHARE = 0.98
"""The `made_strength` on the river from which a hand counts as one of the top 2 %."""

_COLD_CLASSES = ("AJo", "AQo", "KQo")


class WatchedDecision(NamedTuple):
    """A decision with all hands that the actor may hold.

    Attributes
    ----------
    public : PublicState
        The public state at which the actor decides.
    strategy : Strategy
        The actor's strategy for every combo. If the agent does not report it, only the row of the hand held is filled.
    weights : float64[num_combos]
        The actor's range, which sums to 1. Hands are weighted by the actor's strategy so far; hands that share a card
        with the board have 0. If the agent does not report its strategy, the hand held has 1 and all other hands 0.
    source : str
        The origin of the agent's answer, one of the sources in `BlueprintAgent.counts`; empty for agents without
        counts.
    is_on_tree : bool
        False if the source is ``off the tree`` or ``like decision``, that is, if the agent's betting tree has no
        decision for this situation.
    """

    public: PublicState
    strategy: Strategy
    weights: np.ndarray
    source: str = ""
    is_on_tree: bool = True


class PlayProfile:
    """Counts of an agent's play.

    Attributes
    ----------
    situations : float64[num_streets, 3, 8, 5, 4]
        Counts by street, `PLAYERS`, `FACED` and `BANDS`; the last axis is `FOLDS`, `CALLS`, `RAISES`, `WEIGHT`.
    occasions : dict of (str, str) to float64[4]
        The same four counts by the name of an occasion and the actor's position. Names are those that the function
        `occasions` returns, and further ones. ``cold AJo`` is a ``cold raise`` faced with this class of hands. Names
        that begin with ``on the tree`` or ``off the tree`` count decisions on the flop and later.
    certain : float64[4]
        Expected numbers of decisions on the flop and later with a certain fold, with a certain call, with a certain
        raise (all sizes together), and with any certain action (each size alone).
    num_after_flop : float
        Number of decisions on the flop and later, of which `certain` counts some.
    sources : Counter of (str, str)
        Number of decisions by source and one of `SOURCE_PLACES`.
    num_decisions, num_hands : int
        Numbers of decisions and of hands. A hand counts once for each seat that was watched.
    counts : int64[num_seats, len(COUNTERS)]
        Sums of the watched seats' rows of `hand_counts`.
    flops : int64[num_seats, 2]
        Number of hands in which the seat saw the flop, and of showdowns among them.
    """

    def __init__(self, num_seats: int, num_streets: int = 4):
        self.situations = np.zeros((num_streets, len(PLAYERS), len(FACED), len(BANDS), 4))
        self.occasions: dict[tuple[str, str], np.ndarray] = {}
        self.certain = np.zeros(4)
        self.num_after_flop = 0.0
        self.sources: Counter[tuple[str, str]] = Counter()
        self.num_decisions = self.num_hands = 0
        self.counts = new_counts(num_seats)
        self.flops = np.zeros((num_seats, 2), np.int64)

    def see_decision(self, decision: WatchedDecision) -> None:
        """Count a decision of the agent."""
        public, weights = decision.public, decision.weights
        shares = answer_shares(decision.strategy)
        weighted = np.column_stack([shares * weights[:, None], weights])
        strength = crowd_strength(public.rules, public.board, public.num_live - 1)
        players = min(public.num_live, 4) - 2
        bands = np.searchsorted(_BAND_ENDS, strength)
        for column in range(4):
            found = np.bincount(bands, weighted[:, column], len(BANDS))
            self.situations[public.street, players, bet_faced(public), :, column] += found
        for name in occasions(public):
            self._add(name, public.position, weighted)
        if "cold raise" in occasions(public):
            for name in _COLD_CLASSES:
                self._add(f"cold {name}", public.position, weighted[_class_combos(public, name)])
        if public.street:
            self._see_later_street(decision, shares, weighted)
        is_large = public.pot >= _LARGE_POT_BB * public.rules.big_blind
        for place in SOURCE_PLACES[1 : 2 + is_large] if public.street else SOURCE_PLACES[:1]:
            self.sources[decision.source, place] += 1
        self.num_decisions += 1

    def see_hand(self, hand: Hand, seat: int) -> None:
        """Count a whole hand of the agent at a seat."""
        self.num_hands += 1
        row = hand_counts(hand)[seat]
        self.counts[seat] += row
        folded_early = any(a.seat == seat and a.action == FOLD and a.street == 0 for a in hand.actions)
        has_flop = hand.showdown or any(action.street for action in hand.actions)
        if has_flop and not folded_early:
            self.flops[seat] += (1, row[COUNTERS.index("showdowns")])

    def occasion(self, name: str, position: str | None = None) -> np.ndarray:
        """Return the counts of an occasion at one position, or at all positions if None: float64[4]."""
        found = [row for (own, place), row in self.occasions.items() if own == name and position in (None, place)]
        return np.sum(found, axis=0) if found else np.zeros(4)

    def _add(self, name: str, position: str, weighted: np.ndarray) -> None:
        row = self.occasions.setdefault((name, position), np.zeros(4))
        row += weighted.sum(axis=0)

    def _see_later_street(self, decision: WatchedDecision, shares: np.ndarray, weighted: np.ndarray) -> None:
        """Count a decision on the flop or later: certain actions, and answers on and off the tree."""
        public, weights = decision.public, decision.weights
        self.num_after_flop += 1
        self.certain[:3] += weights @ (shares > CERTAIN)
        self.certain[3] += weights @ (np.asarray(decision.strategy.probabilities).max(axis=1) > CERTAIN)
        tree = "on the tree" if decision.is_on_tree else "off the tree"
        self._add(f"{tree}, {'facing a bet' if public.can_fold else 'nobody has bet'}", public.position, weighted)
        if public.street == public.rules.num_streets - 1 and not public.can_fold and _is_last(public):
            top = made_strength(public.rules, public.board) >= TOP_SHARE
            self._add(f"{tree}, last on the river, top hands", public.position, weighted[top])


def answer_shares(strategy: Strategy) -> np.ndarray:
    """Return the probabilities of fold, call and raise, all sizes together: float64[num_combos, 3]."""
    actions = np.asarray(strategy.actions)
    columns = [actions == FOLD, actions == CALL, actions > CALL]
    probabilities = np.asarray(strategy.probabilities, dtype=np.float64)
    shares = np.stack([probabilities[:, each].sum(axis=1) for each in columns], axis=1)
    return shares


def bet_faced(public: PublicState) -> int:
    """Return the class of the bet that the actor faces, as an index in `FACED`."""
    raisers = [action.seat for action in public.actions if action.street == public.street and action.action > CALL]
    if not raisers:
        return NO_BET
    if public.street == 0:
        return RAISE if len(raisers) == 1 else RE_RAISE
    if len(raisers) > 1:
        return RAISE if len(raisers) == 2 else RE_RAISE
    stacks = public.stacks
    if stacks is not None and (stacks[raisers[0]] == 0 or stacks[public.actor] <= public.to_call):
        return ALL_IN_BET
    paid = public.street_contributions
    return 1 + int(np.searchsorted(_BET_ENDS, paid[raisers[0]] / (public.pot - sum(paid)), side="right"))


def occasions(public: PublicState) -> list[str]:
    """Return the names of all occasions to which a decision belongs.

    ========================== ===================================================================================
    first in                   before the flop, all seats before the actor have folded
    a raise                    before the flop, one seat has raised, once, and this seat is not the actor
    a 3-bet                    before the flop, the actor has raised first, and another seat has raised once more
    cold raise                 "a raise", where the actor has not acted yet and nobody has called the raise
    big blind, raise           "a raise" for the big blind, without a call before or after the raise
    big blind, raise and call  "a raise" for the big blind, with calls after the raise but none before
    c-bet                      on the flop, nobody has bet, and the actor was the last raiser before the flop
    facing a c-bet             on the flop, the only bet is the bet of the last raiser before the flop
    donk flop, turn, river     nobody has bet, and the last raiser of the previous street, who has chips, acts later
    after the flop             the flop or any later street
    facing a bet               the flop or any later street, with a bet to call
    ========================== ===================================================================================
    """
    if public.street == 0:
        return _preflop_occasions(public)
    now = [action for action in public.actions if action.street == public.street]
    before = [action.seat for action in public.actions if action.street == public.street - 1 and action.action > CALL]
    bettors = [action.seat for action in now if action.action > CALL]
    names = ["after the flop", *(["facing a bet"] if public.can_fold else [])]
    if before:
        aggressor = before[-1]
        if public.street == 1 and not bettors and aggressor == public.actor:
            names.append("c-bet")
        if public.street == 1 and bettors == [aggressor]:
            names.append("facing a c-bet")
        acted = {action.seat for action in now}
        is_waiting = aggressor not in acted | {public.actor} and not public.folded[aggressor]
        if not bettors and is_waiting and (public.stacks is None or public.stacks[aggressor] > 0):
            names.append(f"donk {('', 'flop', 'turn', 'river')[public.street]}")
    return names


def _preflop_occasions(public: PublicState) -> list[str]:
    raises = [place for place, action in enumerate(public.actions) if action.action > CALL]
    raisers = [public.actions[place].seat for place in raises]
    if not any(action.action != FOLD for action in public.actions):
        return ["first in"]
    names = []
    if len(raises) == 1 and raisers[0] != public.actor:
        names.append("a raise")
        callers = [action.seat for action in public.actions[raises[0] + 1 :] if action.action == CALL]
        if not callers and all(action.seat != public.actor for action in public.actions):
            names.append("cold raise")
        if public.position == "BB" and not any(action.action == CALL for action in public.actions[: raises[0]]):
            names.append("big blind, raise and call" if callers else "big blind, raise")
    if len(raises) == 2 and raisers[0] == public.actor != raisers[1]:
        names.append("a 3-bet")
    return names


def _is_last(public: PublicState) -> bool:
    """Return whether every other player who has not folded and has chips left has acted on this street."""
    acted = {action.seat for action in public.actions if action.street == public.street}
    stacks = public.stacks or (1,) * public.rules.num_seats
    others = [seat for seat in range(public.rules.num_seats) if seat != public.actor and not public.folded[seat]]
    return all(seat in acted or not stacks[seat] for seat in others)


def _class_combos(public: PublicState, name: str) -> np.ndarray:
    """Return the ids of the combos of an offsuit class such as ``AJo``: int64[n]."""
    high, low = RANKS.index(name[0]), RANKS.index(name[1])
    cards = [(4 * high + first, 4 * low + second) for first in range(4) for second in range(4) if first != second]
    return np.array([public.rules.combo_id(pair) for pair in cards])
