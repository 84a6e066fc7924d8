"""Command lines that nobody means: each ends within seconds, without a traceback, with a documented exit code."""

import contextlib
import importlib
import itertools
import os
import random
import signal
import threading
import time

import pytest

from plurispiel.abstraction.machine.interrupts import SIGNALS
from plurispiel.tournaments import cli
from plurispiel.tournaments.run import kernels

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="no alarm on this system"),
    # an interrupt may come in a callback of weakref, where Python prints it and goes on until the next one
    pytest.mark.filterwarnings("ignore:(?s).*KeyboardInterrupt:pytest.PytestUnraisableExceptionWarning"),
    # `subprocess.run` kills its program at an interrupt and does not wait for it
    pytest.mark.filterwarnings("ignore:(?s).*subprocess .* is still running:pytest.PytestUnraisableExceptionWarning"),
]

SEED = 21
SHARE, ALL = 20, 500
ALARM_S = 1.0
"""After which a command is interrupted, as many of these would play or train for ever."""
MOST_S = 20.0

NUMBERS = [
    "0", "1", "2", "3", "-0", "-1", "+2", "007", "1_0", "0x10", "1e3", "0.5", "nan", "inf", "-inf", "1e400",
    "5e-324", "٣", "½", str(2**31), str(2**32), str(2**63), str(2**64), str(-(2**63) - 1), "9" * 300, "9" * 5000,
]  # fmt: skip
TEXTS = [
    "", " ", "-", "--", "=", ",", ":", "?", "*", "~", "%s", "{}", "a" * 3_000, "é", "💥", "\x1b[31m", "a\nb", "\t",
    "a\x00b", "\udc80", "..", ".", "none/where", "file.txt", "folder", "folder.toml", "empty.toml", "odd.toml",
    "bot.py", "bot.py:Bot", "bot.py:None", "run", "/dev/null", "call", "call,fold", "random,tag,call", "blueprint",
    "blueprint:none", "search?time=0.1", "search?tim=1", "openspiel:uniform_random", "tabular:folder", "KUHN",
    "LEDUC", "HUNL", "SIXMAX", "kuhn_poker", "leduc_poker(players=30)", "chess", "universal_poker(", "holdem-flop",
    "leduc-4", "cfr+", "dcfr(nan,0,inf)", "ci<=20", "ci<=0", "significant", "QsJh2h", "QsQsQs", "checkdown",
    "leduc", "flop-500", "pluribus", "river-spot", "0.0.0", "A.0.1.1", "c b52%", "f f f", "aivat", "raw",
    "gauntlet", "time=0.1",
]  # fmt: skip
WHOLE = [number for number in NUMBERS if number.lstrip("+-").isdigit()]
MEANT = {
    "tournament": ["--agents", "call,fold", "--decks", "2", "--workers", "1"],
    "play": ["--game", "KUHN", "--agents", "call", "--hands", "1"],
    "solve": ["kuhn_poker", "--iterations", "3"],
    "exploitability": ["kuhn_poker", "--agent", "call"],
    "spot": ["river-spot"],
    "spot sweep": ["none", "--out", "swept"],
    "replay": ["run/hands.phhs"],
    "export": ["run"],
    "report": ["run"],
    "lbr": ["--agent", "call", "--hands", "4", "--workers", "1"],
    "compliance": ["call", "--hands", "2", "--game", "KUHN"],
    "abstraction build": ["small"],
    "abstraction info": ["none"],
    "blueprint train": ["leduc", "--iterations", "10"],
    "blueprint resume": ["none"],
    "blueprint info": ["headsup-refined"],
    "blueprint match": ["headsup-refined", "headsup-refined", "--decks", "10"],
    "blueprint pack": ["headsup-refined", "--out", "a.blueprint"],
    "deal": ["--agents", "call,tag", "--hands", "2", "--game", "KUHN"],
    "join acpc": ["127.0.0.1:1", "--agent", "call", "--game", "KUHN"],  # where nobody listens
    "join slumbot": ["--agent", "call", "--hands", "1", "--contact", "me", "--base-url", "http://127.0.0.1:1"],
    "join gtowizard": ["--agent", "call", "--hands", "1", "--contact", "me", "--base-url", "http://127.0.0.1:1"],
    "league FOLDER create": [],
    "league FOLDER add": ["call", "fold"],
    "league FOLDER remove": ["call"],
    "league FOLDER list": [],
    "league FOLDER play": ["--hands", "8", "--workers", "1"],
    "league FOLDER standings": [],
    "values sample": ["leduc", "--situations", "2", "--unseen", "1", "--out", "data"],
    "values train": ["none", "--out", "net"],
    "values train-all": ["none", "--out", "nets"],
    "values distil": ["none", "--out", "net"],
    "values info": ["none"],
    "values compare": ["none", "none"],
    "values floor": ["none"],
    "cluster": ["c.json", "--patience", "1"],  # what there is would last until the alarm
    "worker": ["none.json", "--wait", "0"],
    "ls": ["presets"],
    "bench": ["engine", "--seconds", "0.01"],
    "warmup": [],
    "web": ["--folder", "none", "--no-open"],  # what there is would be served until the alarm
}


def commands(parser, name=""):
    """Yield the names of all commands with what they take."""
    before = [action.metavar for action in parser.arguments() if not action.option_strings and action.metavar]
    for word, below in parser.commands().items():
        yield from commands(below, " ".join(filter(None, (name, *before, word))))
    if not parser.commands():
        yield name, parser.arguments()


COMMANDS = dict(commands(cli.make_parser()))


def value_for(action, rng):
    """Return a value that argparse mostly takes, so that the command itself has to judge it."""
    if action.choices and rng.random() < 0.8:
        return rng.choice(list(action.choices))
    if action.type in (int, float) and rng.random() < 0.8:
        return rng.choice(WHOLE if action.type is int else NUMBERS)
    return rng.choice(NUMBERS if rng.random() < 0.2 else TEXTS)


ODD = ("--", "", "\x1b[31m", "-")


def command_lines():
    """Yield random command lines without end, the same ones every time."""
    rng = random.Random(SEED)
    while True:
        name = rng.choice(sorted(COMMANDS))
        words = list(MEANT[name]) if rng.random() < 0.9 else []
        for _ in range(rng.randint(0, 4)):
            action = rng.choice(COMMANDS[name])
            given = [] if action.nargs == 0 else [value_for(action, rng)]
            match rng.randrange(10):
                case 0:  # an option without its value, or with one that it does not take
                    words += action.option_strings[-1:] + ([] if given else [rng.choice(TEXTS)])
                case 1:
                    words.insert(rng.randint(0, len(words)), rng.choice(TEXTS))
                case 2 if words:
                    words[rng.randrange(len(words))] = rng.choice(TEXTS)
                case 3 if action.option_strings and given:
                    words.append(f"{action.option_strings[-1]}={given[0]}")
                case _ if action.option_strings:
                    words += [action.option_strings[-1], *given]
                case _ if words:
                    words[0] = given[0]
        yield [*name.split(), *words]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a run, an agent and odd files. Kernels are ready, and an import that an alarm would cut is done."""
    folder = tmp_path_factory.mktemp("lines") / "here"
    (folder / "folder.toml").mkdir(parents=True)
    (folder / "folder").mkdir()
    (folder / "file.txt").write_text("no\n")
    (folder / "empty.toml").write_text("")
    (folder / "odd.toml").write_text('agents = [["call"]]\nseats = "two"\nboard = 3\n[solve]\n')
    (folder / "bot.py").write_text(
        "from plurispiel.agents.base import Agent\nclass Bot(Agent):\n    def act(self, view):\n        return 1\n"
    )
    kernels.warmup()
    with contextlib.suppress(ImportError):
        importlib.import_module("plurispiel.tournaments.labour.cluster")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLURISPIEL_HOME", str(folder / "home"))
        assert cli.main("tournament --agents call,fold --decks 2 --workers 1 --out run --hands all".split()) == 0
    return folder


def trouble_with(arguments, capsys):
    """Return what is wrong with how a command line ends, if anything is."""
    begin = time.monotonic()
    signal.setitimer(signal.ITIMER_REAL, ALARM_S, ALARM_S)
    try:
        code = cli.main(arguments)
    except SystemExit as end:  # argparse's
        code = end.code
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    taken = time.monotonic() - begin
    captured = capsys.readouterr()
    shown = captured.out + captured.err
    if code not in (0, 1, 2, 3, 4, 130):
        return f"exit code {code}"
    if "Traceback" in shown or "Error:" in shown:
        return captured.err[-2_000:]
    if set("\x1b\x00\x07\u202e") & set(shown):
        return "a command to the terminal"
    if code == 2 and not captured.err.startswith(("plurispiel", "usage")) and "plurispiel" not in captured.err:
        return f"no word: {captured.err!r}"
    return f"{taken:.0f} s" if taken > MOST_S else None


def try_lines(folder, monkeypatch, capsys, lines):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PLURISPIEL_HOME", str(folder / "home"))
    monkeypatch.setenv("BROWSER", "true")  # the program that `plurispiel web` opens
    monkeypatch.setattr(cli, "leave", lambda code: code)
    handlers = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGALRM)}
    troubles, threads = [], threading.active_count()
    signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    try:
        for arguments in lines:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if trouble := trouble_with(arguments, capsys):
                troubles.append((arguments, trouble))
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert not troubles, "\n".join(f"{arguments!r:.300}\n  {trouble}" for arguments, trouble in troubles)
    assert threading.active_count() < threads + 30


def test_every_command_has_a_line_that_is_meant():
    assert set(COMMANDS) == set(MEANT)


def test_random_command_lines_end_as_documented(folder, monkeypatch, capsys):
    try_lines(folder, monkeypatch, capsys, itertools.islice(command_lines(), SHARE))


@pytest.mark.slow
def test_many_random_command_lines_end_as_documented(folder, monkeypatch, capsys):
    try_lines(folder, monkeypatch, capsys, itertools.islice(command_lines(), SHARE, ALL))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_odd_values_of_every_option_are_refused_or_taken(folder, monkeypatch, capsys, name):
    """What argparse itself once stumbled over, among others: ``--threads=--``. Every option gets that, and one more."""
    rest = itertools.cycle(ODD[1:])
    try_lines(folder, monkeypatch, capsys, odd_lines(name, lambda: (ODD[0], next(rest))))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_all_odd_values_of_every_option_are_refused_or_taken(folder, monkeypatch, capsys, name):
    try_lines(folder, monkeypatch, capsys, odd_lines(name, lambda: ODD))


def odd_lines(name, values):
    """Yield lines of a command that are meant, each with an odd value of an option more."""
    for action in COMMANDS[name]:
        if action.option_strings and action.dest != "out":
            for value in values():
                yield [*name.split(), *MEANT[name], f"{action.option_strings[-1]}={value}"]
