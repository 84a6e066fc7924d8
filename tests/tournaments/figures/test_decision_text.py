import numpy as np

from plurispiel.abstraction.holdem.betting import BettingState
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.evaluation.announced import Announced
from plurispiel.tournaments.figures.decision_text import decision_text
from plurispiel.tournaments.run.hand_story import combo_cells, decision_grid


def grid_of(rules, rows, own, reach=None):
    """A grid of fold, call and a raise with probabilities by combo."""
    state = BettingState(rules)
    announced = Announced([0, 1, state.min_raise or 3], [0, 1, state.min_raise or 3], rows, 1)
    free = np.ones(rules.num_combos, dtype=bool)
    return decision_grid(state, announced, np.ones(rules.num_combos) if reach is None else reach, free, own)


def holdem():
    is_pair = np.isin(combo_cells(HUNL), np.arange(13) * 14)
    rows = np.stack([0.2 * ~is_pair, 0.8 * ~is_pair, 1.0 * is_pair])
    reach = np.ones(HUNL.num_combos)
    reach[combo_cells(HUNL) == 1] = 0.0  # AKs
    return grid_of(HUNL, rows, HUNL.combo_id((51, 50)), reach)


def test_a_grid_of_starting_hands_fits_eighty_characters():
    lines = decision_text(holdem(), HUNL, 80)
    assert lines[0].split() == list("AKQJT98765432") and len(lines) == 14
    assert lines[1].split() == ["A", "[100]", *["c80"] * 11]  # without AKs
    assert lines[2].split() == ["K", "c80", "100", *["c80"] * 11]
    assert max(map(len, lines)) <= 80 and len({line.rfind("c80") for line in lines[1:-1]}) == 1


def test_a_grid_of_starting_hands_fits_sixty_characters():
    """Brackets take the place of blanks, and c100 is c, also in the last column."""
    lines = decision_text(holdem(), HUNL, 60)
    assert lines[0].split() == list("AKQJT98765432") and max(map(len, lines)) <= 60
    assert lines[1] == "A [100]   " + " c80" * 11  # without AKs
    rows = np.stack([np.zeros(HUNL.num_combos), np.ones(HUNL.num_combos), np.zeros(HUNL.num_combos)])
    lines = decision_text(grid_of(HUNL, rows, HUNL.combo_id((48, 0))), HUNL, 60)  # A2s
    assert lines[1] == "A " + " c" * 12 + "[c]" and lines[2] == "K " + " c" * 13


def test_a_narrow_screen_gets_a_list():
    lines = decision_text(holdem(), HUNL, 40)
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("AA [100]  AQs c80") and lines[-1].endswith("22 100")


def test_small_games_have_a_row_for_each_rank():
    rows = np.stack([np.zeros(6), np.array([1, 1, 0, 0, 0, 0.0]), np.array([0, 0, 1, 1, 1, 1.0])])
    lines = decision_text(grid_of(LEDUC, rows, 0), LEDUC, 80)
    assert [line.split() for line in lines] == [
        ["c", "d"], ["4", "100", "100"], ["3", "100", "100"], ["2", "[c100]", "c100"]
    ]  # fmt: skip
