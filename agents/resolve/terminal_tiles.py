"""The terminal nodes of a street, taken together for sixteen roots, for strategies by bucket.

Folds, showdowns and the street's ends are its terminal nodes.

With strategies by bucket, a seat's reach at a node is its reach at the root, by hand, times a product of probabilities,
by bucket. A street's roots fall into groups of sixteen. In a *play tile*, a block has for one bucket the products of
one seat at one terminal node under each of the sixteen roots. So the reach of a hand at these nodes is one product of
two blocks: of the hand's reach at the sixteen roots, and of its bucket's block in the play tile.

The traverser's value at the nodes is a block, too, which is added to the block of the traverser's bucket in a *value
tile*. Values are linear, so one walk up the betting by bucket, after all boards, gives the regrets of each bucket. The
values at the roots are by hand: the sum of the hand's values at the nodes, each times its bucket's block in a *gain
tile*. This block has the traverser's own products, times the stakes.

Folds and showdowns with the same reach of the opponent share a play tile, which then has two value tiles. Groups have
as many tiles as their largest roots need, so roots of one shape should stand side by side (`street_betting` with
`by_chips`). The lanes that smaller roots leave unused have products of 0.
"""

from typing import NamedTuple

import numpy as np

from plurispiel.abstraction.machine.lanes import LANES, blocks_for, empty_blocks
from plurispiel.agents.resolve import _terminal_tile_kernels as kernels
from plurispiel.agents.resolve.layout import StreetLayout

__all__ = ["TerminalTiles", "TileWorkspace", "lay_out_tiles"]


class TerminalTiles(NamedTuple):
    """The tiles of a street. Rows are numbered within a group of sixteen roots.

    Attributes
    ----------
    node_first : int32[num_groups + 1]
        The first node of each group, then the number of nodes.
    action_first : int32[2, num_groups + 1]
        For each seat, the index in `StreetLayout.action_rows` of each group's first entry; multiples of 16.
    end_first : int32[num_groups + 1]
        The number of tiles for ends of the street in the groups before each group, and in all groups.
    end_numbers : int32[16 * num_end_tiles]
        The number of the end in each lane of these tiles; for an unused lane, the length of a row of
        `StreetLayout.ends`.
    num_ends : int
        The number of ends of the street.
    tile_first : int32[2, num_groups, 5]
        For each seat as the traverser and each group: the first play tile for showdowns alone, the first for showdowns
        and folds, the first for folds alone, the first for ends of the street, and the end of the group's play tiles.
    value_first : int32[2, num_groups, 5]
        The value tile that belongs to each entry of `tile_first`. A play tile for showdowns and folds has two value
        tiles, showdowns first.
    tile_rows : int32[2, 16 * num_tiles]
        For each seat as the traverser, the path rows of the *other* seat in the lanes of each play tile.
    path_row : int32[2, num_nodes]
        The row of each seat's products at each node. The first sixteen rows are those of the roots; a row for each of
        the seat's actions in the group follows, in the order of `StreetLayout.action_rows`.
    value_row : int32[2, num_nodes]
        The row of each seat's values by bucket at each node: sixteen rows for each of the group's value tiles, then a
        row for each of the group's nodes.
    num_paths : int64[2]
        For each seat, the largest number of path rows of a group. The row of this number is 0 in all buckets.
    """

    node_first: np.ndarray
    action_first: np.ndarray
    end_first: np.ndarray
    end_numbers: np.ndarray
    num_ends: int
    tile_first: np.ndarray
    value_first: np.ndarray
    tile_rows: np.ndarray
    path_row: np.ndarray
    value_row: np.ndarray
    num_paths: np.ndarray


class TileWorkspace(NamedTuple):
    """Scratch memory in which tiles are filled and emptied, sixteen buckets at a time.

    Attributes
    ----------
    plan, gained : float[n, 16]
        The strategies and the regrets of a group: a block for each of a seat's actions.
    paths : float[n, 16]
        The products of a group, in the rows of `TerminalTiles.path_row`.
    values : float[n, 16]
        The values of a group, in the rows of `TerminalTiles.value_row`.
    spare : float[16, 16]
        Blocks that are transposed.
    rows : int64[16]
        The indices of these blocks.
    lanes : int64[16]
        The numbers 0 to 15.
    """

    plan: np.ndarray
    gained: np.ndarray
    paths: np.ndarray
    values: np.ndarray
    spare: np.ndarray
    rows: np.ndarray
    lanes: np.ndarray


def lay_out_tiles(layout: StreetLayout, ends: np.ndarray) -> TerminalTiles:
    """Return the tiles of a street.

    Parameters
    ----------
    layout : StreetLayout
    ends : int32[num_nodes]
        `StreetNodes.end`.
    """
    num_nodes, padded_ends = len(layout.kind), layout.ends.shape[1]
    node_first = np.array([*layout.roots[::LANES], num_nodes], np.int32)
    num_groups, action_first = len(node_first) - 1, _action_first(layout, node_first)
    tiles = TerminalTiles(
        node_first=node_first,
        action_first=action_first,
        end_first=np.zeros(num_groups + 1, np.int32),
        end_numbers=np.full(LANES * num_nodes, padded_ends, np.int32),
        num_ends=int(ends.max(initial=-1)) + 1,
        tile_first=np.zeros((2, num_groups, 5), np.int32),
        value_first=np.zeros((2, num_groups, 5), np.int32),
        tile_rows=np.zeros((2, LANES * num_nodes), np.int32),
        path_row=np.zeros((2, num_nodes), np.int32),
        value_row=np.zeros((2, num_nodes), np.int32),
        num_paths=LANES + np.diff(action_first, axis=1).max(axis=1).astype(np.int64),
    )
    most = int(tiles.num_paths.max())
    kernels.place_tiles(layout, ends, tiles, np.zeros(most, np.int8), np.zeros(most, np.int32))
    num_tiles = int(tiles.tile_first[:, -1, -1].max())
    return tiles._replace(
        end_numbers=tiles.end_numbers[: LANES * int(tiles.end_first[-1])].copy(),
        tile_rows=np.ascontiguousarray(tiles.tile_rows[:, : LANES * num_tiles]),
    )


def _action_first(layout: StreetLayout, node_first: np.ndarray) -> np.ndarray:
    """Return `TerminalTiles.action_first`."""
    stops = layout.table_lane + np.diff(layout.child_first)
    first = np.zeros((2, len(node_first)), np.int32)
    for seat in range(2):
        of_seat = np.where(layout.kind == seat, stops, 0)
        largest = np.maximum.accumulate(np.maximum.reduceat(of_seat, node_first[:-1]))
        first[seat, 1:] = -(-largest // LANES) * LANES
    return first


def tile_workspace(tiles: TerminalTiles, layout: StreetLayout, dtype: np.dtype) -> TileWorkspace:
    """Return a workspace for the tiles of a street."""
    num_actions = int(tiles.num_paths.max())
    num_values = int((tiles.value_first[..., -1] - tiles.value_first[..., 0]).max())
    num_nodes = int(np.diff(tiles.node_first).max())
    return TileWorkspace(
        plan=empty_blocks(num_actions, dtype),
        gained=empty_blocks(num_actions, dtype),
        paths=empty_blocks(num_actions + 1, dtype),
        values=empty_blocks(LANES * num_values + num_nodes, dtype),
        spare=empty_blocks(LANES, dtype),
        rows=np.zeros(LANES, np.int64),
        lanes=np.arange(LANES),
    )


def padded(width: int) -> int:
    """Return the number of blocks in a tile: the number of buckets, rounded up to a multiple of 16."""
    return blocks_for(width) * LANES
