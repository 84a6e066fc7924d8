"""PHH files: what the format says, what pokerkit makes of ours, and whatever else turns up in files."""

import dataclasses
import io
import tomllib
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pokerkit
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.random_histories import random_histories, random_history

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, SIXMAX, no_limit_holdem
from plurispiel.evaluation.replay import only_odd_chips, replay_betting, replay_hand
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory
from plurispiel.tournaments.formats.phh import read_phh, write_phh

THREE = """\
variant = 'NT'
ante_trimming_status = true
antes = [0, 0, 0]
blinds_or_straddles = [50, 100, 0]
min_bet = 100
starting_stacks = [10000, 5000, 1000]
actions = ['d dh p1 8hKd', 'd dh p2 2c7s', 'd dh p3 7h9c', 'p3 cbr 225', 'p1 f', 'p2 cc', 'd db 2d7d9h',
  'p2 cc', 'p3 cbr 300', 'p2 f']
hand = 2
players = ['MrOrange', 'Hattori', 'Pluribus']
finishing_stacks = [9950, 4775, 1275]
"""
DEAL = "'d dh p1 8hKd', 'd dh p2 2c7s', 'd dh p3 7h9c', "
SHOWDOWN = (  # all check down; p2's pair of twos loses to p3's nines
    DEAL + "'p3 cc', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cc', 'd db 3s', 'p2 cc', 'p3 cc', 'd db Qs', "
    "'p2 cc', 'p3 cc'"
)


def read(tmp_path, text, name="hand.phh"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_phh(path))


def with_fields(text=THREE, **fields):
    """The text with other fields; None removes one."""
    values = tomllib.loads(text)
    lines = {key: f"{key} = {value!r}".replace("True", "true") for key, value in values.items()}
    for key, value in fields.items():
        lines[key] = f"{key} = {value}" if value is not None else ""
    return "\n".join(lines.values()) + "\n"


def one(tmp_path, text=THREE, **fields):
    (hand,) = read(tmp_path, with_fields(text, **fields))
    return hand


def refused(tmp_path, text=THREE, **fields):
    hand = one(tmp_path, text, **fields)
    assert isinstance(hand, BrokenHistory)
    return hand.what


def payoffs(hand):
    betting = replay_betting(hand.rules, hand.actions)
    return replay_hand(betting, hand.hole_cards, hand.board, hand.mucked).payoffs


def written(histories):
    stream = io.StringIO()
    write_phh(stream, histories)
    return stream.getvalue()


def by_pokerkit(text):
    """Return pokerkit's net chips of a hand, or None where it refuses an action."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (history,) = pokerkit.HandHistory.loads_all(text)
        try:
            *_, state = history
        except ValueError:
            return None
    betting = (pokerkit.Folding, pokerkit.CheckingOrCalling, pokerkit.CompletionBettingOrRaisingTo)
    taken = sum(isinstance(operation, betting) for operation in state.operations)
    assert taken == sum(action.split()[1] in ("f", "cc", "cbr") for action in history.actions), text  # none of its own
    assert not state.status, text
    return [float(after) - float(before) for after, before in zip(state.stacks, history.starting_stacks, strict=True)]


def test_a_hand_as_the_format_says(tmp_path):
    (hand,) = read(tmp_path, THREE)
    assert hand == HandHistory(
        rules=dataclasses.replace(no_limit_holdem(3), stacks=(10_000, 5000, 1000)),
        names=("MrOrange", "Hattori", "Pluribus"),
        hole_cards=(parse_cards("8hKd"), parse_cards("2c7s"), parse_cards("7h9c")),
        board=parse_cards("2d7d9h"),
        actions=(225, 0, 1, 1, 525, 0),  # a bet of 300 on the flop comes to 525 over the hand
        payoffs=(-50.0, -225.0, 275.0),
        label="2",
    )
    assert payoffs(hand) == hand.payoffs


def test_heads_up_player_1_is_the_big_blind(tmp_path):
    hand = one(
        tmp_path,
        antes="[0, 0]",
        blinds_or_straddles="[50, 100]",
        starting_stacks="[900, 700]",
        actions="['d dh p1 AsAh', 'd dh p2 KsKh', 'p2 f']",
        players="['BB', 'SB']",
        finishing_stacks="[950, 650]",
    )
    assert hand.rules == dataclasses.replace(HUNL, stacks=(900, 700))
    assert payoffs(hand) == hand.payoffs == (50.0, -50.0)
    assert by_pokerkit(written([hand])) == [50.0, -50.0]


def check_with_pokerkit(count, seed):
    """Ours by pokerkit: the same payoffs but for odd chips, and refused only where a card room's rules differ."""
    num_equal = num_odd = num_refused = 0
    for history in random_histories(seed, count):
        text = written([history])
        theirs = by_pokerkit(text)
        if theirs is None:
            assert card_room_may_refuse(history), text
            num_refused += 1
        elif np.allclose(theirs, history.payoffs, atol=1e-9):
            num_equal += 1
        else:  # pokerkit gives all odd chips of a pot to one winner
            betting = replay_betting(history.rules, history.actions)
            assert only_odd_chips(replay_hand(betting, history.hole_cards, history.board), theirs), text
            num_odd += 1
    assert num_refused < 0.1 * count and 0 < num_odd < 0.1 * count and num_equal > 0.85 * count


def card_room_may_refuse(history):
    """Whether somebody raises by less than a full raise, which would not re-open the betting, or needlessly.

    A raise is needless when nobody else in the hand has chips to pay more; `universal_poker` allows it.
    """
    stacks = history.rules.stacks
    state = BettingState(history.rules)
    full, street = 100, 0
    for action in history.actions:
        if state.street != street:
            full, street = 100, state.street
        if action > 1:
            highest = max(state.contributions)
            others = [seat for seat in range(len(stacks)) if seat != state.actor and not state.folded[seat]]
            if action - highest < full or all(stacks[seat] <= highest for seat in others):
                return True
            full = action - highest
        state.apply(action)
    return False


def test_pokerkit_pays_the_same(tmp_path):
    check_with_pokerkit(600, seed=11)


@pytest.mark.slow
def test_pokerkit_pays_the_same_in_10_000_hands(tmp_path):
    check_with_pokerkit(10_000, seed=12)


def round_trip(tmp_path, histories):
    path = tmp_path / "all.phhs"
    with path.open("w", encoding="utf-8") as stream:
        write_phh(stream, iter(histories))
    for history, again in zip(histories, read_phh(path), strict=True):
        np.testing.assert_allclose(again.payoffs, history.payoffs, atol=1e-9)
        assert dataclasses.replace(again, payoffs=history.payoffs) == history


def test_random_hands_round_trip(tmp_path):
    round_trip(tmp_path, list(random_histories(13, 1000)))


@pytest.mark.slow
def test_10_000_random_hands_round_trip(tmp_path):
    round_trip(tmp_path, list(random_histories(14, 10_000)))


def test_limit_hands_round_trip_and_pokerkit_agrees(tmp_path):
    rng = np.random.default_rng(4)
    six = dataclasses.replace(HULH, blinds=(5, 10, 0, 0, 0, 0), first_seats=(2, 0, 0, 0))
    num_equal = 0
    for number in range(120):
        history = random_history(rng, (HULH, six)[number % 2], str(number))
        (again,) = read(tmp_path, written([history]), "limit.phhs")
        assert (again.actions, again.payoffs) == (history.actions, history.payoffs)
        assert payoffs(again) == payoffs(history)
        theirs = by_pokerkit(written([history]))
        num_equal += theirs == list(history.payoffs)
        assert only_odd(history, theirs)
    assert num_equal > 100


def only_odd(history, theirs):
    hand = replay_hand(replay_betting(history.rules, history.actions), history.hole_cards, history.board)
    return theirs == list(history.payoffs) or only_odd_chips(hand, theirs)


def test_a_fixed_limit_hand(tmp_path):
    limit = {
        "variant": "'FT'",
        "min_bet": None,
        "small_bet": "100",
        "big_bet": "200",
        "actions": f"[{DEAL} 'p3 cbr 200', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 100', 'p2 f']",
        "finishing_stacks": "[9950, 4800, 1250]",
    }
    hand = one(tmp_path, **limit)
    assert hand.actions == (200, 0, 1, 1, 300, 0)
    assert (hand.rules.raise_sizes, hand.rules.stacks) == ((100, 100, 200, 200), None)
    assert payoffs(hand) == hand.payoffs
    for stack in (150, 200, 300):
        stacks = f"[10000, 5000, {stack}]"
        what = refused(tmp_path, **{**limit, "starting_stacks": stacks})
        assert what.endswith("p3 is all in, but our limit games have no stacks")


def test_equal_antes_become_blinds(tmp_path):
    hand = one(
        tmp_path,
        antes="[10, 10, 10]",
        actions=f"[{DEAL} 'p3 cbr 300', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 300', 'p2 f']",
        finishing_stacks="[9940, 4690, 1370]",
    )
    assert hand.rules.blinds == (60, 110, 10)
    assert hand.actions == (310, 0, 1, 1, 610, 0)
    assert payoffs(hand) == hand.payoffs
    assert "antes that differ" in refused(tmp_path, antes="[0, 100, 0]")
    low = refused(tmp_path, antes="[10, 10, 10]", actions=f"[{DEAL} 'p3 cbr 200']")
    assert "210 is not legal for seat 2: legal are 0 (fold), 1 (call 100), 220..1000 (raise to)" in low


@pytest.mark.parametrize(
    ("blinds", "actions", "posted"),
    [
        ("[50, 100, 200]", "['p1 f', 'p2 f']", (50, 100, 200)),  # a straddle
        ("[50, 100, -100]", "['p3 cbr 400', 'p1 f', 'p2 f']", (50, 100, 100)),  # posted out of turn, as in pokerkit
        ("[0, 100, 0]", "['p3 f', 'p1 f']", (0, 100, 0)),
    ],
)
def test_other_blinds(tmp_path, blinds, actions, posted):
    hand = one(tmp_path, blinds_or_straddles=blinds, actions=actions, finishing_stacks=None)
    assert hand.rules.blinds == posted
    assert hand.rules.first_seats == (int(actions[3]) - 1, 0, 0, 0)
    assert payoffs(hand)


def test_fractions_of_chips(tmp_path):
    hand = one(
        tmp_path,
        blinds_or_straddles="[0.25, 0.50, 0]",
        min_bet="0.50",
        starting_stacks="[50, 20.75, 10.0]",
        actions=f"[{DEAL} 'p3 cbr 1.25', 'p1 f', 'p2 cc', 'd db 2d7d9h', 'p2 cc', 'p3 cbr 1', 'p2 f']",
        finishing_stacks="[49.75, 19.50, 11.50]",
    )
    assert hand.rules.blinds == (25, 50, 0)
    assert hand.rules.stacks == (5000, 2075, 1000)
    assert hand.actions == (125, 0, 1, 1, 225, 0)
    assert hand.chip_value == Decimal("0.01")
    assert payoffs(hand) == hand.payoffs == (-25.0, -125.0, 150.0)
    text = written([hand])
    assert "blinds_or_straddles = [0.25, 0.5, 0]\n" in text
    assert "'p3 cbr 1.25'".replace("'", '"') in text
    assert read(tmp_path, text, "again.phhs") == [hand]
    assert by_pokerkit(text) == [-0.25, -1.25, 1.5]


def test_fractional_finishing_stacks(tmp_path):
    hand = one(tmp_path, finishing_stacks="[9950.5, 4775.25, 1274.25]")
    assert hand.payoffs == (-49.5, -224.75, 274.25)
    assert one(tmp_path, finishing_stacks=None).payoffs is None


def test_hands_shown_and_mucked(tmp_path):
    winner = (-50.0, -100.0, 150.0)

    def showdown(*shows, deal=DEAL):
        actions = SHOWDOWN.replace(DEAL, deal) + "".join(f", '{show}'" for show in shows)
        return one(tmp_path, actions=f"[{actions}]", finishing_stacks=None)

    hidden = "'d dh p1 ????', 'd dh p2 ????', 'd dh p3 ????', "
    for hand in (
        showdown(),
        showdown("p2 sm 2c7s", "p3 sm 7h9c"),
        showdown("p2 sm -", "p3 sm 9c7h"),
        showdown("p2 sm", "p3 sm -"),
        showdown("p2 sm ????", "p3 sm -"),
        showdown("p2 sm 2c7s", "p3 sm 7h9c", deal=hidden),
        showdown("p2 sm", "p3 sm 7h9c", deal=hidden),
        showdown("p2 sm 2c7s", "p3 sm 7h9c", deal=""),
        showdown("p2 sm # folds", "", " # a comment", "p3  sm   7h9c # wins", deal=hidden),
    ):
        assert payoffs(hand) == winner
        assert payoffs(read(tmp_path, written([hand]), "again.phhs")[0]) == winner
    for hand, message in (
        (showdown("p2 sm -", "p3 sm"), "seat 2 mucked, but would win"),
        (showdown("p2 sm ????", "p3 sm 7h9c", deal=hidden), "hole cards of seat 1 unknown"),
        (showdown("p2 sm ??2c", "p3 sm 7h9c", deal=hidden), "hole cards of seat 1 unknown"),
    ):
        with pytest.raises(ValueError, match=message):
            payoffs(hand)
    assert showdown("p2 sm As2s").what == "p2 shows other cards than it was dealt"
    assert one(tmp_path, actions=f"[{DEAL} 'p2 sm 2c7s']").what == "p2 shows or mucks before the betting is over"


def test_cards_dealt_one_by_one(tmp_path):
    deal = "'d dh p1 8h', 'd dh p2 2c', 'd dh p3 7h', 'd dh p1 Kd', 'd dh p2 7s', 'd dh p3 9c', "
    hand = one(tmp_path, actions=f"[{deal} 'p3 f', 'p1 f']", finishing_stacks=None)
    assert hand.hole_cards == (parse_cards("8hKd"), parse_cards("2c7s"), parse_cards("7h9c"))


@pytest.mark.parametrize("asked", [True, False])
def test_a_seat_without_a_choice_may_be_asked_or_not(tmp_path, asked):
    """The small blind is all-in with its blind: the big blind can only check, and pokerkit does not ask it."""
    check = "'p1 cc', " if asked else ""
    hand = one(
        tmp_path,
        antes="[0, 0]",
        blinds_or_straddles="[50, 100]",
        starting_stacks="[900, 50]",
        actions=f"['d dh p1 AsAh', 'd dh p2 KsKh', {check}'d db 2c7d9h', 'd db Tc', 'd db Js']",
        players="['BB', 'SB']",
        finishing_stacks="[950, 0]",
    )
    assert hand.actions == (1,)
    assert payoffs(hand) == hand.payoffs
    assert by_pokerkit(written([hand])) == [50.0, -50.0]


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"variant": None}, "variant is NT or FT (hold'em, no-limit or fixed-limit), got 'None'"),
        ({"variant": "'PO'"}, "got 'PO'"),
        ({"variant": "['NT']"}, "variant is NT or FT"),
        ({"bring_in": "5"}, "hold'em has no bring_in"),
        ({"antes": None}, "antes must list the chips of every player, got None"),
        ({"antes": "0"}, "antes must list the chips of every player, got 0"),
        ({"antes": "[0, 0]"}, "antes lists 2 of 3 players"),
        ({"blinds_or_straddles": "[50, 100]"}, "blinds_or_straddles lists 2 of 3 players"),
        ({"blinds_or_straddles": "[0, 0, 0]"}, "at least one seat must post a blind"),
        ({"starting_stacks": "[]"}, "antes lists 3 of 0 players"),
        ({"starting_stacks": "[10000, 5000, inf]"}, "starting_stacks must be chips, got 'Infinity'"),
        ({"starting_stacks": "[10000, 5000, nan]"}, "starting_stacks must be chips, got 'NaN'"),
        ({"starting_stacks": "[10000, 5000, true]"}, "starting_stacks must be chips, got 'True'"),
        ({"starting_stacks": "[10000, 5000, '1']"}, "starting_stacks must be chips, got '1'"),
        ({"starting_stacks": "[10000, 5000, -1]"}, "starting_stacks must be 0..2147483647 chips, got -1"),
        ({"starting_stacks": "[10000, 5000, 0]"}, "stacks must be positive chips"),
        ({"starting_stacks": "[10000, 70, 1000]"}, "a stack must cover its blind"),
        ({"starting_stacks": "[10000, 5000, 1e999999999]"}, "starting_stacks must be chips, got"),
        ({"starting_stacks": "[10000, 5000, 1e-999999]"}, "starting_stacks must be chips, got"),
        ({"starting_stacks": "[10000, 5000, 0.1234567]"}, "chips have at most 6 decimals"),
        ({"starting_stacks": f"[10000, 5000, 1{'0' * 300}]"}, "starting_stacks must be 0..2147483647 chips"),
        ({"starting_stacks": f"[10000, 5000, 1{'0' * 5000}]"}, "no valid TOML"),
        ({"starting_stacks": f"[10000, 5000, 0x1{'0' * 5000}]"}, ""),
        ({"finishing_stacks": "[1, 2]"}, "finishing_stacks lists 2 of 3 players"),
        ({"finishing_stacks": "[1, 2, '3']"}, "finishing_stacks must be chips, got '3'"),
        ({"players": "['a', 'b']"}, "players lists 2 of 3 players"),
        ({"players": "['a', 'b', 3]"}, "players must be a list of names"),
        ({"players": "'abc'"}, "players must be a list of names"),
        ({"actions": None}, "actions must be a list of texts"),
        ({"actions": "'p3 f'"}, "actions must be a list of texts"),
        ({"actions": "[1]"}, "actions must be a list of texts"),
        ({"actions": "[]"}, "the hand stops before its end, with p3 to act"),
        ({"actions": "['p3 f']"}, "the hand stops before its end, with p1 to act"),
        ({"actions": "['p1 f']"}, "action 1: p1 acts when it is p3's turn"),
        ({"actions": "['p4 f']"}, "there is no player 'p4': players are p1..p3"),
        ({"actions": "['p² f']"}, "there is no player 'p²'"),
        ({"actions": "['p0 f']"}, "there is no player 'p0'"),
        ({"actions": "['x']"}, "no action of hold'em: 'x'"),
        ({"actions": "['p3 pb']"}, "no action of hold'em: 'p3 pb'"),
        ({"actions": "['p3 sd As']"}, "no action of hold'em: 'p3 sd As'"),
        ({"actions": "['d dh p3']"}, "no action of hold'em: 'd dh p3'"),
        ({"actions": "['p3 f', 'p1 f', 'p2 cc']"}, "action 3: p2 acts after the last action"),
        ({"actions": "['p3 cbr 199']"}, "action 1, of p3: 199 is not legal for seat 2: legal are"),
        ({"actions": "['p3 cbr -5']"}, "a bet is written p1 cbr 200, got 'p3 cbr -5'"),
        ({"actions": "['p3 cbr']"}, "a bet is written p1 cbr 200, got 'p3 cbr'"),
        ({"actions": f"['p3 cbr {'9' * 40}']"}, "a bet is written p1 cbr 200"),
        ({"actions": "['p3 f', 'p1 cc', 'p2 cc', 'p1 cc']"}, "action 4: 0 board cards where street 1 has 3"),
        ({"actions": "['p3 f', 'd db 2c3c4c', 'p1 cc']"}, "action 2: 3 board cards where street 0 has 0"),
        ({"actions": "['d db 2c3']"}, "cards are written like"),
        ({"actions": "['d dh p1 Az']"}, "cards are written like"),
    ],
)
def test_what_is_no_hand_is_refused(tmp_path, fields, what):
    assert what in refused(tmp_path, **fields)


@pytest.mark.parametrize(
    ("hand", "label"), [("17", "17"), ("'final'", "final"), ("''", "1"), ("1.5", "1"), (None, "1"), ("[1]", "1")]
)
def test_labels(tmp_path, hand, label):
    assert one(tmp_path, hand=hand).label == label


def test_players_without_names(tmp_path):
    assert one(tmp_path, players=None).names == ("p1", "p2", "p3")
    assert one(tmp_path, players="['', 'X', '']").names == ("p1", "X", "p3")


@pytest.mark.parametrize(
    ("name", "content", "hand", "what"),
    [
        ("x.phh", b"", "1", "nothing there"),
        ("x.phhs", b"", None, "holds no hand"),
        ("x.phhs", b"# only a comment\n\n", None, "holds no hand"),
        ("x.phhs", THREE.encode(), None, "a .phhs file holds tables"),
        ("x.phhs", b"[1]\n", "1", "nothing there"),
        ("x.phh", THREE.encode()[:250], "1", "no valid TOML"),
        ("x.phhs", b"[5]\n" + THREE.encode()[:250], "5", "no valid TOML"),
        ("x.phh", bytes(range(128, 256)) * 9, "1", "no text in UTF-8"),
        ("x.phh", b"\x00" * 50, "1", "no valid TOML"),
        ("x.phhs", bytes(range(256)) * 9, None, "a .phhs file holds tables"),
        ("x.phh", b"x = " + b"[" * 100_000, "1", "no valid TOML: nested too deeply"),
        ("x.phh", b"x = " + b"{a=" * 100_000, "1", "no valid TOML: nested too deeply"),
        ("x.phh", b"#" * (5 << 20), "1", "more than 4194304 bytes are no hand"),
        ("x.phhs", b"[1]\n" + b"#######\n" * (1 << 20), "1", "more than 4194304 bytes are no hand"),
    ],
)
def test_files_that_are_no_hands(tmp_path, name, content, hand, what):
    (broken,) = read(tmp_path, content, name)
    assert isinstance(broken, BrokenHistory)
    assert (broken.file, broken.hand) == (str(tmp_path / name), hand)
    assert what in broken.what


@pytest.mark.parametrize("suffix", [".phh", ".phhs"])
def test_files_that_cannot_be_read(tmp_path, suffix):
    (broken,) = read_phh(tmp_path / f"none{suffix}")
    assert (broken.hand, broken.what) == (None, "No such file or directory")
    (tmp_path / f"folder{suffix}").mkdir()
    (broken,) = read_phh(tmp_path / f"folder{suffix}")
    assert (broken.hand, broken.what) == (None, "Is a directory")


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_many_hands_in_a_file(tmp_path, end):
    unnamed = with_fields(hand=None).replace("\n", end.decode())
    parts = ["# hands", "[1]", unnamed, ' [ "b" ]  # second', unnamed, "['c']", "broken =", "[4]", unnamed, "[5]", ""]
    hands = read(tmp_path, end.join(part.encode() for part in parts), "many.phhs")
    assert [hand.hand if isinstance(hand, BrokenHistory) else hand.label for hand in hands] == ["1", "b", "c", "4", "5"]
    assert [isinstance(hand, BrokenHistory) for hand in hands] == [False, False, True, False, True]


def test_a_large_file_is_read_hand_by_hand(tmp_path):
    path = tmp_path / "large.phhs"
    text = with_fields() + f"_padding = '{'x' * 60_000}'\n"
    path.write_text("".join(f"[{number}]\n{text}\n" for number in range(200)))
    tracemalloc.start()
    try:
        assert sum(not isinstance(hand, BrokenHistory) for hand in read_phh(path)) == 200
        assert tracemalloc.get_traced_memory()[1] < 1 << 20 < path.stat().st_size / 10
    finally:
        tracemalloc.stop()


FOLDED = HandHistory(HUNL, ("A", "B"), (parse_cards("2c3c"), ()), (), (0,), (50.0, -50.0), "1")


def test_the_text_of_a_hand():
    assert written([FOLDED, dataclasses.replace(FOLDED, label="deck 3", payoffs=None)]) == (
        '[1]\nvariant = "NT"\nantes = [0, 0]\nblinds_or_straddles = [50, 100]\nmin_bet = 100\n'
        'starting_stacks = [20000, 20000]\nactions = ["d dh p1 2c3c", "d dh p2 ????", "p2 f"]\nhand = 1\n'
        'players = ["A", "B"]\nfinishing_stacks = [20050, 19950]\n\n'
        '[2]\nvariant = "NT"\nantes = [0, 0]\nblinds_or_straddles = [50, 100]\nmin_bet = 100\n'
        'starting_stacks = [20000, 20000]\nactions = ["d dh p1 2c3c", "d dh p2 ????", "p2 f"]\nhand = "deck 3"\n'
        'players = ["A", "B"]\n\n'
    )


names = st.text(st.characters(codec=None, categories=None), min_size=1, max_size=20)


@given(st.tuples(names, names), names)
def test_any_name_survives(tmp_path_factory, pair, label):
    history = dataclasses.replace(FOLDED, names=pair, label=label)
    text = written([history])
    (again,) = read(tmp_path_factory.mktemp("names"), text, "names.phhs")
    whole = [name.encode(errors="replace").decode() for name in (*pair, label)]  # TOML has no half surrogates
    assert [*again.names, again.label] == whole
    assert tomllib.loads(text)["1"]["players"] == whole[:2]


@pytest.mark.parametrize(
    "name", ["<script>", "=cmd", '"', "\\", "'''", "two\nlines", "[2]", "\n[2]\n", "♠ 🂡", "\x7f\x00"]
)
def test_awkward_names(tmp_path, name):
    (again,) = read(tmp_path, written([dataclasses.replace(FOLDED, names=(name, "B"))]), "names.phhs")
    assert again.names == (name, "B")
    assert by_pokerkit(written([dataclasses.replace(FOLDED, names=(name, "B"))])) == [50.0, -50.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules": KUHN}, "hand 1: PHH has no such game"),
        ({"rules": dataclasses.replace(SIXMAX, first_seats=(0, 0, 0, 0))}, "hand 1: PHH has no such game"),
        ({"rules": dataclasses.replace(HULH, raise_sizes=(10, 20, 20, 40))}, "limits change after the flop"),
        ({"actions": (5,)}, "hand 1: action 1 of seat 1 on street 0: 5 is not legal"),
    ],
)
def test_hands_that_the_format_cannot_hold(change, message):
    with pytest.raises(ValueError, match=message):
        written([dataclasses.replace(FOLDED, **change)])
