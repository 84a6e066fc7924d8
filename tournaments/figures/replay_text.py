"""The report of replayed hands: disagreements with the files or the referee, and each player's results."""

import functools
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyspiel

from plurispiel.abstraction.holdem.positions import seat_positions
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.evaluation.hand import Hand
from plurispiel.evaluation.play_statistics import COUNTERS, PlayStatistics, hand_counts
from plurispiel.evaluation.referee import Referee, RefereeDisagrees
from plurispiel.evaluation.replay import TOLERANCE, only_odd_chips, replay_betting, replay_hand
from plurispiel.tournaments.formats.history import BrokenHistory, HandHistory

BATCH = 16
"""Number of hands in a call of `ReplayReport.add` that makes the report fastest."""

_POSITIONS = ["SB", "BB", "UTG", *(f"UTG+{k}" for k in range(1, 4)), "LJ", "HJ", "CO", "BTN"]


@functools.lru_cache(maxsize=64)  # stacks, and therefore rules, may differ from hand to hand
def referee_of(rules: HoldemRules) -> Referee:
    """Return the referee of a game. The referees of the 64 games used most recently are cached."""
    return Referee(rules)


class PlayerTotals:
    """Totals over all hands of one player name.

    Attributes
    ----------
    hands : int
        Number of hands played; a hand counts once for each seat that the name held.
    chips : float
        Net winnings of all hands, in the units of the files that hold the hands.
    """

    def __init__(self) -> None:
        self.hands = 0
        self.chips = 0.0
        self._recorded = 0
        self._rates = self._squares = self._products = 0.0  # sums of x, x * x and x * seats, where x is a hand's mbb
        self._seats_squares = 0
        self._play: Counter[tuple[str, bytes]] = Counter()

    def add_hand(self, chips: float, rate_mbb: float, seats: int) -> None:
        """Count one hand.

        Parameters
        ----------
        chips, rate_mbb : float
            The name's net winnings over all its seats, in units of the source file and in mbb.
        seats : int
            Number of seats that the name held in the hand.
        """
        self.hands += seats
        self.chips += chips
        self._recorded += 1
        self._rates += rate_mbb
        self._squares += rate_mbb * rate_mbb
        self._products += rate_mbb * seats
        self._seats_squares += seats * seats

    def add_play(self, position: str, row: bytes) -> None:
        """Count the actions of one seat in a hand.

        Parameters
        ----------
        position : str
            The name of the seat's position in the hand's game (`seat_positions`).
        row : bytes
            The seat's row of `hand_counts`: a byte for each of `play_statistics.COUNTERS`.
        """
        self._play[position, row] += 1

    def record(self) -> dict[str, Any]:
        """Return the totals as plain values.

        A name may hold several seats in a hand. ``mbb_per_hand`` is therefore the sum of all winnings over the sum of
        all seats held. ``se`` is the standard error of this ratio for independent hands; None with fewer than two
        hands.
        """
        number = self._recorded
        rate = self._rates / self.hands
        spread = max(0.0, self._squares - 2 * rate * self._products + rate * rate * self._seats_squares)
        error = (number / (number - 1) * spread) ** 0.5 / self.hands if number > 1 else None
        return {
            "hands": self.hands,
            "chips": self.chips,
            "mbb_per_hand": rate,
            "se": error,
            "stats": self._statistics(),
        }

    def _statistics(self) -> dict[str, Any]:
        """Return the frequencies over all positions and at each position, from the counts of all games together."""
        rows: dict[str, np.ndarray] = {}
        for (position, did), times in self._play.items():
            rows.setdefault(position, np.zeros(len(COUNTERS), dtype=np.int64))
            rows[position] += np.frombuffer(did, dtype=np.uint8).astype(np.int64) * times
        positions = [position for position in _POSITIONS if position in rows]
        play = PlayStatistics(np.array([rows[position] for position in positions]))

        def shares(seat: int | None) -> dict[str, float | None]:
            return {
                "vpip": play.share("vpip", "hands", seat),
                "pfr": play.share("raised_preflop", "hands", seat),
                "first_in_raise": play.share("first_in_raises", "first_in_chances", seat),
                "first_in_limp": play.share("first_in_limps", "first_in_chances", seat),
                "three_bet": play.share("three_bets", "three_bet_chances", seat),
                "donk_bet": play.share("donk_bets", "donk_bet_chances", seat),
                "showdown": play.share("showdowns", "hands", seat),
            }

        by_position = {}
        for row, position in enumerate(positions):
            by_position[position] = {"hands": int(play.counts[row, 0]), **shares(row)}
        return {**shares(None), "by_position": by_position}


class ReplayReport:
    """Counts of hands that are replayed through our engine and `universal_poker`.

    Attributes
    ----------
    hands : int
        Number of hands replayed. Hands in `mismatches` count as replayed, hands in `errors` do not.
    odd_chips : int
        Number of hands whose payoffs in the file differ from ours in the odd chips of split pots alone.
    mismatches, errors : list of dict
        Each dict has the ``file``, the label of the ``hand`` (None for a whole file) and, as ``what``, the text of the
        mismatch or error.
    players : dict of str to PlayerTotals
        Totals by the player's name. Payoffs are those of our engine, not those that the files state.
    """

    def __init__(self) -> None:
        self.hands = 0
        self.odd_chips = 0
        self.mismatches: list[dict[str, str | None]] = []
        self.errors: list[dict[str, str | None]] = []
        self.players: dict[str, PlayerTotals] = {}

    def add(self, file: str, histories: Iterable[HandHistory | BrokenHistory]) -> None:
        """Replay hands of a file and count the results.

        Batches of about `BATCH` hands are a third faster than single hands, because the code of each step stays in the
        processor's caches.
        """
        replayed = []
        for history in histories:
            if isinstance(history, BrokenHistory):
                self.errors.append({"file": history.file, "hand": history.hand, "what": history.what})
                continue
            try:
                betting = history.betting or replay_betting(history.rules, history.actions)
                hand = replay_hand(betting, history.hole_cards, history.board, history.mucked)
                replayed.append((history, hand, referee_of(history.rules)))
            except (ValueError, pyspiel.SpielError) as error:
                self.errors.append({"file": file, "hand": history.label, "what": str(error)})
        self.hands += len(replayed)
        for history, hand, referee in replayed:
            if what := self._mismatch(history, hand, referee):
                self.mismatches.append({"file": file, "hand": history.label, "what": what})
        for history, hand, _ in replayed:
            self._count(history, hand)

    def record(self) -> dict[str, Any]:
        """Return all counts as plain values; the players with the most hands come first."""
        players = sorted(self.players.items(), key=lambda item: -item[1].hands)
        return {
            "hands": self.hands,
            "mismatches": self.mismatches,
            "odd_chips": self.odd_chips,
            "errors": self.errors,
            "players": {name: player.record() for name, player in players},
        }

    def _mismatch(self, history: HandHistory, hand: Hand, referee: Referee) -> str | None:
        """Return a text on the difference between a hand and the referee or the file; None without a difference.

        A difference in odd chips alone is no difference here, and the hand is counted in `odd_chips`.
        """
        try:
            referee.check(hand)
        except RefereeDisagrees as error:
            return str(error)
        stated = history.payoffs
        if stated is None or stated == hand.payoffs:
            return None
        chip = max(1, int(1 / history.chip_value))  # one whole unit of the source, in chips of the rules
        if max(abs(ours - theirs) for ours, theirs in zip(hand.payoffs, stated, strict=True)) <= TOLERANCE * chip:
            return None
        if only_odd_chips(hand, stated, chip):
            self.odd_chips += 1
            return None
        value = float(history.chip_value)
        theirs_text, ours_text = (_chips_text(payoffs, value) for payoffs in (stated, hand.payoffs))
        missing = -sum(stated) * value
        rake = f", which lack {missing:.10g} (a rake?)" if abs(missing) > TOLERANCE else ""
        return f"the file states the payoffs {theirs_text}{rake}; the engines pay {ours_text}"

    def _count(self, history: HandHistory, hand: Hand) -> None:
        """Add a hand's results and actions to its players. Players are names, and a name may hold several seats."""
        to_mbb = 1000.0 / history.rules.big_blind
        value = float(history.chip_value)
        won: dict[str, tuple[float, int]] = {}
        counts = hand_counts(hand)
        positions = seat_positions(history.rules)
        rows = counts.tobytes()
        for seat, (name, payoff) in enumerate(zip(history.names, hand.payoffs, strict=True)):
            chips, seats = won.get(name, (0.0, 0))
            won[name] = (chips + payoff, seats + 1)
            if name not in self.players:
                self.players[name] = PlayerTotals()
            self.players[name].add_play(positions[seat], rows[seat * len(COUNTERS) : (seat + 1) * len(COUNTERS)])
        for name, (chips, seats) in won.items():
            self.players[name].add_hand(chips * value, chips * to_mbb, seats)


def _chips_text(payoffs: tuple[float, ...], value: float) -> str:
    return " ".join(f"{payoff * value:+.10g}" for payoff in payoffs)
