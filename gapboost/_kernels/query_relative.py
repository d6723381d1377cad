"""Features relative to the query: z-scores and percentile ranks of columns within each query.

Each kernel reads ``n`` columns of ``values`` from the column ``source`` on, and writes ``n``
columns of ``output`` from the column ``target`` on. ``values`` and ``output`` may be the same
array. ``rows`` holds the rows query by query; it is empty if they already are in that order. ``x``,
float64, is working memory for one column of the longest query.

NaN stays NaN and is not counted. A column without two different values in a query is 0. Sums are in
double precision. Kernels return True if they found an infinite value; ``output`` is then unusable.
"""

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel, summing_kernel
from gapboost._kernels.order import Elements, Sorting, rank_one, sorting
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
def read_column(values: Array, column: int, rows: Array, begin: int, end: int, x: Array) -> None:
    """Copy a column of one query to the beginning of ``x``."""
    if len(rows) > 0:
        for i in range(begin, end):
            x[i - begin] = values[rows[i], column]
    else:
        for i in range(begin, end):
            x[i - begin] = values[i, column]


@kernel
def write_column(
    x: Array, column: int, rows: Array, begin: int, end: int, factor: float, output: Array
) -> None:
    """Write the beginning of ``x``, multiplied by a factor, to a column of one query."""
    if len(rows) > 0:
        for i in range(begin, end):
            output[rows[i], column] = x[i - begin] * factor
    else:
        for i in range(begin, end):
            output[i, column] = x[i - begin] * factor


@summing_kernel
def range_of(x: Array, n: int) -> tuple[float, float, float]:
    """Return the lowest value, the highest, and the number of values that are not NaN."""
    low = np.inf
    high = -np.inf
    count = 0.0
    for i in range(n):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
        count += 1.0 if x[i] == x[i] else 0.0
    return low, high, count


@summing_kernel
def scale(x: Array, n: int, half: float, low: float, inverse: float) -> float:
    """Scale values to 0..1 in place; return their sum."""
    total = 0.0
    for i in range(n):
        x[i] = (x[i] * half - low) * inverse
        total += x[i] if x[i] == x[i] else 0.0
    return total


@summing_kernel
def center(x: Array, n: int, mean: float) -> float:
    """Subtract the mean in place; return the sum of squares."""
    total = 0.0
    for i in range(n):
        x[i] -= mean
        total += x[i] * x[i] if x[i] == x[i] else 0.0
    return total


@kernel
def zscores(
    values: Array,
    source: int,
    n: int,
    rows: Array,
    offsets: Array,
    output: Array,
    target: int,
    x: Array,
) -> bool:
    """Write the distance of each value from the mean of its query, in standard deviations.

    The divisor of the variance is n.
    """
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        end = offsets[q + 1]
        for j in range(n):
            read_column(values, source + j, rows, begin, end, x)
            low, high, count = range_of(x, end - begin)
            if low == -np.inf or high == np.inf:
                return True
            # Scaled values have no square that overflows, and a large common offset costs no
            # digits. The range of two floats can overflow, that of their halves cannot.
            half = 0.5 if high - low == np.inf else 1.0
            inverse = 1.0 / max(high * half - low * half, LEAST_RANGE)
            total = scale(x, end - begin, half, low * half, inverse)
            squares = center(x, end - begin, total / max(count, 1.0))
            # Rounding must not make a constant column vary.
            factor = np.sqrt(count / squares) if high > low else 0.0
            write_column(x, target + j, rows, begin, end, factor, output)
    return False


@kernel
def percentile_ranks(
    values: Array,
    source: int,
    n: int,
    rows: Array,
    offsets: Array,
    output: Array,
    target: int,
    x: Array,
    work: Sorting,
) -> bool:
    """Write (rank - 1) / (number of values - 1), counted from the lowest value.

    Equal values get the mean of their ranks.
    """
    elements = Elements(pointer(work.elements.scores), pointer(work.elements.rows))
    other = Elements(pointer(work.other.scores), pointer(work.other.rows))
    order = np.empty(len(x), np.int32)
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        end = offsets[q + 1]
        for j in range(n):
            read_column(values, source + j, rows, begin, end, x)
            low, high, _ = range_of(x, end - begin)
            if low == -np.inf or high == np.inf:
                return True
            count = 0
            for i in range(end - begin):
                if x[i] == x[i]:
                    elements.scores[count] = x[i]
                    elements.rows[count] = i
                    count += 1
            rank_one(
                count, elements, other, pointer(work.ends), pointer(work.pieces), pointer(order)
            )
            above = 0
            while above < count:
                # Best first: documents ``above..below-1`` have equal values.
                value = x[order[above]]
                below = above + 1
                while below < count and x[order[below]] == value:
                    below += 1
                # 0 for a constant column.
                share = (
                    (count - 0.5 * (above + below + 1)) / (count - 1.0)
                    if below - above < count
                    else 0.0
                )
                for i in range(above, below):
                    x[order[i]] = share
                above = below
            write_column(x, target + j, rows, begin, end, 1.0, output)
    return False
