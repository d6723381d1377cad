"""Callbacks of a LightGBM fit: the trees after each round, and early stopping by one metric."""

from collections.abc import Iterable
from copy import copy
from typing import Any

import lightgbm

from gapboost._boosters.metrics import Metrics
from gapboost._boosters.rows import RankingRows
from gapboost._kernels import Array
from gapboost.lightgbm.private import EarlyStopping, value_of


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


def by_first_metric(callbacks: Iterable[Any]) -> list[Any]:
    """Return the callbacks; copies of early stopping use the first metric alone."""
    changed = []
    for callback in callbacks:
        if isinstance(callback, EarlyStopping):
            callback = copy(callback)
            callback.first_metric_only = True
        changed.append(callback)
    return changed


class RoundMetrics:
    """Metrics of all evaluation sets of a fit, as `lightgbm.LGBMRanker` calls them.

    Parameters
    ----------
    metrics : Metrics
    train : RankingRows
    sets : list of RankingRows
    """

    def __init__(self, metrics: Metrics, train: RankingRows, sets: list[RankingRows]) -> None:
        self.metrics = metrics
        # LightGBM scores the training set first, and once.
        others = [rows for rows in sets if rows is not train]
        self.expected = [train, *others] if len(others) < len(sets) else others
        self.known: dict[int, RankingRows] = {}

    # LightGBM calls copies of its callables.
    def __deepcopy__(self, memo: dict[int, Any]) -> "RoundMetrics":
        return self

    def __call__(self, y_true: Array, y_pred: Array) -> list[tuple[str, float, bool]]:
        """``[(name, value, is_higher_better)]``."""
        # LightGBM passes the same array of labels for an evaluation set in every round, and the
        # sets in the same order.
        key = id(y_true)
        if key not in self.known:
            self.known[key] = self.expected[len(self.known)]
        values = self.metrics.values(y_pred, self.known[key].data)
        return [(name, value, True) for name, value in values]


def as_booster(model: Any) -> lightgbm.Booster:
    """Return the booster of a model, or of its file."""
    if isinstance(model, lightgbm.LGBMModel):
        return model.booster_
    return model if isinstance(model, lightgbm.Booster) else lightgbm.Booster(model_file=model)
