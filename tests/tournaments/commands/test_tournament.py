"""The command `tournament`: results, refusals in one line, and what is said of agents."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from random_blueprint import pack_random
from solved_leduc import leduc_net, sample_leduc

from plurispiel.agents.search import agent as search_agent
from plurispiel.tournaments.cli import main
from plurispiel.tournaments.run import config
from plurispiel.tournaments.run.kernels import LOADING

MY_BOT = """\
from plurispiel.agents import Agent


class MyBot(Agent):
    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.events = 0

    def observe(self, event):
        self.events += 1

    def act(self, view):
        aces = all(card // 4 == 12 for card in view.hole_cards)
        return view.public.raise_by_pot(1.0) if aces else 0 if view.public.can_fold else 1
"""


pytestmark = pytest.mark.usefixtures("home")


def play(capsys, *arguments):
    """Run a tournament with --json in this process and return its results."""
    assert main(["tournament", *map(str, arguments), "--json", "--workers", "1"]) == 0
    captured = capsys.readouterr()
    assert "NaN" not in captured.out and "Infinity" not in captured.out
    return json.loads(captured.out)


def run_program(folder, *arguments):
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "plurispiel", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def rates(results):
    return [agent["scores"]["duplicate"]["mbb_per_hand"] for agent in results["agents"]]


def test_six_callers_score_exactly_zero(capsys):
    results = play(capsys, "--agents", "call,call,call,call,call,call", "--decks", 2, "--seed", 1)
    assert rates(results) == [0.0] * 6
    assert [agent["scores"]["duplicate"]["ci95"] for agent in results["agents"]] == [0.0] * 6
    assert [agent["name"] for agent in results["agents"]] == ["call", *(f"call#{k}" for k in range(2, 7))]
    assert results["hands"] == 12


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="without the compiler there are none")
def test_kernels_of_a_search_are_loaded_behind_the_word(capsys, monkeypatch, tmp_path):
    """Before play, and not before it is said."""
    told = []
    monkeypatch.setattr(search_agent, "prepare", lambda **options: told.append(capsys.readouterr().err))
    pack_random(tmp_path, "pushfold", seats=2, stack_bb=10)
    spec = f"search:{tmp_path / 'pushfold.blueprint'}"
    play(capsys, "--agents", f"{spec},fold", "--seats", 2, "--decks", 1, "--score", "raw")
    assert LOADING in told[0] and "kernels ready" not in told[0] and len(told) > 2


def test_fold_loses_its_blinds_to_raise(capsys):
    results = play(capsys, "--agents", "fold,raise", "--seats", 2, "--decks", 200, "--score", "duplicate")
    assert rates(results) == [-750.0, 750.0]
    assert [agent["ci95"] for agent in results["agents"]] == [0.0, 0.0]
    assert results["matrix"] == [
        [None, {"mbb_per_hand": -750.0, "ci95": 0.0}],
        [{"mbb_per_hand": 750.0, "ci95": 0.0}, None],
    ]
    assert results["hands"] == 400


def test_fold_loses_its_blinds_at_six_seats(capsys):
    results = play(capsys, "--agents", "fold", "--agents", "raise,raise,raise,raise,raise", "--decks", 2)
    assert rates(results)[0] == -250.0
    assert results["agents"][0]["scores"]["duplicate"]["ci95"] == 0.0
    assert sum(rates(results)) == pytest.approx(0.0, abs=1e-9)
    results = play(capsys, "--agents", "fold,raise", "--format", "gauntlet", "--copies", "--seats", 6, "--decks", 2)
    assert rates(results) == pytest.approx([-250.0, 50.0], rel=1e-12)


def test_the_keys_are_the_promised_ones(capsys, home):
    results = play(capsys, "--agents", "tag,random", "--decks", 10, "--seed", 3)
    promised = ["game", "seed", "decks", "hands", "seconds", "hands_per_second", "agents", "matrix"]
    assert set(promised) <= set(results)
    assert results["game"] == "HUNL"
    assert (results["seed"], results["decks"], results["hands"]) == (3, 10, 20)
    assert results["hands_per_second"] == pytest.approx(20 / results["seconds"])
    for agent in results["agents"]:
        assert list(agent)[:6] == ["name", "mbb_per_hand", "ci95", "hands", "groups", "faults"]
        assert set(agent["stats"]) == {
            "vpip", "pfr", "first_in_raise", "first_in_limp", "three_bet", "donk_bet", "showdown"
        }  # fmt: skip
    (folder,) = (home / "runs").iterdir()
    assert folder.name == results["digest"]
    assert json.loads((folder / "results.json").read_text()) == results
    assert {"config.toml", "run.sqlite", "results.json"} <= set(os.listdir(folder))


def test_the_same_command_again_plays_nothing(capsys):
    arguments = ("--agents", "random,call", "--decks", 9)
    first = play(capsys, *arguments)
    assert play(capsys, *arguments) == first


def test_a_bot_of_fifteen_lines_plays(capsys, tmp_path):
    assert len(MY_BOT.splitlines()) <= 15
    (tmp_path / "my_bot.py").write_text(MY_BOT.replace("plurispiel.agents ", "plurispiel.agents.base "))
    results = play(capsys, "--agents", "my_bot.py:MyBot,tag", "--decks", 40, "--processes", "one")
    assert [agent["name"] for agent in results["agents"]] == ["my_bot.py:MyBot", "tag"]
    assert [agent["faults"] for agent in results["agents"]] == [0, 0]
    assert results["agents"][0]["stats"]["showdown"] < 0.2
    assert rates(results)[0] == -rates(results)[1]
    assert results["score"] == "aivat_zero_sum"
    assert [agent["aivat"] for agent in results["agents"]] == ["chance only", "full"]


def test_faults_are_counted_and_explained(capsys, tmp_path):
    (tmp_path / "bad.py").write_text(
        "class Bad:\n"
        "    name = 'bad'\n"
        "    def restart(self, rules, seat, rng): pass\n"
        "    def act(self, view): return view.nothing\n"
    )
    arguments = ["--agents", "bad.py:Bad,call", "--decks", "5", "--workers", "1", "--processes", "one", "--json"]
    assert main(["tournament", *arguments]) == 0
    captured = capsys.readouterr()
    agents = json.loads(captured.out)["agents"]
    # The first to act folds as the button; as the big blind it checks down against a caller.
    assert [agent["faults"] for agent in agents] == [10, 0]
    assert captured.err.splitlines()[-1] == (
        "bad.py:Bad committed 10 faults (exception 10), checking or folding to the end of those hands; the first: "
        "act: AttributeError: 'View' object has no attribute 'nothing' (bad.py, line 4)"
    )


TALKER = """\
print("loaded")


class Talker:
    def restart(self, rules, seat, rng):
        print("restart")

    def act(self, view):
        print("act")
        return 1
"""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.slow
def test_an_agent_that_prints_does_not_spoil_the_results(tmp_path, home, workers):
    (tmp_path / "talker.py").write_text(TALKER)
    done = run_program(
        tmp_path,
        *("tournament", "--agents", "talker.py:Talker,call", "--decks", "20", "--workers", workers, "--json"),
        *("--out", "run", "--score", "raw", "--processes", "one"),
    )
    assert done.returncode == 0, done.stderr
    assert [agent["name"] for agent in json.loads(done.stdout)["agents"]] == ["talker.py:Talker", "call"]
    printed = (tmp_path / "run" / "logs" / "agent-0.log").read_text()
    assert printed.count("restart") == 40
    assert str(Path("run") / "logs") in done.stderr


@pytest.mark.slow  # contestants/test_supervisor.py has the same without the command
def test_an_agent_that_ends_its_process_does_not_end_ours(tmp_path, home):
    (tmp_path / "gone.py").write_text(TALKER.replace('print("act")', "import os; os._exit(3)"))
    done = run_program(tmp_path, "tournament", "--agents", "gone.py:Talker,call", "--decks", "1", "--workers", "1")
    assert done.returncode == 0
    assert "committed 2 faults (crash 2)" in done.stderr.splitlines()[-1]
    assert "the first: act: its process ended (exit code 3)" in done.stderr.splitlines()[-1]


def test_a_changed_bot_or_module_is_played_anew(capsys, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    rounds = []
    for action in (0, 1):
        (tmp_path / "changing.py").write_text(f"ACTION = {action}\n" + TALKER.replace("return 1", "return ACTION"))
        sys.modules.pop("changing", None)
        importlib.invalidate_caches()
        arguments = ("--agents", "changing:Talker,raise", "--decks", 1, "--score", "raw", "--processes", "one")
        results = play(capsys, *arguments)
        rounds.append(results["digest"])
    assert rounds[0] != rounds[1]


def test_the_same_command_says_that_nothing_was_played_and_fresh_plays_again(capsys):
    arguments = ["tournament", "--agents", "call,fold", "--decks", "4", "--json", "--workers", "1"]
    assert main(arguments) == 0
    first = capsys.readouterr()
    assert "nothing left to play" not in first.err
    assert main(arguments) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "nothing left to play" in second.err
    assert main([*arguments, "--fresh"]) == 0
    third = capsys.readouterr()
    assert "nothing left to play" not in third.err
    assert json.loads(third.out)["agents"] == json.loads(first.out)["agents"]


def test_settings_find_agents_beside_them_from_anywhere(capsys, tmp_path, monkeypatch):
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "my_bot.py").write_text("import helper\n" + MY_BOT)
    (tmp_path / "bots" / "helper.py").write_text("")
    (tmp_path / "bots" / "mine.toml").write_text('agents = ["my_bot.py:MyBot", "tag"]\ndecks = 3\n')
    monkeypatch.chdir(tmp_path)
    here = play(capsys, "bots/mine.toml", "--processes", "one", "--out", str(tmp_path / "run"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    there = play(capsys, "../run/config.toml", "--out", str(tmp_path / "run"))
    assert here["agents"][0]["name"] == "my_bot.py:MyBot"
    assert here == there == play(capsys, "../bots/mine.toml", "--processes", "one", "--out", "../run")
    assert main(["tournament", "--agents", "../bots/my_bot.py:No,tag"]) == 2
    assert "../bots/my_bot.py has no class" in capsys.readouterr().err


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="minutes without the compiler")
def test_settings_and_runs_find_networks_beside_them_from_anywhere(capsys, tmp_path, monkeypatch):
    leduc_net(sample_leduc(tmp_path / "data"), tmp_path / "s" / "v" / "M")
    agents = '["continual?iterations=2&values=net:v/M", "call"]'
    (tmp_path / "s" / "t.toml").write_text(f'agents = {agents}\ngame = "LEDUC"\ndecks = 1\n')
    monkeypatch.chdir(tmp_path)
    here = play(capsys, "s/t.toml", "--out", "run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert play(capsys, "../run/config.toml", "--out", "../run") == here
    assert here["agents"][0]["name"] == "continual?iterations=2&values=net:M"
    (tmp_path / "s" / "v").rename(tmp_path / "s" / "w")
    assert main(["tournament", "../s/t.toml", "--out", "there"]) == 4
    assert "s/v/M; give the folder of a value net" in capsys.readouterr().err


def test_the_table_is_for_people(capsys):
    assert main(["tournament", "--agents", "fold,raise", "--decks", "4", "--workers", "1", "--score", "raw"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split()[0] == "agent"
    assert out[2].split()[:2] == ["raise", "+750.0"]
    assert out[3].split()[:2] == ["fold", "-750.0"]
    assert out[-3].startswith("8 hands in ") and out[-1].startswith("plurispiel report ")
    assert main(out[-1].split()[1:]) == 0


def test_nothing_given_plays_the_default_tournament(capsys, home):
    assert main(["tournament", "--decks", "2", "--workers", "1"]) == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert "gauntlet of 6 agents, 2 seats, 5 line-ups x 2 decks" in captured.err
    assert lines[0] == "blueprint, mbb/hand by aivat+zero-sum:"
    assert [line.split()[0] for line in lines[4:9]] == ["tag", "equity", "call", "raise", "random"]
    assert "AIVAT with checkdown values" in captured.out


def test_names_may_look_like_markup(capsys, tmp_path):
    (tmp_path / "<script>alert(1)&.py").write_text(
        "from plurispiel.agents.base import Agent\nclass B(Agent):\n    def act(self, view):\n        return 1\n"
    )
    spec = "<script>alert(1)&.py:B"
    results = play(capsys, "--agents", f"{spec},call", "--decks", 2, "--processes", "one")
    assert results["agents"][0]["name"] == spec
    assert results["agents"][0]["faults"] == 0


def test_small_games_and_presets_play(capsys):
    for game in ("leduc_poker", "KUHN", "hulh"):
        results = play(capsys, "--game", game, "--agents", "random,call", "--decks", 5)
        assert results["hands"] == 10
        assert [agent["faults"] for agent in results["agents"]] == [0, 0]


BAD = [
    (["--agents", "tagg,call"], "unknown agent 'tagg', did you mean 'tag'?"),
    (["--agents", "call,,tag"], "single commas"),
    (["--agents", ""], "single commas"),
    (["--agents", "call"], "a table has 2..10 seats, got 1"),
    (["--agents", "call?x,call"], "agent options are written"),
    (["--agents", "call?x=1,call"], "takes no options, got x"),
    (["--agents", "none.py:Bot,call"], "no file 'none.py'"),
    (["--agents", "my_bot.py,call"], "my_bot.py:CLASS"),
    (["--max-faults", "0"], "max_faults must be at least 1, got 0"),
    (["--time-limit", "0"], "time_limit must be above 0"),
    (["--time-limit", "nan"], "time_limit must be above 0"),
    (["--memory-limit", "-1"], "memory_limit must be at least 1 MiB"),
    (["--on-fault", "shrug"], "invalid choice: 'shrug'"),
    (["--hands", "some"], "invalid choice: 'some'"),
    (["--isolate", "none"], "invalid choice: 'none'"),
    (["--agents", "openspiel:nobody,call"], "nobody"),
    (["--game", "chess"], "chess"),
    (["--game", "HUNL", "--seats", "3"], "the game has 2 seats"),
    (["--game", "universal_poker(betting=nolimit,stack=50 50,blind=100 50,firstPlayer=2 1)"], "must cover its blind"),
    (["--game", "leduc_poker(players=30)"], "2..10 seats"),
    (["--decks", "0"], "decks must be at least 1, got 0"),
    (["--decks", "-3"], "decks must be at least 1"),
    (["--decks", "many"], "invalid int value: 'many'"),
    (["--decks", "1,000"], "invalid value: '1,000' (a number without commas, 'once' or 'shared', or both"),
    (["--decks", "once,shared"], "invalid value: 'once,shared'"),
    (["--decks", "8,once,8"], "invalid value: '8,once,8'"),
    (["--seed", "-1"], "seed must not be negative"),
    (["--seats", "11"], "2..10 seats, got 11"),
    (["--seats", "9"], "at least 9 agents for 9 seats"),
    (["--workers", "-1"], "workers must be 0..1,024 (0: one for each processor), got -1"),
    (["--workers", "4294967296"], "workers must be 0..1,024 (0: one for each processor), got 4294967296"),
    (["--workers=--"], "--workers=--: -- is no value"),
    (["--format", "knockout"], "invalid choice: 'knockout'"),
    (["--format", "lineup", "--seats", "2"], "a lineup needs one agent for each of the 2 seats"),
    (["--copies"], "copies belong to the gauntlet"),
    (["missing.toml"], "cannot read missing.toml"),
    (["bad.toml"], "bad.toml is not valid TOML"),
    (["typo.toml"], "no setting 'deks', did you mean 'decks'?"),
    (["bool.toml"], "decks must be a whole number, got True"),
    (["--out", "bad.toml"], "cannot use the folder bad.toml"),
    (["--stop-when", "ci<20"], "stop_when is 'ci<=X' with X mbb/hand above 0, or 'significant', got 'ci<20'"),
    (["--nonsense"], "unrecognized arguments: --nonsense"),
    (
        ["--agnets", "tag"],
        "unrecognized arguments: --agnets, did you mean '--agents'? (plurispiel tournament --help",
    ),
    (["--format", "gantlet"], "invalid choice: 'gantlet', did you mean 'gauntlet'?"),
    (["--agents", "search?tim=1,call"], "got tim, did you mean 'time'?"),
    (["--agents", "openspiel:cfr?iteration=1,call"], "got iteration=1, did you mean 'iterations'?"),
    (["--game", "HUNLL"], "unknown game 'HUNLL', did you mean 'HUNL'?"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else ""
)
def test_bad_input_is_refused_in_one_line(capfd, tmp_path, arguments, message):
    (tmp_path / "bad.toml").write_text("decks = \n")
    (tmp_path / "typo.toml").write_text("deks = 5\n")
    (tmp_path / "bool.toml").write_text("decks = true\n")
    try:
        code = main(["tournament", *arguments])
    except SystemExit as end:  # argparse's own
        code = end.code
    out, err = capfd.readouterr()
    assert code == 2
    assert out == ""
    assert err.endswith("\n") and len(err.splitlines()) == 1, err
    assert err.startswith("plurispiel")
    assert message in err


def test_another_runs_folder_is_refused(capsys):
    arguments = ["tournament", "--agents", "call,call", "--decks", "1", "--workers", "1", "--out", "run"]
    assert main(arguments) == 0
    capsys.readouterr()
    assert main([*arguments, "--seed", "2"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert "run holds another tournament: seed was 1, and is 2 now; repeat its settings" in captured.err


def test_a_refused_folder_says_what_differs(capsys, tmp_path):
    settings = ["--decks", "1", "--workers", "1", "--score", "raw", "--out", "run"]
    assert main(["tournament", "--agents", "fold,call", *settings]) == 0
    for given, what in {
        "--agents fold,tag": "agents was fold,call, and is fold,tag now",
        "--agents fold,call --game HULH --max-faults 3": "max_faults was 20, and is 3 now",
    }.items():
        capsys.readouterr()
        assert main(["tournament", *given.split(), *settings]) == 2
        assert what in capsys.readouterr().err
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config, "package_digest", lambda: "other code")
        assert main(["tournament", "--agents", "fold,call", *settings]) == 2
    assert "another tournament: the package's code has changed since; repeat" in capsys.readouterr().err


def test_a_folder_is_refused_if_the_file_of_an_agent_has_changed(capsys, tmp_path):
    arguments = ["--agents", "my_bot.py:MyBot,call", "--decks", "1", "--workers", "1", "--score", "raw", "--out", "run"]
    for text, code in ((MY_BOT, 0), (MY_BOT + "\n", 2)):
        (tmp_path / "my_bot.py").write_text(text)
        assert main(["tournament", *arguments, "--processes", "one"]) == code
    assert (
        "run holds another tournament: the file of my_bot.py:MyBot has changed since; repeat" in capsys.readouterr().err
    )


def test_a_full_disk_is_one_line(capsys, monkeypatch):
    def full(self, name, text):
        raise OSError(28, "No space left on device", name)

    monkeypatch.setattr(
        "plurispiel.tournaments.run.store.write_atomically", lambda path, text: full(None, str(path), text)
    )
    assert main(["tournament", "--agents", "call,call", "--decks", "1", "--workers", "1"]) == 1
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert "No space left on device" in err


@pytest.mark.slow
def test_the_same_agent_file_in_another_folder_has_a_run_of_its_own(home, tmp_path, monkeypatch, capsys):
    """The file may import a module that lies beside it, which no digest covers."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "my_bot.py").write_text(MY_BOT)
        monkeypatch.chdir(tmp_path / name)
        for played in (False, True):
            given = ["--agents", "my_bot.py:MyBot,call", "--decks", "1", "--workers", "1", "--processes", "one"]
            assert main(["tournament", *given]) == 0
            assert ("nothing left to play" in capsys.readouterr().err) is played
    assert len([folder for folder in (home / "runs").iterdir() if folder.is_dir()]) == 2
