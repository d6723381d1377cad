"""Parameters of XGBoost's own ranking objectives and metrics, and what replaces them."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.checks import ROUNDS
from gapboost._boosters.migration import (
    ALL_PAIRS,
    CATBOOST,
    WEIGHTS,
    Foreign,
    Replacements,
    cutoff,
    first_ranks,
    listed_metrics,
    metrics_at,
    ndcg,
    normalization,
    of_objective,
    pairwise,
    renamed,
    take_gains,
    together,
    trained_for,
)


def _metrics(metrics: list[Any], cutoffs: object = None, gains: object = None) -> str:
    names = metrics_at(metrics, cutoffs, gains)
    return f"eval_metric=[{', '.join(names)}]" if names else "leave it out"


CATEGORIES = "enable_categorical=True, and columns of pandas' type category"

REPLACEMENTS: Replacements = {
    "objective": pairwise,
    "lambdarank_pair_method": ALL_PAIRS,
    "lambdarank_num_pair_per_sample": first_ranks,
    "lambdarank_normalization": normalization,
    "lambdarank_score_normalization": normalization,
    "lambdarank_unbiased": lambda value: "position=... in fit" if value else "leave it out",
    "lambdarank_bias_norm": "leave it out; lambdarank_position_bias_regularization limits factors",
    "ndcg_exp_gain": lambda value: "leave it out" if value else None,
    "scale_pos_weight": WEIGHTS,
    **dict.fromkeys(ROUNDS, renamed("n_estimators")),
    **CATBOOST,
    "random_seed": renamed("random_state"),
    # LightGBM's and CatBoost's
    "lambdarank_norm": normalization,
    "lambdarank_truncation_level": first_ranks,
    "eval_at": lambda value: _metrics(["ndcg"], value),
    "metric": lambda value: _metrics([value] if isinstance(value, str) else [*value]),
    **dict.fromkeys(("cat_feature", "cat_features", "categorical_feature"), CATEGORIES),
}


def _gains(given: Mapping[str, Any]) -> Any:
    """Return the gains of nDCG that the parameters ask for, or None."""
    linear = given.get("ndcg_exp_gain")
    by_name = "linear" if linear is not None and not linear else None
    return by_name if given.get("label_gain") is None else given["label_gain"]


def of_measures(ranker: object, given: Mapping[str, Any]) -> list[Foreign]:
    """Return what replaces parameters of objectives of XGBoost and LightGBM, and gains of nDCG."""
    found = {name: given.get(name) for name in ("label_gain", "sigmoid")}
    measure, gains, linear = of_objective(ranker), _gains(given), given.get("ndcg_exp_gain")
    if measure:
        found["objective"] = given["objective"]
    if linear is not None and not linear:
        found["ndcg_exp_gain"] = linear
    if gains is not None and measure != "'ap'":
        measure = ndcg(gains, cutoff(ranker))
    of_training = trained_for(ranker, found, measure, found["sigmoid"])
    if gains is None or not take_gains(metrics := listed_metrics(given["eval_metric"]), gains):
        return of_training
    of_metrics = together({"eval_metric": given["eval_metric"]}, _metrics(metrics, gains=gains))
    return [*of_training, *of_metrics]


@cache
def parameter_names() -> frozenset[str]:
    """Return the names in XGBoost's configuration; there are parameters beside them."""
    data = xgboost.DMatrix(np.zeros((1, 1)), [0.0])
    boosters = [xgboost.Booster({"booster": name}, [data]) for name in ("dart", "gblinear")]
    configured = [name for one in boosters for name in _keys(json.loads(one.save_config()))]
    return frozenset(configured)


def _keys(configuration: object) -> Iterator[str]:
    """Yield the keys of nested objects of json."""
    if isinstance(configuration, dict):
        for name, value in configuration.items():
            yield name
            yield from _keys(value)
