"""Arrays that a measure returns, checked for compiled code, and parts that several share."""

from typing import Any

import numpy as np

from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array


def checked_arrays(
    measure: object, method: str, returned: Any, shapes: list[tuple[int, ...]]
) -> list[Array]:
    """Check the arrays that a measure's method returned; return them as C-contiguous float64.

    A measure defined by a user may return wrong ones.

    Raises
    ------
    ValueError
        If it is not one array of finite numbers for each of `shapes`.
    """
    expected = " and ".join(map(str, shapes))
    if not isinstance(returned, tuple | list) or len(returned) != len(shapes):
        raise ValueError(
            f"{method} of {measure!r} returns a {type(returned).__name__}; expected two arrays, of "
            f"shapes {expected}"
        )
    arrays = [np.asarray(array) for array in returned]
    if [array.shape for array in arrays] != shapes:
        shown = " and ".join(str(array.shape) for array in arrays)
        raise ValueError(
            f"{method} of {measure!r} returns arrays of shapes {shown}; expected {expected}"
        )
    if any(array.dtype.kind not in "biuf" or not np.isfinite(array).all() for array in arrays):
        raise ValueError(
            f"{method} of {measure!r} returns NaN, infinite values or none that are numbers; "
            "expected finite ones"
        )
    # Code is compiled a second time for arrays that cannot be written.
    return [np.require(array, np.float64, ["C", "W"]) for array in arrays]


def reciprocal(values: Array) -> Array:
    """``1 / values``, and 0 where the value is 0."""
    return np.divide(1.0, values, out=np.zeros(values.shape), where=values > 0)


def without_pairs(own: Array, base: RecallBase) -> tuple[Array, Array]:
    """Return the tables of a measure in which documents count by themselves.

    Parameters
    ----------
    own : ndarray of shape (L,) or (Q, L)
        The worth of each level.
    base : RecallBase
    """
    by_query = np.array(np.broadcast_to(own, base.counts.shape), dtype=np.float64, order="C")
    return np.zeros((len(base), base.n_levels, base.n_levels)), by_query


def with_diagonal(pair: Array) -> tuple[Array, Array]:
    """Return ``pair``, and its diagonal as ``own``: a document counts its own relevance too."""
    return pair, np.ascontiguousarray(np.diagonal(pair, axis1=1, axis2=2))


def lesser(amount: Array) -> Array:
    """Return ``[..., i, j]``: the lesser of the amounts of levels i and j."""
    return np.minimum(amount[..., :, None], amount[..., None, :])
