"""Parameters of LightGBM's own ranking objectives and metrics, and what replaces them."""

from gapboost._boosters.migration import (
    CATBOOST,
    OBJECTIVES,
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
from gapboost.lightgbm import _compat

# These sample queries, or rows by their label.
SAMPLING = (
    *("bagging_by_query", "neg_bagging", "neg_bagging_fraction", "neg_sub_row", "neg_subsample"),
    *("pos_bagging", "pos_bagging_fraction", "pos_sub_row", "pos_subsample"),
)

OF_OBJECTIVES: Replacements = {
    "label_gain": gains_of_ndcg,
    "lambdarank_norm": normalization,
    "lambdarank_truncation_level": first_ranks,
    "sigmoid": steepness,
    **dict.fromkeys(SAMPLING, "leave it out; subsample and subsample_freq=1 sample rows"),
}


def _objective_alias(value: object) -> str:
    return OBJECTIVES.get(str(value), "leave it out")


def _cutoffs(value: object) -> str:
    return f"{cutoffs(value)} in fit, and likewise for other metrics"


def _metrics(value: object) -> str:
    new = metrics(value)
    return new if new == "leave it out" else f"{new} in fit"


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
    **OF_OBJECTIVES,
    **dict.fromkeys(_compat.aliases("objective"), _objective_alias),
    "objective": objective,
    **dict.fromkeys(_compat.aliases("metric"), _metrics),
    **dict.fromkeys(_compat.aliases("eval_at"), _cutoffs),
    **dict.fromkeys(_compat.aliases("categorical_feature"), _categorical),
    **dict.fromkeys(_compat.aliases("boosting"), _boosting),
    **CATBOOST,
    "objective_seed": renamed("random_state"),
    **dict.fromkeys(("class_weight", "scale_pos_weight"), WEIGHTS),
    **dict.fromkeys(_compat.aliases("is_unbalance"), WEIGHTS),
    # LightGBM prefers the names that its ranker lists with a default.
    **{name: renamed(listed) for name, listed in _compat.overruled().items()},
}

VERBOSE = "verbose=-1 in the constructor, or callbacks=[lightgbm.log_evaluation()] in fit"
OF_FIT: Replacements = {**REPLACEMENTS, **dict.fromkeys(("verbose", "verbose_eval"), VERBOSE)}
