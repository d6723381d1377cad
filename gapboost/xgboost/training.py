"""Parts of an XGBoost fit: matrices, metrics and errors."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.metrics import Metrics
from gapboost._boosters.parameters import check_positions
from gapboost._boosters.plan import Plan
from gapboost._boosters.rows import RankingRows
from gapboost._data.features import feature_names
from gapboost._kernels import Array
from gapboost.measures import Measure
from gapboost.xgboost import private
from gapboost.xgboost.device import values_on

# Parameters of XGBoost's own ranking objectives and metrics.
IGNORED = frozenset(
    (
        "lambdarank_bias_norm",
        "lambdarank_normalization",
        "lambdarank_num_pair_per_sample",
        "lambdarank_pair_method",
        "lambdarank_score_normalization",
        "lambdarank_unbiased",
        "ndcg_exp_gain",
        "scale_pos_weight",
    )
)


def learning_rate(ranker: Any) -> float:
    """Return the learning rate of a ranker's trees, under either name, or XGBoost's own."""
    default = 0.5 if ranker.booster == "gblinear" else 0.3
    rate = ranker.learning_rate
    found = ranker.get_params().get("eta", default) if rate is None else rate
    return float(found)


def check_stopping(ranker: Any) -> None:
    """Raise ValueError if `stopping_metric` would be ignored."""
    if ranker.stopping_metric is None:
        return
    stopping = f"stopping_metric is {ranker.stopping_metric!r}"
    callbacks = [c for c in ranker.callbacks or [] if isinstance(c, xgboost.callback.EarlyStopping)]
    if not ranker.early_stopping_rounds and not callbacks:
        raise ValueError(
            f"{stopping}, but early stopping is off; expected early_stopping_rounds, an early "
            "stopping callback, or stopping_metric=None"
        )
    named = next((c.metric_name for c in callbacks if c.metric_name is not None), None)
    if named is not None:
        raise ValueError(
            f"{stopping}, but metric_name of the early stopping callback is {named!r}; expected "
            "one of them"
        )


def round_metrics(
    plan: Plan, data: dict[int, RankingRows], device: Any = None
) -> Callable[[Array, xgboost.DMatrix], list[tuple[str, float]]]:
    """Return the metrics of a fit; the last one stops training.

    `data` has the rows of each matrix by its id.
    """
    measures = [metric for metric in reversed(plan.metrics) if isinstance(metric, Measure)]
    functions = [
        private.ltr_metric_decorator(metric, plan.n_jobs)
        for metric in reversed(plan.metrics)
        if not isinstance(metric, Measure)
    ]
    metrics = Metrics(measures, plan.n_jobs, private.TEAM)
    on_device = {key: values_on(device, measures, rows.data) for key, rows in data.items()}

    def metric(scores: Array, matrix: xgboost.DMatrix) -> list[tuple[str, float]]:
        key = id(matrix)
        values = metrics.values(scores, data[key].data, compute=on_device[key])
        of_functions = [function(scores, matrix) for function in functions]
        first_is_function = not isinstance(plan.metrics[0], Measure)
        return [*values, *of_functions] if first_is_function else [*of_functions, *values]

    return metric


def ranking_matrix(
    ranker: Any,
    rows: RankingRows,
    feature_types: Any,
    feature_weights: Any = None,
    train: xgboost.DMatrix | None = None,
) -> xgboost.DMatrix:
    """Return the matrix that XGBRanker chooses; query codes are small integers for all ids."""
    return private.ranking_matrix(
        ranker,
        rows.X,
        np.repeat(np.arange(len(rows.sizes), dtype=np.uint32), rows.sizes),
        train,
        label=rows.y,
        weight=rows.data.weights if rows.weighted else None,
        base_margin=rows.start,
        feature_types=feature_types,
        feature_weights=feature_weights,
    )


@contextmanager
def clear_errors(rows: RankingRows, missing: Any) -> Iterator[None]:
    """Turn XGBoost's error for infinite features into a ValueError with their place."""
    try:
        yield
    except xgboost.core.XGBoostError as error:
        if "`inf`" not in str(error):
            raise
        raise ValueError(
            f"X holds infinite values{_first_infinite(rows)}; expected finite ones, or NaN for "
            f"missing values (missing is {missing!r})"
        ) from error


def _first_infinite(rows: RankingRows) -> str:
    """Return the row and the column of the first infinite value; empty if not of one array."""
    try:
        found = np.argwhere(np.isinf(np.asarray(rows.X, dtype=np.float64)))
    except (TypeError, ValueError):
        return ""
    if not len(found):
        return " of some evaluation set"
    row, column = found[0].tolist()
    original = row if rows.data.queries.rows is None else int(rows.data.queries.rows[row])
    name = (feature_names(rows.X) or range(rows.X.shape[1]))[column]
    return f", such as in row {original} of column {name!r}, counted from 0"


def checked_feature_weights(
    ranker: Any, rows: RankingRows, feature_weights: Any, qid_column: bool
) -> Any:
    """Return the feature weights; check parameters about columns, and the columns' names."""
    n_features = rows.X.shape[1]
    check_positions(
        "interaction_constraints", ranker.interaction_constraints, n_features, qid_column
    )
    if feature_weights is not None and ranker.feature_weights is not None:
        raise ValueError(
            "feature_weights is given in fit, and to the ranker too; expected one of them"
        )
    weights = ranker.feature_weights if feature_weights is None else feature_weights
    if weights is not None and np.shape(weights) != (n_features,):
        raise ValueError(
            f"feature_weights has shape {np.shape(weights)}; expected one weight for each of "
            f"{n_features} features"
        )
    bad = [name for name in feature_names(rows.X) if set("[]<") & set(name)]
    if bad:
        raise ValueError(f"X has a column {bad[0]!r}; expected a name without [, ] and <")
    return weights


def train_on_bins(
    ranker: Any,
    rows: RankingRows,
    bins: tuple[xgboost.DMatrix, xgboost.DMatrix],
    watch: Callable[[Array], None],
) -> None:
    """Train a ranker as `fit` does on binned rows; pass held-out scores to `watch` each round."""
    given = ranker.get_params(deep=False)
    plan, penalty = ranker._plan(given, rows.positions)
    rows = replace(rows, data=rows.data.up_to_grade(plan.objective.measure.n_grades))
    plan = plan.resolved(rows.data)
    gradients = ranker._gradients(plan, rows, ranker._position_factors(plan, rows, penalty))

    def metric(scores: Array, _: xgboost.DMatrix) -> list[Any]:
        watch(scores)
        return []

    with xgboost.config_context(verbosity=ranker.verbosity):
        xgboost.train(
            ranker._train_parameters(given),
            bins[0],
            num_boost_round=ranker.get_num_boosting_rounds(),
            evals=[(bins[1], "held_out")],
            obj=lambda scores, _: gradients(scores),
            custom_metric=metric,
            verbose_eval=False,
            callbacks=ranker.callbacks,
        )
