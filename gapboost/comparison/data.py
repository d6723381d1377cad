"""Data of a comparison: documents, query by query, and the queries of each fold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gapboost._data.features import features, rows_of, split
from gapboost._data.grades import label_columns
from gapboost._data.judged import judged
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.measures.sums import grade_limit
from gapboost.model_selection.folds import query_folds


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of some queries, each query in consecutive rows.

    Attributes
    ----------
    X : table of shape (N, n_features)
    y : int32 ndarray of shape (N,), float64 if grades are fractional; table of several labels
    sizes : int64 ndarray of shape (Q,)
    """

    X: Any
    y: Any
    sizes: Array

    @property
    def numbers(self) -> Array:
        """Number of the query of each document, ascending, int64 of shape (N,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def labels(self) -> list[Array]:
        """Grades by each label, of shape (N,)."""
        return [np.asarray(column) for column in label_columns(self.y, "y").values()] or [self.y]

    def select(self, queries: Array) -> "Documents":
        """Return the documents of some queries; their numbers must ascend."""
        rows = np.flatnonzero(np.isin(self.numbers, queries))
        return Documents(rows_of(self.X, rows), rows_of(self.y, rows), self.sizes[queries])


@dataclass(frozen=True, eq=False)
class Split:
    """Queries of one fold.

    Attributes
    ----------
    train, vali, test : int64 ndarray
        Ascending numbers of queries. `vali` is empty if nothing needs validation.
    fold : int
        Number of the fold, from 0.
    repeats : tuple of int
        Repeats that train on these queries, each with its own seed.
    """

    train: Array
    vali: Array
    test: Array
    fold: int
    repeats: tuple[int, ...]


def load(
    X: Any, y: Any, qid: Any, group: Any, measures: Sequence[Measure], shuffle: bool
) -> tuple[Documents, Queries, Any]:
    """Return the documents query by query, the queries of the given rows, and the grades.

    Raises
    ------
    ValueError, TypeError
        If rows, grades or ids are unusable.
    """
    X, qid = split(X, qid, group)
    if qid is None:
        raise ValueError(
            "qid is missing; expected one query id a row, or group with the sizes of the queries"
        )
    X = features(X)
    limit = grade_limit(measures)
    data = judged(y, qid, limit=limit, names=("y", "qid", "sample_weight"), real=True)
    queries = data.queries
    if X.shape[0] != queries.n_rows:
        raise ValueError(
            f"y has {queries.n_rows} rows but X has {X.shape[0]}; expected one grade a row"
        )
    number = np.repeat(np.arange(len(queries)), queries.sizes)
    order = np.arange(len(number))
    if shuffle:
        order = np.lexsort((np.random.default_rng(0).random(len(number)), number))
    rows = order if queries.rows is None else queries.rows[order]
    if (rows != np.arange(len(rows))).any():
        X = rows_of(X, rows)
    if label_columns(y, "y"):
        grades = rows_of(y if hasattr(y, "shape") else np.asarray(y), rows)
    else:
        grades = data.grades[order]
    return Documents(X, grades, queries.sizes), queries, data.graded


def splits(
    queries: Queries, cv: Any, repeats: int, validation: bool, X: Any, y: Any
) -> list[Split]:
    """Return the queries of each fold, repeat by repeat.

    For a number of folds, each repeat deals the queries to folds at random. Other folds are the
    same in each repeat. If something needs validation queries and `cv` gives none, each fold
    validates on the queries that the next fold tests, as in LETOR.

    Parameters
    ----------
    queries : Queries
    cv : int, splitter, or iterable of (train, test) or (train, vali, test) row numbers
    repeats : int
    validation : bool
        True if parameters are tuned, trees are chosen, or a ranker stops early.
    X, y : array-like
        Arguments of a splitter.

    Raises
    ------
    ValueError, TypeError
        If folds divide queries, share test queries, or hold fewer than two queries in a part.
    """
    numbers = tuple(range(1, repeats + 1))
    drawn: list[tuple[tuple[int, ...], list[tuple[Array, ...]]]]
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        drawn = [((r,), _query_numbers(queries, query_folds(queries, cv, r))) for r in numbers]
    else:
        drawn = [(numbers, _given_folds(queries, cv, X, y))]
    return [
        fold for repeat, parts in drawn for fold in _folds(parts, repeat, queries, cv, validation)
    ]


def _folds(
    parts: Sequence[tuple[Array, ...]],
    repeats: tuple[int, ...],
    queries: Queries,
    cv: Any,
    validation: bool,
) -> list[Split]:
    """Return the checked folds of some repeats, with validation queries if they are needed."""
    nothing = np.array([], dtype=np.int64)
    folds = [
        Split(part[0], part[1] if len(part) == 3 else nothing, part[-1], number, repeats)
        for number, part in enumerate(parts)
    ]
    if validation and all(len(fold.vali) == 0 for fold in folds):
        folds = _with_next(folds, cv)
    for number, fold in enumerate(folds):
        for name in ("train", "vali", "test") if validation else ("train", "test"):
            n = len(getattr(fold, name))
            if n < 2:
                raise ValueError(
                    f"cv has {n} {name} {'query' if n == 1 else 'queries'} in fold {number}; "
                    "expected at least two"
                )
    tested = np.concatenate([fold.test for fold in folds])
    if len(np.unique(tested)) < len(tested):
        twice = np.flatnonzero(np.bincount(tested) > 1)[0]
        raise ValueError(
            f"cv tests the query {queries.ids[twice]!s} in several folds; expected each query in "
            "one of them: its values must count once"
        )
    return folds


def _given_folds(queries: Queries, cv: Any, X: Any, y: Any) -> list[tuple[Array, ...]]:
    """Return the query numbers of the parts of each fold; check that queries are whole."""
    if np.iterable(cv) and not hasattr(cv, "split") and not isinstance(cv, str | bytes):
        cv = [tuple(fold) if isinstance(fold, Iterable) else fold for fold in cv]
        if cv and all(isinstance(fold, tuple) and len(fold) == 3 for fold in cv):
            for one, other in ((0, 2), (0, 1), (1, 2)):
                query_folds(queries, [(fold[one], fold[other]) for fold in cv], None)
            return _query_numbers(queries, cv)
    return _query_numbers(queries, query_folds(queries, cv, None, X, y))


def _query_numbers(queries: Queries, folds: Iterable[Any]) -> list[tuple[Array, ...]]:
    codes = queries.codes
    return [tuple(np.unique(codes[np.asarray(rows)]) for rows in fold) for fold in folds]


def _with_next(folds: list[Split], cv: Any) -> list[Split]:
    """Return folds that validate on the test queries of the next fold, and do not train on them."""
    validated = []
    for fold, following in zip(folds, folds[1:] + folds[:1], strict=True):
        if not np.isin(following.test, fold.train).all() or len(following.test) == len(fold.train):
            raise ValueError(
                f"cv is {cv!r}, which leaves no queries to validate on; expected at least 3 folds, "
                "or (train, vali, test) row numbers: early stopping and tune choose on validation "
                "queries"
            )
        train = np.setdiff1d(fold.train, following.test)
        validated.append(replace(fold, train=train, vali=following.test))
    return validated
