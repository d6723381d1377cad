"""Columns of arrays and data frames: numbers, their values, and the new table."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from gapboost._data.columns import check_integers
from gapboost._data.features import QID, column_contents, column_names, shortened
from gapboost._kernels import Array


def with_text_names(X: Any) -> Any:
    """Return a data frame of pandas with names of columns as text; anything else unchanged.

    scikit-learn compares the names of columns only if all of them are text.
    """
    names = column_names(X)
    is_text = all(isinstance(name, str) for name in names)
    return X if is_text else X.set_axis(list(map(str, names)), axis=1)


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
    contents = column_contents(X) or dict.fromkeys(range(X.shape[1]), "number")
    contents.pop(QID, None)
    places = {name: place for place, name in enumerate(column_names(X) or contents)}
    numbers = [places[name] for name, content in contents.items() if content == "number"]
    if columns is None:
        others = [name for name, content in contents.items() if content == "other"]
        if others:
            raise ValueError(
                f"X has columns that are neither numbers nor categories: {shortened(others)}; "
                "expected numbers or categories, or the names of the columns of numbers as columns"
            )
        return numbers
    names = list(places)
    usable = [names[place] for place in numbers] if isinstance(columns[0], str) else numbers
    unknown = [column for column in columns if column not in usable]
    if unknown:
        raise ValueError(
            f"columns holds {unknown[0]!r}; expected columns of numbers of X: {shortened(usable)}"
        )
    return [numbers[usable.index(column)] for column in columns]


def as_numbers(X: Any) -> Any:
    """Return an array of objects as float64, and any other table unchanged.

    Raises
    ------
    ValueError, TypeError
        If an object is not a number, or an integer is not kept as float64.
    """
    if not isinstance(X, np.ndarray):
        return X
    check_integers(X, "X")
    try:
        return X.astype(np.float64) if X.dtype == object else X
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"X holds values that are not numbers ({error}); expected numbers"
        ) from None


def values_of(X: Any, positions: Sequence[int]) -> Array:
    """Return columns of numbers as one array; missing values of a data frame become NaN.

    It is float32 if the array or all of the columns are, and float64 otherwise.

    Raises
    ------
    ValueError
        If a column holds integers that are not kept as float64.
    """
    if isinstance(X, np.ndarray):
        narrow = X.dtype in (np.float16, np.float32)
        return np.ascontiguousarray(X[:, positions], np.float32 if narrow else np.float64)
    frame = nw.from_native(X, eager_only=True)
    frame = frame.select([frame.columns[position] for position in positions])
    for column in frame.iter_columns():
        if column.dtype.is_integer():
            check_integers([column.min(), column.max()], f"X[{column.name!r}]")
    narrow = all(kind == nw.Float32 for kind in frame.schema.values())
    frame = frame.with_columns(nw.all().cast(nw.Float32 if narrow else nw.Float64))
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
