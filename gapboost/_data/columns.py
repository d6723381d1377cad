"""Columns as arrays of one value for each row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from gapboost._data.arguments import shown
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array

NOT_NUMBERS = (str, bytes, complex, np.datetime64, np.timedelta64, np.complexfloating)

# From here on, different integers are the same float64.
MOST_INTEGER = 2**53


def one_dimensional(
    values: Any, name: str, entries: str = "one value a row, shape (n_rows,)"
) -> Array:
    """Return `values` as an array of one dimension; `entries` is for the message.

    Shape (N, 1) is flattened, with scikit-learn's warning.
    """
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} holds {int(np.ma.getmaskarray(values).sum())} masked values; expected a value "
            "in every row"
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{name} holds sequences of different lengths; expected {entries}"
        ) from None
    if array.ndim == 2 and array.shape[1] == 1:
        _warn_of_flattened(name)
        return array[:, 0]
    if array.ndim != 1:
        found = f"has shape {array.shape}" if array.ndim else f"is {shown(values)}"
        raise ValueError(f"{name} {found}; expected {entries}")
    return array


def _warn_of_flattened(name: str) -> None:
    warn_caller(
        f"A column-vector {name} was passed when a 1d array was expected; expected shape "
        "(n_rows,), as ravel() makes",
        DataConversionWarning,
    )


def raveled(columns: Mapping[str, Any]) -> list[Any]:
    """Return `columns` by name; shape (N, 1) is flattened with scikit-learn's warning."""
    flat = [only_column(values) for values in columns.values()]
    changed = [name for name, one in zip(columns, flat, strict=True) if one is not columns[name]]
    if changed:
        _warn_of_flattened(" and ".join(changed))
    return flat


def only_column(values: Any) -> Any:
    """Return the only column of `values` of shape (N, 1), lazily on Dask; others unchanged."""
    shape: Any = getattr(values, "shape", ())
    if len(shape) != 2 or shape[1] != 1:
        return values
    if hasattr(values, "iloc"):  # pandas, with its index, and data frames of Dask
        return values[values.columns[0]]
    if hasattr(values, "__dask_graph__"):
        return values[:, 0]
    # `asarray` would forget what is masked.
    return np.ravel(values if np.ma.isMaskedArray(values) else np.asarray(values))


def numeric_column(
    values: Any, name: str, expected: str, entries: str = "one value a row, shape (n_rows,)"
) -> Array:
    """Return `values` as an array of one dimension and a boolean, integer or float dtype."""
    array = one_dimensional(values, name, entries)
    if array.dtype == object:
        kinds = set(map(type, array))
        try:
            # astype would parse strings, count days of times, and drop an imaginary part.
            if any(issubclass(kind, NOT_NUMBERS) for kind in kinds):
                raise TypeError(", ".join(sorted(kind.__name__ for kind in kinds)))
            return array.astype(np.float64)
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"{name} holds values that are not numbers ({error}); expected {expected}"
            ) from None
    if array.dtype.kind not in "biuf":
        # scikit-learn's words for what its tools pass on
        refused = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise ValueError(f"{name} has dtype {array.dtype}{refused}; expected {expected}")
    return array


def check_integers(values: Any, name: str) -> None:
    """Refuse integers that are not kept as float64; other values are not checked.

    Raises
    ------
    ValueError
        Naming the first.
    """
    values = np.asarray(values)
    if values.dtype == object:
        values = np.array(
            [value for value in values.flat if isinstance(value, int | np.integer)], object
        )
    if values.dtype.kind in "iuO":
        wrong = (values > MOST_INTEGER) | (values < -MOST_INTEGER)
        if wrong.any():
            raise ValueError(
                f"{name} holds the integer {values[wrong][0]}; expected integers from -2**53 to "
                "2**53: subtract a number from all of them"
            )


def check_finite(values: Array, name: str, expected: str) -> None:
    """Raise ValueError if a value is NaN or infinite."""
    broken = ~np.isfinite(values)
    if broken.any():
        raise ValueError(
            f"{name} holds {int(broken.sum())} NaN or infinite values, {first_row(broken)}; "
            f"expected {expected}"
        )


def first_row(wrong: Array) -> str:
    """Name the first row that is True in `wrong`, for an error message."""
    return f"the first in row {int(np.argmax(wrong))}, counted from 0"


def checked_scores(
    y_score: Any, n_rows: int, name: str = "y_score", rows_of: str = "y_true"
) -> Array:
    """Return scores as finite float32 or float64, one a row, without new ties."""
    given = one_dimensional(y_score, name)
    scores = numeric_column(given, name, "finite scores")
    if len(scores) != n_rows:
        raise ValueError(
            f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row"
        )
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    check_finite(scores, name, "finite scores")
    wide = given.dtype == object or given.dtype.itemsize > 8
    if wide or (np.abs(scores) >= MOST_INTEGER).any():
        # Where a list holds integers and others, numpy makes floats of all.
        exact = y_score if isinstance(y_score, list | tuple) else given.tolist()
        if len(set(exact)) > len(np.unique(scores)):
            raise ValueError(
                f"{name} holds different scores that are the same float64; expected scores that "
                "differ as float64: subtract the lowest score, or use ranks of the scores"
            )
    return np.ascontiguousarray(scores)
