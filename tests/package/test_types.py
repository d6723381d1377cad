"""Type checkers, `help`, completion and `repr`."""

import ast
import inspect
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.base import clone

import gapboost
from gapboost._boosters.own_parameters import OWN_NAMES
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROOT = Path(gapboost.__file__).parents[1]
SCRIPT = Path(__file__).parents[1] / "support" / "typed_script.py"

# The class that says which parameters the booster's own ranker has.
VENDORS = {LGBMGAPRanker: lightgbm.LGBMRanker, XGBGAPRanker: xgboost.XGBModel}
OWN = set(OWN_NAMES)
# Parameters that older versions do not have; at run time the signature is that of the installed
# one.
LATER = {"feature_weights"}
# XGBoost 3.4 has another default.
CHANGED = {"enable_categorical"}


def parameters(kind):
    return {
        name: p.default
        for name, p in inspect.signature(kind).parameters.items()
        if p.kind is p.KEYWORD_ONLY
    }


@pytest.mark.parametrize("ranker", VENDORS, ids=lambda kind: kind.__name__)
def test_the_signature_lists_the_parameters_of_the_booster(ranker):
    vendor = parameters(VENDORS[ranker])
    found = parameters(ranker)
    assert vendor.keys() | OWN <= found.keys()
    for name in vendor.keys() - OWN:
        assert found[name] is vendor[name] or found[name] == vendor[name], name
    assert "kwargs" in inspect.signature(ranker).parameters
    assert set(ranker().get_params()) >= found.keys()


@pytest.mark.parametrize("ranker", VENDORS, ids=lambda kind: kind.__name__)
def test_type_checkers_see_the_same_parameters(ranker):
    tree = ast.parse(Path(inspect.getsourcefile(ranker)).read_text(encoding="utf-8"))
    declared = next(
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "__init__"
    )
    values = zip(declared.args.kwonlyargs, declared.args.kw_defaults, strict=True)
    shown = {argument.arg: eval(ast.unparse(value)) for argument, value in values}
    found = parameters(ranker)
    assert found.keys() <= shown.keys()
    assert shown.keys() - found.keys() <= LATER
    for name in found.keys() - CHANGED:
        assert shown[name] == found[name] or (
            shown[name] != shown[name] and np.isnan(found[name])
        ), name


@pytest.mark.parametrize(
    ("ranker", "shown"),
    [
        (LGBMGAPRanker(), "LGBMGAPRanker()"),
        (LGBMGAPRanker(g=(0.5, 0.5), num_leaves=7), "LGBMGAPRanker(g=(0.5, 0.5), num_leaves=7)"),
        (
            LGBMGAPRanker(max_bin=15, extra_trees=False),
            "LGBMGAPRanker(extra_trees=False, max_bin=15)",
        ),
        (XGBGAPRanker(), "XGBGAPRanker()"),
        (XGBGAPRanker(measure="ap", n_estimators=3), "XGBGAPRanker(measure='ap', n_estimators=3)"),
    ],
    ids=str,
)
def test_repr_shows_what_was_changed(ranker, shown):
    assert repr(ranker) == shown
    for copy in (
        clone(ranker),
        pickle.loads(pickle.dumps(ranker)),
        type(ranker)().set_params(**ranker.get_params()),
    ):
        assert repr(copy) == shown
        assert repr(copy.get_params()) == repr(ranker.get_params())


@pytest.mark.parametrize("ranker", VENDORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", ["predict", "apply"])
def test_methods_take_what_those_of_the_booster_take(ranker, method):
    vendor = {LGBMGAPRanker: lightgbm.LGBMRanker, XGBGAPRanker: xgboost.XGBRanker}[ranker]
    if not hasattr(vendor, method):
        pytest.skip(f"{vendor.__name__} has no {method}")
    theirs, ours = (
        inspect.signature(getattr(kind, method)).parameters for kind in (vendor, ranker)
    )
    assert [(p.name, p.kind) for p in ours.values()] == [(p.name, p.kind) for p in theirs.values()]
    # LightGBM's ranker takes columns by position unless it is told to check them.
    changed = {"validate_features"} if ranker is LGBMGAPRanker else set()
    assert {name for name, p in ours.items() if p.default != theirs[name].default} == changed


@pytest.mark.slow
def test_a_script_of_a_user_passes_and_mistakes_are_seen(tmp_path):
    """Pyright marks the lines that hold mistakes, and no others; `nox -s lint` runs mypy."""
    checker = pytest.importorskip("basedpyright", reason="basedpyright is not installed")
    config = {
        "typeCheckingMode": "standard", "enableTypeIgnoreComments": False,
        "extraPaths": [str(ROOT)], "include": [SCRIPT.name],
    }  # fmt: skip
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    shutil.copy(SCRIPT, tmp_path)
    command = [
        sys.executable,
        "-m",
        checker.__name__,
        "--outputjson",
        "--pythonpath",
        sys.executable,
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=280
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    wrong = [
        i
        for i, line in enumerate(SCRIPT.read_text(encoding="utf-8").splitlines())
        if "type: ignore[" in line
    ]
    assert len(wrong) == 6
    assert [
        one["range"]["start"]["line"] for one in found if one["severity"] == "error"
    ] == wrong, found


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "gapboost" / "py.typed").is_file()
