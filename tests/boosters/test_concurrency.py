"""Fits in several threads and processes, and interrupted fits: each gives what it gives alone."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from twins import LIGHTGBM, XGBOOST, twins

import gapboost as gb

# More documents than one thread takes, long lists among them, and ids whose order a hash could
# change.
SIZES = np.concatenate([np.full(300, 20), [1500, 2500]])
QID = np.repeat([f"query {i}" for i in range(len(SIZES))], SIZES)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(len(QID), 4))
Y = np.digitize(X[:, 0] + RNG.normal(size=len(QID)), [0.5, 1.5])
GS = [(0.5, 0.5), (0.9, 0.1), (0.1, 0.9)]


def rankers(twin, **parameters):
    return [twin.ranker(n_estimators=3, g=g, random_state=0, **parameters) for g in GS]


def source(ranker):
    """A ranker as a program writes it."""
    given = {
        name: value
        for name, value in ranker.get_params().items()
        if value is not None and value == value
    }
    return f"{type(ranker).__name__}(**{given!r})"


def source_of_rankers():
    """A list of one ranker of each booster, as a program writes it."""
    return "[" + ", ".join(source(rankers(twin, n_jobs=2)[0]) for twin in (LIGHTGBM, XGBOOST)) + "]"


def fitted(ranker):
    ranker = clone(ranker).fit(X, Y, QID)
    return ranker.predict(X), ranker.score(X, Y, QID)


@pytest.fixture(scope="module")
def alone():
    """Predictions and score of each ranker, trained by itself on one thread."""
    return {twin.name: [fitted(ranker) for ranker in rankers(twin)] for twin in (LIGHTGBM, XGBOOST)}


def check(found, expected):
    assert len(found) == len(expected)
    for (scores, value), (scores_alone, value_alone) in zip(found, expected, strict=True):
        npt.assert_array_equal(scores, scores_alone)
        assert value == value_alone


@pytest.mark.slow(keep=2)
@twins
@pytest.mark.parametrize("n_jobs", [2, 3, -1, None])
def test_every_number_of_threads_gives_the_same_model(twin, n_jobs, alone):
    check([fitted(ranker) for ranker in rankers(twin, n_jobs=n_jobs)[:1]], alone[twin.name][:1])


@pytest.mark.slow(keep=1)
@twins
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_fits_in_parallel_threads(twin, n_jobs, alone):
    """Fit in several threads, as a Dask worker does; with n_jobs=2 the fits share one pool."""
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(fitted, rankers(twin, n_jobs=n_jobs) * 2))
    check(found, alone[twin.name] * 2)


@pytest.mark.slow
@twins
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(twin, backend, alone):
    fits = joblib.Parallel(2, backend=backend)(
        joblib.delayed(ranker.fit)(X, Y, QID) for ranker in rankers(twin)
    )
    check([(ranker.predict(X), ranker.score(X, Y, QID)) for ranker in fits], alone[twin.name])


IN_PROCESSES = """
import multiprocessing, sys, warnings
import numpy as np
import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

data = np.load(sys.argv[1])

def fit(path):
    fitted = [ranker.fit(data["X"], data["y"], data["qid"]) for ranker in {rankers}]
    np.save(path, [ranker.predict(data["X"]) for ranker in fitted])

gb.LambdaRank(gb.AP()).gradients(data["y"], data["X"][:, 0], data["qid"], n_jobs=2)
warnings.filterwarnings("ignore", ".*use of fork", DeprecationWarning)
child = multiprocessing.get_context("fork").Process(target=fit, args=(sys.argv[3],))
child.start()
child.join(60)
assert child.exitcode == 0, child.exitcode
fit(sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_new_process_and_one_forked_from_it(alone, tmp_path):
    """Threads do not survive a fork: the child must not wait for the pool of its parent.

    The parent uses only gapboost's pool before: after a fit, OpenMP inside XGBoost would itself
    wait for ever.
    """
    code = IN_PROCESSES.format(rankers=source_of_rankers())
    np.savez(tmp_path / "rows.npz", X=X, y=Y, qid=QID)
    paths = [tmp_path / name for name in ("rows.npz", "parent.npy", "child.npy")]
    done = subprocess.run(
        [sys.executable, "-c", code, *paths],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for path in paths[1:]:
        npt.assert_array_equal(np.load(path), [of_ranker[0][0] for of_ranker in alone.values()])


@pytest.fixture
def interruptible():
    """Restore Python's handler of Ctrl-C, which a process started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow(keep=1)
@twins
def test_interrupt_by_a_signal(twin, alone, interruptible):
    """A real SIGINT in the midst of training: unfitted but usable."""
    seen = []

    def interrupt(*_):
        seen.append(1)
        if len(seen) == 2:
            signal.raise_signal(signal.SIGINT)

    class Interrupt(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            interrupt()
            return False

    ranker = rankers(twin, n_jobs=2)[0]
    callback = {"callbacks": [interrupt if twin is LIGHTGBM else Interrupt()]}
    if twin is not LIGHTGBM:
        ranker.set_params(**callback)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, Y, QID, **(callback if twin is LIGHTGBM else {}))
    assert len(seen) == 2
    assert not ranker.__sklearn_is_fitted__()
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    if twin is not LIGHTGBM:
        ranker.set_params(callbacks=None)
    ranker.fit(X, Y, QID)
    check([(ranker.predict(X), ranker.score(X, Y, QID))], alone[twin.name][:1])


def test_an_interrupt_inside_the_gradients_waits_for_its_helpers(monkeypatch):
    """Helpers that went on would write to arrays that are gone."""
    from gapboost._kernels.parallel import chunks

    running, done = [], []

    def task(k):
        running.append(k)
        if k == 0:
            raise KeyboardInterrupt
        done.append(k)

    with pytest.raises(KeyboardInterrupt):
        chunks.run(task, 20, 2)
    count = len(done)
    assert sorted(running) == sorted([0, *done])
    expected = gb.LambdaRank(gb.AP()).gradients(Y, X[:, 0], QID, n_jobs=1)
    npt.assert_array_equal(gb.LambdaRank(gb.AP()).gradients(Y, X[:, 0], QID, n_jobs=2), expected)
    assert len(done) == count


@twins
def test_a_second_fit_of_the_same_object(twin, alone):
    ranker = rankers(twin)[1].fit(X[:4000, :2], Y[:4000], QID[:4000])
    ranker.fit(X, Y, QID)
    check([(ranker.predict(X), ranker.score(X, Y, QID))], alone[twin.name][1:2])
