"""Trees of a fitted model, with each threshold between two neighboring numbers."""

import json
from collections.abc import Callable, Iterator
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
    last_left = _last_left(threshold, lambda value: value <= threshold, kind)
    missing_left = found["default_left"] if found["missing_type"] == "NaN" else threshold >= 0
    left, right = (_of_lightgbm(found[side], kind) for side in ("left_child", "right_child"))
    return Split(found["split_feature"], *_around(last_left), missing_left, left, right)


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
    threshold = np.float32(found["split_condition"])
    # Rounding to float32 ends halfway between two of its numbers.
    halfway = (float(np.nextafter(threshold, np.float32(-np.inf))) + float(threshold)) / 2
    last_left = _last_left(halfway, lambda value: bool(np.float32(value) < threshold), kind)
    below = {child["nodeid"]: child for child in found["children"]}
    left, right = (_of_xgboost(below[found[side]], kind) for side in ("yes", "no"))
    missing_left = found["missing"] == found["yes"]
    return Split(feature, *_around(last_left), missing_left, left, right)


def _last_left(
    near: float, goes_left: Callable[[float], bool], kind: type[np.floating[Any]]
) -> np.floating[Any]:
    """Return the largest number of a type that goes left, such that a next one exists.

    It is `near`, rounded to the type, or next to it.
    """
    most = np.nextafter(np.finfo(kind).max, kind(0))
    rounded = kind(min(max(near, -float(most)), float(most)))
    below, above = (np.nextafter(rounded, kind(end)) for end in (-np.inf, np.inf))
    left = [number for number in (below, rounded, above) if goes_left(float(number))]
    return min(max(left, default=below), most)


def _around(last_left: np.floating[Any]) -> tuple[float, float]:
    """Return the largest number that goes left and the smallest one that goes right."""
    # The sum has 0 for -0.
    return float(last_left), float(np.nextafter(last_left, type(last_left)(np.inf))) + 0.0


def _check_number(by_number: bool, feature: int) -> None:
    if not by_number:
        raise ValueError(
            f"ranker splits column {feature} by category; expected columns of numbers, such as one "
            "column of 0 and 1 for each category"
        )
