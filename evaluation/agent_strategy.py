"""Reads an agent's complete strategy in a game with a flat tree."""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.holdem.openspiel import GAME_NAMES, OpenSpielGame
from plurispiel.abstraction.trees.game_tree import GameTree, checked_strategy
from plurispiel.agents.base import Agent, Decision
from plurispiel.agents.openspiel.feed import HandFeed, own_view
from plurispiel.evaluation.hand import unreadable

_TIMES_ASKED = 1_000
"""An agent that answers with bare actions in all infosets gets at least this number of repeated questions in all.

Each infoset gets an equal number of these questions."""


def strategy_from_agent(tree: GameTree, agent: Agent) -> np.ndarray:
    """Return the strategy that an agent follows at every seat: float64[num_actions], as in `GameTree`.

    The strategy is read from `range_strategy`, once for each public state and seat. Where `range_strategy` returns
    None, the agent acts in every infoset of the public state, and the probabilities of its `Decision` are read. An
    agent that answers with a bare action is asked again with other random numbers, and must give the same answer.

    Raises
    ------
    ValueError
        If the game is not one that agents play, or the agent randomises without reporting probabilities, reports a
        malformed strategy, acts illegally or raises an exception.
    """
    name = tree.game.partition("(")[0]
    if name not in GAME_NAMES:
        raise ValueError(f"agents play {', '.join(GAME_NAMES)}, got {name}; give the policy of a solved game instead")
    game = OpenSpielGame(tree.openspiel_game)
    try:
        return checked_strategy(tree, _read(tree, agent, game))
    except Exception as error:  # an agent may raise anything
        raise unreadable(agent, error) from error


def _read(tree: GameTree, agent: Agent, game: OpenSpielGame) -> np.ndarray:
    num_hole = game.rules.num_hole_cards
    public_states: dict[tuple[int, tuple[int, ...]], list[tuple[int, list[int]]]] = {}
    # Any history of an infoset will do, as all of them look the same to the seat: take the first.
    for infoset, first in enumerate(tree.infoset_histories[tree.infoset_histories_first[:-1]].tolist()):
        seat = int(tree.infoset_player[infoset])
        seen = own_view(game.rules, tree.history(first), seat)
        public_states.setdefault((seat, tuple(seen[num_hole:])), []).append((infoset, seen))
    strategy = np.empty(tree.num_actions)
    again = -(-_TIMES_ASKED // tree.num_infosets)
    for (seat, _), members in public_states.items():
        views = [seen for _, seen in members]
        policies = _range_policies(agent, game, seat, views)
        if policies is None:
            policies = [_asked(agent, game, seat, seen, again) for seen in views]
        for (infoset, _), policy in zip(members, policies, strict=True):
            actions = range(tree.infoset_first[infoset], tree.infoset_first[infoset + 1])
            for action in actions:
                strategy[action] = policy.pop(int(tree.action_ids[action]), 0.0)
            if illegal := [action for action, probability in policy.items() if probability]:
                raise ValueError(f"it gives probabilities to actions {illegal}, which are not legal in the game")
    return strategy


def _range_policies(
    agent: Agent, game: OpenSpielGame, seat: int, views: Sequence[list[int]]
) -> list[dict[int, float]] | None:
    """Return the policy (action to probability) for each view; None if the agent reports no strategy.

    The views must differ in the seat's own cards only.
    """
    hand = HandFeed(agent, game, seat, views[0], np.random.SeedSequence(0))
    hand.follow(views[0])
    num_hole = game.rules.num_hole_cards
    return hand.range_policies([game.rules.combo_id(map(game.card, seen[:num_hole])) for seen in views])


def _asked(agent: Agent, game: OpenSpielGame, seat: int, seen: list[int], again: int) -> dict[int, float]:
    """Return the policy (action to probability) of an agent that acts on one view.

    An agent that answers with a bare action is asked `again` further times, with other random numbers.
    """

    def ask(number: int) -> tuple[HandFeed, Decision]:
        hand = HandFeed(agent, game, seat, seen, np.random.SeedSequence(number))
        hand.follow(seen)
        return hand, hand.act()

    hand, decision = ask(0)
    if not decision.actions:
        for number in range(1, again + 1):
            if (other := ask(number)[1].action) != decision.action:
                raise ValueError(
                    f"it answers {decision.action} or {other} to the same view without telling the probabilities; "
                    "let it return a Decision, or define range_strategy"
                )
    return hand.decision_policy(decision)
