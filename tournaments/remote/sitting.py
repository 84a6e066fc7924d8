"""A sitting of an agent at a service: hand by hand, each kept before the next one begins."""

import time
from collections.abc import Iterator

from plurispiel.abstraction.machine.interrupts import interrupts_held
from plurispiel.evaluation.hand import Fault
from plurispiel.tournaments.formats.history import HandHistory
from plurispiel.tournaments.formats.match_state import MatchState, write_match_state
from plurispiel.tournaments.remote.score import Scorer
from plurispiel.tournaments.remote.service import ServiceTable
from plurispiel.tournaments.remote.store import BROKEN, SCORED, HandStore, ServiceHand
from plurispiel.tournaments.remote.table import HandBroken, TableError
from plurispiel.tournaments.remote.visit import Player, visit

MAX_BROKEN = 5
"""After this number of broken new hands in succession the sitting ends: the service may have changed."""


def sit(
    service: ServiceTable, player: Player, store: HandStore, scorer: Scorer, num_hands: int
) -> Iterator[ServiceHand]:
    """Play until the store holds `num_hands` hands, broken ones included, and yield each hand when it is kept.

    Hands that an earlier process left open come first.

    Raises
    ------
    TableError
        If the service cannot be reached at the start of a hand, or refuses to start or continue a hand. Also if
        `MAX_BROKEN` new hands in succession are broken.
    """
    num_broken = 0
    todo: list[tuple[int, str | None]] = [(hand.number, hand.hand_id) for hand in store.open_hands()]
    todo += [(number, None) for number in range(store.next_number, num_hands + 1)]
    for number, hand_id in todo:
        hand = _play(_Seating(service, store, number, hand_id), player, store, scorer)
        num_broken = num_broken + 1 if hand.status == BROKEN and hand_id is None else 0
        yield hand
        if num_broken == MAX_BROKEN:
            raise TableError(f"{MAX_BROKEN} hands in succession are broken; the last: {hand.trouble}")


class _Seating:
    """One hand at a service as a `RemoteTable`; its beginning is recorded in the store."""

    def __init__(self, service: ServiceTable, store: HandStore, number: int, hand_id: str | None):
        self.service = service
        self.number = number
        self._store = store
        self._hand_id = hand_id

    def new_hand(self) -> MatchState:
        service = self.service
        service.corrected = None
        if self._hand_id is None:
            state = service.open(self.number)
        else:
            state = service.reopen(self.number, self._hand_id)
        try:
            self._store.begin(self.number, service.hand_id, service.opponent)
        except ValueError as error:
            service.hand_id = ""
            raise HandBroken(str(error)) from None
        return state

    def act(self, state: MatchState, action: int) -> MatchState:
        return self.service.act(state, action)

    def close(self) -> None:
        """Do nothing: a service has no connection that lasts."""


def _play(seating: _Seating, player: Player, store: HandStore, scorer: Scorer) -> ServiceHand:
    """Play a hand and keep it."""
    service, number = seating.service, seating.number
    num_faults = len(player.faults)
    started = time.monotonic()
    kept = ServiceHand(number, "", BROKEN)
    try:
        history = next(visit(seating, player, 1))
    except HandBroken as error:
        history, kept = None, kept._replace(trouble=str(error))
    with interrupts_held():  # the service may count the hand, so the hand must reach the store
        faults = [fault for _, fault in player.faults[num_faults:]]
        if history is not None:
            kept = _scored(number, history, player, scorer, faults)
        kept = kept._replace(
            hand_id=service.hand_id,
            opponent=service.opponent,
            service_corrected=service.corrected if kept.status == SCORED else None,
            milliseconds=1000.0 * (time.monotonic() - started),
            faults=tuple(f"{fault.kind}: {fault.message}" for fault in faults),
            replies=tuple(service.client.replies),
        )
        store.keep(kept)
    return kept


def _scored(number: int, history: HandHistory, player: Player, scorer: Scorer, faults: list[Fault]) -> ServiceHand:
    seat = history.names.index(player.name)
    hand, aivat = scorer.score(history, seat, number, faults)
    street = hand.rules.num_streets - 1 if hand.showdown else max((action.street for action in hand.actions), default=0)
    line = write_match_state(hand.rules, seat, number, hand.actions, street, history.hole_cards, history.board)
    return ServiceHand(number, "", SCORED, seat=seat, state=line, payoff=hand.payoffs[seat], aivat=aivat)
