"""Tuning: draw candidate parameters from spaces, the same number for every ranker."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import ParameterSampler

from gapboost.preprocessing.pipeline import library_of, prefix
from gapboost.validation import as_integer, mapping, short_repr

# By the library of an estimator's class or of one of its base classes.
SPACES: dict[str, dict[str, object]] = {
    "lightgbm": {
        "num_leaves": [8, 16, 32, 64],
        "learning_rate": stats.loguniform(0.02, 0.2),
        "n_estimators": [50, 100, 200, 400],
        "colsample_bytree": stats.uniform(0.3, 0.7),
        "reg_lambda": stats.loguniform(0.01, 10),
        "min_child_samples": stats.randint(5, 100),
    },
    "xgboost": {
        "max_depth": [3, 4, 5, 6, 8],
        "learning_rate": stats.loguniform(0.02, 0.2),
        "n_estimators": [50, 100, 200, 400],
        "colsample_bytree": stats.uniform(0.3, 0.7),
        "reg_lambda": stats.loguniform(0.01, 10),
        "min_child_weight": stats.loguniform(0.01, 10),
    },
    "catboost": {
        "depth": [3, 4, 5, 6, 8],
        "learning_rate": stats.loguniform(0.02, 0.2),
        "iterations": [100, 200, 400, 800],
        "rsm": stats.uniform(0.3, 0.7),
        "l2_leaf_reg": stats.loguniform(0.01, 10),
    },
}
FORM = "{name: {parameter: list or distribution}}, with {} for a ranker to leave as it is"


def draw_candidates(
    rankers: Mapping[str, object], tune: int | None, spaces: object
) -> dict[str, list[dict[str, object]]]:
    """Return `tune` candidates of each ranker whose space is not {}; {} without `tune`.

    scikit-learn's `ParameterSampler` draws them. Rankers with the same space get the same
    candidates. The spaces of this module are for the last step of a pipeline; a given space has
    parameters as in `set_params`, such as ``ranker__num_leaves``.

    Raises
    ------
    ValueError, TypeError
        If a ranker has no space, or its space has a parameter that the ranker does not have.
    """
    given = {} if spaces is None else mapping(spaces, "spaces", FORM)
    if tune is None:
        if given:
            raise ValueError(f"spaces is {short_repr(spaces)} but tune is None; expected tune too")
        return {}
    number = as_integer(tune, "tune", 2, "None or a whole number of candidates")
    unknown = [name for name in given if name not in rankers]
    if unknown:
        raise ValueError(f"spaces names {unknown[0]!r}; expected some of {', '.join(rankers)}")
    return {
        name: _draw(name, ranker, given.get(name), number)
        for name, ranker in rankers.items()
        if given.get(name) != {}
    }


def _draw(name: str, ranker: Any, space: Any, number: int) -> list[dict[str, object]]:
    of_library = SPACES.get(library_of(ranker), {})
    space = space or {prefix(ranker) + parameter: of_library[parameter] for parameter in of_library}
    if not space:
        raise ValueError(f"tune is {number} but spaces has none for {name!r}; expected {FORM}")
    # CatBoost's get_params returns only what is set.
    unknown = [parameter for parameter in space if parameter not in ranker.get_params()]
    if unknown and library_of(ranker) != "catboost":
        expected = ", ".join(ranker.get_params())
        raise ValueError(f"spaces has {unknown[0]!r} for {name!r}; expected some of {expected}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a space that is too small is an error below
        sampled = list(ParameterSampler(space, number, random_state=0))
    if len(sampled) < number:
        raise ValueError(f"tune is {number}; expected at most {len(sampled)}, for {name!r}")
    return [{key: _rounded(value) for key, value in candidate.items()} for candidate in sampled]


def _rounded(value: object) -> object:
    """Round real numbers to three digits, so that a report can show the value that was trained."""
    if isinstance(value, float | np.floating):
        return float(f"{value:.3g}")
    return value.item() if isinstance(value, np.generic) else value
