"""Data of a comparison: the queries of each fold, and features that leak the grades."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost.analysis.leaks import number_columns, rank_alone
from gapboost.data import Array, ArrayLike, Queries, RankingDataset
from gapboost.model_selection.folds import query_folds

# Queries that `find_leaks` reads.
MOST_QUERIES = 300


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


def shuffled(data: RankingDataset, seed: int) -> RankingDataset:
    """Return a grouped data set with the documents of each query in a random order."""
    queries = data.query_data.queries
    order = np.random.default_rng(seed).random(queries.n_rows)
    return data.take(np.lexsort((order, queries.numbers)))


# --- folds ----------------------------------------------------------------------------------------


def splits(
    queries: Queries, cv: object, repeats: int, validation: bool, X: object, y: ArrayLike
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
        True if parameters are tuned or trees are chosen.
    X, y : array-like
        Arguments of a splitter.

    Raises
    ------
    ValueError, TypeError
        If folds divide queries, share test queries, or hold fewer than two queries in a part.
    """
    numbers = tuple(range(1, repeats + 1))
    of_repeats: list[tuple[tuple[int, ...], Iterable[Sequence[Array]]]]
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        of_repeats = [((number,), query_folds(queries, cv, number)) for number in numbers]
    else:
        of_repeats = [(numbers, _given_folds(queries, cv, X, y))]
    found = []
    for repeat, folds in of_repeats:
        parts = [[np.unique(queries.codes[np.asarray(rows)]) for rows in fold] for fold in folds]
        if validation and len(parts[0]) == 2 and len(parts) > 1:
            parts = [
                [np.setdiff1d(train, vali), vali, test]
                for (train, test), (_, vali) in zip(parts, parts[1:] + parts[:1], strict=True)
            ]
        times = np.bincount(np.concatenate([part[-1] for part in parts]))
        if times.max() > 1:
            twice = queries.ids[times.argmax()]
            raise ValueError(f"cv tests the query {twice!s} in several folds; expected one")
        for number, (train, *vali, test) in enumerate(parts):
            needed = [train, *vali, test] if validation else [train, test]
            if min(map(len, needed)) < 2 or (validation and not vali):
                raise ValueError(
                    f"cv has {[len(part) for part in needed]} queries in fold {number}; expected "
                    "two or more to train, to test, and to validate tune and choose_trees"
                )
            found.append(Split(train, vali[0] if vali else train[:0], test, number, repeat))
    return found


def _given_folds(queries: Queries, cv: object, X: object, y: ArrayLike) -> Any:
    """Return the rows of the parts of each fold; check that queries are whole."""
    if np.iterable(cv) and not hasattr(cv, "split"):
        cv = list(cv)
        if cv and all(isinstance(fold, Sequence) and len(fold) == 3 for fold in cv):
            for one, other in ((0, 2), (0, 1), (1, 2)):
                query_folds(queries, [(fold[one], fold[other]) for fold in cv], None)
            return cv
    return query_folds(queries, cv, None, X, y)


# --- leaks ----------------------------------------------------------------------------------------


def find_leaks(data: RankingDataset) -> dict[str, float]:
    """Return the features that alone rank nearly all documents of a grade and higher ones first.

    Each feature ranks ascending and descending, with missing values first and last. Its average
    precision for grades from some grade on is the mean over the queries that have documents below
    and above. A leak has an interval above .95, or above nine tenths of the way from the average
    precision of a random order to 1, if that is more.

    Returns
    -------
    dict {feature: float}
        Lower ends of the intervals, the largest first. At most 300 queries are read.
    """
    n_queries = len(data.query_data.queries)
    part = data.select(np.arange(0, n_queries, -(-n_queries // MOST_QUERIES)))
    queries = part.query_data.queries
    # A column with fewer values leaves most documents tied, and is no leak.
    fewest = len(queries) / 2
    ranked = [
        alone
        for grades in part.labels
        for alone in rank_alone(number_columns(part.X, fewest), grades, queries.numbers)
    ]
    found: dict[str, float] = {}
    for alone in sorted(ranked, key=lambda alone: -alone.low):
        if alone.low > alone.limit:
            found.setdefault(alone.feature, alone.low)
    return found
