"""The chain of networks, with a few situations and units."""

import os

import pytest

from plurispiel.agents.values.data_set import data_config
from plurispiel.agents.values.net_file import load_net
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
