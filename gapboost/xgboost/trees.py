"""Trees of an XGBoost model."""

import json
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.trees import Leaf, Node, ThresholdSplit, Trees
from gapboost._kernels import Array
from gapboost.xgboost.export import exportable


def trees_of(model: Any, kind: type[np.floating[Any]]) -> Trees:
    """Return the trees that predict, with thresholds for feature values of type `kind`.

    A split of XGBoost sends numbers below its threshold left. It compares in float32: a float64
    value is rounded first.

    Parameters
    ----------
    model : XGBGAPRanker, another model of XGBoost or xgboost.Booster
        Fitted; after early stopping, the trees of the best iteration. The weights of dart are in
        the leaves, and the base score is the first tree.
    kind : numpy.float32 or numpy.float64

    Raises
    ------
    TypeError, ValueError, NotFittedError
        As `exportable` does, and for splits by category.
    """
    booster = exportable(model, feature_names=None)
    learner = json.loads(booster.save_raw("json"))["learner"]
    # XGBoost 3.1 and later write a list with one base score for each output.
    constant = float(learner["learner_model_param"]["base_score"].strip("[]"))
    roots = [_node(tree, 0, kind) for tree in learner["gradient_booster"]["model"]["trees"]]
    return Trees(
        roots=(Leaf(constant), *roots) if constant else tuple(roots),
        feature_names=tuple(_names_of(model) or ()),
        n_features=booster.num_features(),
        categories={},
    )


def scores_of(model: Any, rows: Array) -> Array:
    """Return the scores of rows of numbers, with NaN for missing values."""
    if isinstance(model, xgboost.Booster):
        scores: Array = exportable(model, feature_names=None).inplace_predict(rows)
        return scores
    scores = model.predict(rows)
    return scores


def _names_of(model: Any) -> list[str] | None:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    names: list[str] | None = booster.feature_names
    return names


def _node(tree: dict[str, Any], number: int, kind: type[np.floating[Any]]) -> Node:
    left, value = tree["left_children"][number], tree["split_conditions"][number]
    if left == -1:
        return Leaf(float(np.float32(value)))
    feature = tree["split_indices"][number]
    if tree["split_type"][number]:
        raise ValueError(
            f"model splits column {feature} by category; expected columns of numbers: only "
            "LightGBM's splits by category can be exported to a search engine. Train with one "
            "column of 0 and 1 for each category"
        )
    last_left, first_right = _around(np.float32(value), kind)
    below = (_node(tree, child, kind) for child in (left, tree["right_children"][number]))
    return ThresholdSplit(
        feature, last_left, first_right, bool(tree["default_left"][number]), *below
    )


def _around(threshold: np.float32, kind: type[np.floating[Any]]) -> tuple[float, float]:
    """Return the largest number that goes left and the smallest one that goes right.

    A float64 number halfway between two float32 numbers is rounded to either; neither number
    returned is one.
    """
    below = np.nextafter(threshold, np.float32(-np.inf))
    if kind is np.float32:
        return float(below), float(threshold)
    middle = (float(below) + float(threshold)) / 2
    return float(np.nextafter(middle, -np.inf)), float(np.nextafter(middle, np.inf))
