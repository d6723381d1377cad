"""Documents of the test or the training data, with their scores and the values of measures."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from scipy import stats

from gapboost.analysis.leaks import LARGEST, number_columns
from gapboost.data import (
    Array,
    ArrayLike,
    QueryIds,
    RankingDataset,
    check_names,
    column_contents,
    column_names,
    column_places,
    feature_names,
)
from gapboost.evaluation import QueryValues
from gapboost.explain import model_and_table
from gapboost.measures import Measure
from gapboost.measures.labels import grade_limit
from gapboost.optional import DataFrame, frame, imported
from gapboost.preprocessing.pipeline import last_step
from gapboost.validation import check_row_order, checked_scores, numeric_column, short_repr

# What pandas calls objects that are numbers, such as True, False and None.
NUMBERS = ("boolean", "integer", "floating", "mixed-integer-float")

NAMES = {name: name for name in ("X", "y", "qid")}


class ScoredDataset:
    """A data set with scores and values of measures; arrays are in grouped order.

    Parameters
    ----------
    ranker : object with `predict`
    X, y, qid : array-like
        As the caller gave them.
    measures : sequence of Measure
        Measures that must know the grades; none where there are no grades.
    names : mapping {"X", "y", "qid": str}, optional
        The caller's names of the arguments.
    may_fail : bool, default=False
        Whether a ValueError of the ranker becomes `unscored`.

    Attributes
    ----------
    data : QueryData
        Queries and grades; an unjudged document has grade 0.
    grades : ndarray of shape (N,)
    has_grade : bool ndarray of shape (N,)
        False for an unjudged document.
    scores : float64 ndarray of shape (N,)
    rows : int64 ndarray of shape (N,)
        Row of the caller's table.
    numbers : int64 ndarray of shape (N,)
        Number of the query, ascending.
    unscored : str
        Error of the ranker that did not score the rows, whose scores are NaN then; else "".
    ranks : int64 ndarray of shape (N,)
        Rank by the score, from 1; ties keep the order of the rows.
    ids, sizes, relevant : ndarray of shape (Q,)
        Query ids, and numbers of documents and of those with a grade above 0.
    has_mixed_grades : bool ndarray of shape (Q,)
        True for each query whose documents have different grades.
    features : pandas.DataFrame of float64
        Text and categories are numbers that are equal for equal values.
    numeric : list of str
        Columns whose values have an order.
    categories : dict {column: {number: text}}
        Values of the other columns.
    measures : dict {name: Measure}
        With resolved g, under the names that the caller gave; empty before `measure_by`.
    values : dict {name: float64 ndarray of shape (Q,)}

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    """

    def __init__(
        self,
        ranker: object,
        X: object,
        y: ArrayLike | None,
        qid: QueryIds,
        measures: Sequence[Measure],
        names: Mapping[str, str] = NAMES,
        *,
        may_fail: bool = False,
    ) -> None:
        grades = numeric_column(y, names["y"], "grades >= 0, or NaN for unjudged documents")
        has_grade = ~np.isnan(grades)
        if len(grades) and not has_grade.any():
            raise ValueError(f"{names['y']} holds NaN alone; expected a grade of some documents")
        given = np.where(has_grade, grades, 0)
        check_row_order({names["X"]: X, names["y"]: y})
        found = RankingDataset.of(X, given, qid, limit=grade_limit(measures), names=names)
        self.data, queries = found.query_data, found.query_data.queries
        if measures and len(queries) < 2:
            raise ValueError(
                f"{names['qid']} holds 1 query; expected at least two, for an interval"
            )
        self.ids, self.sizes, self.numbers = queries.ids, queries.sizes, queries.numbers
        self.grades = self.data.grades
        self.has_grade = queries.grouped(has_grade)
        self.unscored = ""
        try:
            scores = _scores(ranker, X, qid)
        except ValueError as error:
            if not may_fail:
                raise
            scores, self.unscored = np.full(queries.n_rows, np.nan), str(error)
        self.scores = queries.grouped(scores).astype(np.float64)
        self.rows = queries.grouped(np.arange(queries.n_rows))
        self.relevant = self.total(self.grades > 0).astype(np.int64)
        self.has_mixed_grades = self.data.has_mixed_grades
        self.features, self.numeric, self.categories = _features(found.grouped().X)
        self.measures: Mapping[str, Measure] = {}
        self.values: dict[str, Array] = {}

    def measure_by(self, measures: Mapping[str, Measure]) -> None:
        """Set the measures and their values; ties count their expected value."""
        found = QueryValues(list(measures.values()), self.data)(self.scores)
        self.measures, self.values = measures, dict(zip(measures, found, strict=True))

    @property
    def measure(self) -> str:
        """Name of the first measure, by which checks decide."""
        return next(iter(self.measures))

    def first(self, scores: Array) -> Array:
        """Return the first measure of each query for any scores, of shape (Q,)."""
        return self._of_first(scores)[0]

    @cached_property
    def _of_first(self) -> QueryValues:
        return QueryValues([self.measures[self.measure]], self.data)

    @property
    def gain(self) -> Array:
        """First measure minus its expected value for a random order, of shape (Q,)."""
        return self.values[self.measure] - self.first(np.zeros(len(self.scores)))

    @cached_property
    def ranks(self) -> Array:
        """See the class."""
        scores = frame({"score": self.scores}).groupby(self.numbers)["score"]
        ranks: Array = scores.rank(method="first", ascending=False).to_numpy(np.int64)
        return ranks

    def total(self, values: Array) -> Array:
        """Return the sum over the documents of each query, of shape (Q,)."""
        return np.bincount(self.numbers, values)

    def differ(self, values: Array) -> Array:
        """Return True for each query whose documents have different values, of shape (Q,)."""
        by_query = frame({"value": values}).groupby(self.numbers)["value"]
        different: Array = by_query.nunique().to_numpy() > 1
        return different

    def would_show(self, rows: Array, n_queries: int, level: float) -> bool:
        """Return True if as many queries like these would have some of such `rows`.

        Parameters
        ----------
        rows : bool array-like of shape (N,)
        n_queries : int
        level : float
            Probability that they have none, below which that is no chance.
        """
        count = (self.total(np.asarray(rows, np.float64)) > 0).sum()
        return bool(all_among(count, len(self.ids), n_queries) < level)

    def constant_beside(self, training: "ScoredDataset", level: float) -> list[str]:
        """Return features with one value in all rows, and too often another one in `training`.

        `level` is that of `would_show`, for all features together. One query tells the value, so
        that the others alone say how often it occurs.
        """
        here, there = self.features.fillna(np.inf), training.features.fillna(np.inf)
        return [
            name
            for name in here.columns[here.nunique() == 1]
            if training.would_show(
                there[name] != here[name].iloc[0], len(self.ids) - 1, level / here.shape[1]
            )
        ]

    @cached_property
    def varies(self) -> DataFrame:
        """Data frame of bool: True for each query and feature that has different values in it."""
        by_query = self.features.fillna(-np.inf).groupby(self.numbers)
        return by_query.min() != by_query.max()

    @cached_property
    def medians(self) -> DataFrame:
        """Data frame with the median of each query and feature; missing values are the smallest."""
        return self.features[self.numeric].fillna(-LARGEST / 2).groupby(self.numbers).median()

    def ordered(self) -> Iterator[tuple[str, Array]]:
        """Yield name and values of each feature that has an order and varies within a query."""
        for name in self.numeric:
            if self.varies[name].any():
                yield name, self.features[name].to_numpy()

    @cached_property
    def digests(self) -> Array:
        """Equal for documents with equal features, uint64 of shape (N,)."""
        pandas = imported("pandas", "analysis", "for a report")
        found: Array = pandas.util.hash_pandas_object(self.features, index=False).to_numpy()
        return found

    @cached_property
    def contents(self) -> Array:
        """Equal for queries with equal documents in any order, uint64 of shape (Q,)."""
        return np.add.reduceat(self.digests, self.data.queries.offsets[:-1])


def all_among(count: ArrayLike, n_queries: int, n_others: int) -> Any:
    """Return the probability that `count` queries, drawn of all, are all among `n_queries`.

    Fisher's exact test, where no query of the others is drawn.
    """
    return stats.hypergeom.pmf(count, n_queries + n_others, n_queries, count)


def check_columns_alike(rows: ScoredDataset, training: ScoredDataset) -> None:
    """Raise ValueError if columns differ in names or order, or numbers stand for text."""
    check_names([*rows.features], [*training.features], "X", "X_train")
    for name in rows.features:
        kinds = ["text or categories" if name in part.categories else "numbers"
                 for part in (rows, training) if part.features[name].notna().any()]  # fmt: skip
        if len(set(kinds)) > 1:
            raise ValueError(
                f"X holds {kinds[0]} in {name!r} and X_train {kinds[1]}; expected the same in both"
            )


def _features(table: DataFrame) -> tuple[DataFrame, list[str], dict[str, dict[float, str]]]:
    """Return `features`, `numeric` and `categories` of a table."""
    pandas = imported("pandas", "analysis", "for a report")
    numbers = dict(number_columns(table))
    columns, contents = column_names(table), column_contents(table)
    found, categories = {}, {}
    for place, name in enumerate(feature_names(table) or column_places(table)):
        if name not in numbers:
            text = table[columns[place]] if columns else table[:, place]
            if not hasattr(text, "astype"):
                text = nw.from_native(text, series_only=True).to_list()
            # Without object, integer categories would be 1.0 where some are missing, and else 1.
            text = pandas.Series(text, dtype=object)
            kind = pandas.api.types.infer_dtype(text) if columns else ""
            if kind in NUMBERS and contents[columns[place]] != "category":
                found[name] = text.where(text.notna(), np.nan).to_numpy(np.float64)
                continue
            text = np.asarray(text)
            codes, values = pandas.factorize(text.astype(str))
            hashed = pandas.util.hash_array(values.astype(object)).astype(np.float64)
            found[name] = np.where(pandas.isna(text), np.nan, hashed[codes])
            categories[name] = dict(zip(hashed.tolist(), values.tolist(), strict=True))
        else:
            found[name] = numbers[name]
    # There are many NaN, and two zeros: one of each.
    features = frame(found)
    numeric = [name for name in found if name not in categories]
    return features.where(features.notna()) + 0.0, numeric, categories


def _scores(ranker: object, X: object, qid: QueryIds) -> Array:
    """Return the score of each row of `X`, also of a pipeline whose steps request ``qid``."""
    if isinstance(ranker, type) or not hasattr(last_step(ranker), "predict"):
        raise TypeError(f"ranker is {short_repr(ranker)}; expected a fitted ranker or pipeline")
    model, table, _ = model_and_table(ranker, X, qid)
    # A Booster of XGBoost predicts for its own kind of table.
    native = not hasattr(model, "fit") and hasattr(model, "inplace_predict")
    scores = model.inplace_predict(table) if native else model.predict(table)
    return checked_scores(scores, table.shape[0], "predict of the ranker", "X")
