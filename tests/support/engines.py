"""Scores of search engines, computed as their sources and documentation say.

Each function takes the content of a file, the names of the features in the engine, and rows of
their values: numbers, None for missing ones. It returns scores.

* Elasticsearch and OpenSearch: ``XGBoostJsonParser.java`` and ``NaiveAdditiveDecisionTree.java`` of
  opensearch-learning-to-rank-base 3.8. The parser of elasticsearch-learning-to-rank reads the same
  fields.
* Solr: ``MultipleAdditiveTreesModel.java`` of 9.2 and later.
* Vespa: ``LightGBMParser.java``; ``gbdt.cpp``, ``vm_forest.cpp`` and ``fast_forest.cpp`` round.
"""

import json
import operator

import numpy as np

# Left is where this comparison of threshold and value, or of value and threshold, says so. A test
# replaces it.
PLUGIN_LEFT = operator.gt
SOLR_LEFT = operator.le
VESPA_LEFT = operator.lt

SPLIT_FIELDS = {"nodeid", "depth", "split", "split_condition", "yes", "no", "children"}
NODE_FIELDS = SPLIT_FIELDS | {"missing", "leaf"}


def floats(names, row):
    return {
        name: np.float32(np.nan if value is None else value)
        for name, value in zip(names, row, strict=True)
    }


# --- Elasticsearch and OpenSearch -----------------------------------------------------------------


def ltr_plugin_scores(content, names, rows):
    model = content["model"]
    assert set(content) == {"model"}
    assert isinstance(model["name"], str)
    assert model["model"]["type"] == "model/xgboost+json"
    trees = [plugin_node(tree, names) for tree in json.loads(model["model"]["definition"])]
    assert trees
    return [plugin_score(trees, floats(names, row)) for row in rows]


def plugin_node(node, names):
    """The checks of the parser."""
    assert set(node) <= NODE_FIELDS
    if "leaf" in node:
        assert "nodeid" in node
        return node
    assert set(node) >= SPLIT_FIELDS
    assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
    assert node["missing"] in (node["yes"], node["no"])
    assert node["split"] in names, f"Unknown feature [{node['split']}]"
    return {**node, "children": [plugin_node(child, names) for child in node["children"]]}


def plugin_score(trees, values):
    total = np.float32(0)
    for node in trees:
        while "leaf" not in node:
            value = values[node["split"]]
            left = PLUGIN_LEFT(np.float32(node["split_condition"]), value)
            if np.isnan(value):
                left = node["missing"] == node["yes"]
            node = node["children"][0 if left else 1]
        total += np.float32(node["leaf"])
    return float(total)


# --- Solr -----------------------------------------------------------------------------------------


def solr_scores(content, names, rows):
    assert content["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert set(content) == {"class", "name", "features", "params"}
    # A model names features of the store; the engine computes those.
    assert {feature["name"] for feature in content["features"]} <= set(names)
    parameters = content["params"]
    assert set(parameters) == {"isNullSameAsZero", "trees"}
    null_is_zero = parameters["isNullSameAsZero"]
    assert isinstance(null_is_zero, bool), "the guide has a string, which the setter refuses"
    return [solr_score(parameters["trees"], floats(names, row), null_is_zero) for row in rows]


def solr_score(trees, values, null_is_zero):
    total = np.float32(0)
    for tree in trees:
        node = tree["root"]
        while "feature" in node:
            value = values[node["feature"]]
            if np.isnan(value) and null_is_zero:
                value = np.float32(0)
            threshold = np.float32(node["threshold"]) + np.float32(1e-6)
            side = "left" if SOLR_LEFT(value, threshold) else "right"
            node = node[node["missing"] if np.isnan(value) else side]
        total += np.float32(tree["weight"]) * np.float32(node["value"])
    return float(total)


# --- Vespa ----------------------------------------------------------------------------------------


def vespa_scores(content, names, rows):
    features = content["feature_names"]
    assert set(features) <= set(names)
    assert content["objective"] in ("regression", "lambdarank")
    # They are for categories, which are not exported.
    assert not content["feature_infos"]
    assert not content["pandas_categorical"]
    roots = [tree["tree_structure"] for tree in content["tree_info"]]
    return [vespa_score(roots, floats(names, row), features) for row in rows]


def vespa_score(roots, values, features):
    """The sum of the leaves, which small models reach in float64, and large ones in float32."""
    small, large = (
        [vespa_leaf(root, values, features, number) for root in roots]
        for number in (np.float64, np.float32)
    )
    assert [np.float32(leaf) for leaf in small] == large
    return float(np.sum(large, dtype=np.float64))


def vespa_leaf(node, values, features, number):
    while "left_child" in node:
        assert node["decision_type"] == "<="
        # Vespa writes "!(value >= threshold)" if missing values go left, and "value < threshold" if
        # not.
        value, threshold = number(values[features[node["split_feature"]]]), node["threshold"]
        left = node["default_left"] if np.isnan(value) else VESPA_LEFT(value, number(threshold))
        node = node["left_child" if left else "right_child"]
    return number(node["leaf_value"])
