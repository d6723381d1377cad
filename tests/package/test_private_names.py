"""Private names of other libraries stand in one file for each library."""

import ast
from pathlib import Path

import gapboost

PACKAGE = Path(gapboost.__file__).parent
# scikit-learn, LightGBM, XGBoost; numba's cache and its types for SIMD.
FILES = {"_data/private.py", "lightgbm/private.py", "xgboost/private.py"}
FILES |= {"_kernels/jit.py", "_kernels/simd/compiled.py"}


def test_private_names_are_imported_in_one_file_for_each_library():
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or (node.module or "").startswith("gapboost"):
                continue
            if any(alias.name.startswith("_") for alias in node.names):
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found <= FILES
