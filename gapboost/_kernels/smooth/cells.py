"""Sums of a smooth function over sorted points, sum_m w_m k(x_m - x_n) for all n, in linear time.

Points are sorted into cells of a fixed width. Where a point is in its cell is t, from -1 to 1.
Within a pair of cells k is a polynomial in the two t, to about 1e-12: so all that other cells need
to know of it are its moments, sum_m w_m t_m^k by channel (`add_moments`); the moments of the cells
around become the polynomial of what arrives in a cell (`interact`); and each point reads it
(`arriving_at`). Beyond ``n_cells`` cells k has become 0 below, and 0 or 1 above.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, summing_kernel

# Coefficients of a polynomial: powers 0 to 16.
COEFFICIENTS = 17


class CellTables(NamedTuple):
    """A smooth function as cells see it.

    Attributes
    ----------
    width : float
        Of a cell.
    tables : float64 ndarray of shape (2 n_cells + 1, COEFFICIENTS, COEFFICIENTS)
        ``[o + n_cells, k, l]``: what the moment k of a cell that is o cells above adds to the
        coefficient l of what arrives.
    beyond : float
        Its value for points farther above than that.
    """

    width: float
    tables: Array
    beyond: float


class Cells(NamedTuple):
    """Sorted points in cells, and their sums.

    ``cell`` (int64) and ``t`` (float64, -1 to 1) are by point, ``number`` (int64) by cell; it skips
    empty cells. ``moments`` and ``arriving`` are by cell, channel and power, ``so_far`` is scratch
    by channel.
    """

    cell: Array
    t: Array
    number: Array
    moments: Array
    arriving: Array
    so_far: Array


def interaction_tables(function: Callable[[Array], Array], width: float, n_cells: int) -> Array:
    """The tables of a function of x by interpolation at Chebyshev's nodes, in powers of t."""
    nodes = np.cos((np.arange(COEFFICIENTS) + 0.5) * np.pi / COEFFICIENTS)
    to_chebyshev = np.linalg.inv(chebyshev.chebvander(nodes, COEFFICIENTS - 1))
    to_powers = np.zeros((COEFFICIENTS, COEFFICIENTS))
    for k in range(COEFFICIENTS):
        to_powers[k, : k + 1] = chebyshev.cheb2poly(np.eye(COEFFICIENTS)[k])
    ways = to_powers.T @ to_chebyshev
    offsets = np.arange(-n_cells, n_cells + 1)[:, None, None]
    # t grows downwards: the source is above the target by the offset, and by half the difference of
    # their t
    values = function(width * (offsets + (nodes[None, None, :] - nodes[None, :, None]) / 2))
    return np.ascontiguousarray(ways @ values @ ways.T)


def memory_for_cells(longest: int, n_cells: int, channels: int) -> Cells:
    """Return memory for lists up to `longest` in up to `n_cells` cells."""
    moments, arriving = np.empty((2, n_cells, channels, COEFFICIENTS))
    return Cells(
        cell=np.empty(longest, np.int64), t=np.empty(longest), number=np.empty(n_cells, np.int64),
        moments=moments, arriving=arriving, so_far=np.empty(channels),
    )  # fmt: skip


@inner_kernel
def find_cells(x: Array, cell_tables: CellTables, points: Cells) -> int:
    """Sort falling positions ``x`` into cells; return their number, or 0 without enough memory.

    ``points`` has the memory.
    """
    far = (len(cell_tables.tables) // 2 + 2) * cell_tables.width
    top = x[0]
    base = 0
    cells = 0
    farthest = 0.0
    for r in range(len(x)):
        if r > 0 and x[r - 1] - x[r] > far:
            # From here numbers begin anew: they stay small, and t exact, however wide the positions
            # are spread.
            base = points.number[cells - 1] + len(cell_tables.tables)
            top = x[r]
            farthest = 0.0
        # rounding may leave positions that rise by the last digit
        farthest = max(farthest, (top - x[r]) / cell_tables.width)
        number = base + int(farthest)
        points.t[r] = 2.0 * (farthest - int(farthest)) - 1.0
        if cells == 0 or number != points.number[cells - 1]:
            if cells == len(points.number):
                return 0
            points.number[cells] = number
            cells += 1
        points.cell[r] = cells - 1
    return cells


@inner_kernel
def clear_moments(cells: int, moments: Array) -> None:
    """Set the moments of the first cells to zero."""
    for j in range(cells):
        for c in range(moments.shape[1]):
            for k in range(COEFFICIENTS):
                moments[j, c, k] = 0.0


@inner_kernel
def add_moments(r: int, channel: int, weight: float, points: Cells) -> None:
    """Add a point of this weight to a channel of its cell."""
    j, t, moments = points.cell[r], points.t[r], points.moments
    power = weight
    for k in range(COEFFICIENTS):
        moments[j, channel, k] += power
        power *= t


@inner_kernel
def interact(cells: int, channels: int, cell_tables: CellTables, points: Cells) -> None:
    """Fill ``arriving`` with the polynomial of each of the first cells, by channel."""
    moments, arriving, so_far = points.moments, points.arriving, points.so_far
    span = len(cell_tables.tables) // 2
    for c in range(channels):
        so_far[c] = 0.0
    clear_moments(cells, arriving)
    passed = 0
    for i in range(cells):
        # cells that are out of reach above
        while points.number[i] - points.number[passed] > span:
            for c in range(channels):
                so_far[c] += cell_tables.beyond * moments[passed, c, 0]
            passed += 1
        for c in range(channels):
            arriving[i, c, 0] += so_far[c]
        j = passed
        while j < cells and points.number[j] - points.number[i] <= span:
            table = cell_tables.tables[points.number[i] - points.number[j] + span]
            for c in range(channels):
                for k in range(COEFFICIENTS):
                    moment = moments[j, c, k]
                    if moment != 0.0:  # cells of short lists lack most of the grades
                        for m in range(COEFFICIENTS):
                            arriving[i, c, m] += moment * table[k, m]
            j += 1


@summing_kernel
def arriving_at(r: int, channel: int, points: Cells) -> float:
    """Evaluate the polynomial of a point's cell, in a channel, at the point."""
    j, t, arriving = points.cell[r], points.t[r], points.arriving
    value, power = 0.0, 1.0
    for k in range(COEFFICIENTS):
        value += power * arriving[j, channel, k]
        power *= t
    return value
