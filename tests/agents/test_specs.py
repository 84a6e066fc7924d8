"""Agent specs: their grammar, what they build, and what is said when they cannot."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from plurispiel.abstraction.holdem.rules import HUNL
from plurispiel.agents.agent_files import agent_digest, agent_file
from plurispiel.agents.base import Agent
from plurispiel.agents.factory import make_agent
from plurispiel.agents.specs import BUILT_IN, built_in_class, parse_spec, relocate_spec, split_specs, unique_names
from plurispiel.evaluation.hand import play_hand

BOT = """
from plurispiel.agents.base import Agent

class MyBot(Agent):
    def __init__(self, size: int = 3, mood="calm"):
        self.size, self.mood = size, mood

    def act(self, view):
        return 1

class Angry(Agent):
    def __init__(self):
        raise RuntimeError("no\\nmood")

class Quits(Agent):
    def __init__(self):
        raise SystemExit(0)

class NoAgent:
    pass

number = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "my_bot.py").write_text(BOT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "name", "argument", "options"),
    [
        ("tag", "tag", "", ()),
        (" call ", "call", "", ()),
        ("openspiel:cfr?iterations=500", "openspiel", "cfr", (("iterations", "500"),)),
        ("my_bot.py:MyBot", "my_bot.py", "MyBot", ()),
        ("a/b.py:C?x=1&y=a=b", "a/b.py", "C", (("x", "1"), ("y", "a=b"))),
        (r"C:\bots\my.py:Bot", r"C:\bots\my.py", "Bot", ()),
        ("package.module:Bot", "package.module", "Bot", ()),
        ("search:some/path?time=1.0&threads=2", "search", "some/path", (("time", "1.0"), ("threads", "2"))),
        ("call?x=", "call", "", (("x", ""),)),
        ("blueprint", "blueprint", "", ()),
        ("tabular:runs/leduc", "tabular", "runs/leduc", ()),
    ],
)
def test_specs_are_taken_apart(text, name, argument, options):
    spec = parse_spec(text)
    assert (spec.name, spec.argument, spec.options) == (name, argument, options)
    assert spec.text == text.strip()
    assert spec.file == (name if name.endswith(".py") else "")
    assert spec.is_foreign == (name not in (*BUILT_IN, "tabular", "blueprint", "search", "continual"))


@pytest.mark.parametrize(
    "text", ["", "  ", ":", ":Bot", "call:", "my_bot.py:", "?x=1", "call?x", "call?=1", "call?a b=1", "call?1x=2"]
)
def test_malformed_specs_are_refused(text):
    with pytest.raises(ValueError, match="written"):
        parse_spec(text)


def test_an_option_given_twice_is_refused():
    with pytest.raises(ValueError, match="'x' appears twice in 'call[?]x=1&x=2'"):
        parse_spec("call?x=1&x=2")


def test_lists_are_split_at_commas():
    assert split_specs("call, tag,a.py:B?x=1") == ["call", "tag", "a.py:B?x=1"]
    for text in ("", "call,", ",call", "call,,tag"):
        with pytest.raises(ValueError, match="single commas"):
            split_specs(text)


def test_names_are_unique():
    specs = ["call", "tag", "call", "call", "tag?x=1"]
    assert unique_names(specs) == ["call", "tag", "call#2", "call#3", "tag?x=1"]


@pytest.mark.parametrize(
    ("options", "moved", "title"),
    [
        ("values=net:v/M&iterations=2", "values=net:/s/v/M&iterations=2", "values=net:M&iterations=2"),
        ("preflop=nets&nets=my nets/", "preflop=nets&nets=/s/my nets", "preflop=nets&nets=my nets"),
        ("nets=../a/b", "nets=/a/b", "nets=b"),
        ("nets=/a/b", "nets=/a/b", "nets=b"),
        ("nets=./bundled", "nets=/s/bundled", "nets=bundled"),
        ("nets=bundled", "nets=bundled", "nets=bundled"),
        ("values=exact", "values=exact", "values=exact"),
        ("nets=", "nets=", "nets="),
    ],
)
def test_folders_of_networks_move_and_are_no_part_of_names(options, moved, title):
    assert relocate_spec(f"continual?{options}", Path("/s")) == f"continual?{moved}"
    assert relocate_spec(f"continual?{options}", Path()) == f"continual?{options}"
    assert unique_names([f"continual?{options}"]) == unique_names([f"continual?{moved}"]) == [f"continual?{title}"]


def test_a_moved_path_needs_no_other_folder(tmp_path):
    """Not the folder that it is relative to, and not those before "..": a sandbox lacks them."""
    (tmp_path / "real" / "here").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "here")
    (tmp_path / "bot.py").symlink_to(tmp_path / "real" / "here" / "other.py")
    here, real = tmp_path / "link", (tmp_path / "real").resolve()
    assert relocate_spec("../bot.py:B?x=../y", here) == f"{real}/bot.py:B?x=../y"
    assert relocate_spec("../../bot.py:B", here) == f"{real.parent}/bot.py:B"
    assert relocate_spec("tabular:..", here) == f"tabular:{real}"
    assert relocate_spec("../bot.py:B", Path("link")) == "link/../bot.py:B"
    assert relocate_spec("bot.py:B", here) == f"{here}/bot.py:B"


@pytest.mark.parametrize(
    ("spec", "folder"),
    [("bot.py:B", "a?"), ("bot.py:B", "a\udcff"), ("tabular:x", "a?b=c"), ("continual?values=net:x", "R&D")],
)
def test_a_folder_that_no_spec_can_name_is_refused(spec, folder):
    with pytest.raises(
        ValueError, match="an agent's path is UTF-8 text without '.', which separates .* got .*: rename"
    ):
        relocate_spec(spec, Path(folder))
    assert len(parse_spec(relocate_spec(spec, Path("/a, b"))).options) == len(parse_spec(spec).options)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_agents(name):
    agent = make_agent(name)
    assert type(agent) is built_in_class(name)
    assert agent.name == name
    assert make_agent(name) is not agent


def test_a_class_in_a_file_gets_its_options_as_numbers_and_texts(folder):
    agent = make_agent("my_bot.py:MyBot?size=5&mood=a=b")
    assert isinstance(agent, Agent)
    assert (agent.name, agent.size, agent.mood) == ("MyBot", 5, "a=b")
    assert make_agent("my_bot.py:MyBot?size=-2.5").size == -2.5
    assert make_agent(f"{folder}/my_bot.py:MyBot").size == 3


def test_copies_from_a_file_share_no_globals(folder):
    (folder / "counting.py").write_text(BOT + "\nseen = []\nMyBot.seen = seen\n")
    first, second = make_agent("counting.py:MyBot"), make_agent("counting.py:MyBot")
    first.seen.append(1)
    assert second.seen == []


def test_a_file_may_use_dataclasses_with_postponed_annotations(folder):
    text = "from __future__ import annotations\nfrom dataclasses import dataclass\n" + BOT
    (folder / "modern.py").write_text(
        text + "\n@dataclass\nclass Data(MyBot):\n    size: int = 4\n    mood: str = 'x'\n"
    )
    assert make_agent("modern.py:Data").size == 4


def test_a_class_in_a_module(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    try:
        assert make_agent("my_bot:MyBot").size == 3
    finally:
        sys.modules.pop("my_bot", None)


METHODS = """\
import json
from plurispiel.agents import Agent, RangeAgent

class NoAct(Agent):
    def decide(self, view): return 1

class Act(Agent):
    def Act(self, view): return 1

class NoStrategy(RangeAgent): pass

class NoBase:
    def act(self, view): return 1

class Deep(Agent):
    def __init__(self): json.loads("{")
    def act(self, view): return 1
"""


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tagg", r"unknown agent 'tagg', did you mean 'tag'\? \(built in are blueprint, call, continual, equity,"),
        ("zzzzzz", r"unknown agent 'zzzzzz' \(built in are"),
        ("call:x", "'call' takes no argument"),
        ("call?x=1", "takes no options, got x"),
        ("tagg:Bot", r"no agent or module 'tagg'.*did you mean 'tag'\?"),
        ("my_bot.py", r"my_bot\.py:CLASS"),
        ("nowhere.py:Bot", r"no file 'nowhere.py' \(agent"),
        ("my_bt.py:MyBot", r"no file 'my_bt.py', did you mean 'my_bot.py'\? \(agent"),
        ("my_bot.py:Mybot", r"has no class 'Mybot', did you mean 'MyBot'\? \(agent"),
        ("my_bot.MyBot", "unknown agent 'my_bot.MyBot', did you mean 'my_bot.py:MyBot'"),
        ("./my_bot:MyBot", "did you mean './my_bot.py:MyBot'"),
        ("my_bot.py:Nobody", "my_bot.py has no class 'Nobody'; it has .*MyBot"),
        ("my_bot.py:number", "'number' in my_bot.py is not a class"),
        ("my_bot.py:NoAgent", "lacks restart and act; derive its class from plurispiel.agents.Agent, and define act"),
        ("methods.py:NoAct", r"lacks act; its class has to define act\(self, view\)$"),
        ("methods.py:Act", r"define act\(self, view\), did you mean 'Act'\?"),
        ("methods.py:NoStrategy", r"lacks strategy; its class has to define strategy\(self, public, combo_ids\)"),
        ("methods.py:NoBase", "lacks restart; derive its class from plurispiel.agents.Agent$"),
        ("methods.py:Deep", r"cannot be built: JSONDecodeError: .* \(methods.py, line 16\)"),
        ("my_bot.py:MyBot?color=1", "takes the options size, mood, got color"),
        ("my_bot.py:Angry", "cannot be built: RuntimeError"),
        ("my_bot.py:Quits", "cannot be built: SystemExit"),
        ("builtins:int", "whose arguments Python cannot tell"),
        ("syntax.py:Bot", r"syntax.py cannot be loaded: SyntaxError: .* \(syntax.py, line 2\)"),
        ("raises.py:Bot", r"raises.py cannot be loaded: ZeroDivisionError: .* \(raises.py, line 1\)"),
        ("quits.py:Bot", "quits.py cannot be loaded: SystemExit"),
        ("imports.py:Bot", r"ModuleNotFoundError: No module named 'numpyy' \(imports.py, line 3\)"),
        (
            "imports:Bot",
            r"imports cannot be imported: ModuleNotFoundError: No module named 'numpyy' \(imports.py, line 3\)",
        ),
        ("openspiel:nobody", "nobody"),
        ("openspiel", "OpenSpiel"),
    ],
)
def test_what_cannot_be_built_is_named(folder, spec, message):
    (folder / "syntax.py").write_text("\ndef (:\n")
    (folder / "imports.py").write_text("import os\n\nimport numpyy\n")
    (folder / "methods.py").write_text(METHODS)
    (folder / "raises.py").write_text("1 / 0\n")
    (folder / "quits.py").write_text("raise SystemExit(1)\n")
    with pytest.raises(ValueError, match=message):
        make_agent(spec)


def test_the_digest_of_a_file_follows_its_text(folder):
    first = agent_digest("my_bot.py:MyBot")
    assert first == agent_digest("my_bot.py:MyBot?size=1") != ""
    (folder / "my_bot.py").write_text(BOT + "\n")
    assert agent_digest("my_bot.py:MyBot") != first
    assert agent_digest("call") == ""
    with pytest.raises(ValueError, match="cannot read the agent's file 'gone.py'"):
        agent_digest("gone.py:Bot")


def test_a_file_changed_within_a_second_is_loaded_anew(folder, monkeypatch):
    """Though bytecode may be written: that of another text of the same size and second would be taken for its own."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number in (7, 8):
        (folder / "my_bot.py").write_text(BOT.replace("size: int = 3", f"size: int = {number}"))
        os.utime("my_bot.py", (1e9, 1e9))
        assert make_agent("my_bot.py:MyBot").size == number


def test_looking_for_the_file_of_a_module_leaves_pythons_path_alone(folder, monkeypatch):
    """Else whatever lies beside it is imported in place of a package that is not installed, by us and our workers."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if Path(entry or ".").resolve() != folder.resolve()])
    before = list(sys.path)
    assert agent_digest("my_bot:MyBot") == agent_digest("my_bot.py:MyBot") != ""
    assert sys.path == before


def test_a_module_with_the_name_of_another_kind_of_agent_is_not_its_file(folder):
    for name in ("search", "openspiel", "lone_bot"):
        (folder / f"{name}.py").write_text("")
    assert agent_file("search:sixmax") is None and agent_file("openspiel:cfr") is None
    assert agent_file("lone_bot:Bot") == folder / "lone_bot.py"


def test_agents_of_this_package_say_whether_they_are_deterministic(folder):
    assert all(make_agent(name).is_deterministic for name in BUILT_IN)
    assert not Agent.is_deterministic and not make_agent("my_bot.py:MyBot").is_deterministic


def test_an_agent_that_only_tells_its_strategy_plays_by_it(tmp_path):
    (tmp_path / "bot.py").write_text(
        "import numpy as np\nfrom plurispiel.agents import Agent, Strategy\n\n\nclass Told(Agent):\n"
        "    def range_strategy(self, public):\n"
        "        rows = np.zeros((public.rules.num_combos, 2))\n"
        "        rows[::2, 0] = rows[1::2, 1] = 1.0\n"
        "        return Strategy(np.array([0, 1]), rows)\n"
    )
    agent = make_agent(f"{tmp_path / 'bot.py'}:Told")
    deck = np.arange(9, dtype=np.uint8)
    hand = play_hand(HUNL, [make_agent("raise"), agent], deck, np.random.default_rng(0).spawn(2))
    own = HUNL.combo_id(deck[2:4].tolist())
    assert not hand.faults and hand.actions[0].action == own % 2
