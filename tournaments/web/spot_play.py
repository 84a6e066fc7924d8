"""A hand of a solved spot, played by a person against the solution."""

from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.cards import card_text, cards_text
from plurispiel.abstraction.holdem.ranges import combo_text
from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.spots.card_ev import deals_cards
from plurispiel.agents.spots.node_ev import combo_equity
from plurispiel.agents.spots.node_names import PLAYERS
from plurispiel.agents.spots.node_strategy import find_node
from plurispiel.agents.spots.spot_solution import SpotSolution
from plurispiel.tournaments.web.spot_view import node_actions


class SpotHand:
    """A hand that is dealt from both ranges, and played against the solution's strategy.

    Both hands are drawn with the weights of the ranges. The other player draws its actions from the solution. Each of
    the person's decisions is kept with its *EV lost*. This is the EV of the best action with the person's hand, less
    the EV of the chosen action, if both play on by the solution.

    Parameters
    ----------
    solution : SpotSolution
        The solution of a spot with two players.
    seat : int
        The person's seat: 0 (out of position) or 1 (in position).
    rng : numpy.random.Generator
    """

    def __init__(self, solution: SpotSolution, seat: int, rng: np.random.Generator):
        assert isinstance(solution.solver, VectorSolver)
        self._solution, self._solver, self._seat, self._rng = solution, solution.solver, seat, rng
        self._node = ""
        self._hands = self._dealt()
        self._decisions: list[dict[str, Any]] = []
        self._lines: list[dict[str, str]] = []
        self._end: dict[str, Any] | None = None
        self._go_on()

    def view(self) -> dict[str, Any]:
        """Return the hand as the person may see it: the other hand only when all is over.

        Returns
        -------
        dict
            ``seat, hand, board, pot``, ``lines`` (a player and an action each, or a card), ``actions`` (empty at the
            end), ``decisions`` (with the EVs of all actions and the EV lost) and ``end`` (None while the hand goes on).
        """
        place = None if self._end else find_node(self._solution.spot, self._solver, self._node)
        return {
            "seat": PLAYERS[self._seat],
            "hand": combo_text(self._hands[self._seat]),
            "board": cards_text(self._board),
            "pot": sum(self._put_in) + self._solver.subgame.dead_chips,
            "lines": self._lines,
            "actions": node_actions(self._solver, place) if place else [],
            "decisions": self._decisions,
            "end": self._end,
        }

    def act(self, word: str) -> None:
        """Take an action for the person.

        Raises
        ------
        ValueError
            If the hand is over, or the action is not on offer.
        """
        if self._end:
            raise ValueError("the hand is over: deal the next one")
        place = find_node(self._solution.spot, self._solver, self._node)
        if word not in place.names:
            raise ValueError(f"the actions are {' '.join(place.names)}, got {word[:40]!r}")
        hand, column = self._hands[self._seat], place.names.index(word)
        found = self._solution.node_ev(self._node)
        evs = found.action_ev[hand]
        self._decisions.append(
            {
                "node": self._node,
                "word": word,
                "ev": [None if np.isnan(ev) else float(ev) for ev in evs],
                "frequencies": [float(share) for share in np.nan_to_num(place.probabilities[hand])],
                "actions": node_actions(self._solver, place),
                "lost": max(0.0, float(np.nanmax(evs) - evs[column])) if not np.isnan(evs[column]) else None,
            }
        )
        self._take(column)
        self._go_on()

    def _dealt(self) -> tuple[int, int]:
        ranges, facing = self._solver.ranges, self._solver.facing
        first = ranges[0] * facing[0]
        own = int(self._rng.choice(len(first), p=first / first.sum()))
        cards = HUNL.combos[own]
        others = np.where(np.isin(HUNL.combos, cards).any(axis=1), 0.0, ranges[1])
        return own, int(self._rng.choice(len(others), p=others / others.sum()))

    def _go_on(self) -> None:
        """Play the other player's decisions, and deal, until the person is to act or the hand is over."""
        while not self._end:
            place = find_node(self._solution.spot, self._solver, self._node)
            self._board = place.board
            self._put_in = place.decision.state_of(self._solver.subgame.state).contributions[:2]
            if place.decision.seat == self._seat:
                return
            shares = place.probabilities[self._hands[place.decision.seat]]
            self._take(int(self._rng.choice(len(shares), p=shares / shares.sum())))

    def _take(self, column: int) -> None:
        place = find_node(self._solution.spot, self._solver, self._node)
        action = node_actions(self._solver, place)[column]
        self._lines.append({"player": PLAYERS[place.decision.seat], "text": action["text"]})
        self._node = f"{self._node} {action['word']}".strip()
        state = place.decision.state_of(self._solver.subgame.state)
        state.apply_legal(list(place.decision.children)[column])
        self._put_in = state.contributions[:2]
        if deals_cards(self._solver, place, column):
            (card,) = self._drawn(1)
            self._board = (*self._board, card)
            self._node += f" {card_text(card)}"
            self._lines.append({"player": "", "text": card_text(card)})
        elif action["next"] != "decision":
            self._finish(place.decision.seat if action["next"] == "fold" else None)

    def _drawn(self, count: int) -> list[int]:
        gone = {*self._board, *(int(card) for hand in self._hands for card in HUNL.combos[hand])}
        return self._rng.permutation([card for card in range(52) if card not in gone])[:count].tolist()

    def _finish(self, folder: int | None) -> None:
        """End the hand: the seat `folder` has folded, or, if it is None, the whole board is dealt for a showdown."""
        if folder is None:
            new = self._drawn(5 - len(self._board))
            self._board = (*self._board, *new)
            self._lines += [{"player": "", "text": card_text(card)} for card in new]
            held = np.zeros((2, HUNL.num_combos))
            held[range(2), self._hands] = 1.0
            shares = combo_equity(self._board, held, HUNL)[range(2), self._hands].tolist()
        else:
            shares = [float(folder == 1), float(folder == 0)]
        pot = sum(self._put_in) + self._solver.subgame.dead_chips
        start = self._solver.subgame.state.contributions[:2]
        net = [shares[seat] * pot - (self._put_in[seat] - start[seat]) for seat in range(2)]
        self._end = {
            "won": net[self._seat],
            "shown": combo_text(self._hands[1 - self._seat]),
            "folded": None if folder is None else PLAYERS[folder],
        }
