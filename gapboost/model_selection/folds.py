"""Folds of whole queries."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from gapboost.data import Array, Queries, QueryIds, grouped_rows, num_samples
from gapboost.validation import Seed, random_numbers, short_repr

Fold = tuple[Array, Array]


def query_folds(
    qid: QueryIds | Queries, cv: Any = 5, random_state: Seed = None, X: Any = None, y: object = None
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
        whole queries itself, without their weights.

    Raises
    ------
    ValueError
        If there are fewer queries than folds, or a fold cuts a query, repeats a row or is empty.

    Examples
    --------
    >>> [test.tolist() for train, test in query_folds(["a", "b", "a", "c"], cv=3)]
    [[0, 2], [3], [1]]
    """
    queries = qid if isinstance(qid, Queries) else grouped_rows(qid, num_samples(qid), "qid", "qid")
    codes = queries.codes
    if isinstance(cv, int | np.integer):
        drawn = None if random_state is None else random_numbers(random_state)
        cv = GroupKFold(cv, shuffle=drawn is not None, random_state=drawn)
    elif random_state is not None:
        raise ValueError(
            f"cv is {cv!r} with random_state {random_state!r}; expected a number of folds"
        )
    expected = "a number of folds, a splitter, or a list of (training rows, test rows)"
    if isinstance(cv, str) or not (np.iterable(cv) or hasattr(cv, "split")):
        raise TypeError(f"cv is {short_repr(cv)}; expected {expected}")
    if hasattr(cv, "split"):
        with warnings.catch_warnings():
            # What a splitter that ignores groups does to queries is checked below.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            cv = list(cv.split(codes if X is None else X, y, groups=_sortable(queries)))
    folds = list(cv)
    if not folds:
        raise ValueError("cv makes no folds; expected at least one")
    for number, fold in enumerate(folds):
        try:
            train, test = fold
            # Masks and numbers from the end are numbers of rows, too.
            parts = [np.arange(len(codes))[np.ravel(rows)] for rows in (train, test)]
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(f"fold {number} of cv ({error}); expected {expected}") from None
        if any(len(np.unique(rows)) < len(rows) for rows in parts):
            raise ValueError(f"fold {number} of cv repeats rows; expected each row once")
        if not all(map(len, parts)):
            empty = "test" if len(train) else "training"
            raise ValueError(f"fold {number} of cv has no {empty} rows")
        counts = [np.bincount(codes[rows], minlength=len(queries)) for rows in parts]
        in_part = [(count > 0) & (count < queries.sizes) for count in counts]
        cut = np.all(counts, axis=0) | np.any(in_part, axis=0)
        if cut.any():
            raise ValueError(
                f"fold {number} of cv cuts {int(cut.sum())} queries, such as "
                f"{queries.ids[cut].tolist()[0]!r}; expected every query whole: a number of folds, "
                "GroupKFold(...), or for folds by time a query id for each user and part"
            )
    return folds


def _sortable(queries: Queries) -> Array:
    # The ids themselves where they sort: splitters break ties by their order, and the folds are
    # then those of a search by scikit-learn with groups=qid.
    try:
        np.unique(queries.ids)
    except TypeError:
        return queries.codes
    return queries.ids[queries.codes]
