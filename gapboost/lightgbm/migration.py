"""Parameters of LightGBM's own ranking objectives and metrics, and what replaces them."""

from collections.abc import Iterable

from gapboost._boosters.migration import ALL_PAIRS, WEIGHTS, Replacements, at_cutoffs, renamed
from gapboost.lightgbm import _compat

# These sample queries, or rows by their label.
SAMPLING = (
    *("bagging_by_query", "neg_bagging", "neg_bagging_fraction", "neg_sub_row", "neg_subsample"),
    *("pos_bagging", "pos_bagging_fraction", "pos_sub_row", "pos_subsample"),
)


def _gains(value: Iterable[float]) -> str:
    return f"measure=gb.nDCG(gains={tuple(value)!r}), or leave it out to train for GAP"


OF_OBJECTIVES: Replacements = {
    "label_gain": _gains,
    "lambdarank_norm": "leave it out",
    "lambdarank_truncation_level": f'{ALL_PAIRS}; measure="ndcg@10" trains for the first ranks',
    "sigmoid": lambda value: f'objective=gb.LambdaRank("gap", sigma={value!r})',
    **dict.fromkeys(SAMPLING, "subsample and subsample_freq, which sample rows"),
}


def _metric(value: object) -> str:
    return "leave it out" if value in ("None", "none", "") else f"eval_metric={value!r} in fit"


def _objective(value: object) -> str | None:
    """Return what replaces an objective; "lambdarank" is the name of one of ours too."""
    return 'measure="ndcg"' if isinstance(value, str) and "xe" in value else None


REPLACEMENTS: Replacements = {
    **OF_OBJECTIVES,
    "objective": _objective,
    **dict.fromkeys(_compat.aliases("objective") - {"objective"}, "objective=... or measure=..."),
    **dict.fromkeys(_compat.aliases("eval_at"), at_cutoffs),
    **dict.fromkeys(_compat.aliases("metric"), _metric),
    "objective_seed": renamed("random_state"),
    **dict.fromkeys(("class_weight", "scale_pos_weight"), WEIGHTS),
    **dict.fromkeys(_compat.aliases("is_unbalance"), WEIGHTS),
    # LightGBM prefers the names that its ranker lists with a default.
    **{name: renamed(listed) for name, listed in _compat.overruled().items()},
}
