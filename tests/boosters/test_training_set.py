"""The training set among the evaluation sets: LightGBM names it, and it does not stop training."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
from twins import LIGHTGBM, QID, SIZES, VALI, X, Y, sizes_of, twins

from gapboost.lightgbm.training import evaluation_arguments as evaluation_sets

WEIGHTS = np.linspace(0.5, 3.0, len(SIZES))
START = np.sin(np.arange(len(Y)))

# Equal values in other objects.
COPIES = {
    "list": list,
    "array": np.array,
    "series": lambda values: pd.Series(values, index=np.arange(len(values))[::-1]),
}


@pytest.mark.parametrize("scale", [1, 0.5], ids=["whole", "fractional"])
@pytest.mark.parametrize("copied", [lambda values: values, *COPIES.values()], ids=["same", *COPIES])
def test_lightgbm_recognizes_the_training_set(scale, copied):
    """X and y must be the same objects; the rest may be a copy."""
    y = scale * Y
    watched = {"eval_set": [(X, y), (VALI.X, scale * VALI.y)]}
    groups = {"group": SIZES, "eval_group": [copied(SIZES), sizes_of(VALI.qid)]}
    metadata = {
        "qid": QID,
        "eval_qid": [copied(QID), VALI.qid],
        "sample_weight": WEIGHTS,
        "eval_sample_weight": [copied(WEIGHTS), None],
        "init_score": START,
        "eval_init_score": [copied(START), None],
    }
    for given in (groups, metadata):
        ranker = LIGHTGBM.ranker().fit(X, y, **given, **watched)
        assert list(ranker.evals_result_) == ["training", "valid_1"]


def test_the_training_set_with_fractional_grades_does_not_stop_training():
    y, stopping = Y / 2, lightgbm.early_stopping(2, verbose=False)
    ranker = LIGHTGBM.ranker(
        measure="ndcg@5", n_estimators=60, num_leaves=2, learning_rate=0.3
    ).fit(
        X,
        y,
        QID,
        eval_set=[(X, y), (VALI.X, VALI.y / 2)],
        eval_qid=[QID, VALI.qid],
        callbacks=[stopping],
    )
    curve = LIGHTGBM.curve(ranker, metric="ndcg@5")
    assert ranker.best_iteration_ == np.argmax(curve) + 1 == len(curve) - 2


@twins
def test_weights_and_initial_scores_that_the_training_set_leaves_out(twin):
    """LightGBM takes those of the training set, as its own ranker does; XGBoost takes none."""
    training = {"sample_weight": WEIGHTS, twin.start: START}
    watched = {"eval_set": [(X, Y)], "eval_qid": [QID]}
    left_out = twin.ranker().fit(X, Y, QID, **training, **watched)
    given = {twin.eval_weight: [WEIGHTS], twin.eval_start: [START]}
    same = twin.ranker().fit(X, Y, QID, **training, **watched, **given)
    assert (left_out.evals_result_ == same.evals_result_) == (twin is LIGHTGBM)
    if twin is LIGHTGBM:
        vendor = lightgbm.LGBMRanker(n_estimators=2, verbose=-1).fit(
            X,
            Y,
            sample_weight=np.repeat(WEIGHTS, SIZES),
            init_score=START,
            group=SIZES,
            eval_group=[SIZES],
            **evaluation_sets([X], [Y]),
        )
        assert list(vendor.evals_result_) == list(left_out.evals_result_) == ["training"]
