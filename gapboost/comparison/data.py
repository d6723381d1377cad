"""What rankers are trained and tested on: documents, query by query, and the queries of each fold."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._boosters.folds import query_folds
from gapboost._data.features import features, rows_of, split
from gapboost._data.judged import judged
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.measures.measure import grade_limit


@dataclass(frozen=True, eq=False)
class Part:
    """Documents of some queries, each query in one piece.

    Attributes
    ----------
    X : table of shape (N, n_features)
    y : int32 ndarray of shape (N,), float64 where grades are fractional
    sizes : int64 ndarray of shape (Q,)
    """

    X: Any
    y: Array
    sizes: Array

    @property
    def numbers(self) -> Array:
        """The number of its query for each document, ascending, int64 of shape (N,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


@dataclass(frozen=True, eq=False)
class Collection:
    """All documents, as a `Part`, with the ids of their queries and the distinct grades."""

    all: Part
    ids: Array
    grades: Array

    def of(self, queries: Array) -> Part:
        """Those of some queries, whose numbers ascend."""
        whole = self.all
        rows = np.flatnonzero(np.isin(whole.numbers, queries))
        return Part(rows_of(whole.X, rows), whole.y[rows], whole.sizes[queries])


@dataclass(frozen=True, eq=False)
class Split:
    """The queries of one fold, by ascending numbers; `vali` is empty where nothing is chosen."""

    train: Array
    vali: Array
    test: Array


def documents(
    X: Any, y: Any, qid: Any, group: Any, measures: list[Measure], shuffle: bool
) -> tuple[Collection, Queries]:
    """Documents query by query, and which rows of the caller's they are.

    Raises
    ------
    ValueError, TypeError
        Where rows, grades or ids are unusable.
    """
    X, qid = split(X, qid, group)
    if qid is None:
        raise ValueError("qid is missing; expected one query id a row, or group with the sizes of the queries")
    X = features(X)
    data = judged(y, qid, limit=grade_limit(measures), names=("y", "qid", "sample_weight"), real=True)
    queries = data.queries
    if X.shape[0] != queries.n_rows:
        raise ValueError(f"y has {queries.n_rows} rows but X has {X.shape[0]}; expected one grade a row")
    number = np.repeat(np.arange(len(queries)), queries.sizes)
    order = np.arange(len(number))
    if shuffle:
        order = np.lexsort((np.random.default_rng(0).random(len(number)), number))
    rows = order if queries.rows is None else queries.rows[order]
    whole = Part(X if (rows == np.arange(len(rows))).all() else rows_of(X, rows), data.grades[order], queries.sizes)
    return Collection(whole, queries.ids, data.graded), queries


def splits(queries: Queries, cv: Any, validated: bool, X: Any, y: Any) -> list[Split]:
    """The queries of each fold.

    Parameters
    ----------
    queries : Queries
    cv : int, splitter, or iterable of (train, test) or (train, vali, test)
        As `gapboost._boosters.folds.query_folds` reads it.
    validated : bool
        Whether something is chosen on validation queries. Of pairs they are those that the next fold tests, as in LETOR.
    X, y : array-like
        Shown to a splitter.

    Raises
    ------
    ValueError, TypeError
        Where folds cut queries, share test queries, or hold fewer than two queries in a part.
    """
    parts = _parts(queries, cv, X, y)
    folds = [Split(fold[0], fold[1] if len(fold) == 3 else np.array([], dtype=np.int64), fold[-1]) for fold in parts]
    if validated and all(len(fold.vali) == 0 for fold in folds):
        folds = _with_next(folds, cv)
    for number, fold in enumerate(folds):
        for name in ("train", "vali", "test") if validated else ("train", "test"):
            n = len(getattr(fold, name))
            if n < 2:
                raise ValueError(
                    f"cv makes a fold, number {number}, with {n} {name} {'query' if n == 1 else 'queries'}; expected at least two"
                )
    tested = np.concatenate([fold.test for fold in folds])
    if len(np.unique(tested)) < len(tested):
        twice = np.flatnonzero(np.bincount(tested) > 1)[0]
        raise ValueError(
            f"cv tests the query {queries.ids[twice]!s} in several folds; expected each in one of them: values of one query are "
            "no evidence twice"
        )
    return folds


def _parts(queries: Queries, cv: Any, X: Any, y: Any) -> list[tuple[Array, ...]]:
    """Query numbers of the parts of each fold, two or three, checked to be whole and apart."""
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
    """Folds that validate on the test queries of the next one, and do not train on them."""
    validated = []
    for fold, following in zip(folds, folds[1:] + folds[:1], strict=True):
        if not np.isin(following.test, fold.train).all() or len(following.test) == len(fold.train):
            raise ValueError(
                f"cv is {cv!r}, which leaves no queries to validate on; expected at least 3 folds, or "
                "(train, vali, test) row numbers: rankers that stop early, and tune, choose on validation queries"
            )
        train = np.setdiff1d(fold.train, following.test)
        validated.append(Split(train, following.test, fold.test))
    return validated
