"""Columns as arrays of one value for each row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from gapboost._data.arguments import shown
from gapboost._data.warned import warn_caller
from gapboost._kernels import Array


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
        # astype would parse strings: they are refused here as they are with a string dtype.
        if any(isinstance(v, str | bytes) for v in array):
            raise ValueError(f"{name} holds strings; expected {expected}")
        try:
            # Nor are times of numpy numbers to anybody but astype, which would also drop an
            # imaginary part.
            if any(
                isinstance(v, np.datetime64 | np.timedelta64 | np.complexfloating) for v in array
            ):
                raise TypeError
            return array.astype(np.float64)
        except OverflowError:
            raise ValueError(
                f"{name} holds a whole number beyond all floats; expected {expected}"
            ) from None
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} holds values that are not numbers; expected {expected}"
            ) from None
    if array.dtype.kind not in "biuf":
        # scikit-learn's words for what its tools pass on
        refused = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise ValueError(f"{name} has dtype {array.dtype}{refused}; expected {expected}")
    return array


def check_told_apart(given: Array, scores: Array, name: str) -> None:
    """Raise if different numbers are equal as floats in `scores`, and would be ties."""
    order = np.argsort(scores, kind="stable")
    merged = (scores[order[1:]] == scores[order[:-1]]) & (
        given[order[1:]] != given[order[:-1]]
    ).astype(bool)
    if merged.any():
        first = int(np.argmax(merged))
        one, other = given[order[first : first + 2]].tolist()
        raise ValueError(
            f"{name} holds the different scores {one!s} and {other!s}, which are the same float64; "
            "expected scores that differ as float64, such as whole numbers up to 2**53: subtract "
            "the lowest score, or use ranks of the scores"
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
    broken = ~np.isfinite(scores)
    if broken.any():
        raise ValueError(
            f"{name} holds {int(broken.sum())} NaN or infinite values, {first_row(broken)}; "
            "expected finite scores"
        )
    listed = isinstance(y_score, list | tuple)
    if listed or scores is not given:
        narrow = given.dtype.kind in "biuf" and given.dtype.itemsize <= 8
        if not narrow or (np.abs(scores) >= 2.0**53).any():
            # Where a list holds whole numbers and others, numpy has already made floats of all.
            check_told_apart(np.array(y_score, object) if listed else given, scores, name)
    return np.ascontiguousarray(scores)
