"""Names of XGBoost that are not part of its interface, checked with 3.1.2, 3.2.0 and 3.4.1."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib.util import find_spec
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
import xgboost
from xgboost.core import _LIB
from xgboost.sklearn import get_model_categories, ltr_metric_decorator

from gapboost._kernels.threads import openmp_team
from gapboost.data import Array, ArrayLike, RankingDataset, column_contents, column_names
from gapboost.data.features import is_pandas
from gapboost.validation import short_repr

# The threads that XGBoost computes on.
TEAM = openmp_team(_LIB)

# What XGBoost says of values, and what is said here.
UNUSABLE_VALUES = {
    "`inf`": (
        "infinite values, or some beyond float32; expected finite ones or NaN, such as "
        "{name}.clip(-1e30, 1e30)"
    ),
    "Category index from DataFrame has floating|must have at least one category": (
        "categories that are floats, or a column of categories without any; expected the types of "
        "training: {name}.astype(X_train.dtypes)"
    ),
    r"DataFrame input for the: (\d+)th feature": (
        "another type of {column!r} than training; expected numbers in both, or categories of one "
        "type"
    ),
}


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
    with usable_values(data.X, name, train):
        matrix = ranker._create_ltr_dmatrix(
            train,
            data.X,
            # Small integers for query ids of any kind.
            np.repeat(np.arange(len(queries), dtype=np.uint32), queries.sizes),
            label=data.query_data.first_label,
            weight=data.query_data.weights if data.weights_given else None,
            base_margin=data.init_score,
            missing=ranker.missing,
            enable_categorical=ranker.enable_categorical,
            feature_types=feature_types,
            feature_weights=weights,
        )
    if train is not None:
        # Where both have names, they are equal. XGBoost refuses names on one side.
        matrix.feature_names = train.feature_names
    return matrix


def types_to_continue(ranker: xgboost.XGBRanker, X: Any, before: xgboost.Booster | None) -> Any:
    """Return the types of columns; a model to continue brings the codes of its categories.

    Those of another data frame can differ. A linear model has none.
    """
    is_linear = ranker.booster == "gblinear"
    if before is not None and not is_linear:
        check_categories(X, "X", before)
    return get_model_categories(X, None if is_linear else before, ranker.feature_types)[1]


def as_metric(function: Callable[..., Any], n_jobs: int | None) -> Callable[..., tuple[str, float]]:
    """Return a metric of one query, as `XGBRanker` takes it, as `xgboost.train` takes it.

    It raises TypeError for what is no number.
    """
    if not hasattr(function, "__name__"):
        raise TypeError(
            f"eval_metric is {short_repr(function)}, which has no __name__; expected a function "
            "with one, which XGBoost reports"
        )

    @wraps(function)
    def checked(y_true: Array, y_score: Array) -> float:
        value = function(y_true, y_score)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise TypeError(
                f"{function.__name__} of eval_metric returned {short_repr(value)}; expected a "
                "number, the value of the one query that XGBoost passes"
            ) from None

    metric: Callable[..., tuple[str, float]] = ltr_metric_decorator(checked, n_jobs)
    return metric


@contextmanager
def usable_values(X: object, name: str = "X", trained: Any = None) -> Iterator[None]:
    """Turn XGBoost's errors for values of `X`, with their stack, into a ValueError.

    `trained` is the matrix of training or the booster, whose categories `X` must have.
    """
    if trained is not None:
        check_categories(X, name, trained)
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


def check_categories(X: Any, name: str, trained: xgboost.DMatrix | xgboost.Booster) -> None:
    """Raise ValueError for a category that training lacks.

    XGBoost 3.2 raises only if it comes last in the alphabet, and takes others for the next one. It
    hands out the categories of training by pyarrow alone.
    """
    of_columns = [c for c, content in column_contents(X).items() if content == "category"]
    if not of_columns or find_spec("pyarrow") is None:
        return
    names = column_names(X)
    known = trained.get_categories(export_to_arrow=True).to_arrow()
    for column in of_columns:
        _, categories = known[names.index(column)]
        if categories is None:
            continue  # numbers in training, which XGBoost refuses itself
        trained_with = set(categories.to_pylist())
        if is_pandas(X) and trained_with.issuperset(X[column].dtype.categories):
            continue  # to read the values takes longer than to predict a few rows
        values = nw.from_native(X, eager_only=True)[column]
        found = values.drop_nulls().unique().to_list()
        if lacking := set(found).difference(trained_with):
            how = "cat.set_categories" if is_pandas(X) else "cast(polars.Enum(...), strict=False)"
            raise ValueError(
                f"{name} has the category {min(lacking)!r} in {column!r}, which training lacks; "
                f"expected categories of training, and others missing, as {how} makes them"
            )


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
