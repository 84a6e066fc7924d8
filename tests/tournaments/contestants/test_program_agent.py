"""Programs in their sandbox: their own files and folder are there, and those of the run and of rivals are not."""

import contextlib
import os
import sys

import pytest

from plurispiel.evaluation.hand import AgentFault
from plurispiel.tournaments.contestants.isolated import Limits
from plurispiel.tournaments.contestants.isolation import isolate
from plurispiel.tournaments.contestants.line_bot import LineBot
from plurispiel.tournaments.contestants.sandbox import PRIVATE, working_sandbox

LIMITS = Limits(20.0, 300)
LOOK = f"""#!{sys.executable}
import os, sys
for path in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "paths")).read().splitlines():
    try:
        size = os.stat(path).st_size
    except OSError:
        size = -1
    print(path, size, file=sys.stderr)
print("in", os.getcwd(), file=sys.stderr)
for line in sys.stdin:
    if '"hello"' in line:
        print('{{"type": "ready", "protocol": 1}}', flush=True)
"""


@pytest.fixture
def sandbox():
    made = working_sandbox("auto")
    if made is None:
        pytest.skip("needs bubblewrap")
    return made


def seen(spec, log, sandbox=None, rivals=()):
    """Return what a program sees of the paths in its arguments: their sizes, and its folder as `in`."""
    with contextlib.closing(LineBot(spec, LIMITS, log, sandbox, rivals)) as agent:
        agent.load()
    return dict(line.rsplit(" ", 1) if line[0] == "/" else line.split(" ", 1) for line in log.read_text().splitlines())


def place(folder, *paths):
    """Write a program that looks for paths, and return its file."""
    folder.mkdir(exist_ok=True)
    (folder / "bot").write_text(LOOK)
    (folder / "bot").chmod(0o755)
    (folder / "paths").write_text("\n".join(map(str, paths)))
    return folder / "bot"


def test_the_sandbox_shows_a_program_its_own_files_and_hides_the_others(tmp_path, sandbox, monkeypatch):
    own = tmp_path / "own"
    key, weights, rival, data = own / "run" / "run.key", own / "weights", own / "rival.sh", tmp_path / "data" / "book"
    other, secret = place(tmp_path / "other"), tmp_path / "secret"
    place(own, weights, data, key, rival, other, secret)
    for path in (key, weights, rival, data, secret):
        path.parent.mkdir(exist_ok=True)
        path.write_text("12345")
    rival.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    spec = f"stdio:own/bot {data} run/run.key?cwd=own"  # the run's files stay hidden even if an argument names them
    rivals = [f"stdio:{rival}", f"stdio:{sys.executable} {other}"]
    found = seen(spec, tmp_path / "log", sandbox.hiding(own / "run"), rivals)
    shown = {path: int(found[str(path)]) for path in (weights, data, key, rival, other, secret)}
    assert shown == {weights: 5, data: 5, key: -1, rival: 0, other: -1, secret: -1}
    assert found["in"] == str(own)


def test_a_folder_that_the_command_names_is_shown_and_nothing_beside_it(tmp_path, sandbox, monkeypatch):
    bots = tmp_path / "bots"
    inside, theirs, beside = bots / "deep" / "weights", bots / "theirs" / "weights", tmp_path / "secret"
    for path in (inside, theirs, beside):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("12345")
    place(bots, inside, theirs, beside)
    monkeypatch.chdir(tmp_path)
    # The program itself lies in the folder, as a class of Java does, and is found by the relative path.
    spec = f"stdio:sh -c 'exec {sys.executable} -I bots/bot' bots"
    for words, size in (("", "-1"), (" bots/theirs", "5")):  # a folder that two agents name is no secret of either
        rival = f"stdio:{sys.executable} -cp none:bots/theirs"
        found = seen(spec + words, tmp_path / f"log{size}", sandbox, [rival])
        assert found == {str(inside): "5", str(theirs): size, str(beside): "-1", "in": str(tmp_path)}


def test_a_program_that_misses_its_files_is_told_what_it_sees(tmp_path, sandbox, monkeypatch):
    place(tmp_path / "bots")
    monkeypatch.chdir(tmp_path)
    for command, words in (("sh -c 'exec bots/bot'", "not found; in the sandbox"), ("false", "?cwd=FOLDER")):
        with contextlib.closing(LineBot(f"stdio:{command}", LIMITS, None, sandbox)) as agent:
            with pytest.raises(AgentFault) as caught:
                agent.load()
        assert words in caught.value.message


def test_a_folder_that_the_sandbox_does_not_show_is_no_obstacle(tmp_path, sandbox, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "private").write_text("x")
    place(tmp_path / "bots", tmp_path / "private")
    monkeypatch.chdir(tmp_path)  # the home folder, which is never shown as a whole
    found = seen("stdio:bots/bot?cwd=.", tmp_path / "log", sandbox)
    assert found == {str(tmp_path / "private"): "-1", "in": str(tmp_path)}
    monkeypatch.chdir("/")
    assert seen(f"stdio:{tmp_path}/bots/bot?cwd=.", tmp_path / "log2", sandbox)["in"] in ("/", str(PRIVATE))


SPY = """
import os, sys
for path in {secrets!r}:
    try:
        print("got", path, open(path).read(), file=sys.stderr)
    except OSError:
        pass
for folder, _, names in os.walk({top!r}):
    print(*("saw " + os.path.join(folder, name) for name in names), sep="\\n", file=sys.stderr)
print("in", os.getcwd(), open(sys.argv[1]).read(), file=sys.stderr)
"""


@pytest.mark.parametrize("kind", ["stdio", "acpc"])
@pytest.mark.parametrize("where", ["bots", "."])
def test_a_spy_sees_neither_the_start_folder_nor_the_keys_of_other_runs(tmp_path, sandbox, monkeypatch, kind, where):
    start = tmp_path / "start"
    secrets = [
        start / name for name in ("secret.toml", ".git/config", "runs/other/run.key", "bots/old/deep/run.sqlite")
    ]
    for path in (*secrets, start / "books" / "book", start / where / "neighbour"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("12345")
    program = start / where / "spy"
    program.write_text(f"#!{sys.executable}\n" + SPY.format(secrets=[*map(str, secrets)], top=str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.chdir(start)
    with contextlib.closing(isolate(f"{kind}:{program} books/book", LIMITS, tmp_path / "log", sandbox)) as agent:
        with pytest.raises(AgentFault):
            agent.load()
    lines = set((tmp_path / "log").read_text().splitlines()) - {""}
    own = os.path.normpath(start / where)
    shown = {f"saw {start}/books/book", f"saw {own}/spy", f"saw {own}/neighbour"}
    if where == ".":  # the own folder of the program is shown, without the runs in it
        shown |= {line for path in secrets[:2] for line in (f"saw {path}", f"got {path} 12345")}
    assert lines == shown | {f"in {own} 12345"}


def test_a_program_from_the_path_starts_in_the_folder_of_its_script_or_the_private_one(tmp_path, sandbox, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "bot.sh").write_text("pwd >&2; ls >&2; exit 255\n")
    (tmp_path / "secret").write_text("x")
    monkeypatch.chdir(tmp_path)
    for number, (spec, words) in enumerate(
        [
            ("stdio:sh own/bot.sh", [f"{tmp_path}/own", "bot.sh"]),
            ("stdio:sh -c 'pwd >&2; ls >&2; exit 255'", [str(PRIVATE)]),
        ]
    ):
        log = tmp_path / f"log{number}"
        with contextlib.closing(LineBot(spec, LIMITS, log, sandbox)) as agent:
            with pytest.raises(AgentFault, match="exit code 255"):
                agent.load()
        assert log.read_text().splitlines() == words * 2  # a process that ends is started twice


def test_an_interpreter_that_a_rival_names_by_its_path_stays(tmp_path, sandbox):
    python, script = os.path.realpath(sys.executable), place(tmp_path / "b")
    bot = place(tmp_path / "a", python, "/bin/sh", script)
    found = seen(f"stdio:{bot}", tmp_path / "log", sandbox, [f"stdio:{sys.executable} {script}", "stdio:/bin/sh x"])
    assert int(found[python]) > 0 and int(found["/bin/sh"]) > 0 and found[str(script)] == "-1"


def test_without_a_sandbox_a_program_runs_in_its_folder(tmp_path):
    bot = place(tmp_path / "bots")
    assert seen(f"stdio:{bot} x?cwd={tmp_path}", tmp_path / "log")["in"] == str(tmp_path)
    assert seen(f"stdio:{bot} x", tmp_path / "log2")["in"] == str(tmp_path / "bots")


def test_a_program_that_has_vanished_is_refused(tmp_path):
    agent = LineBot(f"stdio:{place(tmp_path)}", LIMITS)
    (tmp_path / "bot").unlink()
    with pytest.raises(ValueError, match="no program '.*bot'"):
        agent.load()
    assert agent.pid is None


def test_a_file_that_the_system_cannot_run_costs_hands(tmp_path):
    (tmp_path / "bot").write_text("neither a script nor a program")
    (tmp_path / "bot").chmod(0o755)
    with contextlib.closing(LineBot(f"stdio:{tmp_path}/bot", LIMITS)) as agent:
        with pytest.raises(AgentFault, match="exit code 127.: cannot start .*/bot: Exec format error") as caught:
            agent.load()
    assert caught.value.kind == "load"
