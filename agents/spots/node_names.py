"""Names of a spot's nodes and actions.

Nodes are named by what leads to them, with blanks between: ``f`` fold, ``c`` check or call, ``b52%`` a bet and ``r45%``
a raise by so much of the pot, or by chips put in on the street as in ``b94``, ``allin``; and the cards dealt, as in
``c c 7d b55%``.
"""

import numpy as np

from plurispiel.abstraction.holdem import betting_state as betting_kernels
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.betting_tree import STREET_END, BettingDecision, StreetBetting
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.agents.resolve.subgame import Subgame

__all__ = ["PLAYERS", "action_names", "find_decision"]

PLAYERS = ("oop", "ip")


def find_decision(subgame: Subgame, streets: list[StreetBetting], first_street: int, name: str) -> BettingDecision:
    """Return the decision that a lock's name leads to."""
    index, street = 0, streets[0]
    place = int(np.flatnonzero(street.nodes.number == 0)[0])
    for word in [*name.split(), ""]:
        if street.nodes.kind[place] == STREET_END and word == "*":
            index, root = index + 1, int(street.nodes.end[place])
            street = streets[index]
            place = int(np.flatnonzero(street.nodes.number == root)[0])
            continue
        decision = next((each for each in street.decisions if each.node == place), None)
        if decision is None:
            where = (
                f"the {STREETS[first_street + index + 1]} card is dealt, written *"
                if (street.nodes.kind[place] == STREET_END)
                else "the hand is over"
            )
            raise ValueError(f"lock {name!r}: before {word!r} {where}")
        if not word:
            return decision
        names = action_names(subgame, decision)
        column = next((k for k, pair in enumerate(names) if word in pair), None)
        if column is None:
            raise ValueError(f"lock {name!r}: actions are {' '.join(own for own, _ in names)}, got {word!r}")
        place = list(decision.children.values())[column]
    raise AssertionError("the last word is empty and ends the walk")


def action_names(subgame: Subgame, decision: BettingDecision) -> list[tuple[str, str]]:
    """Return the names of a decision's actions: by shares of the pot, and by chips put in on the street."""
    state = decision.state
    contributions = state[betting_kernels.CONTRIB : betting_kernels.CONTRIB + 2]
    most = state[betting_kernels.MAX_CONTRIB]
    pot = sum(contributions) + subgame.dead_chips + most - contributions[decision.seat]
    letter = "r" if state[betting_kernels.NUM_RAISES] else "b"
    before = min(_street_start(subgame, decision))
    names = []
    for action in decision.children:
        if action == FOLD:
            names.append(("f", "f"))
        elif action == CALL:
            names.append(("c", "c"))
        else:
            chips = f"{letter}{action - before}"
            share = f"{letter}{100.0 * (action - most) / pot:.0f}%"
            names.append(("allin" if action == state[betting_kernels.MAX_RAISE] else share, chips))
    shares = [name for name, _ in names]
    return [(name if shares.count(name) == 1 else chips, chips) for name, chips in names]


def _street_start(subgame: Subgame, decision: BettingDecision) -> tuple[int, ...]:
    """Return the chips both seats had put in when the decision's street began."""
    state = subgame.state.copy()
    for _, action, _ in decision.actions:
        if state.street == decision.state[betting_kernels.STREET]:
            break
        state.apply_legal(action)
    return state.contributions
