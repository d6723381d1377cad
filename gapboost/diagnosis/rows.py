"""Documents of the test or the training data, with their scores and the values of measures."""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from gapboost._data.columns import checked_scores, numeric_column
from gapboost._data.features import column_contents, column_names, features, split
from gapboost._data.grades import column_name, label_columns
from gapboost._data.judged import judged
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.analysis.leaks import LARGEST
from gapboost.evaluation import query_values
from gapboost.explain import column_numbers, model_and_table
from gapboost.measures import Measure
from gapboost.measures.sums import grade_limit
from gapboost.preprocessing.pipeline import last_step
from gapboost.preprocessing.tables import number_column

# Odd constant of a multiplicative hash: 2**64 over the golden ratio.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Rows:
    """Documents of some queries; arrays are in grouped order, query by query.

    Parameters
    ----------
    ranker : object with `predict`
    X, y, qid : array-like
        As the caller gave them.
    measures : sequence of Measure
        The first one decides which of several labels gives the grades.
    suffix : str
        End of the caller's names of the arguments: ``"_train"`` or ``""``.

    Attributes
    ----------
    X, qid : table and array-like
        Without a column ``qid``.
    names : tuple of str
        Of the columns.
    data, label : Judged
        Queries and grades of all labels, and of one; an unjudged document has grade 0.
    grades : ndarray of shape (N,)
    has_grade : bool ndarray of shape (N,)
        False for an unjudged document.
    scores : float64 ndarray of shape (N,)
    rows : int64 ndarray of shape (N,)
        Row of the caller's table.
    numbers : int64 ndarray of shape (N,)
        Number of the query, ascending.
    ranks : int64 ndarray of shape (N,)
        Rank by the score, from 1; ties keep the order of the rows.
    ids, sizes, relevant : ndarray of shape (Q,)
        Query ids, and numbers of documents and of those with a grade above 0.
    contrasts : bool ndarray of shape (Q,)
        True for each query whose documents have different grades.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    """

    def __init__(
        self,
        ranker: Any,
        X: Any,
        y: Any,
        qid: Any,
        measures: Sequence[Measure],
        suffix: str = "",
    ) -> None:
        of_X, of_y, of_qid = (f"X{suffix}", f"y{suffix}", f"qid{suffix}")
        self.X, self.qid = split(X, qid, names=(of_X, of_qid, "group"))
        if self.qid is None:
            raise ValueError(f"{of_qid} is missing; expected one query id a row")
        table = features(self.X, of_X)
        self._table = table.tocsc() if sparse.issparse(table) else table
        self.names = tuple(map(str, column_names(table))) or column_numbers(table)
        column = measures[0].terms[0][1].label_column
        grades, has_grade = _grades(y, of_y, column)
        if table.shape[0] != len(has_grade):
            raise ValueError(
                f"{of_y} has {len(has_grade)} rows but {of_X} has {table.shape[0]}; expected one "
                "grade a row"
            )
        names, limit = (of_y, of_qid, "sample_weight"), grade_limit(measures)
        self.data = judged(grades, self.qid, limit=limit, names=names, real=True)
        self.label = self.data if column is None else self.data.of_label(column)
        queries = self.data.queries
        if len(queries) < 2:
            raise ValueError(f"{of_qid} holds 1 query; expected at least two, for an interval")
        self.grades, self.has_grade = self.label.grades, queries.grouped(has_grade)
        self.scores = queries.grouped(_scores(ranker, self.X, self.qid)).astype(np.float64)
        self.rows = queries.grouped(np.arange(len(grades)))
        self.ids, self.sizes, self._begins = queries.ids, queries.sizes, queries.offsets[:-1]
        self.numbers = np.repeat(np.arange(len(queries)), self.sizes)
        self.ranks = np.empty(len(grades), np.int64)
        self.ranks[np.lexsort((-self.scores, self.numbers))] = np.arange(len(grades)) + 1
        self.ranks -= self._begins[self.numbers]
        self.relevant = self.total(self.grades > 0).astype(np.int64)
        self.contrasts = self.differ(self.grades)

    def total(self, values: Array) -> Array:
        """Return the sum over the documents of each query, float64 of shape (Q,)."""
        return np.bincount(self.numbers, values, len(self.sizes))

    def differ(self, values: Array) -> Array:
        """Return True for each query whose documents have different values, of shape (Q,)."""
        lowest, highest = (end.reduceat(values, self._begins) for end in (np.minimum, np.maximum))
        found: Array = lowest != highest
        return found

    def varies(self, place: int) -> Array:
        """Return True for each query in which a column has different values, of shape (Q,)."""
        values = self.column(place)
        return self.differ(np.where(np.isnan(values), -np.inf, values))

    def medians(self, place: int) -> Array:
        """Return the median of a column in each query; missing values are the smallest."""
        values = np.nan_to_num(self.column(place), nan=-LARGEST)
        values = values[np.lexsort((values, self.numbers))]
        low, high = self._begins + (self.sizes - 1) // 2, self._begins + self.sizes // 2
        found: Array = values[low] / 2 + values[high] / 2
        return found

    def values(self, measures: Mapping[str, Measure], scores: Array) -> dict[str, Array]:
        """Return measures of each query for any scores; ties count their expected value."""
        found = query_values(list(measures.values()), self.data, scores)
        return dict(zip(measures, found, strict=True))

    @cached_property
    def numeric(self) -> list[int]:
        """Places of the columns whose values have an order."""
        kinds = list(column_contents(self._table).values()) if column_names(self._table) else None
        return [p for p in range(len(self.names)) if kinds is None or kinds[p] == "number"]

    def column(self, place: int) -> Array:
        """Return a column as float64 of shape (N,), NaN where a value is missing.

        Text and categories become numbers that are equal for equal values.
        """
        if sparse.issparse(self._table):
            values = self._table[:, [place]].toarray().ravel()
        elif isinstance(self._table, np.ndarray):
            values = self._table[:, place]
        else:
            name = column_names(self._table)[place]
            values = self._table[name]
            if place in self.numeric:
                values = number_column(values, str(name), np.float64)
        try:
            found = np.asarray(values).astype(np.float64)
        except (TypeError, ValueError):
            found = np.array([zlib.crc32(str(value).encode()) for value in values], np.float64)
        return self.data.queries.grouped(found)

    def ordered(self) -> Iterator[tuple[str, Array]]:
        """Yield name and values of each column that has an order and varies within a query."""
        for place in self.numeric:
            if self.varies(place).any():
                yield self.names[place], self.column(place)

    @cached_property
    def digests(self) -> Array:
        """Equal for rows with equal features, uint64 of shape (N,)."""
        digest = np.zeros(len(self.scores), np.uint64)
        for place in range(len(self.names)):
            values = self.column(place) + 0.0  # -0.0 becomes 0.0
            values[np.isnan(values)] = np.nan  # there are many NaN
            digest = (digest ^ values.view(np.uint64)) * MULTIPLIER
            digest ^= digest >> np.uint64(29)
        return digest


def _grades(y: Any, name: str, column: Any) -> tuple[Any, Array]:
    """Return grades of all labels, 0 for NaN, and True for each row with a grade of one label."""
    columns = label_columns(y, name)
    if not columns:
        return _filled(y, name)
    labels = {of: _filled(values, column_name(name, of)) for of, values in columns.items()}
    has_grade = labels.get(column, next(iter(labels.values())))[1]
    return frame({str(of): labels[of][0] for of in labels}).set_axis([*labels], axis=1), has_grade


def _filled(y: Any, name: str) -> tuple[Array, Array]:
    grades = numeric_column(y, name, "grades >= 0, or NaN for documents that nobody judged")
    missing = np.isnan(grades) if grades.dtype.kind == "f" else np.zeros(len(grades), bool)
    if len(grades) and missing.all():
        raise ValueError(f"{name} holds NaN alone; expected a grade of some documents")
    return np.where(missing, 0, grades), ~missing


def _scores(ranker: Any, X: Any, qid: Any) -> Array:
    """Return the score of each row of `X`, also of a pipeline whose steps request ``qid``."""
    if isinstance(ranker, type) or not hasattr(last_step(ranker), "predict"):
        raise TypeError(f"ranker is {ranker!r:.60}; expected a fitted ranker or pipeline")
    model, table, _ = model_and_table(ranker, X, qid)
    # A Booster of XGBoost predicts for its own kind of table.
    native = not hasattr(model, "fit") and hasattr(model, "inplace_predict")
    scores = model.inplace_predict(table) if native else model.predict(table)
    return checked_scores(scores, table.shape[0], "predict of the ranker", "X")


class Subject:
    """Ranker, data and measures of a report.

    Attributes
    ----------
    ranker : object with `predict`
    test : Rows
    training : Rows or None
    measures : dict {name: Measure}
        With resolved g, under the names that the caller gave.
    measure : str
        Name of the first measure, by which checks decide.
    here, there : dict {name: float64 ndarray of shape (Q,)}
        Values of the test queries and of the training queries.
    """

    def __init__(
        self, ranker: Any, test: Rows, training: Rows | None, measures: dict[str, Measure]
    ) -> None:
        self.ranker, self.test, self.training, self.measures = ranker, test, training, measures
        self.measure = next(iter(measures))
        self.here = test.values(measures, test.scores)
        self.there = training.values(measures, training.scores) if training else {}

    def first(self, rows: Rows, scores: Array) -> Array:
        """Return the first measure of each query for any scores, of shape (Q,)."""
        return rows.values({self.measure: self.measures[self.measure]}, scores)[self.measure]

    def gain(self, rows: Rows) -> Array:
        """Return the first measure minus its expected value for a random order, of shape (Q,)."""
        values = self.here if rows is self.test else self.there
        return values[self.measure] - self.first(rows, np.zeros(len(rows.scores)))
