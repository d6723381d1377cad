"""Parts of a LightGBM fit: arguments, metrics and callbacks as LightGBM takes them."""

from copy import copy
from functools import cache
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.metrics import Metrics, metric_names
from gapboost._boosters.plan import Plan
from gapboost._boosters.rows import RankingRows
from gapboost._data.features import check_arrow_numbers, check_names, feature_names
from gapboost._kernels import Array
from gapboost.lightgbm import private
from gapboost.lightgbm.callbacks import OF_OBJECTIVES
from gapboost.lightgbm.private import EarlyStopping, value_of
from gapboost.measures import Measure

# Other parameters of LightGBM's objectives and metrics, with all names of each.
OF_METRICS = ("label_gain", "metric", "eval_at", "objective_seed", "is_unbalance")


@cache
def ignored_parameters() -> frozenset[str]:
    """Return the names of parameters that change nothing here."""
    names = {"class_weight", "scale_pos_weight", *(private.aliases("objective") - {"objective"})}
    for name in OF_METRICS:
        names |= private.aliases(name)
    return OF_OBJECTIVES | names | private.overruled()


def read_exactly(X: Any, name: str) -> Any:
    """Return a table of `features` that LightGBM reads without rounding or a crash."""
    check_arrow_numbers(X, name)
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run
    # together.
    exact = not isinstance(X, np.ndarray) or np.can_cast(X.dtype, np.float32)
    return X if exact else X.astype(np.float64, copy=False)


def evaluation_pairs(eval_set: Any, X: Any, y: Any) -> Any:
    """Return `eval_set`, or `eval_X` and `eval_y` in its form."""
    if X is None and y is None:
        return eval_set
    tables, labels = (given if isinstance(given, tuple) else (given,) for given in (X, y))
    if eval_set is not None or len(tables) != len(labels):
        raise ValueError(
            f"eval_X has {len(tables)} entries, eval_y {len(labels)}, and eval_set is "
            f"{'None' if eval_set is None else 'given'}; expected as many of both and no eval_set"
        )
    return list(zip(tables, labels, strict=True))


def check_continued(model: lightgbm.Booster, rows: RankingRows, feature_name: Any) -> None:
    """Check that a model to continue has the columns of training."""
    names = feature_names(rows.X) if isinstance(feature_name, str) else feature_name
    known = model.feature_name()
    # LightGBM's own names, where there were none.
    if known != [f"Column_{i}" for i in range(len(known))]:
        check_names([name.replace(" ", "_") for name in names], known, "X")


def by_first_metric(callback: Any) -> Any:
    """Return a callback; a copy that uses the first metric alone if it is early stopping."""
    if isinstance(callback, EarlyStopping):
        callback = copy(callback)
        callback.first_metric_only = True
    return callback


class TreeCounter:
    """Count the trees after each round: one that finds no split adds none.

    LightGBM counts such rounds in its best iteration. A dart model has lost the trees that the
    round dropped.
    """

    before_iteration = False
    order = 0  # before early stopping

    def __init__(self) -> None:
        self.counts: list[int] = []

    def __call__(self, env: Any) -> None:
        """Called by LightGBM after each round."""
        self.counts.append(env.model.current_iteration())
        stuck = len(self.counts) > 1 and self.counts[-1] == self.counts[-2]
        if stuck and value_of("boosting", env.params) == "dart":
            raise ValueError(
                f"boosting_type is 'dart', and round {len(self.counts)} found no split, after "
                "which LightGBM's model is wrong; expected fewer rounds, gbdt, or parameters that "
                "let every round find a split"
            )


def round_metrics(plan: Plan, rows: RankingRows, sets: list[RankingRows]) -> list[Any]:
    """Return the metrics of a fit as `lightgbm.LGBMRanker` takes them; the first stops training."""
    measures = [metric for metric in plan.metrics if isinstance(metric, Measure)]
    functions = [metric for metric in plan.metrics if not isinstance(metric, Measure)]
    names = metric_names(measures)
    # LightGBM scores the training set first, and once.
    others = [s for s in sets if s is not rows]
    in_order = iter([rows, *others] if len(others) < len(sets) else others)
    known: dict[int, Metrics] = {}

    def of_round(y_true: Array, y_pred: Array) -> list[tuple[str, float, bool]]:
        # LightGBM passes the same array of labels for an evaluation set in every round, and the
        # sets in the same order.
        if id(y_true) not in known:
            data = next(in_order).data
            known[id(y_true)] = Metrics(measures, data, names, plan.n_jobs, private.TEAM)
        return [(name, value, True) for name, value in known[id(y_true)](y_pred)]

    first_is_function = plan.metrics[0] is not measures[0]
    return [*functions, of_round] if first_is_function else [of_round, *functions]
