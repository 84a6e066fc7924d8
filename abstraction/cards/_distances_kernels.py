"""Kernels that find the nearest of many centroids.

Points and centroids are small integers in bytes or float32, so that the sums of the search are exact. Neither the order
of additions nor the number of threads can change a nearest centroid. Among equally near centroids, the one with the
lowest number is taken.
"""

import numpy as np

from plurispiel.abstraction.machine.jit import kernel

LANES = 16
"""Number of centroids in a block; a point is compared with all of them at once."""
UNROLLED = 8
"""Number of dimensions in one step of a loop; points and centroids have a multiple of this number of dimensions."""


@kernel(inline=True)
def _add_absolute(point, block, costs):
    """Write the L1 distance of a point to each centroid of a block. Modified in place: `costs`."""
    costs[:] = np.float32(0.0)
    for d in range(0, len(point), 8):
        p = point[d : d + 8]
        x0, x1, x2, x3 = np.float32(p[0]), np.float32(p[1]), np.float32(p[2]), np.float32(p[3])
        x4, x5, x6, x7 = np.float32(p[4]), np.float32(p[5]), np.float32(p[6]), np.float32(p[7])
        c = block[d : d + 8]
        for j in range(LANES):
            low = abs(x0 - c[0, j]) + abs(x1 - c[1, j]) + abs(x2 - c[2, j]) + abs(x3 - c[3, j])
            costs[j] += low + abs(x4 - c[4, j]) + abs(x5 - c[5, j]) + abs(x6 - c[6, j]) + abs(x7 - c[7, j])


@kernel(inline=True)
def _add_squares(point, block, costs):
    """Write the squared distance of a point to each centroid of a block. Modified in place: `costs`."""
    costs[:] = np.float32(0.0)
    for d in range(0, len(point), 8):
        p = point[d : d + 8]
        x0, x1, x2, x3 = np.float32(p[0]), np.float32(p[1]), np.float32(p[2]), np.float32(p[3])
        x4, x5, x6, x7 = np.float32(p[4]), np.float32(p[5]), np.float32(p[6]), np.float32(p[7])
        c = block[d : d + 8]
        for j in range(LANES):
            low = (x0 - c[0, j]) ** 2 + (x1 - c[1, j]) ** 2 + (x2 - c[2, j]) ** 2 + (x3 - c[3, j]) ** 2
            high = (x4 - c[4, j]) ** 2 + (x5 - c[5, j]) ** 2 + (x6 - c[6, j]) ** 2 + (x7 - c[7, j]) ** 2
            costs[j] += low + high


@kernel
def fill_nearest(points, centroids, squared, costs, recent, labels, distances):
    """Write the nearest centroid of each point, the one with the lowest id among equals, and its distance.

    Parameters
    ----------
    points : uint8[n, dims]
    centroids : CentroidBlocks
    squared : bool
        Whether the distance is the squared Euclidean distance; otherwise it is the sum of absolute differences.
    costs : float32[16]
        Workspace.
    recent : int32[a power of 2]
        Workspace: for each hash, the index of the last point with this hash; -1 if there is none.
    labels : int32[n]
        Number of the nearest centroid of each point. Modified in place.
    distances : float32[n]
        Distance of each point from its nearest centroid. Modified in place.

    Notes
    -----
    Two vectors whose sums differ by g have an L1 distance of at least g, and a squared distance of at least
    g**2 / dims. A block is therefore skipped if the range of its centroids' sums is too far from the point's sum. If
    centroids are ordered by their sums, these ranges are narrow, and most blocks are skipped. Two of three hands on a
    board share their features with another hand. The hash table `recent` finds earlier points with equal features,
    whose results are copied.
    """
    dims = points.shape[1]
    recent[:] = -1
    lowest, highest = centroids.lowest, centroids.highest
    num_blocks = len(lowest)
    for i in range(len(points)):
        point = points[i]
        total = mixed = np.int64(0)
        for d in range(dims):
            total += point[d]
            mixed += np.int64(point[d]) * (d * 0x9E3779B1 + 0x85EBCA6B)
        slot = (mixed ^ (mixed >> 17)) & (len(recent) - 1)
        seen = recent[slot]
        if seen >= 0:
            other = points[seen]
            same = True
            for d in range(dims):
                same &= point[d] == other[d]
            if same:
                labels[i] = labels[seen]
                distances[i] = distances[seen]
                continue
        recent[slot] = i
        # The block with the nearest sums comes first: the smaller the best distance, the more blocks are skipped.
        first, first_gap = 0, np.int64(1) << np.int64(60)
        for block in range(num_blocks):
            gap = max(lowest[block] - total, total - highest[block])
            if gap < first_gap:
                first, first_gap = block, gap
        best, label = np.float32(np.inf), np.int64(1) << 30
        for step in range(num_blocks + 1):
            block = first if step == 0 else step - 1
            if step > 0:
                gap = max(max(lowest[block] - total, total - highest[block]), 0)
                if block == first or (gap * gap > best * dims if squared else gap > best):
                    continue
            if squared:
                _add_squares(point, centroids.blocks[block], costs)
            else:
                _add_absolute(point, centroids.blocks[block], costs)
            for j in range(LANES):
                if costs[j] < best or (costs[j] == best and block * LANES + j < label):
                    best, label = costs[j], np.int64(block * LANES + j)
        labels[i] = label
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
    nearest : int16[k, num_buckets, most buckets in a centroid]
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
    """Add the weighted distances of points to the means of their buckets.

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
