"""The package imports without either booster, and its packages import downwards only."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed import BOOSTERS, MISSING, needs

import gapboost

PACKAGE = Path(gapboost.__file__).parent

# What each package may import besides itself.
DATA = {"_kernels", "_data"}
EVERYWHERE = {"_described", "_optional", "_page", "_pictures", "_processes"}
MEASURES = DATA | {"measures"}
SHARED = MEASURES | {"objectives", "evaluation"}
TWINS = SHARED | {"_boosters"}
PACKAGES = {
    "_kernels": set(),
    "_optional": set(),
    "_described": set(),
    "_page": set(),
    "_pictures": set(),
    "_processes": set(),
    "_data": {"_kernels"},
    "measures": MEASURES,
    "evaluation": MEASURES,
    "objectives": MEASURES,
    "_boosters": SHARED,
    "lightgbm": TWINS,
    "xgboost": TWINS,
    "model_selection": TWINS | {"preprocessing"},
    "plotting": MEASURES,
    "analysis": MEASURES | {"evaluation", "_latex"},
    "explain": MEASURES | {"evaluation", "preprocessing"},
    "export": TWINS | {"lightgbm", "xgboost", "preprocessing"},
    "calibration": MEASURES | {"analysis", "preprocessing"},
    "datasets": DATA,
    "_latex": {"_data", "_kernels"},
    "preprocessing": DATA,
    "comparison": TWINS
    | {
        "lightgbm",
        "xgboost",
        "model_selection",
        "preprocessing",
        "analysis",
        "datasets",
        "_latex",
    },
    "diagnosis": SHARED | {"analysis", "explain", "preprocessing"},
    "warmup": TWINS | {"preprocessing"},
    "__init__": SHARED | {"plotting", "diagnosis"},
}


def imported(path):
    """Dotted names of all that a module imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the package"
            # `from gapboost._data import queries` imports `_data` too
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = {
    path: path.relative_to(PACKAGE).with_suffix("").parts for path in sorted(PACKAGE.rglob("*.py"))
}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: "/".join(MODULES[path]))
def test_rooms_import_downwards_only(path):
    package = MODULES[path][0]
    assert package in PACKAGES, f"say in this test what the new package {package} may import"
    for name in imported(path):
        top, *inside = name.split(".")
        if top == "gapboost":
            assert inside, f"{name}: a package never imports all of gapboost"
            assert inside[0] in PACKAGES[package] | {package} | EVERYWHERE, (
                f"{package} imports {name}"
            )
        if top in ("lightgbm", "xgboost"):
            assert package in (top, "comparison", "explain", "export"), (
                f"{package} imports {name}: only the package of that booster does"
            )
        if top in ("numba", "llvmlite"):
            assert package == "_kernels", (
                f"{package} imports {name}: compiled code lives in _kernels"
            )


def test_the_rooms_are_read():
    """The test above would be content with no modules, or with imports that it does not see."""
    seen = {
        (parts[0], name.split(".")[1])
        for path, parts in MODULES.items()
        for name in imported(path)
        if "gapboost" in name
    }
    assert {
        ("_data", "_kernels"),
        ("objectives", "measures"),
        ("_boosters", "_data"),
        ("lightgbm", "_boosters"),
    } <= seen
    assert {parts[0] for parts in MODULES.values()} >= PACKAGES.keys()


def test_test_files_do_not_import_each_other():
    """Shared code is in modules without ``test_`` in their names."""
    files = sorted(Path(__file__).parents[1].rglob("test_*.py"))
    assert len(files) > 50
    for path in files:
        names = {part for name in imported(path) for part in name.split(".")}
        assert not names & {other.stem for other in files}, path


WITHOUT_BOOSTERS = """
import gapboost as gb
import gapboost.datasets
assert gb.evaluate(gb.GAP(g=(0.5, 0.5)), [2, 1, 0], [3.0, 2.0, 1.0]) == {gb.GAP(g=(0.5, 0.5)): 1.0}
assert gb.LambdaRank(gb.AP()).gradients([0, 1], [2.0, 1.0])[0][0] > 0
"""
ONE_BOOSTER = """
import numpy as np
from gapboost.{booster} import {ranker}, eval_metric, objective
X = np.arange(200.0)[:, None] % 7
y = (X[:, 0] > 3).astype(int)
fitted = {ranker}(n_estimators=2, n_jobs=1).fit(X, y, qid=np.arange(200) // 10)
assert fitted.predict(X).shape == (200,)
"""

# Libraries that are missing, and code that needs none of them.
UNNEEDED = {
    "neither booster": (["lightgbm", "xgboost"], WITHOUT_BOOSTERS),
    "LGBMGAPRanker": (["xgboost"], ONE_BOOSTER.format(booster="lightgbm", ranker="LGBMGAPRanker")),
    "XGBGAPRanker": (["lightgbm"], ONE_BOOSTER.format(booster="xgboost", ranker="XGBGAPRanker")),
}
NEEDS = {
    name: needs("lightgbm" if "LGBM" in name else "xgboost")
    for name in UNNEEDED
    if "Ranker" in name
}

# A library, code that needs it, and the extra that brings it.
NEEDED = [
    ("lightgbm", "import gapboost.lightgbm", "lightgbm"),
    ("xgboost", "from gapboost.xgboost import XGBGAPRanker", "xgboost"),
    ("ir_measures", "import gapboost.analysis.provider", "analysis"),
    ("pandas", "from gapboost import _optional; _optional.frame({})", "analysis"),
    ("matplotlib", "import gapboost.plotting as p; p.plot_g(None)", "plot"),
    (
        "tqdm",
        "from gapboost._optional import progress_bar; progress_bar(3, True, '').__enter__()",
        "progress",
    ),
    ("tqdm", "from gapboost.lightgbm import progress; progress()", "progress"),
    ("tqdm", "from gapboost.xgboost import progress; progress()", "progress"),
]
# Imports the package once. Each case is tried in a copy of this process, unless it is the only one.
TRY_EACH = """
import json, os, sys
import gapboost

assert not {{"lightgbm", "xgboost"}} & set(sys.modules)
cases = {cases!r}
for missing, code in cases:
    if len(cases) > 1 and os.fork():
        os.wait()
        continue
    sys.modules.update(dict.fromkeys(missing))
    try:
        exec(code)
        outcome = "done"
    except ImportError as error:
        outcome = str(error)
    print(json.dumps([missing, code, outcome]), flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def outcomes():
    """Return "done" or the message of the ImportError by missing libraries and code."""
    cases = [*UNNEEDED.values(), *(([missing], code) for missing, code, _ in NEEDED)]
    found = {}
    for some in [cases] if hasattr(os, "fork") else [[case] for case in cases]:
        done = subprocess.run(
            [sys.executable, "-c", TRY_EACH.format(cases=some)],
            cwd=PACKAGE.parent,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[[")]
        found.update({(*missing, code): outcome for missing, code, outcome in lines})
        assert done.returncode == 0, done.stderr
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NEEDS.get(name, ())) for name in UNNEEDED]
)
def test_only_libraries_that_are_used_are_needed(name, outcomes):
    missing, code = UNNEEDED[name]
    assert outcomes.get((*missing, code)) == "done"


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "code", "extra"), NEEDED)
def test_what_is_missing_is_named_with_its_extra(missing, code, extra, outcomes):
    message = outcomes[missing, code]
    assert missing in message or missing == "distributed"
    assert f"pip install 'gapboost[{extra}]'" in message


@pytest.mark.slow
def test_imports_from_a_zip_file(tmp_path):
    """Zipapps and some job schedulers import packages this way."""
    archive = shutil.make_archive(str(tmp_path / "code"), "zip", PACKAGE.parent, PACKAGE.name)
    code = f"""
import sys
sys.path.insert(0, {archive!r})
import gapboost.comparison, gapboost.datasets, gapboost.analysis, gapboost.model_selection
from gapboost._page import write_page
assert gapboost.comparison.__file__.startswith({archive!r})
write_page("page.html", "title", [])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_without_docstrings():
    """Python -OO drops docstrings. An error says that boosters need theirs; the rest works."""
    own = sorted(
        ".".join(("gapboost", *parts)).removesuffix(".__init__") for parts in MODULES.values()
    )
    alone = [name for name in own if not {"lightgbm", "xgboost", "provider"} & set(name.split("."))]
    code = f"""
import importlib
for name in {alone!r}:
    importlib.import_module(name)
assert importlib.import_module.__doc__ is None
for twin in {sorted(set(BOOSTERS) - MISSING)!r}:
    try:
        importlib.import_module(twin)
    except AttributeError:
        try:
            importlib.import_module("gapboost." + twin)
        except ImportError as error:
            assert "-OO" in str(error) and twin in str(error), error
        else:
            raise AssertionError(twin)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
