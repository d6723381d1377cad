"""XGBoost's parameters of ranking, and what they mean here."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.measure_arguments import as_metrics
from gapboost._boosters.parameter_table import ParameterRule, Parameters, ParameterTable
from gapboost._boosters.request import TrainingRequest
from gapboost.measures.gains import CumulatedGain

# It counts pairs alike; XGBoost reports nDCG for it.
PAIRWISE = "rank:pairwise"

# Its objectives, and the measure of each.
OBJECTIVES = {"rank:ndcg": "ndcg", "rank:map": "map", PAIRWISE: "ndcg"}

POSITIONS = (
    "pass position= to fit, the rank at which each document was shown, and fit learns factors of "
    "positions"
)

# Together they use every part of XGBoost that has parameters of its own.
SETTINGS: tuple[dict[str, str], ...] = (
    {"objective": "rank:ndcg"},
    {"booster": "dart"},
    {"booster": "gblinear", "updater": "coord_descent"},
    {"tree_method": "approx"},
    {"tree_method": "exact"},
)


# Its own names of parameters that the constructor of XGBRanker calls otherwise; there all of these
# default to None.
ALIASES = {
    "alpha": "reg_alpha",
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "min_split_loss": "gamma",
    "nthread": "n_jobs",
    "seed": "random_state",
}


def _objective(request: TrainingRequest, name: Any, given: Parameters) -> TrainingRequest:
    if name == PAIRWISE and request.chosen:
        return request.with_ranknet()
    measured = request.measured_by(OBJECTIVES[name])
    return measured.with_ranknet() if name == PAIRWISE else measured


def _pairs(request: TrainingRequest, n: Any, given: Parameters) -> TrainingRequest:
    if given.get("lambdarank_pair_method", "topk") != "topk":
        raise ValueError("it is a number of pairs to draw")
    return request.with_lambdarank(truncation=n)


def _pair_method(request: TrainingRequest, method: Any, given: Parameters) -> TrainingRequest:
    if method != "topk" or given.get("lambdarank_num_pair_per_sample") is None:
        raise ValueError("pairs are not drawn, and all count unless a number is given")
    return request


def _gains(request: TrainingRequest, exponential: Any, given: Parameters) -> TrainingRequest:
    if not isinstance(request.objective.measure, CumulatedGain):
        raise TypeError(f"{request.objective.measure!r} has no gains")
    return _gains_instead(request, exponential, given)


def _gains_instead(
    request: TrainingRequest, exponential: Any, given: Parameters
) -> TrainingRequest:
    return request.with_gains(None if exponential else "linear")


def _normalization(request: TrainingRequest, normalize: Any, given: Parameters) -> TrainingRequest:
    if normalize:
        raise ValueError("XGBoost scales gradients by another sum")
    return request.with_lambdarank(normalize=False)


def _off(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    if value:
        raise ValueError("it is turned on")
    return request


def _reported(request: TrainingRequest, names: Any, given: Parameters) -> TrainingRequest:
    return replace(
        request, metrics=tuple(dict.fromkeys((*as_metrics(spelled(names)), *request.metrics)))
    )


def spelled(names: Any) -> Any:
    """Translate XGBoost's names of metrics; return other values unchanged."""
    # A minus at the end counts queries without relevant documents as 0, as all measures here do.
    # XGBoost divides map@k by min(k, R), where R is the number of relevant documents.
    if isinstance(names, str):
        return names.removesuffix("-").replace("pre@", "p@").replace("map@", "ap(ideal_at_k=True)@")
    return [spelled(name) for name in names] if isinstance(names, list | tuple) else names


OBJECTIVE = ParameterRule(
    ("objective",),
    _objective,
    why="measure says what to train for",
    passed_on=lambda value: not isinstance(value, str) or value not in OBJECTIVES,
)

# Of the rankers it is a parameter of their own.
EVAL_METRIC = ParameterRule(("eval_metric",), _reported, why="it is an argument of cv")

ENTRIES = (
    OBJECTIVE,
    ParameterRule(
        ("lambdarank_num_pair_per_sample",),
        _pairs,
        why="with topk it is the truncation of LambdaRank, a whole number >= 1; pairs are never "
        "drawn",
    ),
    ParameterRule(
        ("lambdarank_pair_method",),
        _pair_method,
        why="all pairs of documents of a query count, unless topk and "
        "lambdarank_num_pair_per_sample truncate them",
    ),
    ParameterRule(
        ("lambdarank_normalization",),
        _normalization,
        why="XGBoost sums S of its scale log2(1 + S) / S over pairs. normalize of LambdaRank, on "
        "unless you turn it off, "
        "sums S over documents",
    ),
    ParameterRule(
        ("lambdarank_score_normalization",),
        _off,
        why="changes are not divided by differences of scores",
    ),
    ParameterRule(("lambdarank_unbiased",), _off, why=POSITIONS),
    ParameterRule(("lambdarank_bias_norm",), why=POSITIONS),
    ParameterRule(
        ("ndcg_exp_gain",),
        _gains,
        _gains_instead,
        'nDCG and DCG alone have gains, as in measure="ndcg(gains=linear)"',
    ),
    ParameterRule(
        ("scale_pos_weight",),
        why="only XGBoost's objectives for classes use it; sample_weight weighs queries and "
        "documents",
        passed_on=lambda value: value == 1,
    ),
    # XGBoost reports no metric of its own here, whatever the value.
    ParameterRule(("disable_default_eval_metric",), lambda request, off, _: request),
)


@cache
def known() -> frozenset[str]:
    """Return every parameter and alias of the installed XGBoost, from its configuration."""
    names = {"eval_metric", *xgboost.get_config()}
    with xgboost.config_context(verbosity=0):
        data = xgboost.DMatrix(np.zeros((1, 1)), label=[0], qid=[0], nthread=1)
        for setting in SETTINGS:
            names.update(
                _names(json.loads(xgboost.Booster({"nthread": 1, **setting}, [data]).save_config()))
            )
    return frozenset(names)


def _names(config: Any, inside: str = "") -> Iterator[str]:
    """The keys of all dictionaries of parameters."""
    if isinstance(config, list):
        for part in config:
            yield from _names(part)
    elif isinstance(config, dict):
        if inside.endswith("_param"):
            yield from config
        for key, part in config.items():
            yield from _names(part, key)


XGBOOST = ParameterTable(
    "XGBoost",
    ENTRIES,
    known,
    passed_on_by="validate_parameters",
    objectives=OBJECTIVES,
    aliases=lambda: ALIASES,
    defaults=lambda: dict.fromkeys(ALIASES.values()),
)
