import random

import numpy as np

from plurispiel.agents import CALL, FOLD, Agent


class Bot(Agent):
    """Plays as the program `line_bot.py draws`: all random numbers come from the seed that a program gets."""

    def restart(self, rules, seat, rng):
        copied = np.random.Generator(np.random.PCG64(0))
        copied.bit_generator.state = rng.bit_generator.state
        self.dice = random.Random(int(copied.integers(1 << 48)))

    def act(self, view):
        public = view.public
        raises = [self.dice.randint(public.min_raise, public.max_raise)] if public.max_raise else []
        return self.dice.choice([CALL, CALL, *raises, *([FOLD] if public.can_fold else [])])
