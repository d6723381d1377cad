"""Models for the learning-to-rank plugins of Elasticsearch and OpenSearch."""

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._boosters.trees import CategorySplit, Leaf, Node
from gapboost.export.model import read_model
from gapboost.export.verification import json_path, write_export


def write_ltr_plugin(
    ranker: Any, X: Any, path: Any, *, feature_names: Sequence[str] | None = None
) -> Path:
    """Write a model for the learning-to-rank plugin of Elasticsearch or OpenSearch.

    The file is the body of ``POST _ltr/_featureset/<feature set>/_createmodel``. The model has the
    name of the file, without ``.json``. Models of both libraries become ``model/xgboost+json``.

    Parameters
    ----------
    ranker : ranker or Booster of gapboost, LightGBM or XGBoost
        Fitted. After early stopping, the trees of the best iteration count.
    X : array-like of shape (N, n_features), or data frame
        Sample rows for the verification file, such as the first 100 of the test set.
    path : str or PathLike
        File to write; its name ends with ``.json``.
    feature_names : sequence of str, optional
        Names of the features in the feature set, in the order of the columns. None takes the column
        names of `X`, or those of the training data.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError
        If `ranker` is a pipeline or no model of the two libraries, or `X` is a sparse matrix.
    ValueError
        If the plugin would compute other scores: splits by category, linear trees, random forests,
        gblinear, or a missing value other than NaN. If the features have no names, or are
        query-relative. If `X` has other columns than the training data.
    NotFittedError
        Before `fit`.

    Notes
    -----
    The plugin adds the leaves in float32. It goes to the child ``yes`` if
    ``split_condition > value``, both of them float32 [1]_. LightGBM goes left at
    ``value <= threshold`` with a float64 threshold: the file has the smallest float32 number above
    it. Splits are then the same for all float32 values, and a Lucene score is one. The base score
    is a tree of one leaf.

    A feature whose query does not match the document is missing. The plugin for Elasticsearch
    follows the child ``missing`` since January 2024 [2]_, the one for OpenSearch since 3.8 [3]_.
    Earlier versions took 0, and OpenSearch 3.3 to 3.7 always went to ``no``: rows with missing
    values then differ from the verification file.

    References
    ----------
    .. [1] `NaiveAdditiveDecisionTree.java and XGBoostJsonParser.java <https://github.com/o19s/elasticsearch-learning-to-rank/
           tree/main/src/main/java/com/o19s/es/ltr/ranker>`_
    .. [2] https://github.com/o19s/elasticsearch-learning-to-rank/pull/482
    .. [3] https://github.com/opensearch-project/opensearch-learning-to-rank-base/pull/379

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.export import write_ltr_plugin
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gap.json"
    ...     write_ltr_plugin(ranker, test.X[:50], path, feature_names=train.feature_names).name
    'gap.verification.json'
    """
    name = json_path(path).stem
    model = read_model(ranker, X, feature_names, np.float32)
    trees = [
        _tree(root, model.feature_names, count(), 0) for root in model.trees.roots or (Leaf(0.0),)
    ]
    definition = {"type": "model/xgboost+json", "definition": json.dumps(trees)}
    return write_export(path, {"model": {"name": name, "model": definition}}, model, "LTR plugin")


def _tree(node: Node, names: Sequence[str], numbers: Any, depth: int) -> dict[str, Any]:
    number = next(numbers)
    if isinstance(node, Leaf):
        return {"nodeid": number, "leaf": node.value}
    if isinstance(node, CategorySplit):
        raise ValueError(
            f"ranker splits the feature {names[node.feature]!r} by category; expected features "
            "that are numbers: features of the plugin are scores of queries. Train with one "
            "column of 0 and 1 for each category"
        )
    yes, no = (_tree(child, names, numbers, depth + 1) for child in (node.left, node.right))
    return {
        "nodeid": number,
        "depth": depth,
        "split": names[node.feature],
        "split_condition": node.first_right,
        "yes": yes["nodeid"],
        "no": no["nodeid"],
        "missing": (yes if node.missing_left else no)["nodeid"],
        "children": [yes, no],
    }
