"""Which value function a run is scored with."""

import contextlib
import json
import os

import pytest
from random_blueprint import TRAINING, pack_random

from plurispiel.abstraction.holdem.rules import HUNL, KUHN, LEDUC
from plurispiel.abstraction.machine.artefact import ArtefactRefused
from plurispiel.agents.blueprint import library
from plurispiel.evaluation.blueprint_values import BlueprintValues
from plurispiel.evaluation.value_choice import choose_values, make_value_function
from plurispiel.evaluation.value_functions import Checkdown
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.report.hand_viewer import make_hand_viewer
from plurispiel.tournaments.report.run_record import read_run
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig, read_config
from plurispiel.tournaments.run.results import make_results, table_text
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunRefused, RunStore

jit_only = pytest.mark.skipif(
    bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="random words overflow on purpose, which numpy alone reports"
)


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A package with one blueprint, for Leduc."""
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PLURISPIEL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "bots"
    folder.mkdir()
    monkeypatch.setattr(library, "_BOTS", folder)
    pack_random(folder, "small", game="leduc_poker", cards="lossless")
    make_value_function.cache_clear()
    yield folder
    make_value_function.cache_clear()


@jit_only
def test_the_bundled_blueprint_of_this_game_is_the_default(bots):
    assert choose_values(LEDUC) == choose_values(LEDUC, "blueprint") == "blueprint:small"
    assert isinstance(make_value_function("blueprint:small", LEDUC), BlueprintValues)
    assert choose_values(LEDUC, "checkdown") == choose_values(KUHN) == choose_values(HUNL) == "checkdown"
    assert isinstance(make_value_function("checkdown", KUHN), Checkdown)


def test_without_its_bucket_table_it_is_not(bots):
    pack_random(bots, "deep", seats=2, stack_bb=200.0, cards="small")
    assert choose_values(HUNL) == "checkdown"
    with pytest.raises(ValueError, match="deep needs plurispiel abstraction build small"):
        choose_values(HUNL, "blueprint")


@jit_only
def test_of_several_the_one_trained_longest_that_is_ready(bots):
    for name, iterations in (("longer", 10**6 + 7), ("short", 5)):
        pack_random(bots, name, game="leduc_poker", cards="lossless", training=TRAINING | {"iterations": iterations})
    pack_random(bots, "deep", seats=2, stack_bb=200.0, cards="small", training=TRAINING | {"iterations": 10**9})
    assert choose_values(LEDUC) == "blueprint:longer" and choose_values(HUNL) == "checkdown"


def test_values_that_do_not_exist_are_refused(bots):
    with pytest.raises(ValueError, match="no bundled blueprint is ready to value this game; take checkdown"):
        choose_values(KUHN, "blueprint")
    with pytest.raises(ValueError, match="values are checkdown, blueprint, .* or blueprint:FOLDER, got 'oracle'"):
        choose_values(LEDUC, "oracle")
    with pytest.raises(ValueError, match="are those of another game"):
        make_value_function("blueprint:small", KUHN)
    with pytest.raises(ValueError, match="is neither a folder nor the name of a blueprint"):
        make_value_function("blueprint:unknown", LEDUC)
    (bots / "small.blueprint").write_bytes(b"nothing")
    with pytest.raises(ArtefactRefused, match="small.blueprint"):
        choose_values(LEDUC, "blueprint")


@jit_only
def test_the_seat_values_of_the_training_are_taken_and_sum_to_zero(bots):
    facts = dict(nodes=1, resident_mb=1.0, met=1.0, regret=1.0, drift=None, seat_deviations=(), missing=0.0)
    mark = {"iteration": 10, "seconds": 1.0, "seat_values": (30.0, -70.0), **facts}
    training = {"iterations": 10, "traversals": 20, "nodes": 100, "seconds": 3.6, "threads": 2, "marks": [mark]}
    pack_random(bots, "marked", game="leduc_poker", cards="lossless", training=training)
    values = make_value_function("blueprint:marked", LEDUC)
    assert [values.deal_mean(LEDUC, seat) for seat in range(2)] == pytest.approx([0.05, -0.05])


def test_a_tournament_records_what_was_chosen(bots, tmp_path):
    config = TournamentConfig(agents=("call", "random"), game="leduc_poker")
    assert config.values == "blueprint:small"
    (tmp_path / "config.toml").write_text(config.to_toml())
    assert TournamentConfig(**read_config(tmp_path / "config.toml")) == config
    other = TournamentConfig(agents=("call", "random"), game="leduc_poker", values="checkdown")
    assert other.digest != config.digest
    assert TournamentConfig(agents=("call", "random"), game="leduc_poker", score="raw").values == ""
    with pytest.raises(ValueError, match="values are for AIVAT"):
        TournamentConfig(agents=("call", "random"), game="leduc_poker", score="raw", values="checkdown")
    pack_random(bots, "small", game="leduc_poker", cards="lossless", seed=2)
    assert TournamentConfig(agents=("call", "random"), game="leduc_poker").digest != config.digest


@jit_only
def test_results_hold_the_values_of_the_run_and_need_them_no_more(bots, tmp_path):
    config = TournamentConfig(agents=("call", "random"), game="leduc_poker", decks=3, score="aivat")
    values = make_value_function(config.values, config.rules)
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        assert make_results(config, store)["value_function"] == {
            "name": "blueprint:small",
            "num_samples": None,
            "digest": None,
        }
        play_run(config, store, Conduct(keep="all"))
        results = make_results(config, store)
    found = {"name": "blueprint:small", "num_samples": values.num_samples, "digest": values.digest}
    assert results["value_function"] == found and f"digest {values.digest}" in table_text(results)
    (bots / "small.blueprint").unlink()
    make_value_function.cache_clear()
    run = read_run(tmp_path / "run", "A")
    assert run.results["value_function"] == found and run.results["agents"] == results["agents"]
    viewer = make_hand_viewer([run], 2, [])
    assert all("values of AIVAT cannot be computed now" in hand.remark for hand in viewer.hands) and viewer.hands
    with contextlib.closing(RunStore.reading(tmp_path / "run")) as store:
        assert store.values() == found


@jit_only
def test_groups_scored_with_other_values_are_not_mixed(bots, tmp_path):
    config = TournamentConfig(agents=("call", "random"), game="leduc_poker", decks=2)
    with contextlib.closing(RunStore(tmp_path / "run", config)) as store:
        store.keep_values(make_value_function(config.values, config.rules))
        store.keep_values(make_value_function(config.values, config.rules))
        with pytest.raises(RunRefused, match=r"scored with other blueprint:small values \(digest"):
            store.keep_values(Checkdown())


def tournament(capsys, *arguments):
    """Return the exit code, the results and what was said of a short run."""
    given = ["--agents", "call,random", "--game", "leduc_poker", "--workers", "1", "--decks", "2", "--json"]
    code = main(["tournament", *given, *arguments])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else None, said.err


@jit_only
@pytest.mark.parametrize("named", [True, False])
def test_a_run_goes_on_with_the_values_it_was_begun_with(bots, tmp_path, capsys, named):
    place = ["--out", str(tmp_path / "run")] * named
    packed = (bots / "small.blueprint").read_bytes()
    (bots / "small.blueprint").unlink()
    _, first, said = tournament(capsys, *place)
    assert first["value_function"]["name"] == "checkdown" and "begun" not in said
    (bots / "small.blueprint").write_bytes(packed)  # which would be chosen now
    _, second, said = tournament(capsys, *place, "--decks", "4")
    assert "the run continues with the values that it was begun with, checkdown" in said
    assert "4 hands already there" in said
    assert second["value_function"] == first["value_function"] and second["agents"][0]["groups"] == 4
    _, asked, said = tournament(capsys, "--out", str(tmp_path / "other"), "--values", "blueprint")
    assert asked["value_function"]["name"] == "blueprint:small"
    _, fresh, said = tournament(capsys, *place, "--fresh")
    assert fresh["value_function"]["name"] == "blueprint:small" and "already there" not in said
    if named:
        (bots / "small.blueprint").unlink()
        code, results, said = tournament(capsys, *place, "--decks", "4")
        assert code == 2 and results is None and said.count("\n") == 1
        assert "was begun with blueprint:small values, which cannot be found now" in said and "--fresh" in said


@jit_only
def test_a_damaged_bundled_blueprint_leaves_checkdown(bots, capsys):
    (bots / "small.blueprint").write_bytes(b"nothing")
    assert choose_values(LEDUC) == "checkdown"
    code, results, said = tournament(capsys)
    assert code == 0 and results["value_function"]["name"] == "checkdown"
    (note,) = [line for line in said.splitlines() if "small.blueprint" in line]
    assert note.startswith("AIVAT takes checkdown values: ") and "install the package again" in note
    assert tournament(capsys, "--agents", "blueprint,call", "--values", "checkdown")[0] == 4
    assert tournament(capsys, "--values", "blueprint")[0] == 4
    assert "AIVAT takes" not in tournament(capsys, "--score", "raw")[2]
