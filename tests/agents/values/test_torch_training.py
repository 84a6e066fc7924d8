import dataclasses
import sys

import numpy as np
import pytest

from plurispiel.agents.values.torch_training import TorchTrainer, find_device
from plurispiel.agents.values.training import NetTrainer, TrainingConfig
from plurispiel.agents.values.training_run import new_trainer, train
from plurispiel.agents.values.training_set import TrainingSet


def made_up(count=40, seed=1):
    """Situations of random numbers, with inputs and targets of all signs."""
    rng = np.random.default_rng(seed)
    weights = rng.random((count, 2, 6))
    return TrainingSet(
        rng.standard_normal((count, 9)).astype(np.float32),
        rng.random(count).astype(np.float32),
        (2.0 * rng.standard_normal((count, 2, 6))).astype(np.float32),
        rng.integers(0, 5, (count, 2, 6)).astype(np.float32) + np.float32(0.5),
        (weights / weights.sum(axis=(1, 2), keepdims=True)).astype(np.float32),
    )


@pytest.mark.torch
@pytest.mark.parametrize("loss", ["huber", "squared"])
def test_pytorch_takes_the_same_steps(loss, tmp_path):
    """Ten steps with gradients by automatic differentiation, once in one go and once from a checkpoint."""
    pytest.importorskip("torch")
    config = TrainingConfig(layers=2, width=16, epochs=2, batch=8, rate=0.01, loss=loss, device="cpu")
    data = made_up()
    expected = NetTrainer(dataclasses.replace(config, device="numpy"), data)
    found = new_trainer(config, data)
    assert isinstance(found, TorchTrainer)
    expected.run_epoch()
    found.run_epoch()
    stopped = new_trainer(config, data)
    train(stopped, tmp_path / "checkpoint", "here")
    expected.run_epoch()
    found.run_epoch()
    assert found.errors == pytest.approx(expected.errors, rel=1e-5)
    for rows in zip(expected.layers.arrays(), found.layers.arrays(), stopped.layers.arrays(), strict=True):
        assert all(each.dtype == np.float32 for each in rows)
        np.testing.assert_allclose(rows[1], rows[0], atol=1e-4)
        np.testing.assert_array_equal(rows[2], rows[1])


def test_devices(monkeypatch):
    for device in ("tpu", "cuda:", "CPU"):
        with pytest.raises(ValueError, match="device must be numpy, cpu, cuda or a numbered GPU"):
            TrainingConfig(device=device)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ValueError, match=r"device cuda needs PyTorch: pip install 'plurispiel\[train\]'"):
        find_device("cuda")


@pytest.mark.torch
def test_a_gpu_that_is_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="PyTorch finds no device cuda here"):
        find_device("cuda")
