"""OpenSpiel's bots, policies and solvers as our agents.

A *guest* is such a bot, policy or solver. Guests read OpenSpiel states, which hold every card. In the states made for a
guest, dummies take the place of the cards that the guest's seat must not see. A dummy is any card that is neither a
hole card of that seat nor on the board.
"""

import functools
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_name, load_game, parse_game
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.machine.suggestion import suggestion
from plurispiel.agents.base import Action, Agent, Board, Deal, Decision, Event, PublicState, RangeAgent, Strategy, View

MakeBot = Callable[[pyspiel.Game, int, np.random.Generator], pyspiel.Bot]

SOLVERS = {"cfr": 300, "cfr+": 300, "mccfr": 100_000}
"""Default iterations of the solvers that `openspiel_agent` knows."""

MAX_HISTORIES = 20_000
"""The largest game for OpenSpiel's solvers: its number of deals, times its number of betting sequences."""

OPENSPIEL_BOTS = (*pyspiel.bots_that_can_play_game(pyspiel.load_game("universal_poker")), *SOLVERS)
"""Names that may follow ``openspiel:`` in an agent's spec."""

# OpenSpiel itself ignores options it does not know, and refuses wrong values only when a hand begins.
_BOT_OPTIONS = {
    "uniform_random": (),
    "fixed_action_preference": ("actions",),
    "uniform_restricted_actions": ("policy_name",),
    **dict.fromkeys(SOLVERS, ("iterations",)),
}
_POLICY_NAMES = ("AlwaysCall", "AlwaysFold", "AlwaysRaise", "HalfCallHalfRaise")
_OPTION_VALUES = {
    "actions": (r"\d+(:\d+)*", "action ids such as 0:1:2"),
    "policy_name": ("|".join(_POLICY_NAMES), f"one of {', '.join(_POLICY_NAMES)}"),
    "iterations": (r"[1-9]\d*", "a whole number from 1"),
}


class BotAgent(Agent):
    """A ``pyspiel.Bot`` as an agent.

    Parameters
    ----------
    make_bot : callable
        ``make_bot(game, player, rng)`` returns the bot of one hand; its randomness should come from `rng`.
    game : pyspiel.Game or str, optional
        The game that the bot knows, with the table's rules; by default ``universal_poker`` with these rules.

    Raises
    ------
    ValueError
        If `HoldemRules` cannot express the game.

    Notes
    -----
    The bot is informed of everything as in OpenSpiel's loops, with dummies for hidden cards. If a card that served as a
    dummy is dealt to the board, the bot is restarted and informed of the whole hand again, its own actions included.
    """

    _state: pyspiel.State
    _hidden: set[int]  # the dummies

    def __init__(self, make_bot: MakeBot, game: pyspiel.Game | str | None = None):
        self._make_bot = make_bot
        self._game = None if game is None else OpenSpielGame(game)

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Make the bot of a new hand.

        Raises
        ------
        ValueError
            If the bot's own game has other rules than the table.
        """
        super().restart(rules, seat, rng)
        self._table = universal_poker(rules) if self._game is None else _checked(self._game, rules)
        self._bot = self._make_bot(self._table.game, seat, rng)
        self._betting = BettingState(rules)
        self._known: list[int] = []  # hole cards of the seat, then the board
        self._later: list[int] = []  # ids of board cards and actions, in the order of the hand

    def observe(self, event: Event) -> None:
        """Inform the bot of an event. The bot is restarted before it learns its hole cards."""
        if isinstance(event, Action):
            number = self._table.action_id(self._betting.array.tolist(), event.action)
            self._betting.apply(event.action)
            self._later.append(number)
            if event.seat == self.seat:
                self._state.apply_action(number)  # the bot already knows its action
            else:
                self._inform(number)
            return
        cards = event.hole_cards if isinstance(event, Deal) else event.cards
        self._known.extend(cards)
        if isinstance(event, Board):
            numbers = [self._table.card_id(card) for card in cards]
            self._later.extend(numbers)
            if self._hidden.isdisjoint(cards):
                for number in numbers:
                    self._inform(number)
                return
        num_hole = self.rules.num_hole_cards
        deal = _deal(self.rules, self.seat, self._known[:num_hole], self._known[num_hole:])
        self._hidden = set(deal) - set(self._known)
        self._bot.restart()
        self._state = self._table.game.new_initial_state()
        for number in [*map(self._table.card_id, deal), *self._later]:
            self._inform(number)

    def act(self, view: View) -> int | Decision:
        """Return the bot's action, with its probabilities if the bot reports them and the game has a menu of raises.

        Raises
        ------
        ValueError
            If another seat than the bot's is to act.
        """
        if self._state.current_player() != view.seat:  # some of OpenSpiel's bots would end the process
            raise ValueError(f"seat {view.seat} asks the bot of seat {self.seat}: a BotAgent plays one seat at a time")
        actions = self._table.actions(self._betting.array.tolist())
        if actions is None or not self._bot.provides_policy():
            return self._table.action(self._betting.array.tolist(), self._bot.step(self._state))
        policy, number = self._bot.step_with_policy(self._state)
        numbers, probabilities = zip(*policy, strict=True)
        return Decision(actions[number], tuple(actions[number] for number in numbers), probabilities)

    def _inform(self, number: int) -> None:
        self._bot.inform_action(self._state, self._state.current_player(), number)
        self._state.apply_action(number)


class PolicyAgent(RangeAgent):
    """An OpenSpiel policy as an agent, for games with few combos.

    Parameters
    ----------
    policy : open_spiel.python.policy.Policy or pyspiel.Policy
        In an information state for which the policy returns no probabilities, all legal actions are equally likely. The
        average policy of one of pyspiel's solvers reads the solver's memory. Keep the solver as long as the agent:
        otherwise the policy raises an error, returns wrong numbers or ends the process.
    game : pyspiel.Game or str
        The policy's game, such as ``"leduc_poker"``; the table must have its rules.

    Raises
    ------
    ValueError
        If every raise size is legal in the game, or `HoldemRules` cannot express the game.
    """

    def __init__(self, policy: Any, game: pyspiel.Game | str):
        self._policy = policy
        self._game = require_menu(OpenSpielGame(game))

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand.

        Raises
        ------
        ValueError
            If the policy's game has other rules than the table.
        """
        super().restart(rules, seat, rng)
        _checked(self._game, rules)

    def strategy(self, public: PublicState, combo_ids: np.ndarray) -> Strategy:
        """Return the policy's probabilities, with one row for each of `combo_ids`.

        Rows are uniform for combos that share a card with the board, and where the policy has no probabilities.
        """
        actions = self._game.actions(public.betting().array.tolist())
        assert actions is not None, "the constructor refuses such games"
        probabilities = np.full((len(combo_ids), len(actions)), 1.0 / len(actions))
        for row, hole_cards in zip(probabilities, public.rules.combos[combo_ids].tolist(), strict=True):
            if set(hole_cards).isdisjoint(public.board):
                deck = _deal(public.rules, public.actor, hole_cards, list(public.board)) + list(public.board)
                state = self._game.replay(deck, [action.action for action in public.actions])
                if known := self._policy.action_probabilities(state):
                    row[:] = [known.get(number, 0.0) for number in actions]
        return Strategy(np.array(list(actions.values())), probabilities)


class SolverAgent(PolicyAgent):
    """An agent that plays the average policy of an OpenSpiel solver.

    A process keeps the eight solutions that were used last. It solves again only if none of them has the same solver,
    number of iterations and rules.

    Parameters
    ----------
    solver : {"cfr", "cfr+", "mccfr"}
        CFR, CFR+, or MCCFR with external sampling.
    iterations : int
        Iterations of the solver, all done when the first hand begins.
    """

    def __init__(self, solver: str, iterations: int):
        self._solver = solver
        self._iterations = iterations

    def restart(self, rules: HoldemRules, seat: int, rng: np.random.Generator) -> None:
        """Begin a new hand; the first one solves the game.

        Raises
        ------
        ValueError
            If the game has more than `MAX_HISTORIES` deals times betting sequences, or every raise size is legal in it.
        """
        self._solution = _solve(rules, self._solver, self._iterations)
        self._policy, self._game = self._solution.policy, self._solution.game
        super().restart(rules, seat, rng)


@functools.lru_cache(maxsize=64)
def universal_poker(rules: HoldemRules) -> OpenSpielGame:
    """Return ``universal_poker`` with these rules."""
    return OpenSpielGame(load_game(rules))


def require_menu(game: OpenSpielGame) -> OpenSpielGame:
    """Return the game, if it has a menu of raises.

    Raises
    ------
    ValueError
        If every raise size is legal.
    """
    if game.rules.betting_abstraction == "fullgame":
        raise ValueError(
            "a policy plays games with a menu of raises, got a universal_poker game with bettingAbstraction=fullgame"
        )
    return game


def openspiel_agent(bot: str, options: dict[str, str]) -> Agent:
    """Return the agent of a spec ``openspiel:BOT?key=value``.

    Parameters
    ----------
    bot : str
        One of `OPENSPIEL_BOTS`.
    options : dict
        ``actions`` of ``fixed_action_preference`` (ids, as in ``0:1:2``), ``policy_name`` of
        ``uniform_restricted_actions``, ``iterations`` of a solver.

    Raises
    ------
    ValueError
        If the bot or an option does not exist, an option is missing, or its value is malformed. A game that the bot
        cannot play is refused when a hand begins.
    """
    if bot not in OPENSPIEL_BOTS:
        meant = suggestion(bot, OPENSPIEL_BOTS)
        raise ValueError(f"OpenSpiel has no bot {bot!r} for poker{meant}: choose from {', '.join(OPENSPIEL_BOTS)}")
    allowed = _BOT_OPTIONS.get(bot, tuple(options))
    for key, value in options.items():
        if key not in allowed:
            takes = ", ".join(allowed) or "no options"
            raise ValueError(f"openspiel:{bot} takes {takes}, got {key}={value}{suggestion(key, allowed)}")
        pattern, words = _OPTION_VALUES.get(key, (".*", ""))
        if not re.fullmatch(pattern, value):
            raise ValueError(f"{key} of openspiel:{bot} is {words}, got {value!r}")
    if bot == "uniform_restricted_actions" and not options:
        raise ValueError(f"openspiel:{bot} needs ?policy_name=, {_OPTION_VALUES['policy_name'][1]}")
    agent: Agent
    if bot in SOLVERS:
        agent = SolverAgent(bot, int(options.get("iterations", SOLVERS[bot])))
    else:
        agent = BotAgent(functools.partial(_load_bot, bot, options))
    agent.name = f"openspiel:{bot}"
    return agent


class _DrawingBot(pyspiel.Bot):
    """A bot that draws its actions from another bot's policy, with the seat's random stream."""

    def __init__(self, bot: pyspiel.Bot, rng: np.random.Generator):
        super().__init__()
        self._bot = bot
        self._rng = rng

    def provides_policy(self) -> bool:
        return True

    def step_with_policy(self, state: pyspiel.State) -> tuple[list[tuple[int, float]], int]:
        policy = self._bot.get_policy(state)
        actions, probabilities = zip(*policy, strict=True)
        return policy, int(self._rng.choice(actions, p=probabilities))

    def step(self, state: pyspiel.State) -> int:
        return self.step_with_policy(state)[1]


def _load_bot(
    bot: str, options: dict[str, str], game: pyspiel.Game, player: int, rng: np.random.Generator
) -> pyspiel.Bot:
    guest = pyspiel.load_bot(bot, game, player, {"seed": int(rng.integers(2**31)), **options})
    # uniform_restricted_actions takes no seed: its HalfCallHalfRaise would toss the same coins in every hand.
    return _DrawingBot(guest, rng) if bot == "uniform_restricted_actions" else guest


class _Solution(NamedTuple):
    policy: pyspiel.Policy
    game: OpenSpielGame
    solver: object  # kept alive: the average policy reads the solver's memory


@functools.lru_cache(maxsize=8)
def _solve(rules: HoldemRules, name: str, iterations: int) -> _Solution:
    _require_small(rules)
    game = _fastest_game(rules)
    if name == "mccfr":
        solver = pyspiel.ExternalSamplingMCCFRSolver(game.game, seed=0)
        for _ in range(iterations):
            solver.run_iteration()
    else:
        solver = {"cfr": pyspiel.CFRSolver, "cfr+": pyspiel.CFRPlusSolver}[name](game.game)
        for _ in range(iterations):
            solver.evaluate_and_update_policy()
    return _Solution(solver.average_policy(), game, solver)


def _fastest_game(rules: HoldemRules) -> OpenSpielGame:
    """Return OpenSpiel's Kuhn or Leduc poker if it has these rules, else ``universal_poker`` with these rules."""
    for name in ("kuhn_poker", "leduc_poker"):
        native = f"{name}(players={rules.num_seats})"
        if parse_game(native) == rules:
            return OpenSpielGame(native)
    return universal_poker(rules)


def _require_small(rules: HoldemRules) -> None:
    num_deals = math.perm(len(rules.cards), rules.num_dealt_cards)

    def count(betting: BettingState, room: int) -> int:
        """Return the number of betting sequences after a state; if more than `room`, any number above `room`."""
        if betting.is_over or room < 1:
            return 1
        total = 0
        for action in (*([0] if betting.can_fold else []), 1, *(betting.menu or ())):
            following = betting.copy()
            following.apply(action)
            total += count(following, room - total)
        return total

    room = MAX_HISTORIES // num_deals
    if room == 0 or BettingState(rules).menu is None or count(BettingState(rules), room) > room:
        raise ValueError(
            "OpenSpiel's solvers take small games, such as LEDUC, or KUHN with up to four seats: at most "
            f"{MAX_HISTORIES} deals times betting sequences; give a smaller game or another agent"
        )


def _checked(game: OpenSpielGame, rules: HoldemRules) -> OpenSpielGame:
    if game.rules != rules:
        raise ValueError(
            f"the bot or policy plays {game.game}, which has other rules than the table, whose game is "
            f"{game_name(rules)}"
        )
    return game


def _deal(rules: HoldemRules, seat: int, hole_cards: list[int], board: list[int]) -> list[int]:
    """Return the hole cards of all seats in order, with dummies for every seat but `seat`."""
    dummies = [card for card in rules.cards.tolist() if card not in hole_cards and card not in board]
    before = seat * rules.num_hole_cards
    after = (rules.num_seats - 1) * rules.num_hole_cards
    return [*dummies[:before], *hole_cards, *dummies[before:after]]
