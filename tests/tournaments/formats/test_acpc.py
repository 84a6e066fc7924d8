"""Logs of the ACPC's dealer: lines as it writes them, and whatever else turns up in files."""

import dataclasses
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.random_histories import random_histories, random_history

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX, no_limit_holdem
from plurispiel.tournaments.formats.acpc import read_acpc, write_acpc
from plurispiel.tournaments.formats.game_definition import BUILT_IN, game_definition_text
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

HEADER = "# name/game/hands/seed match {} 3000 0\n#--t_response 10000\n"
HUNL_NAME = "holdem.nolimit.2p.reverse_blinds.game"
LINE = "STATE:7:r300c/cr900f:7c8d|QsJd/2c3d4h:-300|300:Alice|Bob"


def log(tmp_path, *lines, game=HUNL_NAME, end="\n"):
    path = tmp_path / "match.log"
    path.write_text(HEADER.format(game) + end.join([*lines, ""]), encoding="utf-8", newline="")
    return path


def only(hands):
    (hand,) = hands
    return hand


def whats(path, rules=None):
    """What is broken, by hand."""
    return [(hand.hand, hand.what) for hand in read_acpc(path, rules) if isinstance(hand, BrokenHistory)]


def written(histories):
    stream = io.StringIO()
    write_acpc(stream, histories)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("game", "line", "history"),
    [
        (
            HUNL_NAME,
            LINE,
            HandHistory(
                HUNL,
                ("Alice", "Bob"),
                (parse_cards("7c8d"), parse_cards("QsJd")),
                parse_cards("2c3d4h"),
                (300, 1, 1, 900, 0),
                (-300.0, 300.0),
                "7",
            ),
        ),
        (
            "holdem.nolimit.3p.game",  # all-in before the flop: streets without betting, and a pot of thirds
            "STATE:0:r20000cc///:AsKd|AhKc|AcKh/2c3d4h/5s/9d:0|0.5|-0.5:a b|c,d|#e",
            HandHistory(
                no_limit_holdem(3, stack=20_000),
                ("a b", "c,d", "#e"),
                (parse_cards("AsKd"), parse_cards("AhKc"), parse_cards("AcKh")),
                parse_cards("2c3d4h5s9d"),
                (20_000, 1, 1),
                (0.0, 0.5, -0.5),
                "0",
            ),
        ),
        (
            "kuhn.limit.3p.game",  # the ACPC's reduced deck is J, Q, K, A of spades; ours 2, 3, 4, 5 of clubs
            "STATE:2999:crff:Ks|As|Js:-1|2|-1:A|B|C",
            HandHistory(
                BUILT_IN["kuhn.limit.3p.game"],
                ("A", "B", "C"),
                (parse_cards("4c"), parse_cards("5c"), parse_cards("2c")),
                (),
                (1, 2, 0, 0),
                (-1.0, 2.0, -1.0),
                "2999",
            ),
        ),
        (
            "leduc.limit.2p.game",
            "STATE:3:crc/rc:Qh|Ks/Kh:-7|7:A|B",
            HandHistory(
                LEDUC,
                ("A", "B"),
                (parse_cards("2c"), parse_cards("3d")),
                parse_cards("3c"),
                (1, 3, 1, 7, 1),
                (-7.0, 7.0),
                "3",
            ),
        ),
    ],
    ids=["no-limit", "all-in", "kuhn", "leduc"],
)
def test_lines_of_the_dealer(tmp_path, game, line, history):
    hand = only(read_acpc(log(tmp_path, line, game=game)))
    assert hand == history
    assert written([hand]) == line + "\n"


def test_limit_raises_get_their_totals(tmp_path):
    line = "STATE:12:rrfc/crc/cc/cc:|9h8h|2d2s/Qc7d3s/2c/4d:-5|40|-35:A|B|C"
    hand = only(read_acpc(log(tmp_path, line, game="holdem.limit.3p.game")))
    assert hand.actions == (20, 30, 0, 1, 1, 40, 1, 1, 1, 1, 1)
    assert hand.hole_cards[0] == ()
    assert written([hand]) == line + "\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_comments_scores_and_blank_lines_are_no_hands(tmp_path, end):
    path = log(tmp_path, "# comment", LINE, "", "SCORE:-300|300:Alice|Bob", "#", end=end)
    assert [hand.label for hand in read_acpc(path)] == ["7"]
    path.write_bytes(path.read_bytes().rstrip() + b"\n" + LINE.encode())  # no line end at the end
    assert [hand.label for hand in read_acpc(path)] == ["7", "7"]


def test_the_game_beside_the_log_is_preferred(tmp_path):
    other = dataclasses.replace(HUNL, stacks=(900, 20_000))
    (tmp_path / HUNL_NAME).write_text(game_definition_text(other))
    assert only(read_acpc(log(tmp_path, LINE))).rules == other
    assert only(read_acpc(log(tmp_path, LINE), HUNL)).rules == HUNL


@pytest.mark.parametrize("folder", ["games/", "../", "/no/such/folder/", "C:\\games\\", "..\\..\\"])
def test_only_the_base_name_counts(tmp_path, folder):
    (tmp_path / "mine.game").write_text("no game")
    (tmp_path / "logs").mkdir()
    assert only(read_acpc(log(tmp_path / "logs", LINE, game=folder + HUNL_NAME))).rules == HUNL
    broken = only(read_acpc(log(tmp_path / "logs", LINE, game=folder + "mine.game")))
    assert broken.what == "the log's game 'mine.game' is neither in its folder nor built in; give --game FILE.game"


def test_several_matches_in_a_log(tmp_path):
    path = log(tmp_path, LINE, HEADER.format("kuhn.limit.2p.game") + "STATE:0:cc:Qs|Ks:-1|1:A|B")
    assert [hand.rules for hand in read_acpc(path)] == [HUNL, KUHN]
    path.write_text(path.read_text() + HEADER.format("x.game"))
    assert [hand.label for hand in read_acpc(path)] == ["7", "0"]


@pytest.mark.parametrize(
    ("line", "hand", "what"),
    [
        ("STATE:7:r300c/cr900f:7c8d|QsJd/2c3d4h:-300|300", "7", "5 of 6 fields"),
        ("STATE:", "at line 3", "2 of 6 fields"),
        (LINE.replace(":7:", ":x:"), "at line 3", "the hand's number must be digits, got 'x'"),
        (LINE.replace(":7:", "::"), "at line 3", "the hand's number must be digits, got ''"),
        (LINE.replace("r300", "b300"), "7", "betting is written with"),
        (LINE.replace("r300", "r"), "7", "a raise is written r and its chips in this game, got 'r'"),
        (LINE.replace("r300", "r1"), "7", "a raise is to 2 chips or more, got 'r1'"),
        (LINE.replace("r300", "r0"), "7", "a raise is to 2 chips or more, got 'r0'"),
        (LINE.replace("r300", "r199"), "7", "action 1 of seat 1 on street 0: 199 is not legal"),
        (LINE.replace("r300", "r" + "9" * 5000), "7", "betting is written with"),
        (LINE.replace("r300c/c", "r300/cc"), "7", "in this game the streets of 'r300/ccr900f' do not end"),
        (LINE.replace("f:", "f/:"), "7", "in this game the streets of 'r300c/cr900f/' do not end"),
        (LINE.replace("r900f", "r900"), "7", ""),
        (LINE.replace("r900f", "r900ff"), "7", "the hand is over"),
        (LINE.replace("7c8d", "7c8x"), "7", "cards are written like AsKd, got '7c8x'"),
        (LINE.replace("7c8d", "7c8"), "7", "cards are written like AsKd, got '7c8'"),
        (LINE.replace("7c8d|", "7c8d"), "7", "the game needs hole cards of 2 seats, got 1"),
        (LINE.replace("2c3d4h", "2c3d"), "7", "after this betting the board has 3 cards, got '2c3d'"),
        (LINE.replace("2c3d4h", "2c3d4h/5d"), "7", "after this betting the board has 3 cards, got '2c3d4h/5d'"),
        (LINE.replace("-300|300", "-300"), "7", "the game needs chips of 2 seats, got 1"),
        (LINE.replace("-300|300", "-300|nan"), "7", "chips are written 1|-1, got '-300|nan'"),
        (LINE.replace("-300|300", "-300|" + "9" * 400), "7", "chips must be numbers"),
        (LINE.replace("-300|300", ""), "7", "chips are written"),
        (LINE.replace("Alice|Bob", "Alice"), "7", "the game needs names of 2 seats, got 1"),
        ("MATCHSTATE:0:7:r300c:|QsJd", "at line 3", "neither a STATE line nor a comment: 'MATCHSTATE:0:7:r300c:|QsJd'"),
    ],
)
def test_a_broken_line_is_named_and_skipped(tmp_path, line, hand, what):
    path = log(tmp_path, line, LINE.replace(":7:", ":8:")) if line.startswith("STATE") else log(tmp_path, LINE, line)
    if not line.startswith("STATE"):
        hand = "at line 4"
    if not what:  # an unfinished hand is one for the replay to refuse
        assert whats(path) == [] and len(list(read_acpc(path))) == 2
        return
    ((found_hand, found_what),) = whats(path)
    assert found_hand == hand and what in found_what
    assert len(list(read_acpc(path))) == 2


def test_a_raise_in_a_limit_log_has_no_size(tmp_path):
    path = log(tmp_path, "STATE:0:r20f:7c8d|QsJd:10|-10:A|B", game="holdem.limit.2p.reverse_blinds.game")
    assert whats(path) == [("0", "a raise is written r in this game, got 'r20'")]


@pytest.mark.parametrize(
    ("cards", "what"),
    [
        ("Qs|Js", "the deck of this game begins at Qs and has no 'Js'"),
        ("Qs|2c", "and has no '2c'"),
        ("Qs|Kh", "and has no 'Kh'"),
    ],
)
def test_cards_outside_a_reduced_deck(tmp_path, cards, what):
    path = log(tmp_path, f"STATE:0:cc:{cards}:-1|1:A|B", game="kuhn.limit.2p.game")
    ((hand, found),) = whats(path)
    assert hand == "0" and what in found


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "holds no hand"),
        (b"\n\n# comment\n", "holds no hand"),
        (LINE.encode(), "the log does not name its game"),
        (b"# name/game/hands/seed x\n" + LINE.encode(), "the log does not name its game"),
        (bytes(range(256)) * 300, "not a log of the ACPC's dealer: line 1 is"),
        (b"<html>\n" + LINE.encode(), "not a log of the ACPC's dealer: line 1 is '<html>'"),
        (b"\x00" * 200_000, "not a log of the ACPC's dealer: line 1 is"),
    ],
)
def test_files_that_are_no_logs(tmp_path, content, what):
    path = tmp_path / "file.log"
    path.write_bytes(content)
    ((hand, found),) = whats(path)
    assert hand is None and what in found


def test_files_that_cannot_be_read(tmp_path):
    assert whats(tmp_path / "none.log") == [(None, "No such file or directory")]
    assert whats(tmp_path) == [(None, "Is a directory")]


def test_every_built_in_game_round_trips(tmp_path):
    rng = np.random.default_rng(2)
    for name, rules in BUILT_IN.items():
        histories = [random_history(rng, rules, str(label)) for label in range(40)]
        path = tmp_path / f"{name}.log"
        path.write_text(HEADER.format(name) + written(histories))
        assert list(read_acpc(path)) == histories


@pytest.mark.parametrize("betting", ["limit", "no-limit"])
def test_ten_seats(tmp_path, betting):
    rules = no_limit_holdem(10)
    if betting == "limit":
        rules = dataclasses.replace(HULH, blinds=(5, 10, *[0] * 8), first_seats=(2, 0, 0, 0))
    rng = np.random.default_rng(3)
    histories = [random_history(rng, rules, str(label)) for label in range(40)]
    path = tmp_path / "ten.log"
    path.write_text(written(histories))
    assert list(read_acpc(path, rules)) == histories


def round_trip(tmp_path, count):
    path = tmp_path / "one.log"
    for history in random_histories(7, count):
        path.write_text(written([history]))
        assert list(read_acpc(path, history.rules)) == [history]


def test_random_hands_round_trip(tmp_path):
    round_trip(tmp_path, 1000)


@pytest.mark.slow
def test_10_000_random_hands_round_trip(tmp_path):
    round_trip(tmp_path, 10_000)


names = st.text(st.characters(codec=None, categories=None), max_size=20)


@given(st.tuples(names, names))
def test_any_name_survives(tmp_path_factory, pair):
    history = dataclasses.replace(HISTORY, names=pair)
    path = tmp_path_factory.mktemp("names") / "names.log"
    text = written([history])
    assert text.count("\n") == 1
    path.write_text(text, encoding="utf-8")
    assert list(read_acpc(path, HUNL)) == [history]


HISTORY = HandHistory(HUNL, ("A", "B"), ((0, 1), (2, 3)), (), (0,), (50.0, -50.0), "1")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("bot.py:MyBot", "bot.py%3AMyBot"),
        ("a|b", "a%7Cb"),
        ("100%", "100%25"),
        ("two\nlines\r", "two%0Alines%0D"),
        ("<script>", "<script>"),
        ("=cmd", "=cmd"),
        ('"', '"'),
        ("♠ 🂡", "♠ 🂡"),
        ("\u2028", "%E2%80%A8"),
    ],
)
def test_names_as_written(name, field):
    line = written([dataclasses.replace(HISTORY, names=(name, "B"))])
    assert line.rstrip("\n").split(":")[-1] == f"{field}|B"


def test_a_percent_sign_of_others_is_kept(tmp_path):
    path = log(tmp_path, LINE.replace("Alice", "50%").replace("Bob", "%FF"))
    assert only(read_acpc(path)).names == ("50%", "%FF")


def test_labels_that_are_no_numbers_are_counted():
    histories = [dataclasses.replace(HISTORY, label=label) for label in ("1/2/0", "17", "²")]
    assert [line.split(":")[1] for line in written(histories).splitlines()] == ["0", "17", "2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"payoffs": None}, "hand 1: an ACPC log states payoffs"),
        ({"actions": (1,)}, "hand 1: the hand stops before its end"),
        ({"actions": (1, 1, 1, 150)}, "hand 1: action 4 of seat 1 on street 1: 150 is not legal"),
        ({"actions": (1, 1, 200, 0)}, "hand 1: 0 of 3 board cards are known"),
        ({"rules": SIXMAX}, "hand 1: a log holds hands of one game"),
    ],
)
def test_hands_that_no_log_can_hold(change, message):
    with pytest.raises(ValueError, match=message):
        written([HISTORY, dataclasses.replace(HISTORY, **change)])


def test_fractions_are_written_in_full(tmp_path):
    third = dataclasses.replace(HISTORY, payoffs=(100 / 3, -100 / 3))
    assert written([third]).split(":")[4] == "33.333333333333336|-33.333333333333336"
    path = log(tmp_path, LINE.replace("-300|300", "-33.333333|33.333333"))
    assert only(read_acpc(path)).payoffs == (-33.333333, 33.333333)
