"""Files of a model and of rows and scores beside it, which `verify` compares with an engine's."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import check_array

from gapboost.data import (
    Array,
    ArrayLike,
    check_names,
    column_contents,
    feature_names,
    features,
    without_qid,
)
from gapboost.export.trees import Neighbors, Node, Split, leaf_values, lowest_leaf, read_model
from gapboost.optional import DataFrame, frame
from gapboost.preprocessing.query_relative import KINDS
from gapboost.validation import PathLike, as_number, short_repr

# Rows at thresholds are made for at most so many splits.
SPLITS = 200

# Largest difference of scores that is rounding, for each tree from the 300th on and relative to the
# largest sum of leaves. Engines add in float32.
ENGINE_ROUNDING = 1e-6 / 300


# Added to all scores.
Shift: TypeAlias = float | Literal["auto"]


class Engine(NamedTuple):
    """A search engine, which compares float32 numbers.

    Attributes
    ----------
    name : str
        For messages.
    neighbors : callable
        The last float32 number that it sends left at a threshold, and the next number.
    content : callable
        Returns what to write for the name of a model, its trees and its names of features.
    """

    name: str
    neighbors: Neighbors
    content: Callable[[str, list[Node], list[str]], object]


def write_files(
    engine: Engine,
    ranker: object,
    X: object,
    path: PathLike,
    names: Sequence[str] | None,
    shift: Shift,
) -> Path:
    """Write a model as JSON, and the rows and scores to verify next to it.

    `shift` is added to all scores. Returns the path of the second file.

    Raises
    ------
    TypeError, ValueError, NotFittedError
        If the engine would compute other scores, or an argument is unusable.
    """
    table, _ = without_qid(X)
    other = [name for name, content in column_contents(table).items() if content != "number"]
    if other:
        raise ValueError(
            f"X has the columns {other}; expected numbers in every column, and a ranker trained on "
            "them, such as those of pandas.get_dummies(X)"
        )
    trees, trained, predict = read_model(ranker, engine.neighbors)
    columns = feature_names(table)
    # LightGBM writes "_" for white space in names.
    written, expected = ([name.replace(" ", "_") for name in each] for each in (columns, trained))
    check_names(written, expected, "X")
    # Whatever their names in the engine.
    endings = tuple(f"_{made}_in_query" for made in KINDS)
    relative = [name for name in dict.fromkeys((*trained, *columns)) if name.endswith(endings)]
    if relative:
        raise ValueError(
            f"ranker reads {short_repr(relative)}, made within the query; expected "
            "features of one document"
        )
    samples = check_array(
        features(table), dtype=np.float32, ensure_all_finite="allow-nan", input_name="X"
    )
    n_features = samples.shape[1]
    own = columns or trained
    names = list(own if names is None else names)
    if moved := [
        name for name, mine in zip(names, own, strict=False) if name != mine and name in own
    ]:
        raise ValueError(
            f"feature_names has {short_repr(moved)} at other places than the columns; expected "
            "names in their order"
        )
    if not len(set(names)) == len(names) == n_features:
        raise ValueError(
            f"feature_names is {short_repr(names)}; expected {n_features} different names, one for "
            "each column of X"
        )
    rounding = ENGINE_ROUNDING * max(300, len(trees))
    if shift == "auto":
        lowest = [lowest_leaf(root) for root in trees]
        # Not below 0 after rounding either.
        shift = max(0.0, rounding * sum(map(abs, lowest)) - sum(lowest))
    shift = as_number(shift, "shift", -1e30, 1e30)
    trees = [*trees, shift] if shift else trees
    contents, listed = zip(*_rows_to_verify(trees, samples.astype(np.float64)), strict=True)
    rows = np.array(listed)
    scores = np.asarray(predict(rows), dtype=np.float64) + shift
    leaves = np.array([leaf_values(root, rows) for root in trees])
    tolerance = rounding * float(np.abs(leaves).sum(axis=0).max())
    sums = leaves.sum(axis=0)
    if tolerance > np.ptp(sums) / 10 > 0:
        raise ValueError(
            f"ranker has scores of {sums.min():.9g} to {sums.max():.9g}, so close that "
            "rounding changes their order; expected scores that differ more, or are nearer to 0"
        )
    wrong = np.flatnonzero(~(np.abs(sums - scores) <= tolerance))
    if len(wrong):
        row = wrong[0]
        raise ValueError(
            f"ranker predicts {scores[row]:.6g} for {short_repr(rows[row].tolist())}; "
            f"{engine.name} computes {sums[row]:.6g}; expected equal scores"
        )
    checks = {
        "feature_names": names,
        "tolerance": tolerance,
        "contents": contents,
        "rows": [[None if np.isnan(value) else value for value in row] for row in rows.tolist()],
        "scores": scores.tolist(),
    }
    target = Path(path)
    verification = target.with_suffix(".verification.json")
    model = engine.content(target.stem, trees, names)
    target.write_text(json.dumps(model, allow_nan=False), encoding="utf-8")
    verification.write_text(json.dumps(checks, allow_nan=False), encoding="utf-8")
    return verification


def _rows_to_verify(trees: list[Node], samples: Array) -> Iterator[tuple[str, Array]]:
    """Yield sample rows, rows with missing values and rows at thresholds, and what each one is."""
    n_features = samples.shape[1]

    def changed(number: int, features: int | slice, value: float) -> Array:
        row: Array = samples[number % len(samples)].copy()
        row[features] = value
        return row

    yield from (("sample", row) for row in samples)
    for feature in range(n_features):
        yield "missing value", changed(feature, feature, np.nan)
    yield "missing value", changed(0, slice(None), np.nan)
    # A sample row follows each tree. At each split it gets the values on either side.
    splits: Counter[int] = Counter()
    for number, root in enumerate(trees):
        node = root
        while isinstance(node, Split):
            if splits[node.feature] < max(1, SPLITS // n_features):
                splits[node.feature] += 1
                if node.last_left < node.first_right:  # there are numbers on both sides
                    yield "threshold", changed(number, node.feature, node.last_left)
                    yield "threshold", changed(number, node.feature, node.first_right)
            sample = samples[[number % len(samples)]]
            node = node.left if node.goes_left(sample)[0] else node.right


def verify(verification: PathLike, scores: ArrayLike) -> DataFrame:
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
    if not isinstance(verification, str | os.PathLike):
        raise TypeError(
            f"verification is {short_repr(verification)}; expected the path that an export "
            "returns, before the scores"
        )
    checks = json.loads(Path(verification).read_text(encoding="utf-8"))
    if "scores" not in checks:
        raise ValueError(
            f"{verification} holds no scores; expected the path that an export returns"
        )
    expected, found = np.array(checks["scores"]), np.asarray(scores, dtype=np.float64)
    if found.shape != expected.shape:
        raise ValueError(
            f"scores has shape {found.shape}; expected {expected.shape}, one score for each row of "
            "the file"
        )
    table = frame({"content": checks["contents"], "expected": expected, "found": found})
    # NaN differs from everything.
    return table.rename_axis("row")[~(np.abs(found - expected) <= checks["tolerance"])]
