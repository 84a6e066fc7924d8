import os
import types

import numpy as np
import pytest
from bit_flips import flipped
from solved_leduc import CONFIG, sample_leduc

from plurispiel.abstraction.holdem.boards import find_boards
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.agents.resolve.subgame import Subgame
from plurispiel.agents.resolve.vector_cfr import VectorSolver
from plurispiel.agents.values import data_set
from plurispiel.agents.values.data_set import DataConfig, load_situations, sample
from plurispiel.agents.values.drawn_situation import draw_situation
from plurispiel.agents.values.levels import LEVELS, chips_behind, pot_of
from plurispiel.agents.values.solved_situation import Solved, solve_exactly

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LEDUC, RIVER = LEVELS["leduc"], LEVELS["river"]


def pretended(level, situation):
    """Values of a situation that cost nothing."""
    return Solved(np.sqrt(situation.ranges), 0.01, 100)


def same(folder, other, split):
    first, second = load_situations(folder, split), load_situations(other, split)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_leduc_situations():
    pots = set()
    for number in range(30):
        situation = draw_situation(LEDUC, 1, "train", number)
        pots.add(pot_of(situation.state))
        assert situation.state.street == 1 and chips_behind(situation.state) == 8
        assert (situation.ranges > 0.0).sum() == 10
    assert pots == {2, 6, 10}


def test_river_situations():
    """Pots are of all five intervals; train and unseen situations share no class of boards."""
    classes, parts = {}, []
    for split in ("train", "unseen"):
        found = [draw_situation(RIVER, 1, split, number) for number in range(40)]
        classes[split] = set(find_boards(np.array([each.board for each in found], np.uint8))[0].tolist())
        parts += [pot_of(each.state) // 2 for each in found]
        for each in found:
            assert each.state.street == 3 and each.state.actor == 0
            assert pot_of(each.state) + 2 * chips_behind(each.state) == 40_000
    assert not classes["train"] & classes["unseen"]
    assert np.histogram(parts, [100, 101, 400, 2_000, 6_000, 19_951])[0].min() >= 5
    again = draw_situation(RIVER, 1, "unseen", 39)
    np.testing.assert_array_equal(again.ranges, found[39].ranges)
    assert again.board == found[39].board


def test_exact_values():
    """The values are those of a much longer solve up to the slack; those of both seats sum to twice the slack."""
    situation = draw_situation(LEDUC, 1, "train", 3)
    solved = solve_exactly(LEDUC, situation)
    solver = VectorSolver(
        Subgame(situation.state, situation.board, situation.ranges, LEDUC.raises), "cfr+", threads=1, dtype=np.float64
    )
    solver.run(3_000)
    weights = solver.ranges * solver.facing / solver.pairs
    pot = pot_of(situation.state)
    assert solved.slack <= LEDUC.tolerance * (pot + min(8, 2 * pot)) / pot
    values = solver.evaluate().values / pot
    for seat in range(2):
        assert abs((weights[seat] * solved.evs[seat]).sum() - values[seat]) <= 2.0 * solved.slack + 1e-3
    assert (weights * solved.evs).sum() == pytest.approx(2.0 * solved.slack, abs=1e-6)


def test_killed_at_many_moments(tmp_path, monkeypatch):
    """However often sampling is stopped, the data are those of one go."""
    monkeypatch.setattr(data_set, "SHARD", 4)
    counts = {"unseen": 5, "train": 22}
    sample(tmp_path / "straight", CONFIG, counts, pretended)
    stops = np.random.default_rng(1).integers(1, 7, 20)
    (tmp_path / "stopped" / ".train-00005-left").mkdir(parents=True)  # by a process that was killed while writing
    for moment in stops.tolist():
        calls = 0

        def stopped(level, situation, moment=moment):
            nonlocal calls
            calls += 1
            if calls > moment:
                raise KeyboardInterrupt
            return pretended(level, situation)

        try:
            sample(tmp_path / "stopped", CONFIG, counts, stopped)
        except KeyboardInterrupt:
            continue
    sample(tmp_path / "stopped", CONFIG, counts, pretended)
    assert not list((tmp_path / "stopped").glob(".*"))
    for split in counts:
        same(tmp_path / "straight", tmp_path / "stopped", split)


def test_more_situations(tmp_path):
    """A larger number goes on; a smaller one keeps what is there."""
    sample(tmp_path / "grown", CONFIG, {"train": 3, "unseen": 2}, pretended)
    sample(tmp_path / "grown", CONFIG, {"train": 8, "unseen": 1}, pretended)
    sample(tmp_path / "straight", CONFIG, {"train": 8, "unseen": 2}, pretended)
    for split in ("train", "unseen"):
        same(tmp_path / "grown", tmp_path / "straight", split)
    assert len(load_situations(tmp_path / "grown", "train", 5).pots) == 5
    with pytest.raises(ArtefactRefused, match="has 8 situations to train with, not 9"):
        load_situations(tmp_path / "grown", "train", 9)


def test_what_another_process_has_added_is_not_doubled(tmp_path):
    """Where folders cannot be locked, the second of two processes stops."""
    shard = data_set.Shard("train", 0, 4)

    def interfering(level, situation):
        if not data_set.num_there(tmp_path, CONFIG, shard):
            sample(tmp_path, CONFIG, {"train": 3}, pretended)
        return pretended(level, situation)

    with pytest.raises(ArtefactRefused, match="has 3 situations instead of 0: another process has changed it"):
        sample(tmp_path, CONFIG, {"train": 4}, interfering)
    sample(tmp_path / "straight", CONFIG, {"train": 3}, pretended)
    same(tmp_path, tmp_path / "straight", "train")


def test_ranges_are_those_that_were_solved(tmp_path):
    sample(tmp_path / "data", CONFIG, {"train": 2, "unseen": 1}, pretended)
    found = load_situations(tmp_path / "data", "train")
    situation = draw_situation(LEDUC, 1, "train", 1)
    order = rank_hands(LEDUC.rules, situation.board).combos
    expected = situation.ranges[:, order]
    np.testing.assert_allclose(found.ranges([1])[:, 0], expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)


def test_one_split_is_enough(tmp_path):
    """A stopped run has solved unseen situations only, and these can be measured."""
    for split, other in (("unseen", "train"), ("train", "unseen")):
        folder = tmp_path / split
        sample(folder, CONFIG, {split: 2, other: 0}, pretended)
        assert data_set.data_config(folder).seed == CONFIG.seed and len(load_situations(folder, split).pots) == 2
        assert len(data_set.load_accuracy(folder, split)[0]) == 2 and not len(data_set.load_accuracy(folder, other)[0])
        with pytest.raises(ArtefactRefused, match="holds no situations to (train|measure) with"):
            load_situations(folder, other)


def test_damage_and_strangers(tmp_path):
    folder = sample_leduc(tmp_path / "data", 3, 1)
    with pytest.raises(ArtefactRefused, match="other situations than asked for"):
        sample(folder, DataConfig("leduc", 2), {"train": 3}, pretended)
    with pytest.raises(ArtefactRefused, match="there is no folder"):
        load_situations(tmp_path / "none", "train")
    (tmp_path / "file").touch()
    with pytest.raises(ArtefactRefused, match="file is no folder; give"):
        load_situations(tmp_path / "file", "train")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ArtefactRefused, match="no complete value data"):
        load_situations(tmp_path / "empty", "train")
    place = folder / "train-00000" / "evs.npy"
    content = place.read_bytes()
    place.write_bytes(next(flipped(content, 1)))
    with pytest.raises(ArtefactRefused, match="is damaged"):
        load_situations(folder, "train")


@pytest.mark.parametrize(
    ("column", "number"),
    [("pots", 5e-324), ("pots", 1e300), ("pots", np.nan), ("behind", -1.0), ("behind", np.inf), ("slack", 3e38)],
)
def test_numbers_of_no_situation_are_refused(tmp_path, column, number):
    sample(tmp_path, CONFIG, {"train": 2}, pretended)
    there = load_artefact(tmp_path / "train-00000", "value data", 1)
    arrays = {name: np.array(each) for name, each in there.arrays.items()}
    arrays[column][1] = number
    write_artefact(there.folder, "value data", 1, arrays, there.config, seed=there.seed)
    with pytest.raises(ArtefactRefused, match="holds impossible numbers"):
        load_situations(tmp_path, "train")


def test_a_shard_is_written_while_it_is_solved(tmp_path, monkeypatch):
    """A stop costs a minute's situations, not a shard's: an exact turn takes ten seconds."""
    monkeypatch.setattr(data_set, "FLUSH_SECONDS", 0.0)
    solved = 0

    def stopped(level, situation):
        nonlocal solved
        solved += 1
        if solved == 4:
            raise KeyboardInterrupt
        return pretended(level, situation)

    with pytest.raises(KeyboardInterrupt):
        sample(tmp_path / "stopped", CONFIG, {"train": 5}, stopped)
    assert data_set.num_there(tmp_path / "stopped", CONFIG, data_set.Shard("train", 0, 5)) == 3
    for folder in ("stopped", "straight"):
        sample(tmp_path / folder, CONFIG, {"unseen": 1, "train": 5}, pretended)
    same(tmp_path / "stopped", tmp_path / "straight", "train")


def test_no_situation_is_begun_after_the_time(tmp_path, monkeypatch):
    solved = []
    monkeypatch.setattr(data_set, "time", types.SimpleNamespace(monotonic=lambda: float(len(solved))))
    for _ in range(2):
        sample(tmp_path, CONFIG, {"train": 5}, lambda *given: solved.append(0) or pretended(*given), until=3.0)
        assert data_set.num_there(tmp_path, CONFIG, data_set.Shard("train", 0, 5)) == len(solved) == 3
    sample(tmp_path, CONFIG, {"train": 5}, pretended)
    assert data_set.num_there(tmp_path, CONFIG, data_set.Shard("train", 0, 5)) == 5
