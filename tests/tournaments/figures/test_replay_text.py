"""The report of a replay: what agrees, what does not, and how everybody fared."""

import dataclasses
from decimal import Decimal

import numpy as np
import pytest
from reference.random_histories import random_history

from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, no_limit_holdem
from plurispiel.evaluation.play_statistics import PlayStatistics, hand_counts, new_counts
from plurispiel.evaluation.referee import Referee, RefereeDisagrees
from plurispiel.evaluation.replay import replay_betting, replay_hand
from plurispiel.tournaments.figures import replay_text
from plurispiel.tournaments.figures.replay_text import ReplayReport
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

FOLDED = HandHistory(HUNL, ("A", "B"), ((), ()), (), (0,), (50.0, -50.0), "1")
SPLIT = HandHistory(  # one chip folded into a pot of 11, which two share
    dataclasses.replace(no_limit_holdem(3, blinds=(1, 2)), stacks=(50, 50, 50)),
    ("A", "B", "C"),
    (parse_cards("2c3c"), parse_cards("AsKs"), parse_cards("AhKh")),
    parse_cards("AcKd9h8h7s"),
    (5, 0, *[1] * 7),
    (-1.0, 0.5, 0.5),
    "split",
)


def report_of(*histories, file="f"):
    report = ReplayReport()
    report.add(file, histories)
    return report.record()


def changed(history, **changes):
    return dataclasses.replace(history, **changes)


def test_agreement():
    record = report_of(
        FOLDED, SPLIT, changed(FOLDED, payoffs=None), changed(SPLIT, payoffs=(-1.0, 0.5000004, 0.4999996))
    )
    assert (record["hands"], record["odd_chips"], record["mismatches"], record["errors"]) == (4, 0, [], [])


@pytest.mark.parametrize(
    ("stated", "chip_value", "odd"),
    [((-1.0, 0.0, 1.0), "1", True), ((-1.0, 0.51, 0.49), "1", True), ((-1.0, 3.0, -2.0), "0.1", True)],
)
def test_odd_chips_are_counted_apart(stated, chip_value, odd):
    record = report_of(changed(SPLIT, payoffs=stated, chip_value=Decimal(chip_value)))
    assert (record["odd_chips"], record["mismatches"]) == (1, [])


@pytest.mark.parametrize(
    ("history", "what"),
    [
        (changed(FOLDED, payoffs=(49.0, -49.0)), "the file states the payoffs +49 -49; the engines pay +50 -50"),
        (changed(FOLDED, payoffs=(-50.0, 50.0)), "states the payoffs -50 +50"),
        (changed(FOLDED, payoffs=(48.0, -50.0)), "+48 -50, which lack 2 (a rake?); the engines pay +50 -50"),
        (changed(SPLIT, payoffs=(-1.0, 2.0, -1.0)), "states the payoffs -1 +2 -1; the engines pay -1 +0.5 +0.5"),
        (changed(FOLDED, payoffs=(49.0, -49.0), chip_value=Decimal("0.01")), "states the payoffs +0.49 -0.49"),
    ],
)
def test_mismatches(history, what):
    record = report_of(history, FOLDED)
    (mismatch,) = record["mismatches"]
    assert (mismatch["file"], mismatch["hand"]) == ("f", history.label)
    assert what in mismatch["what"]
    assert record["hands"] == 2
    assert record["players"]["B"]["hands"] == 2  # by our rules, whatever the file states


def test_the_referee_is_asked(monkeypatch):
    def disagree(self, hand):
        raise RefereeDisagrees("universal_poker pays otherwise")

    monkeypatch.setattr(Referee, "check", disagree)
    (mismatch,) = report_of(FOLDED)["mismatches"]
    assert mismatch == {"file": "f", "hand": "1", "what": "universal_poker pays otherwise"}


@pytest.mark.parametrize(
    ("history", "entry"),
    [
        (BrokenHistory("other", None, "empty"), {"file": "other", "hand": None, "what": "empty"}),
        (changed(FOLDED, actions=(1,)), {"hand": "1", "what": "the hand stops before its end, with seat 0 to act"}),
        (changed(FOLDED, actions=(7,)), {"hand": "1"}),
        (changed(SPLIT, hole_cards=((), (), ())), {"what": "a showdown with the hole cards of seats 1, 2 unknown"}),
        (changed(SPLIT, board=SPLIT.board[:4]), {"what": "a showdown with 4 of 5 board cards known"}),
    ],
)
def test_errors_are_no_hands(history, entry):
    record = report_of(history)
    (error,) = record["errors"]
    assert error | entry == error
    assert (record["hands"], record["players"]) == (0, {})


def test_rates_and_standard_errors():
    rng = np.random.default_rng(3)
    histories = [random_history(rng, SIXMAX, names=tuple("ABCDEF")) for _ in range(40)]
    won = np.array([history.payoffs for history in histories])
    record = report_of(*histories)
    for seat, name in enumerate("ABCDEF"):
        player = record["players"][name]
        rates = won[:, seat] * 10
        assert player["hands"] == 40
        assert player["chips"] == pytest.approx(won[:, seat].sum())
        assert player["mbb_per_hand"] == pytest.approx(rates.mean())
        assert player["se"] == pytest.approx(rates.std(ddof=1) / 40**0.5)
    assert report_of(FOLDED)["players"]["A"]["se"] is None


def test_a_name_at_several_seats():
    record = report_of(changed(FOLDED, names=("A", "A")), changed(SPLIT, names=("A", "B", "A")))
    assert record["players"]["A"]["hands"] == 4
    assert record["players"]["A"]["chips"] == -0.5
    assert record["players"]["A"]["mbb_per_hand"] == pytest.approx(-0.5 / 2 * 1000 / 4)
    assert list(record["players"]) == ["A", "B"]
    assert record["players"]["A"]["stats"]["by_position"]["SB"]["hands"] == 1


def test_chips_are_counted_as_in_the_source():
    record = report_of(changed(FOLDED, chip_value=Decimal("0.01")), FOLDED)
    assert record["players"]["A"]["chips"] == 50.5
    assert record["players"]["A"]["mbb_per_hand"] == 500.0


def test_positions_are_those_of_each_hands_game():
    """The same seat is the big blind in one game, and in the other the button."""
    reverse = dataclasses.replace(HUNL, blinds=HUNL.blinds[::-1], first_seats=(0, 1, 1, 1))
    players = report_of(FOLDED, changed(FOLDED, rules=reverse, payoffs=(-50.0, 50.0)))["players"]
    for player in players.values():
        positions = player["stats"]["by_position"]
        assert {position: row["hands"] for position, row in positions.items()} == {"BB": 1, "BTN": 1}
        assert positions["BTN"]["first_in_raise"] == 0.0 and positions["BB"]["first_in_raise"] is None


def test_play_statistics_by_position():
    rng = np.random.default_rng(6)
    histories = [random_history(rng, SIXMAX, names=tuple("ABCDEF")) for _ in range(60)]
    counts = new_counts(6)
    for history in histories:
        hand = replay_hand(replay_betting(SIXMAX, history.actions), history.hole_cards, history.board)
        counts += np.array(hand_counts(hand))
    expected = PlayStatistics(counts).record(SIXMAX)
    players = report_of(*[changed(history, names=("X",) * 6) for history in histories])["players"]
    stats = players["X"]["stats"]
    for key in ("vpip", "pfr", "three_bet", "donk_bet", "showdown"):
        assert stats[key] == expected[key]
    assert list(stats["by_position"]) == ["SB", "BB", "UTG", "HJ", "CO", "BTN"]
    for position, own in stats["by_position"].items():
        assert own["hands"] == 60
        assert own["first_in_raise"] == expected["first_in_raise"][position]
        assert own["first_in_limp"] == expected["first_in_limp"][position]


def test_positions_of_tables_of_all_sizes():
    rng = np.random.default_rng(7)
    histories = [random_history(rng, no_limit_holdem(seats), names=("X",) * seats) for seats in range(2, 11)]
    by_position = report_of(*histories)["players"]["X"]["stats"]["by_position"]
    assert list(by_position) == ["SB", "BB", "UTG", "UTG+1", "UTG+2", "UTG+3", "LJ", "HJ", "CO", "BTN"]
    assert (by_position["BTN"]["hands"], by_position["SB"]["hands"]) == (9, 8)


def test_a_table_with_stacks_of_its_own_for_every_hand():
    report = ReplayReport()
    for number in range(200):
        rules = dataclasses.replace(HUNL, stacks=(20_000, 10_000 + number))
        report.add("f", [changed(FOLDED, rules=rules)])
    assert (report.hands, report.mismatches, report.errors) == (200, [], [])
    assert replay_text.referee_of.cache_info().currsize <= 64
