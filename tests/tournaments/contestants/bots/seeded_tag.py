import numpy as np

from plurispiel.agents.baselines.tight_aggressive import TightAggressiveAgent


class Bot(TightAggressiveAgent):
    """The agent `tag` with the random numbers that a program of the line protocol draws from its seed."""

    def restart(self, rules, seat, rng):
        copied = np.random.Generator(np.random.PCG64(0))
        copied.bit_generator.state = rng.bit_generator.state
        super().restart(rules, seat, np.random.default_rng(int(copied.integers(1 << 48))))
