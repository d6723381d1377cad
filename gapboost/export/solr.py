"""Models for Solr's learning-to-rank module."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._boosters.trees import CategorySplit, Leaf, Node, ThresholdSplit, splits_below
from gapboost.export.model import Model, read_model
from gapboost.export.verification import json_path, write_export

# Solr adds it to each threshold.
SLACK = np.float32(1e-6)


def write_solr(
    ranker: Any, X: Any, path: Any, *, feature_names: Sequence[str] | None = None
) -> Path:
    """Write a ``MultipleAdditiveTreesModel`` for Solr 9.2 or later.

    The file is the body of ``PUT .../schema/model-store``. The model has the name of the file,
    without ``.json``.

    Parameters
    ----------
    ranker : ranker or Booster of gapboost, LightGBM or XGBoost
        Fitted. After early stopping, the trees of the best iteration count.
    X : array-like of shape (N, n_features), or data frame
        Sample rows for the verification file, such as the first 100 of the test set.
    path : str or PathLike
        File to write; its name ends with ``.json``.
    feature_names : sequence of str, optional
        Names of the features in the feature store, in the order of the columns. None takes the
        column names of `X`, or those of the training data.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError
        If `ranker` is a pipeline or no model of the two libraries, or `X` is a sparse matrix.
    ValueError
        If Solr would compute other scores: splits by category, linear trees, random forests,
        gblinear, a missing value other than NaN, or values of `X` that are too close to a threshold
        for Solr. If the features have no names, or are query-relative. If `X` has other columns
        than the training data.
    NotFittedError
        Before `fit`.

    Notes
    -----
    Solr adds the leaves in float32. It goes left if ``value <= threshold + 1e-6``, all of them
    float32 [1]_. The file has the threshold for which this sum is the largest float32 number that
    goes left. XGBoost goes left at ``value < threshold``: the number before the threshold. Not
    every sum can be reached: the next lower one is then up to 1.2e-13 lower for thresholds near 0,
    and one float32 step for others. Values of `X` in between are an error. The base score is a tree
    of one leaf.

    A missing value follows ``missing``, as ``isNullSameAsZero`` is false in the file [2]_. A
    feature is missing only if the feature store gives it ``"defaultValue": "NaN"``; else Solr takes
    0.

    References
    ----------
    .. [1] `MultipleAdditiveTreesModel.java <https://github.com/apache/solr/blob/main/solr/modules/ltr/src/java/org/apache/solr/
           ltr/model/MultipleAdditiveTreesModel.java>`_
    .. [2] SOLR-16596, and "Managing features' null values" in the `reference guide
           <https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html>`_

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.export import write_solr
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gap.json"
    ...     write_solr(ranker, test.X[:50], path, feature_names=train.feature_names).name
    'gap.verification.json'
    """
    name = json_path(path).stem
    model = read_model(ranker, X, feature_names, np.float32)
    reached = replace(
        model, trees=replace(model.trees, roots=tuple(map(_with_reached_sums, model.trees.roots)))
    )
    _check_values(reached)
    content = {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": name,
        "features": [{"name": feature} for feature in model.feature_names],
        "params": {
            "isNullSameAsZero": "false",
            "trees": [
                {"weight": "1", "root": _node(root, model.feature_names)}
                for root in reached.trees.roots
            ],
        },
    }
    return write_export(path, content, reached, "Solr")


def _with_reached_sums(node: Node) -> Node:
    """Return the tree with the largest sum of threshold and slack that Solr sends left."""
    if isinstance(node, Leaf):
        return node
    left, right = _with_reached_sums(node.left), _with_reached_sums(node.right)
    if isinstance(node, CategorySplit):
        return replace(node, left=left, right=right)
    return replace(node, last_left=float(_threshold(node) + SLACK), left=left, right=right)


def _threshold(split: ThresholdSplit) -> np.float32:
    """Return the threshold to write.

    Solr adds its slack to it: the largest possible sum that goes left results.
    """
    near = np.float32(split.last_left) - SLACK
    candidates = [
        np.nextafter(near, np.float32(np.inf)),
        near,
        np.nextafter(near, np.float32(-np.inf)),
    ]
    return next(
        threshold for threshold in candidates if threshold + SLACK <= np.float32(split.last_left)
    )


def _check_values(model: Model) -> None:
    """Raise if Solr and the ranker would send a value of `X` to different sides."""
    for root in model.trees.roots:
        for split in splits_below(root):
            if isinstance(split, CategorySplit):
                continue
            values = model.rows[:, split.feature]
            between = values[(values > split.last_left) & (values < split.first_right)]
            if len(between):
                raise ValueError(
                    f"X holds {between[0]:.9g} in the feature "
                    f"{model.feature_names[split.feature]!r}, just below the threshold "
                    f"{split.first_right:.9g}; expected values that Solr can tell from it: it adds "
                    "1e-6 to each threshold in float32. Train with this feature multiplied by a "
                    "large number"
                )


def _node(node: Node, names: Sequence[str]) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"value": repr(node.value)}
    if isinstance(node, CategorySplit):
        raise ValueError(
            f"ranker splits the feature {names[node.feature]!r} by category; expected features "
            "that are numbers: Solr has no splits by category. Train with one column of 0 and 1 "
            "for each category"
        )
    return {
        "feature": names[node.feature],
        "threshold": repr(float(_threshold(node))),
        "missing": "left" if node.missing_left else "right",
        "left": _node(node.left, names),
        "right": _node(node.right, names),
    }
