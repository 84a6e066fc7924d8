"""The page of a league: all figures of the standings, and names that could be HTML as plain text."""

import html.parser

import pytest
from small_league import play_on, small_league

from plurispiel.tournaments.league.page import make_league_page
from plurispiel.tournaments.league.standings import make_standings, rating_rows

pytestmark = pytest.mark.usefixtures("home")


class Texts(html.parser.HTMLParser):
    """The texts and the tags of a page."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.tags = [], []
        self.feed(text)

    def handle_data(self, data):
        self.texts.append(data)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


def test_the_page_shows_the_standings(tmp_path):
    league = small_league(tmp_path / "a<b>", "tag", "call", "random")
    play_on(league)
    league.add("fold", print, print)
    record = make_standings(league, num_resamples=20)
    page = Texts(make_league_page(league, record))
    for cell in (cell for row in rating_rows(record["agents"]) for cell in row):
        assert cell in page.texts
    for row in record["matrix"]:
        assert all(f"{cell['mbb_per_hand']:+,.0f}" in page.texts for cell in row if cell)
    assert "a<b>" in page.texts and not any(tag == "b" for tag, _ in page.tags)
    assert "Not ranked, as they have not met all others: fold." in page.texts
    assert [attributes["id"] for tag, attributes in page.tags if tag == "section"] == [
        *("ranking", "ratings", "crosstable", "settings")
    ]
    assert not any("src" in attributes or "http" in attributes.get("href", "") for _, attributes in page.tags)


def test_a_league_without_hands_has_a_page(tmp_path):
    league = small_league(tmp_path / "league", "call")
    page = Texts(make_league_page(league, make_standings(league)))
    assert [attributes["id"] for tag, attributes in page.tags if tag == "section"] == ["settings"]
