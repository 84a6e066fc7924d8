import dataclasses
import json
import os

import numpy as np
import pytest
from bit_flips import flipped
from solved_leduc import TRAINING, leduc_net, sample_leduc

from plurispiel.abstraction.machine.artefact import ArtefactRefused, load_artefact, write_artefact
from plurispiel.agents.values import training_run
from plurispiel.agents.values.data_set import DataConfig, load_situations, sample
from plurispiel.agents.values.encoding import num_inputs
from plurispiel.agents.values.levels import LEVELS, find_level
from plurispiel.agents.values.net import Layers, new_layers
from plurispiel.agents.values.net_file import load_net, rounded_layers, save_net
from plurispiel.agents.values.solved_situation import Solved
from plurispiel.agents.values.training import NetTrainer
from plurispiel.agents.values.training_run import checkpoint_folder, keep_checkpoint, make_net, train
from plurispiel.agents.values.training_set import training_set
from plurispiel.agents.values.validation import measure, net_evs

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LEDUC = LEVELS["leduc"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return sample_leduc(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def stored(data, tmp_path_factory):
    return leduc_net(data, tmp_path_factory.mktemp("nets") / "net")


def test_record(data, stored):
    """The manifest has the errors of the network as it is loaded again."""
    unseen = load_situations(data, "unseen")
    assert stored.record["validation"] == json.loads(json.dumps(measure(stored.net, LEDUC, unseen)))
    validation = stored.record["validation"]
    assert 0.0 < validation["mae"] <= validation["rms"] and validation["mae_checkdown"] < validation["mae_constant"]
    assert sum(each["situations"] for each in validation["strata"] if "spr" in each) == 20
    assert sum(each["situations"] for each in validation["strata"] if "entropy" in each) == 20
    assert len(stored.record["curve"]) == TRAINING.epochs and stored.record["tenth"]["situations"] == 4


def test_float16_changes_little(data, stored, tmp_path):
    trainer = NetTrainer(TRAINING, training_set(LEDUC, load_situations(data, "train"), 5))
    train(trainer, tmp_path / "checkpoint", "")
    unseen = load_situations(data, "unseen")
    exact = net_evs(dataclasses.replace(stored).net.__class__(trainer.layers), LEDUC, unseen)[0]
    assert 0.0 < abs(net_evs(stored.net, LEDUC, unseen)[0] - exact).max() < 0.001


def test_killed_at_many_moments(data, tmp_path, monkeypatch):
    """However often training is stopped, the network has the bits of one go; checkpoints are taken in each epoch."""
    config = dataclasses.replace(TRAINING, epochs=10)
    straight = make_net(data, tmp_path / "straight" / "net", config)
    monkeypatch.setattr(training_run.train, "__kwdefaults__", {"seconds": 0.0})
    monkeypatch.setattr("os.fsync", lambda handle: None)

    def stop(trainer):
        raise KeyboardInterrupt

    for _ in range(20):  # once after each epoch of both networks
        with pytest.raises(KeyboardInterrupt):
            make_net(data, tmp_path / "stopped" / "net", config, on_epoch=stop)
    found = make_net(data, tmp_path / "stopped" / "net", config, on_epoch=stop)
    assert found.digest == straight.digest
    assert not checkpoint_folder(tmp_path / "stopped" / "net").exists()


def test_checkpoints_of_others(data, tmp_path):
    """A checkpoint of other settings or data does not count; a damaged one is refused."""
    encoded = training_set(LEDUC, load_situations(data, "train"), 5)
    first = NetTrainer(TRAINING, encoded)
    train(first, tmp_path / "checkpoint", "here")
    other = NetTrainer(dataclasses.replace(TRAINING, seed=2), encoded)
    train(other, tmp_path / "checkpoint", "here")
    assert other.errors != first.errors and len(other.errors) == TRAINING.epochs
    first.layers.weights[0][0, 0] = np.nan
    keep_checkpoint(first, tmp_path / "checkpoint", "here")
    with pytest.raises(ArtefactRefused, match="damaged or of another network"):
        train(NetTrainer(TRAINING, encoded), tmp_path / "checkpoint", "here")


def broken(change):
    """Return a function that writes an artefact again, with changed arrays and configuration."""

    def rewrite(folder, out):
        there = load_artefact(folder, "value net", 1)
        arrays, config = {name: np.array(each) for name, each in there.arrays.items()}, dict(there.config)
        change(arrays, config)
        write_artefact(out, "value net", 1, arrays, config, seed=there.seed)

    return rewrite


HOSTILE = {
    "other menu": (lambda arrays, config: config.update(menu="fchpa"), "a level of this version"),
    "other encoding": (lambda arrays, config: config.update(encoding="cards"), "other bets or another encoding"),
    "other street": (lambda arrays, config: config.update(street=2), "other bets or another encoding"),
    "unknown level": (lambda arrays, config: config.update(level="preflop"), "a level of this version"),
    "level of another type": (lambda arrays, config: config.update(level=["leduc"]), "a level of this version"),
    "bins of another type": (lambda arrays, config: config.update(bins=5.0), "a level of this version"),
    "no record": (lambda arrays, config: config.pop("record"), "a level of this version"),
    "other bins": (lambda arrays, config: config.update(bins=4), "impossible layers"),
    "very many bins": (lambda arrays, config: config.update(bins=10**9), "impossible layers"),
    "a layer less": (lambda arrays, config: (arrays.pop("weights2"), arrays.pop("biases2")), "impossible layers"),
    "no layers": (lambda arrays, config: arrays.clear(), "impossible layers"),
    "NaN": (lambda arrays, config: arrays["weights1"].fill(np.nan), "impossible layers"),
    "other widths": (lambda arrays, config: arrays.update(weights1=arrays["weights1"][:5]), "impossible layers"),
    "float64": (lambda arrays, config: arrays.update(slopes=np.zeros(2)), "impossible layers"),
    "a cube": (lambda arrays, config: arrays.update(weights0=arrays["weights0"][None]), "impossible layers"),
}


@pytest.mark.parametrize("fault", HOSTILE)
def test_hostile_networks(stored, data, tmp_path, fault):
    change, message = HOSTILE[fault]
    save_net(tmp_path / "net", stored.net.layers, LEDUC, stored.record, seed=1)
    broken(change)(tmp_path / "net", tmp_path / "other")
    with pytest.raises(ArtefactRefused, match=message):
        load_net(tmp_path / "other")


def test_a_network_before_the_flop_has_a_bin_for_each_class(tmp_path):
    level = find_level("end-of-preflop")
    for bins in (169, 168, 1_326):
        sizes = (num_inputs(level.rules, bins), 4, 2 * bins)
        save_net(tmp_path / str(bins), new_layers(sizes, np.random.default_rng(1)), level, {}, seed=1)
    net = load_net(tmp_path / "169").net
    with pytest.raises(ValueError, match="takes 697 inputs, got 700"):
        net.outputs(np.zeros((1, 700)))
    for bins in ("168", "1326"):
        with pytest.raises(ArtefactRefused, match="impossible layers"):
            load_net(tmp_path / bins)


def test_bins_that_a_network_cannot_have_are_refused_before_training(tmp_path):
    sample(
        tmp_path / "data",
        DataConfig("end-of-preflop", 1, None, "a digest"),
        {"train": 1, "unseen": 1},
        lambda level, situation: Solved(situation.ranges, 0.0, 0),
    )
    with pytest.raises(ValueError, match="bins are 169 at the level end-of-preflop, one for each class .*, got 100"):
        make_net(tmp_path / "data", tmp_path / "net", TRAINING, num_bins=100)
    assert not (tmp_path / "net").exists()


def test_damage(stored, tmp_path):
    save_net(tmp_path / "net", stored.net.layers, LEDUC, stored.record, seed=1)
    for place in sorted((tmp_path / "net").iterdir()):
        content = place.read_bytes()
        for damaged in flipped(content, 2):
            place.write_bytes(damaged)
            with pytest.raises(ArtefactRefused):
                load_net(tmp_path / "net")
        place.write_bytes(content)
    assert load_net(tmp_path / "net").net.num_bins == 5


def test_too_large_for_float16(stored, tmp_path):
    arrays = [np.array(each) for each in rounded_layers(stored.net.layers).arrays()]
    arrays[0][0, 0] = 1e6
    with pytest.raises(ValueError, match="cannot be kept in float16"):
        save_net(tmp_path / "net", Layers.of(arrays), LEDUC, {}, seed=1)


def test_the_folder_of_something_else(data, tmp_path):
    with pytest.raises(ArtefactRefused, match=r"holds a 'value data', not a value net"):
        make_net(data, data / "train-00000", TRAINING)
