"""The log of a match: each hand is in the file when it is added, and another game is not mixed in."""

import numpy as np
import pytest
from reference.random_histories import random_history

from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.tournaments.formats.acpc import read_acpc
from plurispiel.tournaments.formats.game_definition import game_definition_text
from plurispiel.tournaments.formats.match_log import MatchLog


@pytest.mark.parametrize("rules", [HUNL, SIXMAX])
def test_hands_are_in_the_file_when_they_are_added(tmp_path, rules):
    path = tmp_path / "new" / "a match.log"
    hands = [random_history(np.random.default_rng(number), rules, str(number)) for number in range(3)]
    for _ in range(2):  # the second match is appended
        with MatchLog(path, rules, 3, 7, ("#--t_response 600000",)) as log:
            for number, hand in enumerate(hands, start=1):
                log.add(hand)
                assert list(read_acpc(path))[-number:] == hands[:number]
            log.add_score([0.5, -1.0], ["A:|", "B"])
            log.add_comment("end")
    lines = path.read_text().splitlines()
    game = "holdem.nolimit.2p.reverse_blinds.game" if rules is HUNL else "a_match.game"
    assert lines[:2] == [f"# name/game/hands/seed a_match {game} 3 7", "#--t_response 600000"] and len(lines) == 14
    assert lines[5:7] == ["SCORE:0.5|-1:A%3A%7C|B", "# end"]
    assert list(read_acpc(path)) == [*hands, *hands]
    assert (path.with_name("a_match.game").exists()) == (rules is SIXMAX)


def test_another_game_beside_the_log(tmp_path):
    (tmp_path / "match.game").write_text(game_definition_text(HUNL))
    with pytest.raises(ValueError, match="is the file of another game; choose another folder"):
        MatchLog(tmp_path / "match.log", SIXMAX, 1)
