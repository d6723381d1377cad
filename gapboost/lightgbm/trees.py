"""Trees of a LightGBM model."""

import re
import warnings
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.trees import (
    CategorySplit,
    Leaf,
    Node,
    ThresholdSplit,
    Trees,
    largest_at_most,
    next_above,
)
from gapboost._kernels import Array
from gapboost.lightgbm.export import exportable

# LightGBM calls the columns of data without names so.
UNNAMED_COLUMN = re.compile(r"Column_\d+")

# LightGBM takes values up to this size for 0.
ZERO = float(np.float32(1e-35))


def trees_of(model: Any, kind: type[np.floating[Any]]) -> Trees:
    """Return the trees that predict, with thresholds for feature values of type `kind`.

    A split of LightGBM sends numbers up to its threshold left. Where the training data had no
    missing values, LightGBM takes a missing value for 0.

    Parameters
    ----------
    model : LGBMGAPRanker, another model of LightGBM or lightgbm.Booster
        Fitted; after early stopping, the trees of the best iteration.
    kind : numpy.float32 or numpy.float64

    Raises
    ------
    TypeError, ValueError, NotFittedError
        As `exportable` does.
    """
    booster = exportable(model)
    dump = booster.dump_model()
    names = tuple(dump["feature_names"])
    return Trees(
        roots=tuple(_node(tree["tree_structure"], kind) for tree in dump["tree_info"]),
        feature_names=() if all(UNNAMED_COLUMN.fullmatch(name) for name in names) else names,
        n_features=len(names),
        categories=_categories(booster, dump),
    )


def scores_of(model: Any, rows: Array) -> Array:
    """Return the scores of numeric rows: NaN for missing values, codes for categories."""
    if isinstance(model, lightgbm.Booster):
        scores: Array = exportable(model).predict(rows)
        return scores
    with warnings.catch_warnings():
        # The model was trained on a data frame, and the columns are in its order.
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        scores = model.predict(rows)
    return scores


def _node(found: dict[str, Any], kind: type[np.floating[Any]]) -> Node:
    if "leaf_value" in found:
        return Leaf(float(found["leaf_value"]))
    left, right = (_node(found[side], kind) for side in ("left_child", "right_child"))
    if found["decision_type"] == "==":
        codes = tuple(int(code) for code in str(found["threshold"]).split("||"))
        return CategorySplit(found["split_feature"], codes, left, right)
    threshold = float(found["threshold"])
    last_left = largest_at_most(_effective(threshold), kind)
    missing_left = bool(found["default_left"]) if found["missing_type"] == "NaN" else threshold >= 0
    return ThresholdSplit(
        found["split_feature"], last_left, next_above(last_left, kind), missing_left, left, right
    )


def _effective(threshold: float) -> float:
    """Return the largest number that goes left.

    LightGBM reads numbers close to 0 as 0, so they go where 0 goes.
    """
    if abs(threshold) > ZERO:
        return threshold
    return ZERO if threshold >= 0 else float(np.nextafter(-ZERO, -np.inf))


def _categories(booster: lightgbm.Booster, dump: dict[str, Any]) -> dict[int, list[Any]]:
    """Return the categories of each categorical column of a data frame.

    LightGBM writes them without the positions of their columns; its parameters have these.
    """
    found = dump["pandas_categorical"] or []
    columns = re.search(
        r"^\[categorical_feature: ([\d,]*)\]$", booster.model_to_string(), re.MULTILINE
    )
    positions = [int(position) for position in columns[1].split(",") if position] if columns else []
    return dict(zip(positions, found, strict=True)) if found else {}
