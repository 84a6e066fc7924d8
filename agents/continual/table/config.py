"""The settings of continual re-solving in hold'em."""

import math
from dataclasses import dataclass

from plurispiel.agents.search.config import MAX_ITERATIONS, MAX_SECONDS, MIN_SECONDS, SearchConfig

__all__ = ["FLOP_NETS", "PREFLOP_NETS", "TableConfig"]

FLOP_NETS = ("end-of-flop", "turn")
"""The levels of the networks for solves of the flop, and their subfolders in `TableConfig.nets`."""

PREFLOP_NETS = ("end-of-preflop", "flop")
"""The levels and subfolders of the networks for solves before the flop."""

PREFLOPS = ("blueprint", "nets")

_ITERATIONS = 150
_MIN_SECONDS, _MIN_SECONDS_WITH_NETS = 2.0 * MIN_SECONDS, 0.3
"""The shortest time limits. The first is twice that of a search, as for a safe search: computing the values of the last
solution takes time. With networks, no flop and its later streets are laid out."""


@dataclass(frozen=True)
class TableConfig:
    """The settings of continual re-solving in heads-up hold'em.

    Attributes
    ----------
    iterations : int
        Iterations of each solve. A solve of the turn does twice as many. A solve of the river does ten times as many,
        and twenty times if less than 99 % of the opponent's range keeps its bounds. 0 stands for 150 iterations, or for
        the time limit if there is one. Without a time limit, the same seed gives the same play.
    time : float
        Seconds for each decision, including all its work, in place of `iterations`; at least 1, with `nets` at least
        0.3; 0 for no limit.
    threads : int
        Number of threads; 0 for as many as there are processors.
    estimate : float
        The largest share of the opponent's weight that enters the subgame without the choice to terminate. It is spread
        over the hands as in the range that the last solution gives the opponent. The share is smaller after actions
        that the opponent's strategies in the solutions seldom take (`carried.trusted`). On the river the share falls
        during the solve: from six tenths of it to six thousandths. With 0, every hand whose bound is above its value in
        the subgame terminates. If all do, regrets in the subgame stop changing.
    purge : float
        Actions below this probability are not played, unless all are below it. On the river, where no board is sampled,
        all actions are played.
    nets : str
        Folder with networks for the end of the flop and the start of the turn, in subfolders named by their levels;
        ``bundled`` for those of the package. The networks stand for the turn and the river in solves of the flop. If
        empty, a flop is solved to the end of the hand.
    preflop : {"blueprint", "nets"}
        The player before the flop: the blueprint, or continual re-solving with further networks, `PREFLOP_NETS`, from
        the folder `nets`. Re-solving needs no blueprint at all.
    cards, last_boards
        As in `SearchConfig`: the buckets of later streets, and the rivers dealt after each turn in a solve of the flop.

    Raises
    ------
    ValueError
        If a setting is out of range.
    """

    iterations: int = 0
    time: float = 0.0
    threads: int = 0
    estimate: float = 0.5
    purge: float = 0.05
    nets: str = ""
    preflop: str = "blueprint"
    cards: str = "flop-500"
    last_boards: int = 8

    def __post_init__(self):
        if self.iterations and not 2 <= self.iterations <= MAX_ITERATIONS:
            raise ValueError(f"iterations are 2 to {MAX_ITERATIONS:,}, or 0 for the default, got {self.iterations!r}")
        if self.iterations and self.time:
            raise ValueError(f"give iterations or time, not both, got {self.iterations} and {self.time:g}")
        shortest = _MIN_SECONDS_WITH_NETS if self.nets else _MIN_SECONDS
        if self.time and not (math.isfinite(self.time) and shortest <= self.time <= MAX_SECONDS):
            least = f"{shortest:g}" if self.nets else f"{shortest:g} (with nets {_MIN_SECONDS_WITH_NETS:g})"
            raise ValueError(f"time is {least} to {MAX_SECONDS:g} seconds, got {self.time!r}")
        if self.threads < 0:
            raise ValueError(f"threads must be at least 1, or 0 for all processors, got {self.threads!r}")
        for name in ("estimate", "purge"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(f"{name} is a probability, 0 or more and below 1, got {getattr(self, name)!r}")
        if self.preflop not in PREFLOPS:
            raise ValueError(f"preflop is {' or '.join(PREFLOPS)}, got {self.preflop!r}")
        if self.preflop == "nets" and not self.nets:
            raise ValueError("preflop=nets plays with networks: give their folder by nets=FOLDER")
        if self.preflop == "nets" and self.cards == "blueprint":
            raise ValueError("preflop=nets plays without a blueprint: leave out cards=blueprint")
        _ = self.search  # checks the rest

    @property
    def num_iterations(self) -> int:
        """Iterations of a solve with networks; 0 under a time limit."""
        return 0 if self.time else self.iterations or _ITERATIONS

    @property
    def search(self) -> SearchConfig:
        """The settings of the solver that continual re-solving shares with search."""
        return SearchConfig(
            time=max(self.time, MIN_SECONDS) if self.time else SearchConfig.time,
            iterations=0 if self.time else self.iterations or _ITERATIONS,
            threads=self.threads,
            purge=self.purge,
            cards=self.cards,
            last_boards=self.last_boards,
        )
