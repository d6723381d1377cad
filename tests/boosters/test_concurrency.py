"""Fits and predictions in several threads and processes: each gives what it gives alone."""

import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.testing as npt
import pytest
from own_process import run_python
from sklearn.base import clone
from twins import LIGHTGBM, TEST, XGBOOST, booster_of, twins

from gapboost._kernels import threads as kernel_threads

# Long lists among them, and ids whose order a hash could change.
SIZES = np.concatenate([np.full(300, 20), [1500, 2500]])
QID = np.repeat([f"query {i}" for i in range(len(SIZES))], SIZES)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(len(QID), 4))
Y = np.digitize(X[:, 0] + RNG.normal(size=len(QID)), [0.5, 1.5])


@pytest.fixture(autouse=True)
def shared(monkeypatch):
    """Share work that is too little for threads."""
    monkeypatch.setattr(kernel_threads, "SHARED_WORK", 0.0)


def rankers(twin, **parameters):
    of_measures = (
        twin.ranker(n_estimators=3, g=g, random_state=0, **parameters)
        for g in ((0.5, 0.5), (0.9, 0.1), (0.1, 0.9))
    )
    return list(of_measures)


def fitted(ranker):
    ranker = clone(ranker).fit(X, Y, QID)
    return ranker.predict(X), ranker.score(X, Y, QID)


@pytest.fixture(scope="module")
def alone():
    """Predictions and score of each ranker, trained by itself on one thread."""
    return {twin.name: [fitted(ranker) for ranker in rankers(twin)] for twin in (LIGHTGBM, XGBOOST)}


def check(found, expected):
    for (scores, value), (scores_alone, value_alone) in zip(found, expected, strict=True):
        npt.assert_array_equal(scores, scores_alone)
        assert value == value_alone


@pytest.mark.slow(keep=2)
@twins
@pytest.mark.parametrize("n_jobs", [2, 3, None])
def test_every_number_of_threads_gives_the_same_model(twin, n_jobs, alone):
    check([fitted(ranker) for ranker in rankers(twin, n_jobs=n_jobs)[:1]], alone[twin.name][:1])


@twins
def test_n_jobs_is_the_number_of_the_boosters_threads(twin, monkeypatch):
    """In a fit with an evaluation set, and in native callbacks."""
    asked = []

    def team(work, n_threads):
        asked.append(n_threads)
        work()

    monkeypatch.setattr(twin.module._compat, "TEAM", team)
    monkeypatch.setattr(twin.module.callbacks, "TEAM", team)
    scores, data = X[:, 0].copy(), twin.dataset(X, Y, SIZES)
    for n_jobs in (2, 3):
        ranker = twin.ranker(n_estimators=1, n_jobs=n_jobs)
        ranker.fit(X, Y, QID, eval_set=[(X.copy(), Y)], eval_qid=[QID])
        assert len(asked) >= 2
        for make in (twin.module.objective, twin.module.eval_metric):
            before = len(asked)
            make("gap", n_jobs=n_jobs)(scores, data)
            assert len(asked) > before
        assert set(asked) == {n_jobs}
        asked.clear()


@pytest.mark.slow(keep=1)
@twins
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_in_parallel_threads(twin, n_jobs, alone):
    """Fit in several threads, as a Dask worker does; with n_jobs=2 the fits share one pool."""
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(fitted, rankers(twin, n_jobs=n_jobs) * 2))
    check(found, alone[twin.name] * 2)


# Train in a new process and in one that is forked from it.
TRAIN_FORKED = """
import multiprocessing, pickle, sys, warnings
import numpy as np
import gapboost as gb
from gapboost._kernels import threads

threads.SHARED_WORK = 0.0
rankers, X, y, qid = pickle.load(open(sys.argv[1], "rb"))

def fit(path):
    np.save(path, [ranker.fit(X, y, qid).predict(X) for ranker in rankers])

gb.LambdaRank(gb.AP()).gradients(y, X[:, 0], qid, n_jobs=2)
warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
child = multiprocessing.get_context("fork").Process(target=fit, args=(sys.argv[3],))
child.start()
child.join(60)
assert child.exitcode == 0, child.exitcode
fit(sys.argv[2])
"""
# Predict in a child of a process that has used the boosters' threads, as servers do.
PREDICT_FORKED = """
import os, pickle, sys, time
from gapboost._kernels import threads

threads.SHARED_WORK = 0.0
models, X, y, qid = pickle.load(open(sys.argv[1], "rb"))
expected = [model.predict(X) for model in models]
child = os.fork()
if not child:
    same = all((model.predict(X) == scores).all() for model, scores in zip(models, expected))
    os._exit(0 if same and all(model.score(X, y, qid) > 0 for model in models) else 1)
begun = time.time()
while time.time() - begun < 30:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.01)
os.kill(child, 9)
sys.exit("the child does not answer")
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_training_in_a_forked_process(alone, tmp_path):
    """Threads do not survive a fork: the child must not wait for the pool of its parent.

    The parent uses only gapboost's pool before: after a fit, OpenMP inside XGBoost would itself
    wait for ever.
    """
    given = [rankers(twin, n_jobs=2)[0] for twin in (LIGHTGBM, XGBOOST)]
    (tmp_path / "given").write_bytes(pickle.dumps((given, X, Y, QID)))
    run_python(TRAIN_FORKED, *(tmp_path / name for name in ("given", "parent.npy", "child.npy")))
    for name in ("parent", "child"):
        found = np.load(tmp_path / f"{name}.npy")
        npt.assert_array_equal(found, [of_ranker[0][0] for of_ranker in alone.values()])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_predictions_in_a_forked_process(tmp_path):
    models = []
    for threads in (2, None):
        models += [twin.fitted().set_params(n_jobs=threads) for twin in (LIGHTGBM, XGBOOST)]
        booster_of(models[-1]).set_param({"nthread": threads or 0})
    (tmp_path / "given").write_bytes(pickle.dumps((models, TEST.X, TEST.y, TEST.qid)))
    run_python(PREDICT_FORKED, tmp_path / "given")
