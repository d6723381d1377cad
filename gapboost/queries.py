"""From rows to queries: any qid, grades, scores and weights are checked here, once, and nowhere else."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gapboost._kernels.value import count_grades, differing

Array = np.ndarray[Any, Any]

# The tables of a measure hold one number for every pair of grades, so grades are labels of an ordered scale,
# not real-valued gains: 0..255 costs 0.5 MB a query at worst.
MAX_GRADE = 255


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
    known: tuple[int, str] | None = None,
    names: tuple[str, str, str] = ("y_true", "qid", "sample_weight"),
) -> Judged:
    """Check grades, query ids and weights and bring them together, query by query.

    Parameters
    ----------
    y_true : array-like of shape (N,)
        Integer grades ``0..c`` of any numeric dtype.
    qid : array-like of shape (N,) or None
        One id a row; None makes all rows one query.
    sample_weight : array-like of shape (Q,) or (N,), optional
        Weights of the queries, in the order in which the queries first occur, or of the rows, constant in a query.
    recall_base : mapping from query id, or array-like of shape (Q, c + 1), optional
        Grade counts of the queries where judged documents are missing from the rows.
    known : tuple of int and str, optional
        The highest grade that the caller's measure knows, and how that measure prints.
    names : tuple of str
        What the caller calls `y_true`, `qid` and `sample_weight`: errors name them so.

    Raises
    ------
    ValueError
        Naming the argument, what was found and what is expected.
    """
    grades = checked_grades(y_true, names[0], known)
    queries = grouped_rows(qid, len(grades), names[1], names[0])
    weights = query_weights(sample_weight, queries, names[2])
    grades = np.ascontiguousarray(queries.grouped(grades))
    top = max(int(grades.max()), known[0] if known else 0)
    counts = grade_counts(grades, queries.offsets, top)
    if recall_base is not None:
        counts = checked_recall_base(recall_base, counts, queries.ids, names[1], known)
    return Judged(queries, grades, counts, weights)


def grade_counts(grades: Array, offsets: Array, top: int) -> Array:
    """Documents of each grade ``0..top`` in each query, int64 of shape (Q, top + 1)."""
    counts = np.zeros((len(offsets) - 1, top + 1), dtype=np.int64)
    count_grades(grades, offsets, counts)
    return counts


def one_dimensional(values: Any, name: str) -> Array:
    """`values` as an array with one entry a row."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} holds {int(np.ma.getmaskarray(values).sum())} masked values; expected a value in every row"
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} holds sequences of different lengths; expected one value a row") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected one value a row, shape (n_rows,)")
    return array


def numbers(values: Any, name: str, expected: str) -> Array:
    """`values` as an array of a boolean, integer or float dtype with one entry a row."""
    array = one_dimensional(values, name)
    if array.dtype == object:
        # astype would parse strings: they are refused here as they are with a string dtype.
        if any(isinstance(v, str | bytes) for v in array):
            raise ValueError(f"{name} holds strings; expected {expected}")
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds values that are not numbers; expected {expected}") from None
    if array.dtype.kind not in "biuf":
        # scikit-learn's words for what its tools pass on
        refused = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise ValueError(f"{name} has dtype {array.dtype}{refused}; expected {expected}")
    return array


def checked_grades(y_true: Any, name: str, known: tuple[int, str] | None = None) -> Array:
    """Grades as int32, or a ValueError that says what is wrong with them."""
    grades = numbers(y_true, name, "integer grades 0..c")
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
    check_highest(highest, name, known)
    return grades.astype(np.int32)


def check_highest(highest: Any, name: str, known: tuple[int, str] | None) -> None:
    """Refuse grades that the measure does not know, or that nobody can hold tables for."""
    if known is not None and highest > known[0]:
        raise ValueError(
            f"{name} holds the grade {highest:g}, but {known[1]} knows the grades 0..{known[0]}; expected a vector with "
            "one entry for each positive grade, or lower grades"
        )
    if highest > MAX_GRADE:
        raise ValueError(
            f"{name} holds the grade {highest:g}; expected grades up to {MAX_GRADE}: map gains or clicks to a few "
            "ordered grades first"
        )


def checked_scores(y_score: Any, n_rows: int, name: str = "y_score", rows_of: str = "y_true") -> Array:
    """Scores as float32 or float64, finite, one a row."""
    scores = numbers(y_score, name, "finite scores")
    if len(scores) != n_rows:
        raise ValueError(f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row")
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    broken = ~np.isfinite(scores)
    if broken.any():
        raise ValueError(f"{name} holds {int(broken.sum())} NaN or infinite values; expected finite scores")
    return np.ascontiguousarray(scores)


def grouped_rows(qid: Any, n_rows: int, name: str = "qid", rows_of: str = "y_true") -> Queries:
    """Group rows by query id: strings, 64-bit integers or anything else that sorts, in any order of rows."""
    if qid is None:
        return Queries(np.zeros(1, dtype=np.int64), np.array([0, n_rows], dtype=np.int64), None)
    ids = one_dimensional(qid, name)
    if len(ids) != n_rows:
        raise ValueError(f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one query id a row")
    missing = _count_missing(ids)
    if missing:
        raise ValueError(f"{name} holds {missing} missing values (None, NaN, NaT); expected a query id in every row")
    if ids.dtype == object:
        # A dict keeps 1 and "1" apart and needs no order between ids of different types.
        seen: dict[Any, int] = {}
        codes = np.fromiter((seen.setdefault(i, len(seen)) for i in ids), dtype=np.int64, count=n_rows)
        distinct = np.empty(len(seen), dtype=object)
        distinct[:] = list(seen)
        grouped = grouped_rows(codes, n_rows, name, rows_of)
        return Queries(distinct[grouped.ids], grouped.offsets, grouped.rows)
    starts = np.concatenate(([0], np.flatnonzero(_changes(ids)) + 1)).astype(np.int64)
    if _n_distinct(ids[starts]) == len(starts):
        return Queries(ids[starts], np.append(starts, n_rows), None)
    _, first_row, code = np.unique(ids, return_index=True, return_inverse=True)
    by_first_row = np.argsort(first_row)
    position = np.empty_like(by_first_row)
    position[by_first_row] = np.arange(len(by_first_row))
    code = position[code]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code)))).astype(np.int64)
    return Queries(ids[first_row[by_first_row]], offsets, np.argsort(code, kind="stable"))


def _changes(ids: Array) -> Array:
    """Whether each id but the first is another one than that before it."""
    if ids.dtype.kind not in "US" or ids.itemsize == 0:
        changes: Array = ids[1:] != ids[:-1]
        return changes
    # Strings are padded with zeros, so equal ones are equal words; numpy compares them character by character.
    word = next(word for word in (np.uint64, np.uint32, np.uint8) if ids.itemsize % word().itemsize == 0)
    changes = np.empty(len(ids) - 1, dtype=bool)
    differing(np.ascontiguousarray(ids).view(word).reshape(len(ids), -1), changes)
    return changes


def _n_distinct(ids: Array) -> int:
    # To sort strings takes several times as long as to look them up.
    return len(set(ids.tolist())) if ids.dtype.kind in "US" else len(np.unique(ids))


def _count_missing(ids: Array) -> int:
    if ids.dtype == object:
        return sum(map(_is_missing, ids))
    # Only NaN and NaT differ from themselves.
    return int((ids != ids).sum()) if ids.dtype.kind in "fcmM" else 0


def _is_missing(value: Any) -> bool:
    # pandas.NA answers `!=` with itself, so the usual NaN test cannot be used on it.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.generic) and bool(value != value)


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
    if not (weights > 0).any():
        raise ValueError(f"{name} is zero for every query; expected at least one positive weight")
    return np.ascontiguousarray(weights)


def checked_weights(sample_weight: Any, name: str) -> Array:
    """Finite weights >= 0 as float64."""
    given = numbers(sample_weight, name, "finite weights >= 0").astype(np.float64)
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
    recall_base: Any, counts: Array, ids: Array, qid_name: str = "qid", known: tuple[int, str] | None = None
) -> Array:
    """Grade counts of every query, int64 of shape (Q, c + 1), at least as large as those of the rows from grade 1 on."""
    if isinstance(recall_base, Mapping):
        missing = [i for i in ids.tolist() if i not in recall_base]
        if missing:
            raise ValueError(
                f"recall_base lacks query {missing[0]!r} of {qid_name}; expected grade counts of every query"
            )
        given = [numbers(recall_base[i], f"recall_base[{i!r}]", "numbers of documents by grade") for i in ids.tolist()]
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
    check_highest(int(np.flatnonzero(base.any(axis=0)).max(initial=0)), "recall_base", known)
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
