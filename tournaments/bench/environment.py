"""Speed of learners' environments in hands per second, compared with OpenSpiel's ``rl_environment``.

The learner plays at random. So do its opponents, unless the row's name ends with another agent. All environments
compute observations at every decision of the learner. Times are processor time of this process, so that other programs
on the machine have little influence.
"""

import time
from collections.abc import Callable

import numpy as np
from open_spiel.python import rl_environment

from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.agents.environment.batch import RandomLearner, TableBatch
from plurispiel.agents.environment.observation import OBSERVATIONS
from plurispiel.agents.openspiel import make_environment
from plurispiel.tournaments.bench.measurement import Measurement

NUM_TABLES = 1_024

_CHUNK = 50


def bench_environment(seconds: float = 1.0) -> list[Measurement]:
    """Return the rates of environments, heads-up and six-handed with the menu ``fcpa``; each takes about `seconds`."""
    heads_up, six = HUNL.with_menu("fcpa"), SIXMAX.with_menu("fcpa")
    peer = _rate(_openspiel(heads_up), seconds)
    rows = [Measurement("rl_environment, heads-up", peer, "hands/s", "OpenSpiel; the caller plays both seats")]
    single = _rate(_single(heads_up), seconds)
    rows.append(Measurement("make_environment, heads-up, random", single, "hands/s", _times(single, peer)))
    for number in (1, 64, NUM_TABLES):
        rate = _rate(_batch(heads_up, "random", number, "information-state"), seconds)
        rows.append(Measurement(f"{number:,} tables, heads-up, random", rate, "hands/s", _times(rate, peer)))
    for name in list(OBSERVATIONS)[1:]:
        rate = _rate(_batch(heads_up, "random", NUM_TABLES, name), seconds)
        rows.append(Measurement(f"  observation {name}", rate, "hands/s", _times(rate, peer)))
    for opponent in ("call", "tag"):
        rate = _rate(_batch(heads_up, opponent, NUM_TABLES, "information-state"), seconds)
        rows.append(Measurement(f"{NUM_TABLES:,} tables, heads-up, {opponent}", rate, "hands/s", _times(rate, peer)))
    peer = _rate(_openspiel(six), seconds)
    rows.append(Measurement("rl_environment, six-handed", peer, "hands/s", "OpenSpiel; the caller plays all seats"))
    for opponent in ("random", "tag"):
        rate = _rate(_batch(six, opponent, NUM_TABLES, "information-state"), seconds)
        rows.append(Measurement(f"{NUM_TABLES:,} tables, six-handed, {opponent}", rate, "hands/s", _times(rate, peer)))
    return rows


def _times(rate: float, peer: float) -> str:
    return f"{rate / peer:,.0f} x rl_environment" if rate >= 2 * peer else f"{rate / peer:.2g} x rl_environment"


def _rate(play: Callable[[], int], seconds: float) -> float:
    """Return the hands per second of processor time; `play` plays some hands and returns their number."""
    play()
    hands, start, begin = 0, time.process_time(), time.perf_counter()
    while hands == 0 or time.perf_counter() < begin + seconds:
        hands += play()
    return hands / (time.process_time() - start)


def _openspiel(rules: HoldemRules) -> Callable[[], int]:
    sampler = rl_environment.ChanceEventSampler(seed=1)
    environment = rl_environment.Environment(load_game(rules), chance_event_sampler=sampler)
    rng = np.random.default_rng(1)

    def play() -> int:
        for _ in range(_CHUNK):
            step = environment.reset()
            while not step.last():
                legal = step.observations["legal_actions"][step.observations["current_player"]]
                step = environment.step([legal[int(rng.random() * len(legal))]])
        return _CHUNK

    return play


def _single(rules: HoldemRules) -> Callable[[], int]:
    environment = make_environment(rules, "random", seed=1)
    rng = np.random.default_rng(1)

    def play() -> int:
        for _ in range(_CHUNK):
            step = environment.reset()
            while not step.last():
                legal = step.observations["legal_actions"][0]
                step = environment.step([legal[int(rng.random() * len(legal))]])
        return _CHUNK

    return play


def _batch(rules: HoldemRules, opponent: str, num_tables: int, observation: str) -> Callable[[], int]:
    names = [opponent] * (rules.num_seats - 1)
    tables = TableBatch(rules, names, num_tables, observation=observation, seed=1)
    learner = RandomLearner(num_tables, seed=1)
    tables.reset()

    def play() -> int:
        results = tables.step(learner.act(tables.results.masks))
        return int(np.count_nonzero(results.dones)) + int(results.num_walks.sum())

    return play
