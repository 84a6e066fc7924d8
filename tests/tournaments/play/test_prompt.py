import pytest

from plurispiel.abstraction.holdem.betting import CALL, FOLD, BettingState
from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.agents.base import Action, PublicState
from plurispiel.tournaments.play.prompt import UnknownKey, legal_keys, parse_key, raise_range


def public_after(rules, *actions, board=()):
    state, taken = BettingState(rules), ()
    for action in actions:
        taken += (Action(state.actor, action, state.street),)
        state.apply(action)
    return PublicState(rules, state.array.tolist(), board, taken)


FLOP = public_after(HUNL, 300, CALL, board=(0, 5, 10))  # 300 each


def test_keys_name_every_kind_of_action_with_its_chips_on_the_street():
    assert legal_keys(public_after(HUNL)) == [
        ("f", FOLD, "fold"),
        ("c", CALL, "call 50"),
        ("r200", 200, "raise to 200"),
        ("p", 300, "pot: raise to 300"),
        ("a", 20_000, "raise to 20,000 (all-in)"),
    ]  # half the pot would be a raise to 200
    assert [(key.key, key.action) for key in legal_keys(FLOP)] == [
        ("c", CALL), ("r100", 400), ("h", 600), ("p", 900), ("a", 20_000)
    ]  # fmt: skip
    assert raise_range(FLOP) == (100, 19_700)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("c", CALL),
        ("K", CALL),
        ("x", CALL),
        ("r150", 450),
        ("B1,000", 1_300),
        ("r 100", 400),
        ("h", 600),
        ("a", 20_000),
    ],
)
def test_keys_stand_for_actions(text, action):
    assert parse_key(text, FLOP) == action


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f", "no bet to fold to"),
        ("r", "give the amount, too: r100 to r19700"),
        ("r99", "r99 is not legal here: r100 to r19700"),
        ("r19701", "not legal"),
        ("r99999999999999999999", "no key"),
        ("r-5", "no key"),
        ("1", "'1' is no key: c, r100, h, p or a"),
        ("fold!", "no key"),
        ("r٣00", "no key"),
    ],
)
def test_other_texts_are_refused_in_words(text, message):
    with pytest.raises(UnknownKey, match=message):
        parse_key(text, FLOP)


def test_a_check_is_no_call():
    with pytest.raises(UnknownKey, match="a bet of 50 to call"):
        parse_key("x", public_after(HUNL))


def test_limit_games_have_one_raise_and_it_needs_no_amount():
    public = public_after(LEDUC, 3)  # a bet of 2 over the ante
    assert legal_keys(public) == [("f", FOLD, "fold"), ("c", CALL, "call 2"), ("r", 5, "raise to 4")]
    assert parse_key("r", public) == parse_key("r4", public) == 5
    with pytest.raises(UnknownKey, match="no raise is legal here: f or c"):
        parse_key("r", public_after(KUHN, 2))


def test_games_with_a_menu_offer_its_raises_alone():
    rules = parse_game(
        "universal_poker(betting=nolimit,numPlayers=2,numRounds=1,blind=2 1,firstPlayer=2,numSuits=4,numRanks=13,"
        "numHoleCards=2,numBoardCards=0,stack=40 40,bettingAbstraction=fcpa)"
    )
    public = public_after(rules)
    assert [key.key for key in legal_keys(public)] == ["f", "c", *(f"r{total}" for total in public.menu)]
    with pytest.raises(UnknownKey, match="is not legal"):
        parse_key("r7", public)


def test_every_key_that_is_shown_is_legal_and_means_its_action():
    state = BettingState(SIXMAX)
    for action in (250, CALL, 900, FOLD, FOLD, CALL, CALL, CALL, CALL, 2_000, 10_000):
        public = PublicState(SIXMAX, state.array.tolist(), (), ())
        if not public.actions and public.street == 0:
            for key in legal_keys(public):
                assert public.is_legal(key.action) and parse_key(key.key, public) == key.action
        if public.actor < 0:
            break
        state.apply(action)
