"""The example bots: short, and they pass the check that `plurispiel deal` recommends."""

import contextlib
import http.server
import json
import re
import shlex
import shutil
import subprocess
import threading

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.baselines.simple import RaiseAgent
from plurispiel.evaluation.hand import deal_deck, play_hand
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.contestants.example_bots import EXAMPLES, write_example
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import isolate

pytestmark = pytest.mark.xdist_group("processes")  # many at once would be late

CHECK = ["--hands", "30", "--seconds", "4.5", "--json"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_short_and_never_overwritten(name, tmp_path, capsys):
    assert main(["deal", "--example", name, str(tmp_path / "bots")]) == 0
    printed = capsys.readouterr().out
    first = tmp_path / "bots" / EXAMPLES[name][0]
    assert 20 <= len(first.read_text().splitlines()) <= 60
    assert f"stdio:{tmp_path}/bots/" in printed
    assert bool(first.stat().st_mode & 0o100) == (name != "c")
    first.write_text("mine")
    assert main(["deal", "--example", name, str(tmp_path / "bots")]) == 2
    assert "exists; give another folder" in capsys.readouterr().err
    assert first.read_text() == "mine"


def test_an_example_needs_a_folder(capsys):
    assert main(["deal", "--example", "c"]) == 2
    assert "give a folder for the example: --example c FOLDER" in capsys.readouterr().err
    assert main(["deal", "folder", "--agents", "call,tag"]) == 2
    assert "a folder belongs to --example, got 'folder'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["python", pytest.param("sh", marks=pytest.mark.slow), pytest.param("c", marks=pytest.mark.slow)]
)
def test_an_example_passes_compliance(name, tmp_path, capsys, monkeypatch):
    if name == "c" and not shutil.which("cc"):
        pytest.skip("needs a C compiler")
    monkeypatch.chdir(tmp_path)
    for command in write_example(name, tmp_path / "my bots")[:-1]:
        words = shlex.split(command)
        if words[0] == "cc":
            subprocess.run(words, check=True)
        else:
            game = ["--game", "HUNL"] if name == "c" else ["--game", "LEDUC"] if name == "sh" else []
            assert main([*words[1:], *CHECK, *game]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["faults"], report["violations"], report["notes"]) == ({}, [], [])
    assert report["hands"] and report["decisions"] and report["remembers"]["different"] == 0


class Model(http.server.BaseHTTPRequestHandler):
    """A language model that raises with aces, is broken with kings, and calls otherwise."""

    asked = 0

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Model.asked += 1
        assert self.headers["Authorization"] == "Bearer secret" and body["model"] == "tiny"
        text = body["messages"][-1]["content"]
        cards = text.splitlines()[1]
        words = "I raise, so r300 it is." if "A" in cards else "no idea" if "Q" in cards else "I'd check.\nc"
        reply = json.dumps({"choices": [{"message": {"role": "assistant", "content": words}}]}).encode()
        self.send_response(500 if "K" in cards else 200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


@pytest.fixture
def model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    server.shutdown()
    thread.join()
    server.server_close()


def with_model(folder, model):
    """Write the bot, with the address of a model, and return the command that checks the bot."""
    check, _ = write_example("llm", folder)
    settings = (folder / "llm.toml").read_text()
    settings = settings.replace("http://127.0.0.1:8080/v1/chat/completions", model)
    (folder / "llm.toml").write_text(settings.replace('"any"', '"tiny"').replace('key = ""', 'key = "secret"'))
    assert (folder / "llm.toml").stat().st_mode & 0o077 == 0
    return check


@pytest.mark.slow
def test_a_language_model_passes_compliance(model, tmp_path, capsys):
    check = with_model(tmp_path, model)
    assert main([*shlex.split(check)[1:], "--seconds", "1.5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["faults"], report["violations"]) == ({}, []) and Model.asked > 0


def test_the_language_model_is_asked_and_its_failures_are_counted(model, tmp_path, capsys):
    with_model(tmp_path, model)
    arguments = ["tournament", "--agents", f"stdio:{tmp_path}/llm_bot.py,call", "--decks", "6", "--workers", "1"]
    arguments += ["--score", "raw", "--agent-network", "--seed", "1", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    log = (tmp_path / "run" / "logs" / "agent-0.log").read_text()
    assert "answers are fallbacks" in log and "HTTPError" in log and "no legal action" in log
    assert "secret" not in log
    (agent, other) = json.loads((tmp_path / "run" / "results.json").read_text())["agents"]
    asked, failed = re.findall(r"([0-9]+) of ([0-9]+) answers", log)[-1][::-1]
    assert 0 < agent["fallbacks"] < 12 * 8 and int(failed) <= int(asked) and other["fallbacks"] == 0
    assert f"{agent['fallbacks']} of its answers were fallbacks" in capsys.readouterr().err


def test_without_a_model_it_checks_and_folds(tmp_path):
    write_example("llm", tmp_path)
    (tmp_path / "llm.toml").write_text('address = "http://127.0.0.1:9/"\nmodel = "x"\nkey = ""\n')
    with contextlib.closing(isolate(f"stdio:{tmp_path}/llm_bot.py", Limits(20.0, 500), tmp_path / "log")) as agent:
        rngs = [np.random.default_rng(seat) for seat in range(2)]
        hand = play_hand(HUNL, [agent, RaiseAgent()], deal_deck(HUNL, np.random.default_rng(1)), rngs)
    assert not hand.faults and [action.action for action in hand.actions if action.seat == 0] == [0]
    assert (agent.num_actions, agent.num_fallbacks, agent.last_fallback) == (1, 1, "URLError")
    assert "1 of 1 answers are fallbacks: URLError" in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_compliance_tells_that_a_model_never_answered(tmp_path, capsys):
    write_example("llm", tmp_path)
    (tmp_path / "llm.toml").write_text('address = "http://127.0.0.1:9/"\nmodel = "x"\nkey = ""\n')
    check = ["compliance", f"stdio:{tmp_path}/llm_bot.py", "--game", "HUNL", "--hands", "4", "--seconds", "9"]
    assert main(check) == 0
    assert re.search(r"\n  all [0-9]+ answers were fallbacks, the last for: URLError\n", capsys.readouterr().out)
