"""A fitted ranker with probabilities."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from gapboost._data.arguments import as_floats, one_of, shown
from gapboost._data.columns import checked_scores
from gapboost._data.features import split, without_qid
from gapboost._data.grades import at_least, checked_grades
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array
from gapboost.calibration.increasing import METHODS, IncreasingProbability, increasing_probability
from gapboost.calibration.softmax import fitted_temperature, softmax
from gapboost.preprocessing.pipeline import transform

# Fewer queries say next to nothing about other queries, whatever the number of documents.
FEWEST_QUERIES = 10


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
    temperature_ : float
        Temperature of `predict_choice`.
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
    score: isotonic regression alone is constant over blocks of scores, and gets one millionth of
    the weight of the logistic regression to break its ties. Scores tie in the probabilities if
    they differ by less than about 1e-9 of their standard deviation, or lie where the logistic
    regression is 0 or 1 in float64. `predict` has every difference. Thresholds are nested:
    P(grade >= 2) is at most P(grade >= 1).

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

    def fit(self, X: Any, y: Any, qid: Any = None, *, train_qid: Any = None) -> Self:
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
        grades, method = _thresholds(self.grades), one_of(self.method, "method", METHODS)
        self._check_ranker()
        labels = checked_grades(y, "y", real=True)
        if _num_samples(X) != len(labels):
            raise ValueError(
                f"X has {_num_samples(X)} rows but y has {len(labels)}; expected one grade a row"
            )
        queries = _held_out(split(X, qid)[1], len(labels), train_qid)
        relevant = [_reached(labels, grade) for grade in grades]
        _check_contrast(relevant[0], grades[0], queries)
        scores = self._scores(X, qid)
        found = [increasing_probability(scores, above, method) for above in relevant]
        for grade, probability in zip(grades, found, strict=True):
            _check_slope(probability, grade)
        self._probabilities, self.grades_, self.n_queries_in_ = found, grades, len(queries)
        self.temperature_ = fitted_temperature(
            queries.grouped(scores), queries.grouped(relevant[0]), queries
        )
        return self

    def predict(self, X: Any, qid: Any = None) -> Array:
        """Return the scores of the ranker, unchanged, of shape (N,).

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        qid : array-like of shape (N,), optional
            Query id of each row, for steps of a pipeline that request it.
        """
        if isinstance(self.ranker, Pipeline):
            scores: Array = self.ranker[-1].predict(transform(self.ranker[:-1], X, qid))
        else:
            scores = self.ranker.predict(without_qid(X)[0])
        return scores

    def predict_proba(self, X: Any, qid: Any = None) -> Array:
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
        scores = self._scores(X, qid)
        columns = [probability(scores) for probability in self._probabilities]
        return np.minimum.accumulate(np.column_stack(columns), axis=1)

    def predict_choice(self, X: Any, qid: Any = None) -> Array:
        """Return the probability that each document is the one that a user of its query chooses.

        The user chooses among documents from grade ``grades_[0]`` on. It is the `softmax` of the
        scores within each query, with ``temperature_``, which has the highest likelihood on the
        held-out queries.

        Parameters
        ----------
        X : array-like of shape (N, n_features)
        qid : array-like of shape (N,)
            Query id of each row, in any order of rows; or the column ``qid`` of a data frame `X`.
            Without either, all rows are one query.

        Returns
        -------
        float64 ndarray of shape (N,)
            The sum is 1 in each query.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a score is not finite, or there is not one query id a row.
        """
        check_is_fitted(self, "grades_")
        return softmax(self._scores(X, qid), split(X, qid)[1], self.temperature_)

    def _scores(self, X: Any, qid: Any) -> Array:
        return checked_scores(
            self.predict(X, qid), _num_samples(X), "ranker.predict(X)", "X"
        ).astype(np.float64)

    def _check_ranker(self) -> None:
        if not hasattr(self.ranker, "predict"):
            raise TypeError(
                f"ranker is {shown(self.ranker)}; expected a fitted ranker, or a pipeline that "
                "ends in one"
            )
        try:
            check_is_fitted(self.ranker)
        except NotFittedError:
            raise NotFittedError(
                f"ranker is a {type(self.ranker).__name__} that is not fitted; expected a ranker "
                "that was fitted on other queries than these"
            ) from None

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same fitted ranker."""
        return type(self)(**self.get_params(deep=False))


def _thresholds(grades: Any) -> tuple[float, ...]:
    try:
        found = as_floats(grades)
    except (TypeError, ValueError):
        found = ()
    if (
        not found
        or not all(0 < grade < np.inf for grade in found)
        or list(found) != sorted(set(found))
    ):
        raise ValueError(
            f"grades is {shown(grades)}; expected a sequence of ascending grades > 0, such as (1, "
            "2)"
        )
    return found


def _held_out(qid: Any, n_rows: int, train_qid: Any) -> Queries:
    """Return the held-out queries. Raise if they are few, or if the ranker was trained on one."""
    if qid is None:
        raise ValueError(
            "qid is missing in fit; expected one query id a row, or a column 'qid' of a data frame "
            "X"
        )
    queries = grouped_rows(qid, n_rows, rows_of="y")
    if len(queries) < FEWEST_QUERIES:
        raise ValueError(
            f"qid holds {len(queries)} queries; expected at least {FEWEST_QUERIES} held-out queries"
        )
    if train_qid is not None:
        if not np.size(train_qid):
            raise ValueError(
                "train_qid is empty; expected the query ids of the training set, or None"
            )
        trained = set(
            grouped_rows(train_qid, len(train_qid), "train_qid", "train_qid").ids.tolist()
        )
        shared = [one for one in queries.ids.tolist() if one in trained]
        if shared:
            raise ValueError(
                f"qid holds {len(shared)} queries of the training set, such as {shared[0]!r}; "
                "expected queries that the ranker was not trained on"
            )
    return queries


def _reached(labels: Array, grade: float) -> Array:
    relevant = at_least(labels, grade)
    if relevant.all() or not relevant.any():
        which = "every document" if relevant.any() else "no document"
        found = shown(np.unique(labels).tolist())
        raise ValueError(
            f"grades holds {grade:g}, which {which} reaches: y holds {found}; expected thresholds "
            "that some documents reach and others do not"
        )
    return relevant


def _check_contrast(relevant: Array, grade: float, queries: Queries) -> None:
    counts = np.add.reduceat(queries.grouped(relevant).astype(np.int64), queries.offsets[:-1])
    if not ((counts > 0) & (counts < queries.sizes)).any():
        raise ValueError(
            f"y holds no query with documents below grade {grade:g} and others; expected queries "
            "with documents of both kinds"
        )


def _check_slope(probability: IncreasingProbability, grade: float) -> None:
    if probability.slope <= 0:
        raise ValueError(
            f"ranker gives documents from grade {grade:g} on no higher scores than others (slope "
            f"{probability.slope:.3g} over all queries); expected scores that rise with the grade"
        )
