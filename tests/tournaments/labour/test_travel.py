"""Specs on their way to another machine."""

import pytest

from plurispiel.tournaments.labour.travel import Site, absolute_spec, moved_spec, paths_of


@pytest.mark.parametrize(
    ("spec", "path"),
    [("tabular:a", "a"), ("search:search?time=2", "search"), (" blueprint:e", "e"), ("py.py:Bot?py=1", "py.py")],
)
def test_a_path_whose_text_is_in_the_name_of_the_agent_travels(tmp_path, monkeypatch, spec, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / path).mkdir()
    here = str((tmp_path / path).resolve())
    assert paths_of([spec]) == [tmp_path.resolve() / path]
    absolute = absolute_spec(spec)
    name, _, rest = spec.strip().rpartition(path) if path != "py.py" else ("", "", ":Bot?py=1")
    assert absolute == f"{name}{here}{rest}"
    moved = moved_spec(absolute, Site({here: "/there/x"}, (), tmp_path))
    assert moved == f"{name}/there/x{rest}"


def test_networks_at_a_relative_path_are_refused():
    for option in ("nets=nets", "values=net:nets"):
        with pytest.raises(ValueError, match="the networks in nets are not sent .* absolute path"):
            paths_of(["tag", f"continual?{option}"])
    travelled = "continual?nets=/disk/nets", "continual?nets=bundled", "continual?values=exact", "continual"
    assert paths_of(travelled) == []
