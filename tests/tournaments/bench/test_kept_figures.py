import json

import pytest

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.tournaments.bench import continual_spots, sparse_lookaheads
from plurispiel.tournaments.bench.continual_spots import bench_continual_spots
from plurispiel.tournaments.bench.kept_figures import read_kept, write_kept
from plurispiel.tournaments.bench.sparse_lookaheads import MENUS, bench_sparse_lookaheads

RIVER = [[[0.5, 1.0, 2.0, 3.0]] * len(MENUS), 0.1, 40]
REFUSAL = r"kept\.json has no figures: it is damaged; give another file, or remove it"


@pytest.fixture
def kept(monkeypatch, tmp_path):
    """A path. No benchmark measures anything."""
    monkeypatch.setattr(continual_spots, "_measure", lambda *_: pytest.fail("it measures"))
    monkeypatch.setattr(sparse_lookaheads, "_errors", lambda *_: pytest.fail("it measures"))
    return tmp_path / "kept.json"


def deep(depth):
    return b'{"settings": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "content",
    [b"", b'{"settings": {', b"[]", b"\xff", b"7", b"null", b"[" * 200_000, deep(100), b'{"figures": {"0": NaN}}'],
)
def test_a_damaged_file_is_refused(content, kept):
    kept.write_bytes(content)
    with pytest.raises(ArtefactRefused, match=REFUSAL):
        read_kept(kept, {}, "figures", lambda figures: True)


def test_figures_of_the_same_settings_are_read(kept):
    assert read_kept(None, {"seed": 1}, "figures", bool) == read_kept(kept, {"seed": 1}, "figures", bool) == {}
    write_kept(None, {"seed": 1}, "figures", {"0": 0.5})
    write_kept(kept, {"seed": 1}, "figures", {"0": 0.5})
    assert read_kept(kept, {"seed": 1}, "figures", bool) == {"0": 0.5}
    for settings in ({"seed": 2}, {"seed": 1, "nets": "mine"}):
        with pytest.raises(ValueError, match="figures of other settings; give another file, or remove it"):
            read_kept(kept, settings, "figures", bool)
    with pytest.raises(ArtefactRefused, match=REFUSAL):
        read_kept(kept, {"seed": 1}, "figures", lambda figures: False)


@pytest.mark.parametrize(
    "rivers",
    [
        None,
        [],
        "0",
        *({"0": river} for river in (None, 1.0, "text", [], RIVER[:2], [RIVER[0][1:], *RIVER[1:]], [None, 0.1, 40])),
        *({"0": [[[value] * 4] * len(MENUS), 0.1, 40]} for value in (None, "1", [1.0], 10**400)),
        {"0": RIVER, "1": [*RIVER[:2], "40"]},
    ],
)
def test_rivers_of_another_form_are_refused(kept, rivers):
    settings = {"seed": sparse_lookaheads._SEED, "iterations": 100, "tolerance": sparse_lookaheads._TOLERANCE}
    kept.write_text(json.dumps(settings | {"rivers": {"0": RIVER}}))
    rows = bench_sparse_lookaheads(0.01, kept)
    assert rows[-1].value == 0.1 and not any("±" in row.note for row in rows)  # one river has no interval
    kept.write_text(json.dumps(settings | {"rivers": rivers}))
    with pytest.raises(ArtefactRefused, match=REFUSAL):
        bench_sparse_lookaheads(0.01, kept)


@pytest.mark.parametrize("part", ["spots", "kind", "spot", "variant"])
def test_spots_of_another_form_are_refused(kept, monkeypatch, part):
    monkeypatch.setattr(continual_spots, "_SPOTS", {"river": (3, 1)})
    measured = {label: [1.0, 99.0, 0.5, 1500.0] for label in continual_spots._variants(3, "bundled")}
    monkeypatch.setattr(continual_spots, "_measure", lambda *_: measured)
    rows = bench_continual_spots(1.0, "bundled", kept)
    monkeypatch.setattr(continual_spots, "_measure", lambda *_: pytest.fail("it measures"))
    assert bench_continual_spots(1.0, "bundled", kept) == rows
    record = json.loads(kept.read_text())
    for wrong in (None, [], "text", 1.0, {"text": 1.0}, {"text": {}}, [1.0, 99.0, None, 1500.0], [1.0, 99.0]):
        of_variants = measured | {next(iter(measured)): wrong}
        record["spots"] = {
            "spots": wrong,
            "kind": {"river": wrong},
            "spot": {"river": {"0": wrong}},
            "variant": {"river": {"0": of_variants}},
        }[part]
        kept.write_text(json.dumps(record))
        with pytest.raises(ArtefactRefused, match=REFUSAL):
            bench_continual_spots(1.0, "bundled", kept)
