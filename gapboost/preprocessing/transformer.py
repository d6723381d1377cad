"""Query-relative features of tables, as a transformer of scikit-learn and as a function."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gapboost._data.arguments import ordered, shown
from gapboost._data.features import features, split
from gapboost._data.private import check_feature_names_in
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array
from gapboost._kernels.order import sorting_for
from gapboost._kernels.query_relative import RANK, ZSCORE, write_relative
from gapboost._kernels.threads import chunks, resolve_n_jobs, run
from gapboost.preprocessing.tables import (
    as_numbers,
    chosen_columns,
    values_of,
    with_columns,
    with_text_names,
)

KINDS = ("zscore", "rank")

# Columns of one task: a cache line of a row or two. One long list has several tasks too.
COLUMNS_AT_ONCE = 16


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
    n_jobs : int, optional
        Number of threads. None means all cores that are available.

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
    Infinite values raise an error.

    Arrays give arrays. Data frames of pandas and polars, and Arrow tables, give tables of the same
    library; `set_output` changes that. Categorical columns and a column ``qid`` are kept and get no
    new columns. float32 stays float32. If a data frame has columns of several types, all new
    columns are float64. Arrays of whole numbers become float64.

    Integers beyond 2**53 raise an error: as float64 they would be equal to others.

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
        columns: Sequence[Any] | None = None,
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.kinds = kinds
        self.columns = columns
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, qid: Any = None, *, group: Any = None) -> Self:
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
        self._check_parameters()
        X, queries = self._checked(X, qid, group, "fit")
        positions = chosen_columns(X, None if self.columns is None else list(self.columns))
        validate_data(self, X, skip_check_array=True)
        self.columns_ = np.array(positions, dtype=np.int64)
        self.median_list_length_ = float(np.median(queries.sizes))
        names = self.get_feature_names_out().tolist()
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"X has a column {twice!r} already; expected no column with the name of a new one"
            )
        return self

    def transform(self, X: Any, qid: Any = None, *, group: Any = None) -> Any:
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
        self._check_parameters()
        X, queries = self._checked(X, qid, group, "transform")
        validate_data(self, X, skip_check_array=True, reset=False)
        positions = chosen_columns(X, self.columns_.tolist())
        length = float(np.median(queries.sizes))
        if length < self.median_list_length_ / 2:
            warnings.warn(
                f"the median list has {length:g} documents, and {self.median_list_length_:g} in "
                "fit; expected whole lists, made as in fit: a query-relative feature depends on "
                "the other documents of the list",
                stacklevel=2,
            )
        names = self.get_feature_names_out().tolist()
        values = values_of(X, positions)
        n_kept = X.shape[1] if isinstance(X, np.ndarray) else 0
        n_new = len(self.kinds) * len(positions)
        output = np.empty((len(values), n_kept + n_new), values.dtype)
        if n_kept:
            output[:, :n_kept] = X
        if write_features(values, queries, self.kinds, output, n_kept, resolve_n_jobs(self.n_jobs)):
            row, column = np.argwhere(np.isinf(values))[0]
            raise ValueError(
                f"X holds an infinite value in the column {names[positions[column]]!r}, row {row}, "
                "counted from 0; expected finite numbers or NaN"
            )
        return output if n_kept else with_columns(X, output, names[X.shape[1] :])

    def fit_transform(self, X: Any, y: Any = None, qid: Any = None, *, group: Any = None) -> Any:
        """Call `fit` and `transform` with the same arguments."""
        return self.fit(X, y, qid, group=group).transform(X, qid, group=group)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of all columns of the result, object ndarray.

        Columns without names are ``x0``, ``x1``, ...
        """
        check_is_fitted(self)
        raw = check_feature_names_in(self, input_features)
        new = [
            f"{raw[position]}_{kind}_in_query" for kind in self.kinds for position in self.columns_
        ]
        return np.array([*raw, *new], dtype=object)

    def _check_parameters(self) -> None:
        resolve_n_jobs(self.n_jobs)
        if not _are_distinct(self.kinds, str) or not set(self.kinds) <= set(KINDS):
            raise ValueError(
                f'kinds is {shown(self.kinds)}; expected a list with "zscore", "rank" or both'
            )
        columns = self.columns
        if columns is not None and not any(
            _are_distinct(columns, kind) for kind in (str, int | np.integer)
        ):
            raise ValueError(
                f"columns is {shown(columns)}; expected a list of distinct names or of distinct "
                "positions from 0 on, or None for all columns of numbers"
            )

    def _checked(self, X: Any, qid: Any, group: Any, method: str) -> tuple[Any, Queries]:
        """Return a table in memory, and its queries."""
        if sparse.issparse(X):
            raise TypeError(
                "X is a sparse matrix; expected a dense array or a data frame: X.toarray()"
            )
        X = with_text_names(X)
        others, qid = split(X, qid, group)
        checked = as_numbers(features(others))
        X = checked if others is X else X
        if X.shape[0] == 0 or checked.shape[1] == 0:
            raise ValueError(
                f"X has {X.shape[0]} sample(s) and {checked.shape[1]} feature(s) (shape={X.shape}) "
                "while a minimum of 1 is required; expected at least one document and one feature"
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


def _are_distinct(values: Any, kind: Any) -> bool:
    """Return True for one or more different values of one kind; truth values are no integers."""
    if not ordered(values):
        return False
    right = all(isinstance(value, kind) and not isinstance(value, bool) for value in values)
    return right and 0 < len(values) == len(set(values))


def write_features(
    values: Array, queries: Queries, kinds: Sequence[str], output: Array, first: int, n_jobs: int
) -> bool:
    """Write a column for each kind and column of `values` to `output`, all of a kind together.

    Each task computes some columns for a chunk of queries.

    Parameters
    ----------
    values : float32 or float64 ndarray of shape (N, n_columns)
    queries : Queries
    kinds : sequence of {"zscore", "rank"}
    output : ndarray of shape (N, first + len(kinds) * n_columns)
        Of the dtype of `values`.
    first : int
        The first column of `output` that is written.
    n_jobs : int
        Number of threads.

    Returns
    -------
    bool
        True if the columns hold an infinite value; `output` is then unusable.
    """
    n_columns = values.shape[1]
    rows = np.arange(len(values)) if queries.rows is None else queries.rows
    tasks = [
        (kind, part, source, first + number * n_columns + source)
        for number, kind in enumerate(kinds)
        for part in chunks(queries.offsets, n_jobs, 0)
        for source in range(0, n_columns, COLUMNS_AT_ONCE)
    ]
    infinite = np.zeros(len(tasks), dtype=bool)

    def compute(task: int) -> None:
        kind, (begin, end), source, target = tasks[task]
        offsets = queries.offsets[begin : end + 1]
        n = min(COLUMNS_AT_ONCE, n_columns - source)
        infinite[task] = write_relative(
            ZSCORE if kind == "zscore" else RANK, values, source, n, rows, offsets, output, target,
            sorting_for(int(np.diff(offsets).max())),
        )  # fmt: skip

    run(compute, len(tasks), n_jobs)
    return bool(infinite.any())


def query_relative_features(
    X: Any,
    qid: Any = None,
    *,
    group: Any = None,
    kinds: Sequence[str] = ("zscore",),
    columns: Sequence[Any] | None = None,
    n_jobs: int | None = None,
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
    n_jobs : int, optional
        Number of threads. None means all cores that are available.

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
    return QueryRelativeFeatures(kinds, columns, n_jobs=n_jobs).fit_transform(
        X, qid=qid, group=group
    )
