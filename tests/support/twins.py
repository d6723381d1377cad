"""Both boosters under the same names, and a ranking task: ``@twins`` runs a test for each."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost

import gapboost.lightgbm
import gapboost.xgboost
from gapboost.datasets import load_digits_ranking

TRAIN, VALI, TEST = load_digits_ranking((40, 30, 20), 20)
X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid


def sizes_of(qid):
    """Group sizes of query ids that lie together."""
    starts = np.flatnonzero(np.concatenate(([True], qid[1:] != qid[:-1], [True])))
    return np.diff(starts)


SIZES = sizes_of(QID)


def shuffled(data, seed=0):
    """Return rows in random order, and the same rows by query, in the order of first occurrence."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    first = {q: i for i, q in reversed(list(enumerate(data.qid[order])))}
    grouped = order[np.argsort([first[q] for q in data.qid[order]], kind="stable")]
    return order, grouped


@dataclass(frozen=True)
class Twin:
    """One booster, under names that both share."""

    name: str
    module: ModuleType
    ranker_class: type
    vendor: type
    parameters: dict[str, Any]
    start: str
    eval_start: str
    eval_weight: str
    continued: str
    native: dict[str, Any] = field(default_factory=dict)
    # Parameters without which trees depend on random draws: two trainings that are compared draw
    # differently.
    no_draws: dict[str, Any] = field(default_factory=dict)

    def ranker(self, **parameters):
        return self.ranker_class(
            **{"n_estimators": 5, "n_jobs": 1, **self.parameters, **parameters}
        )

    def fitted(self, *, data=TRAIN, evals=(), fit=None, watch=None, **parameters):
        """Return a fitted ranker.

        Metrics and callbacks, `watch`, are arguments of LightGBM's fit and parameters of XGBoost's
        ranker.
        """
        if self is LIGHTGBM:
            fit = {**(fit or {}), **(watch or {})}
        else:
            parameters |= watch or {}
        watched = (
            {"eval_set": [(e.X, e.y) for e in evals], "eval_qid": [e.qid for e in evals]}
            if evals
            else {}
        )
        return self.ranker(**parameters).fit(data.X, data.y, data.qid, **watched, **(fit or {}))

    def staged(self, ranker, X, rounds):
        if self is LIGHTGBM:
            return ranker.predict(X, num_iteration=rounds)
        return ranker.predict(X, iteration_range=(0, rounds))

    def scales(self, qid):
        """Return factors of gradients and hessians.

        LightGBM's penalties for categories count rows, and XGBoost's steps are half of LightGBM's.
        """
        return (len(qid) / len(np.unique(qid)),) * 2 if self is LIGHTGBM else (0.5, 1.0)

    def curve(self, ranker, eval_set=-1, metric="gap"):
        return np.array(list(ranker.evals_result_.values())[eval_set][metric])

    def stopping(self, rounds):
        """Return parameters and arguments of `fit` for the booster's own early stopping."""
        if self is LIGHTGBM:
            return {}, {"callbacks": [lightgbm.early_stopping(rounds, verbose=False)]}
        return {"early_stopping_rounds": rounds}, {}

    def interrupting(self, error):
        """Parameters and arguments of fit with which `error` is raised in the midst of training."""
        if self is LIGHTGBM:

            def interrupt(env):
                if env.iteration == 2:
                    raise error

            return {}, {"callbacks": [interrupt]}

        class Interrupt(xgboost.callback.TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                if epoch == 2:
                    raise error
                return False

        return {"callbacks": [Interrupt()]}, {}

    def dataset(self, X, y, sizes, weight=None):
        """A data set of the booster; `weight` has one value a query."""
        if self is LIGHTGBM:
            rows = None if weight is None else np.repeat(weight, sizes)
            return lightgbm.Dataset(
                X, label=y, group=sizes, weight=rows, params=LIGHTGBM.native
            ).construct()
        data = xgboost.DMatrix(X, label=y, nthread=1)
        data.set_group(sizes)
        if weight is not None:
            data.set_weight(weight)
        return data


LIGHTGBM = Twin(
    name="lightgbm",
    module=gapboost.lightgbm,
    ranker_class=gapboost.lightgbm.LGBMGAPRanker,
    vendor=lightgbm.LGBMRanker,
    parameters={
        "verbose": -1,
        "num_leaves": 7,
        "min_child_samples": 5,
        "deterministic": True,
        "force_row_wise": True,
        "extra_trees": True,
        "max_bin": 255,
    },
    native={
        "verbose": -1,
        "extra_trees": True,
        "num_leaves": 7,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
    },
    start="init_score",
    eval_start="eval_init_score",
    eval_weight="eval_sample_weight",
    continued="init_model",
    no_draws={"extra_trees": False},
)
XGBOOST = Twin(
    name="xgboost",
    module=gapboost.xgboost,
    ranker_class=gapboost.xgboost.XGBGAPRanker,
    vendor=xgboost.XGBRanker,
    parameters={"max_depth": 3},
    native={
        "max_depth": 3,
        "reg_lambda": 5.0,
        "nthread": 1,
        "base_score": 0.0,
        "disable_default_eval_metric": 1,
    },
    start="base_margin",
    eval_start="base_margin_eval_set",
    eval_weight="sample_weight_eval_set",
    continued="xgb_model",
)

twins = pytest.mark.parametrize("twin", [LIGHTGBM, XGBOOST], ids=lambda twin: twin.name)


def gradients(twin, objective, scores, y, sizes, weights=None):
    """Return what the booster gets from `objective` at `scores`, through its own data set."""
    dataset = twin.dataset(np.zeros((len(y), 1)), y, sizes, weights)
    return objective(np.asarray(scores), dataset)


def metric_values(twin, metric, scores, y, sizes, weights=None):
    dataset = twin.dataset(np.zeros((len(y), 1)), y, sizes, weights)
    return {name: value for name, value, *_ in metric(np.asarray(scores), dataset)}


def booster_of(ranker):
    return ranker.booster_ if isinstance(ranker, lightgbm.LGBMModel) else ranker.get_booster()


def onnx_scores(booster, X):
    """Return the scores of onnxruntime for the booster, converted by onnxmltools."""
    import onnxmltools
    import onnxruntime
    from onnxmltools.convert.common.data_types import FloatTensorType

    is_lightgbm = isinstance(booster, lightgbm.Booster)
    convert = onnxmltools.convert_lightgbm if is_lightgbm else onnxmltools.convert_xgboost
    model = convert(booster, initial_types=[("X", FloatTensorType([None, X.shape[1]]))])
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": X})[0].ravel()
