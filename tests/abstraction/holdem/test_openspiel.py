"""The border to OpenSpiel: its games mean our rules, and its hands go as ours."""

import pyspiel
import pytest
from numpy.random import default_rng

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.openspiel import OpenSpielGame, game_string, load_game, parse_game, rules_of
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, PRESETS, SIXMAX, HoldemRules, no_limit_holdem

RANDOM_RULES = 300
HANDS = 60

HUNL_GAMEDEF = """GAMEDEF
nolimit
numPlayers = 2
numRounds = 4
stack = 20000 20000
blind = 100 50
firstPlayer = 2 1 1 1
numSuits = 4
numRanks = 13
numHoleCards = 2
numBoardCards = 0 3 1 1
END GAMEDEF
"""


def random_rules(rng) -> HoldemRules:
    """Return rules of any shape: seats, streets, deck, stacks, limit or not."""
    while True:
        seats, streets = int(rng.integers(2, 11)), int(rng.integers(1, 5))
        limit = bool(rng.integers(2))
        blinds = tuple(rng.integers(0, 30, seats).tolist())
        menus = ["fcpa", "fc"] + ([] if limit else ["fchpa", "fullgame"])
        try:
            return HoldemRules(
                blinds=blinds,
                stacks=None if limit else tuple(max(1, blind) + int(rng.integers(0, 300)) for blind in blinds),
                first_seats=tuple(rng.integers(0, seats, streets).tolist()),
                board_cards=tuple(rng.integers(0, 4, streets).tolist()),
                betting="limit" if limit else "no-limit",
                raise_sizes=tuple(rng.integers(1, 50, streets).tolist()) if limit else None,
                max_raises=tuple(rng.integers(0, 5, streets).tolist()) if limit or rng.integers(2) else None,
                num_suits=int(rng.integers(1, 5)),
                num_ranks=int(rng.integers(2, 14)),
                num_hole_cards=int(rng.integers(1, 4)),
                betting_abstraction=str(rng.choice(menus)),
            )
        except ValueError:
            continue  # contradictions are refused; draw again


def legal_actions(state: pyspiel.State) -> list[int]:
    """Return the legal ids without a half pot (4) that OpenSpiel lists but refuses, being below the smallest raise."""
    legal = state.legal_actions()
    if "FCPHA" in str(state) and legal[-1] == 4:
        try:
            state.child(4)
        except pyspiel.SpielError:
            return legal[:-1]
    return legal


def play_random(game: OpenSpielGame, rng) -> None:
    """Play a uniformly random hand in both engines and compare every decision and the returns."""
    deck = rng.permutation(game.rules.cards)[: game.rules.num_dealt_cards]
    cards = iter(deck.tolist())
    state, betting = game.game.new_initial_state(), BettingState(game.rules)
    actions = []
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(game.card_id(next(cards)))
            continue
        assert state.current_player() == betting.actor
        legal = legal_actions(state)
        ours = game.actions(betting.array.tolist())
        if ours is None:
            raises = range(betting.min_raise, betting.max_raise + 1) if betting.max_raise else ()
            assert legal == [*([0] if betting.can_fold else []), 1, *raises]
        else:
            assert list(ours) == legal
        number = int(rng.choice(legal))
        action = game.action(betting.array.tolist(), number)
        assert game.action_id(betting.array.tolist(), action) == number
        state.apply_action(number)
        betting.apply(action)
        actions.append(action)
    assert betting.is_over
    assert state.returns() == pytest.approx(betting.payoffs(deck), abs=1e-9)
    assert game.replay(deck, actions).history() == state.history()


@pytest.mark.parametrize("name", PRESETS)
def test_preset_round_trip(name):
    rules = PRESETS[name]
    assert parse_game(name) == parse_game(name.lower()) == rules
    assert parse_game(game_string(rules)) == rules
    assert rules_of(load_game(rules)) == rules
    assert parse_game(str(load_game(rules))) == rules


def test_random_rules_round_trip():
    rng = default_rng(1)
    for _ in range(RANDOM_RULES):
        rules = random_rules(rng)
        assert parse_game(game_string(rules)) == rules
        assert rules_of(load_game(rules)) == rules


def test_random_rules_play_alike():
    rng = default_rng(2)
    for _ in range(RANDOM_RULES):
        game = OpenSpielGame(load_game(random_rules(rng)))
        for _ in range(5):
            play_random(game, rng)


@pytest.mark.parametrize("menu", ["fullgame", "fchpa", "fcpa", "fc"])
@pytest.mark.parametrize("rules", [HUNL, SIXMAX, no_limit_holdem(10, stack=1_500)], ids=["HUNL", "SIXMAX", "tenmax"])
def test_holdem_plays_alike(rules, menu):
    rng = default_rng(3)
    game = OpenSpielGame(load_game(rules.with_menu(menu)))
    for _ in range(HANDS):
        play_random(game, rng)


@pytest.mark.parametrize(
    "text",
    ["LEDUC", "KUHN", "HULH", "leduc_poker", "leduc_poker(players=3)"]
    + ["kuhn_poker", "kuhn_poker(players=3)", "kuhn_poker(players=4)"],
)
def test_small_games_play_alike(text):
    rng = default_rng(4)
    game = OpenSpielGame(text)
    for _ in range(5 * HANDS):
        play_random(game, rng)


def test_native_games_have_our_rules():
    assert rules_of(pyspiel.load_game("leduc_poker")) == LEDUC
    assert rules_of(pyspiel.load_game("kuhn_poker")) == KUHN
    assert OpenSpielGame("leduc_poker").game.get_type().short_name == "leduc_poker"
    assert OpenSpielGame("LEDUC").game.get_type().short_name == "universal_poker"


def test_gamedef():
    game = pyspiel.universal_poker.load_universal_poker_from_acpc_gamedef(HUNL_GAMEDEF)
    assert rules_of(game) == HUNL.with_menu("fcpa")
    play_random(OpenSpielGame(game), default_rng(5))


def test_openspiel_own_strings():
    assert parse_game(pyspiel.hunl_game_string("fullgame")) == HUNL
    assert parse_game(pyspiel.hulh_game_string("fcpa")) == PRESETS["HULH"]
    assert parse_game("universal_poker()") == rules_of(pyspiel.load_game("universal_poker"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("universal_poker(stack=50 50)", "a stack must cover its blind"),  # loading it would end the process
        ("universal_poker(stack=1200)", "stack needs 2 numbers"),
        ("universal_poker(blind=100 x)", "blind must be whole numbers"),
        ("universal_poker(numPlayers=11)", "blind needs 11 numbers"),
        ("universal_poker(numPlayers=two)", "numPlayers must be a whole number"),
        ("universal_poker(numPlayers=2.5)", "numPlayers must be a whole number"),
        ("universal_poker(numRounds=5)", "firstPlayer needs 5 numbers"),
        ("universal_poker(betting=potlimit)", "limit or nolimit"),
        ("universal_poker(bettingAbstraction=fcpx)", "bettingAbstraction is one of"),
        ("universal_poker(betting=limit,bettingAbstraction=fullgame)", "needs bettingAbstraction=fcpa"),
        ("universal_poker(numPlayers=3,stack=1 1 1,blind=1 1 1)", "firstPlayer|chips behind"),
        ("universal_poker(antes=5)", "no parameter antes"),
        ("universal_poker(potSize=500)", "subgames are not supported"),
        ("universal_poker(boardCards=2c3c4c)", "subgames are not supported"),
        ("leduc_poker(suit_isomorphism=True)", "suit_isomorphism is not supported"),
        ("leduc_poker(ante=5)", "no parameter ante"),
        ("kuhn_poker(seats=3)", "no parameter seats"),
        ("kuhn_poker(players=two)", "players must be"),
        ("leduc_poker(players=1)", "2..10 seats"),
        ("kuhn_poker(players=11)", "2..10 seats"),
        ("leduc_poker(players=2000000000)", "2..10 seats"),  # without gigabytes of blinds
        ("tic_tac_toe", "unknown game"),
        ("HUNLL", "unknown game"),
        ("", "a game is a preset"),
        ("holdem-mini", r"a game is a preset \(HUNL, .*\) or a game string NAME"),
        ("universal_poker(", "a game is a preset"),
        ("universal_poker(blind=\udcff)", "a game is a preset"),  # bytes of the command line that are no text
        ("universal_poker(stack=)", "stack needs 2 numbers"),
        ("universal_poker(numRanks=2147483648)", "whole numbers up to 2147483647, got '2147483648'"),
        ("universal_poker(numRanks=5-3,numSuits=2)", "whole numbers up to 2147483647, got '5-3'"),
        ("kuhn_poker(players=.)", "whole numbers up to 2147483647, got '.'"),
    ],
)
def test_refusals(text, message):
    with pytest.raises(ValueError, match=message):
        parse_game(text)


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="tic_tac_toe"):
        rules_of(pyspiel.load_game("tic_tac_toe"))


def test_actions_off_the_menu_are_refused():
    game = OpenSpielGame("leduc_poker")
    state = BettingState(LEDUC).array.tolist()
    with pytest.raises(ValueError, match=r"offers ids \[1, 2\] here, not 0"):
        game.action(state, 0)
    with pytest.raises(ValueError, match=r"offers \[1, 3\] here, not 4"):
        game.action_id(state, 4)
