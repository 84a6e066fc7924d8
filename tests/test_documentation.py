"""What is shown is run: examples in docstrings, blocks of the documents, their commands, options and links."""

import doctest
import importlib
import re
import shlex
import tomllib

import pytest
from markdown_blocks import LANGUAGES, ROOT, anchors, blocks, documents, is_output, prose

from plurispiel.tournaments.cli import main, make_parser

PACKAGES = ("abstraction", "agents", "evaluation", "tournaments")
DOCUMENTS = documents()
BLOCKS = {document: blocks(document) for document in DOCUMENTS}
PROMPTS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): len(re.findall(r"^\s*>>> (?!.*\+SKIP)", text, re.MULTILINE))
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in (text := path.read_text(encoding="utf-8"))
}
"""Number of examples by module, by the text of its file: what the doctests have to find again."""

LINKS = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def commands_of(parser, words=()):
    """All commands of the program with their parsers; `bench` and `ls` once for each thing they can do."""
    if parser.commands():
        before = [action.metavar for action in parser.arguments() if not action.option_strings and action.metavar]
        return {
            key: p
            for name, each in parser.commands().items()
            for key, p in commands_of(each, (*words, *before, *name.split())).items()
        }
    named = [action.choices for action in parser.arguments() if action.choices and not action.option_strings]
    return {(*words, *more): parser for more in ([(name,) for name in named[0]] if named else [()])}


def options_of(parser):
    """The options of a command, as typed."""
    return {option for action in parser.arguments() for option in action.option_strings}


COMMANDS = commands_of(make_parser())


class Reader:
    """Somebody who tries a document from its top to its end, in one folder and one session of Python."""

    def __init__(self, folder):
        self.folder = folder
        self._names = {"__name__": "__main__"}
        self._tried = set()

    def try_up_to(self, block, capsys, *, in_full):
        """Run a block, and before it what stands above it, as far as that was not run yet."""
        for earlier in BLOCKS[block.document]:
            if earlier.line == block.line:
                break
            if earlier.line not in self._tried and "slow" not in earlier.marks:
                self.try_block(earlier, capsys, in_full=False)
        self.try_block(block, capsys, in_full=in_full)

    def try_block(self, block, capsys, *, in_full):
        self._tried.add(block.line)
        if "file" in block.marks:
            (self.folder / block.marks["file"]).write_text(block.text, encoding="utf-8")
        if not block.is_executed:
            return
        capsys.readouterr()
        printed = ""
        if block.language == "python":
            exec(compile(block.text, block.name, "exec"), self._names)
            printed = capsys.readouterr().out
        shortened = block.shorter and not in_full
        for command in block.shorter if shortened else block.commands if block.language == "sh" else []:
            code = main(shlex.split(command, comments=True)[1:])
            out, err = capsys.readouterr()
            assert code == 0, f"{command}\n{err}"
            printed += out
        if block.output is not None and not shortened:
            assert is_output(block.output, printed), printed


@pytest.fixture(scope="session")
def readers(tmp_path_factory):
    return {document: Reader(tmp_path_factory.mktemp("reader")) for document in DOCUMENTS}


def executed_blocks():
    """Each executed block as a test, by the process that tests the whole document; shortened ones also in full."""
    for block in (block for document in DOCUMENTS for block in BLOCKS[document] if block.is_executed):
        group = pytest.mark.xdist_group(str(block.document))
        slow = [pytest.mark.slow] if "slow" in block.marks else []
        yield pytest.param(block, not block.shorter, id=block.name, marks=[group, *slow])
        if block.shorter and block.output is not None:
            yield pytest.param(block, True, id=f"{block.name}-in-full", marks=[group, pytest.mark.slow])


@pytest.mark.parametrize("module", PROMPTS)
def test_examples_in_docstrings(module, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURISPIEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(importlib.import_module(f"plurispiel.{module}")):
        runner.run(test)
    assert runner.failures == 0 and runner.tries == PROMPTS[module]


@pytest.mark.parametrize("block, in_full", list(executed_blocks()))
def test_blocks_run(block, in_full, readers, capsys, monkeypatch):
    reader = readers[block.document]
    monkeypatch.setenv("PLURISPIEL_HOME", str(reader.folder / "home"))
    monkeypatch.chdir(reader.folder)
    reader.try_up_to(block, capsys, in_full=in_full)


def test_nothing_is_missed():
    """Each block is of a kind that is known here, and there are as many as there should be."""
    found = [block for document in DOCUMENTS for block in BLOCKS[document]]
    assert len(found) >= 55
    for block in found:
        assert block.language in LANGUAGES, block.name
        assert block.language != "sh" or "not run" in block.marks or block.commands, block.name
        assert block.marks.get("not run") != "", block.name
        if block.language == "toml":
            tomllib.loads(block.text)
    assert sum(PROMPTS.values()) >= 90


def options_named():
    """The command lines of all documents, and the options in their text, with where they stand."""
    for document in DOCUMENTS:
        for block in BLOCKS[document]:
            for command in [*block.commands, *block.shorter] if block.language == "sh" else []:
                yield block.name, shlex.split(command, comments=True)
        for code in re.findall(r"`([^`\n]+)`", prose(document)):
            if code.startswith(("-", "plurispiel ")):
                yield document.relative_to(ROOT).as_posix(), code.split()


def test_options_exist():
    everywhere = set().union(*map(options_of, COMMANDS.values())) | {"--help", "--version"}
    found = 0
    for where, words in options_named():
        named = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
        parsers = [parser for key, parser in COMMANDS.items() if tuple(words[1 : 1 + len(key)]) == key]
        if words[0] == "plurispiel" and not parsers:  # `plurispiel bench` alone, or one that does not exist
            parsers = [parser for key, parser in COMMANDS.items() if words[1:2] == [key[0]]]
            assert parsers or len(words) == 1 or words[1].startswith("-"), f"{where}: {' '.join(words)}"
        known = set().union(*map(options_of, parsers)) or everywhere
        assert named <= known, f"{where}: {' '.join(words)}"
        found += len(named)
    assert found >= 50


def test_every_command_has_a_place():
    text = " ".join(" ".join(document.read_text(encoding="utf-8").split()) for document in DOCUMENTS)
    missing = [" ".join(key) for key in COMMANDS if not re.search(rf"plurispiel {' '.join(key)}\b(?!-)", text)]
    assert len(COMMANDS) >= 25 and not missing


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_resolve(document):
    for link in LINKS.findall(prose(document)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_are_short(document):
    text = document.read_text(encoding="utf-8")
    if document == ROOT / "README.md":
        assert len(text.splitlines()) <= 150 and len(text.encode()) <= 8 * 1024
    lines = re.sub(r"^<!--.*?-->\n", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    is_data = document.parent.name in ("bench", "values", "abstraction")  # tables of measurements, and the glossary
    assert sum(not (is_data and line.startswith("|")) for line in lines) <= 190
    assert not [line for line in lines if len(line) > 120 and (document.parent == ROOT or not line.startswith("|"))]


def test_readers_notice(tmp_path, capsys, monkeypatch):
    """What would be wrong in a document fails: an exception, an exit code, an output."""
    document = tmp_path / "README.md"
    document.write_text(
        "```python\nx = 1\n```\n\n```text\n2\n```\n\n```python\nx.none\n```\n\n"
        "<!-- run: plurispiel solve none -->\n```sh\nplurispiel solve leduc\n```\n"
    )
    monkeypatch.chdir(tmp_path)
    reader, errors = Reader(tmp_path), (AssertionError, AttributeError, AssertionError)
    for block, error in zip(blocks(document), errors, strict=True):
        with pytest.raises(error):
            reader.try_block(block._replace(document=ROOT / "README.md"), capsys, in_full=False)
