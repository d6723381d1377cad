"""Digests of rankers and data: equal for equal values, different for different ones."""

import copy
import functools
import importlib
import linecache
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import xgboost
from cheap_rankers import Noisy, made
from scipy import sparse, stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import gapboost as gb
from gapboost._pages.described import describe
from gapboost.comparison import compare_rankers
from gapboost.comparison.digest import _versions_of, digest
from gapboost.xgboost import XGBGAPRanker

X, Y, QID = made(30, 6)


class Kernel:
    """Object with a default repr."""

    def __init__(self, width):
        self.width = width


def halved(X):
    return X / 2


def doubled(X):
    return X * 2


def long_pipeline(reg_lambda):
    return make_pipeline(StandardScaler(), xgboost.XGBRanker(n_estimators=5, reg_lambda=reg_lambda))


BIG = np.zeros(5000)
CHANGED = np.where(np.arange(5000) == 2500, 1e-9, BIG)
DIFFERENT = {
    "a long pipeline": (long_pipeline(0), long_pipeline(1e4)),
    "functions": (FunctionTransformer(halved), FunctionTransformer(doubled)),
    "ufuncs": (FunctionTransformer(np.log1p), FunctionTransformer(np.expm1)),
    "partial functions": (functools.partial(np.clip, a_min=0), functools.partial(np.clip, a_min=1)),
    "large arrays": (Noisy(BIG), Noisy(CHANGED)),
    "arrays of objects": (np.array([1, "a"], dtype=object), np.array([1, "b"], dtype=object)),
    "types of arrays": (np.zeros(4), np.zeros(4, dtype=np.float32)),
    "masked arrays": (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])),
    "objects": (Noisy(Kernel(1)), Noisy(Kernel(2))),
    "nested estimators": ([Ridge(1), Ridge(2)], [Ridge(1), Ridge(3)]),
    "dicts": ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    "sets": ({"a", "b"}, {"a", "c"}),
    "searches": (
        RandomizedSearchCV(Ridge(), {"alpha": stats.loguniform(0.1, 1)}),
        RandomizedSearchCV(Ridge(), {"alpha": stats.loguniform(0.1, 2)}),
    ),
    "frozen": (FrozenEstimator(Ridge().fit(X, Y)), FrozenEstimator(Ridge().fit(X, -Y))),
    "numbers and truth": (1, True),
    "nesting": ([[1], 2], [1, [2]]),
    "strings": (["a", "b"], ["ab"]),
    "measures": (gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.25, 0.75))),
    "columns": (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})),
    "cells": (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1, 3]})),
    "categories": (
        pd.DataFrame({"a": pd.Categorical(["x", "y"])}),
        pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["y", "x"])}),
    ),
    "polars": (pl.DataFrame({"a": ["x", "y"]}), pl.DataFrame({"a": ["x", "z"]})),
    "arrow": (pa.table({"a": [1, 2]}), pa.table({"a": [1, None]})),
    "sparse": (sparse.csr_matrix([[0, 1]]), sparse.csr_matrix([[1, 0]])),
}


@pytest.mark.parametrize("case", DIFFERENT)
def test_different_values_have_different_digests(case):
    one, other = DIFFERENT[case]
    assert digest(one, "it") == digest(copy.deepcopy(one), "it")
    assert digest(one, "it") != digest(other, "it")


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (
            make_pipeline(FunctionTransformer(lambda X: X), Ridge()),
            r"it.steps\[0\]\[1\].func is <function <lambda>",
        ),
        (functools.partial(lambda X: X), r"it\[0\] is <function <lambda>"),
        (Noisy({"lock": threading.Lock()}), r"it.noise\['lock'\] is <unlocked"),
        (np.frompyfunc(lambda x: x, 1, 1), "it is <ufunc"),
        ((i for i in range(3)), "it is <generator"),
    ],
    ids=["lambda", "partial", "lock", "ufunc", "generator"],
)
def test_values_that_another_process_cannot_compare_are_refused(value, where):
    with pytest.raises(
        TypeError, match=rf"^checkpoint is given, and {where}.*; expected .*or checkpoint=None"
    ):
        digest(value, "it")


def test_a_value_that_holds_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(TypeError, match=r"^checkpoint is given"):
        digest(value, "it")


def test_what_a_ranker_has_learned_does_not_count():
    assert digest(Ridge(), "it") == digest(Ridge().fit(X, Y), "it")


def edited(monkeypatch, tmp_path, text):
    """Import a module with this text again."""
    (tmp_path / "own_transformer.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("own_transformer", None)
    linecache.clearcache()
    return importlib.import_module("own_transformer")


@pytest.mark.parametrize("kind", ["function", "class"])
def test_edited_functions_and_classes_of_the_user_differ(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = (
        "def it(X):\n    return X * {}\n" if kind == "function" else "class it:\n    factor = {}\n"
    )
    one, same, other = (
        digest(edited(monkeypatch, tmp_path, text.format(n)).it, "it") for n in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_versions_of_all_libraries_of_a_pipeline_count(monkeypatch):
    pipeline = make_pipeline(StandardScaler(), XGBGAPRanker(n_estimators=2))
    before, said = digest(pipeline, "it"), describe(pipeline)
    for name, version in (("sklearn", sklearn.__version__), ("xgboost", xgboost.__version__)):
        assert f"{name} {version}" in said
    assert f"gapboost {gb.__version__}" in said
    for library in (sklearn, xgboost, gb):
        with monkeypatch.context() as context:
            context.setattr(library, "__version__", "0.0")
            _versions_of.cache_clear()
            assert digest(pipeline, "it") != before
    _versions_of.cache_clear()


def test_a_checkpoint_keeps_a_pipeline_from_another_ones_results(tmp_path):
    given = {
        "X": X,
        "y": Y,
        "qid": QID,
        "measures": "map",
        "cv": 2,
        "repeats": 1,
        "checkpoint": tmp_path,
    }
    pipelines = [long_pipeline(value) for value in (0, 1e4)]
    compare_rankers(rankers={"a": Noisy(), "long": pipelines[0]}, **given)
    with pytest.raises(
        ValueError,
        match=r"whose ranker 'long' is Pipeline.*digest [0-9a-f]{8}\); expected Pipeline",
    ):
        compare_rankers(rankers={"a": Noisy(), "long": pipelines[1]}, **given)
    lambdas = make_pipeline(FunctionTransformer(lambda X: X), Ridge())
    with pytest.raises(TypeError, match=r"rankers\['lambda'\].steps\[0\]\[1\].func is <function"):
        compare_rankers(rankers={"a": Noisy(), "lambda": lambdas}, **given)


WITHOUT_PYARROW = """
import sys
sys.path[:0] = [{root!r}]
sys.modules["pyarrow"] = None
import numpy as np, pandas as pd
from gapboost.comparison.digest import digest
frame = pd.DataFrame({{"a": [1.5, np.nan], "b": pd.Categorical(["x", None]), "c": ["u", "v"]}})
print(digest(frame, "X"), digest({{"x", "y", "z"}}, "it"))
"""


@pytest.mark.slow
def test_the_digest_of_a_table_does_not_depend_on_pyarrow_or_the_process():
    code = WITHOUT_PYARROW.format(root=str(Path(__file__).parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    frame = pd.DataFrame({"a": [1.5, np.nan], "b": pd.Categorical(["x", None]), "c": ["u", "v"]})
    assert done.stdout.split() == [digest(frame, "X"), digest({"x", "y", "z"}, "it")]
