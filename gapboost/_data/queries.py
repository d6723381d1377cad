"""From rows to queries: any qid, grades, scores and weights are checked here, once, and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._data.columns import check_told_apart, numeric_column, one_dimensional
from gapboost._data.ids import as_array, codes_of, is_missing, missing_ids, plain_value, query_ids, run_starts
from gapboost._kernels.counts import count_grades

Array = np.ndarray[Any, Any]

# The tables of a measure hold one number for every pair of grades, so grades are labels of an ordered scale,
# not real-valued gains: 0..255 costs 0.5 MB a query at worst.
MAX_GRADE = 255

# Documents of a grade in a query: many times what any collection has, and their sums are exact.
MOST_DOCUMENTS = 2**31 - 1

# What weights sum to. Boosters keep gradients and gains as float32 and take no split that gains less than some constant:
# beyond these limits they train on noise, or not at all.
LEAST_WEIGHT, MOST_WEIGHT = 1e-5, 1e15


class GradeLimit(NamedTuple):
    """The highest grade that the caller's measures know.

    Attributes
    ----------
    highest : int
    measure : str
        How the measure that sets it prints.
    """

    highest: int
    measure: str


@dataclass(frozen=True, eq=False)
class Queries:
    """Which rows belong to which query.

    Attributes
    ----------
    ids : ndarray of shape (Q,)
        The distinct query ids in the order in which they first occur.
    offsets : int64 ndarray of shape (Q + 1,)
        After grouping, rows ``offsets[q]:offsets[q + 1]`` are the documents of query ``q``.
    rows : int64 ndarray of shape (N,) or None
        Row numbers, query by query, in their given order within each query; None where the rows already are so.
    """

    ids: Array
    offsets: Array
    rows: Array | None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_rows(self) -> int:
        """Number of documents."""
        return int(self.offsets[-1])

    @property
    def sizes(self) -> Array:
        """Number of documents of each query, int64 of shape (Q,)."""
        return np.diff(self.offsets)

    @property
    def codes(self) -> Array:
        """The number of its query for each row, in the order of the rows, int64 of shape (N,)."""
        return self.ungrouped(np.repeat(np.arange(len(self)), self.sizes))

    def grouped(self, values: Array) -> Array:
        """Rows of `values` query by query; the array itself where they already are."""
        return values if self.rows is None else values[self.rows]

    def ungrouped(self, values: Array) -> Array:
        """Undo `grouped`."""
        if self.rows is None:
            return values
        original = np.empty_like(values)
        original[self.rows] = values
        return original


@dataclass(frozen=True, eq=False)
class GroupSizes:
    """Sizes of the queries in place of query ids, where the rows come query by query.

    Attributes
    ----------
    sizes : array-like of shape (Q,)
    name : str
        What the caller calls them.
    """

    sizes: Any
    name: str

    def queries(self, n_rows: int, rows_of: str) -> Queries:
        """The queries, whose ids are their numbers.

        Raises
        ------
        ValueError
            Where the sizes are not whole numbers from 1 on whose sum is `n_rows`, the rows of `rows_of`.
        """
        sizes = numeric_column(self.sizes, self.name, "whole numbers >= 1", "one size a query, shape (n_queries,)")
        unusable = ~((sizes >= 1) & (sizes == np.floor(sizes)))
        if unusable.any():
            raise ValueError(
                f"{self.name} holds the size {sizes[unusable][0]:g}; expected whole numbers >= 1, the documents of each query"
            )
        total = sizes.sum(dtype=np.float64)
        if total != n_rows:
            raise ValueError(
                f"{self.name} has the sum {total:.15g} but {rows_of} has {n_rows} rows; expected the sizes of all queries, in "
                "the order of their rows (an id a row is a qid)"
            )
        offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        return Queries(np.arange(len(sizes)), offsets, None)


@dataclass(frozen=True, eq=False)
class Whole:
    """The data set that some queries are a part of, where each worker of a cluster holds a part.

    Attributes
    ----------
    begins : int64 ndarray of shape (Q,)
        Where the documents of each query of the part begin in the whole, in its grouped order.
    n_rows, n_queries : int
        Documents and queries of the whole.
    weighted_size : float
        Its mean number of documents a query, by the weights of the queries.
    """

    begins: Array
    n_rows: int
    n_queries: int
    weighted_size: float


@dataclass(frozen=True, eq=False)
class Judged:
    """Queries with the grades of their documents, query by query.

    Attributes
    ----------
    queries : Queries
    grades : int32 ndarray of shape (N,)
        In grouped order.
    counts : int64 ndarray of shape (Q, c + 1)
        Documents of each grade; the recall base where one was given.
    weights : float64 ndarray of shape (Q,)
    whole : Whole or None
        Where these queries are a part of a data set: gradients are those of the whole, however it is cut up.
    """

    queries: Queries
    grades: Array
    counts: Array
    weights: Array
    whole: Whole | None = None

    @property
    def mean_size(self) -> float:
        """Mean number of documents a query in the whole data set."""
        if self.whole is not None:
            return self.whole.n_rows / self.whole.n_queries
        return float(self.queries.sizes.mean())

    @property
    def weighted_size(self) -> float:
        """Mean number of documents a query in the whole data set, by the weights of the queries."""
        if self.whole is not None:
            return self.whole.weighted_size
        return float(self.weights @ self.queries.sizes / self.weights.sum())

    @property
    def occurring(self) -> Array:
        """The distinct grades that the counts know, ascending."""
        return np.flatnonzero(self.counts.any(axis=0))

    @property
    def graded(self) -> Array:
        """`occurring`, or grade 1 alone where nothing at all is relevant: every g gives the same values then."""
        return self.occurring if self.occurring[-1] > 0 else np.array([1])

    @property
    def n_contrasts(self) -> int:
        """Number of queries that hold documents of two different grades: the others cannot teach an order."""
        begins = self.queries.offsets[:-1]
        lowest = np.minimum.reduceat(self.grades, begins)
        highest = np.maximum.reduceat(self.grades, begins)
        return int(np.count_nonzero(lowest != highest))

    def up_to_grade(self, top: int | None) -> Self:
        """The same with counts of the rows for the grades up to `top` at least, as `judged` makes them for a measure."""
        highest = max(int(self.grades.max()), top or 0)
        return replace(self, counts=grade_counts(self.grades, self.queries.offsets, highest))


def judged(
    y_true: Any,
    qid: Any,
    *,
    sample_weight: Any = None,
    recall_base: Any = None,
    limit: GradeLimit | None = None,
    names: tuple[str, str, str] = ("y_true", "qid", "sample_weight"),
) -> Judged:
    """Check grades, query ids and weights and bring them together, query by query.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Integer grades ``0..c`` of any numeric dtype.
    qid : array-like of shape (N,), GroupSizes or None
        One id a row; None makes all rows one query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries, in the order in which the queries first occur, or of the rows, constant in a query.
    recall_base : mapping from query id, or array-like of shape (Q, c + 1), optional
        Grade counts of the queries where judged documents are missing from the rows.
    limit : GradeLimit, optional
    names : tuple of str
        What the caller calls `y_true`, `qid` and `sample_weight`: errors name them so.

    Raises
    ------
    ValueError
        Naming the argument, what was found and what is expected.
    """
    grades = checked_grades(y_true, names[0], limit)
    queries = grouped_rows(qid, len(grades), names[1], names[0])
    weights = query_weights(sample_weight, queries, names[2])
    grades = np.ascontiguousarray(queries.grouped(grades))
    top = max(int(grades.max()), limit.highest if limit else 0)
    counts = grade_counts(grades, queries.offsets, top)
    if recall_base is not None:
        counts = checked_recall_base(recall_base, counts, queries.ids, names[1], limit)
    return Judged(queries, grades, counts, weights)


def grade_counts(grades: Array, offsets: Array, top: int) -> Array:
    """Documents of each grade ``0..top`` in each query, int64 of shape (Q, top + 1)."""
    counts = np.zeros((len(offsets) - 1, top + 1), dtype=np.int64)
    count_grades(grades, offsets, counts)
    return counts


def checked_grades(y_true: Any, name: str, limit: GradeLimit | None = None) -> Array:
    """Grades as int32, or a ValueError that says what is wrong with them."""
    grades = numeric_column(y_true, name, "integer grades 0..c")
    if grades.size == 0:
        raise ValueError(f"{name} is empty; expected at least one document")
    if grades.dtype.kind == "f":
        broken = ~np.isfinite(grades)
        if broken.any():
            raise ValueError(f"{name} holds {int(broken.sum())} NaN or infinite values; expected integer grades 0..c")
        fractional = grades != np.floor(grades)
        if fractional.any():
            raise ValueError(f"{name} holds the fractional value {grades[fractional][0]}; expected integer grades 0..c")
    lowest, highest = grades.min(), grades.max()
    if lowest < 0:
        raise ValueError(f"{name} holds the negative grade {lowest:g}; expected integer grades 0..c")
    check_highest(highest, name, limit)
    return grades.astype(np.int32)


def check_highest(highest: Any, name: str, limit: GradeLimit | None) -> None:
    """Refuse grades that the measure does not know, or that nobody can hold tables for."""
    if limit is not None and highest > limit.highest:
        raise ValueError(
            f"{name} holds the grade {highest:g}, but {limit.measure} knows the grades 0..{limit.highest}; expected a vector "
            "with one entry for each positive grade, or lower grades"
        )
    if highest > MAX_GRADE:
        raise ValueError(
            f"{name} holds the grade {highest:g}; expected grades up to {MAX_GRADE}: map gains or clicks to a few "
            "ordered grades first"
        )


def checked_scores(y_score: Any, n_rows: int, name: str = "y_score", rows_of: str = "y_true") -> Array:
    """Scores as float32 or float64, finite, one a row, and different where they were."""
    given = one_dimensional(y_score, name)
    scores = numeric_column(given, name, "finite scores")
    if len(scores) != n_rows:
        raise ValueError(f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row")
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    broken = ~np.isfinite(scores)
    if broken.any():
        raise ValueError(f"{name} holds {int(broken.sum())} NaN or infinite values; expected finite scores")
    listed = isinstance(y_score, list | tuple)
    if listed or scores is not given:
        narrow = given.dtype.kind in "biuf" and given.dtype.itemsize <= 8
        if not narrow or (np.abs(scores) >= 2.0**53).any():
            # Where a list holds whole numbers and others, numpy has already made floats of all.
            check_told_apart(np.array(y_score, object) if listed else given, scores, name)
    return np.ascontiguousarray(scores)


def grouped_rows(qid: Any, n_rows: int, name: str = "qid", rows_of: str = "y_true", what: str = "query id") -> Queries:
    """Group rows by query id, in any order of rows, or by `GroupSizes`; `what` the ids are is for messages.

    Ids are equal where Python says so and their type is the same; scalars of numpy and Arrow count as the values of Python
    that they stand for.

    Raises
    ------
    ValueError
        Where there is not one id a row, an id is missing, or one has no hash.
    """
    if qid is None:
        return Queries(np.zeros(1, dtype=np.int64), np.array([0, n_rows], dtype=np.int64), None)
    if isinstance(qid, GroupSizes):
        return qid.queries(n_rows, rows_of)
    ids = query_ids(qid, name)
    if len(ids) != n_rows:
        raise ValueError(f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one {what} a row")
    missing = int((ids != ids).sum()) if ids.dtype.kind in "fcmM" else 0  # only NaN and NaT differ from themselves
    if missing:
        raise missing_ids(missing, name, what)
    starts = run_starts(ids)
    code = codes_of(ids[starts], name)
    highest = np.maximum.accumulate(code)
    first = starts[np.flatnonzero(np.diff(highest, prepend=-1))]
    distinct = ids[first]
    if ids.dtype == object:
        plain = list(map(plain_value, distinct))
        if any(map(is_missing, plain)):
            raise missing_ids(sum(is_missing(plain_value(i)) for i in ids), name, what)
        distinct = distinct if hasattr(qid, "dtype") else as_array(plain)
    if (code == highest).all():
        return Queries(distinct, np.append(first, n_rows), None)
    code = np.repeat(code, np.diff(starts, append=n_rows))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code)))).astype(np.int64)
    return Queries(distinct, offsets, np.argsort(code, kind="stable"))


def query_weights(sample_weight: Any, queries: Queries, name: str = "sample_weight") -> Array:
    """Weights of the queries as float64 of shape (Q,), from weights of the queries or of the rows."""
    if sample_weight is None:
        return np.ones(len(queries))
    given = checked_weights(sample_weight, name)
    if len(given) == queries.n_rows:
        weights = constant_weights(given, queries, name)
    elif len(given) == len(queries):
        weights = given
    else:
        raise ValueError(
            f"{name} has {len(given)} values; expected one a query ({len(queries)}) or one a row ({queries.n_rows})"
        )
    check_total_weight(weights, name)
    return np.ascontiguousarray(weights)


def check_total_weight(weights: Array, name: str) -> None:
    """Refuse weights of queries that are all 0, or so small or large that gradients and means would be lost."""
    if not (weights > 0).any():
        raise ValueError(f"{name} is zero for every query; expected at least one positive weight")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not LEAST_WEIGHT <= total <= MOST_WEIGHT:
        raise ValueError(
            f"{name} has the sum {total:g} over the queries; expected one from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}: multiply "
            "all weights by the same number"
        )


def checked_weights(sample_weight: Any, name: str) -> Array:
    """Finite weights >= 0 as float64."""
    given = numeric_column(sample_weight, name, "finite weights >= 0").astype(np.float64)
    if not np.isfinite(given).all() or (given < 0).any():
        raise ValueError(f"{name} holds a negative, NaN or infinite value; expected finite weights >= 0")
    return given


def constant_weights(given: Array, queries: Queries, name: str) -> Array:
    """Weights of the queries from weights of the rows, of shape (Q,)."""
    by_row = queries.grouped(given)
    weights = by_row[queries.offsets[:-1]]
    differing = np.repeat(weights, queries.sizes) != by_row
    if differing.any():
        q = int(np.searchsorted(queries.offsets, int(np.argmax(differing)), side="right")) - 1
        raise varying_weight(queries.ids[q], name)
    return weights


def varying_weight(query: Any, name: str) -> ValueError:
    """The error about a query whose rows have different weights."""
    found = query.item() if isinstance(query, np.generic) else query
    return ValueError(
        f"{name} varies within query {found!r}; expected one weight a query, or one a row that is the same for all rows "
        "of a query"
    )


def checked_recall_base(
    recall_base: Any, counts: Array, ids: Array, qid_name: str = "qid", limit: GradeLimit | None = None
) -> Array:
    """Grade counts of every query, int64 of shape (Q, c + 1), at least as large as those of the rows from grade 1 on."""
    if isinstance(recall_base, Mapping):
        rows = _by_query(recall_base, ids, qid_name)
        given = [numeric_column(row, f"recall_base[{i!r}]", "numbers of documents by grade") for i, row in rows]
        base = np.zeros((len(ids), max(len(row) for row in given)))
        for q, row in enumerate(given):
            base[q, : len(row)] = row
    else:
        try:
            base = np.asarray(recall_base)
        except ValueError:
            raise ValueError(
                "recall_base holds rows of different lengths; expected as many grade counts for every query"
            ) from None
        if base.ndim != 2 or len(base) != len(counts) or base.dtype.kind not in "iuf":
            raise ValueError(
                f"recall_base has shape {base.shape} and dtype {base.dtype}; expected numbers of shape "
                f"({len(counts)}, number of grades): how many documents of each query have grade 0, 1, ..."
            )
    if not np.isfinite(base).all() or (base < 0).any() or (base != np.floor(base)).any():
        raise ValueError("recall_base holds a negative, fractional or NaN count; expected numbers of documents")
    if (base > MOST_DOCUMENTS).any():
        raise ValueError(
            f"recall_base holds the count {base.max():g}; expected numbers of documents up to {MOST_DOCUMENTS}"
        )
    check_highest(int(np.flatnonzero(base.any(axis=0)).max(initial=0)), "recall_base", limit)
    width = max(base.shape[1], counts.shape[1])
    whole = np.zeros((len(counts), width), dtype=np.int64)
    whole[:, : base.shape[1]] = base
    listed = np.zeros_like(whole)
    listed[:, : counts.shape[1]] = counts
    short = (whole < listed)[:, 1:].any(axis=1)
    if short.any():
        q = int(np.argmax(short))
        raise ValueError(
            f"recall_base counts {whole[q].tolist()} documents by grade for query {ids[q]!r}, but {listed[q].tolist()} "
            "are listed; expected at least the listed ones from grade 1 on"
        )
    return whole


def _by_query(recall_base: Mapping[Any, Any], ids: Array, qid_name: str) -> list[tuple[Any, Any]]:
    """``(id, entry)`` of every query, in the order of `ids`."""
    names = ids.tolist()
    if len(set(names)) < len(names):
        raise ValueError(
            f"recall_base is a mapping, which cannot tell ids of {qid_name} apart that are equal but of different types; "
            "expected an array, or ids of one type"
        )
    spellings = [list(ids), names]
    if ids.dtype.kind in "mM":
        # Times finer than microseconds, which Python does not have, become whole numbers in tolist().
        exact = ids.astype(f"{ids.dtype.kind}8[us]")
        spellings += [exact.tolist()] if (exact == ids).all() else []
    found = []
    for spelled in zip(*spellings, strict=True):
        key = next((key for key in spelled if key in recall_base), None)
        if key is None:
            raise ValueError(
                f"recall_base lacks query {spelled[-1]!r} of {qid_name}; expected grade counts of every query"
            )
        found.append((spelled[-1], recall_base[key]))
    return found
