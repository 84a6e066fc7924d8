"""Hands are kept one by one; a second start goes on; what is not ours is refused and left as it is."""

import contextlib
import json

import numpy as np
import pytest
from played_table import RandomKeys, play_table

from plurispiel.abstraction.holdem.rules import HULH, HUNL, KUHN, LEDUC, SIXMAX
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.api.replay import replay_hands
from plurispiel.tournaments.formats.files import read_hands
from plurispiel.tournaments.play.history import PlayHistory
from plurispiel.tournaments.play.luck import TableScore

SETTINGS = {"agents": ["call"], "hint": None}


def a_hand(rules, seed=0):
    rng = np.random.default_rng(seed)
    return play_hand(rules, [make_agent("call")] * rules.num_seats, deal_deck(rules, rng), [rng] * rules.num_seats)


def keep(folder, rules, *seeds):
    with contextlib.closing(PlayHistory(folder, rules, SETTINGS)) as history:
        names = [f"agent {seat}" for seat in range(rules.num_seats)]
        return [history.keep(a_hand(rules, seed), names, 0, TableScore(seed + 0.25, -0.5)) for seed in seeds]


@pytest.mark.parametrize("rules", [HUNL, SIXMAX, HULH, LEDUC, KUHN])
def test_hands_of_every_game_replay_with_the_payoffs_as_played(tmp_path, rules):
    folder = tmp_path / "table"
    first = keep(folder, rules, 0, 1)
    second = keep(folder, rules, 2)
    assert [kept.number for kept in first + second] == [1, 2, 3]
    with contextlib.closing(PlayHistory(folder, rules, SETTINGS)) as history:
        assert history.kept == first + second and history.next_number == 4 and not history.was_cut
        path = history.path
    assert path.suffix == (".phhs" if rules in (HUNL, SIXMAX, HULH) else ".log")
    assert [history.label for history in read_hands(path)] == ["1", "2", "3"]
    result = replay_hands([str(folder)])
    assert (result.hands, result.mismatches, result.errors) == (3, [], [])


@pytest.mark.parametrize("rules", [HUNL, LEDUC])
def test_wherever_a_file_ends_all_whole_hands_are_there(tmp_path, rules):
    folder = tmp_path / "table"
    kept = keep(folder, rules, 0, 1)
    with contextlib.closing(PlayHistory(folder, rules, SETTINGS)) as history:
        path = history.path
    whole = path.read_bytes()
    ends = [whole.index(b"of -0.500000\n") + 13, whole.rindex(b"of -0.500000\n") + 13]
    for size in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:size])
        with contextlib.closing(PlayHistory(folder, rules, SETTINGS)) as history:
            assert history.kept == kept[: sum(size >= end for end in ends)]
            history.keep(a_hand(rules, 5), ["a", "b"], 1, TableScore(0.0, 0.0))
        assert len(list(read_hands(path))) == len(history.kept)
        assert not replay_hands([str(path)]).errors


def test_one_process_plays_at_a_table(tmp_path):
    with contextlib.closing(PlayHistory(tmp_path, HUNL, SETTINGS)):
        with pytest.raises(ValueError, match="another process plays at the table"):
            PlayHistory(tmp_path, HUNL, SETTINGS)
    PlayHistory(tmp_path, HUNL, SETTINGS).close()


def test_other_tables_and_other_folders_are_refused(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    with pytest.raises(ValueError, match="is no table: it holds 'cat.jpg'"):
        PlayHistory(tmp_path / "photos", HUNL, SETTINGS)
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]
    with pytest.raises(ValueError, match="cannot use the folder .*cat.jpg: File exists; give another folder"):
        PlayHistory(tmp_path / "photos" / "cat.jpg", HUNL, SETTINGS)
    keep(tmp_path / "table", HUNL, 0)
    with pytest.raises(ValueError, match="is another table: hint differ"):
        PlayHistory(tmp_path / "table", HUNL, SETTINGS | {"hint": "tag"})


def test_a_table_of_an_earlier_version_goes_on(tmp_path):
    """It keeps the specs of its agents, with their folders."""
    old = {"agents": ["lgt/bot.py:Bot", "continual?values=net:v/M"], "hint": "../tabular.py:X", "digests": ["1"]}
    new = {"agents": ["bot.py:Bot", "continual?values=net:M"], "hint": "tabular.py:X", "digests": ["1"]}
    (tmp_path / "table.json").write_text(json.dumps(old))
    PlayHistory(tmp_path, HUNL, new).close()
    for key, value in (("agents", ["bot.py:Bot", "tag"]), ("hint", None), ("digests", ["2"])):
        with pytest.raises(ValueError, match=f"is another table: {key} differ"):
            PlayHistory(tmp_path, HUNL, new | {key: value})


@pytest.mark.parametrize(
    "text", [b"{", b"[" * 100_000, b"\xff", b"[]", b"null", b"{}", b'{"agents": [[], ":"], "hint": 1}']
)
def test_broken_settings_are_refused(tmp_path, text):
    (tmp_path / "table.json").write_bytes(text)
    with pytest.raises(ValueError, match="is damaged|is another table"):
        PlayHistory(tmp_path, HUNL, SETTINGS)


def test_a_file_of_other_hands_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "table.json").write_text(json.dumps(SETTINGS))
    for text in ("[5]\nvariant = 'NT'\n", "my diary\n", "x" * 1_000, "[1]\nhand = 1\n\n[2]\nhand = 2\n"):
        (tmp_path / "hands.phhs").write_text(text)
        with pytest.raises(ValueError, match="has text that is no hand of this table"):
            PlayHistory(tmp_path, HUNL, SETTINGS)
        assert (tmp_path / "hands.phhs").read_text() == text
    line = "# result of hand 1: 1.000000 chips, by AIVAT 1.000000 of a table of 1.000000\n"
    (tmp_path / "hands.phhs").write_text("[1]\n" + line + line)
    with pytest.raises(ValueError, match="hand 1 after hand 1"):
        PlayHistory(tmp_path, HUNL, SETTINGS)


def test_a_note_at_the_end_of_the_file_is_not_removed(tmp_path):
    keep(tmp_path, HUNL, 0)
    with (tmp_path / "hands.phhs").open("a") as stream:
        stream.write("# the day of my first hand\n")
    with pytest.raises(ValueError, match="after hand 1, .* has text that is no hand"):
        PlayHistory(tmp_path, HUNL, SETTINGS)
    assert "my first hand" in (tmp_path / "hands.phhs").read_text()


def test_a_session_goes_on_with_the_next_hand_and_the_result(tmp_path):
    folder = tmp_path / "table"
    play_table(folder, HUNL, ["call"], RandomKeys(1), hands=3)
    _, text = play_table(folder, HUNL, ["call"], ["q"])
    assert (
        "HUNL: 2 seats, " in text
        and "so far at this table:\n3 hands, " in text
        and "hand 4\n" in text
        and "\n4 hands, " in text
    )
