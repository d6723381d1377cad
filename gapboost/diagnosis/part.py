"""Documents of the test or the training data, with their scores and the values of measures."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gapboost._data.columns import checked_scores, numeric_column
from gapboost._data.features import feature_names, features, split
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import Judged, judged
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost.diagnosis.features import Features
from gapboost.evaluation import query_values
from gapboost.explain import model_and_table
from gapboost.measures import Measure
from gapboost.preprocessing.pipeline import last_step


@dataclass(frozen=True, eq=False)
class Part:
    """Documents of some queries; all arrays are in grouped order, query by query.

    Attributes
    ----------
    X : table
        As the caller gave it, without a column ``qid``.
    qid : array-like
        Query ids of the rows, in their order.
    features : Features
        Columns in the order of the rows.
    data : Judged
        Queries and grades; an unjudged document has grade 0.
    has_grade : bool ndarray of shape (N,)
        False for an unjudged document.
    scores : float64 ndarray of shape (N,)
    """

    X: Any
    qid: Any
    features: Features
    data: Judged
    has_grade: Array
    scores: Array

    @property
    def queries(self) -> Queries:
        """Which rows belong to which query."""
        return self.data.queries

    @cached_property
    def numbers(self) -> Array:
        """Number of the query of each document, ascending, int64 of shape (N,)."""
        return np.repeat(np.arange(len(self.queries)), self.queries.sizes)

    @cached_property
    def rows(self) -> Array:
        """Row of each document in the caller's table, int64 of shape (N,)."""
        found = self.queries.rows
        return np.arange(self.queries.n_rows) if found is None else found

    @cached_property
    def relevant(self) -> Array:
        """Number of documents of each query with a grade above 0, int64 of shape (Q,)."""
        return self.total(self.data.grades > 0).astype(np.int64)

    @cached_property
    def contrasts(self) -> Array:
        """True for each query whose documents have different grades, bool of shape (Q,)."""
        return self.span(self.data.grades) > 0

    @cached_property
    def digests(self) -> Array:
        """Equal for equal rows, uint64 of shape (N,)."""
        return self.queries.grouped(self.features.digests())

    @cached_property
    def ranks(self) -> Array:
        """Rank of each document by its score, int64 of shape (N,), from 1.

        Ties keep the order of the rows.
        """
        order = np.lexsort((-self.scores, self.numbers))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = (
            np.arange(len(order)) - np.repeat(self.queries.offsets[:-1], self.queries.sizes) + 1
        )
        return ranks

    def column(self, place: int) -> Array:
        """Return a column of the features, float64 of shape (N,)."""
        return self.queries.grouped(self.features.column(place))

    def total(self, values: Array) -> Array:
        """Return the sum over the documents of each query, float64 of shape (Q,)."""
        return np.bincount(self.numbers, values, len(self.queries))

    def span(self, values: Array) -> Array:
        """Return the largest minus the smallest value of each query, of shape (Q,)."""
        begins = self.queries.offsets[:-1]
        found: Array = np.maximum.reduceat(values, begins) - np.minimum.reduceat(values, begins)
        return found

    def varies(self, place: int) -> Array:
        """Return True for each query in which a column has different values, bool of shape (Q,)."""
        values, begins = self.column(place), self.queries.offsets[:-1]
        missing = np.isnan(values)
        filled = np.where(missing, -np.inf, values)
        lowest, highest = np.minimum.reduceat(filled, begins), np.maximum.reduceat(filled, begins)
        found: Array = lowest != highest
        return found

    def values(self, measure: Measure, scores: Array) -> Array:
        """Return a measure of each query for any scores; ties count their expected value."""
        return query_values([measure], self.data, scores)[0]


def make_part(
    ranker: Any, rows: Mapping[str, Any], limit: GradeLimit | None, suffix: str = ""
) -> Part:
    """Check rows, and let the ranker score them.

    Parameters
    ----------
    ranker : object with `predict`
    rows : mapping {"X", "y", "qid"}
    limit : GradeLimit or None
    suffix : str
        End of the caller's names of the arguments: ``"_train"`` or ``""``.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    """
    names = (f"X{suffix}", f"y{suffix}", f"qid{suffix}")
    X, qid = split(rows["X"], rows["qid"], names=(names[0], names[2], "group"))
    if qid is None:
        raise ValueError(f"{names[2]} is missing; expected one query id a row")
    table = features(X, names[0])
    grades, has_grade = _grades(rows["y"], names[1])
    data = judged(grades, qid, limit=limit, names=(names[1], names[2], "sample_weight"), real=True)
    if table.shape[0] != len(grades):
        raise ValueError(
            f"{names[1]} has {len(grades)} rows but {names[0]} has {table.shape[0]}; expected one "
            "grade a row"
        )
    if len(data.queries) < 2:
        raise ValueError(
            f"{names[2]} holds 1 query; expected at least two, whose values have an interval"
        )
    found = feature_names(table) or tuple(f"x{number}" for number in range(table.shape[1]))
    scores = data.queries.grouped(predict_scores(ranker, X, qid)).astype(np.float64)
    return Part(X, qid, Features(table, found), data, data.queries.grouped(has_grade), scores)


def _grades(y: Any, name: str) -> tuple[Array, Array]:
    """Return grades, 0 for NaN, and True for each row with a grade."""
    grades = numeric_column(y, name, "grades >= 0, or NaN for documents that nobody judged")
    if grades.dtype.kind != "f":
        return grades, np.ones(len(grades), bool)
    missing = np.isnan(grades)
    if len(grades) and missing.all():
        raise ValueError(f"{name} holds NaN alone; expected a grade of some documents")
    return np.where(missing, 0.0, grades), ~missing


def predict_scores(ranker: Any, X: Any, qid: Any) -> Array:
    """Return the score of each row of `X`, also of a pipeline whose steps request ``qid``.

    Raises
    ------
    TypeError
        If the ranker has no `predict`.
    ValueError
        If `predict` does not return one finite score a row.
    """
    if isinstance(ranker, type) or not hasattr(last_step(ranker), "predict"):
        found = (
            f"the class {ranker.__name__}"
            if isinstance(ranker, type)
            else f"a {type(ranker).__name__}"
        )
        raise TypeError(
            f"ranker is {found}; expected a fitted ranker with predict, or a pipeline that ends in "
            "one"
        )
    model, table, _ = model_and_table(ranker, X, qid)
    # A Booster of XGBoost predicts for its own kind of table.
    native = not hasattr(model, "fit") and hasattr(model, "inplace_predict")
    scores = model.inplace_predict(table) if native else model.predict(table)
    return checked_scores(scores, table.shape[0], "predict of the ranker", "X")
