"""Workarounds for LightGBM 4.6; delete this file with support of that version."""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import lightgbm
import numpy as np
from sklearn.utils.validation import check_is_fitted

from gapboost._data.features import arrow_types
from gapboost._kernels import Array

BEFORE_4_7 = "eval_X" not in signature(lightgbm.LGBMRanker.fit).parameters


def evaluation_sets(X: Sequence[Any], y: Sequence[Any]) -> dict[str, Any]:
    """Features and labels of evaluation sets as arguments of `LGBMRanker.fit`: 4.7 deprecates the only ones that 4.6 knows."""
    if BEFORE_4_7:
        return {"eval_set": list(zip(X, y, strict=True)) or None}
    return {"eval_X": tuple(X) or None, "eval_y": tuple(y) or None}


def readable(X: Any) -> Any:
    """`X` as this version reads it: the rankers of 4.6 fail when scikit-learn names the columns of polars and Arrow."""
    return X.to_pandas() if BEFORE_4_7 and arrow_types(X) else X


def names_of_frame(ranker: Any) -> Array:
    """`feature_names_in_` as of 4.7: 4.6 has it after training on an array too, and scikit-learn warns of every next array."""
    check_is_fitted(ranker)
    if not ranker._trained_names:
        raise AttributeError("feature_names_in_ is there after training on a data frame only")
    return np.array(ranker.feature_name_)
