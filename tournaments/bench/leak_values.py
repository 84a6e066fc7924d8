"""Whether suspected leaks of the six-seat blueprint cost chips in its self-play.

At each decision that belongs to a suspected leak, every action of every hand is valued by roll-outs in which all seats
play the blueprint (`BlueprintValues`). The other seats' hands are drawn from their ranges, those of folded seats, too.
The figures are means over hands and decisions, weighted by the range and by the strategy: how much the hands that
take an action would win by another one. In an equilibrium no change wins.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.cards.features import crowd_strength
from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.ranges import parse_range
from plurispiel.abstraction.holdem.rules import SIXMAX
from plurispiel.abstraction.machine.progress import progress_bar
from plurispiel.agents.base import Action, PublicState
from plurispiel.agents.blueprint.agent import BlueprintAgent, blueprint_agent
from plurispiel.agents.blueprint.library import pick_bundled
from plurispiel.agents.search.beliefs import planned_beliefs
from plurispiel.evaluation.blueprint_values import BlueprintValues
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.evaluation.play_profile import ALL_IN_BET, NO_BET, answer_shares, bet_faced, occasions
from plurispiel.evaluation.situations import NO_CARD, Situation
from plurispiel.tournaments.bench.measurement import Measurement

__all__ = ["CHANGES", "LEAKS", "Leak", "LeakRow", "action_values", "bench_leak_values", "leak_row"]

_DECISIONS = 30
"""The number of decisions of each leak with ``seconds`` 1."""

_DEALS = 60
"""Number of times the other seats' hands are drawn at a decision. Each time is rolled out on eight boards or more."""

_SEED = 98
_Z = 1.96


class Leak(NamedTuple):
    """A kind of decision, and the hands that are valued there.

    Attributes
    ----------
    name : str
    is_met : callable
        Tells of a `PublicState` whether its decision belongs to the leak.
    hands : callable
        Maps the `PublicState` to the hands: bool[num_combos].
    """

    name: str
    is_met: Callable[[PublicState], bool]
    hands: Callable[[PublicState], np.ndarray]


class LeakRow(NamedTuple):
    """Sums over the hands of a decision, weighted by the range.

    Attributes
    ----------
    shares : float64[4]
        The weight of all hands, and of their folds, calls and raises.
    weights, gains : float64[4]
        For each of `CHANGES`, the weight of the answers that are changed, and the chips that all changes win.
    """

    shares: np.ndarray
    weights: np.ndarray
    gains: np.ndarray


CHANGES = (
    "folds in place of calls win",
    "calls in place of folds win",
    "raises in place of calls win",
    "calls in place of raises win",
)


def _weak_hands(public: PublicState) -> np.ndarray:
    strength = crowd_strength(public.rules, public.board, public.num_live - 1)
    return (strength > 0.25) & (strength <= 0.45)


def _all_hands(public: PublicState) -> np.ndarray:
    return np.ones(public.rules.num_combos, np.bool_)


def _faces_a_bet(public: PublicState, street: int) -> bool:
    return public.street == street and NO_BET < bet_faced(public) <= ALL_IN_BET


def _cold(hand: str, position: str) -> Leak:
    combos = parse_range(hand) > 0.0
    return Leak(
        f"{hand}, {position}, one raise",
        lambda public: public.position == position and "cold raise" in occasions(public),
        lambda _: combos,
    )


LEAKS = (
    Leak(
        "flop, 3 or more, a bet, equity 0.25-0.45",
        lambda public: _faces_a_bet(public, 1) and public.num_live > 2,
        _weak_hands,
    ),
    Leak(
        "flop, 2 players, a bet, equity 0.25-0.45",
        lambda public: _faces_a_bet(public, 1) and public.num_live == 2,
        _weak_hands,
    ),
    Leak("river, one bet", lambda public: _faces_a_bet(public, 3), _all_hands),
    Leak("big blind, raise", lambda public: "big blind, raise" in occasions(public), _all_hands),
    Leak("big blind, raise and call", lambda public: "big blind, raise and call" in occasions(public), _all_hands),
    *(_cold(hand, position) for hand in ("AJo", "AQo", "KQo") for position in ("CO", "BTN")),
)
"""The suspected leaks; the names are those of `bench bot-profile`."""


def bench_leak_values(
    seconds: float = 1.0, agent: BlueprintAgent | None = None, leaks: Sequence[Leak] = LEAKS
) -> list[Measurement]:
    """Return four figures of each leak, in big blinds.

    Parameters
    ----------
    seconds : float
        Scale of the number of decisions; at least two decisions of each leak are valued.
    agent : BlueprintAgent, optional
        A blueprint for six seats; by default the bundled one.
    leaks : sequence of Leak, optional

    Raises
    ------
    ValueError
        If the blueprint's bucket table is missing.
    """
    agent = agent or blueprint_agent(str(pick_bundled(SIXMAX).path))
    values = BlueprintValues(agent.blueprint)
    wanted = max(2, round(seconds * _DECISIONS))
    rows: dict[str, list[LeakRow]] = {leak.name: [] for leak in leaks}
    with progress_bar(total=wanted * len(leaks), desc="decisions", unit="decision") as progress:
        for number, public in _decisions(agent):
            for leak in leaks:
                if len(rows[leak.name]) < wanted and leak.is_met(public):
                    rng = np.random.default_rng((_SEED, number, len(public.actions)))
                    row = leak_row(agent, values, public, leak, rng)
                    if row is not None:
                        rows[leak.name].append(row)
                        progress.update()
            if all(len(each) == wanted for each in rows.values()):
                break
    return [figure for name, each in rows.items() for figure in _figures(name, each)]


def leak_row(
    agent: BlueprintAgent, values: BlueprintValues, public: PublicState, leak: Leak, rng: np.random.Generator
) -> LeakRow | None:
    """Return the sums over the hands of a leak at a decision; None if the range has none of these hands.

    The raise that replaces a call has the sizes of all raises of the range, in their proportions.

    Parameters
    ----------
    agent : BlueprintAgent
        The agent in the hand.
    values : BlueprintValues
        Values of its blueprint.
    public : PublicState
        A decision at which the agent may fold.
    leak : Leak
    rng : Generator
    """
    _, beliefs = planned_beliefs(agent, public.rules, public.actions, public.board)
    strategy, range_ = agent.range_strategy(public), beliefs[public.actor]
    weights = range_ * leak.hands(public)
    if not weights.sum() > 0.0:
        return None
    chips = action_values(values, public, beliefs, strategy.actions.tolist(), rng)
    weights = np.where(np.isnan(chips[:, 0]), 0.0, weights)  # a hand that no deal allowed
    chips = np.nan_to_num(chips)
    answers = answer_shares(strategy)
    folds, calls, raises = answers.T * weights
    is_raise = strategy.actions > CALL
    sizes = range_ @ strategy.probabilities[:, is_raise]
    fold, call = (chips[:, strategy.actions.tolist().index(action)] for action in (FOLD, CALL))
    if sizes.sum() > 0.0:
        raised = chips[:, is_raise] @ (sizes / sizes.sum())
        made = (weights[:, None] * strategy.probabilities)[:, is_raise]
        to_raises, from_raises = calls @ (raised - call), float((made * (call[:, None] - chips[:, is_raise])).sum())
    else:
        to_raises = from_raises = 0.0
    changed = [calls.sum(), folds.sum(), calls.sum() * (sizes.sum() > 0.0), raises.sum()]
    gains = [calls @ (fold - call), folds @ (call - fold), to_raises, from_raises]
    shares = [weights.sum(), folds.sum(), calls.sum(), raises.sum()]
    return LeakRow(np.array(shares), np.array(changed), np.array(gains))


def action_values(
    values: BlueprintValues,
    public: PublicState,
    beliefs: np.ndarray,
    actions: Sequence[int],
    rng: np.random.Generator,
    num_deals: int = _DEALS,
) -> np.ndarray:
    """Return the expected net chips of each hand by each action, if all seats play the blueprint from then on.

    Parameters
    ----------
    values : BlueprintValues
        Values of the blueprint.
    public : PublicState
        The decision.
    beliefs : float64[num_seats, num_combos]
        The range of each seat.
    actions : sequence of int
        Legal actions of the decision.
    rng : Generator
        Draws the hands of the other seats and the boards, the same for all actions.
    num_deals : int
        Number of draws of the other seats' hands.

    Returns
    -------
    float64[num_combos, num_actions]
        Means over the draws that are possible with the hand; NaN for a hand without such a draw.
    """
    rules, state = public.rules, BettingState(public.rules)
    for taken in public.actions:
        state.apply_legal(taken.action)
    after = []
    for action in actions:
        line = (*public.actions, Action(public.actor, action, public.street))
        after.append((line, state.copy()))
        after[-1][1].apply_legal(action)
    totals, counts = np.zeros((rules.num_combos, len(actions))), np.zeros(rules.num_combos)
    for hole_cards in _drawn_hands(public, beliefs, num_deals, rng):
        values.restart(rng)
        for column, (line, ended) in enumerate(after):
            situation = Situation(rules, public.actor, hole_cards, public.board, line, ended.array.tolist())
            possible = situation.holdable()
            totals[possible, column] += values.values(situation)[possible]
        counts += possible
    return np.divide(totals, counts[:, None], out=np.full_like(totals, np.nan), where=counts[:, None] > 0.0)


def _drawn_hands(
    public: PublicState, beliefs: np.ndarray, num_deals: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield draws of the hole cards of all seats but the actor, from their ranges: uint8[num_seats, num_hole_cards].

    The actor's row holds `NO_CARD`. Draws in which two seats share a card are dropped.
    """
    rules = public.rules
    others = [seat for seat in range(rules.num_seats) if seat != public.actor]
    drawn = 0
    while drawn < num_deals:
        combos = [int(rng.choice(rules.num_combos, p=beliefs[seat])) for seat in others]
        hole_cards = np.full((rules.num_seats, rules.num_hole_cards), NO_CARD, np.uint8)
        hole_cards[others] = rules.combos[combos]
        if len(set(hole_cards[others].ravel().tolist())) == len(others) * rules.num_hole_cards:
            drawn += 1
            yield hole_cards


def _decisions(agent: BlueprintAgent) -> Iterator[tuple[int, PublicState]]:
    """Yield the decisions at which a seat may fold, from hands of self-play, each with the number of its hand."""
    rules, number = agent.blueprint.rules, 0
    while True:
        number += 1
        deck = deal_deck(rules, np.random.default_rng((_SEED, number)))
        rngs = [np.random.default_rng((_SEED, number, seat)) for seat in range(rules.num_seats)]
        hand = play_hand(rules, [agent] * rules.num_seats, deck, rngs)
        board = tuple(deck[rules.num_seats * rules.num_hole_cards :].tolist())
        state = BettingState(rules)
        for place, action in enumerate(hand.actions):
            shown = board[: rules.board_size(action.street)]
            public = PublicState(rules, state.array.tolist(), shown, hand.actions[:place])
            if public.can_fold:
                yield number, public
            state.apply_legal(action.action)


def _figures(name: str, rows: Sequence[LeakRow]) -> list[Measurement]:
    """Return a leak's figures, in big blinds."""
    shares = np.sum([row.shares for row in rows], axis=0)
    parts = (100.0 * shares[1:] / shares[0]).tolist()
    texts = [f"{part:.1f} % {answer}" for part, answer in zip(parts, ("fold", "call", "raise"), strict=True)]
    figures = []
    for k, change in enumerate(CHANGES):
        weights = np.array([row.weights[k] for row in rows])
        gains = np.array([row.gains[k] for row in rows]) / SIXMAX.big_blind
        if not weights.sum() > 0.0:
            continue
        mean = gains.sum() / weights.sum()
        # The interval of a ratio of two means: that of the mean of `gains - mean * weights`.
        half = _Z * (len(rows) / (len(rows) - 1) * ((gains - mean * weights) ** 2).sum()) ** 0.5 / weights.sum()
        note = f"± {half:.2f}, {len(rows)} decisions; {', '.join(texts)}"
        figures.append(Measurement(f"{name}: {change}", float(mean), "bb", note))
    return figures
