"""Other systems, simulated: no OpenMP entry point, no fork, awkward folders."""

import ctypes
import re
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path

import numpy as np
import pytest
from twins import twins

import gapboost as gb
from gapboost._kernels.parallel.openmp import openmp_team
from gapboost.datasets import load_letor, load_letor_fold


def test_a_library_that_is_linked_to_no_openmp_lends_no_threads(monkeypatch):
    name = find_library("m") or find_library("msvcrt")
    if name is None:
        pytest.skip("there is no C library to ask")
    monkeypatch.setattr(sys, "platform", "linux")
    assert openmp_team(ctypes.CDLL(name)) is None


WITHOUT_FORK = """
import os
for name in ("fork", "forkpty", "register_at_fork"):
    if hasattr(os, name):
        delattr(os, name)
import numpy as np
import gapboost as gb
rng = np.random.default_rng(0)
y, scores, qid = rng.integers(0, 3, 9000), rng.normal(size=9000), np.repeat(np.arange(3), 3000)
objective = gb.LambdaRank(gb.AP())
alone, shared = (objective.gradients(y, scores, qid, n_jobs=n_jobs) for n_jobs in (1, 2))
assert np.array_equal(alone, shared)
print(gb.evaluate(gb.AP(), y, scores, qid, n_jobs=2)[gb.AP()])
"""


@pytest.mark.slow
def test_a_system_that_cannot_fork():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_FORK],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rng = np.random.default_rng(0)
    y, scores, qid = rng.integers(0, 3, 9000), rng.normal(size=9000), np.repeat(np.arange(3), 3000)
    assert float(done.stdout) == gb.evaluate(gb.AP(), y, scores, qid)[gb.AP()]


@pytest.fixture(params=[r"C:\Users\Jürgen Müller\my data", "with spaces, and $HOME & co"])
def folder(request, tmp_path):
    """Return a folder with an awkward name; on Windows the backslashes make it several."""
    name = request.param.removeprefix("C:\\") if sys.platform == "win32" else request.param
    (tmp_path / name).mkdir(parents=True)
    return tmp_path / name


@pytest.mark.parametrize("kind", [str, Path])
def test_letor_files_in_an_awkward_folder(folder, kind):
    for name in ("train.txt", "vali.txt", "test.txt"):
        (folder / name).write_text("2 qid:1 1:0.5\n0 qid:1 1:0.25\n", encoding="utf-8")
    assert [part.y.tolist() for part in load_letor_fold(kind(folder))] == [[2, 0]] * 3
    (folder / "train.txt").write_text("no numbers", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(str(folder))):
        load_letor(kind(folder / "train.txt"))


@twins
def test_model_files_in_an_awkward_folder(twin, folder):
    model = twin.fitted(n_estimators=2)
    path = str(folder / "model.json")
    if twin.name == "xgboost":
        model.save_model(path)
        again = twin.ranker()
        again.load_model(path)
    else:
        model.booster_.save_model(path)
        again = type(model.booster_)(model_file=path)
    X = np.random.default_rng(0).normal(size=(50, model.n_features_in_))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
