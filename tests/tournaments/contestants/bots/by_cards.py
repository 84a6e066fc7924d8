"""The play of `pokerbot.py` in this process."""

from plurispiel.agents.base import Agent


class Bot(Agent):
    def act(self, view):
        public = view.public
        seat, other = view.seat, 1 - view.seat
        rank = int((*view.hole_cards, *public.board)[-1]) // 4
        price = public.to_call
        if rank < 2 and price:
            return 0
        highest = max(public.contributions)
        paid = sum(self._street_before(public))
        street = highest - paid
        if rank > 8 and street + 100 + price < 10_000 - paid and street < 3_000:
            return paid + street + max(100, price) + rank
        if rank == 8 and price:
            return 10_000 if highest < 10_000 else 1
        assert public.contributions[seat] <= public.contributions[other]
        return 1

    @staticmethod
    def _street_before(public):
        earlier = [action.action for action in public.actions if action.street < public.street]
        return [max(100, *earlier)] if earlier else [0]
