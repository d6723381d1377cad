"""LightGBM, XGBoost and CatBoost on the folds of a study: binned once, trained with the same trees, and watched after each one.

CatBoost is imported where it trains: ``pip install catboost``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost._data.judged import Judged, judged
from gapboost._kernels import Array
from gapboost.evaluation import query_values

Predict = Callable[[Array, int], Array]  # features and a number of trees -> scores
Watch = Callable[[Array], bool]  # scores of the validation rows after one more tree -> whether to go on

# Of every feature, in all three libraries.
BINS = 63


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of some queries, each query in one piece.

    Attributes
    ----------
    X : float64 ndarray of shape (N, n_features)
    y : int32 ndarray of shape (N,)
    qid : ndarray of shape (N,)
    """

    X: Array
    y: Array
    qid: Array

    @cached_property
    def judged(self) -> Judged:
        """Queries and grades as the measures want them."""
        return judged(self.y, self.qid)

    @property
    def sizes(self) -> Array:
        """Documents of each query."""
        return self.judged.queries.sizes

    @property
    def numbers(self) -> Array:
        """The number of its query for each row, ascending."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def values(self, measures: Sequence[gb.Measure], scores: Array) -> list[Array]:
        """One value a query of each measure."""
        data = self.judged.up_to_grade(max((m.n_grades or 0 for m in measures), default=0) or None)
        return query_values(measures, data, np.ascontiguousarray(scores, dtype=np.float64), n_jobs=1)


@dataclass(frozen=True)
class Trees:
    """One candidate of the search.

    `min_data` is for LightGBM and `min_hessian` for XGBoost, each the library's way to keep leaves from being too small;
    `drawn` thresholds are LightGBM's alone. CatBoost's trees have as many leaves and neither.
    """

    leaves: int
    learning_rate: float
    features: float
    penalty: float
    min_data: int
    min_hessian: float
    drawn: bool


@dataclass(frozen=True)
class Competitor:
    """A way to train.

    Attributes
    ----------
    name : str
    library : {"LightGBM", "XGBoost", "CatBoost"}
    params : dict
        The library's own parameters.
    measure : str or None
        What ours trains for.
    """

    name: str
    library: str
    params: dict[str, Any] = field(default_factory=dict)
    measure: str | None = None

    @property
    def ours(self) -> bool:
        """Whether gapboost computes the gradients."""
        return self.measure is not None


class Fold:
    """Training, validation and test rows of one fold, binned once for each library."""

    def __init__(self, split: Sequence[Any], n_grades: int) -> None:
        self.train, self.vali, self.test = (Part(part.X, part.y, part.qid) for part in split)
        self.n_grades = n_grades

    @cached_property
    def lightgbm_rows(self) -> list[lightgbm.Dataset]:
        """Training and validation rows."""
        quiet = {"verbose": -1, "num_threads": 1, "max_bin": BINS, "feature_pre_filter": False}
        train = lightgbm.Dataset(self.train.X, self.train.y, group=self.train.sizes, params=quiet)
        vali = lightgbm.Dataset(self.vali.X, self.vali.y, group=self.vali.sizes, reference=train, params=quiet)
        return [train.construct(), vali.construct()]

    def xgboost_rows(self, binary: bool) -> list[xgboost.DMatrix]:
        """Training and validation rows; `rank:map` takes no grades."""
        return self._binary if binary else self._graded

    @cached_property
    def _graded(self) -> list[xgboost.DMatrix]:
        return self._matrices(lambda y: y)

    @cached_property
    def _binary(self) -> list[xgboost.DMatrix]:
        return self._matrices(lambda y: (y > 0).astype(np.int32))

    def _matrices(self, label: Callable[[Array], Array]) -> list[xgboost.DMatrix]:
        how = {"nthread": 1, "max_bin": BINS}
        train = xgboost.QuantileDMatrix(self.train.X, label(self.train.y), group=self.train.sizes, **how)
        vali = xgboost.QuantileDMatrix(self.vali.X, label(self.vali.y), group=self.vali.sizes, **how, ref=train)
        return [train, vali]

    @cached_property
    def catboost_rows(self) -> list[Any]:
        """Training and validation rows."""
        from catboost import Pool

        return [Pool(part.X, part.y, group_id=part.numbers) for part in (self.train, self.vali)]


def train(competitor: Competitor, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch) -> Predict:
    """Train with at most `rounds` trees; `watch` sees the validation scores after each one and says whether to go on."""
    how = None
    if competitor.measure is not None:
        g = (1 / fold.n_grades,) * fold.n_grades if competitor.measure == "gap" else None
        how = gb.LambdaRank(gb.measures.as_measure(competitor.measure, g))
    return TRAIN[competitor.library](competitor.params, how, fold, trees, rounds, seed, watch)


def train_lightgbm(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`."""
    params = {
        "num_leaves": trees.leaves,
        "learning_rate": trees.learning_rate,
        "feature_fraction": trees.features,
        "lambda_l2": trees.penalty,
        "min_data_in_leaf": trees.min_data,
        "extra_trees": trees.drawn,
        "force_col_wise": True,
        "seed": seed,
        "metric": "None",
        "num_threads": 1,
        "max_bin": BINS,
        "feature_pre_filter": False,
        "verbose": -1,
        **own,
    }
    if how is not None:
        params["objective"] = gapboost.lightgbm.objective(how, n_jobs=1)

    going_on = True

    def feval(preds: Array, _: Any) -> list[Any]:
        nonlocal going_on
        going_on = watch(preds)
        return []

    def stop(env: Any) -> None:
        if not going_on:
            raise lightgbm.callback.EarlyStopException(env.iteration, [])

    train_rows, vali = fold.lightgbm_rows
    model = lightgbm.train(
        params, train_rows, rounds, valid_sets=[vali], feval=feval, callbacks=[stop], keep_training_booster=True
    )
    return lambda X, n: np.asarray(model.predict(X, num_iteration=n, raw_score=True, num_threads=1))


class Stop(xgboost.callback.TrainingCallback):
    """Ends a training when told to."""

    asked = False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to end."""
        return self.asked


def train_xgboost(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`."""
    params = {
        "grow_policy": "lossguide",
        "max_depth": 0,
        "max_leaves": trees.leaves,
        "learning_rate": trees.learning_rate,
        "colsample_bytree": trees.features,
        "reg_lambda": trees.penalty,
        "min_child_weight": trees.min_hessian,
        "max_bin": BINS,
        "seed": seed,
        "nthread": 1,
        "verbosity": 0,
        "disable_default_eval_metric": 1,
        "base_score": 0.0,
        **own,
    }
    stop = Stop()

    def metric(preds: Array, _: Any) -> list[Any]:
        stop.asked = not watch(preds)
        return []

    train_rows, vali = fold.xgboost_rows(own.get("objective") == "rank:map")
    model = xgboost.train(
        params,
        train_rows,
        rounds,
        evals=[(vali, "vali")],
        obj=None if how is None else gapboost.xgboost.objective(how, n_jobs=1),
        custom_metric=metric,
        callbacks=[stop],
        verbose_eval=False,
    )
    return lambda X, n: np.asarray(model.inplace_predict(X, iteration_range=(0, n), predict_type="margin"))


class Watched:
    """Shows CatBoost's validation scores to `watch`, as a metric of its own, and ends the training as a callback."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.calls, self.going_on = watch, 0, True

    def __deepcopy__(self, _: Any) -> "Watched":
        """CatBoost copies its parameters, which would leave the watch at work on a copy."""
        return self

    def is_max_optimal(self) -> bool:
        """What is reported is not used."""
        return True

    def get_final_error(self, error: float, _: float) -> float:
        """See `is_max_optimal`."""
        return error

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Called with the training rows and then the validation rows after every tree, whole with one thread."""
        self.calls += 1
        if self.calls % 2 == 0:
            self.going_on = self.watch(np.asarray(approxes[0]))
        return 0.0, 1.0

    def after_iteration(self, _: Any) -> bool:
        """Whether to go on."""
        return self.going_on


def train_catboost(
    own: dict[str, Any], how: Any, fold: Fold, trees: Trees, rounds: int, seed: int, watch: Watch
) -> Predict:
    """See `train`."""
    from catboost import CatBoost

    watched = Watched(watch)
    params = {
        "depth": int(np.log2(trees.leaves)),
        "learning_rate": trees.learning_rate,
        "rsm": trees.features,
        "l2_leaf_reg": trees.penalty,
        "border_count": BINS,
        "iterations": rounds,
        "random_seed": seed,
        "thread_count": 1,
        "eval_metric": watched,
        "use_best_model": False,
        "verbose": False,
        "allow_writing_files": False,
        **own,
    }
    train_rows, vali = fold.catboost_rows
    model = CatBoost(params).fit(train_rows, eval_set=vali, callbacks=[watched])
    return lambda X, n: np.asarray(model.predict(X, ntree_end=n, thread_count=1))


TRAIN = {"LightGBM": train_lightgbm, "XGBoost": train_xgboost, "CatBoost": train_catboost}
