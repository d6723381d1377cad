"""One objective, metric, pass or ranker for several threads: each gets what it would get alone."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import twins

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from gapboost._boosters.states import PerDataSet
from gapboost._data.judged import judged
from gapboost._kernels.parallel.chunks import working_on

# Numbers of threads.
THREADS = (2, 5, 8)
ITERATIONS = 3
IN_LIGHTGBM = {
    "max_bin": 15,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbosity": -1,
}
IN_XGBOOST = {
    "base_score": 0.0,
    "disable_default_eval_metric": 1,
    "max_depth": 2,
    "max_bin": 15,
    "nthread": 1,
}

# Several chunks of lists of 40; one list that all threads share, beside a short one.
SIZES = {"lists of 40": np.full(120, 40), "a list of 40 000": np.array([40_000, 200])}
OBJECTIVES = [gb.GAP(g=(0.7, 0.3)), gb.xGAP(g=(0.2, 0.8))]
documents = pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
pauses = pytest.mark.parametrize(
    "pause", [None, 1e-6], ids=["usual switches", "switches at every chance"]
)


@pytest.fixture
def switching(pause):
    """Set how often Python lets another thread run."""
    before = sys.getswitchinterval()
    if pause is not None:
        sys.setswitchinterval(pause)
    yield
    sys.setswitchinterval(before)


def task(sizes):
    """Two features, grades that they tell something of, and query ids."""
    rng = np.random.default_rng(len(sizes))
    X = rng.normal(size=(int(sizes.sum()), 2))
    return (
        X,
        np.digitize(X[:, 0] + rng.normal(size=len(X)), [0.5, 1.5]),
        np.repeat(np.arange(len(sizes)), sizes),
    )


def at_once(function, arguments):
    """``function`` of every argument, each in a thread of its own, all of which begin together."""
    meeting = Barrier(len(arguments), timeout=60)

    def run(argument):
        meeting.wait()
        return function(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


class LightGBM:
    """Trains on one constructed data set with one objective and one metric."""

    def __init__(self, sizes):
        X, y, _ = task(sizes)
        self.data = lightgbm.Dataset(
            X, y, group=sizes, params=IN_LIGHTGBM, free_raw_data=False
        ).construct()
        self.objectives = [gapboost.lightgbm.objective(measure, n_jobs=2) for measure in OBJECTIVES]
        self.metric = gapboost.lightgbm.eval_metric(gb.eGAP(g=(0.5, 0.5)), n_jobs=2)

    def fitted(self, i):
        found = {}
        booster = lightgbm.train(
            {
                **IN_LIGHTGBM,
                "objective": self.objectives[i % 2],
                "metric": "None",
                "num_leaves": 4,
                "seed": i % 3,
            },
            self.data,
            ITERATIONS,
            valid_sets=[self.data],
            feval=self.metric,
            callbacks=[lightgbm.record_evaluation(found)],
        )
        return booster.model_to_string(), found


class XGBoost:
    """Trains on one quantized data set with one objective and one metric."""

    def __init__(self, sizes):
        X, y, qid = task(sizes)
        self.data = xgboost.QuantileDMatrix(X, y, qid=qid, max_bin=15, nthread=1)
        self.objectives = [gapboost.xgboost.objective(measure, n_jobs=2) for measure in OBJECTIVES]
        self.metric = gapboost.xgboost.eval_metric(gb.eGAP(g=(0.5, 0.5)), n_jobs=2)

    def fitted(self, i):
        found = {}
        booster = xgboost.train(
            {**IN_XGBOOST, "seed": i % 3},
            self.data,
            ITERATIONS,
            obj=self.objectives[i % 2],
            custom_metric=self.metric,
            evals=[(self.data, "train")],
            evals_result=found,
            verbose_eval=False,
        )
        return bytes(booster.save_raw("ubj")), found


@pytest.mark.slow
@pytest.mark.parametrize("booster", [LightGBM, XGBoost], ids=["LightGBM", "XGBoost"])
@documents
@pauses
@pytest.mark.usefixtures("switching")
def test_one_objective_and_one_metric_train_in_many_threads(booster, sizes):
    """From 2 to 8 threads share one data set, as the trials of a study do."""
    shared = booster(sizes)
    alone = [shared.fitted(i) for i in range(6)]
    assert len({model for model, _ in alone}) > 1
    for n_threads in THREADS:
        trials = [k % 6 for k in range(n_threads)]
        assert at_once(shared.fitted, trials) == [alone[k] for k in trials]


PASSES = {
    "LambdaRank": gb.LambdaRank(gb.GAP(g=(0.7, 0.3))),
    "SoftRank": gb.SoftRank(gb.GAP(g=(0.7, 0.3))),
    "SoftRank of a measure without pairs": gb.SoftRank(gb.nDCG(k=5)),
    "ApproxRank": gb.ApproxRank(gb.GAP(g=(0.7, 0.3), k=10)),
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", PASSES)
@documents
@pauses
@pytest.mark.usefixtures("switching")
def test_one_pass_is_called_by_many_threads(name, sizes):
    objective = PASSES[name]
    if name != "LambdaRank" and len(sizes) == 2:
        sizes = np.array([400, 200])  # they take the square of the length
    _, y, qid = task(sizes)
    prepared = objective.prepared(judged(y, qid), n_jobs=2)
    scores = np.random.default_rng(0).normal(size=(8, len(y)))

    def gradients(given):
        grad, hess = np.empty((2, len(given)))
        prepared(given, grad, hess)
        return grad, hess

    alone = [gradients(given) for given in scores]
    for n_threads in THREADS:
        used = range(n_threads)
        npt.assert_array_equal(at_once(gradients, scores[used]), [alone[k] for k in used])


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("n_jobs", [1, 2])
@documents
def test_evaluate_in_many_threads(sizes, n_jobs):
    _, y, qid = task(sizes)
    measures = [gb.GAP(g=(0.7, 0.3)), gb.nDCG(k=10), gb.AP()]
    scores = np.random.default_rng(0).normal(size=(8, len(y)))

    def values(given):
        return gb.evaluate(measures, y, given, qid, n_jobs=n_jobs)

    alone = [values(given) for given in scores]
    for _ in range(5):
        assert at_once(values, scores) == alone


@pytest.mark.slow(keep=1)
@twins
@documents
def test_one_ranker_is_fitted_and_asked_in_many_threads(twin, sizes):
    X, y, qid = task(sizes)
    expected = twin.ranker(n_estimators=3, n_jobs=1).fit(X, y, qid)
    scores, value = expected.predict(X), expected.score(X, y, qid)
    ranker = twin.ranker(n_estimators=3, n_jobs=1)

    def fitted(_):
        return ranker.fit(X, y, qid).predict(X)

    def asked(_):
        return ranker.predict(X), ranker.score(X, y, qid)

    for found in at_once(fitted, range(6)):
        npt.assert_array_equal(found, scores)
    for found, found_value in at_once(asked, range(8)):
        npt.assert_array_equal(found, scores)
        assert found_value == value


def test_a_helper_that_an_interrupt_left_behind_disturbs_no_later_call():
    _, y, qid = task(SIZES["a list of 40 000"])
    prepared = gb.LambdaRank(gb.AP()).prepared(judged(y, qid), n_jobs=2)
    late = []

    def gradients(scores, team):
        grad, hess = np.zeros((2, len(scores)))
        with working_on(team):
            prepared(scores, grad, hess)
        return grad, hess

    def interrupted(work, n_threads):
        late.append(work)
        raise KeyboardInterrupt

    def beside_the_late_one(work, n_threads):
        while late:
            late.pop()()
        work()

    first, second = np.random.default_rng(0).normal(size=(2, len(y)))
    expected = gradients(second, None)
    with pytest.raises(KeyboardInterrupt):
        gradients(first, interrupted)
    npt.assert_array_equal(gradients(second, beside_the_late_one), expected)


@pytest.mark.slow
@twins
@pytest.mark.parametrize("pause", [1e-6], ids=["switches at every chance"])
@pytest.mark.usefixtures("switching")
def test_a_ranker_fitted_to_several_data_sets_at_once_is_left_as_one_of_them_made_it(twin):
    X, y, qid = task(np.full(12, 10))
    ranker = twin.ranker(n_estimators=1, n_jobs=1)

    def fit(n_queries):
        rows = qid < n_queries
        ranker.fit(X[rows], y[rows], qid[rows])

    made = {}
    for n_queries in (6, 12):
        fit(n_queries)
        made[n_queries] = ranker.predict(X)
    assert (made[6] != made[12]).any()
    for _ in range(20):
        at_once(fit, [6, 12] * 3)
        npt.assert_array_equal(ranker.predict(X), made[ranker.n_queries_in_])


class Owner:
    """A data set: anything that can be referred to weakly."""


def test_states_of_data_sets_that_come_and_go_in_many_threads():
    """Each thread sees the state of its own content; nothing is left of data sets that are gone."""
    states = PerDataSet(lambda label, sizes, weight, workers: label.copy())
    shared = [Owner()]

    def work(k):
        for i in range(200):
            own, label = Owner(), np.array([k, i])
            npt.assert_array_equal(states(own, (label, None, None, None)), label)
            npt.assert_array_equal(states(own, (label, None, None, None)), label)
            npt.assert_array_equal(states(shared[0], (label, None, None, None)), label)

    for _ in range(3):
        at_once(work, range(8))
    assert len(states) == 1
    shared.clear()
    assert len(states) == 0
