"""Folds of whole queries."""

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold

from gapboost._data.arguments import random_numbers
from gapboost._data.queries import Queries
from gapboost._kernels import Array

Fold = tuple[Array, Array]


def query_folds(
    queries: Queries, cv: Any, random_state: Any, X: Any = None, y: Any = None, name: str = "cv"
) -> list[Fold]:
    """Training and test rows of each fold, checked to hold whole queries.

    Parameters
    ----------
    queries : Queries
    cv : int, splitter, or iterable of (train, test)
        A number of folds as `sklearn.model_selection.GroupKFold` makes them; a splitter gets the
        queries as groups.
    random_state : int, RandomState or None
        For a number of folds: None balances their documents, anything else deals the queries out at
        random.
    X, y : array-like, optional
        Shown to a splitter.
    name : str
        What the caller calls `cv`.

    Raises
    ------
    ValueError
        If there are fewer queries than folds, or a query is cut in two.
    """
    codes = queries.codes
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        if not 2 <= cv <= len(queries):
            raise ValueError(
                f"{name} is {cv}; expected from 2 folds to one for each of the {len(queries)} "
                "queries"
            )
        drawn = None if random_state is None else random_numbers(random_state)
        cv = GroupKFold(int(cv), shuffle=drawn is not None, random_state=drawn)
    elif random_state is not None:
        raise ValueError(
            f"random_state is {random_state!r} but cv is {cv!r}; expected a number of folds, or "
            "None"
        )
    if hasattr(cv, "split") and not isinstance(cv, str | bytes):
        with warnings.catch_warnings():
            # What a splitter that ignores groups does to queries is checked below.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            folds = list(cv.split(codes if X is None else X, y, groups=_sortable(queries, codes)))
    elif np.iterable(cv) and not isinstance(cv, str | bytes):
        folds = list(cv)
    else:
        raise TypeError(
            f"cv is {cv!r}; expected a number of folds, a splitter or (train, test) row numbers"
        )
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
        raise ValueError(
            f"fold {number} of cv has no {'test' if train.any() else 'training'} rows; expected at "
            "least one"
        )
    cut = (
        ((train > 0) & (train < queries.sizes))
        | ((test > 0) & (test < queries.sizes))
        | ((train > 0) & (test > 0))
    )
    if cut.any():
        raise ValueError(
            f"fold {number} of cv cuts {int(cut.sum())} queries, such as "
            f"{queries.ids[cut].tolist()[0]!r}; expected every query whole, in either the training "
            "or the test rows: a number of folds, or GroupKFold(...)"
        )
