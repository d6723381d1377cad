"""The call of `lightgbm.train` in a fit, and its metrics."""

from collections.abc import Callable, Sequence
from typing import Any

import lightgbm

from gapboost._boosters.metrics import Metrics
from gapboost._boosters.plan import Plan
from gapboost.data.dataset import RankingDataset
from gapboost.lightgbm import _compat
from gapboost.lightgbm.callbacks import LightGBMMetric, by_first_metric
from gapboost.validation import as_integer, short_repr


def train_booster(
    parameters: dict[str, object],
    train: lightgbm.Dataset,
    n_rounds: int | None,
    callbacks: Sequence[Callable[..., object]],
    **data: object,
) -> lightgbm.Booster:
    """Call `lightgbm.train`, in which the first metric stops training.

    `data` are its arguments `valid_sets`, `valid_names`, `feval` and `init_model`.
    """
    if n_rounds is None and _compat.value_of("num_iterations", parameters) is None:
        as_integer(n_rounds, "n_estimators", 0)  # None is XGBoost's default
    if parameters.get("first_metric_only") is not False:
        parameters["first_metric_only"] = True
        callbacks = [by_first_metric(callback) for callback in callbacks]
    try:
        return lightgbm.train(
            parameters,
            train,
            n_rounds,
            callbacks=callbacks,
            keep_training_booster=True,  # its text is read once, by `with_objective_name`
            **data,
        )
    except _compat.LightGBMError as error:
        # So LightGBM says it, where an objective is a function.
        if "num_features()" in str(error):
            raise ValueError(
                f"X has no feature that can split its {train.num_data()} rows; expected columns "
                "that vary, and a min_child_samples of at most half of the rows"
            ) from error
        raise


def metrics_of(plan: Plan, valid: list[lightgbm.Dataset], sets: list[RankingDataset]) -> list[Any]:
    """Return the metrics of a fit as `lightgbm.train` takes them; the first stops training."""
    metric = LightGBMMetric(plan.measures, plan.n_jobs)
    for data_set, data in zip(valid, sets, strict=True):
        means = Metrics(plan.measures, metric.names, data.query_data, plan.n_jobs, _compat.TEAM)
        metric.bind(data_set, means)
    functions = [_checked(_compat.as_feval(f), metric.names) for f in plan.functions]
    return [*functions, metric] if plan.stopping in plan.functions else [metric, *functions]


def _checked(function: Callable[..., Any], names: Sequence[str]) -> Callable[..., object]:
    """Return a function of LightGBM's metrics that raises for what is no result of one.

    `names` are those of the measures in the report.
    """

    def checked(scores: object, data: object) -> object:
        found = function(scores, data)
        for one in found if isinstance(found, list) else [found]:
            if not isinstance(one, tuple | list) or len(one) != 3:
                raise TypeError(
                    f"a function of eval_metric returned {short_repr(one)}; expected (name, value, "
                    "is_higher_better), or a list of them"
                )
            if one[0] in names:
                raise ValueError(
                    f"eval_metric holds a function that reports {one[0]!r}, as a measure does; "
                    "expected another name"
                )
        return found

    return checked
