import numpy as np
import pytest
from table import public_after

from plurispiel.abstraction.holdem.betting import CALL, FOLD
from plurispiel.abstraction.holdem.cards import parse_cards
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX
from plurispiel.agents.baselines.tight_aggressive import starting_hands
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation.duplicate import play_group
from plurispiel.evaluation.statistics import estimate_mean
from plurispiel.evaluation.streams import Seeded, Streams


def test_chen_s_count_orders_starting_hands():
    places = starting_hands()

    def place(text):
        return places[HUNL.combo_id(parse_cards(text))]

    order = ["AsAh", "KsKh", "QsQh", "AsKs", "JsJh", "AsKh", "8s8h", "Ts9s", "7c2d"]
    assert [place(text) for text in order] == sorted((place(text) for text in order), reverse=True)
    assert place("AsAh") == pytest.approx(1 - 3 / 1326)
    assert places.mean() == pytest.approx(0.5)
    assert place("KcQc") == place("KdQd")


def test_tag_opens_more_hands_nearer_to_the_button():
    tag = make_agent("tag")
    shares = []
    for num_folds in range(5):
        strategy = tag.range_strategy(public_after(SIXMAX, [FOLD] * num_folds))
        shares.append(strategy.probabilities[:, -1].mean())
    assert shares == sorted(shares)
    assert 0.1 < shares[0] < 0.2
    assert 0.25 < shares[3] < 0.35


def test_tag_never_folds_aces_before_the_flop():
    aces = SIXMAX.combo_id(parse_cards("AsAh"))
    tag = make_agent("tag")
    for actions in ([], [350], [350, 1_200], [350, 1_200, 4_000], [10_000]):
        strategy = tag.range_strategy(public_after(SIXMAX, actions))
        assert strategy.probabilities[aces, 0] == 0.0


def test_tag_bets_the_nuts_and_folds_air():
    tag = make_agent("tag")
    board = "QsJh2h"
    sets, air = HUNL.combo_id(parse_cards("QhQd")), HUNL.combo_id(parse_cards("5c3d"))
    first = tag.range_strategy(public_after(HUNL, [CALL, CALL], board))
    assert first.actions.tolist() == [CALL, 232]
    assert first.probabilities[sets].tolist() == [0.0, 1.0]
    facing = tag.range_strategy(public_after(HUNL, [CALL, CALL, 300], board))
    assert facing.probabilities[air].tolist() == [1.0, 0.0, 0.0]


def match(rules, hero, villain, num_decks):
    """Return the hero's rate against copies of the villain in big blinds a hand, over duplicate groups."""
    agents = [make_agent(hero), *[make_agent(villain) for _ in range(rules.num_seats - 1)]]
    contestants = [0, *[1] * (rules.num_seats - 1)]
    streams = Streams(rules.num_seats, Seeded(7))
    rates = []
    for deck in range(num_decks):
        score = play_group(rules, lambda rotation: agents, contestants, streams, (deck,), lambda *_: None)[0]
        rates.append(score.chips / score.hands / rules.big_blind)
    return estimate_mean(np.array(rates))


@pytest.mark.parametrize(
    "villain", ["call", "raise", *(pytest.param(name, marks=pytest.mark.slow) for name in ("random", "fold"))]
)
@pytest.mark.parametrize("rules", [HUNL, SIXMAX], ids=["heads-up", "six-handed"])
def test_tag_beats_the_simple_agents(rules, villain):
    result = match(rules, "tag", villain, 400 if rules is HUNL else 300)
    assert result.mean > result.ci95 > 0
