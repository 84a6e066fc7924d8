"""Code blocks of Markdown files, and the comments before them that say how they are tested.

Python blocks and the ``plurispiel`` lines of ``sh`` blocks are run in order; a ``text`` block directly after one
is its output. HTML comments on the lines before a block change that:

``<!-- run: plurispiel ... -->``   run these lines instead, which are shorter; the shown ones are run under ``slow``
``<!-- slow -->``                  run under ``slow`` only
``<!-- not run: REASON -->``       not run
``<!-- file: NAME -->``            write the block to this file; a Python block is then not executed
"""

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
LANGUAGES = {"python", "sh", "text", "toml", "json"}

_BLOCK = re.compile(
    r"(?P<comments>(?:^<!--(?:(?!-->).)*-->\n+)*)"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$"
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(r"<!-- *(run|slow|not run|file)(?:: *(.*?))? *-->", re.DOTALL)
_TIME = re.compile(r"(?<![\w.])\d[\d,.]*(?= ?(?:[num]?s|µs|[kM]?\w*/s|min|minutes?|hours?|seconds?)\b)")


class Block(NamedTuple):
    """A fenced block of a document, with the output that is shown under it."""

    document: Path
    line: int
    language: str
    text: str
    output: str | None
    marks: dict[str, str]

    @property
    def name(self) -> str:
        """Document, line and language: how a test of the block is called."""
        return f"{self.document.relative_to(ROOT).as_posix()}:{self.line}-{self.language}"

    @property
    def is_executed(self) -> bool:
        """Whether a reader types it."""
        return self.language in ("python", "sh") and not {"not run", "file"} & self.marks.keys()

    @property
    def commands(self) -> list[str]:
        """The block's own lines for this program."""
        return _commands(self.text)

    @property
    def shorter(self) -> list[str]:
        """The lines that are run in their place."""
        return _commands(textwrap.dedent(self.marks.get("run", "")))


def documents() -> list[Path]:
    """Return the top README, those of all folders with code, guides, the line protocol, and CONTRIBUTING."""
    folders = [path for name in ("abstraction", "agents", "evaluation", "tournaments") for path in (ROOT / name,)]
    names = ("README.md", "GUIDE.md", "PROTOCOL.md")
    found = [path for folder in folders for path in sorted(each for name in names for each in folder.rglob(name))]
    return [ROOT / "README.md", *found, *(ROOT / ".github").glob("CONTRIBUTING.md")]


def blocks(document: Path) -> list[Block]:
    """Return a document's blocks in order, without those that are the output of another."""
    text = document.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        marks = {name: value for name, value in _COMMENT.findall(match["comments"])}
        line = text.count("\n", 0, match.start("language")) + 1
        found.append(Block(document, line, match["language"], match["text"], match["output"], marks))
    fences = len(re.findall(r"^\s*```", text, re.MULTILINE))
    if fences != sum(2 + 2 * (block.output is not None) for block in found):
        raise ValueError(f"{document}: a fence is indented, or without its end")
    return found


def prose(document: Path) -> str:
    """Return a document's text without its blocks and comments."""
    return re.sub(r"<!--.*?-->", "", _BLOCK.sub("", document.read_text(encoding="utf-8")), flags=re.DOTALL)


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub makes of a document's headings."""
    counts: dict[str, int] = {}
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", prose(document), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{slug}-{counts[slug]}" if slug in counts else slug)
        counts[slug] = counts.get(slug, 0) + 1
    return found


def is_output(shown: str, actual: str) -> bool:
    """Return whether an output is the shown one, but for times and the width of columns.

    A shown ``...`` stands for any text, on a line of its own for any lines.

    >>> is_output("one\\n...\\n2.5 s", "one\\ntwo\\nthree\\n17 s"), is_output("12 hands", "13 hands")
    (True, False)
    """
    pattern = re.escape(_masked(shown)).replace(r"\.\.\.", ".*")
    return re.fullmatch(pattern, _masked(actual), re.DOTALL) is not None


def _masked(text: str) -> str:
    """Return a text with times masked, and with one blank or dash where there are several."""
    lines = (re.sub(r"-{3,}", "---", re.sub(r"\s+", " ", _TIME.sub("#", line))).strip() for line in text.splitlines())
    return "\n".join(lines).strip()


def _commands(text: str) -> list[str]:
    """Return the lines of a text that call the program, each with those that continue it."""
    return re.findall(r"^plurispiel .*$", re.sub(r" *\\\n *", " ", text), re.MULTILINE)
