"""Checks that fits share: arguments that they refuse, models to continue, scores."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gapboost.data import Array, check_names, feature_names
from gapboost.measures import Measure
from gapboost.validation import short_repr

# Parameters that ask for early stopping: XGBoost's, LightGBM's and its aliases.
EARLY_STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
)

# Other names of n_estimators, in LightGBM and in `xgboost.train`.
ROUNDS = (
    *("num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round"),
    *("num_rounds", "nrounds", "num_boost_round", "max_iter"),
)


def refuse(arguments: Mapping[str, object], reason: str) -> None:
    """Raise ValueError if one of the arguments is not None."""
    given = sorted(name for name, value in arguments.items() if value is not None)
    if given:
        raise ValueError(f"{', '.join(given)}: expected None, because {reason}")


def check_callbacks(callbacks: object) -> None:
    """Raise TypeError for callbacks that are in no list."""
    if not isinstance(callbacks, list | tuple | None):
        raise TypeError(f"callbacks is {short_repr(callbacks)}; expected a list of callbacks")


def check_stopping(stops: bool, sets: Sequence[object]) -> None:
    """Raise ValueError if early stopping is asked for, and there is no evaluation set."""
    if stops and not sets:
        raise ValueError("eval_set is missing; expected one, which early stopping watches")


def check_feature_weights(weights: Any, n_features: int) -> None:
    """Raise ValueError if there are weights of features, and not one for each."""
    if weights is not None and np.shape(weights) != (n_features,):
        raise ValueError(
            f"feature_weights has shape {np.shape(weights)}; expected one weight for each of "
            f"{n_features} features"
        )


def check_model(model: object, name: str, kinds: tuple[type, ...], booster: str) -> None:
    """Raise TypeError for a model to continue that is none of these kinds and no file."""
    if not isinstance(model, (*kinds, str, os.PathLike)):
        raise TypeError(
            f"{name} is a {type(model).__name__}; expected a ranker or Booster of {booster}, or "
            "the name of its file"
        )


def check_continued(X: Any, n_columns: int, names: Sequence[str] = ()) -> None:
    """Raise ValueError if `X` lacks the columns of a model whose training continues."""
    if X.shape[1] != n_columns:
        raise ValueError(
            f"X has {X.shape[1]} columns, but the model to continue has {n_columns}; expected the "
            "same number"
        )
    check_names(feature_names(X), names, "X")


def check_one_label(measures: Sequence[Measure], where: str) -> None:
    """Raise ValueError if a measure reads one of several labels, and `where` has one a row."""
    for measure in measures:
        if any(part.label_column is not None for _, part in measure.terms):
            raise ValueError(
                f"measure is {measure!r}, which reads one of several labels; expected a measure "
                f"without OfLabel, as {where} has one label a row (rankers take several, also in "
                "GridSearchCV with measure_scorer)"
            )


def check_scores(scores: Array) -> None:
    """Raise for several scores a row, and for scores that would train a constant model."""
    if scores.ndim != 1:
        raise ValueError(
            f"the booster has {scores.shape[1]} scores a row; expected one score a row: leave out "
            "num_class and num_target"
        )
    if not np.isfinite(scores).all():
        raise ValueError(
            "the scores hold NaN or infinite values; expected finite ones: lower learning_rate, or "
            "raise reg_lambda or min_child_weight"
        )
