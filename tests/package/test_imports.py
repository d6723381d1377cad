"""Imports point downwards, and nothing that is not used must be installed."""

import ast
import builtins
import inspect
import re
from pathlib import Path

import pytest
from installed import needs
from own_process import run_python

import gapboost

PACKAGE = Path(gapboost.__file__).parent
# Private names of other libraries stand in one file for each library: scikit-learn, LightGBM,
# XGBoost, numba.
PRIVATE = {"data/_compat.py", "lightgbm/_compat.py", "xgboost/_compat.py", "_kernels/jit.py"}
# Each package imports those before it.
ORDER = """
    optional _kernels validation data page
    measures objectives evaluation datasets preprocessing _boosters lightgbm xgboost
    dask model_selection analysis plotting calibration explain export
    comparison diagnosis report warmup __init__
""".split()  # noqa: SIM905
# The packages that may import a booster, beside those of the boosters.
WITH_BOOSTERS = {"comparison", "explain", "export"}
MODULES = {
    path: path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")
}


def imported(path):
    """Yield the dotted names of all that a module imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the package"
            # `from gapboost.data import queries` imports `data` too
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_point_downwards():
    n_inside = 0
    for path, package in MODULES.items():
        assert package in ORDER, f"write in this test where {package} stands"
        for name in imported(path):
            top, *inside = name.split(".")
            if top == "gapboost" and inside[0] != package:
                assert ORDER.index(inside[0]) < ORDER.index(package), f"{path} imports {name}"
                n_inside += 1
            if top in ("lightgbm", "xgboost"):
                assert package in WITH_BOOSTERS | {top}, f"{path} imports {name}"
            if top in ("numba", "llvmlite"):
                assert package == "_kernels", f"{path} imports {name}"
            if top != "gapboost" and name.rpartition(".")[2].startswith("_"):
                assert path.relative_to(PACKAGE).as_posix() in PRIVATE, f"{path} imports {name}"
    assert n_inside > 100


# Packages that train nothing: they could be code of somebody else.
OUTSIDE = """
    analysis calibration comparison datasets diagnosis explain export plotting report
""".split()  # noqa: SIM905


def test_packages_that_do_not_train_import_public_names():
    n_inside = 0
    for path, package in MODULES.items():
        if package not in OUTSIDE:
            continue
        for name in imported(path):
            top, *inside = name.split(".")
            if top == "gapboost" and inside[0] != package:
                assert not any(part.startswith("_") for part in inside), f"{path} imports {name}"
                n_inside += 1
    assert n_inside > 50


# Attributes with an underscore that are part of interfaces: those of named tuples.
PUBLIC = {"_asdict", "_fields", "_replace"}
# The ranker on Spark is an estimator of XGBoost's: it overrides methods with an underscore.
OVERRIDES = {"xgboost/spark.py"}


def defined(tree):
    """Yield the names that a module defines: functions, classes, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr


@pytest.mark.slow
def test_private_attributes_of_others_stand_in_one_file_for_each_library():
    trees = {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in MODULES
    }
    others = {name: tree for name, tree in trees.items() if name not in PRIVATE | OVERRIDES}
    ours = PUBLIC.union(*map(defined, others.values()))
    touched = [
        (name, node.attr)
        for name, tree in others.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_")
        if not node.attr.startswith("__") and node.attr not in ours
    ]
    assert touched == []


ONE_BOOSTER = """
import numpy as np
from gapboost.{booster} import {ranker}, eval_metric, objective
X = np.arange(200.0)[:, None] % 7
y = (X[:, 0] > 3).astype(int)
fitted = {ranker}(n_estimators=2, n_jobs=1).fit(X, y, qid=np.arange(200) // 10)
assert fitted.predict(X).shape == (200,)
"""
# Missing libraries, and code that does not use them.
UNUSED = {
    "both boosters": (
        ["lightgbm", "xgboost"],
        """
import gapboost as gb
import gapboost.datasets, gapboost.analysis
assert gb.evaluate("ap", [1, 0], [2.0, 1.0])[gb.AP()] == 1.0
assert gb.LambdaRank(gb.AP()).gradients([0, 1], [2.0, 1.0])[0][0] > 0
""",
    ),
    "xgboost": (["xgboost"], ONE_BOOSTER.format(booster="lightgbm", ranker="LGBMGAPRanker")),
    "lightgbm": (["lightgbm"], ONE_BOOSTER.format(booster="xgboost", ranker="XGBGAPRanker")),
}
OTHER_BOOSTER = {"xgboost": needs("lightgbm"), "lightgbm": needs("xgboost")}


def run_without(libraries, code):
    """Run code in a process of its own, where importing these libraries fails."""
    hidden = f"import sys; sys.modules.update(dict.fromkeys({libraries!r}))\n"
    return run_python(hidden + code)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=OTHER_BOOSTER.get(name, ())) for name in UNUSED]
)
def test_libraries_that_are_not_used_may_be_missing(name):
    run_without(*UNUSED[name])


# Missing libraries, and code that uses one of them with the extra that brings it.
USED = {
    ("lightgbm", "xgboost"): {
        "import gapboost.lightgbm": "lightgbm",
        "from gapboost.xgboost import XGBGAPRanker": "xgboost",
    },
    ("ir_measures", "pandas", "matplotlib", "tqdm"): {
        "from gapboost import optional; optional.ir_measures()": "analysis",
        "from gapboost import optional; optional.frame({})": "analysis",
        "import gapboost.plotting as p; p.plot_g(None)": "plot",
        "from gapboost.lightgbm import progress; progress()": "progress",
        "from gapboost.xgboost import progress; progress()": "progress",
    },
}
ALL_ERRORS = """
for code in {codes!r}:
    try:
        exec(code)
    except ImportError as error:
        print(error)
"""


@pytest.mark.slow
@needs("lightgbm")
@needs("xgboost")
@pytest.mark.parametrize("libraries", USED, ids=" ".join)
def test_an_error_names_the_extra_of_a_missing_library(libraries):
    printed = run_without(list(libraries), ALL_ERRORS.format(codes=[*USED[libraries]]))
    found = re.findall(r"pip install 'gapboost\[(\w+)\]'", printed)
    assert found == [*USED[libraries].values()], printed


@needs("lightgbm")
def test_rankers_are_found_at_the_top():
    from gapboost.lightgbm import LGBMGAPRanker

    assert gapboost.LGBMGAPRanker is LGBMGAPRanker
    with pytest.raises(AttributeError) as error:
        gapboost.LGBMGapRanker  # noqa: B018
    assert (error.value.name, error.value.obj) == ("LGBMGapRanker", gapboost)  # for a proposal


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_and_types_on_the_map_exist(page):
    root = PACKAGE.parent
    if not (root / page).exists():
        pytest.skip("no checkout")
    words = re.findall(r"`([\w./]+)`", (root / page).read_text(encoding="utf-8"))
    paths = {word for word in words if word.endswith(("/", ".py", ".md"))}
    types = {word for word in words if re.fullmatch(r"[A-Z][a-z]+[A-Z]\w+|[A-Z][a-z]{3,}", word)}
    inside = {path.name for folder in (PACKAGE, root / "tests") for path in folder.rglob("*.py")}
    assert not [
        path
        for path in paths
        if path not in inside and not any((place / path).exists() for place in (root, PACKAGE))
    ]
    code = "\n".join(path.read_text(encoding="utf-8") for path in MODULES)
    types = {name for name in types if not hasattr(builtins, name)}
    assert not [name for name in types if f"class {name}" not in code]
    assert len(paths) + len(types) > 10


def test_completion_offers_what_is_public():
    assert {"LGBMGAPRanker", "XGBGAPRanker", "evaluate", "nDCG"} <= set(dir(gapboost))
    assert not {"Any", "import_module"} & set(dir(gapboost))


@pytest.mark.parametrize(
    "function", [gapboost.evaluate, gapboost.report, gapboost.LambdaRank.gradients]
)
def test_help_names_the_types_of_arguments(function):
    assert "numpy.typing.ArrayLike" in str(inspect.signature(function))
    assert "numpy._typing" not in str(inspect.signature(function))
