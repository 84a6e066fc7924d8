"""A self-contained HTML page: a header, a bar of links, the sections and a footer. The page loads no other file."""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from plurispiel import __version__

PAGE_BEGIN = b'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy"'
"""How every page begins."""

_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
_SCRIPT = (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


class Part(NamedTuple):
    """A section of a page.

    Attributes
    ----------
    name : str
        The section's ``id`` in the HTML, the target of links to the section.
    title, note : str
        The heading, and the text below it, as plain texts.
    link : str
        HTML beside the heading, such as a link to a file; may be empty.
    body : str
        The content as HTML.
    """

    name: str
    title: str
    note: str
    link: str
    body: str

    @property
    def html(self) -> str:
        """The section as HTML."""
        head = f'<h2>{html.escape(self.title)}</h2>{self.link}<p class="note">{html.escape(self.note)}</p>'
        return f'<section id="{self.name}">{head}{self.body}</section>\n'


def html_document(
    title: str, header: str, parts: Sequence[Part], footer: str, *, is_wide: bool = False, script: str = ""
) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title, footer : str
        Plain texts.
    header : str
        HTML above the sections.
    is_wide : bool
        Whether the page is wider than usual, for several runs side by side or a wide table.
    script : str
        JavaScript of this page alone. It runs before the script that all pages share.
    """
    links = "".join(f'<a href="#{part.name}">{html.escape(part.title)}</a>' for part in parts)
    return (
        f'{PAGE_BEGIN.decode()} content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{html.escape(title)} · plurispiel report</title><style>{_STYLE}</style></head>\n"
        f'<body class="{"several" if is_wide else "single"}">'
        f'<header><div class="inner"><p class="brand">plurispiel report</p>{header}</div></header>\n'
        f"<nav><div class='inner'><div class='links'>{links}</div></div></nav>\n"
        f"<main>{''.join(part.html for part in parts)}</main>\n"
        f"<footer>Made by plurispiel {html.escape(__version__)}. {html.escape(footer)}</footer>\n"
        f"<script>{script}</script><script>{_SCRIPT}</script></body></html>\n"
    )
