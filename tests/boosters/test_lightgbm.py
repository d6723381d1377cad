"""LightGBM alone: its ways of calling, its aliases, and limits of custom objectives."""

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
from sklearn.base import clone
from twins import LIGHTGBM, TEST, TRAIN, VALI, sizes_of

from gapboost.lightgbm import LGBMGAPRanker, eval_metric, objective
from gapboost.lightgbm.training import evaluation_arguments as evaluation_sets

X, Y, QID = TRAIN.X, TRAIN.y, TRAIN.qid
SIZES = sizes_of(QID)


# --- early stopping -------------------------------------------------------------------------------


def test_the_training_set_does_not_stop_training():
    # LightGBM knows it again only as the same object.
    ranker = LGBMGAPRanker(n_estimators=60, n_jobs=1, learning_rate=0.3, **LIGHTGBM.parameters).fit(
        X,
        Y,
        QID,
        eval_set=[(X, Y), (VALI.X, VALI.y)],
        eval_qid=[QID, VALI.qid],
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
    )
    curve = LIGHTGBM.curve(ranker, 1)
    assert ranker.best_iteration_ == np.argmax(curve) + 1
    assert len(curve) == ranker.best_iteration_ + 5


# --- the callbacks in LightGBM's own rankers ------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_objective_and_metric_in_LGBMRanker(weighted, preparations):
    weights = np.linspace(0.5, 3.0, len(SIZES)).astype(np.float32) if weighted else None
    by_row = None if weights is None else np.repeat(weights, SIZES)
    theirs = lightgbm.LGBMRanker(
        n_estimators=5,
        n_jobs=1,
        objective=objective("gap", g=(0.3, 0.7)),
        metric="None",
        **LIGHTGBM.parameters,
    ).fit(
        X,
        Y,
        group=SIZES,
        sample_weight=by_row,
        **evaluation_sets([VALI.X], [VALI.y]),
        eval_group=[sizes_of(VALI.qid)],
        eval_metric=eval_metric("gap", g=(0.3, 0.7)),
    )
    # It calls deep copies of the objective, which must share what they know.
    assert len(preparations) == 1
    ours = LIGHTGBM.fitted(g=(0.3, 0.7), evals=[VALI], fit={"sample_weight": weights})
    npt.assert_allclose(theirs.predict(TEST.X), ours.predict(TEST.X), rtol=0, atol=1e-6)
    npt.assert_allclose(LIGHTGBM.curve(theirs), LIGHTGBM.curve(ours), rtol=0, atol=1e-6)
    assert list(theirs.evals_result_["valid_0"]) == ["map-gap"]
    assert clone(theirs).objective is theirs.objective


# --- parameters and arguments ---------------------------------------------------------------------


def test_eval_names():
    ranker = LIGHTGBM.fitted(evals=[VALI, TEST], fit={"eval_names": ["a", "b"]})
    assert list(ranker.evals_result_) == ["a", "b"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"boosting_type": "dart"},
        {"boosting_type": "goss"},
        {"data_sample_strategy": "goss"},
        {"linear_tree": True},
        {"subsample": 0.5, "subsample_freq": 1},
        {"monotone_constraints": [1] + [0] * 22},
        {"extra_trees": True},
    ],
    ids=str,
)
def test_ways_of_boosting_that_take_a_custom_objective(parameters):
    ranker = LIGHTGBM.fitted(evals=[VALI], n_estimators=10, **parameters)
    curve = LIGHTGBM.curve(ranker)
    assert curve[-1] > curve[0]
    assert len(np.unique(ranker.predict(TEST.X))) > 10


@pytest.mark.parametrize(
    "name",
    [
        "min_child_weight",
        "min_sum_hessian_in_leaf",
        "min_hessian",
        "min_sum_hessian",
    ],
)
def test_every_name_of_the_hessian_floor_is_checked(name):
    with pytest.raises(
        ValueError, match="min_child_weight is 100000, but the hessians of all rows sum to"
    ):
        LIGHTGBM.fitted(**{name: 1e5})


@pytest.mark.parametrize("floor", [1.0, 10.0])
def test_a_floor_that_is_accepted_still_trains(floor):
    assert len(np.unique(LIGHTGBM.fitted(min_child_weight=floor).predict(TEST.X))) > 1


@pytest.mark.parametrize("name", ["extra_trees"])
@pytest.mark.parametrize("drawn", [False, True])
def test_thresholds_are_drawn_unless_told_otherwise_by_either_name(name, drawn):
    given = {k: v for k, v in LIGHTGBM.parameters.items() if k != "extra_trees"} | {
        "n_estimators": 5,
        "n_jobs": 1,
    }
    ours = LGBMGAPRanker(**given, **{name: drawn}).fit(X, Y, QID).predict(TEST.X)
    theirs = lightgbm.LGBMRanker(
        **given, extra_trees=drawn, objective=objective("gap"), metric="None"
    )
    npt.assert_allclose(ours, theirs.fit(X, Y, group=SIZES).predict(TEST.X), rtol=0, atol=1e-6)
    default = LGBMGAPRanker(**given).fit(X, Y, QID).predict(TEST.X)
    assert np.array_equal(default, ours) == drawn


def test_data_that_no_split_can_cut_are_refused():
    for features, least in ((np.zeros_like(X), 1), (X, len(Y))):
        ranker = LGBMGAPRanker(verbose=-1, min_child_samples=least)
        with pytest.raises(
            ValueError,
            match="X holds no feature that LightGBM can split; expected one with different",
        ):
            ranker.fit(features, Y, QID)
