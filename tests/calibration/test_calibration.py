"""Probabilities of held-out queries: values, order, reliability, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from cheap_rankers import Noisy, made
from ranking_task import task
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from twins import TEST, TRAIN, VALI, twins

from gapboost.calibration import CalibratedRanker, reliability
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import QueryRelativeFeatures

X, Y, QID = made(n_queries=100)
NEW = made(n_queries=40, seed=1)
RANKER = Noisy().fit(X[:100], Y[:100])
methods = pytest.mark.parametrize("method", ["isotonic", "logistic"])


def calibrated(ranker=RANKER, **parameters):
    return CalibratedRanker(ranker, **parameters).fit(X, Y, QID)


# --- values ---------------------------------------------------------------------------------------


@methods
def test_the_columns_are_regressions_of_each_threshold_on_the_score(method):
    scores, new = RANKER.predict(X), RANKER.predict(NEW[0])
    found = calibrated(grades=(1, 2), method=method)
    assert found.grades_ == (1.0, 2.0)
    assert found.n_queries_in_ == 100
    for column, grade in zip(found.predict_proba(NEW[0]).T, (1, 2), strict=True):
        if method == "isotonic":
            expected = IsotonicRegression(out_of_bounds="clip").fit(scores, grade <= Y).predict(new)
        else:
            standard = scores.std()
            model = LogisticRegression().fit(scores[:, None] / standard, grade <= Y)
            expected = model.predict_proba(new[:, None] / standard)[:, 1]
        np.testing.assert_allclose(
            column, expected, rtol=0, atol=1e-4 if method == "logistic" else 1.1e-6
        )


def test_fractional_grades_and_thresholds():
    halves = calibrated(grades=(1, 2)).predict_proba(X)
    found = CalibratedRanker(RANKER, grades=(0.5, 1.0)).fit(X, Y / 2, QID)
    np.testing.assert_array_equal(found.predict_proba(X), halves)


# --- order ----------------------------------------------------------------------------------------


@methods
@twins
def test_the_order_of_every_query_is_that_of_the_scores(twin, method):
    """Case: with different scores, probabilities differ too; equal scores have equal ones."""
    ranker = twin.fitted()
    found = CalibratedRanker(ranker, grades=(1, 2), method=method).fit(VALI.X, VALI.y, VALI.qid)
    scores = found.predict(TEST.X)
    np.testing.assert_array_equal(scores, ranker.predict(TEST.X))
    assert scores.dtype == ranker.predict(TEST.X).dtype
    columns = found.predict_proba(TEST.X).T
    different = 0
    for query in np.unique(TEST.qid):
        rows = TEST.qid == query
        expected = np.unique(scores[rows], return_inverse=True)[1]
        different += expected.max()
        for column in columns:
            np.testing.assert_array_equal(np.unique(column[rows], return_inverse=True)[1], expected)
    assert different > 100


def test_scores_beyond_those_of_the_fit_keep_their_order():
    found = calibrated()
    rows = np.zeros((4, 5))
    rows[:, 0] = RANKER.predict(X).max() * np.array([1.0, 1.1, 1.2, 1.3])
    probabilities = found.predict_proba(rows)[:, 0]
    assert (np.diff(probabilities) > 0).all()
    assert probabilities[-1] < 1


@methods
def test_thresholds_are_nested(method):
    """Also where a logistic regression of each threshold would cross another."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2000)
    grades = (scores + rng.normal(size=2000) > 0).astype(int) + (rng.random(2000) < 0.3)
    grades[scores + rng.normal(size=2000) * 8 > 12] = 2
    features = np.column_stack((scores, np.zeros((2000, 4))))
    found = CalibratedRanker(RANKER, grades=(1, 2), method=method).fit(
        features, grades, np.arange(2000) // 10
    )
    wide = np.column_stack((np.linspace(-40, 40, 500), np.zeros((500, 4))))
    probabilities = found.predict_proba(wide)
    assert (probabilities[:, 1] <= probabilities[:, 0]).all()
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    if method == "logistic":
        one, other = (probability(wide[:, 0]) for probability in found._probabilities)
        assert (other > one).any()


# --- estimators of scikit-learn -------------------------------------------------------------------


@twins
def test_pickled_with_the_model(twin):
    found = CalibratedRanker(twin.fitted()).fit(VALI.X, VALI.y, VALI.qid)
    expected = found.predict_proba(TEST.X)
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.predict_proba(TEST.X), expected)


def test_a_clone_keeps_the_ranker_and_forgets_the_probabilities():
    found = calibrated(grades=(1, 2), method="logistic")
    copy = clone(found)
    assert copy.get_params(deep=False) == found.get_params(deep=False)
    assert copy.ranker is RANKER
    with pytest.raises(NotFittedError):
        copy.predict_proba(X)
    np.testing.assert_array_equal(copy.fit(X, Y, QID).predict_proba(X), found.predict_proba(X))


def test_a_pipeline_whose_steps_request_query_ids():
    features, y, qid = task()
    half = np.isin(qid, np.unique(qid)[::2])
    steps = [("scaled", StandardScaler()), ("relative", QueryRelativeFeatures())]
    pipeline = Pipeline([*steps, ("ranker", LGBMGAPRanker(n_estimators=4, n_jobs=1, verbose=-1))])
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline.fit(features[half], y[half], qid=qid[half])
        scores = pipeline.predict(features[~half], qid=qid[~half])
    found = CalibratedRanker(pipeline).fit(
        features[~half], y[~half], qid[~half], train_qid=qid[half]
    )
    np.testing.assert_array_equal(found.predict(features[~half], qid[~half]), scores)
    probabilities = found.predict_proba(features[~half], qid[~half])
    np.testing.assert_array_equal(np.argsort(probabilities[:, 0]), np.argsort(scores))


def test_rankers_of_the_boosters_without_a_column_qid():
    frame = pd.DataFrame(VALI.X).add_prefix("x").assign(qid=VALI.qid)
    import lightgbm

    sizes = np.unique(TRAIN.qid, return_counts=True)[1]
    ranker = lightgbm.LGBMRanker(n_estimators=4, n_jobs=1, verbose=-1)
    ranker.fit(pd.DataFrame(TRAIN.X).add_prefix("x"), TRAIN.y, group=sizes)
    found = CalibratedRanker(ranker).fit(frame, VALI.y)
    np.testing.assert_array_equal(found.predict(frame), ranker.predict(frame.drop(columns="qid")))


# --- reliability ----------------------------------------------------------------------------------


def judged(n_queries=200):
    """Grades that follow probabilities, probabilities, query ids; rows are in a random order."""
    rng = np.random.default_rng(0)
    probability = rng.uniform(0.2, 0.8, n_queries * 20)
    y = (rng.random(len(probability)) < probability).astype(int)
    order = rng.permutation(len(y))
    return y[order], probability[order], np.repeat(np.arange(n_queries), 20)[order]


def test_bins_against_pandas():
    y, probability, qid = judged()
    found = reliability(y * 2, probability, qid, grade=2, n_bins=5)
    cut = pd.qcut(probability, 5, labels=False)
    table = pd.DataFrame({"y": y, "p": probability, "qid": qid, "bin": cut})
    groups = table.groupby("bin")
    np.testing.assert_allclose(found["predicted"], groups["p"].mean())
    np.testing.assert_allclose(found["observed"], groups["y"].mean())
    np.testing.assert_array_equal(found["n_documents"], groups.size())
    np.testing.assert_array_equal(found["n_queries"], groups["qid"].nunique())
    assert len(reliability(y, probability, qid, n_bins=1)) == 1


def test_equal_probabilities_share_a_bin():
    y, _, qid = judged(20)
    found = reliability(y, np.where(np.arange(400) < 350, 0.5, 0.25), qid)
    np.testing.assert_array_equal(found["n_documents"], [50, 350])
    np.testing.assert_allclose(found["predicted"], [0.25, 0.5])


def test_a_bin_of_one_query_has_no_interval():
    found = reliability([0, 1, 0, 1], [0.1, 0.2, 0.8, 0.9], [1, 1, 2, 2], n_bins=2)
    assert found[["low", "high"]].isna().all(axis=None)


def test_intervals_of_independent_values_are_those_of_clopper_and_pearson():
    """Case: with one document a query."""
    values = np.arange(50) < 15
    found = reliability(values, np.full(50, 0.3), np.arange(50), n_bins=1)
    exact = stats.binomtest(15, 50).proportion_ci(0.95, "exact")
    # Of 49 in place of 50 in the variance.
    assert (found["low"][0], found["high"][0]) == pytest.approx((exact.low, exact.high), abs=0.003)
    # Without any difference each query counts as one value.
    same = stats.binomtest(10, 10).proportion_ci(0.95, "exact")
    found = reliability(np.ones(1000), np.full(1000, 0.3), np.arange(1000) % 10, n_bins=1)
    assert (found["low"][0], found["high"][0]) == pytest.approx((same.low, same.high))


def test_intervals_hold_the_share_nine_times_in_ten_at_least():
    """Queries differ in size and in their shares, of .1 in the mean."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        sizes, shares = rng.integers(2, 30, 25), rng.beta(0.5, 4.5, 25)
        values = rng.random(sizes.sum()) < np.repeat(shares, sizes)
        found = reliability(
            values, np.full(len(values), 0.1), np.repeat(np.arange(25), sizes), n_bins=1
        )
        held += found["low"][0] <= 0.1 <= found["high"][0]
    assert held >= 0.93 * 400


def test_certain_probabilities_may_be_truth_values():
    certain, qid = np.arange(40) % 3 > 0, np.arange(40) // 10
    found, expected = (reliability(certain, p, qid) for p in (certain, certain.astype(float)))
    np.testing.assert_equal(np.asarray(found), np.asarray(expected))


# --- refused --------------------------------------------------------------------------------------


REFUSED = {
    "NaN scores": ({"ranker": Noisy(np.nan).fit(X[:9], Y[:9])}, "ranker"),
    "constant scores": ({"ranker": DummyRegressor().fit(X, Y)}, "ranker"),
    "reversed scores": ({"ranker": Ridge().fit(X, -Y)}, "ranker"),
    "no ids": ({"qid": None}, "qid"),
    "fewer ids": ({"qid": QID[:-1]}, "qid"),
    "nine queries": ({"qid": np.arange(800) % 9}, "qid"),
    "queries of training": ({"train_qid": QID[:5]}, "qid .* leave it out"),
    "no id of training": ({"train_qid": [None]}, "train_qid"),
    "grades 0": ({"y": Y * 0}, "grades"),
    "grades 1": ({"y": Y * 0 + 1}, "grades"),
    "negative grades": ({"y": Y - 1}, "y"),
    "fewer rows": ({"X": X[:-1]}, "ranker"),
    "unknown method": ({"method": "sigmoid"}, "method"),
    **{
        f"thresholds {grades}": ({"grades": grades}, "grades")
        for grades in ((), (2, 1), (1, 1), (0,), (-1,), 1, "1", (np.nan,), (np.inf,), {1}, (1, 3))
    },
}


@pytest.mark.parametrize("case", REFUSED)
@methods
def test_refuses(case, method):
    changes, argument = REFUSED[case]
    given = {"ranker": RANKER, "method": method, "X": X, "y": Y, "qid": QID, **changes}
    parameters = {name: given.pop(name) for name in ("ranker", "method", "grades") if name in given}
    with pytest.raises(ValueError, match=rf"^{argument}\b"):
        CalibratedRanker(**parameters).fit(**given)


def test_refuses_what_is_no_fitted_ranker():
    for ranker in (Noisy(), make_pipeline(StandardScaler(), LGBMGAPRanker())):
        with pytest.raises(NotFittedError):
            calibrated(ranker)
    with pytest.raises(TypeError, match="3 is not an estimator"):
        calibrated(3)
