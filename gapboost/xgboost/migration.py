"""Parameters of XGBoost's own ranking objectives and metrics, and what replaces them."""

from typing import Any

from gapboost._boosters.migration import ALL_PAIRS, WEIGHTS, Replacements

OBJECTIVES = {
    "rank:ndcg": 'measure="ndcg"',
    "rank:map": 'measure="ap"',
    "rank:pairwise": 'objective="ranknet"',
}


def _objective(value: Any) -> str | None:
    return OBJECTIVES.get(value) if isinstance(value, str) else None


def _gains(exponential: Any) -> str:
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
