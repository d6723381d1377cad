"""Parameters of LightGBM's own ranking objectives and metrics, and what replaces them."""

from collections.abc import Mapping
from typing import Any

from gapboost._boosters.migration import (
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
from gapboost.lightgbm import _compat

# These sample queries, or rows by their label.
SAMPLING = (
    *("bagging_by_query", "neg_bagging", "neg_bagging_fraction", "neg_sub_row", "neg_subsample"),
    *("pos_bagging", "pos_bagging_fraction", "pos_sub_row", "pos_subsample"),
)

OF_OBJECTIVES: Replacements = {
    "label_gain": lambda value: f"measure={ndcg(value)}, or leave it out to train for GAP",
    "lambdarank_norm": normalization,
    "lambdarank_truncation_level": first_ranks,
    "sigmoid": lambda value: f'gb.LambdaRank("gap", sigma={value!r}) as the objective',
    **dict.fromkeys(SAMPLING, "leave it out; subsample and subsample_freq=1 sample rows"),
}

OBJECTIVES = _compat.aliases("objective") - {"objective"}
METRICS = _compat.aliases("metric") | {"eval_metric"}
CUTOFFS = _compat.aliases("eval_at")


def _categorical(value: object) -> str | None:
    """Return what replaces names of columns: LightGBM's parameter takes positions."""
    text = value.removeprefix("name:").split(",") if isinstance(value, str) else []
    several = value if isinstance(value, list | tuple) else text
    names = [one for one in several if isinstance(one, str) and not one.strip().isdigit()]
    return f"categorical_feature={names} in fit" if names else None


def _boosting(value: object) -> str | None:
    is_forest = value in ("rf", "random_forest")
    return "leave it out: LightGBM's random forests take no custom objective" if is_forest else None


REPLACEMENTS: Replacements = {
    "objective": pairwise,
    **{name: new for name, new in OF_OBJECTIVES.items() if name not in ("label_gain", "sigmoid")},
    **dict.fromkeys(_compat.aliases("categorical_feature"), _categorical),
    **dict.fromkeys(_compat.aliases("boosting"), _boosting),
    **CATBOOST,
    "objective_seed": renamed("random_state"),
    **dict.fromkeys(("class_weight", "scale_pos_weight"), WEIGHTS),
    **dict.fromkeys(_compat.aliases("is_unbalance"), WEIGHTS),
    # LightGBM prefers the names that its ranker lists with a default.
    **{name: renamed(listed) for name, listed in _compat.overruled().items()},
}

# What replaces the names that a misspelt one may mean.
OF_TYPOS = {**REPLACEMENTS, **OF_OBJECTIVES}


def _verbose(rounds: object) -> str:
    """Return what replaces `verbose` of `fit` of earlier versions, a number of rounds."""
    if isinstance(rounds, int) and rounds > 0:
        return f"callbacks=[lightgbm.log_evaluation({int(rounds)})] in fit"
    return "verbose=-1 in the constructor"


OF_FIT = {**REPLACEMENTS, **dict.fromkeys(("verbose", "verbose_eval"), _verbose)}


def of_training(ranker: object, given: Mapping[str, Any]) -> list[Foreign]:
    """Return what replaces the parameters that choose an objective of LightGBM."""
    measure = of_objective(ranker)
    names = [*OBJECTIVES, "label_gain", "sigmoid", *(["objective"] if measure else [])]
    found = {name: given[name] for name in names if given.get(name) is not None}
    if not found:
        return []
    if any("rank" in str(found.get(name)) for name in OBJECTIVES):
        measure = "'ndcg'"
    if "label_gain" in found and measure != "'ap'":
        measure = ndcg(found["label_gain"], cutoff(ranker))
    return trained_for(ranker, found, measure, found.get("sigmoid"))


def of_metrics(
    given: Mapping[str, Any], eval_metric: object = None, eval_at: object = None
) -> list[Foreign]:
    """Return one replacement for metrics and cutoffs of the constructor and of `fit`.

    As in LightGBM, the metrics of both are reported, at the cutoffs of the constructor if it has
    some, and nDCG has the gains of labels. Without names the metric is nDCG.
    """
    found = {n: given[n] for n in sorted(METRICS | CUTOFFS) if given.get(n) is not None}
    gains = given.get("label_gain")
    if not found and eval_at is None and not take_gains(listed_metrics(eval_metric), gains):
        return []
    of_fit = {"eval_metric": eval_metric, "eval_at": eval_at}
    of_constructor = _compat.value_of("metric", found)
    if isinstance(of_constructor, str):
        of_constructor = [name for name in of_constructor.split(",") if name]
    several = (eval_metric, of_constructor, found.get("eval_metric"))
    metrics = [metric for each in several for metric in listed_metrics(each)]
    cutoffs = _compat.value_of("eval_at", found)
    if not metrics and not METRICS & found.keys():
        metrics = ["ndcg"]
    names = ", ".join(metrics_at(metrics, eval_at if cutoffs is None else cutoffs, gains))
    new = f"eval_metric=[{names}] in fit" if names else "leave it out"
    return together(found, new, {n: v for n, v in of_fit.items() if v is not None})
