"""Parameters of XGBoost's own ranking objectives and metrics, and what replaces them."""

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import xgboost

from gapboost._boosters.migration import (
    ALL_PAIRS,
    CATBOOST,
    ROUNDS,
    WEIGHTS,
    Replacements,
    cutoffs,
    first_ranks,
    gains_of_ndcg,
    metrics,
    normalization,
    objective,
    renamed,
    steepness,
)

CATEGORIES = "enable_categorical=True, and columns of pandas' type category"

REPLACEMENTS: Replacements = {
    "objective": objective,
    "lambdarank_pair_method": ALL_PAIRS,
    "lambdarank_num_pair_per_sample": first_ranks,
    "lambdarank_normalization": normalization,
    "lambdarank_score_normalization": normalization,
    "lambdarank_unbiased": lambda value: "position=... in fit" if value else "leave it out",
    "lambdarank_bias_norm": "leave it out; lambdarank_position_bias_regularization limits factors",
    "ndcg_exp_gain": lambda value: "leave it out" if value else gains_of_ndcg("linear"),
    "scale_pos_weight": WEIGHTS,
    **dict.fromkeys(ROUNDS, renamed("n_estimators")),
    **CATBOOST,
    "random_seed": renamed("random_state"),
    # LightGBM's and CatBoost's
    "label_gain": gains_of_ndcg,
    "lambdarank_norm": normalization,
    "lambdarank_truncation_level": first_ranks,
    "sigmoid": steepness,
    "eval_at": cutoffs,
    "metric": metrics,
    **dict.fromkeys(("cat_feature", "cat_features", "categorical_feature"), CATEGORIES),
}


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
