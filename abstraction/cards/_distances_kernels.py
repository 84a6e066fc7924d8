"""Kernels of distances to centroids, and of the search for the nearest centroid.

Points and centroids are small integers in bytes or float32, so that the sums of the search are exact. Neither the order
of additions nor the number of threads can change a nearest centroid. Among equally near centroids, the one with the
lowest number is taken.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel
from plurispiel.abstraction.machine.lanes import larger, load, smallest, spread, where_positive

WORD_BYTES = 8
"""Points and centroids of `fill_nearest` have a multiple of eight dimensions: eight bytes are one word."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern: 2**64 divided by the golden ratio
_HIGH = np.uint64(32)
_NONE = np.int64(1) << np.int64(40)  # a gap above that of any point


@kernel(inline=True)
def _absolute(blocks, start, point):
    """Return the L1 distances of a point to the 16 centroids whose coordinates begin at the row `start`."""
    costs = spread(blocks, np.float32(0.0))
    for d in range(len(point)):
        entry, row = spread(blocks, point[d]), load(blocks, start + d)
        costs = costs + larger(entry - row, row - entry)
    return costs


@kernel(inline=True)
def _squares(blocks, start, point):
    """Return the squared distances of a point to the 16 centroids whose coordinates begin at the row `start`."""
    costs = spread(blocks, np.float32(0.0))
    for d in range(0, len(point), 4):
        gap0 = spread(blocks, point[d]) - load(blocks, start + d)
        gap1 = spread(blocks, point[d + 1]) - load(blocks, start + d + 1)
        gap2 = spread(blocks, point[d + 2]) - load(blocks, start + d + 2)
        gap3 = spread(blocks, point[d + 3]) - load(blocks, start + d + 3)
        costs = costs + ((gap0 * gap0 + gap1 * gap1) + (gap2 * gap2 + gap3 * gap3))
    return costs


@kernel
def fill_nearest(points, words, centroids, squared, point, recent, labels, distances):
    """Write the nearest centroid of each point, the one with the lowest number among equals, and its distance.

    Parameters
    ----------
    points : uint8[n, dims]
    words : uint64[n, dims / 8]
        The same memory as `points`, eight coordinates at a time.
    centroids : CentroidBlocks
    squared : bool
        Whether the distance is the squared Euclidean distance; otherwise it is the sum of absolute differences.
    point : float32[dims]
        Workspace: the coordinates of one point.
    recent : int32[a power of 2]
        Workspace: for each hash, the index of the last point with this hash; -1 if there is none.
    labels : int32[n]
        Number of the nearest centroid of each point. Modified in place.
    distances : float32[n]
        Distance of each point from its nearest centroid. Modified in place.

    Notes
    -----
    Two vectors whose sums differ by g have an L1 distance of at least g, and a squared distance of at least
    g**2 / dims. Blocks are in the order of their centroids' sums. The search begins with the block whose sums are
    nearest to the point's sum, and takes further blocks in ascending order of the gap between the sums. It stops when
    the gap alone makes all further centroids farther than the best one so far. With 200 centroids, it stops after three
    of thirteen blocks on average.

    Two of three hands on a board share their features with another hand. The hash table `recent` finds earlier points
    with equal features, whose results are copied.
    """
    dims, num_words = points.shape[1], words.shape[1]
    recent[:] = -1
    blocks, numbers, lowest, highest = centroids.blocks, centroids.numbers, centroids.lowest, centroids.highest
    num_blocks = len(lowest)
    far = spread(blocks, np.float32(np.inf))
    for i in range(len(points)):
        own = words[i]
        mixed = np.uint64(0)
        for w in range(num_words):
            mixed += (own[w] ^ (own[w] >> _HIGH)) * (_MULTIPLIER * np.uint64(2 * w + 1))
        slot = np.int64((mixed >> _HIGH) & np.uint64(len(recent) - 1))
        seen = recent[slot]
        if seen >= 0:
            other = words[seen]
            differences = np.uint64(0)
            for w in range(num_words):
                differences |= own[w] ^ other[w]
            if differences == 0:
                labels[i] = labels[seen]
                distances[i] = distances[seen]
                continue
        recent[slot] = i

        total = np.int64(0)
        for d in range(dims):
            total += points[i, d]
            point[d] = points[i, d]
        block = np.int64(centroids.first[total])
        above, below = block + 1, block - 1
        # Each lane keeps the smallest distance among its centroids so far, and the number of that centroid.
        costs = _squares(blocks, block * dims, point) if squared else _absolute(blocks, block * dims, point)
        nearest = load(numbers, block)
        best = smallest(costs)
        while True:
            gap_above = max(lowest[above] - total, 0) if above < num_blocks else _NONE
            gap_below = max(total - highest[below], 0) if below >= 0 else _NONE
            gap = min(gap_above, gap_below)
            if gap == _NONE or (gap * gap > best * dims if squared else gap > best):
                break
            if gap_above <= gap_below:
                block = above
                above += 1
            else:
                block = below
                below -= 1
            found = _squares(blocks, block * dims, point) if squared else _absolute(blocks, block * dims, point)
            others = load(numbers, block)
            lowest_number = where_positive(nearest - others, others, nearest)
            nearest = where_positive(costs - found, others, where_positive(found - costs, nearest, lowest_number))
            costs = where_positive(costs - found, found, costs)
            best = smallest(costs)
        labels[i] = np.int32(smallest(where_positive(costs - spread(blocks, best), far, nearest)))
        distances[i] = best


@kernel
def fill_distances(points, centroid, squared, distances):
    """Write the distance of each point from one centroid.

    Parameters
    ----------
    points : uint8[n, dims]
    centroid : uint8[dims]
    squared : bool
        The kind of distance, as in `fill_nearest`.
    distances : float32[n]
        Modified in place.
    """
    for i in range(len(points)):
        point = points[i]
        total = np.int64(0)
        if squared:
            for d in range(len(centroid)):
                gap = np.int64(point[d]) - np.int64(centroid[d])
                total += gap * gap
        else:
            for d in range(len(centroid)):
                total += abs(np.int64(point[d]) - np.int64(centroid[d]))
        distances[i] = total


@kernel
def add_members(points, weights, labels, sums, masses):
    """Add every point to its centroid's sum.

    Parameters
    ----------
    points : uint8[n, dims]
    weights : int64[n]
        Weight of each point.
    labels : int32[n]
        The centroid of each point.
    sums : int64[k, dims]
        Weighted sum of each centroid's points. Modified in place.
    masses : int64[k]
        Total weight of each centroid's points. Modified in place.
    """
    for i in range(len(points)):
        point, row, weight = points[i], sums[labels[i]], weights[i]
        masses[labels[i]] += weight
        for d in range(len(point)):
            row[d] += weight * point[d]


@kernel
def fill_nearest_greedy(points, centroids, nearest, num_held, ground, work, labels, distances):
    """Write each point's nearest centroid by the greedy earth mover's distance, the lowest number among equals.

    Parameters
    ----------
    points : uint8[n, num_buckets]
        Histograms over the buckets of the next street, all of one mass.
    centroids : uint8[k, num_buckets]
        Histograms of the same mass.
    nearest : int16[k, num_buckets, max(num_held)]
        For each centroid and bucket, the buckets in which the centroid has mass, the nearest to the bucket first.
    num_held : int32[k]
        Number of buckets with mass in each centroid.
    ground : float32[num_buckets, num_buckets]
        Distance between any two buckets, in whole numbers.
    work : GreedyWorkspace
    labels : int32[n]
        Number of the nearest centroid of each point. Modified in place.
    distances : float32[n]
        Distance of each point from its nearest centroid. Modified in place.
    """
    num_buckets = points.shape[1]
    buckets, need, left = work.buckets, work.need, work.left
    for i in range(len(points)):
        best, label = np.float64(np.inf), 0
        for m in range(len(centroids)):
            num_atoms = 0
            for s in range(num_buckets):
                left[s] = centroids[m, s]
                if points[i, s]:
                    buckets[num_atoms] = s
                    need[num_atoms] = points[i, s]
                    num_atoms += 1
            cost = np.float64(0.0)
            place = 0
            while num_atoms > 0 and place < num_held[m] and cost < best:
                still = 0
                for a in range(num_atoms):
                    target = nearest[m, buckets[a], place]
                    moved = min(need[a], left[target])
                    cost += moved * np.float64(ground[buckets[a], target])
                    left[target] -= moved
                    if moved < need[a]:
                        buckets[still] = buckets[a]
                        need[still] = need[a] - moved
                        still += 1
                num_atoms = still
                place += 1
            if cost < best:
                best, label = cost, m
        labels[i] = label
        distances[i] = best


@kernel
def add_gaps(points, weights, labels, means, totals):
    """Add each point's weighted distance from the mean of its bucket to `totals`.

    Parameters
    ----------
    points : uint8[n, dims]
    weights : int64[n]
        Weight of each point.
    labels : int32[n]
        The bucket of each point.
    means : float64[k, dims]
        The mean of each bucket's points.
    totals : float64[3]
        Weighted sums, over all points, of the L1 distance, the root mean square difference and the squared distance.
        Modified in place.
    """
    dims = points.shape[1]
    for i in range(len(points)):
        point, mean, weight = points[i], means[labels[i]], np.float64(weights[i])
        absolute = square = 0.0
        for d in range(dims):
            gap = point[d] - mean[d]
            absolute += abs(gap)
            square += gap * gap
        totals[0] += weight * absolute
        totals[1] += weight * np.sqrt(square / dims)
        totals[2] += weight * square
