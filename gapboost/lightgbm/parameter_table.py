"""LightGBM's parameters of ranking, and what they mean here."""

from dataclasses import replace
from functools import cache
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.aliases import defaults_of
from gapboost._boosters.parameter_table import ParameterRule, Parameters, ParameterTable
from gapboost._boosters.request import TrainingRequest
from gapboost._data.arguments import whole
from gapboost.measures import as_measure
from gapboost.measures.gains import CumulatedGain
from gapboost.objectives import LambdaRank

# Its other objective for rankings.
XENDCG = ("rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart")

# Its measures of rankings.
METRICS = {
    **dict.fromkeys(("ndcg", "lambdarank", *XENDCG), "ndcg"),
    **dict.fromkeys(("map", "mean_average_precision"), "map"),
}

# Its words for none of them.
NO_METRIC = ("None", "na", "null", "custom", "")

EVAL_AT = (
    "it takes a list of whole numbers >= 1, at which nDCG and AP are reported; other measures have "
    "their own cut-offs"
)
OF_CLASSES = (
    "only LightGBM's objectives for two classes use it; sample_weight weighs queries and documents"
)


def _several(value: Any) -> list[Any]:
    """Return the values of a parameter that takes several; commas divide them in a text."""
    values: list[Any] = (
        value.split(",") if isinstance(value, str) else np.atleast_1d(value).tolist()
    )
    return values


def _lambdarank(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    if value != "lambdarank" or not isinstance(request.objective, LambdaRank):
        raise ValueError(f"{value!r} is another objective")
    return request


def _xendcg(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    return request.measured_by("ndcg") if value in XENDCG else request


def _norm(request: TrainingRequest, norm: Any, given: Parameters) -> TrainingRequest:
    if norm:
        raise ValueError("it divides by differences of scores too")
    return request.with_lambdarank(normalize=False)


def _gains(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    return request.with_gains(tuple(float(gain) for gain in _several(value)))


def _gains_of_trained(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    if not isinstance(request.objective.measure, CumulatedGain):
        raise TypeError(f"{request.objective.measure!r} has no gains")
    return _gains(request, value, given)


def _metrics(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    names = [name.strip() if isinstance(name, str) else name for name in _several(value)]
    named = [as_measure(METRICS.get(name, name)) for name in names if name not in NO_METRIC]
    return replace(request, metrics=tuple(dict.fromkeys((*named, *request.metrics))))


def _cut_offs(request: TrainingRequest, value: Any, given: Parameters) -> TrainingRequest:
    return request.cut_off([whole(k, "eval_at", 1) for k in map(_number, _several(value))])


def _number(k: Any) -> Any:
    return int(k) if isinstance(k, str) else k


# Those of its objective alone: its metrics go by the others too.
LAMBDARANK = (
    ParameterRule(
        ("lambdarank_truncation_level",),
        lambda request, k, _: request.with_lambdarank(truncation=k),
        why="it is the truncation of LambdaRank, a whole number >= 1, and other objectives have "
        "none",
    ),
    ParameterRule(
        ("lambdarank_norm",),
        _norm,
        why="LightGBM then divides changes by differences of scores, and sums S of its scale "
        "log2(1 + S) / S over pairs. "
        "normalize of LambdaRank, on unless you turn it off, does not divide, and sums S over "
        "documents",
    ),
    ParameterRule(
        ("sigmoid",),
        lambda request, sigma, _: request.with_lambdarank(sigma=sigma),
        why="it is the sigma of LambdaRank, a number > 0, and other objectives have none",
    ),
)

BAGGING_BY_QUERY = ParameterRule(
    ("bagging_by_query",),
    why="with a custom objective LightGBM draws an empty bag and trains nothing. subsample with "
    "subsample_freq bags rows",
    passed_on=lambda value: not value,
)

# `objective` itself is a parameter of the rankers' own.
OBJECTIVE = ParameterRule(
    ("objective_type", "app", "application", "loss"),
    _lambdarank,
    _xendcg,
    "measure and objective say what to train for",
)

ENTRIES = (
    ParameterRule(
        ("objective",),
        suggestion=_xendcg,
        why="measure says what to train for",
        passed_on=lambda value: not isinstance(value, str) or value not in XENDCG,
    ),
    OBJECTIVE,
    *LAMBDARANK,
    ParameterRule(
        ("objective_seed",),
        why="random_state decides the order of tied documents, and nothing else is random here",
    ),
    ParameterRule(
        ("metric", "metrics", "metric_types"),
        _metrics,
        why="the trained measure is reported, and the measures of eval_metric",
    ),
    ParameterRule(
        ("eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"), _cut_offs, why=EVAL_AT
    ),
    # The gains of the measures above too.
    ParameterRule(
        ("label_gain",),
        _gains_of_trained,
        _gains,
        "nDCG and DCG alone have gains, as in measure=gapboost.nDCG(gains=(0, 1, 3))",
    ),
    ParameterRule(
        ("boosting", "boost", "boosting_type"),
        why="LightGBM's random forests take no custom objective, gbdt, dart and goss do",
        passed_on=lambda value: value not in ("rf", "random_forest"),
    ),
    BAGGING_BY_QUERY,
    ParameterRule(("class_weight",), why="sample_weight has the weights of documents"),
    ParameterRule(
        ("is_unbalance", "unbalance", "unbalanced_sets"),
        why=OF_CLASSES,
        passed_on=lambda value: not value,
    ),
    ParameterRule(("scale_pos_weight",), why=OF_CLASSES, passed_on=lambda value: value == 1),
    # An argument of `fit` too, and one of its parameters all the same.
    ParameterRule(("categorical_feature",), passed_on=lambda value: True),
)


@cache
def known() -> frozenset[str]:
    """Return every parameter of the installed LightGBM, with aliases."""
    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    return frozenset(name for names in aliases.values() for name in names)


@cache
def defaults() -> dict[str, Any]:
    """Return the defaults of the constructor; `objective` means something else here."""
    of_vendor = defaults_of(lightgbm.LGBMRanker)
    return {
        **{name: value for name, value in of_vendor.items() if name != "objective"},
        "extra_trees": True,
    }


@cache
def aliases() -> dict[str, str]:
    """Return the name in the constructor for each alias of the installed LightGBM."""
    groups = lightgbm.basic._ConfigAliases._get_all_param_aliases().values()
    return {
        alias: name
        for name in defaults()
        for names in groups
        if name in names
        for alias in names
        if alias != name
    }


LIGHTGBM = ParameterTable("LightGBM", ENTRIES, known, aliases=aliases, defaults=defaults)

# What `lightgbm.train` would ignore beside our objective. Its own metrics go by the other
# parameters.
BESIDE_OBJECTIVE = ParameterTable("LightGBM", (*LAMBDARANK, BAGGING_BY_QUERY), known)
