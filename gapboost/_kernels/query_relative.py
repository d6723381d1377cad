"""Features relative to the query: z-scores and percentile ranks of columns within each query.

NaN stays NaN and is not counted. A column without two different values in a query is 0. Sums are in
double precision.
"""

import numpy as np

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel, summing_kernel
from gapboost._kernels.order import Sorting, rank_one, sorting_pointers

# Kinds of features.
ZSCORE, RANK = 0, 1

# Least range that values are divided by: its inverse is finite.
LEAST_RANGE = 1e-300


@summing_kernel
def range_of(x: Array) -> tuple[float, float, float]:
    """Return the lowest value, the highest, and the number of values that are not NaN."""
    low = np.inf
    high = -np.inf
    count = 0.0
    for i in range(len(x)):
        low = x[i] if x[i] < low else low
        high = x[i] if x[i] > high else high
        count += 1.0 if x[i] == x[i] else 0.0
    return low, high, count


@summing_kernel
def scale(x: Array, half: float, low: float, inverse: float) -> float:
    """Scale values to 0..1 in place; return their sum."""
    total = 0.0
    for i in range(len(x)):
        x[i] = (x[i] * half - low) * inverse
        total += x[i] if x[i] == x[i] else 0.0
    return total


@summing_kernel
def center(x: Array, mean: float) -> float:
    """Subtract the mean in place; return the sum of squares."""
    total = 0.0
    for i in range(len(x)):
        x[i] -= mean
        total += x[i] * x[i] if x[i] == x[i] else 0.0
    return total


@kernel
def standardize(x: Array, low: float, high: float, count: float) -> None:
    """Replace values by their distance from the mean, in standard deviations with divisor n."""
    # Scaled values have no square that overflows, and a large common offset costs no digits. The
    # range of two floats can overflow, that of their halves cannot.
    half = 0.5 if high - low == np.inf else 1.0
    inverse = 1.0 / max(high * half - low * half, LEAST_RANGE)
    total = scale(x, half, low * half, inverse)
    squares = center(x, total / max(count, 1.0))
    # Rounding must not make a constant column vary.
    factor = np.sqrt(count / squares) if high > low else 0.0
    for i in range(len(x)):
        x[i] *= factor


@kernel
def rank_values(x: Array, count: int, memory: Sorting) -> None:
    """Replace values by (rank - 1) / (number of values - 1), counted from the lowest value.

    Equal values get the mean of their ranks. ``count`` values are not NaN.
    """
    place = 0
    for i in range(len(x)):
        if x[i] == x[i]:
            memory.scores[place] = x[i]
            memory.rows[place] = i
            place += 1
    rank_one(count, memory)
    order, above = memory.order, 0
    while above < count:
        # Best first: documents ``above..below-1`` have equal values.
        value = x[order[above]]
        below = above + 1
        while below < count and x[order[below]] == value:
            below += 1
        constant = below - above == count
        share = 0.0 if constant else (count - 0.5 * (above + below + 1)) / (count - 1.0)
        for i in range(above, below):
            x[order[i]] = share
        above = below


@kernel
def write_relative(
    kind: int,
    values: Array,
    source: int,
    n: int,
    rows: Array,
    offsets: Array,
    output: Array,
    target: int,
    sorting: Sorting,
) -> bool:
    """Write features of ``n`` columns of ``values`` from the column ``source`` on.

    They go to the columns of ``output`` from the column ``target`` on; it may be the same array.
    ``rows`` holds the rows query by query. Returns True if there is an infinite value; ``output``
    is then unusable.
    """
    memory = sorting_pointers(sorting)
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    column = np.empty(longest)
    for q in range(len(offsets) - 1):
        begin = offsets[q]
        x = column[: offsets[q + 1] - begin]
        for j in range(n):
            for i in range(len(x)):
                x[i] = values[rows[begin + i], source + j]
            low, high, count = range_of(x)
            if low == -np.inf or high == np.inf:
                return True
            if kind == ZSCORE:
                standardize(x, low, high, count)
            else:
                rank_values(x, int(count), memory)
            for i in range(len(x)):
                output[rows[begin + i], target + j] = x[i]
    return False
