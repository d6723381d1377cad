"""`report`, the public function."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost._data.arguments import as_integer, mapping, ordered, shown
from gapboost._data.columns import one_dimensional
from gapboost._data.features import check_names
from gapboost._data.grades import graded
from gapboost._kernels import Array
from gapboost.diagnosis.checks import CHECKS
from gapboost.diagnosis.finding import IGNORED, Finding
from gapboost.diagnosis.result import Report
from gapboost.diagnosis.rows import Rows, Subject
from gapboost.measures import Measures, as_measures

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
    documents: Any = None,
    n_worst: int = 3,
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
    y : array-like of shape (N,), or of several labels (N, L)
        Grades. NaN marks an unjudged document, which counts as grade 0. Of several labels, checks
        and documents show the one that the first measure reads.
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
    documents : array-like of shape (N,), optional
        Id of the document of each row, to be shown for the worst queries.
    n_worst : int, default=3
        Number of worst queries to show.
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
    if not ordered(ignore) or not all(one in CHECKS for one in ignore):
        raise ValueError(f"ignore is {shown(ignore)}; expected a list of {', '.join(CHECKS)}")
    n_worst = as_integer(n_worst, "n_worst")
    wanted = as_measures(measures)
    test, training = Rows(ranker, X, y, qid, wanted), None
    given = {"X_train": X_train, "y_train": y_train, "qid_train": qid_train}
    if any(value is not None for value in given.values()):
        lacking = [name for name in ("X_train", "y_train") if given[name] is None]
        if lacking:
            raise ValueError(
                f"{lacking[0]} is missing; expected X_train, y_train and qid_train, or none of them"
            )
        training = Rows(ranker, X_train, y_train, qid_train, wanted, "_train")
        if len(training.names) != len(test.names):
            raise ValueError(
                f"X_train has {len(training.names)} columns but X has {len(test.names)}; expected "
                "the same columns"
            )
        check_names(training.names, test.names, "X_train", "X")
    expected = "{name: one value a row}"
    columns = {} if slices is None else mapping(slices, "slices", expected)
    by_query = {str(name): _by_query(column, test, name) for name, column in columns.items()}
    if documents is not None:
        documents = _column(documents, test, "documents")
    occurring = _occurring([test, training] if training else [test])
    names = [*measures] if ordered(measures) else [measures]  # type: ignore[misc]
    resolved = [measure.resolved(occurring) for measure in wanted]
    named = dict(zip(map(str, names), resolved, strict=True))
    subject = Subject(ranker, test, training, named)
    found = {
        name: Finding(IGNORED, "Skipped by ignore.") if name in ignore else check(subject)
        for name, check in CHECKS.items()
    }
    return Report(subject, found, by_query, documents, n_worst)


def _occurring(parts: Sequence[Rows]) -> Any:
    """Return the grades of all parts, by label if there are several."""
    if not parts[0].data.labels:
        return graded(np.unique(np.concatenate([rows.data.occurring for rows in parts])))
    return {
        column: graded(np.unique(np.concatenate([rows.data.occurring[column] for rows in parts])))
        for column in parts[0].data.labels
    }


def _column(values: Any, rows: Rows, name: str) -> Array:
    """Return a column of the caller in grouped order."""
    column = one_dimensional(values, name)
    if len(column) != len(rows.scores):
        raise ValueError(
            f"{name} has {len(column)} rows but X has {len(rows.scores)}; expected one value a row"
        )
    return rows.data.queries.grouped(column)


def _by_query(values: Any, rows: Rows, name: str) -> Array:
    """Return the mean of numbers in each query, or its text."""
    column = _column(values, rows, f"slices[{name!r}]")
    if column.dtype.kind in "biuf":
        return rows.total(column.astype(np.float64)) / rows.sizes
    distinct, codes = np.unique([str(value) for value in column], return_inverse=True)
    mixed = rows.differ(codes)
    if mixed.any():
        raise ValueError(
            f"slices[{name!r}] differs within the query {rows.ids[mixed][0]!s}; expected one value "
            "a query, or numbers"
        )
    return distinct[codes[np.flatnonzero(np.diff(rows.numbers, prepend=-1))]]
