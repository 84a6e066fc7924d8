"""The time that a player has for each answer, and for all answers of a hand together."""

import contextlib
import time
from collections.abc import Iterator


class PlayerClock:
    """The clock of one player, which runs while the player is asked.

    Parameters
    ----------
    response_s : float
        Longest time for an answer, in seconds.
    hand_s : float
        Longest time for all answers of a hand, in seconds.
    """

    def __init__(self, response_s: float, hand_s: float):
        self.response_s = response_s
        self._hand_s = hand_s
        self._used = 0.0

    def begin_hand(self) -> None:
        """Forget the time that was used in the last hand."""
        self._used = 0.0

    @contextlib.contextmanager
    def running(self) -> Iterator[float]:
        """Count the time of the block, and yield the seconds that the block may take."""
        begin = time.monotonic()
        try:
            yield max(0.0, min(self.response_s, self._hand_s - self._used))
        finally:
            self._used += time.monotonic() - begin
