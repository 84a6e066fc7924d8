"""Segments of a hand: stretches of one street whose decisions are served by the same searches, or by the blueprint.

Which segment a decision belongs to follows from the actions, the settings and the blueprint; no search is needed.
"""

from typing import NamedTuple

from plurispiel.abstraction.holdem.betting import CALL, BettingState
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, PublicState
from plurispiel.agents.search.config import SearchConfig
from plurispiel.agents.search.root import can_search_street, can_search_two
from plurispiel.agents.search.street_tree import Path

__all__ = ["Actions", "Segment", "Segments", "path_of"]

Actions = tuple[Action, ...]


class Segment(NamedTuple):
    """The part of a segment up to a decision.

    Attributes
    ----------
    before, here : tuple of Action
        The actions of the hand before the segment, and the actions of the segment so far.
    is_searched : bool
        Whether searches serve the segment; if not, the blueprint does.
    """

    before: Actions
    here: Actions
    is_searched: bool


class Segments:
    """Finds the segments of one hand.

    Parameters
    ----------
    rules : HoldemRules
    seat : int
        The seat that searches.
    blueprint : Agent
        The blueprint's agent in this hand; it must have `range_strategy`.
    config : SearchConfig
    has_continuations : bool
        Whether there are continuation strategies for leaves. Without them, a search can begin only after the first
        street, with two players left.
    """

    def __init__(
        self, rules: HoldemRules, seat: int, blueprint: Agent, config: SearchConfig, *, has_continuations: bool
    ):
        self._rules, self._seat, self._blueprint, self._config = rules, seat, blueprint, config
        self._has_continuations = has_continuations
        self._states: dict[Path, BettingState] = {(): BettingState(rules)}
        self._off_tree: dict[Path, bool] = {}

    def copy(self, blueprint: Agent) -> "Segments":
        """Return an independent finder for the same hand, with a copy of the blueprint's agent."""
        settings = self._rules, self._seat, blueprint, self._config
        twin = Segments(*settings, has_continuations=self._has_continuations)
        twin._states, twin._off_tree = self._states.copy(), self._off_tree.copy()
        return twin

    def at(self, actions: Actions, street: int, board: tuple[int, ...]) -> Segment:
        """Return the segment of the decision that follows some actions.

        After the first street a searched segment begins with the street, and another one after a fold that leaves two
        players. With ``root=decision`` a segment begins instead at the searching seat's latest decision at which a
        search can begin, or with the street if there is no such decision. Before the flop a searched segment begins
        after the first off-tree raise after which a search can begin.

        Parameters
        ----------
        actions : tuple of Action
            All actions of the hand before the decision.
        street : int
            The street of the decision.
        board : tuple of int
            The board cards at the decision.
        """
        first = sum(action.street < street for action in actions)
        # Numbers of actions after which a search might begin, the preferred number first. Before the flop the earliest
        # raise is preferred: later raises belong to its subgame.
        if not street:
            starts = [stop for stop, action in enumerate(actions, start=1) if action.action > CALL]
        elif self._config.root == "street":
            # As in Pluribus. In two-player games, unsafe search that begins right after a deal with many outcomes had
            # low exploitability (supplement, "Structure of imperfect-information subgames").
            # After the fold that leaves two players, a search reaches the end of the hand. Without this search, nut
            # flush draws folded to raises of the turn: at the frontier of a street, draws are worth too little.
            stops = range(first, len(actions) + 1)
            starts = [stop for stop in stops if can_search_two(self.state(actions[:stop]))][:1] + [first]
        else:
            seats = [*(action.seat for action in actions[first:]), self.state(actions).actor]
            starts = [first + number for number, seat in enumerate(seats) if seat == self._seat][::-1] + [first]
        for start in starts:
            before = actions[:start]
            if self._can_search(self.state(before)) and (street or self._is_off_tree(before, board)):
                return Segment(before, actions[start:], is_searched=True)
        return Segment(actions[:first], actions[first:], is_searched=False)

    def state(self, actions: Actions) -> BettingState:
        """Return the betting state after all actions of a hand so far; the result must not be changed."""
        path = path_of(actions)
        if path not in self._states:
            state = self.state(actions[:-1]).copy()
            state.apply_legal(path[-1])
            self._states[path] = state
        return self._states[path]

    def public(self, actions: Actions, board: tuple[int, ...]) -> PublicState:
        """Return the public state after all actions of a hand so far."""
        return PublicState(self._rules, self.state(actions).array.tolist(), board, actions)

    def _can_search(self, state: BettingState) -> bool:
        return can_search_two(state) or (self._has_continuations and can_search_street(state))

    def _is_off_tree(self, actions: Actions, board: tuple[int, ...]) -> bool:
        """Return whether the last action is a raise more than a big blind away from each raise of the blueprint."""
        path = path_of(actions)
        if path not in self._off_tree:
            strategy = self._blueprint.range_strategy(self.public(actions[:-1], board))
            assert strategy is not None
            offered = strategy.actions[strategy.actions > CALL]
            # The supplement asks for a distance of more than $100, the big blind of its game.
            self._off_tree[path] = bool((abs(offered - path[-1]) > self._rules.big_blind).all())
        return self._off_tree[path]


def path_of(actions: Actions) -> Path:
    """Return actions as numbers, without their seats and streets."""
    return tuple(action for _, action, _ in actions)
