"""Trees of a fitted model, with each threshold between two neighboring numbers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gapboost._kernels import Array

# LightGBM takes values up to this size for 0.
ZERO = float(np.float32(1e-35))


@dataclass(frozen=True)
class Split:
    """Node that compares a number with a threshold; a leaf is a float.

    Attributes
    ----------
    feature : int
        Position of the column.
    last_left, first_right : float
        Largest number that goes left, and smallest number that goes right.
    missing_left : bool
        True if a missing value goes left.
    left, right : Split or float
    """

    feature: int
    last_left: float
    first_right: float
    missing_left: bool
    left: "Node"
    right: "Node"


Node = Split | float

# Splits on the way from the root, each with True for the left child.
Path = list[tuple[Split, bool]]


def paths(node: Node, above: tuple[tuple[Split, bool], ...] = ()) -> Iterator[Path]:
    """Yield the way to each split of a tree; the last step goes left at the split itself."""
    if isinstance(node, Split):
        yield [*above, (node, True)]
        yield from paths(node.left, (*above, (node, True)))
        yield from paths(node.right, (*above, (node, False)))


def largest_leaf(node: Node) -> float:
    """Return the largest absolute value of the leaves of a tree."""
    if isinstance(node, Split):
        return max(largest_leaf(node.left), largest_leaf(node.right))
    return abs(node)


def leaf_values(node: Node, rows: Array) -> Array:
    """Return the leaf of a tree for each row, float64 of shape (N,)."""
    if not isinstance(node, Split):
        return np.full(len(rows), node)
    values = rows[:, node.feature]
    left = np.where(np.isnan(values), node.missing_left, values <= node.last_left)
    return np.where(left, leaf_values(node.left, rows), leaf_values(node.right, rows))


# --- LightGBM -------------------------------------------------------------------------------------


def lightgbm_trees(booster: Any, kind: type[np.floating[Any]]) -> list[Node]:
    """Return the trees of the best iteration, for feature values of type `kind`.

    A split of LightGBM sends numbers up to its threshold left. Where the training data had no
    missing values, LightGBM takes a missing value for 0.
    """
    return [
        _of_lightgbm(tree["tree_structure"], kind) for tree in booster.dump_model()["tree_info"]
    ]


def _of_lightgbm(found: dict[str, Any], kind: type[np.floating[Any]]) -> Node:
    if "leaf_value" in found:
        return float(found["leaf_value"])
    _check_number(found["decision_type"] == "<=", found["split_feature"])
    if found["missing_type"] == "Zero":
        raise ValueError(
            "zero_as_missing is True in ranker; expected a model in which NaN alone is missing"
        )
    threshold = float(found["threshold"])
    if abs(threshold) <= ZERO:
        # Numbers close to 0 go where 0 goes.
        threshold = ZERO if threshold >= 0 else float(np.nextafter(-ZERO, -np.inf))
    last_left = _largest_at_most(threshold, kind)
    first_right = float(np.nextafter(kind(last_left), kind(np.inf)))
    missing_left = found["default_left"] if found["missing_type"] == "NaN" else threshold >= 0
    left, right = (_of_lightgbm(found[side], kind) for side in ("left_child", "right_child"))
    return Split(found["split_feature"], last_left, first_right, missing_left, left, right)


def _largest_at_most(number: float, kind: type[np.floating[Any]]) -> float:
    """Return the largest number of a type that is at most `number`, such that a next one exists."""
    limits = np.finfo(kind)
    number = min(max(number, float(limits.min)), float(np.nextafter(limits.max, kind(0))))
    rounded = kind(number)
    # numpy would round the number for a comparison with float32.
    return float(rounded if float(rounded) <= number else np.nextafter(rounded, limits.min))


# --- XGBoost --------------------------------------------------------------------------------------


def xgboost_trees(booster: Any, kind: type[np.floating[Any]]) -> list[Node]:
    """Return the trees and the base score, for feature values of type `kind`.

    A split of XGBoost sends numbers below its threshold left. It compares in float32: a float64
    value is rounded first.

    Parameters
    ----------
    booster : xgboost.Booster
        Of `gapboost.xgboost.exportable`, without names of features.
    kind : numpy.float32 or numpy.float64
    """
    learner = json.loads(booster.save_config())["learner"]
    # XGBoost 3.1 and later write a list with one base score for each output.
    base_score = float(learner["learner_model_param"]["base_score"].strip("[]"))
    trees = [_of_xgboost(json.loads(dump), kind) for dump in booster.get_dump(dump_format="json")]
    return [base_score, *trees] if base_score else trees


def _of_xgboost(found: dict[str, Any], kind: type[np.floating[Any]]) -> Node:
    if "leaf" in found:
        return float(np.float32(found["leaf"]))
    feature = int(found["split"].removeprefix("f"))
    _check_number(not isinstance(found["split_condition"], list), feature)
    last_left, first_right = _around(np.float32(found["split_condition"]), kind)
    below = {child["nodeid"]: child for child in found["children"]}
    left, right = (_of_xgboost(below[found[side]], kind) for side in ("yes", "no"))
    missing_left = found["missing"] == found["yes"]
    return Split(feature, last_left, first_right, missing_left, left, right)


def _around(threshold: np.float32, kind: type[np.floating[Any]]) -> tuple[float, float]:
    """Return the largest number that goes left and the smallest one that goes right."""
    below = np.nextafter(threshold, np.float32(-np.inf))
    if kind is np.float32:
        return float(below), float(threshold)
    # Halfway between two float32 numbers; it is rounded to the one with an even last digit.
    middle = (float(below) + float(threshold)) / 2
    if np.float32(middle) < threshold:
        return middle, float(np.nextafter(middle, np.inf))
    return float(np.nextafter(middle, -np.inf)), middle


def _check_number(by_number: bool, feature: int) -> None:
    if not by_number:
        raise ValueError(
            f"ranker splits column {feature} by category; expected columns of numbers, such as one "
            "column of 0 and 1 for each category"
        )
