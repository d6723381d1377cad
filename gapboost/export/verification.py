"""Rows and scores that show whether an engine predicts the same as the ranker."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._boosters.trees import CategorySplit, Leaf, Node, ThresholdSplit, leaves
from gapboost._kernels import Array
from gapboost.export.model import Model

# Rows at thresholds are made for about so many splits, spread over the features.
SPLITS = 200

# Largest difference of scores that is rounding, relative to the largest sum of leaves. Engines add
# in float32.
ENGINE_ROUNDING = 1e-6

# What a row tests, as the file says it.
SAMPLE, MISSING, THRESHOLD = "sample", "missing value", "threshold"

# A step from a split to a child: the split, and True for the left child.
Step = tuple[ThresholdSplit | CategorySplit, bool]


def write_export(path: Any, content: Any, model: Model, engine: str) -> Path:
    """Write the content as JSON, and the verification file next to it.

    Parameters
    ----------
    path : str or PathLike
        Of a file whose name ends with ".json".
    content : value of JSON
    model : Model
    engine : str
        Its name in the verification file.

    Returns
    -------
    Path
        Path of the verification file: `path` with ".verification.json" instead of ".json".
    """
    destination = json_path(path)
    verification = destination.with_suffix(".verification.json")
    rows, contents = verification_rows(model)
    scores = model.scores(rows)
    checks = {
        "engine": engine,
        "model": destination.stem,
        "feature_names": model.feature_names,
        "tolerance": ENGINE_ROUNDING
        * max(1.0, sum(max(map(abs, leaves(root))) for root in model.trees.roots)),
        "contents": contents,
        "rows": [_readable(row, model) for row in rows],
        "scores": scores.tolist(),
    }
    destination.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    verification.write_text(json.dumps(checks, allow_nan=False), encoding="utf-8")
    return verification


def json_path(path: Any) -> Path:
    """Return the path of a file to write.

    Raises
    ------
    TypeError, ValueError
        If it is no path of a JSON file.
    """
    if (
        not isinstance(path, str | os.PathLike)
        or Path(path).suffix != ".json"
        or not Path(path).stem
    ):
        kind = ValueError if isinstance(path, str | os.PathLike) else TypeError
        raise kind(
            f"path is {path!r}; expected a file name that ends with .json, such as 'gap.json'"
        )
    return Path(path)


def verification_rows(model: Model) -> tuple[Array, list[str]]:
    """Return rows to verify and what each row tests.

    They are sample rows, rows with missing values, and rows at thresholds.
    """
    missing = list(_rows_with_missing_values(model))
    thresholds = list(_rows_at_thresholds(model))
    contents = [SAMPLE] * len(model.rows) + [MISSING] * len(missing) + [THRESHOLD] * len(thresholds)
    return np.array([*model.rows, *missing, *thresholds]), contents


def _rows_with_missing_values(model: Model) -> Iterator[Array]:
    """Yield a row without each feature of the model, and one without any."""
    features = sorted(
        {steps[-1][0].feature for root in model.trees.roots for steps in _paths(root)}
    )
    for number, feature in enumerate(features):
        row = model.rows[number % len(model.rows)].copy()
        row[feature] = np.nan
        yield row
    yield np.full(model.rows.shape[1], np.nan)


def _rows_at_thresholds(model: Model) -> Iterator[Array]:
    """Yield two rows for a split: they reach it, and lie on either side of its threshold."""
    by_feature: dict[int, list[list[Step]]] = {}
    for root in model.trees.roots:
        for steps in _paths(root):
            if isinstance(steps[-1][0], ThresholdSplit):
                by_feature.setdefault(steps[-1][0].feature, []).append(steps)
    most = max(1, SPLITS // max(1, len(by_feature)))
    for feature in sorted(by_feature):
        paths = by_feature[feature]
        for number in np.unique(np.linspace(0, len(paths) - 1, most).astype(int)):
            for left in (True, False):
                row = model.rows[number % len(model.rows)].copy()
                for split, goes_left in (*paths[number][:-1], (paths[number][-1][0], left)):
                    row[split.feature] = _value(split, goes_left)
                yield row


def _paths(node: Node, above: tuple[Step, ...] = ()) -> Iterator[list[Step]]:
    """Yield the steps to each split of a tree; the last step leaves from the split itself."""
    if isinstance(node, Leaf):
        return
    yield [*above, (node, True)]
    yield from _paths(node.left, (*above, (node, True)))
    yield from _paths(node.right, (*above, (node, False)))


def _value(split: ThresholdSplit | CategorySplit, left: bool) -> float:
    """Return a value that a split sends left or right, for numbers next to the threshold."""
    if isinstance(split, CategorySplit):
        return float(split.codes[0]) if left else np.nan
    return split.last_left if left else split.first_right


def _readable(row: Array, model: Model) -> list[Any]:
    """Return the values of a row as the engine gets them.

    Missing values are None, categories are names.
    """
    return [
        None
        if np.isnan(value)
        else model.trees.categories[position][int(value)]
        if position in model.trees.categories
        else float(value)
        for position, value in enumerate(row)
    ]
