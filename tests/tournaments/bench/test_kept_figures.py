import pytest

from plurispiel.tournaments.bench.continual_spots import _known as known_spots
from plurispiel.tournaments.bench.kept_figures import read_kept
from plurispiel.tournaments.bench.sparse_lookaheads import _known as known_rivers


@pytest.mark.parametrize("known", [known_spots, known_rivers])
@pytest.mark.parametrize("content", [b"", b'{"settings": {', b"[]", b"\xff", b"7"])
def test_a_damaged_file_is_named(known, content, tmp_path):
    (tmp_path / "kept.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"kept\.json has no figures: .*; give another file"):
        known(tmp_path / "kept.json", {"seed": 1})


def test_no_file_has_no_figures(tmp_path):
    assert read_kept(None) == read_kept(tmp_path / "kept.json") == {}
