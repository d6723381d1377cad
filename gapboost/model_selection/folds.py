"""Folds of whole queries."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from gapboost._data.arguments import random_numbers
from gapboost._data.private import num_samples
from gapboost._data.queries import Queries, grouped_rows
from gapboost._kernels import Array

Fold = tuple[Array, Array]


def query_folds(
    qid: Any, cv: Any = 5, random_state: Any = None, X: Any = None, y: Any = None
) -> list[Fold]:
    """Return the training and test rows of folds of whole queries.

    Parameters
    ----------
    qid : array-like of shape (N,)
        Query id of each row.
    cv : int, splitter, or iterable of (train, test), default=5
        A number of folds as `sklearn.model_selection.GroupKFold` makes them; a splitter gets the
        queries as groups.
    random_state : int, RandomState or None, default=None
        For a number of folds: None balances their documents, anything else assigns the queries to
        folds at random.
    X, y : array-like of N rows, optional
        Passed to a splitter.

    Returns
    -------
    list of (train, test)
        Numbers of rows, as ``folds=`` of `lightgbm.cv` takes them. `xgboost.cv` makes folds of
        whole queries itself.

    Raises
    ------
    ValueError
        If there are fewer queries than folds, or a fold cuts a query.

    Examples
    --------
    >>> [test.tolist() for train, test in query_folds(["a", "b", "a", "c"], cv=3)]
    [[0, 2], [3], [1]]
    """
    queries = qid if isinstance(qid, Queries) else grouped_rows(qid, num_samples(qid), "qid", "qid")
    codes = queries.codes
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not 2 <= cv <= len(queries):
            raise ValueError(
                f"cv is {cv}; expected from 2 folds to one for each of the {len(queries)} queries"
            )
        drawn = None if random_state is None else random_numbers(random_state)
        cv = GroupKFold(int(cv), shuffle=drawn is not None, random_state=drawn)
    elif random_state is not None:
        raise ValueError(
            f"random_state is {random_state!r} but cv is {cv!r}; expected a number of folds"
        )
    if (not np.iterable(cv) and not hasattr(cv, "split")) or isinstance(cv, str):
        raise TypeError(
            f"cv is {cv!r}; expected a number of folds, a splitter or (train, test) row numbers"
        )
    if hasattr(cv, "split"):
        with warnings.catch_warnings():
            # What a splitter that ignores groups does to queries is checked below.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            cv = list(cv.split(codes if X is None else X, y, groups=_sortable(queries, codes)))
    folds = list(cv)
    if not folds:
        raise ValueError(f"cv is {cv!r}, which makes no folds; expected at least one")
    for number, fold in enumerate(folds):
        _check_whole(fold, queries, codes, number)
    return folds


def _sortable(queries: Queries, codes: Array) -> Array:
    # The ids themselves where they sort: splitters break ties by their order, and the folds are
    # then those of a search by scikit-learn with groups=qid. Numpy takes True and 1 for one.
    try:
        distinct = len(np.unique(queries.ids))
    except (TypeError, ValueError):
        return codes
    return queries.ids[codes] if distinct == len(queries) else codes


def _check_whole(fold: Fold, queries: Queries, codes: Array, number: int) -> None:
    try:
        train, test = (
            np.bincount(codes[np.asarray(rows)], minlength=len(queries)) for rows in fold
        )
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(
            f"fold {number} of cv is {fold!r}; expected (train, test) row numbers from 0 to "
            f"{len(codes) - 1} ({error})"
        ) from None
    if not train.any() or not test.any():
        raise ValueError(f"fold {number} of cv has no training or no test rows; expected both")
    parts = [(rows > 0) & (rows < queries.sizes) for rows in (train, test)]
    cut = parts[0] | parts[1] | ((train > 0) & (test > 0))
    if cut.any():
        raise ValueError(
            f"fold {number} of cv cuts {int(cut.sum())} queries, such as "
            f"{queries.ids[cut].tolist()[0]!r}; expected every query whole: a number of folds, or "
            "GroupKFold(...)"
        )
