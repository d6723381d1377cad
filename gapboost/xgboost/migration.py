"""Parameters of XGBoost's own ranking objectives and metrics, and what replaces them."""

import json
from collections.abc import Iterator
from functools import cache

import numpy as np
import xgboost

from gapboost._boosters.migration import ALL_PAIRS, WEIGHTS, Replacements

OBJECTIVES = {
    "rank:ndcg": 'measure="ndcg"',
    "rank:map": 'measure="ap"',
    "rank:pairwise": 'objective="ranknet"',
}


def _objective(value: object) -> str | None:
    return OBJECTIVES.get(value) if isinstance(value, str) else None


def _gains(exponential: object) -> str:
    return "leave it out" if exponential else 'measure=gb.nDCG(gains="linear")'


REPLACEMENTS: Replacements = {
    "objective": _objective,
    "lambdarank_pair_method": ALL_PAIRS,
    "lambdarank_num_pair_per_sample": ALL_PAIRS,
    "lambdarank_normalization": "leave it out",
    "lambdarank_score_normalization": "leave it out",
    "lambdarank_unbiased": "position=... in fit",
    "lambdarank_bias_norm": "lambdarank_position_bias_regularization, with position=... in fit",
    "ndcg_exp_gain": _gains,
    "scale_pos_weight": WEIGHTS,
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
