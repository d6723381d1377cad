"""Tables of features: forms that both boosters take, conversions, and the column ``qid``."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from gapboost._kernels import Array
from gapboost.data._compat import num_samples, safe_indexing
from gapboost.data.queries import QueryIds, grouped_rows, ids_of_groups
from gapboost.validation import check_row_order, short_repr, without_values

# XGBoost's name for the query ids among the columns of a data frame; here for every data frame and
# both boosters.
QID = "qid"

# Types of columns that both boosters take, as narwhals writes them.
INTEGERS = tuple(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64))
PLAIN = (str, int, float, np.number, np.bool_)
NUMBER_TYPES = frozenset(("Boolean", "Float32", "Float64", *INTEGERS))


def column_names(X: Any) -> list[Any]:
    """Return the column names of a data frame or an Arrow table; nothing for anything else."""
    # Of an Arrow table, whose `columns` are the values. A data frame may have a column of that
    # name.
    arrow = hasattr(type(X), "column_names")
    names = X.column_names if arrow else getattr(X, "columns", ())
    # Ten times as fast as going through an index of pandas: what predicting one row costs.
    return names.tolist() if hasattr(names, "tolist") else list(names)


def feature_names(X: object) -> tuple[str, ...]:
    """Return the column names without ``qid`` as text; nothing for non-tables."""
    return tuple(str(name) for name in column_names(X) if name != QID)


def column_places(X: Any) -> tuple[str, ...]:
    """Return what to call the columns of a table without names: how numpy takes them."""
    return tuple(f"X[:, {place}]" for place in range(X.shape[1]))


def check_names(
    found: Sequence[str], expected: Sequence[str], name: str, reference: str = "training"
) -> None:
    """Check names and order of the columns of a table: boosters take columns by position.

    Parameters
    ----------
    found, expected : sequence of str
        `feature_names` of a table and of its reference. Nothing is checked if one of them has no
        names.
    name : str
        The caller's name of the table.
    reference : str, default="training"
        The caller's name of the table that has the expected columns.

    Raises
    ------
    ValueError
        Naming the columns that are missing or new, or the first one in another place.
    """
    if found and expected and list(found) != list(expected):
        here, there = set(found), set(expected)
        missing = [f"{column!r} is missing" for column in expected if column not in here]
        new = [f"{column!r} is new" for column in found if column not in there]
        differences = f"other columns than {reference} ({', '.join([*missing[:3], *new[:3]])})"
        if not missing and not new:
            pairs = zip_longest(found, expected)
            one, other = next(pair for pair in pairs if pair[0] != pair[1])
            differences = f"the column {one!r} where {other!r} was in {reference}"
        raise ValueError(
            f"{name} has {differences}; expected {short_repr(expected)}, in this order, as in "
            f"{reference}"
        )


def check_distinct_names(names: list[Any], name: str) -> None:
    """Raise ValueError if two columns of the table `name` have one name."""
    if len(set(names)) < len(names):
        twice = next(column for column in names if names.count(column) > 1)
        raise ValueError(f"{name} has two columns {twice!r}; expected different names")


def with_one_level(X: Any) -> Any:
    """Return a table whose columns have one name each: XGBoost joins those of several levels."""
    names = column_names(X)
    if not any(isinstance(name, tuple) for name in names):
        return X
    joined = [" ".join(map(str, n)).strip() if isinstance(n, tuple) else n for n in names]
    return X.set_axis(joined, axis=1)


def without_qid(X: Any, name: str = "X") -> tuple[Any, Any]:
    """Return a data frame without its column ``qid``, and that column or None.

    Raises
    ------
    ValueError
        If two columns of `X`, which the caller calls `name`, have one name.
    """
    names = column_names(X)
    if not names:
        return X, None
    if tuple in map(type, names):
        X = with_one_level(X)
        names = column_names(X)
    check_distinct_names(names, name)
    if QID not in names:
        return X, None
    # In polars and Arrow [] with a list means something else.
    others = [name for name in names if name != QID]
    return (X.select(others) if hasattr(type(X), "select") else X[others]), X[QID]


def pop_query_ids(
    X: Any, qid: QueryIds, group: Any = None, names: tuple[str, str, str] = ("X", "qid", "group")
) -> tuple[Any, Any]:
    """Return features and query ids: those given, of the column ``qid``, or of the sizes.

    Parameters
    ----------
    X : array-like of shape (N, n_features)
    qid : array-like of shape (N,) or None
    group : array-like of shape (Q,), optional
        Sizes of the queries, whose rows come query by query. A Series of pandas whose index has
        the ids of the rows' index, or of a column of that name, is aligned by it.
    names : tuple of str
        What the caller calls them.

    Raises
    ------
    ValueError
        If queries are given twice, or the sizes are sorted by size.
    """
    if isinstance(qid, str):
        grouped_rows(qid, num_samples(X), names[1])  # always an error: it says to pass the column
    X, column = without_qid(X, names[0])
    queries = {
        f"{names[1]} is given": qid,
        f"{names[2]} is given": group,
        f"{names[0]} has a column {QID!r}": column,
    }
    given = [found for found, value in queries.items() if value is not None]
    if len(given) > 1:
        raise ValueError(f"{given[0]}, and {given[1]} too; expected one of them")
    check_row_order({names[0]: X, names[1]: qid})
    if group is not None:
        ids = ids_of_groups(group, num_samples(X), names[2], names[0])
        return X, _aligned(group, ids, X, names)
    return X, qid if column is None else column


def _aligned(group: Any, ids: Array, X: Any, names: tuple[str, str, str]) -> Array:
    """Return the number of the query of each row, by the index of the sizes if that tells it.

    The index of pandas' ``groupby().size()`` holds the query ids, which may also be in the index of
    `X` or in a column; ``value_counts`` sorts by size.
    """
    index = group.index if hasattr(group, "iloc") else None
    # The index of sizes without ids is a RangeIndex; ids that occur twice are no sizes of queries.
    if index is not None and not hasattr(index, "step") and index.is_unique:
        for labels in _labels_of_rows(X, index):
            numbers: Array = index.get_indexer(labels)
            if np.array_equal(np.bincount(numbers[numbers >= 0]), np.bincount(ids)):
                return numbers
    sizes = np.bincount(ids)
    falls_or_rises = (sizes[1:] <= sizes[:-1]).all() or (sizes[1:] >= sizes[:-1]).all()
    if getattr(group, "name", None) == "count" and falls_or_rises and sizes.min() < sizes.max():
        raise ValueError(
            f"{names[2]} does not have the order of the rows: value_counts sorts by size; expected "
            f"{names[1]} with the query id of each row"
        )
    return ids


def _labels_of_rows(X: Any, index: Any) -> list[Any]:
    """Return labels of the rows of `X` that an index of query ids may hold."""
    labels = []
    if hasattr(X, "iloc"):
        levels = range(X.index.nlevels) if index.nlevels == 1 else ()
        labels = [X.index.get_level_values(level) for level in levels]
        if X.index.nlevels == index.nlevels > 1:
            labels.append(X.index)
    if index.name in column_names(X):
        labels.append(X[index.name])
    return labels


def check_in_memory(X: object, name: str = "X") -> None:
    """Raise TypeError for lazy frames and those of Dask."""
    if hasattr(type(X), "collect") or hasattr(type(X), "compute"):
        raise TypeError(
            f"{name} is a {type(X).__name__}; expected a table in memory: {name}.collect() or "
            f"{name}.compute()"
        )


def features(X: Any, name: str = "X") -> Any:
    """Return `X` in a form that both boosters take, in training and in predictions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (N, n_features), or data frame
        Data frames stay, but masked and Arrow-backed numbers of pandas become those of numpy. Lists
        become arrays; sparse matrices become CSR, or stay CSC, of floats in canonical form; masked
        values become NaN; numbers in another byte order, which XGBoost would misread without a
        word, those of this machine.
    name : str
        What the caller calls it.

    Raises
    ------
    ValueError, TypeError
        If it is no table in memory, or an array without numbers. `check_columns` checks tables.
    """
    check_in_memory(X, name)
    if sparse.issparse(X):
        if X.ndim != 2 or X.dtype.kind not in "biuf":
            raise ValueError(
                f"{name} is a sparse array of shape {X.shape} and dtype {X.dtype}; expected "
                "numbers of shape (n_rows, n_features)"
            )
        # LightGBM predicts for these two classes only, and knows floats only.
        X = sparse.csc_matrix(X) if X.format == "csc" else sparse.csr_matrix(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if not X.has_canonical_format:
            # LightGBM silently misreads columns whose rows are not in order.
            X = X.copy()
            X.sum_duplicates()
        return X
    if type(X).__name__ == "RecordBatch":
        # Of Arrow: a table to neither booster.
        X = nw.from_arrow(X, backend="pyarrow").to_native()
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(np.float64), np.nan)
    if len(getattr(X, "shape", ())) == 2 and not isinstance(X, np.ndarray):
        # Other columns than numbers are for the steps of a pipeline.
        return _backed_by_numpy(X) if is_pandas(X) else X
    try:
        # Of one row, scikit-learn's check takes longer than the prediction.
        if not (type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype.kind in "biuf"):
            X = check_array(X, ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{name} is unusable ({without_values(error)}); expected numbers of shape (n_rows, "
            "n_features)"
        ) from None
    if X.dtype.kind in "mM":
        raise ValueError(f"{name} has dtype {X.dtype}; expected numbers: {name}.astype('int64')")
    return X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))


def check_columns(X: Any, name: str, categories: bool = True) -> None:
    """Raise ValueError for columns of a table that hold neither numbers nor, if taken, categories.

    LightGBM ends the process at some columns of polars or Arrow.
    """
    taken = ("number", "category") if categories else ("number",)
    others = [column for column, content in column_contents(X).items() if content not in taken]
    if others:
        raise ValueError(
            f"{name} has columns that do not hold numbers ({short_repr(others)}); expected numbers "
            "(.astype('int64') of times, .astype('float') of decimals) or categories of pandas "
            "(.astype('category'), in XGBoost with enable_categorical=True), and no ids"
        )


def is_pandas(X: object) -> bool:
    """Return True for data frames of pandas and of what imitates it."""
    return hasattr(type(X), "iloc")


def _backed_by_numpy(X: Any) -> Any:
    """Return a data frame of pandas with numbers of numpy; null becomes NaN.

    LightGBM does not take columns that Arrow backs, and XGBoost misreads another byte order.
    """
    others = [
        c
        for c, t in zip(column_names(X), X.dtypes.tolist(), strict=True)
        if (not t.isnative if isinstance(t, np.dtype) else hasattr(t, "numpy_dtype"))
    ]
    if not others:
        return X
    table = X.astype({c: _numpy_dtype(X[c]) for c in others if X.dtypes[c].kind in "biuf"})
    for column in others:
        if _is_dictionary(X.dtypes[column]):
            # pandas' own conversion fails with null.
            table[column] = X[column].array.__arrow_array__().to_pandas().array
    return table


def _numpy_dtype(column: Any) -> Any:
    """Return the type of numpy for a column of numbers, in the byte order of this machine."""
    dtype = getattr(column.dtype, "numpy_dtype", column.dtype).newbyteorder("=")
    return np.dtype(float) if dtype.kind != "f" and column.isna().any() else dtype


def column_contents(X: Any) -> dict[Any, str]:
    """Return "number", "category" or "other" for each column; nothing for non-tables.

    Numbers of 16 bits are numbers in pandas alone.
    """
    if isinstance(X, np.ndarray):
        return {}
    if is_pandas(X):
        # A tenth of narwhals' time, which counts where one row is predicted.
        return dict(zip(column_names(X), map(_content, X.dtypes.tolist()), strict=True))
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return {}
    contents = {}
    for column, kind in frame.schema.items():
        is_category = str(kind).startswith(("Categorical", "Enum"))
        other = "category" if is_category else "other"
        contents[column] = "number" if str(kind) in NUMBER_TYPES else other
    return contents


def _content(dtype: Any) -> str:
    """Return the content of a column of pandas."""
    if dtype.kind in "biuf":
        return "number"
    if dtype.name != "category":
        return "category" if _is_dictionary(dtype) else "other"
    # LightGBM fails with categories that are dates, intervals or tuples, XGBoost with most.
    return "category" if isinstance(next(iter(dtype.categories), ""), PLAIN) else "other"


def _is_dictionary(dtype: object) -> bool:
    """Return True for pandas' type of categories that Arrow backs."""
    return str(dtype).startswith("dictionary<")


def rows_of(X: Any, rows: Array) -> Any:
    """Return these rows of a table of `features`."""
    if sparse.issparse(X):
        # Rows of CSC would have their indices in no order, which LightGBM silently misreads.
        return X.tocsr()[rows]
    # Tables and arrays of Arrow.
    return X.take(rows) if type(X).__module__.startswith("pyarrow") else safe_indexing(X, rows)
