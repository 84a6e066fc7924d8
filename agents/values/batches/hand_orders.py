"""The order of all hands by strength on many boards, as tensors on a device, and matrices computed from the order.

A hand's *rank* on a board is the number of its group of equal strength (`OrderedHands`), weakest first; -1 for a hand
that shares a card with the board. On boards before the river, strength is the equity against the uniform range.
"""

import functools
import importlib
import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from plurispiel.abstraction.holdem.boards import board_classes, find_boards, relabel_combos
from plurispiel.abstraction.holdem.rules import HoldemRules
from plurispiel.abstraction.holdem.showdown import rank_hands
from plurispiel.agents.values.ordered_hands import ordered_hands

__all__ = ["HandOrders", "bin_matrices", "margin_matrices", "order_rows", "run_outs"]


def order_rows(rules: HoldemRules, num_cards: int, first: int, end: int) -> np.ndarray:
    """Return ranks and order of hands on the classes of boards from `first` to `end` - 1: int16[n, 2, num_combos].

    The first row of a class has the rank of each combo. The second row has the combos in the order of `ordered_hands`,
    filled up with -1.

    Parameters
    ----------
    rules : HoldemRules
    num_cards : int
        Number of board cards.
    first, end : int
        Rows of `BoardClasses.boards`.
    """
    classes = board_classes(num_cards, rules.num_suits, rules.num_ranks)
    return np.stack([_row(rules, tuple(board)) for board in classes.boards[first:end].tolist()])


def _row(rules: HoldemRules, board: tuple[int, ...]) -> np.ndarray:
    is_last = len(board) == rules.board_size(rules.num_streets - 1)
    hands = rank_hands(rules, board) if is_last else ordered_hands(rules, board).hands
    row = np.full((2, rules.num_combos), -1, np.int16)
    row[0, hands.combos] = np.repeat(np.arange(len(hands.groups) - 1), np.diff(hands.groups))
    row[1, : len(hands.combos)] = hands.combos
    return row


class HandOrders:
    """The order of hands on any boards of a game.

    Parameters
    ----------
    rules : HoldemRules
    device : torch.device
    tables : mapping of int to int16[num_classes, 2, num_combos], optional
        For a number of board cards, the rows of all classes (`order_rows`). Boards of other sizes are ranked one by
        one.
    """

    def __init__(self, rules: HoldemRules, device: Any, tables: Mapping[int, np.ndarray] | None = None):
        self.rules, self.device = rules, device
        self._torch = importlib.import_module("torch")
        self._tables = {size: self._there(table) for size, table in (tables or {}).items()}
        self._images = self._there(relabel_combos(rules.num_suits, rules.num_ranks, rules.num_hole_cards)).long()

    def combos(self, boards: np.ndarray) -> Any:
        """Return the hands of each board, in the order of `ordered_hands`: int64 tensor [n, H].

        Parameters
        ----------
        boards : uint8[n, k]
            Representatives of their classes.
        """
        rules, size = self.rules, boards.shape[1]
        hands = math.comb(len(rules.cards) - size, rules.num_hole_cards)
        if (table := self._tables.get(size)) is None:
            return self._there(self._one_by_one(boards)[:, 1, :hands]).long()
        classes, _ = find_boards(boards, rules.num_suits, rules.num_ranks)
        return table[self._there(classes), 1, :hands].long()

    def ranks(self, boards: np.ndarray, combos: Any) -> Any:
        """Return the ranks of some hands on each board: int16 tensor [n, H].

        Parameters
        ----------
        boards : uint8[n, k]
        combos : int64 tensor [n, H]
            The hands to rank on each board.
        """
        rules = self.rules
        if (table := self._tables.get(boards.shape[1])) is None:
            return self._there(self._one_by_one(boards)[:, 0]).gather(1, combos)
        classes, renamings = find_boards(boards, rules.num_suits, rules.num_ranks)
        renamed = self._images[self._there(renamings)].gather(1, combos)
        first = self._there(classes)[:, None] * (2 * rules.num_combos)
        return self._torch.take(table, renamed + first)

    def _one_by_one(self, boards: np.ndarray) -> np.ndarray:
        keys = [tuple(each) for each in boards.tolist()]
        rows = {board: _row(self.rules, board) for board in set(keys)}
        return np.stack([rows[key] for key in keys])

    def _there(self, rows: np.ndarray) -> Any:
        return self._torch.from_numpy(np.array(rows)).to(self.device)


@functools.lru_cache(maxsize=8)
def _ends(num_cards: int, missing: int) -> np.ndarray:
    chosen = list(combinations(range(num_cards), missing))
    return np.array(chosen, np.int64).reshape(len(chosen), missing)


def run_outs(rules: HoldemRules, boards: np.ndarray, size: int) -> np.ndarray:
    """Return all boards of a size that can follow each board: uint8[n, R, size].

    Parameters
    ----------
    rules : HoldemRules
    boards : uint8[n, k]
    size : int
        Number of cards of the boards to return, at least k.
    """
    count, known = boards.shape
    left = np.ones((count, len(rules.cards)), bool)
    np.put_along_axis(left, np.searchsorted(rules.cards, boards), False, axis=1)
    cards = rules.cards[np.nonzero(left)[1].reshape(count, -1)]
    new = cards[:, _ends(cards.shape[1], size - known)]
    before = np.broadcast_to(boards[:, None], (count, new.shape[1], known))
    return np.concatenate([before, new], axis=2).astype(np.uint8)


def margin_matrices(torch: Any, ranks: Any, shares_card: Any, chance: float) -> Any:
    """Return each hand's probability to win against each other hand, minus that to lose: float32 tensor [n, H, H].

    Parameters
    ----------
    torch : module
    ranks : int16 tensor [n, R, H]
        Ranks on all R complete boards that may follow.
    shares_card : bool tensor [n, H, H]
        Whether two hands share a card.
    chance : float
        The probability of a board, given both hands.
    """
    count, boards, hands = ranks.shape
    wins = torch.zeros((count, hands, hands), dtype=torch.float16, device=ranks.device)
    known = torch.where(ranks < 0, torch.nan, ranks.to(torch.float32)).to(torch.float16)  # NaN: no comparison holds
    for number in range(boards):
        row = known[:, number]
        wins += row[:, :, None] > row[:, None, :]
    found = wins.to(torch.float32)
    found = (found - found.transpose(1, 2)) * chance
    return found.masked_fill_(shares_card, 0.0)


def bin_matrices(torch: Any, ranks: Any, num_bins: int) -> Any:
    """Return the shares of each hand in all bins of strength: float32 tensor [n, H, num_bins].

    From the flop on, and with fewer bins than hands, the shares are those of `encoding.bins_of`. A hand with the rank
    -1 has shares of 0.

    Parameters
    ----------
    torch : module
    ranks : int16 tensor [n, H]
    num_bins : int
    """
    places = ranks.long() + 1
    live = places > 0
    counts = torch.zeros((len(places), int(places.max()) + 2), dtype=torch.float32, device=ranks.device)
    counts.scatter_add_(1, places, live.to(torch.float32))
    weaker = torch.cumsum(counts, 1) - counts
    middles = (weaker + (counts - 1.0) / 2.0).gather(1, places)
    scaled = middles / (live.sum(1, keepdim=True) - 1.0) * (num_bins - 1)
    first = scaled.floor().clamp(0, num_bins - 1)
    share = (scaled - first).clamp(0.0, 1.0)
    found = torch.zeros((*ranks.shape, num_bins + 1), dtype=torch.float32, device=ranks.device)
    found.scatter_(2, first.long()[:, :, None], (1.0 - share)[:, :, None])
    found.scatter_(2, first.long()[:, :, None] + 1, share[:, :, None])
    found *= live[:, :, None]
    return found[:, :, :num_bins]
