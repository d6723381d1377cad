"""Rankers as estimators of any library: untrained copies, seeds, threads and early stopping."""

import copy
import inspect
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gapboost.preprocessing.pipeline import last_step, prefix, transformers

SEEDS = ("random_state", "random_seed")
THREADS = ("n_jobs", "thread_count")
TREES = ("n_estimators", "iterations", "num_trees", "num_boost_round")
# XGBoost's, LightGBM's and its aliases, and CatBoost's.
STOPPING = (
    "early_stopping_rounds",
    "early_stopping_round",
    "early_stopping",
    "n_iter_no_change",
    "od_wait",
    "od_pval",
)


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
    threads = [name for name in _named(ranker, THREADS) if given.get(name) is None]
    ranker.set_params(
        **dict.fromkeys(threads, 1), **params, **dict.fromkeys(_named(ranker, SEEDS), seed)
    )
    if isinstance(ranker, Pipeline):
        ranker = unfitted(ranker)  # steps among the parameters are objects of the caller
        for _, step in transformers(ranker):
            if step.get_params().get("n_jobs", 1) is None:
                step.set_params(n_jobs=1)
    return ranker


def few_trees(ranker: Any) -> dict[str, int]:
    """Return the parameter for two trees, under the name that is set; {} if there is none."""
    return dict.fromkeys(_named(ranker, TREES), 2)


def takes_seed(ranker: Any) -> bool:
    """Return True if the ranker has a parameter for the seed."""
    return bool(_named(ranker, SEEDS))


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


def _named(ranker: Any, names: tuple[str, ...]) -> list[str]:
    """Return the one of these names of a parameter that is set, or the first, or nothing.

    In a pipeline they are those of the last step. CatBoost refuses two names of one parameter, and
    its `get_params` returns only parameters that are set, so the signature is read too.
    """
    last, begin = last_step(ranker), prefix(ranker)
    given = last.get_params()
    there = [n for n in names if n in given or n in inspect.signature(type(last)).parameters]
    return [begin + name for name in sorted(there, key=lambda n: given.get(n) is None)[:1]]
