"""Rankers to compare: the standard rankers of the installed libraries, or those of the caller."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from sklearn.pipeline import Pipeline

from gapboost._data.arguments import one_of, ordered, shown
from gapboost.comparison.estimators import unfitted
from gapboost.preprocessing import QueryRelativeFeatures
from gapboost.preprocessing.pipeline import last_step, library_of

XGBOOST_OBJECTIVES = ("rank:ndcg", "rank:pairwise", "rank:map")
METHODS = ("fit", "predict", "get_params", "set_params")


def standard_rankers(*, query_features: bool = False) -> dict[str, Any]:
    """Return the default rankers of `compare_rankers`, some of each installed library.

    LightGBM's ``lambdarank``, ``rank_xendcg`` and regression on grades, XGBoost's ``rank:ndcg``,
    ``rank:pairwise`` and ``rank:map``, CatBoost's ``YetiRank`` and ``QueryRMSE``, and gapboost's
    rankers for GAP on LightGBM and XGBoost. Their parameters are the defaults, except that they
    print nothing.

    Parameters
    ----------
    query_features : bool, default=False
        If True, each ranker is followed by a pipeline with query-relative features, such as
        "LightGBM GAP with query features". Its steps are "features", a
        `gapboost.preprocessing.QueryRelativeFeatures`, and "ranker".

    Returns
    -------
    dict {name: ranker}

    Raises
    ------
    ImportError
        If none of the three libraries is installed.
    ValueError
        If `query_features` is neither True nor False.

    Examples
    --------
    >>> from gapboost.comparison import standard_rankers
    >>> "LightGBM lambdarank" in standard_rankers()
    True
    >>> "LightGBM lambdarank with query features" in standard_rankers(query_features=True)
    True
    """
    one_of(query_features, "query_features", (True, False))
    rankers: dict[str, Any] = {}
    if find_spec("lightgbm"):
        import lightgbm

        from gapboost.lightgbm import LGBMGAPRanker

        rankers |= {
            "LightGBM lambdarank": lightgbm.LGBMRanker(verbose=-1),
            "LightGBM rank_xendcg": lightgbm.LGBMRanker(objective="rank_xendcg", verbose=-1),
            "LightGBM regression": lightgbm.LGBMRegressor(verbose=-1),
            "LightGBM GAP": LGBMGAPRanker(verbose=-1),
        }
    if find_spec("xgboost"):
        import xgboost

        from gapboost.xgboost import XGBGAPRanker

        rankers |= {
            f"XGBoost {name}": xgboost.XGBRanker(objective=name) for name in XGBOOST_OBJECTIVES
        }
        rankers["XGBoost GAP"] = XGBGAPRanker()
    if find_spec("catboost"):
        from catboost import CatBoostRanker

        quiet = {"verbose": False, "allow_writing_files": False}
        rankers |= {
            f"CatBoost {loss}": CatBoostRanker(loss_function=loss, **quiet)
            for loss in ("YetiRank", "QueryRMSE")
        }
    if not rankers:
        raise ImportError(
            "none of lightgbm, xgboost and catboost is installed; expected one: pip install "
            "'gapboost[lightgbm,xgboost]'"
        )
    if not query_features:
        return rankers
    both: dict[str, Any] = {}
    for name, ranker in rankers.items():
        steps = [("features", QueryRelativeFeatures()), ("ranker", unfitted(ranker))]
        both |= {name: ranker, f"{name} with query features": Pipeline(steps)}
    return both


def checked_rankers(rankers: Any, leave_out: Any) -> dict[str, Any]:
    """Return the rankers, None for the standard ones, without those of `leave_out`.

    Raises
    ------
    TypeError
        If `rankers` is not a mapping from names, or a ranker lacks a method of estimators.
    ValueError
        If fewer than two rankers are left, or `leave_out` holds an unknown name.
    """
    if rankers is None:
        rankers = standard_rankers()
    if not isinstance(rankers, Mapping) or not all(
        isinstance(name, str) and name for name in rankers
    ):
        raise TypeError(
            f"rankers is {shown(rankers)}; expected {{name: ranker}}, or None for the standard "
            "field"
        )
    for name, ranker in rankers.items():
        for part in (ranker, last_step(ranker)):
            lacks = [method for method in METHODS if not hasattr(part, method)]
            if lacks or isinstance(part, type):
                found = f"without {', '.join(lacks)}" if lacks else f"the class {part.__name__}"
                raise TypeError(
                    f"rankers holds {name!r}: {shown(part)}, {found}; expected an estimator with "
                    f"{', '.join(METHODS)}"
                )
    if not ordered(leave_out) or not all(isinstance(name, str) for name in leave_out):
        raise TypeError(f"leave_out is {leave_out!r}; expected a list of names of rankers")
    unknown = [name for name in leave_out if name not in rankers]
    if unknown:
        raise ValueError(f"leave_out names {unknown[0]!r}; expected some of {', '.join(rankers)}")
    left = {name: ranker for name, ranker in rankers.items() if name not in leave_out}
    if len(left) < 2:
        raise ValueError(f"rankers holds {list(left)}; expected at least two rankers to compare")
    return left


def check_trees(rankers: Mapping[str, Any]) -> None:
    """Raise ValueError if the number of trees of a ranker cannot be chosen."""
    for name, ranker in rankers.items():
        if not library_of(ranker):
            raise ValueError(
                f"choose_trees is True but {name!r} of rankers is a "
                f"{type(last_step(ranker)).__name__}; expected rankers of LightGBM, XGBoost or "
                f"CatBoost, or leave_out=[{name!r}]"
            )
