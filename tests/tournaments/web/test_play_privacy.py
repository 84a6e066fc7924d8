"""No byte of a view depends on a hidden card before the end of the hand."""

import json
import re

import numpy as np
import pytest
from browser_table import RandomTable, sit_down

from plurispiel.abstraction.holdem.cards import card_text
from plurispiel.evaluation import streams

pytestmark = pytest.mark.slow  # CI runs the slow tests of the pages, too

CARD = re.compile(r"[2-9TJQKA][cdhs]")
TABLES = [
    ("call",),
    ("raise", "random"),
    ("call", "random", "raise"),
    ("random",) * 4,
    ("call", "random") * 2 + ("raise",),
]


def until_the_end(views):
    """Return the views of a hand before its end."""
    return [text for text in views if "end" not in json.loads(text)]


def scan(folder, agents, num_hands):
    """Look for cards in every byte of the hands at a table."""
    with RandomTable(folder, sit_down(agents=agents)) as table:
        for views in table.play(num_hands):
            shown = json.loads(views[-1])
            for text in until_the_end(views):
                view = json.loads(text)
                you, board = view["you"], shown["end"]["board"][: len(view["board"])]
                assert view["board"] == board and view["cards"][you] in ([], shown["end"]["cards"][you])
                assert set(CARD.findall(text)) == {*view["cards"][you], *board}, text
            assert len(views) > 4


@pytest.mark.parametrize("agents", TABLES, ids=lambda agents: f"{len(agents) + 1} seats")
def test_before_the_end_every_byte_is_free_of_others_cards(tmp_path, agents):
    scan(tmp_path, agents, 50)


@pytest.mark.slow
@pytest.mark.parametrize("agents", TABLES, ids=lambda agents: f"{len(agents) + 1} seats")
def test_every_byte_of_two_thousand_hands_is_free_of_others_cards(tmp_path, agents):
    scan(tmp_path, agents, 400)


def exchange_hidden_cards(monkeypatch):
    """Deal other cards where the person cannot see them: to the other seats, from them and from the undealt cards."""
    decks, rng = streams.Streams.decks, np.random.default_rng(5)

    def exchanged(this, rules, group):
        deck = decks(this, rules, group)[0].copy()
        size, seat = rules.num_hole_cards, -group[0] % rules.num_seats
        hidden = [k for k in range(rules.num_seats * size) if k // size != seat]
        undealt = [card for card in rules.cards.tolist() if card not in deck.tolist()]
        deck[hidden] = rng.permutation([*deck[hidden].tolist(), *undealt])[: len(hidden)]
        return [deck]

    monkeypatch.setattr(streams.Streams, "decks", exchanged)


@pytest.mark.parametrize(
    "game, agents, assist",
    [
        ("holdem", ("call", "random", "raise"), "off"),
        pytest.param("holdem", ("random",), "advice", marks=pytest.mark.slow),
        ("LEDUC", ("random",), "advice"),
        ("KUHN", ("call",), "range"),
    ],
)
def test_with_other_hidden_cards_all_bytes_before_the_end_are_the_same(tmp_path, monkeypatch, game, agents, assist):
    """The agents do not look at their cards, so that nothing but a leak could make a difference."""
    played = []
    sit = sit_down(game, agents, assist=assist, adviser="tag")
    for turn in ("as dealt", "exchanged"):
        if turn == "exchanged":
            exchange_hidden_cards(monkeypatch)
        with RandomTable(tmp_path / turn, sit, waits_for_help=assist != "off") as table:
            played.append(table.play(4 if assist != "off" else 40))
    ends = [[json.loads(views[-1])["end"]["cards"] for views in hands] for hands in played]
    assert ends[0] != ends[1]
    for first, second in zip(*played, strict=True):
        assert list(map(without_results, until_the_end(first))) == list(map(without_results, until_the_end(second)))


def without_results(text):
    """Return a view without the results of earlier hands, which differ with the cards that were shown at their ends."""
    view = json.loads(text)
    del view["results"]
    return json.dumps(view)


def test_the_scan_would_find_a_card(tmp_path):
    with RandomTable(tmp_path, sit_down()) as table:
        (views,) = table.play(1)
        end = json.loads(views[-1])["end"]
        assert set(sum(end["cards"], [])) <= set(CARD.findall(views[-1]))
        assert CARD.findall(json.dumps([card_text(51), "AKs"])) == ["As", "Ks"]
