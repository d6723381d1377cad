"""Values of measures for rankings: means over queries, or one value for each query."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args, overload

import numpy as np

from gapboost._data.arguments import one_of
from gapboost._data.columns import checked_scores
from gapboost._data.grades import graded
from gapboost._data.judged import Judged, judged
from gapboost._data.queries import as_array
from gapboost._data.recall_base import RecallBase, as_mapping, base_without_rows, key_of
from gapboost._kernels import Array
from gapboost._kernels.expected_value import rank_queries
from gapboost._kernels.parallel.chunks import chunks, resolve_n_jobs, run, table_bytes
from gapboost._optional import imported
from gapboost.measures import Measure, Measures, as_measures
from gapboost.measures.base import check_distinct
from gapboost.measures.sums import grade_limit, with_its_label

TieRule = Literal["expected", "row"]
Empty = Literal[0, 1, "skip"]
MissingQueries = Literal["warn", "zero", "skip"]
TIES: tuple[TieRule, ...] = get_args(TieRule)
EMPTY: tuple[Empty, ...] = get_args(Empty)
MISSING_QUERIES: tuple[MissingQueries, ...] = get_args(MissingQueries)

# What a query counts in which nothing is relevant.
OF_EMPTY: dict[Empty, float] = {0: 0.0, 1: 1.0, "skip": np.nan}


class Values(dict[Measure, float]):
    """``{measure: mean over queries}``."""

    def labelled(self) -> dict[str, float]:
        """Return ``{measure.label: mean over queries}``, as json, MLflow and the like take it.

        Raises
        ------
        ValueError
            If two measures have one label.
        """
        check_distinct([measure.label for measure in self])
        return {measure.label: value for measure, value in self.items()}


class PerQuery(dict[Measure, Array]):
    """``{measure: float64 array of shape (Q,)}``, in the order of `qid`; NaN if left out.

    Attributes
    ----------
    qid : ndarray of shape (Q,)
        The query ids in the order in which they first occur in the rows.
    """

    def __init__(self, values: Mapping[Measure, Array], qid: Array) -> None:
        super().__init__(values)
        self.qid = qid

    def to_pandas(self) -> Any:
        """Return one row a query, indexed by ``qid``, and one column a measure, as it prints."""
        pandas = imported("pandas", "analysis", "for a pandas view")
        # Of ids that are tuples pandas would make an index of several levels.
        index = pandas.Index(self.qid, name="qid", tupleize_cols=False)
        return pandas.DataFrame(
            {str(measure): values for measure, values in self.items()}, index=index
        )


@overload
def evaluate(
    measures: Measures,
    y_true: Any,
    y_score: Any,
    qid: Any = None,
    *,
    sample_weight: Any = None,
    recall_base: Any = None,
    ties: TieRule = "expected",
    empty: Empty = 0,
    missing_queries: MissingQueries = "warn",
    per_query: Literal[False] = False,
    n_jobs: int | None = None,
) -> Values: ...


@overload
def evaluate(
    measures: Measures,
    y_true: Any,
    y_score: Any,
    qid: Any = None,
    *,
    sample_weight: Any = None,
    recall_base: Any = None,
    ties: TieRule = "expected",
    empty: Empty = 0,
    missing_queries: MissingQueries = "warn",
    per_query: Literal[True],
    n_jobs: int | None = None,
) -> PerQuery: ...


def evaluate(
    measures: Measures,
    y_true: Any,
    y_score: Any,
    qid: Any = None,
    *,
    sample_weight: Any = None,
    recall_base: Any = None,
    ties: TieRule = "expected",
    empty: Empty = 0,
    missing_queries: MissingQueries = "warn",
    per_query: bool = False,
    n_jobs: int | None = None,
) -> Values | PerQuery:
    """Evaluate measures on scored documents.

    Parameters
    ----------
    measures : str, Measure or sequence of them
        By name, such as ``"ndcg@10"``, or by value.
        With ``g=None`` a graded measure is uniform over the grades that occur in `y_true`.
    y_true : array-like of shape (N,), or (N, L)
        Grades, most often whole numbers ``0..c``. Fractional grades are allowed, such as means of
        several judges, up to 64 different ones in a query. Several labels of each document are the
        columns of an array or data frame. Measures then say which column they read (`OfLabel`).
    y_score : array-like of shape (N,)
        Finite scores; higher is better.
    qid : array-like of shape (N,), optional
        Query id of each row, in any order of rows: any hashable values of one type. None means that
        all rows are the ranking of one query, so give ids for several queries. (``score`` of the
        rankers refuses None, since tools call it without ids.)
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries in the mean; of weights of the rows, a query has the mean. Weights
        of queries come in the order in which the queries first occur; a Series of pandas has the
        query ids as its index, in any order.
    recall_base : mapping {query id: grade counts}, data frame or array-like, optional
        Documents of grade 0, 1, ... of each query, where judged documents are missing from the
        rows. A mapping may count any grades, ``{query id: {grade: documents}}``. A data frame of
        pandas has query ids as its index and grades as the names of its columns. An array has
        shape (Q, c + 1), and the queries in the order in which they first occur.
    ties : {"expected", "row"}, default="expected"
        The expected value over all orders of documents with equal scores, or the order of the rows.
    empty : {0, 1, "skip"}, default=0
        What a query counts in which nothing is relevant: 0, 1, or nothing.
    missing_queries : {"warn", "zero", "skip"}, default="warn"
        Queries of a mapping or data frame `recall_base` that have no rows, such as users for whom
        nothing was retrieved. "zero" counts them with the value 0, or as `empty` says if none of
        their documents is relevant. "skip" leaves them out, and so does "warn", with a warning.
    per_query : bool, default=False
        Return one value a query instead of the mean.
    n_jobs : int, optional
        Threads; None is every core that this process may use.

    Returns
    -------
    Values {Measure: float}, or PerQuery {Measure: float64 array of shape (Q,)}
        Dictionaries. The mean is NaN where `empty` is "skip" and every query is left out.
        ``labelled()`` of means has strings as keys, for logs; ``to_pandas()`` of one value a query
        is a table.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable. The message names it, what was found and what is expected.

    Warns
    -----
    DataConversionWarning
        If `y_true`, `y_score`, `qid` or `sample_weight` has shape (N, 1).
    UserWarning
        If `recall_base` has queries without rows, and `missing_queries` is "warn".

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score, qid = [2, 0, 1, 0, 1], [3, 2, 1, 2, 1], ["a", "a", "a", "b", "b"]
    >>> gb.evaluate([gb.GAP(g=(0.5, 0.5)), gb.AP()], y_true, y_score, qid)
    {GAP(g=(0.5, 0.5)): 0.6944444444444444, AP(rel=1): 0.6666666666666666}
    >>> gb.evaluate(["ap", "p@1"], [2, 0, 1], [3, 2, 1]).labelled()
    {'ap': 0.8333333333333333, 'precision_at_1': 1.0}
    """
    wanted = as_measures(measures)
    one_of(ties, "ties", TIES)
    one_of(empty, "empty", EMPTY)
    one_of(missing_queries, "missing_queries", MISSING_QUERIES)
    if missing_queries == "zero" and sample_weight is not None:
        raise ValueError(
            'missing_queries is "zero", and sample_weight is given; expected one of them: queries '
            "without rows have no weight"
        )
    limit = grade_limit(wanted)
    recall_base = as_mapping(recall_base)
    data = judged(
        y_true, qid, sample_weight=sample_weight, recall_base=recall_base, limit=limit, real=True
    )
    scores = data.queries.grouped(checked_scores(y_score, data.queries.n_rows))
    ids, weights, occurring = data.queries.ids, data.weights, data.graded
    missing = _without_rows(recall_base, ids)
    if missing and missing_queries == "warn":
        warnings.warn(
            f"recall_base has {len(missing)} queries without rows, which are left out of the mean; "
            'expected missing_queries="zero" to count them, or "skip"',
            stacklevel=2,
        )
    counts_missing = bool(missing) and missing_queries == "zero"
    if counts_missing:
        base = base_without_rows(missing, limit)
        ids = as_array([*ids.tolist(), *missing])
        weights = np.ones(len(ids))
        occurring = graded(np.union1d(data.occurring, base.occurring))
    resolved = [measure.resolved(occurring) for measure in wanted]
    values = query_values(resolved, data, scores, ties=ties, empty=empty, n_jobs=n_jobs)
    if counts_missing:
        values = [
            np.append(of_rows, np.where(has_relevant(measure, base), 0.0, OF_EMPTY[empty]))
            for of_rows, measure in zip(values, resolved, strict=True)
        ]
    if per_query:
        return PerQuery(dict(zip(wanted, values, strict=True)), ids)
    return Values({measure: mean(v, weights) for measure, v in zip(wanted, values, strict=True)})


def _without_rows(recall_base: Any, ids: Array) -> dict[Any, Any]:
    """Return the entries of a mapping whose queries are not among `ids`; of an array nothing."""
    if not isinstance(recall_base, Mapping):
        return {}
    listed = {key_of(recall_base, query) for query in ids}
    return {key: entry for key, entry in recall_base.items() if key not in listed}


def mean(values: Array, weights: Array) -> float:
    """Weighted mean over queries; those with NaN are left out."""
    counted = ~np.isnan(values) & (weights > 0)
    if not counted.any():
        return float("nan")
    return float(np.average(values[counted], weights=weights[counted]))


def query_values(
    measures: Sequence[Measure],
    data: Judged,
    scores: Array,
    *,
    ties: TieRule = "expected",
    empty: Empty = 0,
    n_jobs: int | None = None,
) -> list[Array]:
    """Return one float64 array of shape (Q,) a measure, for checked data in grouped order."""
    if data.labels or any(
        part.label_column is not None for measure in measures for _, part in measure.terms
    ):
        return values_of_labels(measures, data, scores, ties=ties, empty=empty, n_jobs=n_jobs)
    offsets = data.queries.offsets
    values = [np.zeros(len(data.queries)) for _ in measures]
    threads = resolve_n_jobs(n_jobs)
    ranges = chunks(offsets, threads, table_bytes(data.base.n_levels))

    def task(k: int) -> None:
        first, last = ranges[k]
        rows = slice(offsets[first], offsets[last])
        base = data.base[first:last]
        ranked = rank_queries(
            scores[rows],
            data.codes[rows],
            offsets[first : last + 1] - rows.start,
            ties == "expected",
        )
        for measure, out in zip(measures, values, strict=True):
            for weight, part in measure.terms:
                out[first:last] += weight * part.evaluated(ranked, base)
            if empty != 0:
                out[first:last][~has_relevant(measure, base)] = OF_EMPTY[empty]

    run(task, len(ranges), threads)
    return values


def has_relevant(measure: Measure, base: RecallBase) -> Array:
    """Return True for each query with a document that is relevant by a part, of shape (Q,)."""
    relevant: Array = np.any([part.relevant(base) for _, part in measure.terms], axis=0)
    return relevant


def values_of_labels(
    measures: Sequence[Measure], data: Judged, scores: Array, *, empty: Empty, **how: Any
) -> list[Array]:
    """Return the values of measures of several labels; evaluate a part that several share once."""
    parts = dict.fromkeys(part for measure in measures for _, part in measure.terms)
    # NaN where nothing is relevant by the label of the part.
    found = {}
    for part in parts:
        measure, of_label = with_its_label(part, data)
        (found[part],) = query_values([measure], of_label, scores, empty="skip", **how)
    values = []
    for measure in measures:
        each = np.array([weight * found[part] for weight, part in measure.terms])
        nothing = np.isnan(each).all(axis=0)
        values.append(np.nansum(each, axis=0))
        if empty != 0:
            values[-1][nothing] = OF_EMPTY[empty]
    return values
