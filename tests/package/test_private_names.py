"""Private names of other libraries: one file for each library, and what they do today.

A failure here with a new version of a library says which name has changed.
"""

import ast
from pathlib import Path

import pytest
from installed import needs

import gapboost
from gapboost._data import private as of_sklearn

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


def test_scikit_learn_1_6_to_1_9():
    assert of_sklearn.num_samples([[1], [2]]) == 2
    assert of_sklearn.safe_indexing([3, 4, 5], [2, 0]) == [5, 3]


@needs("lightgbm")
def test_lightgbm_4_6_to_4_7():
    import lightgbm

    from gapboost.lightgbm import private

    assert {"learning_rate", "eta"} <= private.aliases("learning_rate")
    assert private.value_of("seed", {"random_state": 3}) == 3
    assert "shrinkage_rate" in private.overruled()
    assert isinstance(lightgbm.early_stopping(2), private.EarlyStopping)
    assert lightgbm.LGBMRanker(num_leaves=7)._process_params("fit")["num_leaves"] == 7
    pytest.importorskip("distributed")
    from lightgbm import dask

    assert callable(dask._get_dask_client)
    assert callable(dask._train)


@needs("xgboost")
def test_xgboost_3_1_to_3_4():
    import numpy as np
    import xgboost

    from gapboost.xgboost import private

    matrix = xgboost.XGBRanker()._create_ltr_dmatrix(
        None, np.ones((4, 2)), np.array([0, 0, 1, 1]), label=np.arange(4)
    )
    assert matrix.get_group().tolist() == [2, 2]
    assert private.get_model_categories(np.ones((4, 2)), None, None) == (None, None)
