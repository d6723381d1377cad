"""What a document of a long list receives from far ranks, on a GPU: sums over tiles.

A tile is some consecutive ranks of a query. The factors of a pair are sums of exponentials of the
difference of the two scores, sum_k c_k e^(-r_k x), and each exponential is a product of one number
of the giving document and one of the receiving document. So the documents of a tile act on all
documents below it, or above it, by their moments: for each rate and each level of the receiver,

    PLAIN   the sum of e^(-r_k x) over the documents of that level
    SIGNED  the sum of e^(-r_k x) times what they know of the change, negative in the wrong order
    WRONG   the same over the documents whose pair is in the wrong order, where the factor is 1 - t

Here x is the difference to the score at the edge of the tile. Kernels fill the moments of each
tile, add up the tiles above and those below, and take them up at each document. No exponential is
above 1. `gapboost._kernels.lambdarank` has the formulas; all numbers are float64.
"""

import math

from numba import cuda, float64

PLAIN, SIGNED, WRONG = 0, 1, 2

# Sides of the receiver on which the giving documents are.
ABOVE, BELOW = 0, 1


@cuda.jit
def fill_moments(starts, tiles, query, size, s, grade, upper, lower, rates, moments):
    """Fill the moments of each tile. One block a tile; a thread has a side, a rate and a level.

    `moments` has the shape (tiles, sides, kinds, rates, levels); tile t belongs to query[t].
    """
    t = cuda.blockIdx.x
    q = query[t]
    begin = starts[q] + (t - tiles[q]) * size
    end = min(begin + size, starts[q + 1])
    n_rates, n_levels = moments.shape[3], moments.shape[4]
    for item in range(cuda.threadIdx.x, 2 * n_rates * n_levels, cuda.blockDim.x):
        side, k, level = item // n_levels // n_rates, item // n_levels % n_rates, item % n_levels
        edge = float64(s[end - 1] if side == ABOVE else s[begin])
        plain, signed, wrong = 0.0, 0.0, 0.0
        for j in range(begin, end):
            e = math.exp(-rates[k] * abs(s[j] - edge))
            change = e * float64(upper[j, level] if side == ABOVE else lower[j, level])
            if grade[j] == level:
                plain += e
            elif (grade[j] > level) == (side == ABOVE):
                signed += change
            else:
                signed -= change
                wrong += change
        moments[t, side, PLAIN, k, level] = plain
        moments[t, side, SIGNED, k, level] = signed
        moments[t, side, WRONG, k, level] = wrong


@cuda.jit
def add_tiles(starts, tiles, size, s, rates, moments):
    """Replace the moments of each tile by those of all tiles above it, and of all below it.

    They belong to the edge of the next tile on that side. One row of blocks a query, one thread a
    moment.
    """
    q = cuda.blockIdx.x
    item = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    n_rates, n_levels = moments.shape[3], moments.shape[4]
    level, k = item % n_levels, item // n_levels % n_rates
    kind, side = item // (n_levels * n_rates) % 3, item // (n_levels * n_rates * 3)
    if side > BELOW or tiles[q] == tiles[q + 1]:
        return
    begin, end, n_tiles = starts[q], starts[q + 1], tiles[q + 1] - tiles[q]
    total, before = 0.0, float64(s[begin] if side == ABOVE else s[end - 1])
    for step in range(n_tiles):
        t = step if side == ABOVE else n_tiles - 1 - step
        first = begin + t * size
        edge = float64(s[min(first + size, end) - 1 if side == ABOVE else first])
        own = moments[tiles[q] + t, side, kind, k, level]
        moments[tiles[q] + t, side, kind, k, level] = total
        total = total * math.exp(-rates[k] * abs(edge - before)) + own
        before = edge


@cuda.jit
def receive(starts, tiles, query, size, s, grade, upper, lower, distance, decays, moments, far):
    """Write the push and the curvature of each document by other tiles. One thread a document.

    `decays` has rates, and coefficients of the factors t, t (1 - t) and 1, divided by the distance
    of the scores if `distance` is not 0.
    """
    i = cuda.grid(1)
    if i >= s.shape[0] or tiles[query[i]] == tiles[query[i] + 1]:
        return
    q, a = query[i], grade[i]
    begin, end = starts[q], starts[q + 1]
    t = (i - begin) // size
    grad, hess = 0.0, 0.0
    for side in range(2):
        edge = begin + t * size - 1 if side == ABOVE else begin + (t + 1) * size
        if begin <= edge < end:
            table, of_tile = (lower if side == ABOVE else upper)[i], moments[tiles[q] + t, side]
            for k in range(decays.shape[1]):
                signed, wrong = of_tile[SIGNED, k, a], of_tile[WRONG, k, a]
                for level in range(table.shape[0]):
                    change = table[level] * of_tile[PLAIN, k, level]
                    if (level > a) == (side == ABOVE):
                        signed += change
                    else:  # where nothing changes at its own level
                        signed -= change
                        wrong += change
                e = math.exp(-decays[0, k] * abs(float64(s[edge]) - s[i]))
                force = e * (signed * decays[1, k] + wrong * decays[3, k])
                grad += force if side == BELOW else -force
                hess -= e * signed * decays[2, k]
    # equal scores are at no distance: nothing is divided
    unit = distance if distance > 0.0 and s[begin] == s[end - 1] else 1.0
    far[0, i] = grad * unit
    far[1, i] = hess * unit
