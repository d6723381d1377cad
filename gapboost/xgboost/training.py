"""Training by XGBoost, from rows in grouped order to a booster."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost

from gapboost._boosters.progress import following, without_bars
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.stopping import check_stops
from gapboost._boosters.training import Training, Watch
from gapboost._kernels import Array
from gapboost.xgboost.callbacks import XGBoostRound
from gapboost.xgboost.inputs import drop_rounds_after_best, to_continue
from gapboost.xgboost.model_file import inscribe
from gapboost.xgboost.versions import check_categories, get_model_categories

# What XGBoost's own fitted ranker holds, and its booster.
Trained = tuple[dict[str, Any], xgboost.Booster]
# Training and held-out rows.
Bins = tuple[xgboost.DMatrix, xgboost.DMatrix]


def check_stopping(ranker: Any) -> None:
    """Raise ValueError if `stopping_metric` of a ranker would be ignored."""
    callbacks = [c for c in ranker.callbacks or [] if isinstance(c, xgboost.callback.EarlyStopping)]
    check_stops(ranker.stopping_metric, bool(ranker.early_stopping_rounds or callbacks))
    named = next((c.metric_name for c in callbacks if c.metric_name is not None), None)
    if ranker.stopping_metric is not None and named is not None:
        raise ValueError(
            f"stopping_metric is {ranker.stopping_metric!r}, but metric_name of the early stopping "
            f"callback is {named!r}; expected one of them"
        )


def boost(
    ranker: Any,
    training: Training,
    *,
    verbose: bool | int | None,
    xgb_model: Any,
    feature_weights: Any,
) -> Trained:
    """Train; return the attributes of a fitted `xgboost.XGBRanker`, and its booster.

    Parameters
    ----------
    ranker : XGBGAPRanker
        Its parameters say how to read features, when to stop and what to call.
    training : Training
    verbose, xgb_model, feature_weights
        Arguments of `XGBRanker.fit`.
    """
    # A model to continue brings the codes of its categories: those of another data frame can
    # differ.
    model = xgb_model.get_booster() if isinstance(xgb_model, xgboost.XGBModel) else xgb_model
    model, feature_types = get_model_categories(
        training.rows.X, to_continue(model), ranker.feature_types
    )
    train = _matrix(ranker, training.rows, feature_types, feature_weights, None)
    evals = [
        (
            train if rows is training.rows else _matrix(ranker, rows, feature_types, None, train),
            f"validation_{i}",
        )
        for i, rows in enumerate(training.evaluation_sets)
    ]
    evals_result: dict[str, dict[str, list[float]]] = {}
    with (
        xgboost.config_context(verbosity=ranker.verbosity),
        following(ranker.callbacks, ranker._n_rounds),
    ):
        trained = xgboost.train(
            dict(training.task.request.parameters),
            train,
            num_boost_round=ranker._n_rounds,
            evals=evals,
            obj=_gradients(training),
            custom_metric=XGBoostRound(training, [matrix for matrix, _ in evals]),
            early_stopping_rounds=ranker.early_stopping_rounds,
            evals_result=evals_result,
            verbose_eval=verbose,
            xgb_model=model,
            callbacks=_with_booster(ranker.callbacks, training),
        )
    booster = drop_rounds_after_best(trained)
    inscribe(booster, training.task.objective, ranker.missing)
    return {"_Booster": booster, "evals_result_": evals_result}, booster


def binned(ranker: Any, train: RankingRows, held_out: RankingRows) -> Bins:
    """Return training and held-out rows as XGBoost keeps them, binned by the training rows."""
    _, feature_types = get_model_categories(train.X, None, ranker.feature_types)
    first = _matrix(ranker, train, feature_types, ranker.feature_weights, None)
    return first, _matrix(ranker, held_out, feature_types, None, first)


def boost_on_bins(
    ranker: Any,
    training: Training,
    bins: Bins,
    watch: Watch,
) -> None:
    """Train on binned rows; call `watch` with the held-out scores after each round."""

    def metric(scores: Array, _: xgboost.DMatrix) -> list[Any]:
        watch(scores)
        return []

    with xgboost.config_context(verbosity=ranker.verbosity):
        xgboost.train(
            dict(training.task.request.parameters),
            bins[0],
            num_boost_round=ranker._n_rounds,
            evals=[(bins[1], "held_out")],
            obj=_gradients(training),
            custom_metric=metric,
            verbose_eval=False,
            callbacks=_with_booster(without_bars(ranker.callbacks), training),
        )


def _gradients(training: Training) -> Callable[[Array, xgboost.DMatrix], tuple[Array, Array]]:
    return lambda preds, _: training.gradients(preds)


class BoosterCallback(xgboost.callback.TrainingCallback):  # type: ignore[misc]
    """Tell a training its booster, before the first round."""

    def __init__(self, training: Training) -> None:
        self.current = training.current

    def before_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Called by XGBoost before each round."""
        self.current.booster = model
        return False


def _with_booster(callbacks: Any, training: Training) -> Any:
    """Return the callbacks, with one for factors of positions if the training learns them."""
    return (
        [*(callbacks or ()), BoosterCallback(training)]
        if training.biased is not None
        else callbacks
    )


def _matrix(
    ranker: xgboost.XGBRanker,
    rows: RankingRows,
    feature_types: Any,
    feature_weights: Any,
    train: xgboost.DMatrix | None,
) -> xgboost.DMatrix:
    """Return the matrix that XGBRanker chooses; query codes are small integers for all ids."""
    if ranker.enable_categorical:
        check_categories(rows.X, "X")
    return ranker._create_ltr_dmatrix(
        train,
        rows.X,
        np.repeat(np.arange(len(rows.sizes), dtype=np.uint32), rows.sizes),
        label=rows.y,
        weight=rows.data.weights if rows.weighted else None,
        base_margin=rows.start,
        missing=ranker.missing,
        feature_types=feature_types,
        feature_weights=feature_weights,
        enable_categorical=ranker.enable_categorical,
    )
