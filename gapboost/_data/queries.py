"""From rows to queries: any qid, grades, scores and weights are checked here, once, and nowhere else."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from gapboost._data.arguments import ordered
from gapboost._kernels.value import count_grades

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


def one_dimensional(values: Any, name: str, entries: str = "one value a row, shape (n_rows,)") -> Array:
    """`values` as an array of one dimension; `entries` is for the message."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} holds {int(np.ma.getmaskarray(values).sum())} masked values; expected a value in every row"
        )
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} holds sequences of different lengths; expected {entries}") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; expected {entries}")
    return array


def numeric_column(values: Any, name: str, expected: str, entries: str = "one value a row, shape (n_rows,)") -> Array:
    """`values` as an array of one dimension and a boolean, integer or float dtype."""
    array = one_dimensional(values, name, entries)
    if array.dtype == object:
        # astype would parse strings: they are refused here as they are with a string dtype.
        if any(isinstance(v, str | bytes) for v in array):
            raise ValueError(f"{name} holds strings; expected {expected}")
        try:
            # Nor are times of numpy numbers to anybody but astype, which would also drop an imaginary part.
            if any(isinstance(v, np.datetime64 | np.timedelta64 | np.complexfloating) for v in array):
                raise TypeError
            return array.astype(np.float64)
        except OverflowError:
            raise ValueError(f"{name} holds a whole number beyond all floats; expected {expected}") from None
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds values that are not numbers; expected {expected}") from None
    if array.dtype.kind not in "biuf":
        # scikit-learn's words for what its tools pass on
        refused = " (Complex data not supported)" if array.dtype.kind == "c" else ""
        raise ValueError(f"{name} has dtype {array.dtype}{refused}; expected {expected}")
    return array


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
    """Scores as float32 or float64, finite, one a row."""
    scores = numeric_column(y_score, name, "finite scores")
    if len(scores) != n_rows:
        raise ValueError(f"{name} has {len(scores)} rows but {rows_of} has {n_rows}; expected one score a row")
    if scores.dtype not in (np.float32, np.float64):
        scores = scores.astype(np.float64)
    broken = ~np.isfinite(scores)
    if broken.any():
        raise ValueError(f"{name} holds {int(broken.sum())} NaN or infinite values; expected finite scores")
    return np.ascontiguousarray(scores)


def grouped_rows(qid: Any, n_rows: int, name: str = "qid", rows_of: str = "y_true") -> Queries:
    """Group rows by query id, in any order of rows, or by `GroupSizes`.

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
        raise ValueError(f"{name} has {len(ids)} rows but {rows_of} has {n_rows}; expected one query id a row")
    missing = int((ids != ids).sum()) if ids.dtype.kind in "fcmM" else 0  # only NaN and NaT differ from themselves
    if missing:
        raise _missing_ids(missing, name)
    starts = _starts(ids)
    code = _codes(ids[starts], name)
    highest = np.maximum.accumulate(code)
    first = starts[np.flatnonzero(np.diff(highest, prepend=-1))]
    distinct = ids[first]
    if ids.dtype == object:
        plain = list(map(_python, distinct))
        if any(map(_is_missing, plain)):
            raise _missing_ids(sum(_is_missing(_python(i)) for i in ids), name)
        distinct = distinct if hasattr(qid, "dtype") else _as_array(plain)
    if (code == highest).all():
        return Queries(distinct, np.append(first, n_rows), None)
    code = np.repeat(code, np.diff(starts, append=n_rows))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(code)))).astype(np.int64)
    return Queries(distinct, offsets, np.argsort(code, kind="stable"))


def query_ids(qid: Any, name: str) -> Array:
    """One id a row, of a dtype that changes none: whatever numpy would convert stays an object."""
    if hasattr(qid, "__len__") and ordered(qid) and not hasattr(qid, "__array__"):
        return objects(qid)
    ids = one_dimensional(qid, name)
    if ids.dtype.kind == "U" and hasattr(qid, "to_list"):
        return objects(qid.to_list())  # polars hands numpy strings of a fixed width, which end before trailing NULs
    if ids.dtype.kind not in "TV":
        return ids
    missing = getattr(ids.dtype, "na_object", None)  # of numpy's StringDType; it may be a string itself
    ids = ids.astype(object)
    ids[[i is missing for i in ids]] = None
    return ids


def objects(values: Any) -> Array:
    """The values of a sequence as they are, tuples included, object ndarray of shape (n,)."""
    return np.fromiter(values, dtype=object, count=len(values))


def _as_array(distinct: list[Any]) -> Array:
    """`distinct` as the array that numpy makes of it where this keeps every value and its type, else as objects."""
    try:
        array = np.asarray(distinct)
    except (ValueError, OverflowError):
        return objects(distinct)
    kept = array.tolist()
    same = array.ndim == 1 and all(type(a) is type(b) and a == b for a, b in zip(kept, distinct, strict=True))
    return array if same else objects(distinct)


def _starts(ids: Array) -> Array:
    """The rows at which runs of equal ids begin, int64; every row where a comparison of neighbours might mislead."""
    if ids.dtype.kind in "US" and ids.itemsize > 0:
        # numpy compares strings character by character. They are padded with zeros, so equal ones are equal words.
        word = next(word for word in (np.uint64, np.uint32, np.uint16, np.uint8) if ids.itemsize % word().itemsize == 0)
        words = np.ascontiguousarray(ids).view(word)
        width = len(words) // len(ids)
        changes = np.zeros(len(ids) - 1, dtype=bool)
        changes[np.flatnonzero(words[width:] != words[:-width]) // width] = True
    elif ids.dtype != object or _of_one_type(ids.tolist(), (int, str)):
        changes = ids[1:] != ids[:-1]
    else:
        return np.arange(len(ids))
    return np.concatenate(([0], np.flatnonzero(changes) + 1))


def _of_one_type(values: list[Any], types: tuple[type, ...]) -> bool:
    kind = type(values[0])
    return kind in types and operator.countOf(map(type, values), kind) == len(values)


def _codes(ids: Array, name: str) -> Array:
    """The number of each id among the distinct ones in the order of their first occurrence, int64 of the shape of `ids`."""
    keys = ids.tolist()
    if ids.dtype == object:
        keys = _keys(keys, name)
    try:
        code_of = {key: code for code, key in enumerate(dict.fromkeys(keys))}
    except TypeError as error:
        raise ValueError(
            f"{name} holds an id that has no hash ({error}); expected numbers, strings or tuples of them, one a row"
        ) from None
    return np.fromiter(map(code_of.__getitem__, keys), dtype=np.int64, count=len(keys))


def _keys(ids: list[Any], name: str) -> list[Any]:
    """The ids, with their types where there are several: True, 1 and 1.0 are equal in Python."""
    kinds = set(map(type, ids))
    masked = type(np.ma.masked)
    for kind in kinds - {masked}:
        # Arrays and tensors have no hash, or one that knows nothing of their value.
        if hasattr(kind, "__array__") and not issubclass(kind, np.generic):
            raise ValueError(
                f"{name} holds a {kind.__name__} among its ids; expected numbers, strings or tuples of them, one a row"
            )
    if len(kinds) == 1 and masked not in kinds:
        return ids
    plain = [_python(i) for i in ids]
    return list(zip(map(type, plain), plain, strict=True))


def _python(value: Any) -> Any:
    """The value of Python that a scalar of numpy or Arrow stands for; anything else as it is."""
    if value is np.ma.masked:
        return None
    if isinstance(value, np.str_ | np.bytes_):
        return value[:]  # item() drops trailing NULs
    if hasattr(value, "as_py"):
        return value.as_py()
    # Times of numpy may be finer than any of Python.
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, tuple):
        return any(map(_is_missing, value))
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True  # pandas.NA has no truth value


def _missing_ids(missing: int, name: str) -> ValueError:
    return ValueError(f"{name} holds {missing} missing values (None, NaN, NaT); expected a query id in every row")


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
