"""Probabilities from the scores of a ranker, fitted on held-out queries.

Scores of ranking objectives are identified within a query only. `docs/guide/calibration.md` says
what a probability across queries can and cannot mean.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from gapboost.analysis.standard_errors import one_way_clustered
from gapboost.data import (
    Array,
    ArrayLike,
    QueryIds,
    at_least,
    checked_grades,
    grouped_rows,
    num_samples,
    pop_query_ids,
)
from gapboost.optional import DataFrame, frame
from gapboost.preprocessing.pipeline import last_step, transform
from gapboost.validation import (
    as_integer,
    as_number,
    check_row_order,
    checked_scores,
    finite_column,
    one_of,
)

__all__ = ["CalibratedRanker", "reliability"]

METHODS = ("isotonic", "logistic")

# Fewer queries say next to nothing about other queries, whatever the number of documents.
FEWEST_QUERIES = 10

# Weight of the logistic regression next to the isotonic one, which is constant over blocks of
# scores.
TIE_BREAK = 1e-6


class CalibratedRanker(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Add probabilities to a fitted ranker: P(grade >= k), fitted on held-out queries.

    Parameters
    ----------
    ranker : fitted ranker, or Pipeline that ends in one
        Any estimator whose `predict` returns one score a row. It is not trained again, and
        `sklearn.base.clone` keeps it as it is.
    grades : sequence of float, default=(1,)
        Thresholds k, ascending and above 0.
    method : {"isotonic", "logistic"}, default="isotonic"
        Regression of "grade >= k" on the score, over the documents of all queries. scikit-learn's
        `IsotonicRegression` takes any increasing shape. Its `LogisticRegression` has two
        parameters, and needs fewer queries.

    Attributes
    ----------
    grades_ : tuple of float
        Thresholds of the columns of `predict_proba`.
    n_queries_in_ : int
        Number of held-out queries.

    See Also
    --------
    reliability : Compare probabilities with grades, on queries of neither fit.

    Notes
    -----
    Scores of ranking objectives are identified within a query only. A probability across queries
    is right on average over queries like the held-out ones, not for each query.

    The order within a query is that of the scores. The probabilities increase strictly with the
    score: isotonic regression alone is constant over blocks of scores, and a logistic regression
    with one millionth of the weight breaks its ties. Scores tie in the probabilities if they differ
    by less than about 1e-9 of their standard deviation, or lie where the logistic regression is 0
    or 1 in float64. `predict` has every difference. Thresholds are nested: P(grade >= 2) is at most
    P(grade >= 1).

    Examples
    --------
    >>> from gapboost.calibration import CalibratedRanker
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking()
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> calibrated = CalibratedRanker(ranker, grades=(1, 2)).fit(vali.X, vali.y, qid=vali.qid)
    >>> calibrated.predict_proba(test.X).shape == (len(test.y), 2)
    True
    """

    # With metadata routing on, qid reaches these without set_*_request by the user.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict_proba: ClassVar[dict[str, bool]] = {"qid": True}

    _estimator_type = "ranker"

    def __init__(
        self, ranker: Any, *, grades: Sequence[float] = (1,), method: str = "isotonic"
    ) -> None:
        self.ranker = ranker
        self.grades = grades
        self.method = method

    def fit(self, X: Any, y: ArrayLike, qid: QueryIds = None, *, train_qid: Any = None) -> Self:
        """Fit the probabilities to held-out queries; the ranker does not change.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
            Of a pipeline, what its first step reads.
        y : array-like of shape (N,)
            Grades.
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
        train_qid : array-like of shape (N_train,), optional
            Query ids of the training set. Queries that are in both are an error.

        Returns
        -------
        CalibratedRanker
            Itself.

        Raises
        ------
        NotFittedError
            If the ranker is not fitted.
        ValueError, TypeError
            If an argument or parameter is unusable: fewer than 10 queries, queries of the training
            set, a threshold that no document or every document reaches, a score that is not
            finite, or scores that do not rise with the grade.
        """
        method = one_of(self.method, "method", METHODS)
        expected = "ascending grades > 0, such as (1, 2)"
        grades = finite_column(self.grades, "grades", expected)
        if not len(grades) or not (np.diff(grades, prepend=0) > 0).all():
            raise ValueError(f"grades is {self.grades!r}; expected {expected}")
        check_is_fitted(self.ranker)
        labels = checked_grades(y, "y", real=True)
        check_row_order({"X": X, "y": y})
        _, qid_of_rows = pop_query_ids(X, qid)
        if qid_of_rows is None:
            raise ValueError("qid is missing; expected one query id a row")
        ids = set(grouped_rows(qid_of_rows, len(labels), rows_of="y").ids.tolist())
        if len(ids) < FEWEST_QUERIES:
            raise ValueError(f"qid holds {len(ids)} queries; expected at least {FEWEST_QUERIES}")
        if train_qid is not None:
            trained = grouped_rows(train_qid, len(train_qid), "train_qid").ids.tolist()
            if shared := ids.intersection(trained):
                raise ValueError(
                    f"qid holds {len(shared)} queries of train_qid, such as {shared.pop()!r}; "
                    "expected queries that the ranker was not trained on, or for later rows of the "
                    "same users no train_qid: leave it out"
                )
        scores = self._scores(X, qid, len(labels), "y")
        self._probabilities = [_Increasing(scores, labels, grade, method) for grade in grades]
        self.grades_, self.n_queries_in_ = tuple(map(float, grades)), len(ids)
        return self

    def predict(self, X: Any, qid: QueryIds = None) -> Array:
        """Return the scores of the ranker, unchanged, of shape (N,).

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        qid : array-like of shape (N,), optional
            Query id of each row, for steps of a pipeline that request it.
        """
        scores: Array = last_step(self.ranker).predict(transform(self.ranker, X, qid))
        return scores

    def predict_proba(self, X: Any, qid: QueryIds = None) -> Array:
        """Return P(grade >= k) for each threshold k.

        Parameters
        ----------
        X, qid
            As in `predict`.

        Returns
        -------
        float64 ndarray of shape (N, n_grades)
            Column j belongs to ``grades_[j]``. Within each row the values do not increase. Within
            each column they have the order of `predict`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a score is not finite.
        """
        check_is_fitted(self, "grades_")
        scores = self._scores(X, qid, num_samples(X), "X")
        columns = [probability(scores) for probability in self._probabilities]
        return np.minimum.accumulate(np.column_stack(columns), axis=1)

    def _scores(self, X: Any, qid: QueryIds, n_rows: int, rows_of: str) -> Array:
        scores = checked_scores(self.predict(X, qid), n_rows, "ranker.predict(X)", rows_of)
        return scores.astype(np.float64)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same fitted ranker."""
        return type(self)(**self.get_params(deep=False))


class _Increasing:
    """Strictly increasing function from scores to P(grade >= k)."""

    def __init__(self, scores: Array, labels: Array, grade: float, method: str) -> None:
        relevant = at_least(labels, grade)
        if relevant.all() or not relevant.any():
            raise ValueError(
                f"grades holds {grade:g}, which {relevant.mean():.0%} of the documents reach; "
                "expected thresholds that some documents reach and others do not"
            )
        self.logistic = make_pipeline(StandardScaler(), LogisticRegression())
        self.logistic.fit(scores[:, None], relevant)
        slope = float(self.logistic[-1].coef_[0, 0])
        if slope <= 0:
            raise ValueError(
                f"ranker gives documents from grade {grade:g} on no higher scores than others "
                f"(slope {slope:.3g}); expected scores that rise with the grade"
            )
        self.isotonic = None
        if method == "isotonic":
            self.isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
            self.isotonic.fit(scores, relevant.astype(np.float64))

    def __call__(self, scores: Array) -> Array:
        found: Array = self.logistic.predict_proba(scores[:, None])[:, 1]
        if self.isotonic is not None:
            found = (1 - TIE_BREAK) * self.isotonic.predict(scores) + TIE_BREAK * found
        return found


def reliability(
    y_true: ArrayLike, y_prob: ArrayLike, qid: QueryIds, *, grade: float = 1, n_bins: int = 10
) -> DataFrame:
    """Compare probabilities of relevance with grades.

    Use queries on which neither the ranker nor the probabilities were fitted.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Grades.
    y_prob : array-like of shape (N,)
        Probability that the grade is at least `grade`: one column of
        `CalibratedRanker.predict_proba`.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    grade : float, default=1
        Lowest relevant grade.
    n_bins : int, default=10
        Bins hold equal numbers of documents, unless probabilities tie. Fewer bins are left if most
        tie.

    Returns
    -------
    pandas.DataFrame
        One row for each bin of the probability. Columns are ``predicted``, the mean probability,
        ``observed``, the share of relevant documents, ``low`` and ``high``, its 95% interval over
        queries, ``n_documents`` and ``n_queries``. The interval is NaN if a bin holds documents of
        one query only.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable: a probability outside of 0 to 1, or fewer than two queries.

    Notes
    -----
    Documents of a query are not independent: the intervals are those of Korn and Graubard (1998)
    over queries.

    Examples
    --------
    >>> import numpy as np
    >>> from gapboost.calibration import reliability
    >>> qid, probability = np.repeat(np.arange(50), 20), np.tile(np.linspace(0, 1, 20), 50)
    >>> grades = np.random.default_rng(0).random(1000) < probability
    >>> reliability(grades, probability, qid, n_bins=4)["observed"].round(2).tolist()
    [0.12, 0.36, 0.63, 0.86]
    """
    labels = checked_grades(y_true, "y_true", real=True)
    relevant = at_least(labels, as_number(grade, "grade"))
    probabilities = finite_column(y_prob, "y_prob", "probabilities from 0 to 1", 0, 1).astype(float)
    if len(probabilities) != len(labels):
        raise ValueError(f"y_prob has {len(probabilities)} rows; expected {len(labels)}, as y_true")
    check_row_order({"y_true": y_true, "y_prob": y_prob, "qid": qid})
    numbers = grouped_rows(qid, len(labels)).codes
    if not numbers.any():
        raise ValueError("qid holds one query; expected at least two")
    inner = np.quantile(probabilities, np.arange(1, as_integer(n_bins, "n_bins")) / n_bins)
    # Equal probabilities share a bin.
    bins = np.searchsorted(inner, probabilities, side="left")
    found = []
    for number in np.unique(bins):
        rows = np.flatnonzero(bins == number)
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        lists = np.split(relevant[rows], np.flatnonzero(np.diff(numbers[rows])) + 1)
        means = probabilities[rows].mean(), relevant[rows].mean()
        found.append((*means, *share_interval(lists), len(rows), len(lists)))
    names = ("predicted", "observed", "low", "high", "n_documents", "n_queries")
    return frame(dict(zip(names, zip(*found, strict=True), strict=True)))


def share_interval(lists: Sequence[Array]) -> tuple[float, float]:
    """Return the 95% interval of the share of True, over lists that are independent.

    Korn and Graubard (1998): the interval of Clopper and Pearson for as many independent values as
    give the error of `one_way_clustered`. If all values are the same, each list counts once. NaN
    for one list.
    """
    if len(lists) < 2:
        return np.nan, np.nan
    estimate, n, tail = one_way_clustered(lists), sum(map(len, lists)), 0.025
    share, n_effective = estimate.mean, float(len(lists))
    if estimate.error > 0:
        wider = stats.t.ppf(tail, n - 1) / stats.t.ppf(tail, estimate.freedom)
        n_effective = min(share * (1 - share) / estimate.error**2 * wider**2, n)
    found = share * n_effective
    low = stats.beta.ppf(tail, found, n_effective - found + 1) if share > 0 else 0.0
    high = stats.beta.ppf(1 - tail, found + 1, n_effective - found) if share < 1 else 1.0
    return float(low), float(high)
