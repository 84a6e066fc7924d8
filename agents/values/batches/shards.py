"""Draws the situations of a shard, turns them into input of `BatchSolver`, and adds the values that it returns."""

import numpy as np

from plurispiel.agents.values.batches.solver import SolvedBatch, Start
from plurispiel.agents.values.data_set import DataConfig, Shard, Situations
from plurispiel.agents.values.drawn_situation import draw_situation
from plurispiel.agents.values.levels import chips_behind, pot_of
from plurispiel.agents.values.ordered_hands import ordered_hands

__all__ = ["draw_shard", "solved_situations", "start_of"]


def draw_shard(config: DataConfig, shard: Shard) -> Situations:
    """Return the situations of a shard, unsolved: all values are 0."""
    level = config.find_level()
    rows = []
    for number in range(shard.first, shard.first + shard.size):
        drawn = draw_situation(level, config.seed, shard.split, number)
        order = ordered_hands(level.rules, drawn.board).hands.combos
        roots = np.sqrt(drawn.ranges[:, order]).astype(np.float16)
        rows.append((np.array(drawn.board, np.uint8), pot_of(drawn.state), chips_behind(drawn.state), roots))
    boards, pots, behind, roots = zip(*rows, strict=True)
    weights = np.stack(roots)
    count = len(rows)
    return Situations(
        np.stack(boards),
        np.array(pots, np.float64),
        np.array(behind, np.float64),
        weights,
        np.zeros_like(weights),
        np.zeros(count, np.float32),
        np.zeros(count, np.int32),
    )


def start_of(situations: Situations) -> Start:
    """Return situations as `BatchSolver` takes them."""
    return Start(situations.boards, (situations.pots / 2.0).astype(np.int64), situations.roots)


def solved_situations(drawn: Situations, solved: SolvedBatch) -> Situations:
    """Return drawn situations with their values."""
    return drawn._replace(evs=solved.evs, slack=solved.slack, iterations=solved.iterations)
