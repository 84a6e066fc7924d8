"""One hand: who is paid, what agents are told, and what their mistakes cost."""

import enum
import re

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.betting_layout import MIN_RAISE
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.agents.base import Action, Agent, Board, Deal, Decision
from plurispiel.agents.baselines.simple import CallAgent, FoldAgent, RaiseAgent, RandomAgent
from plurispiel.evaluation.hand import PAYOFF_UNIT, deal_deck, play_hand

THREE = no_limit_holdem(3)
BOARD = "2c 7d 9h Js 3c"


def deck(*texts):
    return np.array([card for text in texts for card in parse_cards(text)], dtype=np.uint8)


def rngs(rules, seed=0):
    return [np.random.default_rng((seed, seat)) for seat in range(rules.num_seats)]


def play(rules, agents, cards, seed=0):
    return play_hand(rules, agents, cards, rngs(rules, seed))


class Script(Agent):
    """Answers from a list, then checks or folds."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def act(self, view):
        return self.answers.pop(0) if self.answers else (0 if view.public.can_fold else 1)


class Spy(Agent):
    """Calls, and keeps all it is told and asked."""

    def __init__(self, *answers):
        self.log = []
        self.answers = list(answers)

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.log.append(("restart", rules, seat))

    def observe(self, event):
        self.log.append(event)

    def act(self, view):
        public = view.public
        self.log.append(
            (
                "act",
                view.seat,
                view.hole_cards,
                public.street,
                public.actor,
                public.board,
                public.actions,
                public.contributions,
                public.folded,
                public.min_raise,
                public.max_raise,
                public.pot,
                public.to_call,
                float(self.rng.random()),
            )
        )
        return self.answers.pop(0) if self.answers else 1


@pytest.mark.parametrize(
    ("rules", "expected"),
    [(HUNL, (50.0, -50.0)), (THREE, (-50.0, 50.0, 0.0)), (SIXMAX, (-50.0, 50.0, 0.0, 0.0, 0.0, 0.0))],
)
def test_a_walk_gives_the_big_blind_the_small_blind(rules, expected):
    hand = play(rules, [FoldAgent() for _ in rules.blinds], deal_deck(rules, np.random.default_rng(1)))
    assert hand.payoffs == expected
    assert not hand.showdown
    assert [action.action for action in hand.actions] == [0] * (rules.num_seats - 1)
    assert hand.folded == set(range(rules.num_seats)) - {rules.blinds.index(100)}
    assert hand.faults == ()


def test_everybody_limps_and_the_best_hand_takes_the_blinds():
    # Seat 2 holds a set of jacks, seat 0 a pair of aces, seat 1 king high.
    cards = deck("As Ad", "Kd Qs", "Jd Jh", BOARD)
    hand = play(THREE, [CallAgent() for _ in range(3)], cards)
    assert hand.payoffs == (-100.0, -100.0, 200.0)
    assert hand.showdown
    assert hand.folded == set()
    # UTG = button, small blind, big blind before the flop; then from the small blind on.
    assert [action.seat for action in hand.actions] == [2, 0, 1] + [0, 1, 2] * 3
    assert [action.street for action in hand.actions] == [street for street in range(4) for _ in range(3)]


def test_an_all_in_is_run_out_and_side_pots_are_paid():
    rules = parse_game(
        "universal_poker(betting=nolimit,numPlayers=3,numRounds=4,blind=50 100 0,firstPlayer=3 1 1 1,numSuits=4,"
        "numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,stack=300 1000 700,bettingAbstraction=fullgame)"
    )
    # The short stack wins the main pot of 900, the button the side pot of 800, 300 come back to the big blind.
    cards = deck("Jd Jh", "Kd Qs", "As Ad", BOARD)
    spies = [Spy(1), Spy(1000), Spy(300, 1)]
    hand = play(rules, spies, cards)
    assert hand.actions == (Action(2, 300, 0), Action(0, 1, 0), Action(1, 1000, 0), Action(2, 1, 0))
    assert hand.payoffs == (600.0, -700.0, 100.0)
    assert hand.showdown
    # The board of an all-in decides, but nobody is asked again, so nobody is told.
    assert not any(isinstance(event, Board) for spy in spies for event in spy.log)


def test_an_uncalled_all_in_wins_without_showdown():
    hand = play(THREE, [Script(10_000), FoldAgent(), FoldAgent()], deal_deck(THREE, np.random.default_rng(0)))
    assert hand.payoffs == (100.0, -100.0, 0.0)
    assert not hand.showdown


def test_split_pots_are_split_into_fractions():
    cards = deck("2d 3d", "2h 3h", "2s 4s", "As Ks Qs Js Ts")  # the board plays
    hand = play(THREE, [Script(), Script(1, 1), Script(1, 1)], cards)
    assert hand.payoffs == (-50.0, 25.0, 25.0)
    hand = play(
        no_limit_holdem(4),
        [Script(), *(CallAgent() for _ in range(3))],
        deck("2d 3d", "2h 3h", "2s 4s", "4c 4d", "As Ks Qs Js Ts"),
    )
    assert hand.payoffs == pytest.approx((-50.0, 50 / 3, 50 / 3, 50 / 3))
    assert sum(round(payoff * PAYOFF_UNIT) for payoff in hand.payoffs) == 0


def test_small_games():
    assert play(KUHN, [Script(2), Script(1)], deck("4c", "3c")).payoffs == (2.0, -2.0)
    # Leduc: check, raise to 3, call; then on a pairing board raise to 7, call.
    hand = play(LEDUC, [Script(1, 1, 7), Script(3, 1)], deck("2c", "4c", "2d"))
    assert hand.payoffs == (7.0, -7.0)


@pytest.mark.parametrize("seats", range(2, 11))
def test_payoffs_sum_to_zero_and_random_hands_have_no_faults(seats):
    rules = no_limit_holdem(seats, stack=1_000)
    rng = np.random.default_rng(seats)
    for number in range(30):
        hand = play(rules, [RandomAgent() for _ in range(seats)], deal_deck(rules, rng), number)
        assert sum(round(payoff * PAYOFF_UNIT) for payoff in hand.payoffs) == 0
        assert min(hand.payoffs) >= -1_000
        assert hand.faults == ()


def test_events_come_in_order():
    cards = deck("As Ad", "Kd Qs", "Jd Jh", BOARD)
    spies = [Spy(1, 300), Spy(), Spy(1, 0)]
    hand = play(THREE, spies, cards)
    board = parse_cards(BOARD)
    public = [
        *(Action(seat, 1, 0) for seat in (2, 0, 1)),
        Board(board[:3], 1),
        Action(0, 300, 1),
        Action(1, 1, 1),
        Action(2, 0, 1),
        Board(board[3:4], 2),
        *(Action(seat, 1, 2) for seat in (0, 1)),
        Board(board[4:], 3),
        *(Action(seat, 1, 3) for seat in (0, 1)),
    ]
    for seat, spy in enumerate(spies):
        assert spy.log[0] == ("restart", THREE, seat)
        assert spy.log[1] == Deal(tuple(cards[2 * seat : 2 * seat + 2].tolist()))
        # Also the actions of the seat itself, and after its own fold everything that follows.
        assert [event for event in spy.log[2:] if isinstance(event, Action | Board)] == public
    assert tuple(event for event in public if isinstance(event, Action)) == hand.actions


def test_what_is_asked_agrees_with_what_was_told():
    rules = SIXMAX
    for number in range(40):
        spies = [Spy() for _ in range(5)] + [RandomAgent()]
        play(rules, spies, deal_deck(rules, np.random.default_rng(number)), number)
        for seat, spy in enumerate(spies[:5]):
            actions, board, own = [], (), ()
            for entry in spy.log:
                if isinstance(entry, Action):
                    actions.append(entry)
                elif isinstance(entry, Board):
                    board += entry.cards
                elif isinstance(entry, Deal):
                    own = entry.hole_cards
                elif entry[0] == "act":
                    assert entry[1:7] == (seat, own, entry[3], seat, board, tuple(actions))
                    assert len(board) == rules.board_size(entry[3])


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, LEDUC, THREE])
def test_hidden_cards_change_nothing_an_agent_receives(rules):
    """Permute all cards the seat cannot see, and play the same actions."""
    own_cards = rules.num_hole_cards
    asked = 0
    for number in range(10):
        first = deal_deck(rules, np.random.default_rng(number))
        seat = number % rules.num_seats
        hidden = np.ones(len(first), dtype=bool)
        hidden[seat * own_cards : (seat + 1) * own_cards] = False
        hidden[rules.num_seats * own_cards :] = False
        second = first.copy()
        unseen = np.concatenate([first[hidden], np.setdiff1d(rules.cards, first)])
        second[hidden] = np.roll(unseen, 1)[: hidden.sum()]
        assert not (first[hidden] == second[hidden]).any()
        logs = []
        for cards in (first, second):
            spies = [Spy() for _ in range(rules.num_seats)]
            spies[(seat + 1) % rules.num_seats] = RandomAgent()
            play(rules, spies, cards, number)
            logs.append(spies[seat].log)
        assert logs[0] == logs[1]
        asked += sum(entry[0] == "act" for entry in logs[0])
    assert asked >= 10


class Crash(Agent):
    """Raises where it is told to."""

    def __init__(self, where, error):
        self.where, self.error, self.asked = where, error, 0

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        if self.where == "restart":
            raise self.error

    def observe(self, event):
        if isinstance(self.where, type) and isinstance(event, self.where):
            raise self.error

    def act(self, view):
        self.asked += 1
        if self.where == "act":
            raise self.error
        return 1


class Wordless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


ERRORS = [ValueError("oops"), SystemExit(3), RecursionError(), Wordless()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["restart", Deal, Action, Board, "act"])
def test_an_exception_costs_the_own_hand_only(where, error):
    crash = Crash(where, error)
    # The crashing button comes first before the flop; the blinds check the hand down.
    cards = deck("As Ad", "Kd Qs", "Jd Jh", BOARD)
    hand = play(THREE, [CallAgent(), CallAgent(), crash], cards)
    assert len(hand.faults) == 1
    assert (hand.faults[0].seat, hand.faults[0].kind) == (2, "exception")
    assert type(error).__name__ in hand.faults[0].message
    if where in ("restart", Deal, "act"):
        assert hand.actions[0] == Action(2, 0, 0)
        assert hand.payoffs == (100.0, -100.0, 0.0)
        assert crash.asked == (where == "act")
    else:  # it called, and from its fault on it checks
        assert [action for action in hand.actions if action.seat == 2] == [Action(2, 1, street) for street in range(4)]
        assert hand.payoffs == (-100.0, -100.0, 200.0)
        assert crash.asked == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit()])
def test_an_interrupt_is_no_fault(error):
    with pytest.raises(type(error)):
        play(THREE, [CallAgent(), CallAgent(), Crash("act", error)], deal_deck(THREE, np.random.default_rng(0)))


ILLEGAL = [199, 101, 99, 2, -1, 10_001, 2**63, 2**200, np.int64(199)]
NONSENSE = [None, 1.0, float("nan"), "call", (1,), 10**5000, Decision(None), np.float64(1), np.array([1, 1])]


@pytest.mark.parametrize(
    "answer",
    ILLEGAL + NONSENSE,
    ids=lambda answer: (
        f"{type(answer).__name__}{str(answer)[:9]}" if not isinstance(answer, int) or answer < 2**300 else "huge"
    ),
)
def test_an_illegal_answer_folds_and_is_counted(answer):
    script = Script(answer)
    hand = play(THREE, [CallAgent(), CallAgent(), script], deck("As Ad", "Kd Qs", "Jd Jh", BOARD))
    assert hand.actions[0] == Action(2, 0, 0)
    assert hand.payoffs == (100.0, -100.0, 0.0)
    assert [fault.seat for fault in hand.faults] == [2]
    assert hand.faults[0].kind == "illegal"
    assert len(hand.faults[0].message) < 200


def test_a_message_names_what_is_legal():
    hand = play(THREE, [CallAgent(), CallAgent(), Script(150)], deal_deck(THREE, np.random.default_rng(0)))
    assert hand.faults[0].message == ("150 is not legal: legal are 0 (fold), 1 (call 100), 200..10000 (raise to)")


def test_folding_without_a_bet_is_a_fault_and_checks():
    hand = play(HUNL, [Script(0), Script(1)], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.actions[1] == Action(0, 1, 0)
    assert [(fault.seat, fault.kind) for fault in hand.faults] == [(0, "illegal")]


def test_after_a_fault_an_agent_is_neither_asked_nor_told():
    spy = Spy(7)  # an illegal raise
    hand = play(HUNL, [CallAgent(), spy], deal_deck(HUNL, np.random.default_rng(0)))
    assert [action.action for action in hand.actions] == [0]
    assert [entry[0] for entry in spy.log if entry[0] == "act"] == ["act"]
    assert not any(isinstance(entry, Action) for entry in spy.log)


@pytest.mark.parametrize("answer", [300, np.int64(300), np.uint16(300), np.array(300), Decision(np.int32(300))])
def test_whole_numbers_of_any_type_are_fine(answer):
    hand = play(HUNL, [FoldAgent(), Script(answer)], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.faults == ()
    assert hand.actions[0] == Action(1, 300, 0)
    assert type(hand.actions[0].action) is int
    assert hand.payoffs == (-100.0, 100.0)


def test_everybody_may_fail_at_once():
    hand = play(SIXMAX, [Crash("act", ValueError("x")) for _ in range(6)], deal_deck(SIXMAX, np.random.default_rng(0)))
    assert sorted(fault.seat for fault in hand.faults) == [0, 2, 3, 4, 5]  # the big blind was not asked
    assert hand.payoffs == (-50.0, 50.0, 0.0, 0.0, 0.0, 0.0)


def test_an_agent_needs_no_base_class():
    class Duck:
        name = "duck"

        def restart(self, rules, seat, rng):
            self.seat = seat

        def act(self, view):
            return 1

    hand = play(HUNL, [Duck(), Duck()], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.faults == ()
    assert len(hand.actions) == 8


def test_an_agent_cannot_make_its_action_legal():
    class Forger(Agent):
        def act(self, view):
            view.public.min_raise = 2
            view.public._state[MIN_RAISE] = 2
            return 3

    hand = play(HUNL, [CallAgent(), Forger()], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.actions == (Action(1, FOLD, 0),)
    assert hand.faults[0].message.startswith("3 is not legal: legal are 0 (fold), 1 (call 50), 200..")


def test_an_exception_at_the_deal_is_named():
    class Blind(CallAgent):
        def observe(self, event):
            raise ValueError("dark")

    hand = play(HUNL, [CallAgent(), Blind()], deal_deck(HUNL, np.random.default_rng(0)))
    (fault,) = hand.faults
    assert re.fullmatch(r"observe: ValueError: dark \(test_hand\.py, line \d+\)", fault.message)


def test_whole_numbers_of_any_type_are_actions():
    class Odd(Agent):
        def act(self, view):
            return enum.IntEnum("Move", {"CALL": 1}).CALL if self.seat else np.uint8(1)

    hand = play(HUNL, [Odd(), Odd()], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.faults == ()
    assert {type(action.action) for action in hand.actions} == {int}


def test_every_seat_needs_an_agent():
    with pytest.raises(ValueError, match="6 seats need as many agents and rngs, got 3 and 6"):
        play(SIXMAX, [CallAgent()] * 3, deal_deck(SIXMAX, np.random.default_rng(0)))


def test_the_raise_agent_bets_the_pot():
    hand = play(HUNL, [FoldAgent(), RaiseAgent()], deal_deck(HUNL, np.random.default_rng(0)))
    assert hand.actions[0] == Action(1, 300, 0)  # 100 to call makes a pot of 200


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, LEDUC, KUHN])
def test_a_deck_is_cards_of_the_game_each_once(rules):
    cards = deal_deck(rules, np.random.default_rng(5))
    assert cards.dtype == np.uint8
    assert len(cards) == rules.num_dealt_cards == len(set(cards.tolist()))
    assert set(cards.tolist()) <= set(rules.cards.tolist())
    assert rules.cards.tolist() == sorted(rules.cards.tolist()), "the game's own deck is not shuffled"


def test_every_card_comes_equally_often():
    counts = np.zeros(52)
    for number in range(3_000):
        counts[deal_deck(HUNL, np.random.default_rng(number))[:2]] += 1
    expected = 6_000 / 52
    assert ((counts - expected) ** 2 / expected).sum() < 100  # chi-squared, 51 degrees: 1 in 20,000
