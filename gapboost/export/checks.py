"""Rows and scores that show whether an engine predicts the same as the ranker."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._data.arguments import shown
from gapboost._data.columns import numeric_column
from gapboost._kernels import Array
from gapboost._optional import frame
from gapboost.export.model import Model
from gapboost.export.trees import largest_leaf, leaf_values, paths

# Rows at thresholds are made for about so many splits, spread over the features.
SPLITS = 200

# Largest difference of scores that is rounding, relative to the largest sum of leaves. Engines add
# in float32.
ENGINE_ROUNDING = 1e-6


def write_files(model: Model, content: Any, engine: str) -> Path:
    """Write the content as JSON, and the rows and scores to verify next to it.

    Returns the path of the second file.

    Raises
    ------
    ValueError
        If the trees give other scores than the ranker.
    """
    contents, listed = zip(*_rows_to_verify(model), strict=True)
    rows = np.array(listed)
    scores = model.scores(rows)
    if scores.ndim > 1:
        raise ValueError(f"ranker has {scores.shape[1]} scores a row; expected one score a row")
    tolerance = ENGINE_ROUNDING * max(1.0, sum(map(largest_leaf, model.trees)))
    sums = sum((leaf_values(root, rows) for root in model.trees), np.zeros(len(rows)))
    wrong = np.flatnonzero(~(np.abs(sums - scores) <= tolerance))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"ranker predicts {scores[row]:.6g} for {shown(rows[row].tolist())}, for which "
            f"{engine} computes {sums[row]:.6g}; expected a model whose prediction is the sum of "
            f"its trees, and values that {engine} can tell from thresholds"
        )
    checks = {
        "engine": engine,
        "model": model.path.stem,
        "feature_names": model.feature_names,
        "tolerance": tolerance,
        "contents": contents,
        "rows": [[None if np.isnan(value) else value for value in row] for row in rows.tolist()],
        "scores": scores.tolist(),
    }
    verification = model.path.with_suffix(".verification.json")
    model.path.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    verification.write_text(json.dumps(checks, allow_nan=False), encoding="utf-8")
    return verification


def verify(verification: Any, scores: Any) -> Any:
    """Compare an engine's scores with those of the ranker.

    Parameters
    ----------
    verification : path
        File that a function of `gapboost.export` wrote beside the model.
    scores : array-like of shape (N,)
        The engine's score of each row in the file, in the same order.

    Returns
    -------
    pandas.DataFrame
        One line for each row whose scores differ by more than rounding; empty if all agree. Columns
        are ``content`` ("sample", "missing value" or "threshold"), ``expected`` and ``found``; the
        index is the number of the row in the file.

    Raises
    ------
    ValueError, TypeError
        If `scores` has not one number for each row.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from gapboost.datasets import load_digits_ranking
    >>> from gapboost.export import verify, write_solr
    >>> from gapboost.lightgbm import LGBMGAPRanker
    >>> train, vali, test = load_digits_ranking((60, 20, 40), 20)
    >>> ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    >>> ranker = ranker.fit(train.X, train.y, qid=train.qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "gap.json"
    ...     checks = write_solr(ranker, test.X[:9], path, feature_names=train.feature_names)
    ...     answers = json.loads(checks.read_text())["scores"]  # of the engine
    ...     len(verify(checks, answers))
    0
    """
    checks = json.loads(Path(verification).read_text(encoding="utf-8"))
    expected, found = np.array(checks["scores"]), numeric_column(scores, "scores", "numbers")
    if len(found) != len(expected):
        raise ValueError(
            f"scores is {shown(scores)}; expected {len(expected)} numbers, one for each row of the "
            "file"
        )
    table = frame({"content": checks["contents"], "expected": expected, "found": found})
    # NaN differs from everything.
    return table.rename_axis("row")[~(np.abs(found - expected) <= checks["tolerance"])]


def _rows_to_verify(model: Model) -> Iterator[tuple[str, Array]]:
    """Yield sample rows, rows with missing values and rows at thresholds, and what each one is."""
    yield from (("sample", row) for row in model.rows)
    by_feature: dict[int, list[Any]] = {}
    for root in model.trees:
        for way in paths(root):
            by_feature.setdefault(way[-1][0].feature, []).append(way)
    # One row without each feature of the model, and one without any.
    for number, feature in enumerate(sorted(by_feature)):
        row = model.rows[number % len(model.rows)].copy()
        row[feature] = np.nan
        yield "missing value", row
    yield "missing value", np.full(model.rows.shape[1], np.nan)
    # Two rows for a split: they reach it, and lie on either side of its threshold.
    for _, ways in sorted(by_feature.items()):
        most = max(1, SPLITS // len(by_feature))
        for number in np.unique(np.linspace(0, len(ways) - 1, most).astype(int)):
            *above, (last, _) = ways[number]
            for side in (True, False):
                row = model.rows[number % len(model.rows)].copy()
                for split, left in (*above, (last, side)):
                    row[split.feature] = split.last_left if left else split.first_right
                yield "threshold", row
