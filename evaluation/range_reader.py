"""Reads two agents' strategies for all combos at one public state after another."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plurispiel.abstraction.holdem.betting_tree import BettingDecision
from plurispiel.abstraction.holdem.boards import relabel_cards, relabel_combos
from plurispiel.abstraction.holdem.cards import cards_text
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.agents.base import Action, Agent, Board, Deal, Event, PublicState, Strategy
from plurispiel.evaluation.hand import observes, unreadable

NUM_RELABELINGS = 100
SYMMETRY_TOLERANCE = 1e-12
"""Two probabilities, or two reaches, count as equal if they differ by at most this number."""


@dataclass(frozen=True, eq=False)
class RangeQuestion:
    """A decision about which an agent is asked on many boards.

    Attributes
    ----------
    decision : BettingDecision
        The decision in its street's betting tree.
    actions : tuple of Action
        The actions before the decision.
    nodes : int32[num_actions]
        The child node of each legal action, in the order of `decision.children`.
    columns : dict of tuple of int to int32[n]
        The results of `column_nodes` so far, by its argument.
    """

    decision: BettingDecision
    actions: tuple[Action, ...] = field(init=False)
    nodes: np.ndarray = field(init=False)
    columns: dict[tuple[int, ...], np.ndarray] = field(init=False, default_factory=dict)

    def __post_init__(self):
        object.__setattr__(self, "actions", tuple(Action(*action) for action in self.decision.actions))
        object.__setattr__(self, "nodes", np.array(list(self.decision.children.values()), dtype=np.int32))

    def column_nodes(self, actions: np.ndarray) -> np.ndarray:
        """Return the child node of each column's action, -1 if the action is not legal: int32[num_columns]."""
        key = tuple(actions.tolist())
        found = self.columns.get(key)
        if found is None:
            found = np.array([self.decision.children.get(action, -1) for action in key], dtype=np.int32)
            self.columns[key] = found
        return found


class RangeReader:
    """Reads the `range_strategy` of the agents at two seats; not thread-safe.

    An agent that overrides `observe` first observes the hand so far, with arbitrary hole cards. Its report must not
    depend on these cards.

    Parameters
    ----------
    rules : HoldemRules
        A game with two seats.
    agents : sequence of Agent
        The agent of each seat: two different instances that nothing else uses meanwhile.

    Raises
    ------
    ValueError
        If the agents are not two different instances.
    """

    def __init__(self, rules: HoldemRules, agents: Sequence[Agent]):
        if len(agents) != 2 or agents[0] is agents[1]:
            raise ValueError(
                f"two seats need two different instances of agents, got {len({id(agent) for agent in agents})}"
            )
        self._rules = rules
        self._agents = list(agents)
        self._observes = [observes(agent) for agent in agents]
        for seat in range(2):
            self._restart(seat)

    def read(self, question: RangeQuestion, board: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return the strategy that the agent to act reports on a board.

        Returns
        -------
        probabilities : float64[num_combos, num_columns]
            The reported probabilities; whether they sum to 1 is not checked.
        nodes : int32[num_columns]
            The child node of each column's action, -1 if the action is not legal.

        Raises
        ------
        ValueError
            If the agent reports no strategy, or one of a wrong shape, or raises an exception.
        """
        decision = question.decision
        agent = self._agents[decision.seat]
        public = PublicState(self._rules, decision.state, board, question.actions)
        try:
            if self._observes[decision.seat]:
                self._restart(decision.seat)
                for event in _events(public):
                    agent.observe(event)
            strategy = agent.range_strategy(public)
        except Exception as error:  # an agent may raise anything
            raise unreadable(agent, error) from error
        if strategy is None:
            raise ValueError(
                f"{agent.name} does not tell its strategy for all hands (its range_strategy returns None); "
                "write a range_strategy, or measure the agent's win rate in tournaments"
            )
        return self._columns(question, strategy)

    def fault(self, question: RangeQuestion, board: tuple[int, ...]) -> ValueError:
        """Return the error to raise for a strategy whose rows are not distributions over the legal actions."""
        decision = question.decision
        agent = self._agents[decision.seat]
        return ValueError(
            f"{agent.name} must give every hand probabilities of the legal actions {list(decision.children)} that sum "
            f"to 1; it does not on the board {cards_text(board)!r} after "
            f"{[action.action for action in question.actions]}"
        )

    def is_suit_symmetric(self, questions: Sequence[RangeQuestion], street: int) -> bool:
        """Return whether `NUM_RELABELINGS` random questions have the same answers after suits are renamed.

        Parameters
        ----------
        questions : sequence of RangeQuestion
            Questions about decisions of one street.
        street : int
            The street of the questions, one with board cards.

        Raises
        ------
        ValueError
            If an answer depends on the order of cards dealt together, or `read` raises one.
        """
        rules = self._rules
        renamings = relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)
        rng = np.random.default_rng(0)
        for _ in range(NUM_RELABELINGS if questions else 0):
            question = questions[int(rng.integers(len(questions)))]
            board = rng.permutation(rules.cards)[: rules.board_size(street)]
            renaming = int(rng.integers(len(renamings)))
            free = rules.free_combos(board)
            ordered = self._by_action(question, self._shown(board))
            shuffled = self._by_action(question, tuple(board.tolist()))
            if (np.abs(shuffled - ordered)[free] > SYMMETRY_TOLERANCE).any():  # NaN is refused later
                raise ValueError(
                    f"the play of {self._agents[question.decision.seat].name} depends on the order of cards dealt "
                    f"together ({cards_text(board)}); make it read each street's cards as a set"
                )
            renamed = self._by_action(question, self._shown(relabel_cards(board, renaming, rules.num_suits)))
            if (np.abs(renamed[renamings[renaming]] - ordered)[free] > SYMMETRY_TOLERANCE).any():
                return False
        return True

    def _shown(self, board: np.ndarray) -> tuple[int, ...]:
        """Return a board's cards in the order in which agents see them: each street's cards ascending."""
        ends = [self._rules.board_size(street) for street in range(self._rules.num_streets)]
        parts = np.split(board, [end for end in ends if end < len(board)])
        return tuple(card for part in parts for card in np.sort(part).tolist())

    def _by_action(self, question: RangeQuestion, board: tuple[int, ...]) -> np.ndarray:
        """Return the probabilities of the legal actions: float64[num_combos, num_actions]."""
        probabilities, nodes = self.read(question, board)
        return np.stack([probabilities[:, nodes == node].sum(axis=1) for node in question.nodes], axis=1)

    def _columns(self, question: RangeQuestion, strategy: Strategy) -> tuple[np.ndarray, np.ndarray]:
        actions, probabilities = np.asarray(strategy.actions), np.asarray(strategy.probabilities)
        if strategy.highest is not None:  # columns may be ranges of raises: make one for each legal action
            actions = np.array(list(question.decision.children))
            probabilities = np.stack([strategy.probability(action) for action in actions], axis=1)
        if probabilities.shape != (self._rules.num_combos, len(actions)):
            raise ValueError(
                f"the strategy of {self._agents[question.decision.seat].name} must have the shape "
                f"{(self._rules.num_combos, len(actions))}, combos by actions, got {probabilities.shape}"
            )
        if not (probabilities.flags.carray and probabilities.dtype == np.float64):
            probabilities = np.require(probabilities, np.float64, ["C", "W"])
        return probabilities, question.column_nodes(actions)

    def _restart(self, seat: int) -> None:
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(0)))
        self._agents[seat].restart(self._rules, seat, rng)


def _events(public: PublicState) -> list[Event]:
    """Return the events that a seat observes before a public state, in the order of `play_hand`."""
    rules = public.rules
    spare = [card for card in rules.cards.tolist() if card not in public.board]
    events: list[Event] = [Deal(tuple(spare[: rules.num_hole_cards]))]
    street = -1 if rules.board_size(0) else 0
    for action in [*public.actions, None]:
        while street < (public.street if action is None else action.street):
            street += 1
            events.append(Board(public.board[rules.board_size(street - 1) : rules.board_size(street)], street))
        if action is not None:
            events.append(action)
    return events
