"""How many documents of each grade a query has."""

from gapboost._kernels import Array
from gapboost._kernels.jit import kernel


@kernel
def count_grades(grades: Array, offsets: Array, counts: Array) -> None:
    """Add the documents of each grade of each query to ``counts``, int64 of shape (Q, c + 1)."""
    for q in range(len(offsets) - 1):
        for d in range(offsets[q], offsets[q + 1]):
            counts[q, grades[d]] += 1
