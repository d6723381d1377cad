"""Folds of whole queries, and curves of measures over the boosting iterations."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import GroupKFold

from gapboost._boosters.callbacks import from_groups
from gapboost._boosters.measure_arguments import as_data_set_metrics, as_gradients
from gapboost._boosters.parameter_table import ParameterTable
from gapboost._boosters.parameters import OwnParameters, check_parameters
from gapboost._boosters.request import TrainingRequest
from gapboost._boosters.task import Task, make_task
from gapboost._data.arguments import mapping, random_numbers, whole
from gapboost._data.judged import Judged
from gapboost._data.queries import Queries
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.objectives import Objective

Fold = tuple[Array, Array]


class Curve(NamedTuple):
    """A measure after each boosting iteration, over the folds.

    Attributes
    ----------
    mean, std : float64 ndarrays of shape (n_iterations,)
        Mean and standard deviation of the folds' values; every fold counts the same.
    """

    mean: Array
    std: Array


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


def cv_request(
    params: dict[str, Any],
    table: ParameterTable,
    measure: Any,
    g: Any,
    eval_metric: Any,
    n_rounds: Any,
) -> TrainingRequest:
    """Return what the arguments of `cv` ask for; its parameters are those of the booster alone.

    Raises
    ------
    ValueError, TypeError
        If parameters of the booster would be ignored, or an argument is unusable.
    """
    mapping(params, "params", "{parameter: value}")
    whole(n_rounds, "num_boost_round")
    named = "gap" if isinstance(measure, Objective) else measure
    own = OwnParameters(named, g, measure, eval_metric, takes_objective="measure")
    request = check_parameters(table, params, own, begins="params holds {}={}")
    # What is unusable there, `request` has left out.
    as_gradients(measure, g)
    if eval_metric is not None:
        as_data_set_metrics(eval_metric, name="eval_metric")
    return replace(request, parameters=table.passed_on(params))


def cv_task(
    request: TrainingRequest, label: Array, sizes: Array, weight: Array | None
) -> tuple[Task, Judged]:
    """Return the task, and the judged queries of a data set's label, group sizes and weight.

    The task is that of all labels: a fold that lacks a grade would be judged by another g.
    """
    data = from_groups(label, sizes, weight, [request.objective.measure, *request.metrics])
    return make_task(request, data.summary, "label"), data


def cross_validated(
    train_fold: Callable[[Fold, Fold], list[list[float]]],
    data: Judged,
    measures: Sequence[Measure],
    n_folds: int,
    random_state: Any,
) -> dict[Measure, Curve]:
    """Return curves of `measures`; `train_fold` trains on a fold and tests on another's rows.

    It returns the values of the measures on the test queries after each iteration.
    """
    codes = data.queries.codes
    histories = []
    for rows in query_folds(
        data.queries, whole(n_folds, "n_folds", 2), random_state, name="n_folds"
    ):
        train, test = ((r, np.unique(codes[r])) for r in rows)
        histories.append(train_fold(train, test))
    values = np.array(histories)  # folds, iterations, measures
    mean, std = values.mean(axis=0), values.std(axis=0)
    return {measure: Curve(mean[:, i], std[:, i]) for i, measure in enumerate(measures)}
