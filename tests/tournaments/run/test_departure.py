"""What work finds, or is given, on another machine."""

import pytest

from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.tournaments.run import departure


class Table:
    """Stands for a bucket table, whose making takes a minute."""

    def __init__(self, config):
        self.model = self
        self.config = config

    def save(self, place):
        place.write_text(self.config)


@pytest.mark.parametrize(
    ("stored", "is_copied"), [("wanted", True), ("another of the same name", False), (None, False)]
)
def test_a_table_of_a_shared_folder_is_copied_if_it_is_the_one_wanted(tmp_path, monkeypatch, stored, is_copied):
    def load(folder):
        if stored is None:
            raise ArtefactRefused("damaged or missing")
        return Table(stored)

    monkeypatch.setattr(departure, "load_table", load)
    place = tmp_path / "table"
    assert departure._copied(tmp_path / "shared" / "table", "wanted", place) is is_copied
    assert place.exists() is is_copied


def test_no_table_of_the_user_is_overwritten_by_that_of_a_shared_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(departure, "load_table", lambda folder: Table("wanted"))
    place = tmp_path / "table"
    write_artefact(place, "bucket table", 1, {}, {"of": "the user"})
    assert not departure._copied(tmp_path / "shared" / "table", "wanted", place)
    assert load_artefact(place, "bucket table", 1).config == {"of": "the user"}
