"""Features relative to the query: z-scores and percentile ranks of columns within each query.

Each kernel reads the columns ``sources`` of ``values`` and writes one column for each to ``output``, from the column
``first`` on. ``values`` and ``output`` may be the same array. ``rows`` holds the rows query by query; it is empty if the
rows already are in that order. NaN stays NaN and is not counted. A column without two different values in a query is 0.
Sums are in double precision. Both kernels return True if they found an infinite value; ``output`` is then unusable.
"""

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel
from gapboost._kernels.order.short import Elements, Sorting, rank_one, sorting
from gapboost._kernels.simd import LANES, pointer

IN_ORDER = np.empty(0, np.int64)

# Least range that values are divided by: its inverse is finite.
LEAST_RANGE = 1e-300


def sorting_for(longest: int) -> Sorting:
    """Return the working memory of `percentile_ranks` for lists up to `longest`."""
    room = longest + LANES
    elements, other = (Elements(np.empty(room), np.empty(room, np.int32)) for _ in range(2))
    return sorting(elements, other, longest)


@kernel
def zscores(values: Array, sources: Array, rows: Array, offsets: Array, output: Array, first: int) -> bool:
    """Write the distance of each value from the mean of its query, in population standard deviations."""
    n = len(sources)
    low, high, half, inverse, count, mean, spread = np.empty((7, n))
    infinite = False
    for q in range(len(offsets) - 1):
        low[:] = np.inf
        high[:] = -np.inf
        count[:] = 0.0
        mean[:] = 0.0
        spread[:] = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i] if len(rows) > 0 else i
            for j in range(n):
                x = float(values[row, sources[j]])
                low[j] = x if x < low[j] else low[j]
                high[j] = x if x > high[j] else high[j]
                count[j] += 1.0 if x == x else 0.0
        for j in range(n):
            infinite |= low[j] == -np.inf or high[j] == np.inf
            # The range of two floats can overflow, that of their halves cannot.
            half[j] = 0.5 if high[j] - low[j] == np.inf else 1.0
            low[j] *= half[j]
            inverse[j] = 1.0 / max(high[j] * half[j] - low[j], LEAST_RANGE)
        # Values are scaled to 0..1 first: no square overflows, and a large common offset costs no digits.
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i] if len(rows) > 0 else i
            for j in range(n):
                x = (float(values[row, sources[j]]) * half[j] - low[j]) * inverse[j]
                mean[j] += x if x == x else 0.0
        for j in range(n):
            mean[j] /= count[j]
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i] if len(rows) > 0 else i
            for j in range(n):
                x = (float(values[row, sources[j]]) * half[j] - low[j]) * inverse[j] - mean[j]
                spread[j] += x * x if x == x else 0.0
        for j in range(n):
            # Rounding must not make a constant column vary.
            spread[j] = np.sqrt(count[j] / spread[j]) if high[j] * half[j] > low[j] else 0.0
        for i in range(offsets[q], offsets[q + 1]):
            row = rows[i] if len(rows) > 0 else i
            for j in range(n):
                x = (float(values[row, sources[j]]) * half[j] - low[j]) * inverse[j]
                output[row, first + j] = (x - mean[j]) * spread[j]
    return infinite


@kernel
def percentile_ranks(
    values: Array, sources: Array, rows: Array, offsets: Array, output: Array, first: int, work: Sorting
) -> bool:
    """Write the share of the query's other documents with a lower value; equal values get the mean of their ranks."""
    elements = Elements(pointer(work.elements.scores), pointer(work.elements.rows))
    other = Elements(pointer(work.other.scores), pointer(work.other.rows))
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    order = np.empty(longest, np.int32)
    infinite = False
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        for j in range(len(sources)):
            column = sources[j]
            target = first + j
            n = 0
            for i in range(offsets[q + 1] - begin):
                row = rows[begin + i] if len(rows) > 0 else begin + i
                x = float(values[row, column])
                if x == x:
                    infinite |= x - x != 0.0
                    elements.scores[n] = x
                    elements.rows[n] = i
                    n += 1
                else:
                    output[row, target] = np.nan
            if infinite:
                return True
            rank_one(n, elements, other, pointer(work.ends), pointer(work.pieces), pointer(order))
            above = 0
            while above < n:
                # Best first: documents ``above..below-1`` have equal values.
                place = begin + order[above]
                x = values[rows[place] if len(rows) > 0 else place, column]
                below = above + 1
                while below < n:
                    place = begin + order[below]
                    if values[rows[place] if len(rows) > 0 else place, column] != x:
                        break
                    below += 1
                mean = n - 0.5 * (above + below + 1)
                share = mean / (n - 1.0) if below - above < n else 0.0
                for i in range(above, below):
                    place = begin + order[i]
                    output[rows[place] if len(rows) > 0 else place, target] = share
                above = below
    return infinite
