"""The rows of the seat that a best response faces, in the order of the batches of a street's betting."""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.actions.tree import BettingTree
from plurispiel.abstraction.machine.lanes import LANES, empty_blocks
from plurispiel.agents.blueprint.acting_rows import DefendedDecisions, StreetRows
from plurispiel.evaluation._defence_kernels import DefendedRows
from plurispiel.evaluation.betting_batches import StreetBatches

__all__ = ["FacingTable", "facing_table"]


class FacingTable(NamedTuple):
    """One seat's rows on a street, in the order of batches; fields as in `kernels.FacingRows`.

    `defended` is without `order` and `ranks`, which depend on the board.
    """

    table: np.ndarray
    table_first: np.ndarray
    open_first: np.ndarray
    numbers: np.ndarray
    places: np.ndarray
    defended: DefendedRows


def facing_table(
    tree: BettingTree, batches: StreetBatches, found: StreetRows, seat: int, dtype: np.dtype
) -> FacingTable:
    """Return one seat's rows on a street in the order of batches.

    An *open* row differs between the combos of a bucket: -1 in the table, so that kernels fill it for each combo
    (see `acting_rows`).

    Parameters
    ----------
    tree : BettingTree
    batches : StreetBatches
        The batches of the street.
    found : StreetRows
    seat : int
    dtype : data type
        float32 or float64.
    """
    nodes, num_buckets = batches.nodes, found.table.shape[0]
    entries = nodes.num_entries[seat][nodes.shape]
    first, open_first = np.cumsum([0, *(entries * num_buckets)]), np.cumsum([0, *entries])
    table = empty_blocks(int(first[-1]), dtype)
    numbers = np.full((int(open_first[-1]), LANES), -1, np.int32)
    places = np.zeros(int(open_first[-1]), np.int32)
    number_of, defended_of = (np.full(len(tree.actor), -1, np.int32) for _ in range(2))
    number_of[found.open_nodes] = np.arange(len(found.open_nodes))
    defended_of[found.defended.nodes] = np.arange(len(found.defended.nodes))
    defended_numbers = np.full(int(open_first[-1]) if len(found.defended.nodes) else 0, -1, np.int32)
    defended: list[np.ndarray] = []  # for each decision of a batch, its number in `found.defended` lane by lane
    for batch, members in enumerate(batches.members):
        start = nodes.first[nodes.shape[batch]]
        columns = np.full((int(entries[batch]), LANES), -1, np.int64)
        for offset in range(1, len(members)):
            parent = int(nodes.parent[start + offset])
            if nodes.kind[start + parent] != seat:
                continue
            entry, parents, children = int(nodes.entry[start + offset]), members[parent], members[offset]
            is_used = children >= 0
            place = (children - tree.first_child[parents])[is_used]
            columns[entry, is_used] = tree.row[parents[is_used]] + place
            action = open_first[batch] + entry
            numbers[action, is_used] = number_of[parents[is_used]]
            places[action] = place[0]  # lanes have one shape
            if (
                place[0] < 2 and (defended_of[parents[is_used]] >= 0).any()
            ):  # no decision of the street comes after either
                if place[0] == 0:
                    defended.append(np.where(is_used, defended_of[parents], -1))
                defended_numbers[action] = len(defended) - 1
        rows = found.table[:, columns.ravel()]
        rows[:, columns.ravel() < 0] = 0.0
        here = numbers[open_first[batch] : open_first[batch + 1]].ravel()
        has_open = np.flatnonzero(here >= 0)
        rows[:, has_open] = np.where(found.is_open[:, here[has_open]], -1.0, rows[:, has_open])
        table[first[batch] : first[batch + 1]] = rows.reshape(-1, LANES)
    if not len(found.open_nodes):
        numbers = numbers[:0]
    by_lane = np.array(defended, np.int64).reshape(-1, LANES)
    rows_of = _defended_rows(found.defended, defended_numbers, by_lane)
    return FacingTable(table, first[:-1], open_first[:-1], numbers, places, rows_of)


def _defended_rows(found: DefendedDecisions, numbers: np.ndarray, by_lane: np.ndarray) -> DefendedRows:
    """Return the decisions that are defended in the order of batches, without `order` and `ranks`.

    Parameters
    ----------
    numbers : int32[num_entries of all batches]
    by_lane : int64[n, 16]
        The number of each decision in `found`, lane by lane; -1 in a lane without a root.
    """
    num_buckets = len(found.places)
    shares = np.zeros(by_lane.shape)
    shares[by_lane >= 0] = found.shares[by_lane[by_lane >= 0]]
    places = found.places[:, by_lane.ravel()].reshape(num_buckets, len(by_lane), LANES)
    none = np.empty(0, np.int32)
    return DefendedRows(
        numbers,
        shares,
        np.arange(len(by_lane)) * num_buckets,
        np.ascontiguousarray(places.transpose(1, 0, 2)).reshape(-1, LANES),
        none,
        none,
    )
