"""Trees of a fitted model, with each threshold between two neighboring numbers."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

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


Node: TypeAlias = Split | float

# Splits on the way from the root, each with True for the left child.
Path: TypeAlias = list[tuple[Split, bool]]

# Last number left and first number right of a threshold, among the numbers of an engine.
Neighbors: TypeAlias = Callable[[float], tuple[float, float]]


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


def neighbors(threshold: float, kind: type[np.floating[Any]]) -> tuple[float, float]:
    """Return the largest number of a type up to a threshold, and the next larger number.

    Both are finite.
    """
    limits = np.finfo(kind)
    most = float(np.nextafter(limits.max, kind(0)))
    last_left = kind(min(max(threshold, float(limits.min)), most))
    if float(last_left) > threshold:
        last_left = np.nextafter(last_left, limits.min)
    # The sum has 0 for -0.
    return float(last_left), float(np.nextafter(last_left, limits.max)) + 0.0


def lightgbm_trees(booster: Any, neighbors: Neighbors) -> list[Node]:
    """Return the trees of `gapboost.lightgbm.exportable`.

    A split of LightGBM sends numbers up to its threshold left. Where the training data had no
    missing values, LightGBM takes a missing value for 0.
    """
    trees = booster.dump_model()["tree_info"]
    return [_of_lightgbm(tree["tree_structure"], neighbors) for tree in trees]


def _of_lightgbm(found: dict[str, Any], neighbors: Neighbors) -> Node:
    if "leaf_value" in found:
        return float(found["leaf_value"])
    feature, threshold = found["split_feature"], found["threshold"]
    if found["decision_type"] != "<=":
        raise _by_category(feature)
    if abs(threshold) <= ZERO:
        # Numbers close to 0 go where 0 goes.
        threshold = ZERO if threshold >= 0 else float(np.nextafter(-ZERO, -np.inf))
    missing_left = found["default_left"] if found["missing_type"] == "NaN" else threshold >= 0
    left, right = (_of_lightgbm(found[side], neighbors) for side in ("left_child", "right_child"))
    return Split(feature, *neighbors(threshold), missing_left, left, right)


def xgboost_trees(booster: Any, neighbors: Neighbors) -> list[Node]:
    """Return the trees and the base score of `gapboost.xgboost.exportable`, without names.

    A split of XGBoost sends numbers below its threshold left. It compares in float32: a float64
    value is rounded first.
    """
    learner = json.loads(booster.save_config())["learner"]
    # XGBoost 3.1 and later write a list with one base score for each output.
    base_score = float(learner["learner_model_param"]["base_score"].strip("[]"))
    dumps = booster.get_dump(dump_format="json")
    trees = [_of_xgboost(json.loads(dump), neighbors) for dump in dumps]
    return [base_score, *trees] if base_score else trees


def _of_xgboost(found: dict[str, Any], neighbors: Neighbors) -> Node:
    if "leaf" in found:
        return float(np.float32(found["leaf"]))
    feature = int(found["split"].removeprefix("f"))
    if isinstance(found["split_condition"], list):
        raise _by_category(feature)
    threshold = np.float32(found["split_condition"])
    # Rounding to float32 ends halfway between two of its numbers.
    last_left = (float(np.nextafter(threshold, np.float32(-np.inf))) + float(threshold)) / 2
    if np.float32(last_left) >= threshold:
        last_left = float(np.nextafter(last_left, -np.inf))
    below = {child["nodeid"]: child for child in found["children"]}
    left, right = (_of_xgboost(below[found[side]], neighbors) for side in ("yes", "no"))
    missing_left = found["missing"] == found["yes"]
    return Split(feature, *neighbors(last_left), missing_left, left, right)


def _by_category(feature: int) -> ValueError:
    return ValueError(
        f"ranker splits column {feature} by category; expected columns of numbers, such as one "
        "column of 0 and 1 for each category"
    )
