"""Columns as arrays of one value for each row."""

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from gapboost._data.arguments import short_repr
from gapboost._kernels import Array


def one_dimensional(
    values: Any, name: str, expected: str = "one value a row, shape (n_rows,)", dtype: Any = None
) -> Array:
    """Return `values` as an array of one dimension; `expected` is for the message.

    Shape (N, 1) is flattened, with scikit-learn's warning. Arrays of CuPy are copied to the host.
    """
    if hasattr(values, "__cuda_array_interface__"):
        values = values.get()
    if np.ma.is_masked(values):
        raise ValueError(f"{name} holds masked values; expected a value in every row")
    try:
        # pandas' integers with missing values would become floats in scikit-learn.
        array = np.asarray(values)
        if array.ndim == 0:
            raise ValueError("no list or array")
        if array.ndim == 1 and array.dtype.kind in "biuf":
            return np.ascontiguousarray(array)  # as scikit-learn, in a hundredth of the time
        if array.dtype == object and dtype == "numeric":
            array = _integers_of(array)
        column: Array = column_or_1d(array, dtype=dtype, warn=True)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is {short_repr(values)} ({error}); expected {expected}") from None
    return column


def _integers_of(objects: Array) -> Array:
    """Return Python's integers as integers of numpy, where scikit-learn makes floats of them."""
    array = np.asarray(objects.tolist())
    return array if array.dtype.kind in "iu" else objects


def numeric_column(values: Any, name: str, expected: str) -> Array:
    """Return `values` as an array of one dimension and a boolean, integer or float dtype."""
    column = one_dimensional(values, name, expected, dtype="numeric")
    if column.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {column.dtype}; expected {expected}")
    return column


def finite_column(
    values: Any,
    name: str,
    expected: str,
    low: float = -np.inf,
    high: float = np.inf,
    whole: bool = False,
) -> Array:
    """Return finite numbers from `low` to `high`, `whole` ones or any, as `numeric_column`."""
    column = numeric_column(values, name, expected)
    usable = np.isfinite(column) & (column >= low) & (column <= high)
    if whole:
        usable &= column == np.floor(column)
    if not usable.all():
        row = int(np.argmin(usable))
        raise ValueError(
            f"{name} holds {column[row]:g} in row {row}, counted from 0; expected {expected}"
        )
    return column


def checked_scores(
    y_score: Any, n_rows: int, name: str = "y_score", rows_of: str = "y_true"
) -> Array:
    """Return scores as finite float32 or float64, one a row."""
    scores = finite_column(y_score, name, "finite scores, one a row")
    if len(scores) != n_rows:
        raise ValueError(
            f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row"
        )
    return scores if scores.dtype in (np.float32, np.float64) else as_float64(scores, name)


def as_float64(column: Array, name: str) -> Array:
    """Return numbers as float64; raise ValueError if different ones would become equal."""
    floats: Array = column.astype(np.float64)
    if column.dtype.kind in "iu":
        rounded = np.abs(floats).max(initial=0) >= 2.0**53
    else:
        rounded = (floats != column).any()
    if rounded and len(np.unique(column)) != len(np.unique(floats)):
        raise ValueError(
            f"{name} has different values that are equal in float64, which rounds whole numbers "
            f"from 2**53 on; expected smaller numbers, such as {name} - {name}.min()"
        )
    return floats
