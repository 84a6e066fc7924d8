"""Speed of whole random hands beside OpenSpiel's `universal_poker`, which code in Python drives."""

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, load_game
from plurispiel.abstraction.holdem.playout import MAX_HAND_ACTIONS, play_random_hands
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.tournaments.bench.peer_comparison import Comparison, PeerError, peer_name, require_equal, timed

_BATCH = 100_000
_PEER_BATCH = 100
_REPLAYED = 50
_COUNTED = 400
_SIGMAS = 5.0


def playout_comparisons() -> Iterator[Comparison]:
    """Yield the comparisons of random play with two and with six seats.

    In the first comparison both sides draw raises of any size, and the peer lists some ten thousand sizes at a
    decision. In the second comparison the peer plays with its menu ``fcpa``: fold, call, pot and all-in. Our kernel
    still draws any size. Hands then differ in length between the sides, so times are for an action, not for a hand.
    """
    for name, rules in (("heads-up", HUNL), ("six seats", SIXMAX)):
        yield _comparison(f"random hands, {name}: universal_poker", rules, "hands")
        yield _comparison(f"random actions, {name}: universal_poker, fcpa", rules.with_menu("fcpa"), "actions")


def _comparison(name: str, rules: HoldemRules, items: str) -> Comparison:
    peer = UniversalPoker(rules)
    work = functools.partial(play_random_hands, rules, _BATCH, np.random.SeedSequence(1))
    counts = (work().num_actions, peer.num_drawn_actions) if items == "actions" else (_BATCH, _PEER_BATCH)

    def check() -> str:
        checked = _check_payoffs(rules, peer)
        return f"{checked}, {_check_lengths(rules, peer)}" if items == "hands" else checked

    return Comparison(
        name, peer_name("open_spiel"), items, timed(work, counts[0]), timed(peer.play_drawn, counts[1]), check
    )


class PlayoutHand(NamedTuple):
    """A hand of `UniversalPoker`: its cards, the ids of its actions, and the payoffs of OpenSpiel's state."""

    deck: list[int]
    ids: list[int]
    payoffs: list[float]


class UniversalPoker:
    """Random play in OpenSpiel's states.

    Without a menu, fold, call and raise are equally likely where legal, and so are all sizes of a raise, as in
    `playout.play_random_hands`. All legal actions of a menu are equally likely.

    Attributes
    ----------
    num_drawn_actions : int
        Number of actions in the hands of `play_drawn`.
    """

    def __init__(self, rules: HoldemRules):
        self._game = load_game(rules)
        self._num_dealt = rules.num_dealt_cards
        self._any_size = rules.betting_abstraction == "fullgame"
        self._rng = np.random.default_rng(0)
        self._drawn = [self._draw() for _ in range(_PEER_BATCH)]
        self.num_drawn_actions = sum(len(self._play(*drawn).ids) for drawn in self._drawn)

    def play_drawn(self) -> None:
        """Play `_PEER_BATCH` hands, whose cards and choices are the same in every call."""
        for deck, choices in self._drawn:
            self._play(deck, choices)

    def play_new(self, num_hands: int) -> list[PlayoutHand]:
        """Play some new hands."""
        return [self._play(*self._draw()) for _ in range(num_hands)]

    def _draw(self) -> tuple[list[int], list[float]]:
        """Return a deck and numbers in [0, 1) for the choices: drawn before the clock starts, so only play is timed."""
        deck = self._rng.permutation(52)[: self._num_dealt].tolist()
        return deck, self._rng.random(2 * MAX_HAND_ACTIONS).tolist()

    def _play(self, deck: list[int], drawn: list[float]) -> PlayoutHand:
        state = self._game.new_initial_state()
        cards, choices = iter(deck), iter(drawn)
        ids = []
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            legal = state.legal_actions()
            # Id 0 is a fold, 1 a call, and any larger id a raise: without a menu, all raises are one kind.
            kinds = min(len(legal), 2 + (legal[0] == 0)) if self._any_size else len(legal)
            choice = int(next(choices) * kinds)
            if self._any_size and choice == kinds - 1 and legal[choice] > 1:
                choice += int(next(choices) * (len(legal) - choice))
            ids.append(legal[choice])
            state.apply_action(legal[choice])
        return PlayoutHand(deck, ids, state.returns())


def _check_payoffs(rules: HoldemRules, peer: UniversalPoker) -> str:
    """Replay some of our hands in OpenSpiel's states without a menu, and some hands of the peer in our betting.

    Raises `PeerError` if payoffs differ. The text returned names the check.
    """
    border, any_size = OpenSpielGame(load_game(rules)), OpenSpielGame(load_game(rules.with_menu("fullgame")))
    for seed in range(_REPLAYED):
        hand = play_random_hands(rules, 1, np.random.SeedSequence(seed))
        state = any_size.replay(hand.deck.tolist(), hand.actions.tolist())
        _require_payoffs(hand.last_payoffs, state.returns())
    for played in peer.play_new(_REPLAYED):
        betting = BettingState(rules)
        for number in played.ids:
            actions = border.actions(betting.array.tolist())
            betting.apply(number if actions is None else actions[number])
        _require_payoffs(betting.payoffs(np.array(played.deck, np.uint8)), played.payoffs)
    return f"the payoffs of {2 * _REPLAYED} hands"


def _require_payoffs(ours: np.ndarray, theirs: list[float]) -> None:
    if not abs(ours - theirs).max() <= 1e-9:
        raise PeerError(f"the payoffs of a hand are {theirs}, ours are {ours.tolist()}")


def _check_lengths(rules: HoldemRules, peer: UniversalPoker) -> str:
    """Compare the mean numbers of actions of both sides' hands."""
    ours = play_random_hands(rules, _BATCH, np.random.SeedSequence(1))
    counts = np.array([len(hand.ids) for hand in peer.play_new(_COUNTED)])
    error = _SIGMAS * float(counts.std()) / _COUNTED**0.5
    require_equal("the mean number of actions", ours.num_actions / _BATCH, float(counts.mean()), error)
    return "the mean number of actions"
