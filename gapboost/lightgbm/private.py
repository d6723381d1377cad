"""Names of LightGBM that are not part of its interface, checked with 4.6.0 and 4.7.0."""

from collections.abc import Mapping
from functools import cache
from inspect import signature
from typing import Any

import lightgbm
from lightgbm.basic import _LIB, LightGBMError, _choose_param_value, _ConfigAliases

from gapboost._kernels.threads import openmp_team

# The threads that LightGBM computes on.
TEAM = openmp_team(_LIB)

# The class of `lightgbm.early_stopping(...)`.
EarlyStopping = type(lightgbm.early_stopping(1))

# LightGBM 4.7 deprecates `eval_set` for arguments that 4.6 lacks.
HAS_EVAL_X = "eval_X" in signature(lightgbm.LGBMRanker.fit).parameters

__all__ = ["TEAM", "EarlyStopping", "LightGBMError"]


def evaluation_arguments(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the evaluation sets as the installed LightGBM takes them."""
    if not HAS_EVAL_X or not pairs:
        return {"eval_set": pairs or None}
    tables, labels = zip(*pairs, strict=True)
    return {"eval_X": tables, "eval_y": labels}


def train_on_dask(**arguments: Any) -> lightgbm.LGBMRanker:
    """Train by LightGBM's Dask training."""
    from lightgbm.dask import _train  # needs Dask

    return _train(**arguments)


def to_local(ranker: Any, kind: type) -> Any:
    """Return a ranker of LightGBM's Dask classes as a local one."""
    return ranker._lgb_dask_to_local(kind)


def aliases(name: str) -> frozenset[str]:
    """Return all names of a parameter."""
    return frozenset(_ConfigAliases.get(name))


def value_of(name: str, parameters: Mapping[str, Any]) -> Any:
    """Return the value that LightGBM uses of a parameter under any of its names."""
    # LightGBM copies what it gets, and a Dask client among the others cannot be copied.
    given = {n: parameters[n] for n in aliases(name) if parameters.get(n) is not None}
    return _choose_param_value(name, given, None)[name]


@cache
def overruled() -> Mapping[str, str]:
    """Return the names that LightGBM ignores, and the ones that its ranker lists with a default.

    LightGBM uses its own name of a parameter, or else the shortest alias.
    """
    listed = {
        parameter.name
        for parameter in signature(lightgbm.LGBMRanker.__init__).parameters.values()
        if parameter.default not in (None, parameter.empty)
    }
    found: dict[str, str] = {}
    # The names of a parameter are in LightGBM's order of preference.
    for main, names in _ConfigAliases._get_all_param_aliases().items():
        first = [i for i, name in enumerate(names) if name in listed]
        if first and main != "num_iterations":
            found.update(dict.fromkeys(names[first[0] + 1 :], names[first[0]]))
    return found


def learned(ranker: lightgbm.LGBMRanker) -> dict[str, Any]:
    """Return the attributes that `fit` leaves in a ranker, without its parameters."""
    # Its objective holds the training data.
    parameters = {*ranker.get_params(deep=False), "_other_params", "_objective"}
    return {name: value for name, value in vars(ranker).items() if name not in parameters}


def set_best_iteration(ranker: lightgbm.LGBMRanker, n_trees: int) -> None:
    """Keep the first `n_trees` trees, as LightGBM does after early stopping."""
    booster = ranker.booster_
    ranker._best_iteration = booster.best_iteration = n_trees
    if n_trees < booster.current_iteration():
        booster.model_from_string(booster.model_to_string())
