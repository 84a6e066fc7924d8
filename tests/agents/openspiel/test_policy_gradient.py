"""The learner of the README that needs PyTorch: OpenSpiel's policy gradient on holdem-mini."""

import dataclasses
import importlib

import numpy as np
import pytest
from markdown_blocks import ROOT, blocks
from random_blueprint import random_blueprint

from plurispiel.abstraction.trees.ladder import LADDER
from plurispiel.agents.blueprint.cards import lossless_buckets
from plurispiel.agents.blueprint.config import BlueprintConfig
from plurispiel.tournaments import run_tournament

README = ROOT / "agents/environment/examples/README.md"
FILE = "pg_learner.py"


@pytest.mark.torch
@pytest.mark.filterwarnings("default")  # of PyTorch
def test_the_learner_of_the_readme_learns_and_sits_at_a_tournament(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (text,) = [block.text for block in blocks(README) if block.marks.get("file") == FILE]
    (tmp_path / FILE).write_text(text)
    config = BlueprintConfig("mini", 10, game="holdem-mini")
    found = random_blueprint(config.rules, config.game_menu, cards=lossless_buckets(config.rules))
    dataclasses.replace(found, config=config, training={"iterations": 10, "seconds": 1.0, "marks": []}).save(
        tmp_path / "mini"
    )
    module = importlib.import_module("pg_learner")
    before = str(np.random.get_state()[1:3])  # noqa: NPY002 - the learner draws from the global generator
    rewards = module.learn("blueprint:mini", 400)
    assert len(rewards) == 400 and max(map(abs, rewards)) <= 6.0 and np.std(rewards) > 0.5
    assert before != str(np.random.get_state()[1:3])  # noqa: NPY002
    agent = module.PolicyGradientLearned()
    seen, mask = np.random.default_rng(1).random((5, agent.layers[0].shape[1])), np.array([True, True, False, True])
    net = [torch.tensor(each, dtype=torch.float64) for each in agent.layers]
    logits = torch.relu(torch.tensor(seen) @ net[0].T + net[1]) @ net[2].T + net[3]
    expected = torch.softmax(torch.where(torch.tensor(mask), logits, -torch.inf), dim=1).numpy()
    weights = agent.weights(seen, mask) * mask
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), expected, rtol=1e-5)
    result = run_tournament(
        [f"{FILE}:PolicyGradientLearned", "blueprint:mini"], game=LADDER["holdem-mini"].game, decks=4, workers=1
    )
    assert result is not None
