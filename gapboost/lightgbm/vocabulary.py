"""LightGBM's parameters of ranking, and what they mean here."""

from dataclasses import replace
from functools import cache
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.vocabulary import Asked, Entry, Parameters, Vocabulary
from gapboost.measures import as_measure, nDCG

OBJECTIVE_ALIASES = ("objective_type", "app", "application", "loss")

# Its other objective for rankings.
XENDCG = ("rank_xendcg", "xendcg", "xe_ndcg", "xe_ndcg_mart", "xendcg_mart")

# Its measures of rankings.
METRICS = {
    **dict.fromkeys(("ndcg", "lambdarank", *XENDCG), "ndcg"),
    **dict.fromkeys(("map", "mean_average_precision"), "map"),
}


def _several(value: Any) -> list[Any]:
    """The values of a parameter that takes several; in a text, as of its configuration files, commas divide them."""
    values: list[Any] = value.split(",") if isinstance(value, str) else np.atleast_1d(value).tolist()
    return values


def _objective(asked: Asked, value: Any, given: Parameters) -> Asked:
    return asked.measured_by("ndcg") if value in XENDCG else asked


def _gains(asked: Asked, value: Any, given: Parameters) -> Asked:
    gains = tuple(float(gain) for gain in _several(value))
    metrics = (replace(m, gains=gains) if isinstance(m, nDCG) and m.gains is None else m for m in asked.metrics)
    return replace(asked.with_measure(gains=gains), metrics=tuple(metrics))


def _metrics(asked: Asked, value: Any, given: Parameters) -> Asked:
    names = [str(name).strip() for name in _several(value)]
    named = [as_measure(METRICS[name]) for name in names if name in METRICS]
    return replace(asked, metrics=(*named, *asked.metrics))


def _cut_offs(asked: Asked, value: Any, given: Parameters) -> Asked:
    try:
        ranks = [int(k) for k in _several(value)]
    except (TypeError, ValueError):
        ranks = [10]  # what is to be written is told all the same
    return asked.cut_off(ranks)


# Those of its objective alone: its metrics go by the others too.
LAMBDARANK = (
    Entry(
        ("lambdarank_truncation_level",),
        lambda asked, k, _: asked.with_measure(k=int(k)),
        'the measure has its own cut-off, as in measure="ndcg@10"',
    ),
    Entry(
        ("lambdarank_norm",),
        lambda asked, norm, _: asked if norm else asked.with_lambdarank(normalize=False),
        "the gradients of a query are scaled unless objective is a value with normalize=False",
    ),
    Entry(
        ("sigmoid",),
        lambda asked, sigma, _: asked.with_lambdarank(sigma=float(sigma)),
        "it is 1 unless objective is a value with another sigma",
    ),
)

BAGGING_BY_QUERY = Entry(
    ("bagging_by_query",),
    why="with a custom objective LightGBM draws an empty bag and trains nothing. subsample with subsample_freq bags rows",
    taken=lambda value: not value,
)

ENTRIES = (
    Entry(
        ("objective",),
        _objective,
        "measure says what to train for",
        taken=lambda value: not isinstance(value, str) or value not in XENDCG,
    ),
    Entry(OBJECTIVE_ALIASES, _objective, "measure and objective say what to train for"),
    *LAMBDARANK,
    Entry(("objective_seed",), why="what is drawn for gradients, the order of tied documents, follows random_state"),
    Entry(
        ("metric", "metrics", "metric_types"),
        _metrics,
        "the measure that is trained for is reported, and those that eval_metric names",
    ),
    Entry(("eval_at", "ndcg_eval_at", "ndcg_at", "map_eval_at", "map_at"), _cut_offs, "eval_metric has the cut-offs"),
    # The gains of the measures above too.
    Entry(("label_gain",), _gains, "nDCG and DCG alone have gains, as in measure=gapboost.nDCG(gains=(0, 1, 3))"),
    Entry(
        ("boosting", "boost", "boosting_type"),
        why="LightGBM's random forests take no custom objective, gbdt, dart and goss do",
        taken=lambda value: value not in ("rf", "random_forest"),
    ),
    BAGGING_BY_QUERY,
    Entry(("class_weight",), why="weights of rows would vary within a query"),
    # An argument of `fit` too, and one of its parameters all the same.
    Entry(("categorical_feature",), taken=lambda value: True),
)


@cache
def known() -> frozenset[str]:
    """Every parameter of the installed LightGBM, aliases included."""
    aliases = lightgbm.basic._ConfigAliases._get_all_param_aliases()
    return frozenset(name for names in aliases.values() for name in names)


LIGHTGBM = Vocabulary("LightGBM", ENTRIES, known)

# What `lightgbm.train` would ignore beside our objective. Its own metrics go by the other parameters.
BESIDE_OBJECTIVE = Vocabulary("LightGBM", (*LAMBDARANK, BAGGING_BY_QUERY), known)
