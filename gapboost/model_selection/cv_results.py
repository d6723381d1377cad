"""`cv_results_` of a search, as scikit-learn has them."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from gapboost.data import Array


def cv_results(
    candidates: list[dict[str, Any]], names: list[str], scores: Array, times: Array
) -> dict[str, Any]:
    """Return `cv_results_` of scores of shape (candidates, folds, measures)."""
    results = {"mean_fit_time": times.mean(axis=1), "std_fit_time": times.std(axis=1)}
    for name in sorted({name for candidate in candidates for name in candidate}):
        column = np.ma.MaskedArray(np.empty(len(candidates), dtype=object), mask=True)
        for number, candidate in enumerate(candidates):
            if name in candidate:
                column[number] = candidate[name]
        results[f"param_{name}"] = column
    results["params"] = candidates
    for name, values in zip(names, scores.transpose(2, 0, 1), strict=True):
        means = values.mean(axis=1)
        results |= {f"split{fold}_test_{name}": v for fold, v in enumerate(values.T)}
        results[f"mean_test_{name}"] = means
        results[f"std_test_{name}"] = values.std(axis=1)
        results[f"rank_test_{name}"] = rankdata(-means, method="min").astype(np.int32)
        behind = values[means.argmax()] - values
        errors = behind.std(axis=1) / np.sqrt(max(values.shape[1] - 1, 1))
        results[f"near_best_test_{name}"] = behind.mean(axis=1) <= errors
    return results
