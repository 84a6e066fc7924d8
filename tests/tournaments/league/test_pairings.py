"""Pairings: ordinary runs, whose groups are also kept as plain values, checked when they are read."""

import json

import pytest
from small_league import play_on, small_league

from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.tournaments.league.entries import new_entry
from plurispiel.tournaments.league.pairings import PairingFolder
from plurispiel.tournaments.report.run_record import read_run

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def folder(tmp_path):
    """The folder of a pairing that was played."""
    league = small_league(tmp_path / "league", "tag", "random")
    play_on(league)
    return league.pairing_folder(*league.entries)


def test_a_pairing_is_an_ordinary_run(folder):
    """What the report of a tournament shows of the run folder is what the league counts."""
    found = folder.read()
    run = read_run(folder.folder, "A")
    assert found.groups == run.num_groups == 8 and found.decks == 8
    assert estimate_mean(found.rates_mbb).mean == pytest.approx(run.results["matrix"][0][1]["mbb_per_hand"])
    assert run.names == ["tag", "random"]
    assert folder.is_resumable()


def test_parts_that_were_set_aside_count_as_before(folder):
    before = folder.read()
    assert folder.set_aside().name == "1-2.1"
    after = folder.read()
    assert after.rates_mbb.tolist() == before.rates_mbb.tolist() and after.aside_groups == 8
    assert (after.faults, after.retired, after.digest, after.seconds) == (
        *(before.faults, before.retired, before.digest, before.seconds),
    )
    assert (
        folder.is_resumable()
        and folder.settings(8)["seed"] != read_run(folder.folder.with_name("1-2.1"), "A").config.seed
    )


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.update(rates_mbb=[1.0, "2"]),
        lambda record: record.update(rates_mbb=[1e999]),
        lambda record: record.update(decks=3),
        lambda record: record.update(seconds=None),
        lambda record: record.update(faults=[0]),
        lambda record: record.update(retired=[0, 0]),
        lambda record: record.update(more=1),
        lambda record: record.pop("digest"),
        lambda record: record.update(entries=["a", "b"]),
    ],
)
def test_damaged_groups_are_refused(folder, damage):
    path = folder.set_aside() / "groups.json"
    record = json.loads(path.read_text())
    damage(record)
    path.write_text(json.dumps(record))
    with pytest.raises(ValueError, match="groups.json is"):
        folder.read()


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 10_000, b'{"rates_mbb": NaN'])
def test_hostile_groups_are_refused(folder, content):
    (folder.set_aside() / "groups.json").write_bytes(content)
    with pytest.raises(ValueError, match="groups.json is damaged"):
        folder.read()


def test_groups_of_other_entries_are_refused(folder, tmp_path):
    path = folder.set_aside()
    other = PairingFolder(folder.folder, folder._config, (new_entry("tag", []), new_entry("fold", [])))
    with pytest.raises(ValueError, match=f"{path.name}/groups.json is of other agents than tag and fold"):
        other.read()
