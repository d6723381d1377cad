"""Rankers of any library: the standard ones, checks, untrained copies, seeds, descriptions."""

import copy
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline

from gapboost.preprocessing.pipeline import last_step, library_of, prefix
from gapboost.validation import short_repr

METHODS = ("fit", "predict", "get_params", "set_params")
# Names of one parameter in different libraries.
SEEDS = ("random_state", "random_seed")
THREADS = ("n_jobs", "thread_count")
TREES = ("n_estimators", "iterations", "num_trees", "num_boost_round")


def standard_rankers() -> dict[str, Any]:
    """Return the default rankers of `compare_rankers`, some of each installed library.

    LightGBM's ``lambdarank``, ``rank_xendcg`` and regression on grades, XGBoost's ``rank:ndcg``,
    ``rank:pairwise`` and ``rank:map``, CatBoost's ``YetiRank`` and ``QueryRMSE``, and gapboost's
    rankers for GAP on LightGBM and XGBoost. Their parameters are the defaults, except that they
    print nothing and take categories of pandas.

    Returns
    -------
    dict {name: ranker}

    Raises
    ------
    ImportError
        If none of the three libraries is installed.

    Examples
    --------
    >>> from gapboost.comparison import standard_rankers
    >>> "LightGBM lambdarank" in standard_rankers()
    True
    """
    rankers: dict[str, Any] = {}
    if find_spec("lightgbm"):
        import lightgbm

        from gapboost.lightgbm import LGBMGAPRanker

        rankers["LightGBM lambdarank"] = lightgbm.LGBMRanker(verbose=-1)
        rankers["LightGBM rank_xendcg"] = lightgbm.LGBMRanker(objective="rank_xendcg", verbose=-1)
        rankers["LightGBM regression"] = lightgbm.LGBMRegressor(verbose=-1)
        rankers["LightGBM GAP"] = LGBMGAPRanker(verbose=-1)
    if find_spec("xgboost"):
        import xgboost

        from gapboost.xgboost import XGBGAPRanker

        for objective in ("rank:ndcg", "rank:pairwise", "rank:map"):
            rankers[f"XGBoost {objective}"] = xgboost.XGBRanker(
                objective=objective, enable_categorical=True
            )
        rankers["XGBoost GAP"] = XGBGAPRanker(enable_categorical=True)
    if find_spec("catboost"):
        from catboost import CatBoostRanker

        for loss in ("YetiRank", "QueryRMSE"):
            rankers[f"CatBoost {loss}"] = CatBoostRanker(
                loss_function=loss, verbose=False, allow_writing_files=False
            )
    if not rankers:
        raise ImportError("expected lightgbm, xgboost or catboost; none of them is installed")
    return rankers


def checked_rankers(rankers: object) -> dict[str, Any]:
    """Return the rankers, None for the standard ones.

    Raises
    ------
    TypeError
        If `rankers` is not a mapping from names, or a ranker lacks a method of estimators.
    ValueError
        If there are fewer than two rankers.
    """
    if rankers is None:
        rankers = standard_rankers()
    if not isinstance(rankers, Mapping) or not all(isinstance(name, str) for name in rankers):
        raise TypeError(f"rankers is {short_repr(rankers)}; expected {{name: ranker}}, or None")
    for name, ranker in rankers.items():
        for part in (ranker, last_step(ranker)):
            if isinstance(part, type) or not all(hasattr(part, method) for method in METHODS):
                found, expected = f"{name!r}: {short_repr(part)}", ", ".join(METHODS)
                raise TypeError(f"rankers holds {found}; expected an estimator with {expected}")
    if len(rankers) < 2:
        raise ValueError(f"rankers holds {list(rankers)}; expected at least two to compare")
    return dict(rankers)


def check_trees(rankers: Mapping[str, object]) -> None:
    """Raise ValueError if no ranker grows trees whose number can be chosen."""
    if not any(map(library_of, rankers.values())):
        found = ", ".join(map(repr, rankers))
        raise ValueError(f"choose_trees is True but rankers holds {found}; expected a booster")


def unfitted(ranker: object) -> Any:
    """Return an untrained copy, also of rankers that scikit-learn's `clone` refuses.

    CatBoost copies a list that it is given, such as ``cat_features=["brand"]``, which `clone` takes
    for an error.
    """
    try:
        return clone(ranker)
    except RuntimeError:
        return copy.deepcopy(ranker)


def configured(ranker: Any, params: Mapping[str, object], seed: int) -> Any:
    """Return an untrained copy with these parameters and this seed.

    A ranker without a number of threads gets one thread: trainings run in parallel processes, and a
    booster with more threads adds numbers in another order. So do the steps of a pipeline. Its seed
    is that of the last step.
    """
    ranker = unfitted(ranker)
    given = ranker.get_params()
    threads = [name for name in parameter(ranker, THREADS) if given.get(name) is None]
    ranker.set_params(**dict.fromkeys(threads, 1), **params)
    ranker.set_params(**dict.fromkeys(parameter(ranker, SEEDS), seed))
    if isinstance(ranker, Pipeline):
        ranker = unfitted(ranker)  # steps among the parameters are objects of the caller
        given = ranker.get_params()
        threads = [f"{name}__n_jobs" for name, _ in ranker.steps[:-1]]
        ranker.set_params(**{name: 1 for name in threads if given.get(name, 1) is None})
    return ranker


def parameter(ranker: object, names: tuple[str, ...]) -> list[str]:
    """Return the one of these names of a parameter that is set, or the first, or nothing.

    In a pipeline they are those of the last step. CatBoost refuses two names of one parameter, and
    its `get_params` returns only parameters that are set, so the signature is read too.
    """
    last = last_step(ranker)
    given, taken = last.get_params(), inspect.signature(type(last)).parameters
    known = [name for name in names if name in given or name in taken]
    known.sort(key=lambda name: given.get(name) is None)
    return [prefix(ranker) + name for name in known[:1]]


# --- descriptions ---------------------------------------------------------------------------------


def describe(ranker: object) -> str:
    """Return the class and the parameters of a ranker; of a pipeline those of its steps.

    Parameters that are None are left out: XGBoost's rankers have forty.
    """
    if isinstance(ranker, Pipeline):
        return f"Pipeline({', '.join(describe(step) for _, step in ranker.steps)})"
    if not hasattr(ranker, "get_params"):
        return str(ranker)
    params = sorted(ranker.get_params(deep=False).items())
    given = ", ".join(f"{name}={value!r}" for name, value in params if value is not None)
    return f"{type(ranker).__name__}({' '.join(re.sub(r' at 0x[0-9a-f]+', '', given).split())})"


def versions(rankers: Iterable[Any]) -> str:
    """Return the versions of the libraries that define rankers, their parts and functions."""
    names = ["gapboost", "numpy", "scipy", "sklearn"]
    for ranker in rankers:
        parts = [ranker, *(value for _, value in sorted(ranker.get_params(deep=True).items()))]
        origins = [kind for part in parts for kind in type(part).__mro__]
        origins += [part for part in parts if callable(part)]
        names += [str(getattr(origin, "__module__", "")).split(".")[0] for origin in origins]
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    return ", ".join(f"{name} {version}" for name, version in found.items() if version)
