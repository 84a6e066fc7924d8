"""The agent `equity`: it calls if its equity against random hands is at least the pot odds."""

from collections.abc import Sequence

import numpy as np

from plurispiel.abstraction.actions.menu import MAX_AMOUNT, parse_sizes
from plurispiel.abstraction.cards.features import expected_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.agents.base import PublicState, RangeAgent, Strategy


class EquityAgent(RangeAgent):
    """Weighs equity over all run-outs against the price of a call.

    The agent's equity is its probability of winning against one random hand (`expected_strength`), to the power of the
    number of opponents. Before the flop, the opponents are the other seats that have acted and not folded, or one
    opponent if there is no such seat. Later they are the other seats that have not folded. A fair share is
    ``1 / (opponents + 1)``.

    Where it cannot fold, the agent bets or raises by 0.66 of the pot if its equity is at least 0.1 above a fair share.
    Facing a bet or a blind, it raises by the whole pot if its equity is at least 0.25 above a fair share. Else it calls
    if its equity is at least the pot odds. After three raises on a street it does not raise.

    Parameters
    ----------
    sizes : str, optional
        Sizes of all bets and raises as shares of the pot, in place of the two above, such as ``0.2p_0.37p_1.7p``. All
        have equal probability, whatever the hand. A size that is not legal becomes the nearest legal raise, and sizes
        with equal totals count once.

    Raises
    ------
    ValueError
        If `sizes` is no list of shares of the pot.
    """

    name = "equity"
    is_deterministic = True

    def __init__(self, sizes: str = ""):
        try:
            found = parse_sizes(str(sizes).replace("_", " "))
        except ValueError:
            found = ()
        if (sizes != "" and not found) or any(size.unit != "pot" for size in found):
            raise ValueError(
                f"equity bets shares of the pot, at most {MAX_AMOUNT:,.0f}, as in sizes=0.2p_0.37p_1.7p, got {sizes!r}"
            )
        self._fractions = tuple(size.amount for size in found)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return one row for each of `combo_ids`: an action with probability 1, or raises with equal probability."""
        return weigh_equity(public, combo_ids, self._fractions)


def weigh_equity(public: PublicState, combo_ids: np.ndarray, fractions: Sequence[float] = ()) -> Strategy:
    """Return the strategy of `EquityAgent`, with one row for each of `combo_ids`.

    `fractions` are its sizes as shares of the pot; by default it bets 0.66 of the pot and raises by the pot.
    """
    num_opponents = _num_opponents(public)
    equity = expected_strength(public.rules, public.board)[combo_ids] ** num_opponents
    edge = equity - 1.0 / (num_opponents + 1)
    totals = {public.raise_by_pot(each) for each in fractions or (1.0 if public.can_fold else 0.66,)}
    may_raise = CALL not in totals and public.num_raises < 3
    raises = (edge >= (0.25 if public.can_fold else 0.1)) & may_raise
    calls = ~raises & (equity * (public.pot + public.to_call) >= public.to_call)
    actions = sorted(totals) if may_raise else []
    columns = [raises / len(actions) for _ in actions]
    if public.can_fold:
        columns += [calls, ~raises & ~calls]
        actions += [CALL, FOLD]
    else:
        columns.append(~raises)
        actions.append(CALL)
    return Strategy(np.array(actions), np.stack(columns, axis=1).astype(np.float64))


def _num_opponents(public: PublicState) -> int:
    """Return the number of opponents, at least one, that `EquityAgent` counts."""
    if public.street > 0:
        return public.num_live - 1
    folded = public.folded
    entered = {action.seat for action in public.actions} - {public.actor}
    return max(1, sum(not folded[seat] for seat in entered))
