"""One test for each trap of LightGBM and XGBoost that a custom objective can lead to.

Most of them are silent: a constant model, a metric that goes the wrong way.
"""

import numpy as np
import pytest
from twins import LIGHTGBM, QID, SIZES, X, Y, gradients, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost


@twins
def test_rounding_of_long_lists_is_no_gradient(twin):
    """The sums over pairs of long lists leave rounding where they ought to cancel."""
    rng = np.random.default_rng(0)
    y, x, qid = rng.integers(0, 2, 2000), rng.normal(size=(2000, 3)), np.repeat(np.arange(5), 400)
    with pytest.raises(ValueError, match="no swap of two documents of y changes it"):
        twin.ranker(measure=gb.Precision(k=500)).fit(x, y, qid)


@twins
def test_several_scores_a_row(twin):
    with pytest.raises(ValueError, match=r"the booster has 3 scores a row; expected one"):
        twin.ranker(num_class=3).fit(X, Y, QID)


@twins
def test_hessians_too_small_for_the_default_leaf_floors(twin):
    # min_child_weight is 1e-3 in LightGBM and 1 in XGBoost; changes of GAP in lists of 2000 are
    # about 1e-5.
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    y = (x[:, 0] + rng.normal(size=2000) > 2).astype(int)
    ranker = twin.ranker_class(
        n_estimators=20, n_jobs=1, **({"verbose": -1} if twin is LIGHTGBM else {})
    )
    ranker.fit(x, y, np.zeros(2000))
    assert len(np.unique(ranker.predict(x))) > 10
    assert ranker.score(x, y, np.zeros(2000)) > 2 * gb.evaluate(gb.AP(), y, np.zeros(2000))[gb.AP()]


@twins
def test_a_leaf_floor_that_leaves_no_split(twin):
    objective = twin.module.objective("gap")
    total = gradients(twin, objective, np.zeros(len(Y)), Y, SIZES)[1].sum(dtype=float)
    names = ["min_child_weight"]
    names += ["min_sum_hessian_in_leaf", "min_hessian"] if twin is LIGHTGBM else []
    for name in names:
        with pytest.raises(ValueError, match=r"^min_child_weight is .*hessians of all rows sum to"):
            twin.fitted(**{name: total * 0.501})
    twin.fitted(min_child_weight=total * 0.499)


@twins
def test_more_than_10000_documents_in_a_query(twin):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_001, 2))
    y = (x[:, 0] + rng.normal(size=len(x)) > 2).astype(int)
    ranker = twin.ranker(n_estimators=2)
    ranker.fit(x, y, np.zeros(len(x)), eval_set=[(x, y)], eval_qid=[np.zeros(len(x))])
    assert len(twin.curve(ranker)) == 2
    assert ranker.score(x, y, np.zeros(len(x))) > 2 * y.mean()
