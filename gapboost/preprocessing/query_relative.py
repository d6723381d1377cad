"""Query-relative features of tables, as a transformer of scikit-learn and as a function."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from gapboost.data import Array, ArrayLike, QueryIds
from gapboost.data._compat import check_feature_names_in
from gapboost.data.features import (
    QID,
    check_in_memory,
    column_contents,
    column_names,
    features,
    pop_query_ids,
    with_one_level,
)
from gapboost.data.queries import Queries, grouped_rows
from gapboost.validation import as_float64, ordered, short_repr, warn

KINDS = ("zscore", "rank")

# Rows of whole lists and columns that are computed at once: they bound the memory.
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 2**13, 16

FLOATS = (np.float64, np.float32)


class QueryRelativeFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add query-relative features: the place of a value among the documents of its query.

    The raw columns come first and stay as they are. A column ``bm25`` gets a new column
    ``bm25_zscore_in_query`` or ``bm25_rank_in_query`` for each kind: first all columns of the first
    kind, then those of the next.

    Parameters
    ----------
    kinds : sequence of {"zscore", "rank"}, default=("zscore",)
        ``"zscore"`` is the distance from the mean of the query in standard deviations. The standard
        deviation is the population's, with the divisor n. ``"rank"`` is the percentile rank, (rank
        − 1) / (n − 1): 0 for the lowest value of the query, 1 for the highest. Equal values get the
        mean of their ranks.
    columns : sequence of str or of int, optional
        Names or positions of the columns that get new features. None means all columns of numbers.

    Attributes
    ----------
    columns_ : int64 ndarray
        Positions of the columns that get new features.
    median_list_length_ : float
        Median number of documents of a query in `fit`.
    n_features_in_ : int
        Number of columns in `fit`, a column ``qid`` included.
    feature_names_in_ : ndarray of str
        Names of these columns, if all are text.

    Notes
    -----
    n is the number of values of a column in the query. NaN stays NaN and is not
    counted. A column that has one value in a query is 0 there, so that single documents are 0.
    z-scores of infinite values raise an error, and so does a difference beyond all floats.

    Arrays give arrays. Data frames of pandas and polars, and Arrow tables, give tables of the same
    library; `set_output` changes that. Columns of anything but numbers and a column ``qid`` are
    kept and get no new columns. float32 stays float32. If a data frame has columns of several
    types, all new columns are float64. Arrays of whole numbers become float64.

    `fit` learns nothing but the columns and the median list length. Each value depends on the list
    that is ranked: pass whole lists, made as in training. `transform` warns if the median list
    length is less than half of that in `fit`.

    In pipelines `qid` arrives by metadata routing, without any ``set_*_request`` call; a column
    ``qid`` needs no routing. `gapboost.model_selection.GSearchCV` passes `qid` on by itself.

    Examples
    --------
    >>> from gapboost.preprocessing import QueryRelativeFeatures
    >>> X, qid = [[1.0], [3.0], [10.0], [10.0], [40.0]], ["a", "a", "b", "b", "b"]
    >>> added = QueryRelativeFeatures(kinds=("zscore", "rank")).fit_transform(X, qid=qid)
    >>> added.round(2).tolist()
    [[1.0, -1.0, 0.0], [3.0, 1.0, 1.0], [10.0, -0.71, 0.25], [10.0, -0.71, 0.25], [40.0, 1.41, 1.0]]
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__transform: ClassVar[dict[str, bool]] = {"qid": True}

    def __init__(
        self,
        kinds: Sequence[str] = ("zscore",),
        columns: Sequence[str | int] | None = None,
    ) -> None:
        self.kinds = kinds
        self.columns = columns

    def fit(
        self, X: object, y: object = None, qid: QueryIds = None, *, group: ArrayLike | None = None
    ) -> Self:
        """Find the columns of numbers, and the median list length.

        Parameters
        ----------
        X : array-like of shape (N, n_features), or data frame
        y : ignored
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        group : array-like of shape (Q,), optional
            Sizes of the queries, instead of `qid`, if the rows come query by query.

        Raises
        ------
        ValueError, TypeError
            If an argument or parameter is unusable; the message names it, what was found and what
            is expected.
        """
        X, queries = self._checked(X, qid, group, "fit")
        validate_data(self, X, skip_check_array=True)
        self.columns_ = np.array(_chosen_columns(X, self.columns), dtype=np.int64)
        self.median_list_length_ = float(np.median(queries.sizes))
        return self

    def transform(self, X: Any, qid: QueryIds = None, *, group: ArrayLike | None = None) -> Any:
        """Return the columns of `X`, followed by the new ones.

        Parameters
        ----------
        X : array-like of shape (N, n_features), or data frame
            Whole lists; the columns are those of `fit`.
        qid, group : array-like
            As in `fit`. ``group=[len(X)]`` takes all rows for one list.

        Returns
        -------
        table of shape (N, n_features + n_new)
            An array, or a data frame of the library of `X`. Float32 if the columns are, float64
            otherwise.

        Raises
        ------
        ValueError, TypeError
            If an argument is unusable, or columns differ from those of `fit`.

        Warns
        -----
        UserWarning
            If the median list length is less than half of that in `fit`.
        """
        check_is_fitted(self)
        X, queries = self._checked(X, qid, group, "transform")
        validate_data(self, X, skip_check_array=True, reset=False)
        length = float(np.median(queries.sizes))
        if length < self.median_list_length_ / 2:
            warn(
                f"the median list has {length:g} documents, and {self.median_list_length_:g} in "
                "fit; expected whole lists, made as in fit: a query-relative feature depends on "
                "the other documents of the list",
            )
        values = _values(X, _chosen_columns(X, self.columns_.tolist()))
        new = np.hstack([_relative_to_query(values, queries, kind) for kind in self.kinds])
        names = self.get_feature_names_out().tolist()[X.shape[1] :]
        there = set(names) & set(map(str, column_names(X)))
        if there:
            raise ValueError(f"X has the column {min(there)!r} already; expected other names")
        unusable = ~np.isfinite(new) & ~np.isnan(np.tile(values, len(self.kinds)))
        if unusable.any():
            row, column = np.argwhere(unusable)[0]
            raise ValueError(
                f"X has no {names[column]!r} in row {row}, counted from 0; expected finite numbers "
                "whose differences are finite, or NaN"
            )
        return np.hstack([X, new]) if isinstance(X, np.ndarray) else _with_columns(X, new, names)

    def fit_transform(
        self, X: object, y: object = None, qid: QueryIds = None, *, group: ArrayLike | None = None
    ) -> Any:
        """Call `fit` and `transform` with the same arguments."""
        return self.fit(X, y, qid, group=group).transform(X, qid, group=group)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of all columns of the result, object ndarray.

        Columns without names are ``x0``, ``x1``, ...
        """
        check_is_fitted(self)
        raw = check_feature_names_in(self, input_features)
        new = [
            f"{raw[position]}_{kind}_in_query" for kind in self.kinds for position in self.columns_
        ]
        return np.array([*raw, *new], dtype=object)

    def _checked(self, X: Any, qid: QueryIds, group: object, method: str) -> tuple[Any, Queries]:
        """Return a data frame, or an array of floats, and its queries."""
        kinds = self.kinds
        if not ordered(kinds) or not 0 < len(kinds) == len({*kinds} & {*KINDS}):
            raise ValueError(
                f'kinds is {short_repr(kinds)}; expected a list with "zscore", "rank" or both'
            )
        if hasattr(X, "iloc") and X.ndim == 2:
            # scikit-learn compares the names of columns only if all of them are text.
            X = with_one_level(X).rename(columns=str)
        others, qid = pop_query_ids(X, qid, group)
        check_in_memory(others)
        if not column_names(X):
            others = features(others)
            if not sparse.issparse(others):
                for column in others.T:
                    as_float64(column, "X")
            X = check_array(
                others, dtype=FLOATS, ensure_all_finite=False, estimator=self, input_name="X"
            )
        if qid is None:
            raise ValueError(
                f"qid is missing in {method}; expected one query id a row, group with the sizes of "
                "the queries, or a column 'qid' of a data frame. Pipelines pass qid on with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        return X, grouped_rows(qid, X.shape[0], rows_of="X")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _chosen_columns(X: Any, columns: Sequence[str | int] | None) -> list[int]:
    """Return the positions of columns of numbers, by name or position; None means all of them."""
    contents = column_contents(X) or dict.fromkeys(range(X.shape[1]), "number")
    numbers = {
        name: position
        for position, (name, content) in enumerate(contents.items())
        if content == "number" and name != QID
    }
    given: list[Any] = list(numbers.values())
    if columns is not None:
        given = list(columns) if ordered(columns) else []
    chosen = [numbers.get(c, -1) if isinstance(c, str) else c for c in given]
    if not 0 < len(chosen) == len({*chosen} & {*numbers.values()}):
        raise ValueError(
            f"columns is {short_repr(columns)}, and X has numbers in {short_repr(list(numbers))}; "
            "expected different names or positions of these"
        )
    return chosen


def _values(X: Any, positions: Sequence[int]) -> Array:
    """Return columns of numbers as float32 if all of them are, else float64; null becomes NaN."""
    if isinstance(X, np.ndarray):
        return X[:, positions]
    frame = nw.from_native(X, eager_only=True)
    names = [frame.columns[position] for position in positions]
    for name in names:
        as_float64(np.asarray(frame[name].drop_nulls().to_numpy()), f"X[{name!r}]")
    # Of columns that Arrow backs, pandas would make objects.
    frame = nw.from_native(features(frame.select(names).to_native()))
    dtype = nw.Float32 if set(frame.schema.values()) == {nw.Float32} else nw.Float64
    return np.asarray(frame.with_columns(nw.all().cast(dtype)).to_numpy())


def _with_columns(X: Any, new: Array, names: list[str]) -> Any:
    """Return a data frame followed by new columns with these names, in the same library."""
    frame = nw.from_native(X, eager_only=True)
    added = nw.from_numpy(new, names, backend=frame.implementation).to_native()
    index = nw.maybe_get_index(frame)
    if index is not None:
        added.index = index
    return nw.concat([frame, nw.from_native(added)], how="horizontal").to_native()


def _relative_to_query(values: Array, queries: Queries, kind: str) -> Array:
    """Return the features of one kind, of the shape and dtype of `values`."""
    rows = np.arange(len(values)) if queries.rows is None else queries.rows
    output = np.empty_like(values)
    for size in np.unique(queries.sizes):
        begins = queries.offsets[:-1][queries.sizes == size]
        step = max(1, ROWS_AT_ONCE // size)
        for start in range(0, len(begins), step):
            lists = rows[begins[start : start + step, None] + np.arange(size)]
            for first in range(0, values.shape[1], COLUMNS_AT_ONCE):
                columns = slice(first, first + COLUMNS_AT_ONCE)
                x = np.ascontiguousarray(values[lists, columns].swapaxes(1, 2), np.float64)
                with np.errstate(all="ignore"):
                    output[lists, columns] = _within_lists(x, kind).swapaxes(1, 2)
    return output


def _within_lists(x: Array, kind: str) -> Array:
    """Return the features of lists along the last axis; a constant list is 0, NaN stays NaN."""
    there = ~np.isnan(x)
    n = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    low, high = (f.reduce(x, axis=-1, keepdims=True) for f in (np.fmin, np.fmax))
    if kind == "rank":
        new = (rankdata(x, axis=-1, nan_policy="omit") - 1) / (n - 1)
    else:
        # Values from 0 to 1: a large common offset costs no digits, and no square underflows.
        new = (x - low) / (high - low)
        new -= new.sum(axis=-1, where=there, keepdims=True) / n
        new /= np.sqrt((new * new).sum(axis=-1, where=there, keepdims=True) / n)
    return np.where(low == high, 0 * x, new)


def query_relative_features(
    X: object,
    qid: QueryIds = None,
    *,
    group: ArrayLike | None = None,
    kinds: Sequence[str] = ("zscore",),
    columns: Sequence[str | int] | None = None,
) -> Any:
    """Return the columns of a table, followed by z-scores or percentile ranks within each query.

    The result is that of `QueryRelativeFeatures.fit_transform`; that class describes the new
    columns.

    Parameters
    ----------
    X : array-like of shape (N, n_features), or data frame
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
    group : array-like of shape (Q,), optional
        Sizes of the queries, instead of `qid`, if the rows come query by query.
    kinds : sequence of {"zscore", "rank"}, default=("zscore",)
    columns : sequence of str or of int, optional
        Names or positions of the columns that get new features. None means all columns of numbers.

    Returns
    -------
    table of shape (N, n_features + n_new)
        An array, or a data frame of the library of `X`.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.

    Examples
    --------
    >>> from gapboost.preprocessing import query_relative_features
    >>> query_relative_features([[1.0], [3.0], [8.0]], ["a", "a", "b"])
    array([[ 1., -1.],
           [ 3.,  1.],
           [ 8.,  0.]])
    """
    return QueryRelativeFeatures(kinds, columns).fit_transform(X, qid=qid, group=group)
