"""Columns of arrays and data frames: numbers, their values, and the new table."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from gapboost._data.columns import check_integers
from gapboost._data.features import QID, column_contents, column_names, column_types, shortened
from gapboost._kernels import Array

__all__ = [
    "as_numbers",
    "chosen_columns",
    "column_contents",
    "number_column",
    "values_of",
    "with_columns",
    "with_text_names",
]


def with_text_names(X: Any) -> Any:
    """Return a data frame of pandas with names of columns as text; anything else unchanged.

    scikit-learn compares the names of columns only if all of them are text.
    """
    names = column_names(X)
    if all(isinstance(name, str) for name in names):
        return X
    X = X.copy(deep=False)
    X.columns = [str(name) for name in names]
    if not X.columns.is_unique:
        raise ValueError(
            f"X has columns of the same name as text, {names}; expected distinct names"
        )
    return X


def chosen_columns(X: Any, columns: Sequence[Any] | None) -> list[int]:
    """Return the positions of some columns: of all that hold numbers, if `columns` is None.

    Parameters
    ----------
    X : ndarray or data frame
    columns : sequence of str or int, optional
        Names or positions. A column ``qid`` is never among the result.

    Raises
    ------
    ValueError
        If there is no such column, or it does not hold numbers.
    """
    names = column_names(X) or [None] * X.shape[1]
    contents = list(column_contents(X).values()) or ["number"] * X.shape[1]
    others = [
        name for name, kind in zip(names, contents, strict=True) if kind == "other" and name != QID
    ]
    if columns is None:
        if others:
            raise ValueError(
                "X has columns that are neither numbers nor categories: "
                f"{', '.join(shortened(list(map(repr, others))))}; expected numbers or categories, "
                "or the names of the columns of numbers as columns"
            )
        kept = [
            kind == "number" and name != QID for name, kind in zip(names, contents, strict=True)
        ]
        return np.flatnonzero(kept).tolist()
    known = names if isinstance(columns[0], str) else list(range(len(names)))
    for column in columns:
        if column not in known:
            raise ValueError(
                f"columns holds {column!r}; expected columns of X: "
                f"{', '.join(shortened([repr(name) for name in known if name is not None]))}"
            )
    positions = [known.index(column) for column in columns]
    for position in positions:
        if contents[position] != "number" or names[position] == QID:
            raise ValueError(
                f"columns holds {names[position]!r}, which has the type "
                f"{column_types(X)[names[position]]}; expected columns of numbers, without {QID!r}"
            )
    return positions


def as_numbers(X: Any) -> Any:
    """Return an array of objects as float64, and any other table unchanged.

    Raises
    ------
    ValueError, TypeError
        If an object is not a number.
    """
    if not isinstance(X, np.ndarray) or X.dtype != object:
        return X
    try:
        numbers = X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"X holds values that are not numbers ({error}); expected numbers"
        ) from None
    check_integers(X, "X")
    return numbers


def values_of(X: Any, positions: Sequence[int]) -> Array:
    """Return columns of numbers of a data frame as one array; missing values become NaN.

    It is float32 if all of the columns are, or of half precision, and float64 otherwise.

    Raises
    ------
    ValueError
        If a column holds integers that are not kept as float64.
    """
    frame = nw.from_native(X, eager_only=True)
    frame = frame.select([frame.columns[position] for position in positions])
    integers = [column for column, kind in frame.schema.items() if kind.is_integer()]
    if integers and len(frame):
        for extreme in (nw.all().min(), nw.all().max()):
            row = frame.select(integers).select(extreme).row(0)
            for column, value in zip(integers, row, strict=True):
                check_integers(np.array([value], object), f"X[{column!r}]")
    narrow = all(str(kind) in ("Float16", "Float32") for kind in frame.schema.values())
    dtype = nw.Float32 if narrow else nw.Float64
    others = [column for column, kind in frame.schema.items() if kind != dtype]
    if others:
        frame = frame.with_columns(nw.col(*others).cast(dtype))
    return np.ascontiguousarray(frame.to_numpy(), np.float32 if narrow else np.float64)


def number_column(column: Any, name: str, dtype: Any) -> Array:
    """Return the column `name` of a data frame as an array; missing values become NaN."""
    series = nw.from_native(column, series_only=True)
    found: Array = series.cast(nw.Float64).to_numpy().astype(dtype, copy=False)
    return found


def with_columns(X: Any, new: Array, names: Sequence[str]) -> Any:
    """Return a data frame followed by new columns with these names, in the same library."""
    frame = nw.from_native(X, eager_only=True)
    added = nw.from_numpy(new, list(names), backend=frame.implementation).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        added.index = index
    return nw.concat([frame, nw.from_native(added)], how="horizontal").to_native()
