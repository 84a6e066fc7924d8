"""Commands give on a cluster what they give on this machine, byte for byte."""

import json
import os
import shutil

import pytest
from cluster_processes import processes_in
from random_blueprint import pack_random
from random_nets import random_net

from plurispiel.agents.values.net_file import save_net

pytest.importorskip("distributed")
pytest.importorskip("cryptography")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler"),
]

SPOT = """board = "2c 3c 4c"
pot = 60
stacks = 40
oop = "AA,KQs,76s"
ip = "QQ,AJs,T9s:0.5"
[bets]
flop.bet = "50%"
turn.ip.bet = "allin"
[solve]
target_pct = 2
"""


@pytest.fixture
def cluster(tmp_path):
    """A scheduler with a worker, and a function that runs a command in both places."""
    with processes_in(tmp_path) as found:
        found.scheduler()
        found.worker()
        yield found


def is_over(process, code=0):
    assert process.wait(timeout=300) == code, process.log.read_text()


def in_both_places(cluster, *words, here=("--workers", "1")):
    """Run a command here and on the cluster, with ``--out`` of the names here and there."""
    for place, more in {"here": here, "there": ["--cluster", "c.json"]}.items():
        is_over(cluster.start(*words, "--out", place, *more))


def files_below(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_data_of_values_are_the_same_bytes(cluster, tmp_path):
    options = ["--situations", "12", "--unseen", "4", "--menu", "fcpa"]
    in_both_places(cluster, "values", "sample", "leduc", *options)
    found = files_below(tmp_path / "here")
    assert len(found) > 2 and found == files_below(tmp_path / "there")


def test_data_with_a_teacher_that_travels_are_the_same_bytes(cluster, tmp_path):
    data = ["--situations", "16", "--unseen", "4"]
    net = random_net("river")
    save_net(tmp_path / "river", net.net.layers, net.level, {}, seed=1)
    in_both_places(cluster, "values", "sample", "end-of-turn", "--teacher", "river", *data)
    found = files_below(tmp_path / "here")
    assert len(found) > 2 and found == files_below(tmp_path / "there")


def test_rows_of_a_sweep_are_the_same(cluster, tmp_path):
    (tmp_path / "mine.toml").write_text(SPOT)
    (tmp_path / "flops.txt").write_text("Qs Jh 2h\nAs Ad Kd : 5\nTc 9c 8c\n")
    in_both_places(cluster, "spot", "sweep", "mine.toml", "--flops", "flops.txt")
    assert (tmp_path / "here" / "flops.csv").read_bytes() == (tmp_path / "there" / "flops.csv").read_bytes()


def test_lbr_is_the_same(cluster, tmp_path):
    in_both_places(cluster, "lbr", "--agent", "tag", "--hands", "64", "--json")
    results = [json.loads(process.log.read_text().splitlines()[-1]) for process in cluster.started[-2:]]
    for result in results:
        del result["seconds"], result["hands_per_second"]
    assert results[0] == results[1] and results[0]["hands"] == 64


def test_a_league_gives_the_same_standings(cluster, tmp_path):
    standings = []
    for place, more in {"here": ["--workers", "1"], "there": ["--cluster", "c.json"]}.items():
        is_over(cluster.start("league", place, "create", "--placement", "8", "--score", "duplicate", "--seed", "1"), 0)
        is_over(cluster.start("league", place, "add", "tag", "call", "random"), 0)
        play = cluster.start("league", place, "play", "--hands", "64", "--json", *more)
        is_over(play, 0)
        text = play.log.read_text()
        record = json.loads(text[text.index("\n{\n") :])
        standings.append({key: value for key, value in record.items() if "second" not in key})
    assert standings[0]["matrix"] == standings[1]["matrix"]


def test_flops_of_an_own_blueprint_are_the_same(cluster, tmp_path):
    """The blueprint travels as a parcel; each place has a folder of its own for the values that it keeps."""
    spec = f"blueprint:{pack_random(tmp_path, 'small', game='holdem-mini')}"
    records = []
    for more in (["--cluster", "c.json"], []):
        shutil.rmtree(tmp_path / "home" / "flop-responses", ignore_errors=True)
        options = ["--agent", spec, "--flops", "6", "--json", "--threads", "1", *more]
        process = cluster.start("exploitability", "holdem-mini", *options)
        is_over(process, 0)
        record = json.loads(process.log.read_text().splitlines()[-1])
        records.append({key: value for key, value in record.items() if "seconds" not in key})
    assert records[0] == records[1]
