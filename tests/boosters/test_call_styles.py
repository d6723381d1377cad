"""Fits as users of the boosters' own rankers write them, and what `help()` says of them."""

import inspect

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gapboost as gb
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, simplex_grid
from gapboost.xgboost import XGBGAPRanker

TRAIN, VALI, TEST = load_digits_ranking((40, 30, 20), 20)
RANKERS = {
    "lightgbm": (
        LGBMGAPRanker,
        {"n_estimators": 5, "n_jobs": 1, "verbose": -1, "min_child_samples": 5},
    ),
    "xgboost": (XGBGAPRanker, {"n_estimators": 5, "n_jobs": 1}),
}
boosters = pytest.mark.parametrize("booster", RANKERS)


def ranker(booster, **parameters):
    kind, always = RANKERS[booster]
    return kind(**{**always, **parameters})


def sizes(data):
    """Documents of each query; those of these data lie together."""
    return np.unique(data.qid, return_counts=True)[1]


@pytest.fixture(params=RANKERS)
def by_ids(request):
    """The booster, and its ranker fitted the usual way."""
    fitted = ranker(request.param).fit(
        TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=[(VALI.X, VALI.y)], eval_qid=[VALI.qid]
    )
    return request.param, fitted


def check_same(found, expected):
    np.testing.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))
    assert found.evals_result_ == expected.evals_result_
    assert found.n_queries_in_ == expected.n_queries_in_ == 40


@pytest.mark.parametrize("kind", [LGBMGAPRanker, XGBGAPRanker, GSearchCV])
def test_help_describes_every_parameter_of_fit(kind):
    text = inspect.getdoc(kind.fit)
    described = text.partition("Parameters\n")[2].partition("Raises\n")[0]
    names = {
        name.strip()
        for line in described.splitlines()
        if not line.startswith(" ")
        for name in line.partition(" : ")[0].split(",")
    }
    assert set(inspect.signature(kind.fit).parameters) - {"self"} <= names
    assert "{" not in text


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize(
    "kind",
    [
        list,
        tuple,
        np.asarray,
        pd.Series,
        pl.Series,
        pa.array,
        lambda s: pa.chunked_array([s[:3], s[3:]]),
        lambda s: s.astype(float),
        lambda s: s.astype(float).tolist(),
    ],
)
def test_sizes_of_the_queries_in_place_of_ids(by_ids, kind):
    booster, expected = by_ids
    found = ranker(booster).fit(
        TRAIN.X,
        TRAIN.y,
        group=kind(sizes(TRAIN)),
        eval_set=[(VALI.X, VALI.y)],
        eval_group=[kind(sizes(VALI))],
    )
    check_same(found, expected)
    score = expected.score(TEST.X, TEST.y, qid=TEST.qid)
    assert found.score(TEST.X, TEST.y, group=kind(sizes(TEST))) == score


def test_one_evaluation_set_without_a_list_around_it(by_ids):
    booster, expected = by_ids
    for eval_group in (sizes(VALI), sizes(VALI).tolist(), [sizes(VALI)]):
        found = ranker(booster).fit(
            TRAIN.X, TRAIN.y, qid=TRAIN.qid, eval_set=(VALI.X, VALI.y), eval_group=eval_group
        )
        check_same(found, expected)


@boosters
def test_weights_follow_the_groups(booster):
    weights = np.arange(40) % 3 + 1.0
    found = ranker(booster).fit(TRAIN.X, TRAIN.y, group=sizes(TRAIN), sample_weight=weights)
    expected = ranker(booster).fit(TRAIN.X, TRAIN.y, TRAIN.qid, weights)
    np.testing.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))
    score = found.score(TEST.X, TEST.y, sample_weight=weights[:20], group=sizes(TEST))
    assert score == expected.score(TEST.X, TEST.y, TEST.qid, weights[:20])


def test_groups_of_different_sizes():
    group = np.array([1, 39, 7, 193, 60, 500])
    qid = np.repeat(np.arange(6), group)
    found = ranker("xgboost").fit(TRAIN.X, TRAIN.y, group=group).predict(TEST.X)
    np.testing.assert_array_equal(
        found, ranker("xgboost").fit(TRAIN.X, TRAIN.y, qid=qid).predict(TEST.X)
    )


@boosters
def test_the_calls_of_pyterrier(booster):
    """LTRTransformer stacks features from a column, passes float labels, and sorts rows by id."""

    def by_topic(data):
        ids = [f"q{q}" for q in data.qid]
        table = pd.DataFrame(
            {"qid": ids, "docno": "d", "features": list(data.X), "label": data.y.astype(float)}
        )
        table = table.sort_values("qid", kind="stable")
        return table, table.groupby(["qid"], sort=False)["docno"].count().to_numpy()

    (tr_res, counts_tr), (va_res, counts_va) = by_topic(TRAIN), by_topic(VALI)
    X, y = np.stack(tr_res["features"].values), tr_res["label"].values
    learner = ranker(booster)
    learner.fit(
        X,
        y,
        group=counts_tr,
        eval_set=[(np.stack(va_res["features"].values), va_res["label"].values)],
        eval_group=[counts_va],
    )
    vali = np.stack(va_res["features"].values), va_res["label"].values
    expected = ranker(booster).fit(X, y, tr_res["qid"], eval_set=[vali], eval_qid=[va_res["qid"]])
    check_same(learner, expected)
    assert len(learner.feature_importances_) == TRAIN.X.shape[1]
    again = ranker(booster).fit(X, y, group=counts_tr, eval_set=[(X, y)], eval_group=[counts_tr])
    np.testing.assert_array_equal(again.predict(TEST.X), expected.predict(TEST.X))
    (values,) = again.evals_result_.values()
    assert values["map-gap"][-1] == pytest.approx(again.score(X, y, tr_res["qid"]), abs=1e-6)


@pytest.mark.parametrize("several", [False, True])
def test_evaluation_sets_as_lightgbm_writes_them_now(several):
    expected = ranker("lightgbm").fit(
        TRAIN.X,
        TRAIN.y,
        TRAIN.qid,
        eval_set=[(VALI.X, VALI.y)] * (1 + several),
        eval_qid=[VALI.qid] * (1 + several),
    )
    evals = {"eval_X": VALI.X, "eval_y": VALI.y, "eval_group": [sizes(VALI)]}
    if several:
        evals = {
            "eval_X": (VALI.X, VALI.X),
            "eval_y": (VALI.y, VALI.y),
            "eval_group": [sizes(VALI)] * 2,
        }
    check_same(ranker("lightgbm").fit(TRAIN.X, TRAIN.y, group=sizes(TRAIN), **evals), expected)
    stopping = [lightgbm.early_stopping(2, verbose=False)]
    assert (
        ranker("lightgbm")
        .fit(TRAIN.X, TRAIN.y, group=sizes(TRAIN), callbacks=stopping, **evals)
        .best_iteration_
    )


def test_the_training_set_as_lightgbm_writes_it_now():
    X, y, group = TRAIN.X, TRAIN.y, sizes(TRAIN)
    found = ranker("lightgbm").fit(X, y, group=group, eval_X=X, eval_y=y, eval_group=[group])
    assert list(found.evals_result_) == ["training"]
    with pytest.raises(ValueError, match=r"^eval_y\[0\] holds the grade 2, but nDCG"):
        ranker("lightgbm").fit(
            X,
            y,
            group=group,
            eval_X=X,
            eval_y=y,
            eval_group=[group],
            eval_metric=gb.nDCG(gains=(0, 1)),
        )


@pytest.mark.slow
@boosters
def test_a_search_by_sizes(booster):
    grid = {"g": simplex_grid(2, 2)}
    options = {"scoring": gb.nDCG(k=10), "cv": 3}
    found = GSearchCV(ranker(booster), grid, **options).fit(TRAIN.X, TRAIN.y, group=sizes(TRAIN))
    expected = GSearchCV(ranker(booster), grid, **options).fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    assert found.best_params_ == expected.best_params_
    assert found.best_score_ == expected.best_score_
    np.testing.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))
    score = expected.score(TEST.X, TEST.y, TEST.qid)
    assert found.score(TEST.X, TEST.y, group=sizes(TEST)) == score


@pytest.mark.parametrize(("eval_at", "ranks"), [((5, 10), (5, 10)), (3, (3,)), ("2,4", (2, 4))])
def test_eval_at_reports_beside_the_trained_measure_that_stops(eval_at, ranks):
    watched = {"eval_set": [(VALI.X, VALI.y)], "eval_qid": [VALI.qid]}
    stopping = {"callbacks": [lightgbm.early_stopping(2, verbose=False)]}
    expected = ranker("lightgbm", n_estimators=30).fit(
        TRAIN.X, TRAIN.y, TRAIN.qid, **watched, **stopping
    )
    in_fit = ranker("lightgbm", n_estimators=30)
    in_fit.fit(TRAIN.X, TRAIN.y, TRAIN.qid, eval_at=eval_at, **watched, **stopping)
    as_parameter = ranker("lightgbm", n_estimators=30, ndcg_eval_at=eval_at)
    as_parameter.fit(TRAIN.X, TRAIN.y, TRAIN.qid, **watched, **stopping)
    assert expected.best_iteration_ < 30
    for found in (in_fit, as_parameter):
        (curves,) = found.evals_result_.values()
        assert list(curves) == ["map-gap", *(f"ndcg@{k}" for k in ranks)]
        assert found.best_iteration_ == expected.best_iteration_
        best = found.best_iteration_ - 1
        values = gb.evaluate([f"ndcg@{k}" for k in ranks], VALI.y, found.predict(VALI.X), VALI.qid)
        for k in ranks:
            assert curves[f"ndcg@{k}"][best] == pytest.approx(values[gb.nDCG(k=k)])


def test_eval_at_that_is_no_rank():
    with pytest.raises(
        ValueError, match=r"^eval_at is 'ten'; remove it: it takes a list of whole numbers >= 1"
    ):
        ranker("lightgbm").fit(TRAIN.X, TRAIN.y, TRAIN.qid, eval_at="ten")


# --- arguments by position ------------------------------------------------------------------------


def weights_of_queries():
    return np.arange(40) % 3 + 1.5


def check_weighted(found, **more):
    expected = ranker("lightgbm").fit(TRAIN.X, TRAIN.y, TRAIN.qid, weights_of_queries(), **more)
    np.testing.assert_array_equal(found.predict(TEST.X), expected.predict(TEST.X))


def test_positions_of_LGBMRanker_where_there_are_more_than_ours():
    X, y, w, group = TRAIN.X, TRAIN.y, np.repeat(weights_of_queries(), sizes(TRAIN)), sizes(TRAIN)
    start = np.linspace(-1, 1, len(y))
    check_weighted(ranker("lightgbm").fit(X, y, w, None, group))
    check_weighted(ranker("lightgbm").fit(X, y, w, start, group), init_score=start)
    found = ranker("lightgbm").fit(
        X, y, None, None, group, [(VALI.X, VALI.y)], ["vali"], eval_group=[sizes(VALI)]
    )
    assert list(found.evals_result_) == ["vali"]
    with pytest.raises(TypeError, match=r"multiple values for .* 'group'"):
        ranker("lightgbm").fit(X, y, w, None, group, group=group)
    with pytest.raises(ValueError, match=r"^eval_at is "):
        ranker("lightgbm").fit(X, y, w, None, group, None, None, None, None, None, None, [0])


def test_weights_in_the_third_place_beside_group_are_those_of_LGBMRanker():
    X, y, group = TRAIN.X, TRAIN.y, sizes(TRAIN)
    w, start = np.repeat(weights_of_queries(), group), np.linspace(-1, 1, len(y))
    for kind in (np.asarray, list, pd.Series):
        check_weighted(ranker("lightgbm").fit(X, y, kind(w), group=group))
    check_weighted(ranker("lightgbm").fit(X, y, w, start, group=group), init_score=start)
    # Whole numbers, but fewer than queries: they cannot be ids.
    whole = ranker("lightgbm").fit(X, y, np.repeat(np.arange(40) % 3 + 1, group), group=group)
    named = ranker("lightgbm").fit(X, y, group=group, sample_weight=np.arange(40) % 3 + 1)
    np.testing.assert_array_equal(whole.predict(TEST.X), named.predict(TEST.X))


@pytest.mark.parametrize(
    "ids",
    [TRAIN.qid, TRAIN.qid.astype(float), [f"q{q}" for q in TRAIN.qid], pd.Series(TRAIN.qid)],
    ids=type,
)
def test_what_could_be_ids_beside_group_is_an_error(ids):
    with pytest.raises(
        ValueError,
        match=r"^group is given, and a third .* sample_weight in LGBMRanker.fit; expected",
    ):
        ranker("lightgbm").fit(TRAIN.X, TRAIN.y, ids, group=sizes(TRAIN))
    with pytest.raises(ValueError, match=r"^group is given, and qid too"):
        ranker("lightgbm").fit(TRAIN.X, TRAIN.y, qid=ids, group=sizes(TRAIN))


def test_a_fourth_argument_beside_group_could_be_weights_or_scores():
    with pytest.raises(
        ValueError, match=r"^group is given, and a fourth .* init_score in LGBMRanker.fit; expected"
    ):
        ranker("lightgbm").fit(TRAIN.X, TRAIN.y, None, weights_of_queries(), group=sizes(TRAIN))


def test_feature_weights_in_fit_of_XGBoost():
    weights, drawn = np.linspace(0, 1, TRAIN.X.shape[1]) ** 4, {"colsample_bynode": 0.2}
    found = ranker("xgboost", **drawn).fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, feature_weights=weights)
    plain = ranker("xgboost", **drawn).fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid)
    assert (found.predict(TEST.X) != plain.predict(TEST.X)).any()
    of_ranker = ranker("xgboost", **drawn, feature_weights=weights)
    np.testing.assert_array_equal(
        found.predict(TEST.X), of_ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid).predict(TEST.X)
    )
    with pytest.raises(
        ValueError, match=r"^feature_weights is given in fit, and to the ranker too"
    ):
        of_ranker.fit(TRAIN.X, TRAIN.y, qid=TRAIN.qid, feature_weights=weights)
