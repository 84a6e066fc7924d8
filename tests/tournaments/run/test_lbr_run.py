"""Runs of local best response: agents from outside play as objects do, and gain nothing by what they try."""

import os
from pathlib import Path

import numpy as np
import pytest

from plurispiel.abstraction.holdem.betting import FOLD
from plurispiel.abstraction.holdem.rules import HUNL, LEDUC
from plurispiel.agents.base import Strategy
from plurispiel.agents.baselines.simple import CallAgent
from plurispiel.agents.factory import make_agent
from plurispiel.evaluation import agent_strategy, best_response
from plurispiel.evaluation.local_best_response import MENUS, GroupScore, Prober
from plurispiel.evaluation.streams import Keyed, Seeded
from plurispiel.tournaments.contestants.isolation import Isolation
from plurispiel.tournaments.contestants.sandbox import working_sandbox
from plurispiel.tournaments.run import lbr_run
from plurispiel.tournaments.run.lbr_config import LbrConduct, LbrConfig
from plurispiel.tournaments.run.lbr_run import LbrRun
from plurispiel.tournaments.run.run_key import read_key

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="ends processes by signals"),
    pytest.mark.xdist_group("processes"),  # many at once would be late
]

CHEATS = Path(__file__).parent.parent / "contestants" / "bots" / "cheats_lbr.py"
MIXED = """
import numpy as np
from plurispiel.agents import CALL, FOLD, Agent, Board, Deal, Strategy


class Mixed(Agent):
    '''Folds weak hands the more often the more boards it has seen, and with a boldness that it draws for a hand.'''

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.boldness = rng.random()
        self.num_boards = 0

    def observe(self, event):
        self.num_boards += isinstance(event, Board)

    def range_strategy(self, public):
        return self.told(public, self.boldness)

    def expected_strategy(self, public):
        return self.told(public, 0.5)

    def told(self, public, boldness):
        ranks = (public.rules.combos // 4).max(axis=1) / 12.0
        folds = (1.0 - ranks) / (4.0 - self.num_boards) * public.can_fold
        pot = public.raise_by_pot(1.0)
        raises = (1.0 - folds) * boldness * (pot > CALL) * (public.num_raises < 2)
        actions, rows = [FOLD, CALL, max(pot, 2)], np.stack([folds, 1.0 - folds - raises, raises], axis=1)
        legal = [k for k, action in enumerate(actions) if public.is_legal(action)]
        return Strategy(np.array(actions)[legal], rows[:, legal])
"""


def stored(run):
    """Return the scores in the folder of a run."""
    lines = (run.folder / "groups.csv").read_text().splitlines()[1:]
    return [
        GroupScore(*map(float, line.split(",")[1:-1])) for line in sorted(lines, key=lambda row: int(row.split(",")[0]))
    ]


def played(folder, spec, num_groups, *, processes="one", **settings):
    run = LbrRun(folder, LbrConfig(spec, **settings))
    run.play(num_groups, LbrConduct(1, Isolation(sandbox=working_sandbox("auto")), processes))
    return run


@pytest.mark.parametrize("deals", ["shared", pytest.param("once", marks=pytest.mark.slow)])
def test_an_agent_in_a_process_plays_as_it_does_as_an_object(tmp_path, deals):
    """With all sizes asked in one message, whose answers are longer than a pipe takes at once."""
    (tmp_path / "mixed.py").write_text(MIXED)
    spec = f"{tmp_path}/mixed.py:Mixed"
    run = played(tmp_path / "run", spec, 2, menu="56bets", seed=3, aivat=True, deals=deals)
    inside = Prober(HUNL, make_agent(spec), MENUS["56bets"], Keyed(((0, 3),)), once=deals == "once", aivat=True)
    expected = [inside.play(number) for number in range(2)]
    assert stored(run) == expected and len({*map(tuple, expected)}) == 2


@pytest.mark.parametrize(
    ("name", "processes"),
    [
        ("Memory", "rotation"),
        pytest.param("Seeds", "one", marks=pytest.mark.slow),
        pytest.param("Inverter", "one", marks=pytest.mark.slow),
    ],
)
def test_a_cheat_reads_no_card_of_local_best_response(tmp_path, name, processes):
    run = played(tmp_path / "run", f"{CHEATS}:{name}", 3, menu="fc", processes=processes)
    source = Keyed(read_key(run.folder).keys)
    honest = Prober(HUNL, CallAgent(), MENUS["fc"], source)
    assert [score[:2] for score in stored(run)] == [honest.play(number)[:2] for number in range(3)]
    # With what each of them needs, in this process, it wins by the cards: else the above would show nothing.
    cheat = Prober(HUNL, make_agent(f"{CHEATS}:{name}"), MENUS["fc"], Seeded(1))
    assert sum(cheat.play(number).payoff for number in range(3)) < -100.0


def test_an_agent_that_replaces_functions_of_the_package_moves_no_figure(tmp_path, monkeypatch):
    spec = f"{CHEATS}:Patcher"
    run = played(tmp_path / "run", spec, 4, menu="fc", seed=2, game="leduc_poker")
    source = Keyed(((0, 2),))
    expected = [Prober(LEDUC, CallAgent(), MENUS["fc"], source).play(number)[:2] for number in range(4)]
    assert [score[:2] for score in stored(run)] == expected
    # In this process it would; what it replaces is put back at the end.
    monkeypatch.setattr(Prober, "play", Prober.play)
    monkeypatch.setattr(agent_strategy, "strategy_from_agent", agent_strategy.strategy_from_agent)
    monkeypatch.setattr(best_response.exploitability, "__code__", best_response.exploitability.__code__)
    agent = make_agent(spec)
    assert Prober(LEDUC, agent, MENUS["fc"], source).play(0).payoff == -1e6


def test_the_key_is_published_at_the_end_and_deals_no_further_group(tmp_path):
    spec = f"{CHEATS}:Caller"
    settings = {"menu": "fc", "game": "leduc_poker"}
    run = played(tmp_path / "run", spec, 3, **settings)
    assert run.results(3)["keys"] is None and run.results(3)["seed"] is None
    run.publish_key(4)  # of which one is missing
    assert run.results(3)["keys"] is None
    run.publish_key(3)
    (first,) = run.results(3)["keys"]
    run = played(tmp_path / "run", spec, 5, **settings)
    assert run.results(5)["keys"] is None
    run.publish_key(5)
    keys = run.results(5)["keys"]
    assert keys[0] == first and [entry["first_deck"] for entry in keys] == [0, 3] and keys[1]["key"] != first["key"]
    again = Prober(
        LEDUC, CallAgent(), MENUS["fc"], Keyed([(entry["first_deck"], int(entry["key"], 16)) for entry in keys])
    )
    assert [score[:2] for score in stored(run)] == [again.play(number)[:2] for number in range(5)]
    (run.folder / "run.key").write_text("{}")
    with pytest.raises(ValueError, match=r"run.key is damaged; start over \(--fresh\)"):
        LbrRun(run.folder, run.config)
    (run.folder / "run.key").unlink()
    with pytest.raises(ValueError, match="run.key is missing: without this key no hand can be dealt again"):
        LbrRun(run.folder, run.config)
    LbrRun(run.folder, LbrConfig(spec, seed=1, **settings), fresh=True)
    assert not (run.folder / "run.key").exists()


def test_a_false_report_of_a_range_without_hands_leaves_the_payoff():
    class Denier(CallAgent):
        def range_strategy(self, public):
            told = FOLD if public.can_fold else public.raise_by_pot(1.0)
            return Strategy(np.array([told]), np.ones((len(public.rules.combos), 1)))

    prober = Prober(LEDUC, Denier(), MENUS["fc"], Seeded(1))
    for number in range(4):
        score = prober.play(number)
        assert score.expectation == score.payoff


@pytest.mark.parametrize(("seconds", "sizes"), [(0.0, [1] * 20), (1e9, [1, 8, 8, 3])])
def test_the_groups_of_a_slow_agent_are_stored_one_by_one(tmp_path, monkeypatch, seconds, sizes):
    monkeypatch.setattr(lbr_run, "_STORED_EVERY", seconds)
    found = []
    run = LbrRun(tmp_path / "run", LbrConfig("call", "fc", "LEDUC", 1))
    run.play(20, on_block=found.append)
    assert found == sizes
