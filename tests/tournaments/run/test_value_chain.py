"""The chain of networks, with a few situations and units."""

import os
import shutil

import pytest

from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.values.data_set import data_config
from plurispiel.agents.values.levels import find_level
from plurispiel.agents.values.net_file import load_net, save_net
from plurispiel.agents.values.training import TrainingConfig
from plurispiel.agents.values.training_run import make_net
from plurispiel.tournaments.run.value_chain import CHAINS, find_chain, train_chain

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

TINY = CHAINS["two-cores"]._replace(
    stages=tuple(stage._replace(situations=2, layers=1, width=8) for stage in CHAINS["two-cores"].stages[:3]),
    epochs=1,
)
OPTIONS = {"workers": 1, "seed": 1, "unseen": 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    return folder, train_chain(folder, TINY, **OPTIONS)


def test_each_network_is_taught_by_the_one_before(made):
    folder, nets = made
    assert [net.level.name for net in nets] == ["river", "end-of-turn", "turn"]
    assert [net.record["situations"] for net in nets] == [2, 2, 2]
    for before, after in zip(nets, nets[1:], strict=False):
        assert data_config(folder / f"{after.level.name}-data").teacher == before.digest


@pytest.mark.slow
def test_a_stopped_chain_goes_on(made, tmp_path):
    """Stopped at the start of each stage, the chain gives the same networks."""
    folder, nets = made

    class Stopped(Exception):
        pass

    for last in ("end-of-turn", "turn"):

        def stop(level, last=last):
            if level == last:
                raise Stopped

        with pytest.raises(Stopped):
            train_chain(tmp_path, TINY, **OPTIONS, on_stage=stop)
    assert load_net(tmp_path / "river").digest == nets[0].digest
    assert not (tmp_path / "turn").exists()


def test_a_chain_without_time_trains_every_network(made, tmp_path):
    """With no time left, each stage solves one situation of each split, and the chain goes on."""
    few = TINY._replace(stages=tuple(stage._replace(situations=40) for stage in TINY.stages))
    nets = train_chain(tmp_path, few, **OPTIONS | {"unseen": 40}, seconds=1e-9)
    assert [net.record["situations"] for net in nets] == [1, 1, 1]
    assert [net.record["validation"]["situations"] for net in nets] == [1, 1, 1]
    again = train_chain(tmp_path, few, **OPTIONS | {"unseen": 40})
    assert [net.digest for net in again] == [net.digest for net in nets]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"epochs": 2}, {}, "river was trained with epochs 1 instead of 2; .*, or remove [^ ]*/river to train it anew"),
        ({}, {"seed": 2}, "with seed 1 instead of 2; .* or remove [^ ]*/river and [^ ]*/river-data to train"),
        ({}, {"unseen": 3}, "with unseen 1 instead of 3"),
        ({"width": 9}, {}, "with width 8 instead of 9"),
        ({"situations": 3, "width": 9}, {}, "with width 8 instead of 9, situations 2 instead of 3"),
    ],
)
def test_networks_of_other_settings_are_refused(made, change, options, message):
    of_chain = {name: value for name, value in change.items() if name in TINY._fields}
    of_stage = {name: value for name, value in change.items() if name not in of_chain}
    chain = TINY._replace(stages=tuple(stage._replace(**of_stage) for stage in TINY.stages), **of_chain)
    with pytest.raises(ArtefactRefused, match=message):
        train_chain(made[0], chain, **OPTIONS | options)


def test_networks_of_another_place_in_the_chain_are_refused(made, tmp_path):
    folder, nets = made
    shutil.copytree(folder / "turn", tmp_path / "level" / "river")
    with pytest.raises(ArtefactRefused, match="river holds a network of the level turn"):
        train_chain(tmp_path / "level", TINY, **OPTIONS)
    save_net(tmp_path / "menu" / "river", nets[0].net.layers, find_level("river", "fc"), nets[0].record, seed=1)
    with pytest.raises(ArtefactRefused, match="trained with menu fc instead of fcpa; .* and [^ ]*river-data"):
        train_chain(tmp_path / "menu", TINY, **OPTIONS)
    shutil.copytree(folder, tmp_path / "teacher")
    assert [net.digest for net in train_chain(tmp_path / "teacher", TINY, **OPTIONS)] == [net.digest for net in nets]
    river, record = nets[0], nets[0].record | {"curve": [0.0]}  # as if trained again, by other arithmetic
    save_net(tmp_path / "teacher" / "river", river.net.layers, river.level, record, seed=1)
    message = f"end-of-turn was trained with teacher {river.digest[:16]} instead of .* and [^ ]*/end-of-turn-data"
    with pytest.raises(ArtefactRefused, match=message):
        train_chain(tmp_path / "teacher", TINY, **OPTIONS)


def test_networks_that_do_not_say_what_was_asked_for_are_taken(made, tmp_path):
    """Networks of earlier versions, and those of `values train`."""
    folder, nets = made
    river = TINY._replace(stages=TINY.stages[:1])
    shutil.copytree(folder / "river", tmp_path / "river")
    for record in ({}, {"training": nets[0].record["training"]}, {"training": 1, "chain": []}):
        save_net(tmp_path / "river", nets[0].net.layers, nets[0].level, record, seed=1)
        assert train_chain(tmp_path, river, **OPTIONS)[0].record == record


def test_networks_trained_by_hand_are_taken_at_any_rate_and_batch(made, tmp_path):
    data, river = made[0] / "river-data", TINY._replace(stages=TINY.stages[:1])
    config = TrainingConfig(layers=1, width=8, epochs=1, batch=5, rate=0.003, loss="squared")
    net = make_net(data, tmp_path / "river", config)
    assert [each.digest for each in train_chain(tmp_path, river, **OPTIONS)] == [net.digest]
    make_net(data, tmp_path / "river", config, num_bins=128)
    with pytest.raises(ArtefactRefused, match="with bins 128 instead of 256; .*, or remove [^ ]*/river to train"):
        train_chain(tmp_path, river, **OPTIONS)


def test_presets():
    assert find_chain("h200").device == "cuda"
    for chain in CHAINS.values():
        assert sum(stage.share for stage in chain.stages) == pytest.approx(1.0)
        known = {None}
        for stage in chain.stages:
            assert stage.teacher in known
            known.add(stage.level)
    with pytest.raises(
        ValueError, match="a preset of the chain is two-cores or h200, got 'h2000', did you mean 'h200'"
    ):
        find_chain("h2000")
