"""A page around its sections: plain texts are escaped, links lead to sections, and nothing is loaded."""

import re

from plurispiel.tournaments.report.document import Part, html_document

PARTS = [Part("one", "First & best", "<note>", "", "<p>body</p>"), Part("two", "Second", "", '<a href="x">x</a>', "")]


def test_sections_have_links_and_notes():
    page = html_document("a<b", "<h1>head</h1>", PARTS, "<end>")
    assert re.findall(r'<a href="#(\w+)">', page) == re.findall(r'<section id="(\w+)">', page) == ["one", "two"]
    assert "First &amp; best" in page and "&lt;note&gt;" in page and "a&lt;b · plurispiel report" in page
    assert "<p>body</p>" in page and "<h1>head</h1>" in page and ". &lt;end&gt;</footer>" in page
    assert not re.search(r'(src|href)="(https?:|//)', page) and "default-src 'none'" in page


def test_wide_pages_and_scripts():
    assert '<body class="single">' in html_document("", "", [], "")
    page = html_document("", "", [], "", is_wide=True, script="let own = 1;")
    assert '<body class="several">' in page and "<script>let own = 1;</script>" in page
