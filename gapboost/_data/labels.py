"""Several labels of each document, such as relevance and revenue: the columns of a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from gapboost._data.features import column_names
from gapboost._data.grades import GradeLimit
from gapboost._data.recall_base import RecallBase
from gapboost._kernels import Array

# A column of labels: its name in a data frame, its number from 0 on in an array.
Column = int | str


@dataclass(frozen=True, eq=False)
class Label:
    """Grades of one column, as `Judged` holds those of one label.

    Attributes
    ----------
    codes : int32 ndarray of shape (N,)
    base : RecallBase
    """

    codes: Array
    base: RecallBase

    def subset(self, queries: Array, rows: Array) -> Self:
        """Return the label of the queries and rows in two bool masks."""
        return type(self)(self.codes[rows], self.base[queries])


def label_columns(y: Any, name: str) -> dict[Column, Any]:
    """Return the columns of a table of two labels or more; nothing for one label.

    Raises
    ------
    ValueError
        If two columns have the same name.
    """
    names = column_names(y)
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise ValueError(f"{name} has several columns {twice!r}; expected distinct names")
    if len(names) > 1:
        return {column: y[column] for column in names}
    try:
        y = y if hasattr(y, "shape") else np.asarray(y)
    except ValueError:
        return {}  # rows of different lengths are refused as one label
    several = isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] > 1
    return {column: y[:, column] for column in range(y.shape[1])} if several else {}


def column_name(name: str, column: Column) -> str:
    """Return the name of a column for error messages, such as ``y['revenue']`` or ``y[:, 1]``."""
    return f"{name}[{column!r}]" if isinstance(column, str) else f"{name}[:, {column}]"


def check_label_columns(columns: Sequence[Column], limit: GradeLimit, name: str) -> None:
    """Check that measures read columns that occur.

    Parameters
    ----------
    columns : sequence of int or str
        Columns of the labels; none for one label.
    limit : GradeLimit
        Of the measures.
    name : str
        The caller's name of the labels.

    Raises
    ------
    ValueError
        If a measure reads another column, or none of several.
    """
    found = f"the labels {', '.join(map(repr, columns))}" if columns else "one label a row"
    if columns and limit.of_one_label:
        raise ValueError(
            f"{name} has {found}, and {limit.of_one_label} does not say which of them it reads; "
            "expected one value a row, shape (n_rows,), or "
            f"OfLabel({limit.of_one_label}, {columns[0]!r})"
        )
    for column, of_label in limit.of_labels:
        if column not in columns:
            raise ValueError(
                f"{name} has {found}, but {of_label.measure} reads {column!r} of several; expected "
                "shape (n_rows, n_labels) with this column, or the measure without OfLabel"
            )
