from behaves import Bot as Behaves

from plurispiel.agents import Board


class Bot(Behaves):
    def observe(self, event):
        if isinstance(event, Board) and any(card // 4 == 12 for card in event.cards):
            raise LookupError("an ace on the board")
