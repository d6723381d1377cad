"""Names of LightGBM that are not part of its interface, checked with 4.6.0 and 4.7.0."""

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import Any

import lightgbm
from lightgbm.basic import _LIB, LightGBMError, _choose_param_value, _ConfigAliases
from lightgbm.sklearn import _EvalFunctionWrapper

from gapboost._boosters.ranker import OWN_NAMES
from gapboost._kernels.threads import openmp_team

# The threads that LightGBM computes on.
TEAM = openmp_team(_LIB)

# LightGBM 4.6 takes no tables of polars, and forgets names of Arrow's columns.
READS_TABLES = hasattr(lightgbm.basic, "nw")

# The class of `lightgbm.early_stopping(...)`.
EarlyStopping = type(lightgbm.early_stopping(1))

__all__ = ["TEAM", "EarlyStopping", "LightGBMError"]


def default_trees(n_documents: int) -> dict[str, int]:
    """Return our default parameters of trees, chosen by benchmarks/protocols/scaling.md."""
    return {
        "num_leaves": min(31, round(31 * (n_documents / 100_000) ** 0.25)),
        "min_child_samples": min(100, max(20, n_documents // 50)),
        "max_bin": 127,
    }


def explain_categories(error: Exception, name: str) -> None:
    """Say what LightGBM's error about the data frame `name` is about; pass over other errors."""
    if "categorical_feature do not match" in str(error):
        raise ValueError(
            f"{name} has other columns of categories than training; expected the same types of "
            "columns, as .astype(X_train.dtypes) makes them"
        ) from error


def train_on_dask(**arguments: object) -> lightgbm.LGBMRanker:
    """Train by LightGBM's Dask training."""
    from lightgbm.dask import _train  # needs Dask

    return _train(**arguments)


def to_local(ranker: lightgbm.LGBMRanker, kind: type) -> lightgbm.LGBMRanker:
    """Return a ranker of LightGBM's Dask classes as a local one."""
    return ranker._lgb_dask_to_local(kind)


@cache
def aliases(name: str) -> frozenset[str]:
    """Return all names of a parameter."""
    return frozenset(_ConfigAliases.get(name))


@cache
def parameter_names() -> frozenset[str]:
    """Return all names of all parameters."""
    table = _ConfigAliases._get_all_param_aliases()
    return frozenset(table).union(*table.values())


def check_of_predict(given: Mapping[str, object]) -> None:
    """Raise TypeError for keyword arguments of `predict` that LightGBM would ignore."""
    if not given:
        return
    known = parameter_names().union(signature(lightgbm.LGBMRanker.predict).parameters)
    # A name of the column of query ids, which predict does not read.
    for name in given.keys() - (known - aliases("group_column")):
        raise TypeError(f"LGBMGAPRanker.predict() got an unexpected keyword argument {name!r}")


def value_of(name: str, parameters: Mapping[str, object]) -> Any:
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


class Ranker(lightgbm.LGBMRanker):  # type: ignore[misc]
    """`lightgbm.LGBMRanker` that leaves parameters of ours out of those of the library."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn reads the signature each time, also for the prediction of one row.
        names: list[str] = super()._get_param_names()
        return names

    def _process_params(self, stage: str) -> dict[str, object]:
        parameters = super()._process_params(stage)
        known = {name: value for name, value in parameters.items() if name not in OWN_NAMES}
        return {**known, "objective": "None", "metric": "None"}

    def train_parameters(self, n_documents: int) -> dict[str, object]:
        """Return the parameters of `lightgbm.train`, without objective."""
        parameters = self._process_params("fit")
        for name, value in default_trees(n_documents).items():
            if value_of(name, parameters) is None:  # by any name of the parameter
                parameters[name] = value
        return parameters

    @lightgbm.LGBMRanker.feature_names_in_.getter  # type: ignore[untyped-decorator]
    def feature_names_in_(self) -> Any:
        """Names of the columns; LightGBM 4.6 has some without, and so warns of arrays in `predict`.

        Raises
        ------
        AttributeError
            If the columns of training had no names.
        """
        names = super().feature_names_in_
        if not has_names(self.booster_):
            raise AttributeError("feature_names_in_ is missing: the columns had no names in fit")
        return names


def as_feval(function: Callable[..., object]) -> Callable[..., Any]:
    """Return a metric of `LGBMRanker.fit` as `lightgbm.train` takes it."""
    feval: Callable[..., Any] = _EvalFunctionWrapper(function)
    return feval


def set_fitted(
    ranker: lightgbm.LGBMRanker, booster: lightgbm.Booster, evals_result: object
) -> None:
    """Set the attributes of a fitted ranker."""
    ranker._Booster = booster
    ranker._evals_result = evals_result
    ranker._best_iteration = booster.best_iteration
    ranker._best_score = booster.best_score
    ranker._n_features = ranker.n_features_in_ = booster.num_feature()
    ranker._fitted_with_feature_names = has_names(booster)
    ranker.fitted_ = True


def has_names(booster: lightgbm.Booster) -> bool:
    """Return True if the columns of training had names; LightGBM 4.6 keeps no record of it."""
    names: list[str] = booster.feature_name()
    return names != [f"Column_{i}" for i in range(len(names))]
