"""Seats whose agents committed too many faults only fold, wherever the run is stopped and whoever plays it."""

import contextlib
import json

import pytest
from faulty_run import SOMETIMES, play, total_faults

from plurispiel.evaluation.duplicate import AgentScore
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.report.replays import replay_groups
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.block_player import BlockPlayer, Conduct
from plurispiel.tournaments.run.block_rows import Played, pack_rows
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.kept_hands import stored_hands
from plurispiel.tournaments.run.retirement import FaultLedger
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.schedule import Block
from plurispiel.tournaments.run.store import RunStore

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late


@pytest.fixture
def sometimes(tmp_path):
    (tmp_path / "sometimes.py").write_text(SOMETIMES)
    return f"{tmp_path}/sometimes.py:Bot"


def test_after_too_many_faults_a_seat_only_folds(capsys, tmp_path, sometimes):
    code = main(
        [
            "tournament",
            "--agents",
            f"{sometimes}?share=1,call,call",
            "--decks",
            "30",
            "--max-faults",
            "7",
            "--json",
            "--score=raw",
        ]
        + ["--out", str(tmp_path / "run"), "--workers", "1", "--hands", "all", "--processes", "one"]
    )
    assert code == 3
    captured = capsys.readouterr()
    bad, *good = json.loads(captured.out)["agents"]
    # A group has two hands in which it is asked for a bet, and one in which it is big blind and asked for nothing.
    assert bad["faults"] == 9 and bad["faults_by_kind"] == {"exception": 9} and bad["retired"]
    assert not any(agent["faults"] or agent["retired"] for agent in good)
    last = captured.err.splitlines()[-1]
    assert "9 faults (exception 9)" in last and "its seat only folded after that (7 are the limit)" in last
    hands = list(stored_hands(tmp_path / "run"))
    assert len(hands) == 90
    title = bad["name"]
    for history in hands[9:]:  # behind the third group
        seat = history.names.index(title)
        assert history.payoffs[seat] == {0: -50.0, 1: -100.0, 2: 0.0}[seat] or seat == 1
    assert (tmp_path / "run" / "hands.phhs").stat().st_size > 0


def test_retirement_is_the_same_for_any_number_of_workers_and_after_any_stop(tmp_path, sometimes):
    agents = (f"{sometimes}?share=0.2", "random", "call")
    config = TournamentConfig(agents=agents, seats=2, decks=19, max_faults=12, seed=3, score="duplicate")
    whole = play(tmp_path / "one", config, processes="one")
    assert total_faults(whole, 0) >= 12

    class Stop(Exception):
        pass

    def stop(block, groups):
        raise Stop

    with contextlib.closing(RunStore(tmp_path / "parts", config)) as store, pytest.raises(Stop):
        play_run(config, store, Conduct(processes="one"), stop)
    assert play(tmp_path / "parts", config, workers=2, processes="one") == whole


@pytest.mark.parametrize("few", [5, *(pytest.param(decks, marks=pytest.mark.slow) for decks in (1, 8, 13))])
def test_more_decks_retire_as_all_at_once(tmp_path, sometimes, few):
    agents = (f"{sometimes}?share=0.1", "random", "call")

    def rows(folder, decks):
        settings = {"seats": 2, "max_faults": 9, "seed": 1, "score": "duplicate"}
        return play(tmp_path / folder, TournamentConfig(agents=agents, decks=decks, **settings), processes="one")

    whole = rows("whole", 17)
    assert total_faults(whole, 0) >= 9
    rows("parts", few)
    assert rows("parts", 17) == whole


def test_the_ledger_counts_in_the_order_of_the_schedule():
    config = TournamentConfig(agents=("call", "fold"))

    def block(lineup, *groups):
        """Return a block from deck 0 on, given the faults of agents 7 and 8 in each group."""
        scores = [
            {
                agent: AgentScore(2, 0.0, 0.0, count, b"", "x" * count)
                for agent, count in zip((7, 8), group, strict=True)
            }
            for group in groups
        ]
        return Played(*pack_rows(config, lineup, 0, scores), hands={deck: b"" for deck in range(len(groups))})

    ledger = FaultLedger(3, [(1, 0, 7, 2), (0, 9, 7, 2)])
    assert ledger.retirement(7) == (1, 0, 9)  # deck 9 is in the second round of blocks
    assert ledger.retired(Block(0, 8, 2)) == frozenset()
    assert ledger.retired(Block(1, 8, 2)) == {7}
    kept, last = ledger.admit(block(0, (0, 1), (1, 0), (5, 5)))
    assert (kept.rows["deck"].tolist(), last) == ([0, 0, 1, 1], (0, 1, 0))  # with the two of line-up 1 it has three
    assert [remark.deck for remark in kept.remarks] == [0, 1] and list(kept.hands) == [0, 1]
    assert ledger.retired(Block(1, 0, 8)) == frozenset()
    assert ledger.retired(Block(1, 1, 7)) == {7}
    assert ledger.admit(block(4, (0, 0), (0, 0)))[1] is None
    kept, last = ledger.admit(block(2, (0, 1), (0, 1), (0, 1)))
    assert (kept.rows["deck"].tolist(), last) == ([0, 0, 1, 1], (0, 2, 1))
    assert ledger.retired(Block(3, 0, 8)) == {7, 8}


def test_who_saw_a_deck_before_an_agent_was_retired_sees_another_behind_it(tmp_path, sometimes):
    config = TournamentConfig(agents=(f"{sometimes}?share=1", "tag"), decks=8, max_faults=3, seed=7, score="duplicate")
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        play_run(config, store, Conduct())
        ledger = FaultLedger(config.max_faults, store.faults())
        _, _, last = ledger.retirement(0)
        assert last < 7
        with contextlib.closing(BlockPlayer(config, Conduct(), store.streams())) as player:
            decks = [
                [hand.deck.tobytes() for hand, _ in player.replay((0, last + 1), retired)[1]]
                for retired in (frozenset(), frozenset({0}))
            ]
    assert not set(decks[0]) & set(decks[1])
    # The report plays each group as it was played, also behind a retirement within a block.
    record = read_run(tmp_path / "run", "A")
    with contextlib.closing(RunStore.reading(tmp_path / "run")) as store:
        replays = list(replay_groups(record, store, [(0, deck) for deck in range(last + 1, 8)]))
    assert len(replays) == 7 - last and all(replay.stories for replay in replays)
