"""Models for Elasticsearch's and OpenSearch's learning-to-rank plugins, for Solr and for Vespa."""

import json
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from gapboost.export.files import Engine, Shift, write_files
from gapboost.export.trees import Node, Split, neighbors
from gapboost.validation import PathLike

# Solr adds it to each threshold.
SLACK = np.float32(1e-6)


def write_ltr_plugin(
    ranker: object,
    X: object,
    path: PathLike,
    *,
    feature_names: Sequence[str] | None = None,
    shift: Shift = 0.0,
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
        File to write, such as ``gap.json``.
    feature_names : sequence of str, optional
        Names of the features in the engine, in the order of the columns. None takes the column
        names of `X`, or those of the training data.
    shift : float or "auto", default=0.0
        Added to all scores, by a tree of one leaf. "auto" is minus the sum of the lowest leaves of
        the trees: no document has a score below 0 then. Engines may put documents with negative
        scores below those that were not rescored.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError
        If `ranker` is a pipeline or no model of the two libraries, or `X` is a sparse matrix.
    ValueError
        If the engine would compute other scores: splits by category, linear trees, random forests,
        gblinear, classifiers and objectives whose prediction is not the sum of the trees, or a
        missing value other than NaN. If the features have no names, or were made within the query.
        If `X` has other columns than the training data.
    NotFittedError
        Before `fit`.

    Notes
    -----
    The plugin adds the leaves in float32. It goes to the child ``yes`` if
    ``split_condition > value``, both of them float32 [1]_. LightGBM goes left at
    ``value <= threshold`` with a float64 threshold: the file has the smallest float32 number above
    it. The base score is a tree of one leaf.

    A feature whose query does not match the document is missing. Use a release of the plugin with
    the change [2]_ for Elasticsearch, or [3]_ for OpenSearch, which follow the child ``missing``.
    With another one, rows with missing values may differ from the verification file.

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
    return write_files(LTR_PLUGIN, ranker, X, path, feature_names, shift)


def _plugin_model(name: str, trees: list[Node], names: list[str]) -> dict[str, object]:
    nodes = [_plugin_node(root, names, count()) for root in trees]
    definition = {"type": "model/xgboost+json", "definition": json.dumps(nodes)}
    return {"model": {"name": name, "model": definition}}


def _plugin_node(
    node: Node, names: Sequence[str], numbers: Iterator[int], depth: int = 0
) -> dict[str, object]:
    number = next(numbers)
    if not isinstance(node, Split):
        return {"nodeid": number, "leaf": node}
    yes, no = (_plugin_node(child, names, numbers, depth + 1) for child in (node.left, node.right))
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


def write_solr(
    ranker: object,
    X: object,
    path: PathLike,
    *,
    feature_names: Sequence[str] | None = None,
    shift: Shift = 0.0,
) -> Path:
    """Write a ``MultipleAdditiveTreesModel`` for Solr 9.2 or later.

    The file is the body of ``PUT .../schema/model-store``. The model has the name of the file,
    without ``.json``.

    Parameters
    ----------
    ranker, X, path, feature_names, shift
        As in `write_ltr_plugin`.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        As in `write_ltr_plugin`. Also if values of `X` are too close to a threshold for Solr.

    Notes
    -----
    Solr adds the leaves in float32. It goes left if ``value <= threshold + 1e-6``, all of them
    float32 [1]_. The file has the threshold for which this sum is the largest float32 number that
    goes left. Not every sum can be reached: the next lower one is then up to 1.2e-13 lower for
    thresholds near 0, and one float32 step for others. Values of `X` in between are an error. The
    base score is a tree of one leaf.

    A missing value follows ``missing``, as ``isNullSameAsZero`` is false in the file [2]_. A
    feature is missing only if its ``params`` in the feature store have ``"defaultValue": "NaN"``;
    else Solr takes 0.

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
    return write_files(SOLR, ranker, X, path, feature_names, shift)


def _solr_neighbors(threshold: float) -> tuple[float, float]:
    """Return the largest sum of threshold and slack that Solr sends left, and the next number."""
    last_left, first_right = neighbors(threshold)
    return float(_solr_threshold(last_left) + SLACK), first_right


def _solr_threshold(last_left: float) -> np.float32:
    """Return the largest threshold whose sum with the slack goes left."""
    near = np.float32(last_left) - SLACK
    with np.errstate(over="ignore"):  # infinity is above the largest number
        above, below = (np.nextafter(near, np.float32(end)) for end in (np.inf, -np.inf))
    return next(one for one in (above, near, below) if one + SLACK <= last_left)


def _solr_model(name: str, trees: list[Node], names: list[str]) -> dict[str, object]:
    return {
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
        "name": name,
        "features": [{"name": feature} for feature in names],
        "params": {
            "isNullSameAsZero": False,  # its setter takes no string
            "trees": [{"weight": "1", "root": _solr_node(root, names)} for root in trees],
        },
    }


def _solr_node(node: Node, names: Sequence[str]) -> dict[str, object]:
    if not isinstance(node, Split):
        return {"value": repr(node)}
    return {
        "feature": names[node.feature],
        "threshold": repr(float(_solr_threshold(node.last_left))),
        "missing": "left" if node.missing_left else "right",
        "left": _solr_node(node.left, names),
        "right": _solr_node(node.right, names),
    }


def write_vespa(
    ranker: object,
    X: object,
    path: PathLike,
    *,
    feature_names: Sequence[str] | None = None,
    shift: Shift = 0.0,
) -> Path:
    """Write a model for Vespa.

    The file belongs into the folder ``models`` of the application package. The ranking expression
    is ``lightgbm("gap.json")``, for models of XGBoost too.

    Parameters
    ----------
    ranker, X, path
        As in `write_ltr_plugin`.
    feature_names : sequence of str, optional
        Rank features or functions of the rank profile, such as ``"bm25(title)"``, in the order of
        the columns. None takes the column names of `X`, or those of the training data.
    shift : float or "auto", default=0.0
        As in `write_ltr_plugin`.

    Returns
    -------
    Path
        Of the verification file: ``gap.verification.json`` beside ``gap.json``.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        As in `write_ltr_plugin`.

    Notes
    -----
    Vespa turns each tree into nested conditions. A number goes left if ``value < threshold``, and a
    missing one if ``default_left`` is true [1]_. Vespa compares in float64, but in large models, of
    some hundred trees, it rounds thresholds and leaves to float32 first [2]_. The file has float32
    thresholds, with which both agree: that of XGBoost, or the smallest float32 number above that of
    LightGBM. LightGBM takes missing values for 0 where the training data had none: the file has the
    side of 0. The base score is a tree of one leaf.

    Values must be float32, as those of ``float`` fields are. Any other one, of a ``double`` field
    or a rank feature, may go the other way if it is between a threshold and the float32 number next
    to it.

    References
    ----------
    .. [1] `LightGBMParser.java <https://github.com/vespa-engine/vespa/blob/master/model-integration/src/main/java/ai/vespa/
           rankingexpression/importer/lightgbm/LightGBMParser.java>`_
    .. [2] `gbdt.cpp and vm_forest.cpp <https://github.com/vespa-engine/vespa/tree/master/eval/src/
           vespa/eval/eval>`_

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
    return write_files(VESPA, ranker, X, path, feature_names, shift)


def _vespa_model(name: str, trees: list[Node], names: list[str]) -> dict[str, object]:
    return {
        "objective": "regression",
        "feature_names": names,
        "feature_infos": {},
        "pandas_categorical": [],
        "tree_info": [{"tree_structure": _vespa_node(root)} for root in trees],
    }


def _vespa_node(node: Node) -> dict[str, object]:
    if not isinstance(node, Split):
        return {"leaf_value": node}
    return {
        "split_feature": node.feature,
        "decision_type": "<=",
        "threshold": node.first_right,
        "default_left": node.missing_left,
        "left_child": _vespa_node(node.left),
        "right_child": _vespa_node(node.right),
    }


LTR_PLUGIN = Engine("LTR plugin", neighbors, _plugin_model)
SOLR = Engine("Solr", _solr_neighbors, _solr_model)
VESPA = Engine("Vespa", neighbors, _vespa_model)
