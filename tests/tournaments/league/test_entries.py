"""Entries: one for each content of an agent, numbered for ever."""

import pytest
from hostile_settings import hostile_settings
from small_league import BOT

from plurispiel.tournaments.league.entries import Entry, content_digest, entry_name, read_entries, write_entries

ENTRIES = [
    Entry(1, "tag", "tag", "0" * 12),
    Entry(2, "my bot.py:Bot", "/x/my bot.py:Bot", "1" * 12, active=False),
    Entry(3, "my bot.py:Bot#2", "/y/my bot.py:Bot", "2" * 12),
]


def test_a_file_gives_the_same_entries(tmp_path):
    assert read_entries(tmp_path) == []
    write_entries(tmp_path, ENTRIES)
    assert read_entries(tmp_path) == ENTRIES


def test_names_of_equal_titles_differ():
    assert entry_name("/z/my bot.py:Bot", ENTRIES) == "my bot.py:Bot#3"
    numbered = [Entry(1, "bot.py:B?x=1#2", "/x/bot.py:B?x=1#2", "0" * 12), Entry(2, "bot.py:B?x=1", "a:B", "1" * 12)]
    assert entry_name("/x/bot.py:B?x=1", numbered) == "bot.py:B?x=1#3"


def test_a_league_of_an_earlier_version_keeps_its_names(tmp_path):
    """A title once had the folders above networks."""
    (tmp_path / "entries.toml").write_text(
        '[[entry]]\nnumber = 1\nname = "continual?values=net:v/M"\nspec = "continual?values=net:v/M"\n'
        'digest = "6cec46f17f84"\nactive = true\ncode = "7b2c2d8b1a0f"\nbelieve = false\n'
    )
    (entry,) = read_entries(tmp_path)
    assert entry.name == entry.spec == "continual?values=net:v/M"
    assert entry_name("continual?values=net:/v/M", [entry]) == "continual?values=net:M"


def test_a_digest_is_that_of_the_content(tmp_path):
    (tmp_path / "other").mkdir()
    one, other = tmp_path / "bot.py", tmp_path / "other" / "bot.py"
    one.write_text(BOT.format(action=1))
    other.write_text(BOT.format(action=1))
    digest = content_digest(f"{one}:Bot")
    assert content_digest(f"{other}:Bot") == digest
    assert content_digest(f"{one}:Bot?x=1") != digest
    one.write_text(BOT.format(action=0))
    assert content_digest(f"{one}:Bot") != digest
    assert content_digest("call") != content_digest("fold")
    with pytest.raises(ValueError, match="cannot read"):
        content_digest(f"{tmp_path}/none.py:Bot")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("number = 3", "number = 4"),
        ("number = 3", 'number = "3"'),
        ("active = false", "active = 0"),
        ('digest = "222222222222"', 'digest = "../../../x"'),
        ('spec = "tag"', 'spec = ":"'),
        ('name = "my bot.py:Bot#2"', 'name = "tag"'),
        ('name = "tag"', 'name = ""'),
        ("[[entry]]", "[entry]"),
        ("number = 1", "number = 1\nmore = 1"),
        ('spec = "tag"\n', ""),
    ],
)
def test_damaged_files_are_refused(tmp_path, old, new):
    write_entries(tmp_path, ENTRIES)
    path = tmp_path / "entries.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(ValueError, match="entries.toml"):
        read_entries(tmp_path)


def test_hostile_files_are_refused_in_one_line(tmp_path):
    write_entries(tmp_path, ENTRIES)
    path = tmp_path / "entries.toml"
    for content in hostile_settings([path.read_text()], 25):
        path.write_bytes(content)
        try:
            read_entries(tmp_path)
        except ValueError as error:
            assert "entries.toml" in str(error)
