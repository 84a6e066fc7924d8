"""Exact best responses to two agents' reported strategies in heads-up hold'em, computed on the public tree.

The game's betting and boards are walked once (`public_walk`), with the reach of each seat's combos. At each public
state a best response takes the best action for each combo against the other seat's whole range, with exact card
removal. Cards are not abstracted; the bet sizes are those of the game's menu. Each agent reports its `range_strategy`
at each public state of the walk where its seat acts and has reach.

References
----------
M. Johanson, K. Waugh, M. Bowling and M. Zinkevich: Accelerating Best Response Calculation in Large Extensive Games.
IJCAI (2011): the public tree, and values of all hands at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import LEDUC, HoldemRules
from plurispiel.abstraction.holdem.showdown import fold_mass, rank_hands
from plurispiel.agents.base import Agent, PublicState
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.evaluation.best_response import Exploitability
from plurispiel.evaluation.public_walk import BEST, OWN, OnProgress, PublicWalk


@dataclass(frozen=True, eq=False)
class PublicExploitability(Exploitability):
    """The distance of two agents from an equilibrium, in chips over the whole hand.

    Attributes
    ----------
    combo_values : float64[2, num_combos]
        The expectation of each seat's best response with each combo against the other seat's range; NaN for
        impossible combos and for combos without a compatible hand in that range.
    suit_symmetric : bool or None
        Whether boards that differ by a renaming of suits were walked as one; None if no cards were dealt to an empty
        board.
    num_boards : int
        Number of boards of the game's last street that were walked.
    """

    combo_values: np.ndarray
    suit_symmetric: bool | None
    num_boards: int


def public_best_response(
    rules: HoldemRules, agents: Sequence[Agent], *, threads: int = 2, on_progress: OnProgress | None = None
) -> PublicExploitability:
    """Return the values of two agents against each other and against best responses, in the whole game.

    Parameters
    ----------
    rules : HoldemRules
        A game with two seats, one or two hole cards and a menu of raises. Betting nodes times boards are at most
        `public_walk.MAX_PUBLIC_STATES`.
    agents : sequence of Agent
        The agent of each seat. The two are separate objects, even if they play the same strategy.
    threads, on_progress
        As in `PublicWalk`.

    Raises
    ------
    ValueError
        If the game is not as described above or needs too much memory, the agents are not two different instances,
        `threads` is below 1, or `PublicWalk.values` refuses an agent's report.

    Examples
    --------
    >>> from plurispiel.abstraction.holdem.rules import LEDUC
    >>> from plurispiel.agents import make_agent
    >>> random = public_best_response(LEDUC, [make_agent("random"), make_agent("random")])
    >>> round(random.nash_conv, 6)
    4.747222
    """
    public = PublicState(rules, BettingState(rules).array.tolist())
    return _measured(public, np.ones((2, rules.num_combos)), agents, threads, on_progress)


def subgame_best_response(
    public: PublicState,
    ranges: npt.ArrayLike,
    agents: Sequence[Agent],
    *,
    threads: int = 2,
    on_progress: OnProgress | None = None,
) -> PublicExploitability:
    """Return the values of two agents against each other and against best responses, in a subgame with given ranges.

    Parameters
    ----------
    public : PublicState
        The root of the subgame; a seat must be to act.
    ranges : array-like of float, [2, num_combos]
        Weights of each seat's combos in any scale. The weight of a pair of compatible combos is the product of their
        two weights. Combos that share a card with the board are left out.
    agents, threads, on_progress
        As in `public_best_response`.

    Raises
    ------
    ValueError
        If no seat is to act, the number of board cards is not that of the street, the ranges are malformed or have no
        compatible hands, or `public_best_response` would raise one.

    Notes
    -----
    Payoffs are those of the whole hand, including the chips put in before `public`.
    """
    rules = public.rules
    weights = np.array(ranges, dtype=np.float64)
    if weights.shape != (2, rules.num_combos) or not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError(
            f"ranges are finite weights of at least 0 in the shape (2, {rules.num_combos}), seats by combos; got the "
            f"shape {weights.shape}, or a weight below 0, infinite or NaN"
        )
    if len(public.board) != rules.board_size(public.street) or public.actor < 0:
        raise ValueError(
            f"a subgame starts with a seat to act and the whole board ({rules.board_size(public.street)} cards on "
            f"street {public.street}), got the board {cards_text(public.board)!r} and seat {public.actor} (-1: none)"
        )
    return _measured(public, weights, agents, threads, on_progress)


def _measured(
    public: PublicState, ranges: np.ndarray, agents: Sequence[Agent], threads: int, on_progress: OnProgress | None
) -> PublicExploitability:
    """Walk from a public state, and average each seat's values over its own range.

    The walk's values are weighted by the other seat's reach. A combo's value divided by the total reach of the other
    seat's compatible hands (`facing`) is the combo's expectation.
    """
    rules = public.rules
    walk = PublicWalk(public, agents, threads=threads, on_progress=on_progress)
    hands = rank_hands(rules, public.board)
    reach, facing = np.zeros((2, 2, rules.num_combos))
    reach[:, hands.combos] = ranges[:, hands.combos]  # `hands` lacks combos with a card of the board; they keep 0
    facing[:, hands.combos] = fold_mass(hands, reach[::-1, hands.combos])
    pairs = reach[0] @ facing[0]  # total weight of all pairs of compatible hands
    if not pairs > 0.0:
        raise ValueError("the ranges have no two compatible hands; give each seat hands without common cards")
    values = walk.values(reach)
    possible = facing > 0.0
    combo_values = np.full((2, rules.num_combos), np.nan)
    combo_values[possible] = values[:, BEST][possible] / facing[possible]
    return PublicExploitability(
        values=(reach * values[:, OWN]).sum(axis=1) / pairs,
        best_response_values=(reach * values[:, BEST]).sum(axis=1) / pairs,
        zero_sum=True,
        combo_values=combo_values,
        suit_symmetric=walk.suit_symmetric,
        num_boards=walk.num_boards,
    )


def warmup() -> None:
    """Compile every kernel that this module calls."""
    public_best_response(LEDUC, [CallAgent(), CallAgent()], threads=1)
