"""Training by LightGBM, from rows in grouped order to a booster."""

from collections.abc import Collection, Mapping
from typing import Any

import lightgbm
from lightgbm.callback import CallbackEnv

from gapboost._boosters.progress import following
from gapboost._boosters.rows import RankingRows
from gapboost._boosters.stopping import check_stops, stops_early
from gapboost._boosters.training import Training, Watch
from gapboost._data.features import feature_names
from gapboost._kernels import Array
from gapboost.lightgbm.callbacks import LightGBMRound
from gapboost.lightgbm.inputs import (
    EARLY_STOPPING_CALLBACK,
    read_exactly,
    row_weights,
    stopping_by_the_first,
    to_continue,
    usable_features,
)
from gapboost.lightgbm.model_text import inscribe
from gapboost.lightgbm.versions import evaluation_sets

# What LightGBM's own fitted ranker holds, and its booster.
Trained = tuple[dict[str, Any], lightgbm.Booster]
# Training and held-out rows.
Bins = tuple[lightgbm.Dataset, lightgbm.Dataset]

NO_NETWORK: Mapping[str, Any] = {}


def check_stopping(stopping_metric: Any, parameters: Mapping[str, Any], callbacks: Any) -> None:
    """Raise ValueError if `stopping_metric` of a ranker would be ignored."""
    given = callbacks if isinstance(callbacks, Collection) else ()
    check_stops(
        stopping_metric,
        stops_early(parameters) or any(isinstance(c, EARLY_STOPPING_CALLBACK) for c in given),
    )
    if parameters.get("first_metric_only") not in (None, True):
        raise ValueError(
            f"stopping_metric is {stopping_metric!r}, but first_metric_only is False, by which "
            "every metric stops training; expected one of them"
        )


def boost(
    training: Training,
    n_rounds: int,
    *,
    eval_names: Any,
    feature_name: Any,
    categorical_feature: Any,
    callbacks: Any,
    init_model: Any,
    network: Mapping[str, Any] = NO_NETWORK,
) -> Trained:
    """Train; return the attributes of the fitted `lightgbm.LGBMRanker`, and its booster.

    Parameters
    ----------
    training : Training
    n_rounds : int
    eval_names, feature_name, categorical_feature, callbacks, init_model
        Arguments of `LGBMRanker.fit`.
    network : mapping
        LightGBM's parameters of the network between workers, if the rows are one worker's.
    """
    rows, n_sets = training.rows, len(training.evaluation_sets)
    if eval_names is not None and (
        not isinstance(eval_names, list | tuple) or len(eval_names) != n_sets
    ):
        raise ValueError(
            f"eval_names is {eval_names!r}; expected a list with a name for each evaluation set"
        )
    X, y = read_exactly(rows.X, "X"), rows.y
    evaluation_arguments = _evaluation_arguments(training, X, y)
    if init_model is not None:
        init_model = to_continue(
            init_model, feature_names(X) if isinstance(feature_name, str) else feature_name
        )
    # Training happens on a fresh LGBMRanker: an error or an interrupt leaves the user's as it was.
    trained = _own_ranker(training, network)
    if trained.get_params()["first_metric_only"]:
        callbacks = stopping_by_the_first(callbacks)
    with usable_features(), following(callbacks, n_rounds):
        trained.fit(
            X,
            y,
            sample_weight=row_weights(rows),
            init_score=rows.start,
            group=rows.sizes,
            **evaluation_arguments,
            eval_names=eval_names,
            feature_name=feature_name,
            categorical_feature=categorical_feature,
            callbacks=_with_booster(callbacks, training),
            init_model=init_model,
        )
    inscribe(trained.booster_, training.task.objective)
    _leave_network(trained.booster_, network)
    return _learned(trained), trained.booster_


def _evaluation_arguments(training: Training, X: Any, y: Array) -> dict[str, Any]:
    """Return the arguments of `LGBMRanker.fit` about evaluation sets, for training `X`, `y`."""
    rows, sets = training.rows, training.evaluation_sets
    # LightGBM recognizes the training set among the evaluation sets by the same two objects.
    eval_X = [X if e is rows else read_exactly(e.X, f"eval_set[{i}] X") for i, e in enumerate(sets)]
    return {
        **evaluation_sets(eval_X, [y if e is rows else e.y for e in sets]),
        "eval_group": [e.sizes for e in sets] or None,
        "eval_sample_weight": [row_weights(e) for e in sets],
        "eval_init_score": [e.start for e in sets],
        "eval_metric": LightGBMRound(training),
    }


def _leave_network(booster: lightgbm.Booster, network: Mapping[str, Any]) -> None:
    if network:
        booster.free_network()
        for name in network:
            booster.params.pop(name)


def _learned(trained: lightgbm.LGBMRanker) -> dict[str, Any]:
    # Its objective holds the training data.
    not_learned = {*trained.get_params(), "_other_params", "_objective"}
    return {name: value for name, value in vars(trained).items() if name not in not_learned}


def binned(train: RankingRows, held_out: RankingRows) -> Bins:
    """Return training and held-out rows as LightGBM keeps them, binned by the training rows."""
    X, held_out_X = read_exactly(train.X, "X"), read_exactly(held_out.X, "X")
    # Kept raw: LightGBM bins again by itself should a candidate change how, instead of refusing.
    first = lightgbm.Dataset(
        X, train.y, weight=row_weights(train), group=train.sizes, free_raw_data=False
    )
    second = lightgbm.Dataset(
        held_out_X, held_out.y, group=held_out.sizes, reference=first, free_raw_data=False
    )
    return first, second


def boost_on_bins(
    training: Training,
    n_rounds: int,
    bins: Bins,
    watch: Watch,
) -> None:
    """Train on binned rows; call `watch` with the held-out scores after each round."""

    def feval(scores: Array, _: lightgbm.Dataset) -> list[Any]:
        watch(scores)
        return []

    with usable_features():
        lightgbm.train(
            # What `fit` would train with, to the letter.
            _own_ranker(training)._process_params("fit"),
            bins[0],
            num_boost_round=n_rounds,
            valid_sets=[bins[1]],
            feval=feval,
            callbacks=_with_booster(None, training),
            keep_training_booster=True,
        )


def _own_ranker(training: Training, network: Mapping[str, Any] = NO_NETWORK) -> lightgbm.LGBMRanker:
    """Return LightGBM's own ranker with our gradients; it stops by the first metric."""

    def gradients(y_true: Array, y_pred: Array) -> tuple[Array, Array]:
        return training.gradients(y_pred)

    parameters = {**training.task.request.parameters, **network}
    if parameters.get("first_metric_only") is None:
        parameters["first_metric_only"] = True
    return lightgbm.LGBMRanker(**parameters, objective=gradients, metric="None")


class BoosterCallback:
    """Tell a training its booster, before the first round."""

    before_iteration = True
    order = 0

    def __init__(self, training: Training) -> None:
        self.current = training.current

    def __call__(self, env: CallbackEnv) -> None:
        """Called by LightGBM before each round."""
        self.current.booster = env.model


def _with_booster(callbacks: Any, training: Training) -> Any:
    """Return the callbacks, with one for factors of positions if the training learns them."""
    usable = callbacks is None or isinstance(callbacks, Collection)  # LightGBM refuses others
    return (
        [*(callbacks or ()), BoosterCallback(training)]
        if usable and training.biased is not None
        else callbacks
    )
