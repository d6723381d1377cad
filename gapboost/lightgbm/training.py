"""Parts of a LightGBM fit: arguments, metrics and callbacks as LightGBM takes them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any

import lightgbm
import numpy as np

from gapboost._boosters.metrics import Metrics
from gapboost._boosters.parameters import EARLY_STOPPING
from gapboost._boosters.plan import Plan
from gapboost._boosters.ranker import OWN_NAMES
from gapboost._boosters.rows import RankingRows
from gapboost._data.features import check_arrow_numbers, check_names, feature_names
from gapboost._kernels import Array
from gapboost.lightgbm import private
from gapboost.lightgbm.callbacks import OF_OBJECTIVES
from gapboost.lightgbm.private import EarlyStopping, value_of
from gapboost.measures import Measure

# What LightGBM cannot write into a model.
FORBIDDEN = frozenset('",:[]{}')


# Other parameters of LightGBM's objectives and metrics, with all names of each.
OF_METRICS = ("label_gain", "metric", "eval_at", "objective_seed", "is_unbalance")


@cache
def ignored_parameters() -> frozenset[str]:
    """Return the names of parameters that change nothing here."""
    names = {"class_weight", "scale_pos_weight", *(private.aliases("objective") - {"objective"})}
    for name in OF_METRICS:
        names |= private.aliases(name)
    return OF_OBJECTIVES | names | private.overruled()


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


def vendor_ranker(parameters: dict[str, Any], **others: Any) -> lightgbm.LGBMRanker:
    """Return LightGBM's own ranker with parameters of ours."""
    known = {name: value for name, value in parameters.items() if name not in OWN_NAMES}
    return lightgbm.LGBMRanker(**known, **others)


def check_stopping(plan: Plan, parameters: dict[str, Any], callbacks: Any) -> None:
    """Raise ValueError if `stopping_metric` would be ignored."""
    if plan.stopping is None:
        return
    callback = any(isinstance(one, private.EarlyStopping) for one in callbacks or ())
    if not callback and not any(parameters.get(name) for name in EARLY_STOPPING):
        raise ValueError(
            f"stopping_metric is {plan.stopping!r}, but early stopping is off; expected "
            "early_stopping_rounds, an early stopping callback, or stopping_metric=None"
        )
    if parameters.get("first_metric_only") not in (None, True):
        raise ValueError(
            f"stopping_metric is {plan.stopping!r}, but first_metric_only is False, by which every "
            "metric stops training; expected one of them"
        )


def evaluation_pairs(eval_set: Any, X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return `eval_X` and `eval_y` as `eval_set`."""
    if eval_set is not None or X is None or y is None:
        raise ValueError("eval_X is given with eval_set, or without eval_y; expected eval_X and "
                         "eval_y, or eval_set")  # fmt: skip
    tables, labels = (given if isinstance(given, tuple) else (given,) for given in (X, y))
    if len(tables) != len(labels):
        raise ValueError(f"eval_X has {len(tables)} entries and eval_y {len(labels)}; expected the "
                         "same number")  # fmt: skip
    return list(zip(tables, labels, strict=True))


def round_metrics(plan: Plan, rows: RankingRows, sets: list[RankingRows]) -> list[Any]:
    """Return the metrics of a fit as LightGBM takes them; the first one stops training."""
    measures = [metric for metric in plan.metrics if isinstance(metric, Measure)]
    of_round = RoundMetrics(Metrics(measures, plan.n_jobs, private.TEAM), rows, sets)
    first, *others = [*([] if plan.metrics[0] is measures[0] else [plan.metrics[0]]), of_round]
    return [first, *others, *(f for f in plan.functions if f is not first)]


def check_continued(model: lightgbm.Booster, rows: RankingRows, feature_name: Any) -> None:
    """Check that a model to continue has the columns of training."""
    names = feature_names(rows.X) if isinstance(feature_name, str) else feature_name
    known = model.feature_name()
    # LightGBM's own names, where there were none.
    if known != [f"Column_{i}" for i in range(len(known))]:
        check_names([name.replace(" ", "_") for name in names], known, "X")


def row_weights(rows: RankingRows) -> Array | None:
    """Return one weight a row, as LightGBM takes them; None if none were given."""
    return rows.data.row_weights if rows.weighted else None


def evaluation_arguments(X: Sequence[Any], y: Sequence[Any]) -> dict[str, Any]:
    """Return the evaluation sets as the installed LightGBM takes them."""
    if private.HAS_EVAL_X:
        return {"eval_X": tuple(X) or None, "eval_y": tuple(y) or None}
    return {"eval_set": list(zip(X, y, strict=True)) or None}


def read_exactly(X: Any, name: str) -> Any:
    """Return a table of `features` that LightGBM reads without rounding or a crash."""
    check_arrow_numbers(X, name)
    # LightGBM makes float32 of every array that is not float64: integers above 2**24 would run
    # together.
    exact = not isinstance(X, np.ndarray) or np.can_cast(X.dtype, np.float32)
    return X if exact else X.astype(np.float64, copy=False)


@contextmanager
def clear_errors(rows: RankingRows, feature_name: Any) -> Iterator[None]:
    """Turn two errors of LightGBM's library into a ValueError that names the cause."""
    try:
        yield
    except private.LightGBMError as error:
        names = feature_names(rows.X) if isinstance(feature_name, str) else feature_name
        bad = [name for name in names if FORBIDDEN & set(name)]
        if "num_features()" in str(error):
            message = (
                "X holds no feature that LightGBM can split; expected one with different values, "
                "each side of a split in at least min_child_samples rows"
            )
        elif bad:
            message = (
                f"X has a column {bad[0]!r}; expected a name without "
                f"{' '.join(sorted(FORBIDDEN))}, which LightGBM cannot write into a model"
            )
        else:
            raise
        raise ValueError(message) from error


def binned(train: RankingRows, held_out: RankingRows) -> tuple[lightgbm.Dataset, lightgbm.Dataset]:
    """Return training and held-out rows as LightGBM keeps them, binned by the training rows."""
    # Kept raw: LightGBM bins again if a candidate changes how, instead of refusing.
    first = lightgbm.Dataset(
        read_exactly(train.X, "X"),
        train.y,
        weight=row_weights(train),
        group=train.sizes,
        free_raw_data=False,
    )
    held_out_X = read_exactly(held_out.X, "X")
    second = lightgbm.Dataset(
        held_out_X, held_out.y, group=held_out.sizes, reference=first, free_raw_data=False
    )
    return first, second


def train_on_bins(
    ranker: Any,
    rows: RankingRows,
    bins: tuple[lightgbm.Dataset, lightgbm.Dataset],
    watch: Callable[[Array], None],
) -> None:
    """Train a ranker as `fit` does on binned rows; pass held-out scores to `watch` each round."""
    parameters = ranker.get_params(deep=False)
    plan, penalty = ranker._plan(parameters, rows.positions)
    rows = replace(rows, data=rows.data.up_to_grade(plan.objective.measure.n_grades))
    plan = plan.resolved(rows.data)
    gradients = ranker._gradients(plan, rows, ranker._position_factors(plan, rows, penalty))
    vendor = vendor_ranker(
        parameters, objective=lambda y_true, y_pred: gradients(y_pred), metric="None"
    )

    def feval(scores: Array, _: lightgbm.Dataset) -> list[Any]:
        watch(scores)
        return []

    with clear_errors(rows, "auto"):
        lightgbm.train(
            private.train_parameters(vendor),
            bins[0],
            num_boost_round=ranker.n_estimators,
            valid_sets=[bins[1]],
            feval=feval,
            keep_training_booster=True,
        )
