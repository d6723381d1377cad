"""One test for each trap of LightGBM and XGBoost that a custom objective can lead to.

Most of them are silent: a constant model, a metric that goes the wrong way. Parameters that would
be ignored are in `test_parameters.py`, unusable arguments in
`tests/package/test_bad_input_rankers.py`.
"""

from contextlib import nullcontext

import numpy as np
import numpy.testing as npt
import pytest
from twins import LIGHTGBM, QID, SIZES, TEST, VALI, XGBOOST, X, Y, gradients, metric_values, twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost


def blunt_trees(twin):
    """XGBoost warns of its default `min_child_weight` on one long list.

    LightGBM has hessians in units of rows, and gives no warning.
    """
    return (
        nullcontext()
        if twin is LIGHTGBM
        else pytest.warns(UserWarning, match="^min_child_weight is 1, but the hessians")
    )


# --- both -----------------------------------------------------------------------------------------


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
    with blunt_trees(twin):
        ranker.fit(x, y, np.zeros(2000))
    assert len(np.unique(ranker.predict(x))) > 10
    assert ranker.score(x, y, np.zeros(2000)) > 2 * gb.evaluate(gb.AP(), y, np.zeros(2000))[gb.AP()]


@twins
def test_hessians_of_zero(twin):
    with pytest.raises(
        ValueError, match=r"measure is AP\(rel=3\), and no swap of two documents of y changes it"
    ):
        twin.fitted(measure=gb.AP(rel=3))


@twins
def test_the_most_that_the_error_about_the_leaf_floor_allows_is_learnable_in_principle(twin):
    total = gradients(twin, twin.module.objective("gap"), np.zeros(len(Y)), Y, SIZES)[1].sum(
        dtype=float
    )
    with pytest.raises(
        ValueError, match=r"^min_child_weight is .*, but the hessians of all rows sum to"
    ):
        twin.fitted(min_child_weight=total * 0.501)
    twin.fitted(min_child_weight=total * 0.499)


@twins
def test_a_leaf_floor_that_leaves_few_leaves(twin):
    rng = np.random.default_rng(0)
    x, qid = rng.normal(size=(1000, 2)), np.repeat(np.arange(50), 20)
    y = (x[:, 0] + rng.normal(size=1000) > 1).astype(int)
    sizes = np.full(50, 20)
    total = gradients(twin, twin.module.objective("gap"), np.zeros(1000), y, sizes)[1].sum(
        dtype=float
    )

    def fit(share, rows=1000, weight=None):
        twin.ranker(min_child_weight=total * share).fit(
            x[:rows], y[:rows], qid[:rows], sample_weight=weight
        )

    fit(0.124)  # a warning is an error here
    with pytest.warns(
        UserWarning,
        match=r"^min_child_weight is .* sum to .* hold 13% of them; expected at most \S+, unless "
        r"trees",
    ) as warned:
        fit(0.126)
    assert warned[0].filename == __file__
    with pytest.warns(
        UserWarning,
        match=r"expected at most \S+, or larger weights, unless trees of fewer than 8 leaves",
    ):
        fit(0.05, weight=np.full(50, 0.2))
    fit(0.126, rows=980)  # too few rows for sharper trees


@twins
def test_the_order_of_tied_rows_in_the_file(twin):
    # Sorted by grade, both boosters' own metrics give constant scores a value of 1.
    by_grade = np.lexsort((-Y, QID))
    for rows in (by_grade, by_grade[::-1]):
        y, sizes = Y[rows], SIZES
        (value,) = metric_values(
            twin, twin.module.eval_metric("gap"), np.zeros(len(y)), y, sizes
        ).values()
        expected = gb.evaluate(gb.GAP(), y, np.zeros(len(y)), QID[rows])[gb.GAP()]
        assert value == pytest.approx(expected, rel=1e-12)
        assert value < 0.6
        # In row order the list is ideal, and nothing would be left to learn at the top.
        grad, _ = gradients(twin, twin.module.objective("gap"), np.zeros(len(y)), y, sizes)
        first = grad[np.concatenate(([0], np.cumsum(sizes)[:-1]))]
        assert len(np.unique(first.round(4))) > len(sizes) // 2


@twins
def test_scores_to_start_from_are_not_part_of_predict(twin):
    start = np.full(len(Y), 3.5)
    ranker = twin.fitted(fit={twin.start: start})
    npt.assert_allclose(ranker.predict(TEST.X), twin.fitted().predict(TEST.X), rtol=0, atol=1e-4)


@twins
def test_no_metric_but_ours_is_computed(twin):
    ranker = twin.fitted(evals=[VALI])
    assert [list(curves) for curves in ranker.evals_result_.values()] == [["map-gap"]]


@twins
def test_grades_above_31(twin):
    y = np.where(Y == 2, 40, Y)
    vali = np.where(VALI.y == 2, 40, VALI.y)
    ranker = twin.ranker().fit(X, y, QID, eval_set=[(VALI.X, vali)], eval_qid=[VALI.qid])
    assert ranker.g_ == (0.5, *[0.0] * 38, 0.5)
    npt.assert_array_equal(ranker.predict(TEST.X), twin.fitted().predict(TEST.X))


@twins
def test_more_than_10000_documents_in_a_query(twin):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_001, 2))
    y = (x[:, 0] + rng.normal(size=len(x)) > 2).astype(int)
    ranker = twin.ranker(n_estimators=2)
    with blunt_trees(twin):
        ranker.fit(x, y, np.zeros(len(x)), eval_set=(x, y), eval_qid=np.zeros(len(x)))
    assert len(twin.curve(ranker)) == 2
    assert ranker.score(x, y, np.zeros(len(x))) > 2 * y.mean()


@twins
def test_queries_with_one_document_or_nothing_relevant(twin):
    # Both boosters count them 1 by default; XGBRanker weighs queries by their size in a custom
    # metric.
    sizes = np.concatenate([np.ones(10, dtype=int), np.full(10, 99)])
    qid = np.repeat(np.arange(20), sizes)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(len(qid), 2))
    y = np.where(qid < 10, qid % 2, (x[:, 0] > 0) * (qid != 15))
    ranker = twin.ranker().fit(x, y, qid, eval_set=[(x, y)], eval_qid=[qid])
    values = gb.evaluate(ranker.measure_, y, ranker.predict(x), qid, per_query=True)[
        ranker.measure_
    ]
    assert values[:10].tolist() == [0.0, 1.0] * 5
    assert values[15] == 0.0
    assert twin.curve(ranker)[-1] == pytest.approx(values.mean(), abs=1e-6)


# --- LightGBM -------------------------------------------------------------------------------------


# --- XGBoost --------------------------------------------------------------------------------------


def test_xgboost_set_params_hands_parameters_to_a_fitted_booster():
    # It would fail in the next predict on an objective that XGBoost does not know.
    ranker = XGBOOST.fitted()
    expected = ranker.predict(TEST.X)
    ranker.set_params(objective="lambdarank", eval_metric="egap", measure="egap", learning_rate=0.5)
    ranker.get_booster().save_config()
    npt.assert_array_equal(ranker.predict(TEST.X), expected)
