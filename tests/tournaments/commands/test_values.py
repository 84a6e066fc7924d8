import json
import os

import numpy as np
import pytest
from random_nets import random_net

from plurispiel.agents.values.data_set import DataConfig, sample
from plurispiel.agents.values.levels import find_level
from plurispiel.agents.values.net import Layers, new_layers
from plurispiel.agents.values.net_file import load_net, save_net
from plurispiel.agents.values.solved_situation import Solved, solve_exactly
from plurispiel.agents.values.training_run import checkpoint_folder
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.figures import value_net_picture
from plurispiel.tournaments.run.folder_lock import locked

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")

TRAIN = ["--epochs", "2", "--width", "16"]
ALONE = ["--workers", "1"]


def _no_values(level, situation):
    return Solved(np.zeros_like(situation.ranges), 0.0, 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values")
    assert (
        main(["values", "sample", "leduc", "--situations", "20", "--unseen", "10", *ALONE, "--out", f"{folder}/data"])
        == 0
    )
    assert main(["values", "train", f"{folder}/data", "--out", f"{folder}/net", *TRAIN]) == 0
    return folder


def test_sample(made, capsys):
    arguments = ["values", "sample", "leduc", "--situations", "10", "--unseen", "5", "--out", f"{made}/data", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"folder", "level", "seed", "train", "unseen"}
    assert found["train"]["situations"] == 20 and found["unseen"]["situations"] == 10
    assert 0.0 < found["train"]["slack"] <= found["train"]["worst_slack"] < 0.01
    assert found["train"]["iterations"] >= 100


def test_a_second_process_is_refused(made, tmp_path, capsys):
    out = tmp_path / "out"
    for words, folder in (
        (["sample", "leduc", "--situations", "2", "--unseen", "1", *ALONE], out),
        (["train", f"{made}/data", *TRAIN], checkpoint_folder(out)),
        (["distil", "turn", "--situations", "1", "--unseen", "1", *TRAIN], checkpoint_folder(out)),
        (["train-all", "two-cores", "--situations", "1", "--unseen", "1", *ALONE], out),
    ):
        with locked(folder):
            assert main(["values", *words, "--out", str(out)]) == 2
            assert f"another process writes {out}; wait for it, or end it" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_train_again(made, capsys):
    """The same command finds its network; other settings replace it, and then the first settings again."""
    digests = []
    for more in ([], ["--seed", "2"], []):
        assert main(["values", "train", f"{made}/data", "--out", f"{made}/net", *TRAIN, *more, "--json"]) == 0
        digests.append(json.loads(capsys.readouterr().out)["digest"])
    assert digests[0] == digests[2] != digests[1]


def test_info(made, capsys):
    assert main(["values", "info", f"{made}/net", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {
        *("level", "digest", "bins", "widths", "parameters", "bytes"),
        *("data", "training", "tenth", "situations", "curve", "validation"),
    }
    assert {"mae", "rms", "huber", "mae_checkdown", "mae_constant", "strata"} < set(found["validation"])
    assert found["widths"] == [29, 16, 16, 16, 10]
    assert main(["values", "info", f"{made}/net"]) == 0
    text = capsys.readouterr().out
    assert "leduc, 20 situations" in text and "with a tenth of the situations (2)" in text


def test_info_on_other_situations(made, tmp_path, capsys):
    errors = []
    other = ["--situations", "0", "--unseen", "5", "--seed", "2", *ALONE, "--out", f"{tmp_path}/data"]
    assert main(["values", "sample", "leduc", *other]) == 0
    capsys.readouterr()
    for data in ([], ["--data", f"{made}/data"], ["--data", f"{tmp_path}/data"]):
        assert main(["values", "info", f"{made}/net", *data, "--json"]) == 0
        errors.append(json.loads(capsys.readouterr().out)["validation"]["mae"])
    assert errors[0] == pytest.approx(errors[1], rel=1e-9) and errors[0] != pytest.approx(errors[2], rel=1e-3)
    assert main(["values", "info", "turn", "--data", f"{made}/data"]) == 2
    assert "the network is for the level turn (menu fcpa), the situations in" in capsys.readouterr().err


def test_text_and_json_need_the_same_of_a_manifest(made, tmp_path, capsys):
    net = load_net(made / "net")
    save_net(tmp_path / "net", net.net.layers, net.level, {}, seed=1)
    for form in ([], ["--json"]):
        assert main(["values", "info", f"{tmp_path}/net", *form]) == 4
        told = capsys.readouterr()
        assert "manifest lacks its errors; train it again" in told.err and not told.out
        assert main(["values", "info", f"{tmp_path}/net", *form, "--data", f"{made}/data"]) == 0
        assert capsys.readouterr().out


@pytest.mark.filterwarnings("error")
def test_a_network_with_outputs_that_are_not_finite_is_refused(made, tmp_path, capsys):
    net = load_net(made / "net")
    huge = Layers.of(
        [np.full(each.shape, 65_504.0) for each in new_layers((29, *16 * [16], 10), np.random.default_rng(1)).arrays()]
    )
    save_net(tmp_path / "huge", huge, net.level, net.record, seed=1)
    assert main(["values", "info", f"{tmp_path}/huge", "--data", f"{made}/data", "--json"]) == 4
    told = capsys.readouterr()
    assert (
        told.err.splitlines() == ["plurispiel values: the network has outputs that are not finite; train it again"]
        and not told.out
    )


def test_values_of_other_solutions_are_compared(made, tmp_path, capsys):
    taught = DataConfig("leduc", 1, None, "the digest of a network")
    for config, name in ((taught, "taught"), (taught._replace(seed=2), "elsewhere")):
        sample(tmp_path / name, config, {"unseen": 10}, solve_exactly)
    compare = ["values", "compare", f"{made}/data", f"{tmp_path}/taught"]
    assert main([*compare, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["level"] == "leduc" and found["mae"] == found["huber"] == 0.0 < found["mae_checkdown"]
    assert main(compare) == 0
    assert capsys.readouterr().out.startswith("unseen situations")
    for first, second, message in (
        (compare[2], f"{tmp_path}/elsewhere", "the two folders have different situations"),
        (compare[3], compare[2], "taught are those of a network; give a folder with exact values first"),
        (compare[2], compare[2], "data are exact; give a folder that values sample --teacher has written second"),
    ):
        assert main(["values", "compare", first, second]) == 2
        assert message in capsys.readouterr().err


def test_networks_and_situations_of_two_menus_are_not_mixed(tmp_path, capsys):
    net = random_net("river")
    save_net(tmp_path / "river", net.net.layers, find_level("river", "fc"), {}, seed=1)
    for menu in ("fc", "fcpa"):
        sample(tmp_path / menu, DataConfig("river", 1, menu), {"unseen": 1}, _no_values)
    for words, message in (
        (["info", "{0}/river", "--data", "{0}/fcpa"], "level river (menu fc), the situations in {0}/fcpa are of river"),
        (["compare", "{0}/fc", "{0}/fcpa"], "fc are of the level river (menu fc), the situations in {0}/fcpa are of"),
        (
            ["sample", "end-of-turn", "--teacher", "{0}/river", "--out", "{0}/x"],
            "river is for the menu fc, not fcpa; give --menu fc, or another network",
        ),
    ):
        assert main(["values", *(word.format(tmp_path) for word in words)]) == 2
        assert message.format(tmp_path) in capsys.readouterr().err


def test_info_plot(made, tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(value_net_picture, "examples", lambda net: ())  # whose pictures take longest
    path = tmp_path / "net.svg"
    assert main(["values", "info", f"{made}/net", "--plot", str(path)]) == 0
    assert "leduc, 20 situations" in (told := capsys.readouterr()).out
    assert "solving situations for the picture" in told.err and f"drawn in {path}" in told.err
    assert "<svg" in path.read_text()
    assert main(["values", "info", f"{made}/net", "--plot", str(tmp_path / "net.frmat")]) == 2
    assert "frmat" in capsys.readouterr().err.splitlines()[-1]
    assert list(tmp_path.iterdir()) == [path]


def test_floor(made, capsys):
    assert main(["values", "floor", f"{made}/data", "--bins", "3,5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["bins"] for each in found["floors"]] == [3, 5]
    assert found["floors"][1]["mae"] < 1e-6 < found["floors"][0]["mae"]
    assert main(["values", "floor", f"{made}/data"]) == 0
    assert "5 bins    0.000 % of the pot" in capsys.readouterr().out


def test_exploitability(made, capsys):
    options = f"iterations=2&values=net:{made}/net"
    assert main(["exploitability", "leduc", "--continual", options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["continual"]["inner_solves"] == 0
    assert main(["exploitability", "leduc-4", "--continual", options]) == 4
    assert "the network is for the level leduc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["sample", "preflop", "--out", "x"],
            2,
            "a level is leduc, river, end-of-turn, turn, end-of-flop, flop or",
        ),
        (["sample", "leduc", "--out", "x", "--menu", "fchpa"], 2, "the bets of leduc are fixed"),
        (["sample", "river", "--out", "x", "--menu", "fullgame"], 2, "is fc, fcpa, fchpa, got 'fullgame'"),
        (["distil", "{net}", "--out", "x"], 2, "level river, turn or flop, not of leduc"),
        (["distil", "{data}/train-00000", "--out", "x"], 4, "holds a 'value data', not a value net"),
        (["distil", "{net}", "--out", "x", "--boards", "0"], 2, "boards must be 1 to"),
        (["sample", "leduc", "--out", "x", "--situations", "-1"], 2, "situations must be 0 to"),
        (["sample", "leduc", "--out", "x", "--unseen", "0"], 2, "unseen must be 1 to"),
        (["sample", "leduc", "--out", "x", "--seed", "-1"], 2, "seed must be 0 or more"),
        (["train", "{data}", "--out", "x", "--rate", "0"], 2, "rate must be above 0"),
        (["train", "{data}", "--out", "x", "--bins", "6"], 2, "bins are 2 to 5"),
        (["train", "{data}", "--out", "x", "--bins", "0"], 2, "bins are 2 to 5"),
        (["train", "{data}", "--out", "x", "--situations", "21"], 4, "has 20 situations to train with, not 21"),
        (["train", "{data}", "--out", "x", "--rate", "1"], 2, "training has diverged; take a rate below 1"),
        (["train", "{net}", "--out", "x"], 4, "no complete value data"),
        (["train", "{data}", "--out", "{data}/train-00000"], 4, "holds a 'value data'"),
        (["info", "{data}/train-00000"], 4, "holds a 'value data', not a value net"),
        (["info", "nowhere"], 4, "there is no folder"),
        (["floor", "{data}", "--bins", "1"], 2, "bins are numbers from 2 to 5"),
        (["info", "{net}", "--plot", ""], 2, "plot is an empty text"),
        (["info", "{net}", "--data", ""], 2, "data is an empty text"),
        (["sample", "leduc", "--out", ""], 2, "out is an empty text; give a value"),
        (["train", "{data}", "--out", "{net}/manifest.json"], 4, "manifest.json is no folder; give"),
        *(
            ([*words, "--out", "{net}/manifest.json/x"], 2, "cannot use the folder {net}/manifest.json/x")
            for words in (["sample", "leduc"], ["train", "{data}"], ["train-all", "two-cores"])
        ),
        ([], 2, "give an action"),
    ],
)
def test_errors(made, tmp_path, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    words = [each.format(data=made / "data", net=made / "net") for each in arguments]
    words += TRAIN if "train" in words else []
    assert main(["values", *words]) == code
    error = capsys.readouterr().err.strip().splitlines()
    assert message.format(net=made / "net") in error[-1] and error[-1].startswith("plurispiel values: ")


def test_samples_with_a_teacher(tmp_path, capsys):
    net = random_net("river")
    save_net(tmp_path / "river", net.net.layers, net.level, {}, seed=1)
    data = ["--situations", "2", "--unseen", "1", *ALONE, "--out", str(tmp_path / "data")]
    assert main(["values", "sample", "end-of-turn", "--teacher", str(tmp_path / "river"), *data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["train"]["situations"] == 2
    assert main(["values", "train", str(tmp_path / "data"), "--out", str(tmp_path / "net"), *TRAIN, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["level"] == "end-of-turn"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sample", "end-of-turn", "--out", "x"], "the values of end-of-turn are those of a network for river"),
        (["sample", "flop", "--out", "x"], "is solved to the end of the street: give --teacher NET for end-of-flop"),
        (["train-all", "h20", "--out", "x"], "a preset of the chain is two-cores or h200, got 'h20'"),
        (["train-all", "h200", "--out", "x", "--minutes", "0"], "minutes must be above 0"),
        (["train-all", "two-cores", "--out", "x", "--width", "0"], "width must be 1 to 4,096"),
        (["train-all", "two-cores", "--out", "x", "--epochs", "0"], "epochs must be 1 to 10,000"),
        (["train-all", "two-cores", "--out", "x", "--seed", "-1"], "seed"),
    ],
)
def test_refusals_of_the_chain(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["values", *arguments]) == 2
    assert message in capsys.readouterr().err
