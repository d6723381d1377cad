"""Trees of a fitted model, with each threshold between two neighboring float32 numbers."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from gapboost.data import Array
from gapboost.preprocessing.pipeline import library_of
from gapboost.validation import short_repr

# LightGBM takes values up to this size for 0.
ZERO = float(np.float32(1e-35))

# As LightGBM writes infinity, the threshold of splits that ask whether a value is missing.
INFINITE = 1e300

BY_CATEGORY = (
    "ranker splits column {} by category; expected a ranker trained on numbers, such as those of "
    "pandas.get_dummies(X)"
)


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

    def goes_left(self, rows: Array) -> Array:
        """Return True for each row that goes left, shape (N,)."""
        values = rows[:, self.feature]
        return np.where(np.isnan(values), self.missing_left, values <= self.last_left)


Node: TypeAlias = Split | float

# Last number left and first number right of a threshold.
Neighbors: TypeAlias = Callable[[float], tuple[float, float]]


def leaf_values(node: Node, rows: Array) -> Array:
    """Return the leaf of a tree for each row, float64 of shape (N,)."""
    if not isinstance(node, Split):
        return np.full(len(rows), node)
    left, right = leaf_values(node.left, rows), leaf_values(node.right, rows)
    return np.where(node.goes_left(rows), left, right)


def lowest_leaf(node: Node) -> float:
    """Return the smallest leaf of a tree."""
    if not isinstance(node, Split):
        return node
    return min(lowest_leaf(node.left), lowest_leaf(node.right))


def neighbors(threshold: float) -> tuple[float, float]:
    """Return the largest float32 number up to a threshold, and the next larger number.

    Both are finite. Both are the largest number where the threshold is no lower, and the smallest
    one where the threshold is below it: no number is on the other side.
    """
    lowest, highest = float(np.finfo(np.float32).min), float(np.finfo(np.float32).max)
    if not lowest <= threshold < highest:
        end = highest if threshold > 0 else lowest
        return end, end
    last_left = np.float32(threshold)
    if float(last_left) > threshold:
        last_left = np.nextafter(last_left, np.float32(lowest))
    # The sum has 0 for -0.
    return float(last_left), float(np.nextafter(last_left, np.float32(highest))) + 0.0


def read_model(
    ranker: Any, neighbors: Neighbors
) -> tuple[list[Node], list[str], Callable[[Array], Array]]:
    """Return trees, names of the training data if it had any, and the function that predicts.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        If the ranker is no sum of trees of the two libraries.
    """
    library = library_of(ranker)
    if library == "lightgbm":
        import gapboost.lightgbm

        model = gapboost.lightgbm.exportable(ranker)
        names = model.feature_name()
        if names == [f"Column_{place}" for place in range(len(names))]:
            names = []
        predict = getattr(ranker, "booster_", ranker).predict
        return _lightgbm_trees(model, neighbors, names), names, predict
    if library == "xgboost":
        import gapboost.xgboost

        model = gapboost.xgboost.exportable(ranker)
        booster, predict = ranker, model.inplace_predict
        if hasattr(ranker, "get_booster"):
            booster, predict = ranker.get_booster(), ranker.predict
        names = booster.feature_names or []
        return _xgboost_trees(model, neighbors, names), names, predict
    raise TypeError(
        f"ranker is {short_repr(ranker)}; expected a fitted ranker or Booster of gapboost, "
        "LightGBM or XGBoost"
    )


def _lightgbm_trees(booster: Any, neighbors: Neighbors, names: Sequence[str]) -> list[Node]:
    """Return the trees of `gapboost.lightgbm.exportable`.

    A split of LightGBM sends numbers up to its threshold left. Where the training data had no
    missing values, LightGBM takes a missing value for 0.
    """

    def read(found: dict[str, Any]) -> Node:
        if "leaf_value" in found:
            return float(found["leaf_value"])
        feature, threshold = found["split_feature"], found["threshold"]
        if found["decision_type"] != "<=":
            raise ValueError(BY_CATEGORY.format(repr(names[feature]) if names else feature))
        if abs(threshold) <= ZERO:
            # Numbers close to 0 go where 0 goes.
            threshold = ZERO if threshold >= 0 else float(np.nextafter(-ZERO, -np.inf))
        elif abs(threshold) >= INFINITE:
            threshold = float(np.copysign(np.inf, threshold))
        missing_left = found["default_left"] if found["missing_type"] == "NaN" else threshold >= 0
        left, right = read(found["left_child"]), read(found["right_child"])
        return Split(feature, *neighbors(threshold), missing_left, left, right)

    return [read(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]


def _xgboost_trees(booster: Any, neighbors: Neighbors, names: Sequence[str]) -> list[Node]:
    """Return the trees and the base score of `gapboost.xgboost.exportable`, without names.

    A split of XGBoost sends float32 numbers below its threshold left.
    """

    def read(found: dict[str, Any]) -> Node:
        if "leaf" in found:
            return float(np.float32(found["leaf"]))
        feature = int(found["split"].removeprefix("f"))
        if isinstance(found["split_condition"], list):
            raise ValueError(BY_CATEGORY.format(repr(names[feature]) if names else feature))
        threshold = np.float32(found["split_condition"])
        last_left = float(np.nextafter(threshold, np.float32(-np.inf)))
        below = {child["nodeid"]: child for child in found["children"]}
        left, right = read(below[found["yes"]]), read(below[found["no"]])
        missing_left = found["missing"] == found["yes"]
        return Split(feature, *neighbors(last_left), missing_left, left, right)

    learner = json.loads(booster.save_config())["learner"]
    # XGBoost 3.1 and later write a list with one base score for each output.
    base_score = float(learner["learner_model_param"]["base_score"].strip("[]"))
    # XGBoost writes inf, where JSON of Python has Infinity.
    dumps = [
        re.sub(r'("split_condition": -?)inf', r"\1Infinity", dump)
        for dump in booster.get_dump(dump_format="json")
    ]
    trees = [read(json.loads(dump)) for dump in dumps]
    return [base_score, *trees] if base_score else trees
