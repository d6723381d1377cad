"""The sums of `gapboost._kernels.smooth`, by cells or pair by pair: one rule decides."""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import erfc

from gapboost._kernels import Array
from gapboost._kernels.jit import inner_kernel, kernel
from gapboost._kernels.smooth.cells import (
    Cells,
    CellTables,
    add_moments,
    arriving_at,
    clear_moments,
    find_cells,
    interact,
    interaction_tables,
    memory_for_cells,
)
from gapboost._kernels.smooth.pairs import (
    GAUSSIAN,
    LOGISTIC,
    add_gradients_by_pairs,
    add_pushes,
    compare_by_pairs,
)
from gapboost._kernels.smooth.query import Documents, part

# Longest list that goes pair by pair in any case.
SHORT = 20

# Documents a cell, on average, below which a list goes pair by pair: few are near each other then.
# Beyond so many cells, which need memory, it is more documents.
SPARSE, MANY_CELLS, SPARSE_BEYOND = 8, 1024, 32


class SmoothStep(NamedTuple):
    """A smooth step: its kind, and it and its derivative as cells see them."""

    kind: int
    above: CellTables
    slope: CellTables


class Scratch(NamedTuple):
    """Working memory of one list after the other; ``by_grade`` is by document and grade."""

    cells: Cells
    of_document: Array
    by_grade: Array


def _smooth_step(kind: int, width: float, farthest: float, above: Any, slope: Any) -> SmoothStep:
    n_cells = int(np.ceil(farthest / width))
    return SmoothStep(
        kind=kind,
        above=CellTables(width=width, tables=interaction_tables(above, width, n_cells), beyond=1.0),
        slope=CellTables(width=width, tables=interaction_tables(slope, width, n_cells), beyond=0.0),
    )


def logistic_step() -> SmoothStep:
    """The logistic function; beyond 30 it is 0 or 1 to 1e-13."""

    def slope(x: Array) -> Array:
        u = np.exp(-np.abs(x))
        return u / (1.0 + u) ** 2

    return _smooth_step(LOGISTIC, 2.0, 30.0, lambda x: 1.0 / (1.0 + np.exp(-x)), slope)


def gaussian_step() -> SmoothStep:
    """The distribution function of a Gaussian of variance 1/2; beyond 6 it is 0 or 1 to 1e-16."""
    return _smooth_step(
        GAUSSIAN, 1.5, 6.0, lambda x: 0.5 * erfc(-x), lambda x: np.exp(-x * x) / np.sqrt(np.pi)
    )


@inner_kernel
def most_cells(n: int) -> int:
    """Return the number of cells up to which a list of `n` documents is summed by cells."""
    return max(n // SPARSE_BEYOND, min(n // SPARSE, MANY_CELLS))


def scratch_for(longest: int, n_grades: int) -> Scratch:
    """Working memory for lists up to `longest`."""
    cells = memory_for_cells(longest, most_cells(longest) + 1, 3 * n_grades)
    # Lists that go pair by pair have no moments.
    by_grade = cells.moments.reshape(-1)[: longest * n_grades].reshape(longest, n_grades)
    return Scratch(cells=cells, of_document=np.empty(n_grades), by_grade=by_grade)


@inner_kernel
def cells_of(x: Array, cell_tables: CellTables, points: Cells) -> int:
    """The number of cells, with the points in them; 0 for a list that goes pair by pair."""
    n = len(x)
    if n <= SHORT:
        return 0
    cells = find_cells(x, cell_tables, points)
    return cells if cells <= most_cells(n) else 0


@kernel
def compare(
    starts: Array,
    step: SmoothStep,
    pairs: Array,
    turning: bool,
    scratch: Scratch,
    everything: Documents,
) -> None:
    """Add ``sum_{m != n} P[i_m, i_n] F(x_m - x_n)`` to ``total``.

    If ``turning``, add ``sum_m f(x_m - x_n) (share_n P[i_m, i_n] - share_m P[i_n, i_m])`` to
    ``d_score``.
    """
    n_grades, points = pairs.shape[1], scratch.cells
    for q in range(len(starts) - 1):
        documents, pair = part(everything, starts[q], starts[q + 1]), pairs[q]
        cells = cells_of(documents.x, step.above, points)
        if cells == 0:
            compare_by_pairs(step.kind, pair, turning, scratch.of_document[:n_grades], documents)
            continue
        clear_moments(cells, points.moments)
        for r in range(len(documents.x)):
            add_moments(r, documents.grade[r], 1.0, points)
            if turning:
                add_moments(r, n_grades + documents.grade[r], documents.share[r], points)
        interact(cells, n_grades, step.above, points)
        for r in range(len(documents.x)):
            a = documents.grade[r]
            received = -0.5 * pair[a, a]  # the document itself, for which F(0) = 1/2
            for g in range(n_grades):
                if pair[g, a] != 0.0:
                    received += pair[g, a] * arriving_at(r, g, points)
            documents.total[r] += received
        if turning:
            interact(cells, 2 * n_grades, step.slope, points)
            read_turned(pair, points, documents)


@inner_kernel
def read_turned(pair: Array, points: Cells, documents: Documents) -> None:
    """Add to ``d_score`` as `compare` describes, from the polynomials of the step's derivative."""
    n_grades, d_score = len(pair), documents.d_score
    for r in range(len(documents.x)):
        a, share = documents.grade[r], documents.share[r]
        for g in range(n_grades):
            if pair[g, a] != 0.0:
                d_score[r] += share * pair[g, a] * arriving_at(r, g, points)
            if pair[a, g] != 0.0:
                d_score[r] -= pair[a, g] * arriving_at(r, n_grades + g, points)


@kernel
def add_gradients(
    starts: Array,
    step: SmoothStep,
    pairs: Array,
    paired: bool,
    scratch: Scratch,
    everything: Documents,
) -> None:
    """Add to ``d_score`` and ``pushes``; pairs themselves push only if ``paired``."""
    n_grades, points = pairs.shape[1], scratch.cells
    channels = 3 * n_grades if paired else 2 * n_grades
    for q in range(len(starts) - 1):
        documents, pair = part(everything, starts[q], starts[q + 1]), pairs[q]
        by_rank, share = documents.by_rank, documents.share
        cells = cells_of(documents.x, step.slope, points)
        if cells == 0:
            add_gradients_by_pairs(step.kind, pair, paired, scratch.by_grade, documents)
            continue
        clear_moments(cells, points.moments)
        for r in range(len(documents.x)):
            a = documents.grade[r]
            add_moments(r, a, 1.0, points)
            add_moments(r, n_grades + a, by_rank[r], points)
            if paired:
                add_moments(r, 2 * n_grades + a, share[r], points)
        interact(cells, channels, step.slope, points)
        for r in range(len(documents.x)):
            a = documents.grade[r]
            for g in range(n_grades):
                own, theirs = by_rank[r], arriving_at(r, n_grades + g, points)
                if paired:
                    own += share[r] * pair[g, a]
                    theirs += pair[a, g] * arriving_at(r, 2 * n_grades + g, points)
                scratch.of_document[g] = theirs - own * arriving_at(r, g, points)
            add_pushes(r, scratch.of_document, documents)
