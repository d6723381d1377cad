"""Bars over the rounds of a fit, and over a search where someone watches."""

import copy
import io
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import lightgbm
import numpy as np
import pytest
import sklearn
import xgboost
from ranking_task import task
from sklearn.model_selection import GridSearchCV, GroupKFold
from tqdm.auto import tqdm

from gapboost import _optional
from gapboost.lightgbm import LGBMGAPRanker, progress
from gapboost.model_selection import GSearchCV, measure_scorer
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost import progress as xgboost_progress

pytestmark = pytest.mark.slow

X, Y, QID = task()
ORDER = np.argsort(QID, kind="stable")
SIZES = np.unique(QID, return_counts=True)[1]
CODES = np.repeat(np.arange(len(SIZES)), SIZES)
GROUPED = X[ORDER], Y[ORDER]
EVAL = {"eval_set": [(X, Y)], "eval_qid": [QID]}
LGB = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [5], "num_threads": 1, "verbose": -1}
XGB = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "nthread": 1}


def lightgbm_data():
    return lightgbm.Dataset(*GROUPED, group=SIZES)


def xgboost_data():
    return xgboost.DMatrix(*GROUPED, qid=CODES)


@pytest.fixture
def bars(capsys):
    """The lines that bars left on stderr, in their last state; fails where one is still open."""

    def ended():
        assert not tqdm._instances, "a bar is open"
        shown = capsys.readouterr().err
        assert shown == "" or shown.endswith("\n"), shown
        # Beside them it may be said that kernels are compiled.
        return [line.split("\r")[-1].rstrip() for line in shown.split("\n") if "round" in line]

    return ended


HELD_OUT = np.isin(QID, np.unique(QID)[:10])
TRAIN, TEST = (X[~HELD_OUT], Y[~HELD_OUT]), (X[HELD_OUT], Y[HELD_OUT])
TRAIN_QID, TEST_QID = QID[~HELD_OUT], QID[HELD_OUT]


@pytest.mark.parametrize("stopping", [True, False])
def test_lightgbm_ranker(bars, stopping):
    """If the training set is watched too, the best round is that of the validation set."""
    more = [lightgbm.early_stopping(1, min_delta=0.002, verbose=False)] if stopping else []
    ranker = LGBMGAPRanker(n_estimators=30, n_jobs=1, verbose=-1).fit(
        *TRAIN,
        qid=TRAIN_QID,
        eval_set=[TRAIN, TEST],
        eval_qid=[TRAIN_QID, TEST_QID],
        eval_metric="ndcg@5",
        callbacks=[progress(), *more],
    )
    (bar,) = bars()
    values = ranker.evals_result_["valid_1"]["map-gap"]
    assert (len(values) < 30) == stopping
    assert bar.startswith("100%")
    assert f"| {len(values)}/{len(values)} [" in bar
    assert set(ranker.evals_result_) == {"training", "valid_1"}
    for name, courses in ranker.evals_result_.items():
        for measure, course in courses.items():
            assert f"{name} {measure}={course[-1]:.4g}" in bar
    assert f"best {max(values):.4g} in round {np.argmax(values) + 1}]" in bar


@pytest.mark.parametrize("stopping", [1, None])
def test_xgboost_ranker(bars, stopping):
    ranker = XGBGAPRanker(
        n_estimators=30, n_jobs=1, early_stopping_rounds=stopping, callbacks=[xgboost_progress()]
    )
    ranker.fit(*TRAIN, qid=TRAIN_QID, eval_set=[TEST], eval_qid=[TEST_QID])
    (bar,) = bars()
    values = ranker.evals_result_["validation_0"]["map-gap"]
    assert (len(values) < 30) == (stopping is not None)
    assert bar.startswith("100%")
    # XGBoost 3.0 calls callbacks in the order of a set, and none after the one that ends the
    # training.
    told = [values, values[:-1]] if stopping else [values]
    assert any(
        f"| {len(v)}/{len(v)} [" in bar and f"validation_0 map-gap={v[-1]:.4g}" in bar for v in told
    )
    best = f", best {max(values):.4g} in round {ranker.best_iteration_}]"
    assert (best in bar) == ("best" in bar) == (stopping is not None)


def test_a_continued_model_brings_no_best_round(bars):
    first = XGBGAPRanker(n_estimators=9, n_jobs=1, early_stopping_rounds=5).fit(
        X, Y, qid=QID, **EVAL
    )
    assert first.best_iteration_
    XGBGAPRanker(n_estimators=3, n_jobs=1, callbacks=[xgboost_progress()]).fit(
        X, Y, qid=QID, **EVAL, xgb_model=first
    )
    (bar,) = bars()
    assert "| 3/3 [" in bar
    assert "best" not in bar


def test_continued_rounds_are_those_of_the_fit(bars):
    first = LGBMGAPRanker(n_estimators=4, n_jobs=1, verbose=-1).fit(X, Y, qid=QID)
    again = LGBMGAPRanker(n_estimators=3, n_jobs=1, verbose=-1)
    again.fit(X, Y, qid=QID, init_model=first, callbacks=[progress()])
    assert "| 3/3 [" in bars()[0]


def train_lightgbm(bar):
    found = {}
    more = [
        lightgbm.record_evaluation(found),
        lightgbm.early_stopping(1, min_delta=0.02, verbose=False),
    ]
    lightgbm.train(LGB, lightgbm_data(), 20, valid_sets=[lightgbm_data()], callbacks=[bar, *more])
    assert len(found["valid_0"]["ndcg@5"]) < 20
    return {"valid_0 ndcg@5": found["valid_0"]["ndcg@5"]}


def cv_lightgbm(bar):
    found = lightgbm.cv(LGB, lightgbm_data(), 5, nfold=3, callbacks=[bar])
    return {"valid ndcg@5": found["valid ndcg@5-mean"]}


def rank_lightgbm(bar):
    ranker = lightgbm.LGBMRanker(n_estimators=5, n_jobs=1, verbose=-1)
    ranker.fit(
        *GROUPED, group=SIZES, eval_set=[GROUPED], eval_group=[SIZES], eval_at=[5], callbacks=[bar]
    )
    return {"training ndcg@5": ranker.evals_result_["training"]["ndcg@5"]}


def train_xgboost(bar):
    found, evals = {}, [(xgboost_data(), "x"), (xgboost_data(), "y")]
    xgboost.train(
        XGB, xgboost_data(), 5, evals=evals, evals_result=found, callbacks=[bar], verbose_eval=False
    )
    return {f"{name} ndcg@5": found[name]["ndcg@5"] for name in "xy"}


def cv_xgboost(bar):
    found = xgboost.cv(XGB, xgboost_data(), 5, callbacks=[bar], as_pandas=False)
    return {f"{name} ndcg@5": found[f"{name}-ndcg@5-mean"] for name in ("train", "test")}


def rank_xgboost(bar):
    ranker = xgboost.XGBRanker(n_estimators=5, n_jobs=1, eval_metric="ndcg@5", callbacks=[bar])
    ranker.fit(*GROUPED, qid=CODES, eval_set=[GROUPED], eval_qid=[CODES], verbose=False)
    return {"validation_0 ndcg@5": ranker.evals_result()["validation_0"]["ndcg@5"]}


LIBRARIES = [
    *((fit, progress) for fit in (train_lightgbm, cv_lightgbm, rank_lightgbm)),
    *((fit, xgboost_progress) for fit in (train_xgboost, cv_xgboost, rank_xgboost)),
]


@pytest.mark.parametrize(("fit", "callback"), LIBRARIES, ids=[fit.__name__ for fit, _ in LIBRARIES])
@pytest.mark.filterwarnings("ignore:.*eval_set.*")  # LightGBM 4.7 writes it in two halves
def test_the_libraries_own_functions(fit, callback, bars):
    """A callback that is given to two fits shows two bars, the second from its first round."""
    fit(callback())
    kept = callback()
    fit(kept)
    values = fit(kept)
    del kept
    shown = bars()
    assert len(shown) == 3
    for name, course in values.items():
        assert all(f"{name}={course[-1]:.4g}" in bar for bar in shown)
    # LightGBM's bar after early stopping keeps the length that was asked for.
    ends = {train_lightgbm: f"| {len(course)}/20 ["}
    assert all(ends.get(fit, f"| {len(course)}/{len(course)} [") in bar for bar in shown)


def test_the_length_for_xgboosts_own_functions(capsys):
    """The bar has its length from the first round on if `n_rounds` is given."""
    for n_rounds, told in ((5, True), (None, False)):
        train_xgboost(xgboost_progress(n_rounds=n_rounds))
        assert ("| 0/5 [" in capsys.readouterr().err) == told


class Boom(Exception):
    pass


def fail_in_lightgbm(error, callback):
    def fail(env):
        if env.iteration == 2:
            raise error

    ranker = LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1)
    ranker.fit(X, Y, qid=QID, callbacks=[callback, fail])


class Fail(xgboost.callback.TrainingCallback):
    def __init__(self, error):
        self.error = error

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2:
            raise self.error
        return False


def fail_in_xgboost(error, callback):
    XGBGAPRanker(n_estimators=5, n_jobs=1, callbacks=[callback, Fail(error)]).fit(X, Y, qid=QID)


@pytest.mark.parametrize("error", [Boom, KeyboardInterrupt])
@pytest.mark.parametrize(
    ("fit", "callback"),
    [(fail_in_lightgbm, progress), (fail_in_xgboost, xgboost_progress)],
    ids=["lightgbm", "xgboost"],
)
def test_an_error_closes_the_bar(fit, callback, error, capsys):
    """At once, before its traceback is printed."""
    kept = callback()
    with pytest.raises(error):
        fit(error, kept)
    assert not tqdm._instances
    shown = capsys.readouterr().err
    assert shown.endswith("\n")
    # LightGBM calls the one that raises before the bar.
    assert re.search(r" 2/5 \[| 3/5 \[", shown.split("\r")[-1])


def test_threads(monkeypatch, capsys):
    """One callback in two fits at the same time: two bars, each over its own rounds."""
    closed, start = [], Barrier(2)

    class Recorded(tqdm):
        def close(self):
            closed.append((self.n, self.total))
            super().close()

    monkeypatch.setattr("gapboost._boosters.progress.tqdm", lambda: Recorded)
    one = progress()

    def fit(rounds):
        start.wait()
        lightgbm.train(LGB, lightgbm_data(), rounds, callbacks=[one])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fit, [15, 25]))
    assert set(closed) == {(15, 15), (25, 25)}
    capsys.readouterr()


def test_copies(bars):
    ranker = XGBGAPRanker(n_estimators=2, n_jobs=1, callbacks=[xgboost_progress(n_rounds=9)])
    fitted = sklearn.clone(ranker).fit(X, Y, qid=QID)
    assert len(bars()) == 1
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    copy.deepcopy(again).fit(X, Y, qid=QID)
    (bar,) = bars()
    assert "| 2/2 [" in bar
    assert again.get_params()["callbacks"][0].n_rounds == 9
    assert repr(again.callbacks) == "[progress()]"
    pickle.loads(pickle.dumps(progress()))


def test_searches(bars):
    """`GSearchCV` shows a bar for the best ranker alone, `GridSearchCV` one for every fit."""
    ranker = XGBGAPRanker(n_estimators=3, n_jobs=1, callbacks=[xgboost_progress()])
    grid = {"g": [(0.5, 0.5), (0.2, 0.8)]}
    search = GSearchCV(ranker, grid, scoring="ndcg@5", cv=2).fit(X, Y, qid=QID)
    rounds = search.best_params_["n_estimators"]
    (bar,) = bars()
    assert f"| {rounds}/{rounds} [" in bar
    quiet = GSearchCV(
        sklearn.clone(ranker).set_params(callbacks=None), grid, scoring="ndcg@5", cv=2
    )
    np.testing.assert_array_equal(
        quiet.fit(X, Y, qid=QID).cv_results_["mean_test_score"],
        search.cv_results_["mean_test_score"],
    )
    assert bars() == []
    with sklearn.config_context(enable_metadata_routing=True):
        GridSearchCV(ranker, grid, scoring=measure_scorer("ndcg@5"), cv=GroupKFold(2)).fit(
            X, Y, qid=QID, groups=QID
        )
    assert len(bars()) == 5


SEARCHES = """
import sys
import numpy as np
from joblib import Parallel, delayed
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV

def search(progress):
    ranker = LGBMGAPRanker(n_estimators=1, n_jobs=1, min_child_samples=1, verbose=-1)
    data = np.arange(12.0)[:, None] % 3, np.arange(12) % 2
    search = GSearchCV(ranker, {"g": [(1.0,)]}, scoring="ap", cv=2, progress=progress)
    search.fit(*data, qid=np.arange(12) // 3)

def step(title):
    print("==", title, file=sys.stderr, flush=True)

search(False)  # compiles
for progress in (None, True, False):
    step(progress)
    search(progress)

def searches(backend):
    for progress in (None, True):
        step(f"{backend} {progress}")
        search(progress)

for backend in ("threading", "loky"):
    Parallel(2, backend=backend)([delayed(searches)(backend)])
step("no tqdm")
sys.modules["tqdm.auto"] = None
search(None)
"""


def test_a_search_in_a_terminal_shows_a_bar():
    """By itself where someone watches, which is not in the workers of joblib."""
    termios = pytest.importorskip("termios")
    terminal, stderr = os.openpty()
    termios.tcsetwinsize(stderr, (24, 100))
    with os.fdopen(terminal, "rb", buffering=0) as terminal, ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_all, terminal)
        command = [sys.executable, "-W", "ignore", "-c", SEARCHES]
        try:
            subprocess.run(
                command, stderr=stderr, cwd=Path(__file__).parents[2], check=True, timeout=240
            )
        finally:
            os.close(stderr)
        shown = reading.result().decode()
    steps = [step.partition("\r\n") for step in shown.split("== ")[1:]]
    assert len(steps) == 8
    assert {title for title, _, rest in steps if "GSearchCV" in rest} == {
        "None",
        "True",
        "threading True",
        "loky True",
    }


def read_all(terminal):
    """Read a pseudo-terminal until its other end is closed, which raises an error."""
    parts = []
    try:
        while part := terminal.read(1 << 16):
            parts.append(part)
    except OSError:
        pass
    return b"".join(parts)


def test_a_search_elsewhere_shows_a_bar_in_notebooks_alone(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not _optional._watched()
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", _optional)
    assert _optional._watched()
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.delitem(sys.modules, "ipykernel.zmqshell")
    assert not _optional._watched()
