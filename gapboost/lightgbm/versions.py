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
    """Return features and labels of evaluation sets as arguments of `LGBMRanker.fit`.

    Version 4.7 deprecates the only arguments of 4.6.
    """
    if BEFORE_4_7:
        return {"eval_set": list(zip(X, y, strict=True)) or None}
    return {"eval_X": tuple(X) or None, "eval_y": tuple(y) or None}


def readable(X: Any) -> Any:
    """Return `X` as this version reads it.

    The rankers of 4.6 fail when scikit-learn names the columns of polars and Arrow.
    """
    return X.to_pandas() if BEFORE_4_7 and arrow_types(X) else X


def names_of_frame(ranker: Any) -> Array:
    """Return `feature_names_in_` as of 4.7.

    LightGBM 4.6 has it after training on an array too, so that scikit-learn warns of arrays.
    """
    check_is_fitted(ranker)
    if not ranker._trained_names:
        raise AttributeError("feature_names_in_ is there after training on a data frame only")
    return np.array(ranker.feature_name_)
