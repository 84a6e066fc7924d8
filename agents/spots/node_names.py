"""Names of a spot's nodes and actions.

A node is named by the actions and cards that lead to it, separated by blanks: ``c c 7d b55%`` is two checks, the turn
card 7d and a bet. Actions are ``f`` (fold), ``c`` (check or call), ``allin``, and bets and raises by a share of the pot
after a call, such as ``b52%`` and ``r45%``. A bet or raise may also be named by the chips that the player has then put
in on the street: ``b94`` is a bet of 94 chips, and ``r188`` a raise to 188 chips.
"""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.holdem import betting_layout
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.betting_tree import STREET_END, BettingDecision, StreetBetting
from plurispiel.abstraction.holdem.rules import STREETS
from plurispiel.agents.resolve.subgame import Subgame

__all__ = ["PLAYERS", "THREE_PLAYERS", "action_names", "find_decision", "names_of"]

PLAYERS = ("oop", "ip")
THREE_PLAYERS = ("oop", "middle", "ip")


def find_decision(subgame: Subgame, streets: list[StreetBetting], first_street: int, name: str) -> BettingDecision:
    """Return the decision that a lock names.

    Parameters
    ----------
    streets : list of StreetBetting
        The subgame's betting, from its first street on.
    first_street : int
        The number of that street: 1 flop, 2 turn, 3 river.
    name : str
        The name of a node, with ``*`` in place of every card dealt.

    Raises
    ------
    ValueError
        If the name leads to no decision.
    """
    index, street = 0, streets[0]
    node = int(np.flatnonzero(street.nodes.number == 0)[0])
    for word in [*name.split(), ""]:
        if street.nodes.kind[node] == STREET_END and word == "*":
            index, root = index + 1, int(street.nodes.end[node])
            street = streets[index]
            node = int(np.flatnonzero(street.nodes.number == root)[0])
            continue
        decision = next((each for each in street.decisions if each.node == node), None)
        if decision is None:
            where = (
                f"the {STREETS[first_street + index + 1]} card is dealt: write * for it"
                if (street.nodes.kind[node] == STREET_END)
                else "the hand is over"
            )
            place = f"before {word!r}" if word else "after the last word"
            raise ValueError(f"lock {name!r}: {place} {where}")
        if not word:
            return decision
        names = action_names(subgame, decision)
        column = next((k for k, pair in enumerate(names) if word in pair), None)
        if column is None:
            raise ValueError(f"lock {name!r}: actions are {' '.join(name for name, _ in names)}, got {word!r}")
        node = list(decision.children.values())[column]
    raise AssertionError("the last word is empty and ends the walk")


def action_names(subgame: Subgame, decision: BettingDecision) -> list[tuple[str, str]]:
    """Return two names for each action of a decision.

    The first name is the usual one: ``f``, ``c``, ``allin``, or a bet or raise by its share of the pot, or by its chips
    if the shares of two sizes round to the same percentage. The second name gives bets and raises, also all-in, in
    chips put in on the street.
    """
    contributions = decision.state[betting_layout.CONTRIB : betting_layout.CONTRIB + 2]
    before = min(_street_start(subgame, decision))
    return names_of(decision.state, tuple(decision.children), sum(contributions) + subgame.dead_chips, before)


def names_of(state: Sequence[int], actions: Sequence[int], chips_in: int, before: int) -> list[tuple[str, str]]:
    """Return the names of actions, as in `action_names`.

    Parameters
    ----------
    state : sequence of int
        The betting state array of the decision.
    actions : sequence of int
        The legal actions on offer: 0 fold, 1 check or call, N raise to N chips over the whole hand.
    chips_in : int
        All chips in the pot, dead chips included.
    before : int
        Chips that each player had put in when the street began.
    """
    most = state[betting_layout.MAX_CONTRIB]
    # A raise is named by its share of the pot after a call, as bet sizes are.
    pot = chips_in + most - state[betting_layout.CONTRIB + state[betting_layout.ACTOR]]
    letter = "r" if state[betting_layout.NUM_RAISES] else "b"
    names = []
    for action in actions:
        if action == FOLD:
            names.append(("f", "f"))
        elif action == CALL:
            names.append(("c", "c"))
        else:
            chips = f"{letter}{action - before}"
            share = f"{letter}{100.0 * (action - most) / pot:.0f}%"
            names.append(("allin" if action == state[betting_layout.MAX_RAISE] else share, chips))
    shares = [name for name, _ in names]
    # Two sizes may round to the same percentage; then both are named by their chips.
    return [(name if shares.count(name) == 1 else chips, chips) for name, chips in names]


def _street_start(subgame: Subgame, decision: BettingDecision) -> tuple[int, ...]:
    """Return the chips that each seat had put in when the decision's street began."""
    state = subgame.state.copy()
    for _, action, _ in decision.actions:
        if state.street == decision.state[betting_layout.STREET]:
            break
        state.apply_legal(action)
    return state.contributions
