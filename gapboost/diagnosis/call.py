"""`report`, the public function."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import ordered
from gapboost._data.features import check_names
from gapboost._data.grades import graded
from gapboost.diagnosis.checks import checked_ids, run_checks
from gapboost.diagnosis.part import Part, make_part
from gapboost.diagnosis.report_result import Report
from gapboost.diagnosis.slices import checked_slices
from gapboost.diagnosis.subject import Subject
from gapboost.measures import Measures, as_measures
from gapboost.measures.measure import grade_limit

DEFAULT_MEASURES = ("ndcg@10", "gap", "map")


def report(
    ranker: Any,
    X: Any,
    y: Any,
    qid: Any = None,
    *,
    X_train: Any = None,
    y_train: Any = None,
    qid_train: Any = None,
    measures: Measures = DEFAULT_MEASURES,
    slices: Mapping[str, Any] | None = None,
    ignore: Sequence[str] = (),
) -> Report:
    """Diagnose a fitted ranker on test queries: twelve checks, values, and the worst queries.

    Parameters
    ----------
    ranker : fitted ranker with `predict`, or Pipeline that ends in one
        Of any library; a Booster of LightGBM or XGBoost too.
    X : array-like of shape (N, n_features)
        Features of the test queries, as the ranker or the pipeline takes them. A data frame may
        hold the query ids in a column ``qid``.
    y : array-like of shape (N,)
        Grades. NaN marks an unjudged document, which counts as grade 0.
    qid : array-like of shape (N,)
        Query id of each row, in any order of rows.
    X_train, y_train, qid_train : array-like, optional
        Rows that the ranker was trained on. Four checks need them.
    measures : str, Measure or sequence of them, optional
        By default ``("ndcg@10", "gap", "map")``. The first one decides in checks, slices and the
        worst queries. An open g is uniform over the grades that occur in `y` and `y_train`.
    slices : mapping {name: array-like of shape (N,)}, optional
        Columns that group the test queries, such as ``{"language": frame["language"]}``. A query
        has the mean of numbers; text must be the same in all rows of a query. Numbers with more
        than five different values become quarters of the queries.
    ignore : sequence of str
        Ids of checks to skip, such as ``["ties"]``.

    Returns
    -------
    Report

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable; the message names it, what was found and what is expected.
    NotFittedError
        Before `fit`.

    Notes
    -----
    Intervals are Student's t over queries, for one fitted ranker. The guide has a section for each
    check: what it means, and the reason of its threshold.

    Examples
    --------
    >>> import gapboost as gb
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=20, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> gb.report(ranker, test.X, test.y, test.qid, ignore=["ties"]).checks.loc["ties", "status"]
    'ignored'
    """
    skipped = checked_ids(ignore)
    wanted = _named(measures)
    limit = grade_limit(list(wanted.values()))
    training = None
    given = {"X_train": X_train, "y_train": y_train}
    lacking = [name for name, value in given.items() if value is None]
    if len(lacking) == 1 or (lacking and qid_train is not None):
        raise ValueError(
            f"{lacking[0]} is missing; expected X_train, y_train and qid_train, or none of them"
        )
    test = make_part(ranker, {"X": X, "y": y, "qid": qid}, limit)
    columns = checked_slices(slices, test)
    if not lacking:
        training = make_part(
            ranker, {"X": X_train, "y": y_train, "qid": qid_train}, limit, "_train"
        )
        _check_columns(training, test)
    grades = [part.data.occurring for part in (test, training) if part is not None]
    occurring = graded(np.unique(np.concatenate(grades)))
    resolved = {name: measure.resolved(occurring) for name, measure in wanted.items()}
    subject = Subject(ranker, test, training, resolved)
    return Report(subject, run_checks(subject, skipped), columns)


def _named(measures: Measures) -> dict[str, Any]:
    """Return measures under the names that the caller gave."""
    given: list[Any] = [*measures] if ordered(measures) else [measures]  # type: ignore[misc]
    return {str(name): measure for name, measure in zip(given, as_measures(measures), strict=True)}


def _check_columns(training: Part, test: Part) -> None:
    here, there = len(training.features.names), len(test.features.names)
    if here != there:
        raise ValueError(f"X_train has {here} columns but X has {there}; expected the same columns")
    check_names(training.features.names, test.features.names, "X_train", "X")
