"""Columns as arrays of one value for each row."""

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from gapboost._data.arguments import shown
from gapboost._kernels import Array

NOT_NUMBERS = (str, bytes, complex, np.datetime64, np.timedelta64, np.complexfloating)

# From here on, different integers are the same float64.
MOST_INTEGER = 2**53


def one_dimensional(
    values: Any, name: str, entries: str = "one value a row, shape (n_rows,)"
) -> Array:
    """Return `values` as an array of one dimension; `entries` is for the message.

    Shape (N, 1) is flattened, with scikit-learn's warning. Arrays of CuPy are copied to the host.
    """
    if hasattr(values, "__cuda_array_interface__"):
        values = values.get()
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} holds {int(np.ma.getmaskarray(values).sum())} masked values; expected a value "
            "in every row"
        )
    try:
        array = np.asarray(values)
        column: Array = array if array.ndim == 1 else column_or_1d(array, warn=True)
    except ValueError as error:  # also sequences of different lengths
        raise ValueError(f"{name} is {shown(values)} ({error}); expected {entries}") from None
    return column


def numeric_column(
    values: Any, name: str, expected: str, entries: str = "one value a row, shape (n_rows,)"
) -> Array:
    """Return `values` as an array of one dimension and a boolean, integer or float dtype."""
    array = one_dimensional(values, name, entries)
    if array.dtype.kind in "biuf":
        return array
    if array.dtype != object:
        raise ValueError(f"{name} has dtype {array.dtype}; expected {expected}")
    try:
        # astype would parse strings, count days of times, and drop an imaginary part.
        if any(issubclass(kind, NOT_NUMBERS) for kind in set(map(type, array))):
            raise TypeError(shown(array))
        return array.astype(np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(
            f"{name} holds values that are not numbers ({error}); expected {expected}"
        ) from None


def check_integers(values: Any, name: str) -> None:
    """Raise ValueError for integers that are not kept as float64; other values are not checked."""
    # An array of numpy would make floats of all integers of a list with a float.
    array = np.asarray(values, None if hasattr(values, "dtype") else object)
    if array.dtype == object:
        array = np.array([v for v in array.flat if isinstance(v, int | np.integer)], object)
    if array.dtype.kind in "iuO":
        wrong = (array > MOST_INTEGER) | (array < -MOST_INTEGER)
        if wrong.any():
            raise ValueError(
                f"{name} holds the integer {array[wrong][0]}; expected integers from -2**53 to "
                "2**53: subtract a number from all of them"
            )


def check_finite(
    values: Array,
    name: str,
    expected: str,
    least: float = -np.inf,
    most: float = np.inf,
    whole: bool = False,
) -> None:
    """Raise ValueError if a value is NaN, infinite, out of range, or fractional if not allowed."""
    usable = np.isfinite(values) & (values >= least) & (values <= most)
    if whole:
        usable &= values == np.floor(values)
    if not usable.all():
        row = int(np.argmin(usable))
        raise ValueError(
            f"{name} holds {values[row]:g} in row {row}, counted from 0; expected {expected}"
        )


def checked_scores(
    y_score: Any, n_rows: int, name: str = "y_score", rows_of: str = "y_true"
) -> Array:
    """Return scores as finite float32 or float64, one a row, without new ties."""
    given = one_dimensional(y_score, name)
    if len(given) != n_rows:
        raise ValueError(
            f"{name} has {len(given)} rows but {rows_of} has {n_rows}; expected one score a row"
        )
    check_integers(y_score if isinstance(y_score, list | tuple) else given, name)
    scores = numeric_column(given, name, "finite scores")
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    check_finite(scores, name, "finite scores")
    return np.ascontiguousarray(scores)
