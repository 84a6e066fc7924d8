"""The ranges with which a blueprint's seats reach a decision before the flop, or the end of the preflop betting."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent

__all__ = ["PreflopPlace", "preflop_place"]


@dataclass(frozen=True, eq=False)
class PreflopPlace:
    """A decision before the flop, or the end of the betting before the flop.

    Attributes
    ----------
    line : tuple of str
        The actions so far: ``f``, ``c``, or ``r250`` for a raise to 250 chips over the whole hand.
    positions : tuple of str
        The names of the seats' positions.
    actor : int
        The seat to act; -1 when the betting before the flop is over.
    actions : tuple of str
        The actions that the blueprint offers, named as in `line`; empty when the betting is over.
    probabilities : float64[1326, num_actions]
        The actor's strategy.
    weights : float64[num_seats, 1326]
        The weight of each combo of each seat: the product of the blueprint's probabilities of the seat's own actions
        in `line`.
    folded : tuple of bool
        Whether each seat has folded.
    contributions, stacks : tuple of int
        Chips that the seats have put in, and have left.
    players : tuple of int
        The two seats that see the flop, out of position first. Empty while the betting is not over. Also empty if more
        or fewer than two seats see the flop, or one of the two is all-in.
    """

    line: tuple[str, ...]
    positions: tuple[str, ...]
    actor: int
    actions: tuple[str, ...]
    probabilities: np.ndarray
    weights: np.ndarray
    folded: tuple[bool, ...]
    contributions: tuple[int, ...]
    stacks: tuple[int, ...]
    players: tuple[int, ...]


def preflop_place(agent: BlueprintAgent, line: Sequence[str]) -> PreflopPlace:
    """Return the place to which a line of actions before the flop leads.

    Raises
    ------
    ValueError
        If the blueprint does not offer an action of the line, or the line goes on after the betting has ended. Also if
        the blueprint's game is not no-limit hold'em.
    """
    rules = agent.blueprint.rules
    if rules.stacks is None or rules.num_combos != 1326:
        raise ValueError("ranges are read from blueprints of no-limit hold'em; take another blueprint")
    agent.restart(rules, 0, np.random.default_rng(0))
    state = BettingState(rules)
    weights = np.ones((rules.num_seats, rules.num_combos))
    taken: list[Action] = []
    folded = [False] * rules.num_seats
    for word in [*line, ""]:
        if state.is_over or state.street > 0:
            if word:
                raise ValueError(f"the betting before the flop has ended, got one more action: {word!r}")
            break
        seat = state.actor
        strategy = agent.range_strategy(PublicState(rules, state.array.tolist(), (), tuple(taken)))
        names = tuple("f" if a == FOLD else "c" if a == CALL else f"r{a}" for a in strategy.actions.tolist())
        if not word:
            return _place(line, state, seat, names, strategy.probabilities, weights, folded)
        if word not in names:
            before = " ".join(line[: len(taken)]) or "the blinds"
            raise ValueError(f"after {before} the actions are {' '.join(names)}, got {word[:40]!r}")
        column = names.index(word)
        action = int(strategy.actions[column])
        weights[seat] *= strategy.probabilities[:, column]
        folded[seat] = action == FOLD
        taken.append(Action(seat, action, 0))
        state.apply(action)
    return _place(line, state, -1, (), np.zeros((rules.num_combos, 0)), weights, folded)


def _place(
    line: Sequence[str],
    state: BettingState,
    actor: int,
    names: tuple[str, ...],
    probabilities: np.ndarray,
    weights: np.ndarray,
    folded: list[bool],
) -> PreflopPlace:
    rules = state.rules
    assert rules.stacks is not None
    left = tuple(stack - chips for stack, chips in zip(rules.stacks, state.contributions, strict=True))
    players: list[int] = []
    if actor < 0 and not state.is_over:
        order = [(rules.first_seats[1] + step) % rules.num_seats for step in range(rules.num_seats)]
        players = [seat for seat in order if not folded[seat]]
    sees = tuple(players) if len(players) == 2 and all(left[seat] for seat in players) else ()
    return PreflopPlace(
        line=tuple(line),
        positions=seat_positions(rules),
        actor=actor,
        actions=names,
        probabilities=probabilities,
        weights=weights,
        folded=tuple(folded),
        contributions=state.contributions,
        stacks=left,
        players=sees,
    )
