"""How a ranker of any library is handed its data: what its `fit` has arguments for."""

import copy
import inspect
from typing import Any

import numpy as np
from sklearn.base import clone

from gapboost._boosters.stopping import EARLY_STOPPING
from gapboost._kernels import Array
from gapboost.comparison.data import Part

SEEDS = ("random_state", "random_seed")
THREADS = ("n_jobs", "thread_count")
# CatBoost refuses two of them at once.
TREES = ("n_estimators", "iterations", "num_trees", "num_boost_round")
# CatBoost's other words for stopping early.
STOPPING = (*EARLY_STOPPING, "od_wait", "od_pval")


def unfitted(ranker: Any) -> Any:
    """Return an untrained copy, also of rankers that scikit-learn's `clone` refuses.

    CatBoost copies a list that it is given, such as ``cat_features=["brand"]``, which `clone` takes for an error.
    """
    try:
        return clone(ranker)
    except RuntimeError:
        return copy.deepcopy(ranker)


def copied(ranker: Any, params: dict[str, Any], seed: int) -> Any:
    """An untrained copy with these parameters and this seed, and one thread where it leaves open how many.

    Trainings run side by side in processes, and with other threads a booster sums in another order.
    """
    ranker = unfitted(ranker)
    given = ranker.get_params()
    threads = {name: 1 for name in _parameters_named(ranker, THREADS)[:1] if given.get(name) is None}
    return ranker.set_params(**{**threads, **params, **dict.fromkeys(_parameters_named(ranker, SEEDS)[:1], seed)})


def few_trees(ranker: Any) -> dict[str, int]:
    """The parameter with which a booster grows two trees, under the name that is set; none for what grows no trees."""
    names, given = _parameters_named(ranker, TREES), ranker.get_params()
    return dict.fromkeys([*(name for name in names if given.get(name) is not None), *names][:1], 2)


def takes_seed(ranker: Any) -> bool:
    """Whether another seed may make another model."""
    return bool(_parameters_named(ranker, SEEDS))


def stops_early(ranker: Any) -> bool:
    """Whether it wants validation queries: it is told to stop early, and its `fit` has an argument for them."""
    last = last_step(ranker)
    given = last.get_params()
    return "eval_set" in _arguments(last) and any(given.get(name) is not None for name in STOPPING)


def fit(ranker: Any, train: Part, vali: Part | None) -> Any:
    """Train on documents; those of `vali` tell when to stop.

    A `fit` with `qid` gets ascending numbers of queries, one with `group` their sizes, one with `group_id`, which is CatBoost's,
    the numbers; any other gets features and grades alone. XGBoost's ``rank:map``, which takes no grades, gets 1 for every grade
    above 0.
    """
    prefix, last = _prefix(ranker), last_step(ranker)
    takes = _arguments(last)
    given: dict[str, Any] = {}
    for name in ("qid", "group", "group_id"):
        if name in takes:
            given[name] = train.sizes if name == "group" else train.numbers
            break
    if vali is not None:
        given |= _evaluation_set(takes, vali, _grades_for(last, vali))
    return ranker.fit(train.X, _grades_for(last, train), **{prefix + name: value for name, value in given.items()})


def _evaluation_set(takes: set[str], vali: Part, y: Array) -> dict[str, Any]:
    if "group_id" in takes:
        from catboost import Pool

        return {"eval_set": Pool(vali.X, y, group_id=vali.numbers)}
    # LightGBM deprecates `eval_set` from 4.7 on.
    given: dict[str, Any] = {"eval_X": (vali.X,), "eval_y": (y,)} if "eval_X" in takes else {"eval_set": [(vali.X, y)]}
    if "eval_qid" in takes:
        given["eval_qid"] = [vali.numbers]
    elif "eval_group" in takes:
        given["eval_group"] = [vali.sizes]
    return given


def _grades_for(ranker: Any, part: Part) -> Array:
    binary = ranker.get_params().get("objective") == "rank:map" and "xgboost" in type(ranker).__module__
    return (part.y > 0).astype(np.int32) if binary and not hasattr(ranker, "measure") else part.y


def last_step(ranker: Any) -> Any:
    """What a pipeline ends with; a ranker itself."""
    return ranker.steps[-1][1] if hasattr(ranker, "steps") else ranker


def _prefix(ranker: Any) -> str:
    """Of the arguments and parameters that are meant for the last step of a pipeline."""
    return f"{ranker.steps[-1][0]}__" if hasattr(ranker, "steps") else ""


def _arguments(ranker: Any) -> set[str]:
    return set(inspect.signature(ranker.fit).parameters)


def _parameters_named(ranker: Any, names: tuple[str, ...]) -> list[str]:
    """Parameters of these names, in a pipeline those of its last step; CatBoost's `get_params` tells only what is set."""
    prefix, last = _prefix(ranker), last_step(ranker)
    there = set(last.get_params()) | set(inspect.signature(type(last)).parameters)
    return [prefix + name for name in names if name in there]
