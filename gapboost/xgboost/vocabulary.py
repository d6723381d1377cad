"""XGBoost's parameters of ranking, and what they mean here."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.asked import Asked
from gapboost._boosters.callbacks import as_metrics
from gapboost._boosters.vocabulary import Entry, Parameters, Vocabulary
from gapboost.measures.ndcg import CumulatedGain

# Its objectives that are LambdaRank for a measure.
OBJECTIVES = {"rank:ndcg": "ndcg", "rank:map": "map"}

# It has pairs without the change of a measure.
PAIRWISE = "rank:pairwise"

# Together they use every part of XGBoost that has parameters of its own.
SETTINGS: tuple[dict[str, str], ...] = (
    {"objective": "rank:ndcg"},
    {"booster": "dart"},
    {"booster": "gblinear", "updater": "coord_descent"},
    {"tree_method": "approx"},
    {"tree_method": "exact"},
)


# Its own names of parameters that the constructor of XGBRanker calls otherwise; there all of these default to None.
ALIASES = {
    "alpha": "reg_alpha",
    "eta": "learning_rate",
    "lambda": "reg_lambda",
    "min_split_loss": "gamma",
    "nthread": "n_jobs",
    "seed": "random_state",
}


def _objective(asked: Asked, name: Any, given: Parameters) -> Asked:
    return asked.measured_by(OBJECTIVES[name])


def _pairwise(asked: Asked, name: Any, given: Parameters) -> Asked:
    return asked.measured_by("pairwiseaccuracy") if name == PAIRWISE else asked


def _pairs(asked: Asked, n: Any, given: Parameters) -> Asked:
    if given.get("lambdarank_pair_method", "topk") != "topk":
        raise ValueError("it is a number of pairs to draw")
    return asked.with_lambdarank(truncation=n)


def _pair_method(asked: Asked, method: Any, given: Parameters) -> Asked:
    if method != "topk" or given.get("lambdarank_num_pair_per_sample") is None:
        raise ValueError("pairs are not drawn, and all count unless a number is told")
    return asked


def _gains(asked: Asked, exponential: Any, given: Parameters) -> Asked:
    if not isinstance(asked.objective.measure, CumulatedGain):
        raise TypeError(f"{asked.objective.measure!r} has no gains")
    return _gains_instead(asked, exponential, given)


def _gains_instead(asked: Asked, exponential: Any, given: Parameters) -> Asked:
    return asked.with_gains(None if exponential else "linear")


def _normalization(asked: Asked, normalize: Any, given: Parameters) -> Asked:
    if normalize:
        raise ValueError("XGBoost scales gradients by another sum")
    return asked.with_lambdarank(normalize=False)


def _off(asked: Asked, value: Any, given: Parameters) -> Asked:
    if value:
        raise ValueError("it is turned on")
    return asked


def _reported(asked: Asked, names: Any, given: Parameters) -> Asked:
    return replace(asked, metrics=tuple(dict.fromkeys((*as_metrics(spelled(names)), *asked.metrics))))


def spelled(names: Any) -> Any:
    """Translate XGBoost's names of metrics; return what is not a name as it is."""
    # A minus at the end counts queries without relevant documents as 0, as all measures here do.
    # XGBoost divides map@k by min(k, R), where R is the number of relevant documents.
    if isinstance(names, str):
        return names.removesuffix("-").replace("pre@", "p@").replace("map@", "ap(ideal_at_k=True)@")
    return [spelled(name) for name in names] if isinstance(names, list | tuple) else names


OBJECTIVE = Entry(
    ("objective",),
    _objective,
    _pairwise,
    "measure says what to train for",
    passed_on=lambda value: not isinstance(value, str) or value not in (*OBJECTIVES, PAIRWISE),
)

# Of the rankers it is a parameter of their own.
EVAL_METRIC = Entry(("eval_metric",), _reported, why="it is an argument of cv")

ENTRIES = (
    OBJECTIVE,
    Entry(
        ("lambdarank_num_pair_per_sample",),
        _pairs,
        why="with topk it is the truncation of LambdaRank, a whole number >= 1; pairs are never drawn",
    ),
    Entry(
        ("lambdarank_pair_method",),
        _pair_method,
        why="all pairs of documents of a query count, and with topk those that lambdarank_num_pair_per_sample then tells",
    ),
    Entry(
        ("lambdarank_normalization",),
        _normalization,
        why="XGBoost sums S of its scale log2(1 + S) / S over pairs. normalize of LambdaRank, on unless you turn it off, "
        "sums S over documents",
    ),
    Entry(("lambdarank_score_normalization",), _off, why="changes are not divided by differences of scores"),
    Entry(("lambdarank_unbiased",), _off, why="fit learns factors of positions where position= tells them"),
    Entry(("lambdarank_bias_norm",), why="fit learns factors of positions where position= tells them"),
    Entry(
        ("ndcg_exp_gain",),
        _gains,
        _gains_instead,
        'nDCG and DCG alone have gains, as in measure="ndcg(gains=linear)"',
    ),
    Entry(
        ("scale_pos_weight",),
        why="only XGBoost's objectives for classes use it; sample_weight weighs queries and documents",
        passed_on=lambda value: value == 1,
    ),
    # XGBoost reports none of its own beside ours, whatever it says.
    Entry(("disable_default_eval_metric",), lambda asked, off, _: asked),
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


XGBOOST = Vocabulary(
    "XGBoost",
    ENTRIES,
    known,
    passed_on_by="validate_parameters",
    objectives=OBJECTIVES,
    aliases=lambda: ALIASES,
    defaults=lambda: dict.fromkeys(ALIASES.values()),
)
