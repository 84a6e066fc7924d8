import dataclasses
import os

import numpy as np
import pytest
from solved_leduc import TRAINING, sample_leduc

from plurispiel.agents.values.data_set import load_situations
from plurispiel.agents.values.levels import LEVELS
from plurispiel.agents.values.net import Layers, ValueNet, new_layers
from plurispiel.agents.values.training import NetTrainer, TrainingConfig, TrainingStopped, error_and_gradient
from plurispiel.agents.values.training_set import TrainingSet, training_set
from plurispiel.agents.values.validation import measure

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

LEDUC = LEVELS["leduc"]


@pytest.fixture(scope="module")
def situations(tmp_path_factory):
    return load_situations(sample_leduc(tmp_path_factory.mktemp("data"), 64, 1), "train")


@pytest.fixture(scope="module")
def data(situations):
    return training_set(LEDUC, situations, 5)


def test_gradient(data):
    """The gradient is that of finite differences, through the correction to a sum of 0 and beyond the Huber limit."""
    some = TrainingSet(*(each[:12].astype(np.float64) for each in data))
    some.targets[:3] *= 30.0
    single = new_layers((some.inputs.shape[1], 9, 7, 10), np.random.default_rng(1))
    layers = Layers.of([each.astype(np.float64) for each in single.arrays()])
    for each in layers.biases:
        each[:] = np.random.default_rng(2).standard_normal(len(each))
    _, gradient = error_and_gradient(layers, some)
    rng, step = np.random.default_rng(3), 1e-6
    for numbers, slope in zip(layers.arrays(), gradient, strict=True):
        for _ in range(min(12, numbers.size)):
            place = np.unravel_index(int(rng.integers(numbers.size)), numbers.shape)
            kept, found = numbers[place], []
            for change in (step, -step):
                numbers[place] = kept + change
                found.append(error_and_gradient(layers, some)[0])
            numbers[place] = kept
            expected = (found[0] - found[1]) / (2.0 * step)
            assert abs(slope[place] - expected) <= 1e-4 * max(abs(expected), abs(slope).max(), 1e-4)


def test_error_is_that_of_the_network(data, situations):
    """The error of training, without a step, is the Huber error that validation measures of the same network."""
    layers = new_layers((data.inputs.shape[1], 16, 10), np.random.default_rng(1))
    error, _ = error_and_gradient(layers, data)
    assert measure(ValueNet(layers), LEDUC, situations)["huber"] == pytest.approx(error, rel=1e-4)


@pytest.mark.slow
def test_few_situations_are_learnt_by_heart(data):
    trainer = NetTrainer(TrainingConfig(layers=2, width=128, epochs=600, batch=64, rate=0.01), data)
    while trainer.epoch < trainer.config.epochs:
        trainer.run_epoch()
    outputs = ValueNet(trainer.layers).outputs(data.inputs)
    outputs = outputs - (data.weights * outputs).sum(axis=(1, 2), keepdims=True)
    assert abs(data.gates[:, None, None] * outputs - data.targets).mean() < 0.01


def test_same_seed_same_bits(data):
    runs = []
    for seed in (1, 1, 2):
        trainer = NetTrainer(dataclasses.replace(TRAINING, seed=seed), data)
        errors = [trainer.run_epoch() for _ in range(3)]
        runs.append((errors, trainer.layers.arrays()))
    assert runs[0][0] == runs[1][0] != runs[2][0]
    for a, b in zip(runs[0][1], runs[1][1], strict=True):
        np.testing.assert_array_equal(a, b)


def test_divergence_stops(data):
    broken = data._replace(inputs=np.full_like(data.inputs, np.nan))
    with pytest.raises(TrainingStopped, match=r"the error of epoch 1 is nan: .* take a rate below 0.003"):
        NetTrainer(TRAINING, broken).run_epoch()


@pytest.mark.parametrize("settings", [{"layers": 0}, {"width": 1.5}, {"rate": 0.0}, {"rate": float("nan")}])
def test_settings(settings):
    with pytest.raises(ValueError, match="must be"):
        TrainingConfig(**settings)
