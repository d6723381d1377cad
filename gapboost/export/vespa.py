"""Models for Vespa."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._boosters.trees import CategorySplit, Leaf, Node, splits_below
from gapboost.export.model import Model, read_model
from gapboost.export.verification import json_path, write_export


def write_vespa(
    ranker: Any, X: Any, path: Any, *, feature_names: Sequence[str] | None = None
) -> Path:
    """Write a model for Vespa.

    The file belongs into the folder ``models`` of the application package. The ranking expression
    is ``lightgbm("gap.json")``, for models of XGBoost too.

    Parameters
    ----------
    ranker : ranker or Booster of gapboost, LightGBM or XGBoost
        Fitted. After early stopping, the trees of the best iteration count.
    X : array-like of shape (N, n_features), or data frame
        Sample rows for the verification file, such as the first 100 of the test set.
    path : str or PathLike
        File to write; its name ends with ``.json``.
    feature_names : sequence of str, optional
        Rank features or functions of the rank profile, such as ``"bm25(title)"``, in the order of
        the columns. None takes the column names of `X`, or those of the training data.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError
        If `ranker` is a pipeline or no model of the two libraries, or `X` is a sparse matrix.
    ValueError
        If Vespa would compute other scores: splits by category of XGBoost, categories that are no
        text or hold quotation marks, linear trees, random forests, gblinear, or a missing value
        other than NaN. If the features have no names, or are query-relative. If `X` has other
        columns than the training data.
    NotFittedError
        Before `fit`.

    Notes
    -----
    Vespa turns each tree into nested conditions on float64 numbers. A number goes left if
    ``value < threshold``, and a missing one if ``default_left`` is true [1]_. LightGBM goes left at
    ``value <= threshold``, and takes missing values for 0 where the training data had none: the
    file has the next larger float64 number, and the side of 0. XGBoost rounds values to float32:
    the file has the smallest float64 number that is rounded to the threshold. ``xgboost("...")``
    would compare with the threshold itself, so a value such as 0.1, which is less than its float32,
    could go the other way [2]_. The base score is a tree of one leaf. Scores differ from float32
    sums by rounding.

    Categories of LightGBM need an attribute of type ``string`` whose values are the categories of
    the data frame.

    References
    ----------
    .. [1] `LightGBMParser.java <https://github.com/vespa-engine/vespa/blob/master/model-integration/src/main/java/ai/vespa/
           rankingexpression/importer/lightgbm/LightGBMParser.java>`_
    .. [2] `AbstractXGBoostParser.java <https://github.com/vespa-engine/vespa/blob/master/model-integration/src/main/java/ai/
           vespa/rankingexpression/importer/xgboost/AbstractXGBoostParser.java>`_

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.export import write_vespa
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gap.json"
    ...     write_vespa(ranker, test.X[:50], path, feature_names=train.feature_names).name
    'gap.verification.json'
    """
    json_path(path)
    model = read_model(ranker, X, feature_names, np.float64)
    return write_export(path, _content(model), model, "Vespa")


def _content(model: Model) -> dict[str, Any]:
    """Return what Vespa reads of LightGBM's `dump_model`."""
    roots = model.trees.roots or (Leaf(0.0),)
    # Vespa pairs the lists of categories with the features that have "values", in order.
    categorical = sorted(
        {s.feature for root in roots for s in splits_below(root) if isinstance(s, CategorySplit)}
    )
    for feature in categorical:
        _check_categories(model.trees.categories.get(feature, []), model.feature_names[feature])
    return {
        "objective": "regression",
        "feature_names": model.feature_names,
        "feature_infos": {
            model.feature_names[f]: {"values": list(range(len(model.trees.categories[f])))}
            for f in categorical
        },
        "pandas_categorical": [model.trees.categories[feature] for feature in categorical],
        "tree_info": [{"tree_structure": _node(root)} for root in roots],
    }


def _check_categories(categories: list[Any], name: str) -> None:
    unusable = [c for c in categories if not isinstance(c, str) or set(c) & set('"\\')]
    if unusable or not categories:
        found = f"the category {unusable[0]!r}" if unusable else "categories without names"
        raise ValueError(
            f"ranker splits the feature {name!r} by category, which has {found}; expected text "
            "without quotation marks and backslashes: Vespa compares categories with the values "
            "of a string attribute. Train with a categorical column of a pandas data frame, made "
            "by .astype(str).astype('category')"
        )


def _node(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        return {"leaf_value": node.value}
    below = {"left_child": _node(node.left), "right_child": _node(node.right)}
    if isinstance(node, CategorySplit):
        codes = "||".join(map(str, node.codes))
        return {
            "split_feature": node.feature,
            "decision_type": "==",
            "threshold": codes,
            "default_left": False,
            **below,
        }
    return {
        "split_feature": node.feature,
        "decision_type": "<=",
        "threshold": node.first_right,
        "default_left": node.missing_left,
        **below,
    }
