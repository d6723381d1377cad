"""Rankers as estimators of any library: untrained copies, seeds, threads and early stopping."""

import copy
import inspect
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gapboost._boosters.stopping import EARLY_STOPPING
from gapboost.preprocessing.pipeline import last_step, library_of, prefix, transformers

SEEDS = ("random_state", "random_seed")
THREAD_PARAMETERS = ("n_jobs", "thread_count")
# CatBoost refuses two of them at once.
TREE_PARAMETERS = ("n_estimators", "iterations", "num_trees", "num_boost_round")
# CatBoost also refuses two of these at once.
SYNONYMS = (
    TREE_PARAMETERS,
    SEEDS,
    ("learning_rate", "eta"),
    ("depth", "max_depth"),
    ("l2_leaf_reg", "reg_lambda"),
    ("rsm", "colsample_bylevel"),
)
# CatBoost has two more names for early stopping.
STOPPING = (*EARLY_STOPPING, "od_wait", "od_pval")


def unfitted(ranker: Any) -> Any:
    """Return an untrained copy, also of rankers that scikit-learn's `clone` refuses.

    CatBoost copies a list that it is given, such as ``cat_features=["brand"]``, which `clone` takes
    for an error.
    """
    try:
        return clone(ranker)
    except RuntimeError:
        return copy.deepcopy(ranker)


def configured(ranker: Any, params: dict[str, Any], seed: int) -> Any:
    """Return an untrained copy with these parameters and this seed.

    A ranker without a number of threads gets one thread: trainings run in parallel processes, and a
    booster with more threads adds numbers in another order. So do the steps of a pipeline. Its seed
    is that of the last step.
    """
    ranker = unfitted(ranker)
    given = ranker.get_params()
    threads = {
        name: 1
        for name in _parameters_named(ranker, THREAD_PARAMETERS)[:1]
        if given.get(name) is None
    }
    params = {**threads, **params, **dict.fromkeys(_parameters_named(ranker, SEEDS)[:1], seed)}
    ranker = _without_synonyms(ranker, params).set_params(**params)
    if isinstance(ranker, Pipeline):
        ranker = unfitted(ranker)  # steps among the parameters are objects of the caller
        for _, step in transformers(ranker):
            if step.get_params().get("n_jobs", 1) is None:
                step.set_params(n_jobs=1)
    return ranker


def _without_synonyms(ranker: Any, params: dict[str, Any]) -> Any:
    """Return a ranker of CatBoost without what it has under another name of these parameters."""
    last = last_step(ranker)
    if library_of(last) != "catboost":
        return ranker
    names = {name.removeprefix(prefix(ranker)) for name in params}
    dropped = {name for group in SYNONYMS if names & {*group} for name in group} - names
    left = type(last)(
        **{name: value for name, value in last.get_params().items() if name not in dropped}
    )
    return (
        ranker.set_params(**{ranker.steps[-1][0]: left}) if isinstance(ranker, Pipeline) else left
    )


def few_trees(ranker: Any) -> dict[str, int]:
    """Return the parameter for two trees, under the name that is set; {} if there is none."""
    names, given = _parameters_named(ranker, TREE_PARAMETERS), ranker.get_params()
    return dict.fromkeys([*(name for name in names if given.get(name) is not None), *names][:1], 2)


def takes_seed(ranker: Any) -> bool:
    """Return True if the ranker has a parameter for the seed."""
    return bool(_parameters_named(ranker, SEEDS))


def has_early_stopping(ranker: Any) -> bool:
    """Return True if early stopping is set, and `fit` takes evaluation sets."""
    last = last_step(ranker)
    given = last.get_params()
    return "eval_set" in fit_arguments(last) and any(
        given.get(name) is not None for name in STOPPING
    )


def fit_arguments(ranker: Any) -> set[str]:
    """Return the names of the arguments of `fit`."""
    return set(inspect.signature(ranker.fit).parameters)


def _parameters_named(ranker: Any, names: tuple[str, ...]) -> list[str]:
    """Return the parameters with these names, in a pipeline those of its last step.

    CatBoost's `get_params` returns only parameters that are set, so its signature is read too.
    """
    last = last_step(ranker)
    there = set(last.get_params()) | set(inspect.signature(type(last)).parameters)
    return [prefix(ranker) + name for name in names if name in there]
