"""Type checkers, `help`, completion and `repr`."""

import ast
import inspect
import json
import os
import pickle
import site
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

import gapboost
from gapboost._boosters.own_parameters import OWN_NAMES
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROOT = Path(gapboost.__file__).parents[1]

# The class that says which parameters the booster's own ranker has.
VENDORS = {LGBMGAPRanker: lightgbm.LGBMRanker, XGBGAPRanker: xgboost.XGBModel}
DASK = {DaskLGBMGAPRanker: lightgbm.LGBMRanker, DaskXGBGAPRanker: xgboost.XGBModel}
OWN = set(OWN_NAMES)
# Parameters that older versions do not have; at run time the signature is that of the installed
# one.
LATER = {"feature_weights"}
# XGBoost 3.4 has another default.
CHANGED = {"enable_categorical"}


def parameters(kind):
    return {name: p.default for name, p in inspect.signature(kind).parameters.items() if p.kind is p.KEYWORD_ONLY}


@pytest.mark.parametrize("ranker", [*VENDORS, *DASK], ids=lambda kind: kind.__name__)
def test_the_signature_lists_the_parameters_of_the_booster(ranker):
    vendor = parameters({**VENDORS, **DASK}[ranker])
    found = parameters(ranker)
    assert vendor.keys() | OWN <= found.keys()
    for name in vendor.keys() - OWN:
        assert found[name] is vendor[name] or found[name] == vendor[name], name
    assert "kwargs" in inspect.signature(ranker).parameters
    assert set(ranker().get_params()) >= found.keys()


@pytest.mark.parametrize("ranker", VENDORS, ids=lambda kind: kind.__name__)
def test_type_checkers_see_the_same_parameters(ranker):
    tree = ast.parse(Path(inspect.getsourcefile(ranker)).read_text(encoding="utf-8"))
    declared = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "__init__")
    values = zip(declared.args.kwonlyargs, declared.args.kw_defaults, strict=True)
    shown = {argument.arg: eval(ast.unparse(value)) for argument, value in values}
    found = parameters(ranker)
    assert found.keys() <= shown.keys()
    assert shown.keys() - found.keys() <= LATER
    for name in found.keys() - CHANGED:
        assert shown[name] == found[name] or (shown[name] != shown[name] and np.isnan(found[name])), name


@pytest.mark.parametrize(
    ("ranker", "shown"),
    [
        (LGBMGAPRanker(), "LGBMGAPRanker()"),
        (LGBMGAPRanker(g=(0.5, 0.5), num_leaves=7), "LGBMGAPRanker(g=(0.5, 0.5), num_leaves=7)"),
        (LGBMGAPRanker(max_bin=15, extra_trees=False), "LGBMGAPRanker(extra_trees=False, max_bin=15)"),
        (XGBGAPRanker(), "XGBGAPRanker()"),
        (XGBGAPRanker(measure="ap", n_estimators=3), "XGBGAPRanker(measure='ap', n_estimators=3)"),
        (DaskLGBMGAPRanker(num_leaves=7), "DaskLGBMGAPRanker(num_leaves=7)"),
        (DaskXGBGAPRanker(max_depth=2), "DaskXGBGAPRanker(max_depth=2)"),
    ],
    ids=str,
)
def test_repr_shows_what_was_changed(ranker, shown):
    assert repr(ranker) == shown
    for copy in (clone(ranker), pickle.loads(pickle.dumps(ranker)), type(ranker)().set_params(**ranker.get_params())):
        assert repr(copy) == shown
        assert repr(copy.get_params()) == repr(ranker.get_params())


@pytest.mark.parametrize("ranker", VENDORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", ["predict", "apply"])
def test_methods_take_what_those_of_the_booster_take(ranker, method):
    vendor = {LGBMGAPRanker: lightgbm.LGBMRanker, XGBGAPRanker: xgboost.XGBRanker}[ranker]
    if not hasattr(vendor, method):
        pytest.skip(f"{vendor.__name__} has no {method}")
    theirs, ours = (inspect.signature(getattr(kind, method)).parameters for kind in (vendor, ranker))
    assert [(p.name, p.kind) for p in ours.values()] == [(p.name, p.kind) for p in theirs.values()]
    # LightGBM's ranker takes columns by position unless it is told to check them.
    changed = {"validate_features"} if ranker is LGBMGAPRanker else set()
    assert {name for name, p in ours.items() if p.default != theirs[name].default} == changed


SCRIPT = """
import numpy as np
import numpy.typing as npt
import gapboost as gb
from typing import assert_type
from gapboost.evaluation import PerQuery, Values
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

X = np.zeros((4, 2))
y = np.array([0, 1, 0, 2])
qid = np.array([0, 0, 1, 1])

lgbm = LGBMGAPRanker(measure="ndcg@10", n_estimators=10, num_leaves=7, max_bin=15).fit(X, y, qid=qid)
scores: npt.NDArray[np.float64] = lgbm.predict(X)
lgbm.predict(X, raw_score=True, num_iteration=3)
xgb = XGBGAPRanker(measure=gb.GAP(g=(0.5, 0.5)), n_estimators=10, max_depth=3, eval_metric=["ap", gb.nDCG(k=10)])
xgb.fit(X, y, qid=qid, eval_set=[(X, y)], eval_qid=[qid])
leaves: npt.NDArray[np.float32] = xgb.apply(X)
xgb.predict(X, iteration_range=(0, 3))[0]
assert_type(xgb.score(X, y, qid=qid), float)
assert_type(lgbm.measure_, gb.Measure)

means = gb.evaluate(["gap", gb.nDCG(k=10)], y, scores, qid)
assert_type(means, Values)
assert_type(means.labelled(), dict[str, float])
by_query = gb.evaluate("ap", y, scores, qid, per_query=True)
assert_type(by_query, PerQuery)
value: float = means[gb.nDCG(k=10)]
label: str = gb.nDCG(k=10).label
gb.plotting.plot_g
"""

WRONG = {
    'LGBMGAPRanker(n_estimators="ten")': "n_estimators",
    'XGBGAPRanker(max_depth="deep")': "max_depth",
    "LGBMGAPRanker(measure=3)": "measure",
    "lgbm.predict(X, raw_score=3.5)": "raw_score",
    "gb.evaluate(3, y, scores)": "evaluate",
    'gb.evaluate("ap", y, scores, per_query=True).labelled()': "labelled",
}


def checked(checker, folder):
    """Messages of a type checker about the scripts in a folder."""
    if checker == "mypy":
        options = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={folder / 'cache'}"]
        command = [sys.executable, "-m", "mypy", *options, "right.py", "wrong.py"]
    else:
        config = {"typeCheckingMode": "standard", "extraPaths": [str(ROOT)], "include": ["right.py", "wrong.py"]}
        (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
        command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]
    # mypy finds what is installed by itself, and refuses a path to it.
    environment = os.environ if str(ROOT) in site.getsitepackages() else {**os.environ, "MYPYPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=280
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_a_script_of_a_user_passes_and_mistakes_are_seen(checker, tmp_path):
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed")
    (tmp_path / "right.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(SCRIPT + "\n".join(WRONG), encoding="utf-8")
    code, text = checked(checker, tmp_path)
    assert code == 1, text
    lines = text.splitlines()
    assert not any("right.py" in line and "error" in line for line in lines), text
    first = SCRIPT.count("\n") + 1
    for number, word in enumerate(WRONG.values(), first):
        assert any(f"wrong.py:{number}:" in line for line in lines), (word, text)


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "gapboost" / "py.typed").is_file()
