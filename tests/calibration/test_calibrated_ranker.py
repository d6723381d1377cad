"""`CalibratedRanker`: probabilities of held-out queries, their order, and what is refused."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from cheap_rankers import Noisy, made
from ranking_task import task
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from twins import TEST, TRAIN, VALI, twins

from gapboost.calibration import CalibratedRanker, softmax
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.preprocessing import QueryRelativeFeatures, query_relative_features

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


@methods
def test_right_on_average_over_the_documents_of_the_fit(method):
    """Both regressions have the share of relevant documents as their mean."""
    found = calibrated(grades=(1, 2), method=method).predict_proba(X)
    # Of the solver.
    np.testing.assert_allclose(found.mean(axis=0), [(Y >= 1).mean(), (Y >= 2).mean()], atol=1e-4)


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
    columns = [*found.predict_proba(TEST.X).T, found.predict_choice(TEST.X, TEST.qid)]
    different = 0
    for query in np.unique(TEST.qid):
        rows = TEST.qid == query
        expected = np.unique(scores[rows], return_inverse=True)[1]
        different += expected.max()
        for column in columns:
            np.testing.assert_array_equal(np.unique(column[rows], return_inverse=True)[1], expected)
    assert different > 100


def test_isotonic_regression_alone_would_tie():
    """The order of the test above is not that of scikit-learn's regression."""
    scores = RANKER.predict(X)
    alone = IsotonicRegression().fit(scores, Y >= 1).predict(scores)
    assert len(np.unique(alone)) < len(scores) / 2
    assert len(np.unique(calibrated().predict_proba(X))) == len(scores)


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


# --- choice ---------------------------------------------------------------------------------------


def test_choice_is_a_softmax_with_the_temperature_of_highest_likelihood():
    found = calibrated()
    scores = RANKER.predict(X)

    def loss(temperature):
        logs = np.log(softmax(scores, QID, temperature))
        relevant = pd.Series(np.where(Y >= 1, logs, np.nan))
        return -relevant.groupby(QID).mean().sum()

    least = loss(found.temperature_)
    assert least < min(loss(found.temperature_ * factor) for factor in (0.98, 1.02))
    np.testing.assert_array_equal(
        found.predict_choice(X, QID), softmax(scores, QID, found.temperature_)
    )


def test_softmax():
    scores, qid = np.array([3.0, 1000.0, 1.0, 1001.0]), ["a", "b", "a", "b"]
    found = softmax(scores, qid, temperature=2.0)
    expected = (
        np.exp([1.0, 0.0, 0.0, 0.5]) / np.repeat([[np.e + 1], [1 + np.exp(0.5)]], 2)[[0, 2, 0, 2]]
    )
    np.testing.assert_allclose(found, expected)
    shifted = scores + np.array([-500.0, 7.0, -500.0, 7.0])  # one constant for each query
    np.testing.assert_allclose(softmax(shifted, qid, 2.0), expected)


def test_the_temperature_is_that_of_the_choices():
    """Values of choices that were made by a softmax with temperature 0.5."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(3000, 6))
    chosen = (scores / 0.5 + rng.gumbel(size=scores.shape)).argmax(axis=1)
    y = (np.arange(6) == chosen[:, None]).astype(int).ravel()
    features = np.column_stack((scores.ravel(), np.zeros((18000, 4))))
    found = CalibratedRanker(RANKER).fit(features, y, np.arange(18000) // 6)
    assert found.temperature_ == pytest.approx(0.5, abs=0.03)  # three standard errors


# --- estimators of scikit-learn -------------------------------------------------------------------


@twins
def test_saved_with_the_model(twin, tmp_path):
    found = CalibratedRanker(twin.fitted()).fit(VALI.X, VALI.y, VALI.qid)
    expected = found.predict_proba(TEST.X)
    joblib.dump(found, tmp_path / "ranker.joblib")
    for copy in (pickle.loads(pickle.dumps(found)), joblib.load(tmp_path / "ranker.joblib")):
        np.testing.assert_array_equal(copy.predict_proba(TEST.X), expected)
        np.testing.assert_array_equal(copy.predict(TEST.X), found.predict(TEST.X))
        assert copy.temperature_ == found.temperature_


def test_a_clone_keeps_the_ranker_and_forgets_the_probabilities():
    found = calibrated(grades=(1, 2), method="logistic")
    copy = clone(found)
    assert copy.get_params(deep=False) == found.get_params(deep=False)
    assert copy.ranker is RANKER
    with pytest.raises(NotFittedError):
        copy.predict_proba(X)
    np.testing.assert_array_equal(copy.fit(X, Y, QID).predict_proba(X), found.predict_proba(X))


def test_the_ranker_is_not_trained_again():
    before = pickle.dumps(RANKER)
    calibrated()
    assert pickle.dumps(RANKER) == before


def test_a_pipeline_whose_steps_request_query_ids():
    features, y, qid = task()
    half = np.isin(qid, np.unique(qid)[::2])
    steps = [("scaled", StandardScaler()), ("relative", QueryRelativeFeatures(n_jobs=1))]
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
    frame = pd.DataFrame(features).add_prefix("x").assign(qid=qid)
    by_column = make_pipeline(QueryRelativeFeatures(n_jobs=1), clone(pipeline[-1])).fit(
        frame[half], y[half]
    )
    found = CalibratedRanker(by_column).fit(frame[~half], y[~half])
    assert found.predict_proba(frame[~half]).shape == (np.count_nonzero(~half), 1)
    assert found.predict_choice(frame[~half]).sum() == pytest.approx(len(np.unique(qid[~half])))


def test_the_last_step_of_a_pipeline():
    """Fitted transformers stay as they are with `FrozenEstimator`."""
    features, y, qid = task()
    half = np.isin(qid, np.unique(qid)[::2])
    added = query_relative_features(features, qid)
    pipeline = make_pipeline(StandardScaler(), LGBMGAPRanker(n_estimators=4, n_jobs=1, verbose=-1))
    pipeline.fit(added[half], y[half], lgbmgapranker__qid=qid[half])
    last = Pipeline(
        [("scaled", FrozenEstimator(pipeline[0])), ("ranker", CalibratedRanker(pipeline[-1]))]
    )
    last.fit(added[~half], y[~half], ranker__qid=qid[~half])
    expected = CalibratedRanker(pipeline).fit(added[~half], y[~half], qid[~half])
    np.testing.assert_array_equal(last.predict_proba(added), expected.predict_proba(added))
    np.testing.assert_array_equal(last.predict(added), pipeline.predict(added))
    with sklearn.config_context(enable_metadata_routing=True):
        routed = make_pipeline(StandardScaler(), CalibratedRanker(pipeline[-1])).fit(
            added, y, qid=qid
        )
        assert routed.predict_proba(added, qid=qid).shape == (len(y), 1)


def test_rankers_of_the_boosters_without_a_column_qid():
    frame = pd.DataFrame(VALI.X).add_prefix("x").assign(qid=VALI.qid)
    import lightgbm

    sizes = np.unique(TRAIN.qid, return_counts=True)[1]
    ranker = lightgbm.LGBMRanker(n_estimators=4, n_jobs=1, verbose=-1)
    ranker.fit(pd.DataFrame(TRAIN.X).add_prefix("x"), TRAIN.y, group=sizes)
    found = CalibratedRanker(ranker).fit(frame, VALI.y)
    np.testing.assert_array_equal(found.predict(frame), ranker.predict(frame.drop(columns="qid")))


# --- refused --------------------------------------------------------------------------------------


class Constant(Noisy):
    def predict(self, X):
        return np.zeros(len(X))


class Opposite(Noisy):
    def predict(self, X):
        return -super().predict(X)


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (Noisy(np.nan).fit(X[:9], Y[:9]), r"^ranker.predict\(X\) holds 800 NaN .*expected finite"),
        (
            Constant().fit(X[:9], Y[:9]),
            r"^ranker gives documents from grade 1 on no higher scores than others .slope 0",
        ),
        (
            Opposite().fit(X[:9], Y[:9]),
            "^ranker gives documents from grade 1 on no higher .*slope -",
        ),
    ],
    ids=["NaN", "constant", "reversed"],
)
@methods
def test_refuses_scores(ranker, message, method):
    with pytest.raises(ValueError, match=message):
        calibrated(ranker, method=method)


def test_refuses_scores_that_are_not_finite_in_predictions():
    found = calibrated()
    spoilt = np.array(NEW[0])
    spoilt[3] = np.nan
    for method in (found.predict_proba, lambda X: found.predict_choice(X, NEW[2])):
        with pytest.raises(ValueError, match="1 NaN or infinite values, the first in row 3"):
            method(spoilt)
    assert np.isnan(found.predict(spoilt)[3])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"qid": None}, "^qid is missing in fit; expected"),
        ({"qid": QID[:-1]}, "^qid has 799 rows but y has 800; expected"),
        ({"qid": np.arange(800) % 9}, "^qid holds 9 queries; expected at least 10"),
        (
            {"train_qid": QID[:5]},
            r"^qid holds \d queries of the training set, such as 1\d\d\d; expected",
        ),
        ({"train_qid": [None]}, "^train_qid "),
        ({"y": Y * 0}, r"^grades holds 1, which no document reaches: y holds \[0\]; expected"),
        (
            {"y": Y * 0 + 1},
            r"^grades holds 1, which every document reaches: y holds \[1\]; expected",
        ),
        (
            {"y": Y / 4},
            r"^grades holds 1, which no document reaches: y holds \[0.0, 0.25, 0.5\]; expected",
        ),
        ({"y": Y - 1}, "^y holds the negative grade"),
        ({"y": QID % 2}, "^y holds no query with documents below grade 1 and others; expected"),
        ({"X": X[:-1]}, "^X has 799 rows but y has 800; expected"),
    ],
)
def test_refuses_data(changes, message):
    with pytest.raises(ValueError, match=message):
        CalibratedRanker(RANKER).fit(**{"X": X, "y": Y, "qid": QID, **changes})


@pytest.mark.parametrize(
    "grades", [(), (2, 1), (1, 1), (0,), (-1,), 1, "1", None, (np.nan,), (np.inf,), {1}]
)
def test_refuses_thresholds(grades):
    with pytest.raises(
        ValueError, match=r"^grades is .*; expected a sequence of ascending grades > 0"
    ):
        calibrated(grades=grades)


def test_refuses_a_threshold_that_does_not_occur():
    with pytest.raises(
        ValueError, match=r"^grades holds 3, which no document reaches: y holds \[0, 1, 2\]"
    ):
        calibrated(grades=(1, 3))


@pytest.mark.parametrize(
    "empty", [[], np.array([]), np.array([], dtype=object)], ids=["list", "array", "objects"]
)
def test_refuses_an_empty_training_set(empty):
    X, y, qid = task()
    with pytest.raises(
        ValueError, match=r"^train_qid is empty; expected the query ids of the training set"
    ):
        CalibratedRanker(Noisy().fit(X, y)).fit(X, y, qid, train_qid=empty)


def test_refuses_other_methods():
    with pytest.raises(
        ValueError, match=r'^method is .sigmoid.; expected "isotonic" or "logistic"'
    ):
        calibrated(method="sigmoid")


def test_refuses_what_is_no_fitted_ranker():
    with pytest.raises(NotFittedError, match=r"^ranker is a Noisy that is not fitted; expected"):
        calibrated(Noisy())
    with pytest.raises(NotFittedError, match=r"^ranker is a Pipeline that is not fitted; expected"):
        calibrated(make_pipeline(StandardScaler(), LGBMGAPRanker()))
    with pytest.raises(TypeError, match=r"^ranker is 3; expected a fitted ranker"):
        calibrated(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0, np.nan], [1, 1]), "^scores holds 1 NaN"),
        (([1.0, 2.0], [1]), "^qid has 1 rows but scores has 2"),
        (([1.0, 2.0], [1, 1], 0.0), "^temperature is 0.0; expected a finite number > 0"),
        (([[1.0]], [1]), r"^scores has shape \(1, 1\)"),
    ],
)
def test_softmax_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        softmax(*arguments)
