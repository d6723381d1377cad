"""XGBoost's parameters of ranking, and what they mean here."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.callbacks import as_metrics
from gapboost._boosters.vocabulary import Asked, Entry, Parameters, Vocabulary

OBJECTIVES = {"rank:ndcg": "ndcg", "rank:map": "map", "rank:pairwise": "pairwiseaccuracy"}

# Together they use every part of XGBoost that has parameters of its own.
SETTINGS: tuple[dict[str, str], ...] = (
    {"objective": "rank:ndcg"},
    {"booster": "dart"},
    {"booster": "gblinear", "updater": "coord_descent"},
    {"tree_method": "approx"},
    {"tree_method": "exact"},
)


def _pairs(asked: Asked, n: Any, given: Parameters) -> Asked:
    # With another method it is a number of pairs to draw.
    return asked.with_measure(k=int(n)) if given.get("lambdarank_pair_method", "topk") == "topk" else asked


def _gains(asked: Asked, exponential: Any, given: Parameters) -> Asked:
    return asked if exponential else asked.with_measure(gains="linear")


def _metrics(asked: Asked, value: Any, given: Parameters) -> Asked:
    names = [value] if isinstance(value, str) else value
    # A minus at the end of XGBoost's names is about queries with nothing relevant.
    ours = [n.removesuffix("-").replace("pre@", "p@") if isinstance(n, str) else n for n in names]
    return replace(asked, metrics=tuple(as_metrics(ours)))


def _needs_no_translation(value: Any) -> bool:
    """Whether they are measures here, or have an error of their own."""
    with suppress(TypeError, ValueError):
        as_metrics(value)
        return True
    with suppress(TypeError, ValueError):
        _metrics(Asked(), value, {})
        return False
    return True


ENTRIES = (
    Entry(
        ("objective",),
        lambda asked, name, _: asked.measured_by(OBJECTIVES[name]),
        "measure says what to train for",
        taken=lambda value: not isinstance(value, str) or value not in OBJECTIVES,
    ),
    Entry(("lambdarank_num_pair_per_sample",), _pairs, "all pairs of documents of a query count"),
    Entry(("lambdarank_pair_method",), why="all pairs of documents of a query count"),
    Entry(
        ("lambdarank_normalization",),
        lambda asked, norm, _: asked if norm else asked.with_lambdarank(normalize=False),
        "the gradients of a query are scaled unless objective is a value with normalize=False",
    ),
    Entry(("lambdarank_score_normalization",), why="changes are not divided by differences of scores"),
    Entry(
        ("lambdarank_unbiased", "lambdarank_bias_norm"),
        why="fit learns factors of positions where position= tells them",
    ),
    Entry(("ndcg_exp_gain",), _gains, 'nDCG and DCG alone have gains, as in measure="ndcg(gains=linear)"'),
    Entry(
        ("disable_default_eval_metric",),
        why="the measure that is trained for is reported, and those that eval_metric names",
    ),
    Entry(("eval_metric",), _metrics, taken=_needs_no_translation),
)


@cache
def known() -> frozenset[str]:
    """Every parameter of the installed XGBoost, aliases included: of its configuration, by which it checks names itself."""
    names = {"eval_metric", *xgboost.get_config()}
    with xgboost.config_context(verbosity=0):
        data = xgboost.DMatrix(np.zeros((1, 1)), label=[0], qid=[0], nthread=1)
        for setting in SETTINGS:
            names.update(_names(json.loads(xgboost.Booster({"nthread": 1, **setting}, [data]).save_config())))
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


XGBOOST = Vocabulary("XGBoost", ENTRIES, known, passed_on_by="validate_parameters")
