"""Games by name."""

import pytest

from plurispiel.abstraction.holdem.openspiel import parse_game
from plurispiel.abstraction.holdem.rules import LEDUC
from plurispiel.abstraction.trees.ladder import LADDER, find_game, leduc_n


def test_names_and_strings():
    assert len(LEDUC.cards) == 6  # a cached property of the rules must not get in the way
    assert str(find_game("leduc")) == str(find_game("LEDUC")) == str(find_game("leduc_poker")) == "leduc_poker()"
    assert find_game("kuhn3").num_players() == 3
    assert find_game("HULH").max_utility() > 0
    assert str(find_game("Leduc-4")) == str(find_game(leduc_n(4).game))
    assert parse_game(leduc_n(3).game) == parse_game("LEDUC") == parse_game(LADDER["leduc"].game)
    flop = parse_game(LADDER["holdem-flop"].game)
    assert (flop.blinds, flop.stacks, flop.board_cards, len(flop.cards)) == ((100, 50), (10_000,) * 2, (0, 3), 52)
    mini = parse_game(LADDER["holdem-mini"].game)
    assert (mini.blinds, mini.stacks, mini.board_cards, len(mini.cards)) == ((100, 50), (600,) * 2, (0, 1), 12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leduk", "unknown game 'leduk', did you mean 'leduc'"),
        ("liars_dise(numdice=1)", "did you mean 'liars_dice'"),
        ("", "unknown game ''"),
        ("leduc-1", "leduc-N has 2..13 ranks, got leduc-1"),
        ("leduc_poker(players=99)", "OpenSpiel refuses the game 'leduc_poker.players=99.'"),
        ("kuhn_poker(players=2", "OpenSpiel refuses the game .* Missing closing bracket"),
        ("goofspiel(imp_info=\udcff)", "a game string is text in UTF-8"),
        ("universal_poker(stack=10 10)", "a stack must cover its blind"),
    ],
)
def test_what_is_no_game(text, message, capfd):
    with pytest.raises(ValueError, match=message) as refusal:
        find_game(text)
    assert "\n" not in str(refusal.value)
    assert capfd.readouterr() == ("", "")
