"""Speed of the engine: hand ranks, whole random hands, refereed tournaments."""

import tempfile
import time
from pathlib import Path

import numpy as np

from plurispiel.abstraction.holdem.openspiel import load_game
from plurispiel.abstraction.holdem.playout import play_random_hands
from plurispiel.abstraction.holdem.rules import HUNL, SIXMAX, HoldemRules
from plurispiel.abstraction.machine.threads import num_processors
from plurispiel.tournaments.bench.hand_rank import bench_hand_rank
from plurispiel.tournaments.bench.measurement import Measurement
from plurispiel.tournaments.run.block_player import Conduct
from plurispiel.tournaments.run.config import TournamentConfig
from plurispiel.tournaments.run.runner import play_run
from plurispiel.tournaments.run.store import RunStore

_LINEUP = ("tag", "call", "random", "raise", "fold", "tag")
_LINEUP_WITH_EQUITY = ("tag", "equity", "random", "raise", "fold", "call")


def bench_engine(seconds: float = 1.0) -> list[Measurement]:
    """Return the rates of the engine and of peers.

    Each rate of hand ranks and random hands is measured for about `seconds`. The length of a tournament, in decks, is
    proportional to `seconds`.
    """
    rows = bench_hand_rank(seconds)
    for name, rules in (("heads-up", HUNL), ("six-handed", SIXMAX)):
        rows += _random_hands(name, rules, seconds)
    rows.append(_tournament(_LINEUP, "duplicate", seconds, 800))
    rows.append(_tournament(_LINEUP_WITH_EQUITY, "duplicate", seconds, 80))
    rows.append(_tournament(_LINEUP_WITH_EQUITY, "aivat_duplicate", seconds, 40))
    return rows


def _random_hands(name: str, rules: HoldemRules, seconds: float) -> list[Measurement]:
    """Return the rate of our kernel, and two rates of `universal_poker` from Python.

    One plays like the kernel, with every raise size. The other plays with the menu ``fcpa``, four actions at most.
    """
    batch = 100_000
    menu = rules.with_menu("fcpa")
    play_random_hands(rules, 1, np.random.SeedSequence(0))
    rates: list[list[float]] = [[], [], []]
    end = time.perf_counter() + 3 * seconds
    number = 0
    while time.perf_counter() < end:  # in turns, so that load of the machine slows all three equally
        begin = time.perf_counter()
        play_random_hands(rules, batch, np.random.SeedSequence(number))
        rates[0].append(batch / (time.perf_counter() - begin))
        rates[1].append(_universal_poker_rate(rules, 100, number))
        rates[2].append(_universal_poker_rate(menu, 500, number))
        number += 1
    ours, same, small = (float(np.median(rate)) for rate in rates)
    return [
        Measurement(
            f"random hands {name}, one kernel", ours / 1e6, "M/s", f"{ours / same:,.0f} x universal_poker, same play"
        ),
        Measurement(
            "  universal_poker from Python, same play", same / 1e6, "M/s", "any raise size, from legal_actions"
        ),
        Measurement(
            "  universal_poker from Python, fcpa",
            small / 1e6,
            "M/s",
            f"with four actions; ours, with any raise size, is {ours / small:,.0f} x",
        ),
    ]


def _universal_poker_rate(rules: HoldemRules, num_hands: int, seed: int) -> float:
    """Return the rate of random play in OpenSpiel's states, in hands/s.

    The legal actions of a menu are equally likely. Without a menu, fold, call and raise are equally likely where legal,
    and so are all sizes of a raise.
    """
    game = load_game(rules)
    any_size = rules.betting_abstraction == "fullgame"
    rng = np.random.default_rng(seed)
    decks = [rng.permutation(52)[: rules.num_dealt_cards].tolist() for _ in range(num_hands)]
    # Drawn before the clock starts: only play is timed.
    choices = iter(rng.random(num_hands * 256).tolist())
    begin = time.perf_counter()
    for deck in decks:
        state = game.new_initial_state()
        cards = iter(deck)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
                continue
            legal = state.legal_actions()
            # Id 0 is a fold, 1 a call, and any larger id a raise: all raises are one kind.
            kinds = min(len(legal), 2 + (legal[0] == 0)) if any_size else len(legal)
            choice = int(next(choices) * kinds)
            if any_size and choice == kinds - 1 and legal[choice] > 1:
                choice += int(next(choices) * (len(legal) - choice))
            state.apply_action(legal[choice])
        state.returns()
    return num_hands / (time.perf_counter() - begin)


def _tournament(agents: tuple[str, ...], score: str, seconds: float, decks_per_second: int) -> Measurement:
    config = TournamentConfig(agents=agents, score=score, decks=max(8, int(5 * seconds * decks_per_second)))
    workers = num_processors()
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder), config)
        try:
            play_run(config, store, Conduct(workers))
            elapsed = store.seconds()
        finally:
            store.close()
    hands = config.decks * config.seats
    note = f"{hands:,} hands, {workers} workers, refereed{', AIVAT' * config.uses_aivat}"
    return Measurement(f"tournament {','.join(agents)}", hands / elapsed, "hands/s", note)
