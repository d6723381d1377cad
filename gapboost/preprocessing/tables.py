"""Columns of arrays and data frames: numbers, their values, and the new table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gapboost._data.columns import numeric_column
from gapboost._data.features import (
    CATEGORIES,
    HALVES,
    NUMBER_TYPES,
    QID,
    arrow_types,
    column_names,
    shortened,
)
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost.preprocessing.computation import write_features

NARROW = ("float16", "halffloat", "float", "float32")


def number_columns(X: Any) -> list[int]:
    """Return the positions of the columns of numbers, without categories and ``qid``.

    Raises
    ------
    ValueError
        If a column holds neither numbers nor categories.
    """
    if isinstance(X, np.ndarray):
        return list(range(X.shape[1]))
    contents = column_contents(X)
    others = [name for name, content in contents.items() if content == "other" and name != QID]
    if others:
        raise ValueError(
            "X has columns that are neither numbers nor categories: "
            f"{', '.join(shortened(list(map(repr, others))))}; expected numbers or categories, or "
            "the names of the columns of numbers as columns"
        )
    return [
        i
        for i, (name, content) in enumerate(contents.items())
        if content == "number" and name != QID
    ]


def check_numbers(X: Any, positions: Sequence[int]) -> None:
    """Check that these columns hold numbers.

    Raises
    ------
    ValueError
        Naming the first that does not.
    """
    if isinstance(X, np.ndarray):
        return
    contents = list(column_contents(X).items())
    for name, content in (contents[position] for position in positions):
        if content != "number" or name == QID:
            found = "holds the query ids" if name == QID else f"has the type {_types(X)[name]}"
            raise ValueError(f"columns holds {name!r}, which {found}; expected columns of numbers")


def column_contents(X: Any) -> dict[Any, str]:
    """Return "number", "category" or "other" for each column of a data frame."""
    return {name: _content(kind) for name, kind in _types(X).items()}


def _types(X: Any) -> dict[Any, Any]:
    return dict(arrow_types(X)) or dict(zip(column_names(X), X.dtypes, strict=True))


def _content(kind: Any) -> str:
    if isinstance(kind, str):
        number, category = kind in NUMBER_TYPES or kind in HALVES, kind.startswith(CATEGORIES)
    else:
        number, category = (
            getattr(kind, "kind", "") in tuple("biuf"),
            str(kind).startswith(("category", "dictionary")),
        )
    return "number" if number else "category" if category else "other"


def extended(
    X: Any,
    positions: Array,
    queries: Queries,
    kinds: tuple[str, ...],
    names: Sequence[str],
    n_jobs: int,
) -> Any:
    """Return `X` with a new column for each kind and position, in the same library.

    Parameters
    ----------
    X : table of `gapboost._data.features.features`
    positions : int64 ndarray
    queries : Queries
    kinds : tuple of str
    names : sequence of str
        Names of all columns of the result.
    n_jobs : int

    Raises
    ------
    ValueError
        If a column holds an infinite value.
    """
    array = isinstance(X, np.ndarray)
    n_columns = X.shape[1]
    if array:
        width = n_columns + len(kinds) * len(positions)
        values = output = np.empty(
            (len(X), width), np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        )
        output[:, :n_columns] = X
        sources, first = positions, n_columns
    else:
        values = _values_of(X, positions)
        output = np.empty((len(values), len(kinds) * len(positions)), values.dtype)
        sources, first = np.arange(len(positions)), 0
    if write_features(values, sources, queries, kinds, output, first, n_jobs):
        column = next(i for i in sources if np.isinf(values[:, i]).any())
        row = int(np.argmax(np.isinf(values[:, column])))
        name = names[positions[np.flatnonzero(sources == column)[0]]]
        raise ValueError(
            f"X holds an infinite value in the column {name!r}, row {row}, counted from 0; "
            "expected finite numbers or NaN"
        )
    return output if array else _joined(X, output, names)


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
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"X holds values that are not numbers ({error}); expected numbers"
        ) from None


def _values_of(X: Any, positions: Array) -> Array:
    """Return the columns as one array: float32 if all of them are, float64 otherwise."""
    names = column_names(X)
    chosen = [names[position] for position in positions]
    types = _types(X)
    narrow = all(str(types[name]).lower() in NARROW for name in chosen)
    values = np.empty((X.shape[0], len(chosen)), np.float32 if narrow else np.float64)
    for j, name in enumerate(chosen):
        values[:, j] = number_column(X[name], str(name), values.dtype)
    return values


def number_column(column: Any, name: str, dtype: Any) -> Array:
    """Return a column of numbers of a data frame; missing values become NaN."""
    if hasattr(type(column), "iloc"):  # pandas
        found: Array = column.to_numpy(dtype=dtype, na_value=np.nan)
        return found
    column = column.cast("float64") if hasattr(type(column), "combine_chunks") else column
    return numeric_column(column.to_numpy(), f"the column {name!r} of X", "numbers")


def _joined(X: Any, new: Array, names: Sequence[str]) -> Any:
    """Return a data frame with new columns, under these names."""
    added = names[X.shape[1] :]
    if hasattr(type(X), "iloc"):
        import pandas as pd

        joined = pd.concat(
            [X, pd.DataFrame(new, index=X.index, columns=list(added), copy=False)], axis=1
        )
        joined.columns = list(names)
        return joined
    if hasattr(type(X), "column_names"):
        for name, column in zip(added, new.T, strict=True):
            X = X.append_column(name, [np.ascontiguousarray(column)])
        return X
    return X.hstack(
        [type(X[:, 0])(name, column) for name, column in zip(added, new.T, strict=True)]
    )
