"""Values of measures for rankings: means over queries, or one value for each query."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, TypeVar, Unpack, get_args, overload

import numpy as np

from gapboost._kernels.expected_value import rank_queries
from gapboost._kernels.threads import can_keep, chunks, run, table_bytes, threads_for
from gapboost.data import Array, ArrayLike, QueryData, QueryIds, group_by_query, pop_query_ids
from gapboost.data.grades import SWAPPED, look_swapped
from gapboost.data.recall_base import CountsLike, without_tables
from gapboost.measures import Measure, Measures, as_measure, as_measures
from gapboost.measures.base import Evaluator
from gapboost.measures.labels import grade_limit, with_its_label
from gapboost.optional import DataFrame, imported
from gapboost.validation import check_distinct, checked_scores, one_of, warn

TieRule = Literal["expected", "row"]
Empty = Literal[0, 1, "skip"]
MissingQueries = Literal["warn", "zero", "skip"]
Value = TypeVar("Value")
TIES: tuple[TieRule, ...] = get_args(TieRule)

# Grades of so many rows that this share of them is different look like scores.
LEAST_ROWS, MOSTLY = 20, 0.9

# What a measure takes for a document.
NANOSECONDS = 10.0


class ByMeasure(dict[str, Value]):
    """Values by the names of measures; ``[]`` takes a measure or any name that is read as it.

    Attributes
    ----------
    measures : tuple of Measure
        In the order of the values.

    Raises
    ------
    ValueError
        If two measures have one name.
    """

    def __init__(self, values: Mapping[Any, Value]) -> None:
        super().__init__({_name(measure): value for measure, value in values.items()})
        self.measures = tuple(values)
        names = list(map(_name, values))
        if len(self) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"measures holds two measures called {twice!r}; expected different names"
            )

    def __getitem__(self, measure: str | Measure) -> Value:
        return super().__getitem__(self._key(measure))

    def __contains__(self, measure: object) -> bool:
        return super().__contains__(self._key(measure))

    def get(self, measure: str | Measure, default: object = None) -> Any:
        """Return the value of a measure, or `default`."""
        return super().get(self._key(measure), default)

    def _key(self, measure: Any) -> Any:
        if super().__contains__(measure):
            return measure
        try:
            return as_measure(measure).name
        except (TypeError, ValueError):
            return measure


def _name(measure: object) -> Any:
    return measure.name if isinstance(measure, Measure) else measure


class Values(ByMeasure[float]):
    """``{name of a measure: mean over queries}``."""

    def by_label(self) -> dict[str, float]:
        """Return ``{measure.label: mean over queries}``, as MLflow and the like take it.

        Raises
        ------
        ValueError
            If two measures have one label.
        """
        labels = [measure.label for measure in self.measures]
        check_distinct(labels)
        return dict(zip(labels, self.values(), strict=True))


class PerQuery(ByMeasure[Array]):
    """``{name of a measure: float64 array of shape (Q,)}``, in the order of `qid`.

    NaN stands for queries that are left out.

    Attributes
    ----------
    qid : ndarray of shape (Q,)
        The query ids in the order in which they first occur in the rows.
    """

    def __init__(self, values: Mapping[Any, Array], qid: Array) -> None:
        super().__init__(values)
        self.qid = qid

    def to_pandas(self) -> DataFrame:
        """Return one row a query, indexed by ``qid``, and one column a measure, by name."""
        pandas = imported("pandas", "analysis", "for a pandas view")
        # Of ids that are tuples pandas would make an index of several levels.
        index = pandas.Index(self.qid, name="qid", tupleize_cols=False)
        return pandas.DataFrame(dict(self), index=index)


class Options(TypedDict, total=False):
    """Options of `evaluate` that do not change the type of its result."""

    group: ArrayLike | None
    sample_weight: ArrayLike | None
    recall_base: CountsLike
    ties: TieRule
    empty: Empty
    missing_queries: MissingQueries
    n_jobs: int | None


@overload
def evaluate(
    measures: Measures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: QueryIds = None,
    *,
    per_query: Literal[False] = False,
    **options: Unpack[Options],
) -> Values: ...
@overload
def evaluate(
    measures: Measures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: QueryIds = None,
    *,
    per_query: Literal[True],
    **options: Unpack[Options],
) -> PerQuery: ...
@overload
def evaluate(
    measures: Measures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: QueryIds = None,
    *,
    per_query: bool,
    **options: Unpack[Options],
) -> Values | PerQuery: ...
def evaluate(
    measures: Measures,
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: QueryIds = None,
    *,
    group: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
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
        Query id of each row, in any order of rows: any hashable values of one type, but no
        fractions or booleans, which are taken for weights or a mask by mistake. Without `qid` and
        `group`, all rows are the ranking of one query.
    group : array-like of shape (Q,), optional
        Sizes of the queries, instead of `qid`, if the rows come query by query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries in the mean; of weights of the rows, a query has the mean. A Series
        of pandas whose index has exactly the query ids is aligned by it. Other weights of queries
        come in the order in which the queries first occur.
    recall_base : mapping {query id: grade counts}, data frame, Series or array-like, optional
        Documents of grade 0, 1, ... of each query, where judged documents are missing from the
        rows. A mapping may count any grades, ``{query id: {grade: documents}}``. A data frame of
        pandas has query ids as its index and grades as the names of its columns; a Series has both
        as its index, as ``groupby([query, grade]).size()`` makes it. An array has
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
    Values {name: float}, or PerQuery {name: float64 array of shape (Q,)}
        Dictionaries by `Measure.name`, which also take a measure, or another way to write its name,
        in ``[]``. The mean is NaN where `empty` is "skip" and every query is left out.
        ``by_label()`` of means has keys for logs that take letters alone; ``to_pandas()`` of one
        value a query is a table.

    Raises
    ------
    ValueError, TypeError
        If an argument is unusable. The message names it, what was found and what is expected.

    Warns
    -----
    DataConversionWarning
        If `y_true`, `y_score`, `qid` or `sample_weight` has shape (N, 1).
    UserWarning
        If `recall_base` has queries without rows, and `missing_queries` is "warn". If nearly every
        grade is different, and most scores are equal: the two may be swapped.

    Examples
    --------
    >>> import gapboost as gb
    >>> y_true, y_score, qid = [2, 0, 1, 0, 1], [3, 2, 1, 2, 1], ["a", "a", "a", "b", "b"]
    >>> gb.evaluate([gb.GAP(g=(0.5, 0.5)), gb.AP()], y_true, y_score, qid)
    {'gap(g=(0.5, 0.5))': 0.6944444444444444, 'ap': 0.6666666666666666}
    >>> gb.evaluate(["map", "p@1"], [2, 0, 1], [3, 2, 1])["map"]
    0.8333333333333333
    """
    wanted = as_measures(measures)
    one_of(ties, "ties", TIES)
    one_of(empty, "empty", get_args(Empty))
    one_of(missing_queries, "missing_queries", get_args(MissingQueries))
    if missing_queries == "zero" and sample_weight is not None:
        raise ValueError(
            'missing_queries is "zero", and sample_weight is given; expected one of them: queries '
            "without rows have no weight"
        )
    if group is not None:
        _, qid = pop_query_ids(y_true, qid, group, ("y_true", "qid", "group"))
    recall_base = without_tables(recall_base)
    try:
        data = group_by_query(
            y_true,
            qid,
            sample_weight=sample_weight,
            recall_base=recall_base,
            limit=grade_limit(wanted),
            real=True,
            every_query=missing_queries == "zero",
            beside={"y_score": y_score},
        )
    except ValueError:
        if look_swapped(y_true, y_score):
            raise ValueError(SWAPPED.format("y_true", "y_score")) from None
        raise
    n_missing = 0 if recall_base is None else len(recall_base) - len(data.queries)
    if n_missing and missing_queries == "warn":
        warn(
            f"recall_base has {n_missing} queries without rows, which are left out of the mean; "
            'expected missing_queries="zero" to count them, or "skip"',
        )
    scores = data.queries.grouped(checked_scores(y_score, data.queries.n_rows))
    n_rows = len(scores)
    many = n_rows >= LEAST_ROWS and len(data.occurring) > MOSTLY * n_rows
    if many and len(np.unique(scores)) < n_rows / 2:
        warn(
            f"y_true has a different grade in nearly each of its {n_rows} rows, and y_score has "
            "few different scores; expected evaluate(measures, y_true, y_score)",
        )
    resolved = [measure.resolved(data.occurring) for measure in wanted]
    values = QueryValues(resolved, data, ties=ties, n_jobs=n_jobs)(scores)
    if empty != 0:
        for measure, value in zip(resolved, values, strict=True):
            read = [with_its_label(part, data) for _, part in measure.terms]
            relevant = np.any([part.relevant(of_label.base) for part, of_label in read], axis=0)
            value[~relevant] = 1 if empty == 1 else np.nan
    by_measure = dict(zip(wanted, values, strict=True))
    if per_query:
        return PerQuery(by_measure, data.queries.ids)
    return Values({measure: mean(v, data.weights) for measure, v in by_measure.items()})


def mean(values: Array, weights: Array) -> float:
    """Weighted mean over queries; those with NaN are left out."""
    counted = ~np.isnan(values) & (weights > 0)
    if not counted.any():
        return float("nan")
    return float(np.average(values[counted], weights=weights[counted]))


class QueryValues:
    """Values of measures for each query of a data set: called with scores, in grouped order.

    What does not depend on scores is made once, where memory allows it.

    Parameters
    ----------
    measures : sequence of Measure
        Resolved.
    data : QueryData
    ties, n_jobs
        See `evaluate`.
    """

    def __init__(
        self,
        measures: Sequence[Measure],
        data: QueryData,
        *,
        ties: TieRule = "expected",
        n_jobs: int | None = None,
    ) -> None:
        self.terms = [measure.terms for measure in measures]
        self.queries = data.queries
        self.expected = ties == "expected"
        # Each part once, with its measure of one label.
        by_label: dict[int | str | None, tuple[QueryData, dict[Measure, Measure]]] = {}
        for terms in self.terms:
            for _, part in terms:
                of_one, of_label = with_its_label(part, data)
                by_label.setdefault(part.label_column, (of_label, {}))[1][part] = of_one
        self.parts = [part for _, parts in by_label.values() for part in parts]
        self.threads = threads_for(n_jobs, NANOSECONDS * len(self.parts) * data.queries.n_rows)
        self.tasks: list[tuple[int, int, QueryData, dict[Measure, Measure]]] = []
        every_cost = 0
        for of_label, read in by_label.values():
            cost = table_bytes(of_label.base.n_levels)
            every_cost += cost * len(read)
            for first, last in chunks(self.queries.offsets, self.threads, cost):
                self.tasks.append((first, last, of_label, read))
        self.keeps = can_keep(every_cost, self.queries.offsets)
        self.kept: dict[int, dict[Measure, Evaluator]] = {}

    def __call__(self, scores: Array) -> list[Array]:
        """Return one float64 array of shape (Q,) for each measure."""
        offsets, scores = self.queries.offsets, np.ascontiguousarray(scores)
        of_parts = np.empty((len(self.parts), len(offsets) - 1))
        found = dict(zip(self.parts, of_parts, strict=True))

        def task(k: int) -> None:
            first, last, data, _ = self.tasks[k]
            rows = slice(offsets[first], offsets[last])
            starts = offsets[first : last + 1] - rows.start
            ranked = rank_queries(scores[rows], data.codes[rows], starts, self.expected)
            for part, evaluated in (self.kept.get(k) or self._evaluators(k)).items():
                found[part][first:last] = evaluated(ranked)

        run(task, len(self.tasks), self.threads)
        values = []
        for terms in self.terms:
            values.append(np.sum([weight * found[part] for weight, part in terms], 0))
        return values

    def _evaluators(self, k: int) -> dict[Measure, Evaluator]:
        first, last, data, measures = self.tasks[k]
        base, sizes = data.base[first:last], self.queries.sizes[first:last]
        found = {part: measure.evaluator(base, sizes) for part, measure in measures.items()}
        if self.keeps:
            self.kept[k] = found
        return found
