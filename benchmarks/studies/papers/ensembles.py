"""Trained ensembles of trees as models that are linear in their leaf values.

Neither booster is imported: a fitted ranker of either brings what is needed.
"""

import json
from typing import Any

import numpy as np
from scipy import sparse

from gapboost._kernels import Array

# Boosters add leaf values in single precision.
AGREEMENT = 1e-4


def leaf_values(ranker: Any) -> Array:
    """Leaf values of all trees of a fitted ranker, float64 of shape (leaves,).

    Parameters
    ----------
    ranker : LGBMGAPRanker, XGBGAPRanker, LGBMRanker or XGBRanker
        With ordinary trees. With early stopping, the trees up to the best iteration.

    Raises
    ------
    TypeError
        Where it is neither.
    """
    return np.concatenate([[value for _, value in tree] for tree in _trees(ranker)])


def leaf_indicators(ranker: Any, X: Any) -> sparse.csr_matrix:
    """Which leaves each row falls into: ``leaf_indicators(ranker, X) @ leaf_values(ranker)`` are its scores.

    The scores lack the constant that a booster starts from: rankings do not depend on it.

    Parameters
    ----------
    ranker
        As in `leaf_values`.
    X : array-like of shape (N, n_features)

    Returns
    -------
    scipy.sparse.csr_matrix of shape (N, leaves)

    Raises
    ------
    ValueError
        Where the leaf values do not add up to the predictions: linear trees, or trees weighted otherwise (DART).
    """
    trees = _trees(ranker)
    if hasattr(ranker, "booster_"):
        found = np.asarray(ranker.predict(X, pred_leaf=True)).reshape(-1, len(trees))
    else:
        found = np.asarray(ranker.apply(X)).reshape(-1, len(trees))
    columns = np.empty(found.shape, dtype=np.int64)
    first = 0
    for t, tree in enumerate(trees):
        leaves = np.array([leaf for leaf, _ in tree])
        order = np.argsort(leaves)
        columns[:, t] = first + order[np.searchsorted(leaves, found[:, t].astype(np.int64), sorter=order)]
        first += len(tree)
    starts = np.arange(0, columns.size + 1, len(trees))
    indicators = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), starts), shape=(len(columns), first))
    missed = np.asarray(ranker.predict(X), dtype=np.float64) - indicators @ leaf_values(ranker)
    if np.ptp(missed) > AGREEMENT * max(1.0, float(np.abs(missed).max())):
        raise ValueError(
            f"the leaf values of {type(ranker).__name__} miss its predictions by {missed.min():.3g} to {missed.max():.3g}; "
            "expected a constant: ordinary trees, not linear ones or DART"
        )
    return indicators


def _trees(ranker: Any) -> list[list[tuple[int, float]]]:
    """``(leaf, value)`` of every leaf of every tree."""
    if hasattr(ranker, "booster_"):
        # -1 and None are every tree; 0 stands for no early stopping.
        used = ranker.booster_.dump_model(num_iteration=ranker.best_iteration_ or -1)["tree_info"]
        return [
            _leaves(tree["tree_structure"], "leaf_index", "leaf_value", ("left_child", "right_child")) for tree in used
        ]
    if hasattr(ranker, "get_booster"):
        dumped = [json.loads(tree) for tree in ranker.get_booster().get_dump(dump_format="json")]
        if getattr(ranker, "early_stopping_rounds", None):
            dumped = dumped[: ranker.best_iteration + 1]
        return [_leaves(tree, "nodeid", "leaf", "children") for tree in dumped]
    raise TypeError(f"ranker is {ranker!r}; expected a fitted ranker of LightGBM or XGBoost")


def _leaves(node: dict[str, Any], index: str, value: str, children: str | tuple[str, str]) -> list[tuple[int, float]]:
    if value in node:
        # A tree without a split has no leaf index in LightGBM.
        return [(int(node.get(index, 0)), float(node[value]))]
    below = node[children] if isinstance(children, str) else [node[child] for child in children]
    return [leaf for child in below for leaf in _leaves(child, index, value, children)]
