"""Values of groups of test queries.

Groups are made by list length, by number of relevant documents, and by columns of the caller.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gapboost._data.arguments import mapping
from gapboost._data.columns import one_dimensional
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.analysis.estimates import independent
from gapboost.diagnosis.part import Part
from gapboost.diagnosis.subject import Subject

# Columns of numbers with more different values become quarters of the queries.
MOST_GROUPS = 5
QUARTERS = 4


def checked_slices(slices: Any, part: Part) -> dict[str, Array]:
    """Return a value of each query for each column: the number of each row's group, or the mean.

    Raises
    ------
    TypeError, ValueError
        If `slices` is no mapping from names to one value a row, or text differs within a query.
    """
    if slices is None:
        return {}
    found = {}
    for name, values in mapping(slices, "slices", "{name: one value a row}").items():
        column = one_dimensional(values, f"slices[{name!r}]")
        if len(column) != part.queries.n_rows:
            raise ValueError(
                f"slices[{name!r}] has {len(column)} rows but X has {part.queries.n_rows}; "
                "expected one value a row"
            )
        found[str(name)] = _by_query(part.queries.grouped(column), part, f"slices[{name!r}]")
    return found


def _by_query(column: Array, part: Part, name: str) -> Array:
    if column.dtype.kind in "biuf":
        return part.total(column.astype(np.float64)) / part.queries.sizes
    texts = np.array([str(value) for value in column])
    first = texts[part.queries.offsets[:-1]]
    other = texts != np.repeat(first, part.queries.sizes)
    if other.any():
        query = part.queries.ids[part.numbers[int(np.argmax(other))]]
        raise ValueError(
            f"{name} differs within the query {query!s}; expected one value a query, or numbers"
        )
    return first


def slice_table(subject: Subject, columns: Mapping[str, Array]) -> Any:
    """Return a data frame with the value of the first measure for each group of queries."""
    test = subject.test
    values = subject.values(test, subject.measure)
    by = {"documents": test.queries.sizes, "relevant documents": test.relevant, **columns}
    rows: list[tuple[Any, ...]] = []
    for name, column in by.items():
        for label, chosen in _groups(column):
            low, high = (
                independent(values[chosen]).interval() if chosen.sum() > 1 else (np.nan, np.nan)
            )
            rows.append((name, label, int(chosen.sum()), float(values[chosen].mean()), low, high))
    names = ("slice", "group", "queries", subject.measure, "low", "high")
    return frame(
        {name: [row[place] for row in rows] for place, name in enumerate(names)}, ["slice", "group"]
    )


def _groups(column: Array) -> list[tuple[str, Array]]:
    """Return a label and a mask of queries for each group."""
    distinct = np.unique(column)
    if column.dtype.kind not in "biuf":
        return [(str(value), column == value) for value in distinct]
    if len(distinct) <= MOST_GROUPS:
        return [(f"{value:g}", column == value) for value in distinct]
    bounds = np.quantile(column, np.arange(1, QUARTERS) / QUARTERS)
    number = np.searchsorted(bounds, column)
    return [(_label(column[number == one]), number == one) for one in np.unique(number)]


def _label(values: Array) -> str:
    low, high = values.min(), values.max()
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
