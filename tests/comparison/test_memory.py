"""The cache of trainings: an interrupted comparison continues, and processes share it."""

import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy
from cheap_rankers import Noisy, made
from joblib.externals.loky import get_reusable_executor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from gapboost.comparison import compare_rankers
from gapboost.lightgbm import LGBMGAPRanker

X, Y, QID = made()
GIVEN = {"measures": ["map", "ndcg@10"], "cv": 3, "repeats": 2}


class Logged(Noisy):
    """Ranker that writes a line for each training, and interrupts after `limit` lines."""

    limit = None  # not a parameter: the cache must not depend on it

    def __init__(self, log=None, noise=0.3, offset=0, random_state=None):
        super().__init__(noise, offset, random_state)
        self.log = log

    def fit(self, X, y):
        with Path(self.log).open("a") as file:
            file.write("trained\n")
        if type(self).limit is not None and trained(self.log) > type(self).limit:
            raise KeyboardInterrupt
        return super().fit(X, y)


def trained(log):
    return len(Path(log).read_text().splitlines()) if Path(log).exists() else 0


@pytest.fixture
def rankers(tmp_path):
    log = str(tmp_path / "log")
    return {"one": Logged(log, offset=1), "other": Logged(log, noise=0.6, offset=2)}


def test_an_interrupted_comparison_continues(tmp_path, rankers, monkeypatch):
    given = {**GIVEN, "rankers": rankers, "memory": tmp_path / "cache"}
    monkeypatch.setattr(Logged, "limit", 2 + 5)  # two trials, and five trainings
    with pytest.raises(KeyboardInterrupt):
        compare_rankers(X, Y, QID, **given)
    monkeypatch.setattr(Logged, "limit", None)
    before = trained(tmp_path / "log")
    found = compare_rankers(X, Y, QID, **given)
    assert trained(tmp_path / "log") - before == 2 + 12 - 5
    assert found.to_pandas().equals(
        compare_rankers(X, Y, QID, **{**given, "memory": None}).to_pandas()
    )


def test_only_what_changes_is_trained_again(tmp_path, rankers, monkeypatch):
    log = tmp_path / "log"

    def trainings(**changes):
        before = trained(log)
        given = {"X": X, "y": Y, "qid": QID, "rankers": rankers, **GIVEN, **changes}
        compare_rankers(**given, memory=joblib.Memory(tmp_path / "cache", verbose=0))
        return trained(log) - before - len(given["rankers"])  # less a trial of each

    assert trainings() == 12
    assert trainings() == 0
    assert trainings(X=X.copy(), y=Y.copy(), qid=QID.copy()) == 0
    assert trainings(repeats=3) == 6
    assert trainings(rankers={**rankers, "third": Logged(str(log), noise=0.9)}) == 6
    assert trainings(X=X + 1) == 12
    assert trainings(y=np.minimum(Y, 1)) == 12
    assert trainings(measures="map") == 12
    for sizes in ([8] * 60, [7, 9] * 30):  # of the same rows
        assert trainings(qid=None, group=sizes, shuffle=False) == 12
    monkeypatch.setattr(scipy, "__version__", "of another day")
    assert trainings() == 12


SHARED = """
import sys
import numpy as np
from test_memory import GIVEN, Logged, QID, X, Y, framed
from gapboost.comparison import compare_rankers
log, cache = sys.argv[1:]
rankers = {"one": Logged(log, offset=1), "other": Logged(log, noise=0.6, offset=2)}
found = compare_rankers(framed(), Y, QID, rankers, memory=cache, **GIVEN)
print(found.summary().to_csv(index=False))
"""


def framed():
    """Return a data frame: its hash must be the same in every process."""
    return pd.DataFrame(X, columns=[f"feature {place}" for place in range(X.shape[1])])


@pytest.mark.slow
def test_processes_share_the_cache(tmp_path):
    code = f"import sys; sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}{SHARED}"
    command = [sys.executable, "-c", code, str(tmp_path / "log"), str(tmp_path / "cache")]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    first, second = (process.communicate()[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert first == second
    before = trained(tmp_path / "log")
    assert 4 + 12 <= before <= 4 + 24
    third = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert third == first
    assert trained(tmp_path / "log") == before + 2


@pytest.mark.slow
def test_a_relative_path_is_that_of_the_caller(tmp_path, monkeypatch):
    """joblib's processes stay in the directory in which they began."""
    (tmp_path / "before").mkdir()
    monkeypatch.chdir(tmp_path / "before")
    get_reusable_executor(max_workers=2).shutdown()
    joblib.Parallel(2)(joblib.delayed(abs)(i) for i in range(2))
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    rankers = {"a": Logged(log), "b": Noisy()}
    compare_rankers(X, Y, QID, rankers, **GIVEN, memory="cache", n_jobs=2)
    before = trained(log)
    compare_rankers(X, Y, QID, rankers, **GIVEN, memory=tmp_path / "cache")
    assert trained(log) == before + 1  # the trial


def test_boosters_and_functions_are_found_again(tmp_path, monkeypatch):
    booster = LGBMGAPRanker(n_estimators=2, n_jobs=1, verbose=-1, g=np.array([0.5, 0.5]))
    rankers = {
        "GAP": make_pipeline(FunctionTransformer(np.tanh), booster),
        "noise": Noisy(),
    }
    first = compare_rankers(X, Y, QID, rankers, **GIVEN, memory=tmp_path)
    calls, fit = [], LGBMGAPRanker.fit
    monkeypatch.setattr(
        LGBMGAPRanker, "fit", lambda self, X, y, qid: calls.append(1) or fit(self, X, y, qid)
    )
    again = compare_rankers(X, Y, QID, rankers, **GIVEN, memory=tmp_path)
    assert len(calls) == 1  # the trial
    assert again.to_pandas().equals(first.to_pandas())
    assert again.means().equals(first.means())  # costs are those of the trainings
