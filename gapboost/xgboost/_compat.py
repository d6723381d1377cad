"""Names of XGBoost that are not part of its interface, checked with 3.1.2, 3.2.0 and 3.4.1."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np
import xgboost
from xgboost.core import _LIB
from xgboost.sklearn import get_model_categories, ltr_metric_decorator

from gapboost._kernels import Array, ArrayLike
from gapboost._kernels.threads import openmp_team
from gapboost.data import column_names
from gapboost.data.dataset import RankingDataset

# The threads that XGBoost computes on.
TEAM = openmp_team(_LIB)

# What XGBoost says of values, and what is said here.
UNUSABLE_VALUES = {
    "`inf`": (
        "infinite values, or some beyond float32; expected finite ones or NaN, such as "
        "{name}.clip(-1e30, 1e30)"
    ),
    r"category not in the training set for the (\d+)th .* column: `(.*)`": (
        "the category {1!r} in {column!r}, which training lacks; expected categories of training, "
        "and others missing, as cat.set_categories makes them"
    ),
    r"DataFrame input for the: (\d+)th feature": (
        "another type of {column!r} than training; expected numbers in both, or categories of one "
        "type"
    ),
}

__all__ = ["TEAM", "get_model_categories", "ltr_metric_decorator"]


def ranking_matrix(
    ranker: xgboost.XGBRanker,
    data: RankingDataset,
    feature_types: Sequence[str] | None,
    train: xgboost.DMatrix | None = None,
    weights: ArrayLike | None = None,
    name: str = "X",
) -> xgboost.DMatrix:
    """Return the matrix that a ranker trains on, or of an evaluation set beside `train`.

    `weights` are those of the features, which the caller calls `name`.
    """
    queries = data.query_data.queries
    with usable_values(data.X, name):
        return ranker._create_ltr_dmatrix(
            train,
            data.X,
            # Small integers for query ids of any kind.
            np.repeat(np.arange(len(queries), dtype=np.uint32), queries.sizes),
            label=data.labels[0],
            weight=data.query_data.weights if data.weights_given else None,
            base_margin=data.init_score,
            missing=ranker.missing,
            enable_categorical=ranker.enable_categorical,
            feature_types=feature_types,
            feature_weights=weights,
        )


@contextmanager
def usable_values(X: object, name: str = "X") -> Iterator[None]:
    """Turn XGBoost's errors for values of `X`, with their stack, into a ValueError."""
    try:
        yield
    except xgboost.core.XGBoostError as error:
        for found, words in UNUSABLE_VALUES.items():
            if match := re.search(found, str(error)):
                # Categories are those of tables, whose columns have names.
                column = column_names(X)[int(match[1])] if match.groups() else None
                words = words.format(*match.groups(), name=name, column=column)
                raise ValueError(f"{name} has {words}") from error
        raise


def set_fitted(ranker: xgboost.XGBModel, booster: xgboost.Booster, evals_result: object) -> None:
    """Set the attributes of a fitted ranker; `evals_result` is None without an evaluation."""
    ranker._Booster = booster
    if evals_result is not None:
        ranker.evals_result_ = evals_result


def register_on_spark(ranker: type, model: type) -> None:
    """Give a Spark ranker the parameters of XGBoost, and its model."""
    from xgboost.spark.estimator import _set_pyspark_xgb_cls_param_attrs  # needs Spark

    _set_pyspark_xgb_cls_param_attrs(ranker, model)


def place_as_training(matrix: Any, train: Any, client: Any) -> None:
    """Give the parts of a Dask matrix to the workers that have training rows, some to each.

    XGBoost fails in a worker that has validation rows only and, if columns have names or
    categories, in one without validation rows: it gets a row whose weight is 0.
    """
    row = client.submit(_first_row, next(iter(matrix.worker_map.values()))[0])
    placed = {worker: matrix.worker_map.pop(worker, []) for worker in train.worker_map}
    for part in chain.from_iterable(matrix.worker_map.values()):
        worker = min(placed, key=lambda worker: len(placed[worker]))
        placed[worker].append(client.submit(dict, part, workers=[worker], pure=False))
    for worker, parts in placed.items():
        if not parts:
            parts.append(client.submit(dict, row, workers=[worker], pure=False))
    matrix.worker_map = placed


def _first_row(part: dict[str, Array]) -> dict[str, Array]:
    return {**{name: values[:1] for name, values in part.items()}, "weight": np.zeros(1)}
