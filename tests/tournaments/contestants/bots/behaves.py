"""Folds, calls and raises at random; the others of this folder play the same, and misbehave when they hold an ace."""

from plurispiel.agents import CALL, FOLD, Agent


def holds_an_ace(cards):
    return any(card // 4 == 12 for card in cards)


class Bot(Agent):
    def act(self, view):
        if holds_an_ace(view.hole_cards):
            answer = self.misbehave(view)
            if answer != "as always":
                return answer
        draw = self.rng.random()
        if draw < 0.2 and view.public.can_fold:
            return FOLD
        return view.public.raise_by_pot(0.5) if draw > 0.8 else CALL

    def misbehave(self, view):
        return "as always"
