"""Differences of other systems, simulated: no OpenMP entry point, no fork, drives, backslashes."""

import ast
import ctypes
import re
import subprocess
import sys
from ctypes.util import find_library
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gapboost as gb
from gapboost._boosters.callbacks import Metrics
from gapboost._kernels.parallel.openmp import openmp_team
from gapboost.analysis import trec
from gapboost.datasets import load_letor, load_letor_fold
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

SOURCES = sorted(Path(gb.__file__).parent.rglob("*.py"))

# Modules of the standard library that Windows or everybody else lacks, and functions of `os` and
# `signal` that not all have.
UNIX = {"fcntl", "grp", "posix", "posixpath", "pty", "pwd", "resource", "syslog", "termios", "tty"}
WINDOWS = {"msvcrt", "nt", "ntpath", "winreg", "winsound"}
NOT_EVERYWHERE = re.compile(
    r"\b(?:os\.(?:sched_\w+|fork\w*|get\w*[ug]id|kill|nice|uname)|signal\.(?:SIGKILL|alarm))\b"
)
FOLDERS = re.compile(r"""["'](?:/tmp|/proc|/dev|/var|[A-Z]:\\)""")

RANKERS = pytest.mark.parametrize(
    "ranker", [LGBMGAPRanker, XGBGAPRanker], ids=lambda kind: kind.__name__
)
# More documents than one thread takes, a long list among them.
SIZES = np.concatenate([np.full(200, 20), [3000]])


def task():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(len(SIZES)), SIZES)
    X = rng.normal(size=(len(qid), 3))
    return X, np.digitize(X[:, 0] + rng.normal(size=len(qid)), [0.5, 1.5]), qid


def does_without(node):
    """Return True for ``try: import ...`` with a branch for a missing module."""
    caught = (
        [getattr(handler.type, "id", "") for handler in node.handlers]
        if isinstance(node, ast.Try)
        else []
    )
    return "ImportError" in caught


def modules_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    optional = {inner for node in ast.walk(tree) if does_without(node) for inner in node.body}
    for node in ast.walk(tree):
        if node in optional:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def test_the_package_asks_for_nothing_that_only_some_systems_have():
    assert len(SOURCES) > 50
    for path in SOURCES:
        assert not (UNIX | WINDOWS) & set(modules_of(path)), path
        source = path.read_text(encoding="utf-8")
        assert not NOT_EVERYWHERE.search(source), path
        assert not FOLDERS.search(source), path


# --- threads --------------------------------------------------------------------------------------


def test_a_library_that_is_linked_to_no_openmp_lends_no_threads(monkeypatch):
    name = find_library("m") or find_library("msvcrt")
    if name is None:
        pytest.skip("there is no C library to ask")
    monkeypatch.setattr(sys, "platform", "linux")
    assert openmp_team(ctypes.CDLL(name)) is None


@RANKERS
def test_models_are_the_same_without_the_threads_of_the_booster(ranker, monkeypatch):
    X, y, qid = task()

    def fitted():
        model = ranker(n_estimators=3, n_jobs=2, random_state=0).fit(
            X, y, qid, eval_set=[(X, y)], eval_qid=[qid]
        )
        return model.predict(X), model.evals_result_

    scores, curves = fitted()
    for kind, name in (
        (ranker, "_library"),
        *((metric, "library") for metric in Metrics.__subclasses__()),
    ):
        monkeypatch.setattr(kind, name, replace(getattr(kind, name), team=None))
    again, curves_again = fitted()
    np.testing.assert_array_equal(again, scores)
    assert curves_again == curves


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


# --- paths ----------------------------------------------------------------------------------------


@pytest.fixture(params=[r"C:\Users\Jürgen Müller\my data", "with spaces, and $HOME & co"])
def place(request, tmp_path):
    """A folder with an awkward name; on Windows the backslashes make it several."""
    name = request.param.removeprefix("C:\\") if sys.platform == "win32" else request.param
    folder = tmp_path / name
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("kind", [str, Path])
def test_letor_files_in_an_awkward_folder(place, kind):
    for name in ("train.txt", "vali.txt", "test.txt"):
        (place / name).write_text("2 qid:1 1:0.5\n0 qid:1 1:0.25\n", encoding="utf-8")
    assert [part.y.tolist() for part in load_letor_fold(kind(place))] == [[2, 0]] * 3
    (place / "rank.train").write_text("2 1:0.5\n0 1:0.25\n1 1:0.5\n", encoding="utf-8")
    (place / "rank.train.query").write_text("2\n1\n", encoding="utf-8")
    assert load_letor(kind(place / "rank.train")).qid.tolist() == [0, 0, 1]
    (place / "rank.train.query").write_text("2\n", encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(str(place))):
        load_letor(kind(place / "rank.train"))


@pytest.mark.parametrize("kind", [str, Path])
def test_trec_files_in_an_awkward_folder(place, kind):
    path = place / "qrels.txt"
    path.write_bytes(b"601 0 a 2\r\n601 0 b 1\r\n")
    assert trec.read_qrels(kind(path)) == {"601": {"a": 2, "b": 1}}


@RANKERS
def test_model_files_in_an_awkward_folder(ranker, place):
    X, y, qid = task()
    model = ranker(n_estimators=2, n_jobs=1).fit(X, y, qid)
    path = str(place / "model.json")
    if ranker is XGBGAPRanker:
        model.save_model(path)
        again = ranker()
        again.load_model(path)
        assert again.measure_ == model.measure_
    else:
        model.booster_.save_model(path)
        again = type(model.booster_)(model_file=path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
