"""Specs of programs: how their commands are read, found, moved, titled and hashed."""

import math
import sys
from pathlib import Path

import pytest

from plurispiel.agents import programs
from plurispiel.agents.agent_files import agent_digest, agent_file, agent_files, program_of
from plurispiel.agents.factory import make_agent
from plurispiel.agents.programs import find_program
from plurispiel.agents.specs import parse_spec, relocate_spec, split_specs


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a program and a script."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot").write_text("#!/bin/sh\n")
    (tmp_path / "bot").chmod(0o755)
    (tmp_path / "bot.py").write_text("print()\n")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "argument", "options"),
    [
        ("stdio:./bot", "./bot", ()),
        ("stdio:./bot --depth 3?seconds=2&cwd=.", "./bot --depth 3", (("seconds", "2"), ("cwd", "."))),
        ("acpc:./startme.sh x.py:y", "./startme.sh x.py:y", ()),
        ("stdio:./bot 'what?'", "./bot 'what?'", ()),
        ("stdio:./bot 'a?b=c'?seconds=1", "./bot 'a?b=c'", (("seconds", "1"),)),
        ("stdio:./bot 'a?b=c'", "./bot 'a?b=c'", ()),
    ],
)
def test_commands_are_taken_apart(text, argument, options):
    spec = parse_spec(text)
    assert (spec.name, spec.argument, spec.options) == (text.partition(":")[0], argument, options)
    assert spec.is_program and spec.is_foreign and not spec.file and not spec.is_stored


def test_titles_have_neither_the_folder_nor_cwd():
    assert parse_spec("stdio:/a/b/bot --x 'y z'?cwd=/a&seconds=2").title == "stdio:bot --x 'y z'?seconds=2"
    assert parse_spec("stdio:python3 bot.py").title == "stdio:python3 bot.py"


@pytest.mark.parametrize("text", ["stdio:./bot 'x", "stdio:''", "stdio:", "stdio: "])
def test_malformed_commands_are_refused(text):
    with pytest.raises(ValueError, match="cannot be split|is written"):
        parse_spec(text)


def test_a_program_is_found(folder):
    found = program_of("stdio:./bot -x bot.py no.file?seconds=2.5&cwd=sub")
    assert (found.file, found.arguments, found.folder) == (folder / "bot", ("-x", "bot.py", "no.file"), folder / "sub")
    assert (found.seconds, found.is_installed, found.files) == (2.5, False, [folder / "bot"])
    found = find_program("sh bot.py", {})
    assert found.is_installed and found.seconds == math.inf and found.files == [folder / "bot.py"]
    assert found.start == folder and found.command == [str(found.file), str(folder / "bot.py")]
    assert (
        find_program("sh -c true", {}).start is None and find_program("./bot", {"cwd": "sub"}).start == folder / "sub"
    )
    assert agent_files("stdio:sh bot.py") == [folder / "bot.py"] and agent_file("stdio:sh bot.py") is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("stdio:./bat", "no program './bat'"),
        ("stdio:bot", "no program 'bot' on the PATH; a file in the current folder is written ./bot"),
        ("stdio:no-such-program", "no program 'no-such-program' on the PATH [(]agent"),
        ("stdio:./bot.py", "the program './bot.py' is not executable; chmod [+]x ./bot.py changes that"),
        ("stdio:./bot?cwd=none", "no folder '.*none' to start './bot' in"),
        ("stdio:./bot?seconds=soon", "seconds must be a number above 0, got 'soon'"),
        ("stdio:./bot?seconds=0", "seconds must be a number above 0, got '0'"),
        ("stdio:./bot?env=1", "a program takes the options seconds, cwd, got env"),
    ],
)
def test_a_program_that_cannot_be_started_is_refused(folder, spec, message):
    with pytest.raises(ValueError, match=message):
        program_of(spec)
    with pytest.raises(ValueError, match=message):
        agent_digest(spec)


def test_moved_specs_name_the_same_program(folder, monkeypatch):
    for spec in ("stdio:./bot a 'b c'?seconds=2", "stdio:sh bot.py", "stdio:./bot?cwd=sub", "stdio:sub/../bot"):
        here = program_of(spec)
        moved, digest = relocate_spec(spec, folder), agent_digest(spec)
        monkeypatch.chdir("/")
        there = program_of(moved)
        assert there.file.resolve() == here.file.resolve()
        assert (there.command[1:], there.folder, there.start) == (here.command[1:], here.folder, here.start)
        assert agent_digest(moved) == digest
        assert parse_spec(moved).title == parse_spec(spec).title
        assert relocate_spec(moved, Path("/elsewhere")) == moved
        monkeypatch.chdir(folder)


def test_folders_with_odd_names_survive(tmp_path, monkeypatch):
    odd = tmp_path / "a&b=c?d%26 e"
    odd.mkdir()
    (odd / "bot").write_text("#!/bin/sh\n")
    (odd / "bot").chmod(0o755)
    moved = program_of(relocate_spec("stdio:./bot?seconds=1", odd))
    assert (moved.file, moved.folder, moved.seconds) == (odd / "bot", odd, 1.0)


def test_the_digest_covers_the_program_its_files_and_its_arguments(folder):
    digests = [agent_digest("stdio:sh bot.py"), agent_digest("stdio:sh bot.py x"), agent_digest("stdio:./bot")]
    (folder / "bot.py").write_text("print(1)\n")
    (folder / "bot").write_text("#!/bin/sh\n\n")
    digests += [agent_digest("stdio:sh bot.py"), agent_digest("stdio:sh bot.py x"), agent_digest("stdio:./bot")]
    assert len(set(digests)) == 6
    assert agent_digest("stdio:sh bot.py?seconds=3") == agent_digest("stdio:sh bot.py")


def test_a_command_may_name_folders(folder):
    classes, library = folder / "bin" / "bot", folder / "lib" / "net.jar"
    for path in (classes / "Main.class", library):
        path.parent.mkdir(parents=True)
        path.write_text("1")
    found = find_program("sh -cp bin Main", {})
    assert (found.folders, found.files, found.start) == ([folder / "bin"], [], folder)
    assert found.command[1:] == ["-cp", "bin", "Main"]
    found = find_program("sh -cp bin:lib/net.jar:none Main", {})
    assert (found.folders, found.files, found.start) == ([folder / "bin"], [library], library.parent)
    assert found.command[1:] == ["-cp", f"{folder}/bin:{library}:none", "Main"]
    for words in ("sh .", "sh ..", "sh /", f"sh {folder}", "sh ''"):  # nobody means all that is there
        found = find_program(words, {})
        assert (found.folders, found.start, found.command[1:]) == ([], None, [words[3:].strip("'")])
    assert find_program("sh bin", {"cwd": "sub"}).folders == []
    assert find_program("sh ../bin", {"cwd": "sub"}).command[1:] == ["../bin"]


def test_the_digest_covers_folders(folder, monkeypatch):
    (folder / "sub" / "deep").mkdir()
    digests = [agent_digest("stdio:sh sub")]
    for name, text in (("a", "1"), ("b", "1"), ("b", "2"), ("deep/a", "")):
        (folder / "sub" / name).write_text(text)
        digests.append(agent_digest("stdio:sh sub"))
    assert len(set(digests)) == 5 and agent_digest("stdio:sh sub") == digests[-1]
    assert agent_digest(relocate_spec("stdio:sh sub", folder)) == digests[-1]
    (folder / "sub" / "else").mkdir()
    (folder / "sub" / "deep" / "a").rename(folder / "sub" / "else" / "a")
    assert agent_digest("stdio:sh sub") not in digests
    monkeypatch.setattr(programs, "_MAX_HASHED", 0)  # names and sizes still count
    short = agent_digest("stdio:sh sub")
    (folder / "sub" / "a").write_text("2")
    assert agent_digest("stdio:sh sub") == short
    (folder / "sub" / "a").write_text("22")
    assert agent_digest("stdio:sh sub") != short


@pytest.mark.parametrize("file", ["run.key", "run.sqlite"])
def test_run_folders_are_nobodys(folder, file):
    """A run may be kept in an agent's folder, or in one that has the name of an argument, and still be continued."""
    spec = "stdio:sh sub match"
    command, digest = program_of(spec).command, agent_digest(spec)
    for run in (folder / "match", folder / "sub" / "match"):
        run.mkdir()
        (run / file).write_text("")
    assert (program_of(spec).command, agent_digest(spec)) == (command, digest)
    assert program_of(spec).folders == [folder / "sub"]


@pytest.mark.parametrize("text", ["stdio:./bot a,b", "tag,stdio:./bot 'a,b'", "stdio:./bot 'x?',tag"])
def test_a_comma_or_a_question_mark_wants_a_settings_file(text):
    with pytest.raises(ValueError, match="is no agent; a command with a comma or a question mark belongs in a"):
        split_specs(text)


def test_programs_in_lists():
    assert split_specs("stdio:./bot --x 1?seconds=2,tag, my.py:Bot") == [
        "stdio:./bot --x 1?seconds=2",
        "tag",
        "my.py:Bot",
    ]


def test_a_program_is_no_object_in_this_process():
    with pytest.raises(ValueError, match="is a program: programs play in tournaments and in commands such as"):
        make_agent(f"stdio:{sys.executable}")
    with pytest.raises(ValueError, match="is written stdio:PROGRAM"):
        make_agent("stdio")
