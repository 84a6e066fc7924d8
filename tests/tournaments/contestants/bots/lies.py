"""Goes all-in with every hand, and says when asked that it folds the weaker half."""

import numpy as np

from plurispiel.agents import CALL, FOLD, Agent, Strategy


class Liar(Agent):
    """Its word is true for the hand that it held, as far as it was told one."""

    def restart(self, rules, seat, rng):
        super().restart(rules, seat, rng)
        self.held = []

    def observe(self, event):
        if hasattr(event, "hole_cards"):
            self.held = [self.rules.combo_id(event.hole_cards)]

    def act(self, view):
        return view.public.max_raise or CALL

    def range_strategy(self, public):
        shove = public.max_raise or CALL
        if not public.can_fold:
            return Strategy(np.array([shove]), np.ones((public.rules.num_combos, 1)))
        ranks = (public.rules.combos // 4).sum(axis=1)
        folds = ranks < np.median(ranks)
        folds[self.held] = False
        return Strategy(np.array([FOLD, shove]), np.stack([folds, ~folds], axis=1).astype(np.float64))
