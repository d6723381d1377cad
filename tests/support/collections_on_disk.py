"""Judged collections that tests read.

Made ones are committed: random numbers in the form of real files, with oddities such as ties and
wrong ranks. Real ones are in the folder that the environment variable GAPBOOST_DATA names: OHSUMED
of LETOR 3 in ``ohsumed``, judgments and runs of TREC's Robust track 2003 in ``robust03``, and the
files of LightGBM's example of ranking in ``lightgbm-lambdarank``. A test that takes both checks the
same on both.
"""

import os
from pathlib import Path
from typing import Any

import pytest

MADE = Path(__file__).parent / "made"
VARIABLE = "GAPBOOST_DATA"
REAL = Path(os.environ.get(VARIABLE, ""))


def real(path: str, *values: Any, id: str | None = None) -> Any:
    """Return a slow test case for a real file or folder, skipped if it is missing."""
    found = VARIABLE in os.environ and (REAL / path).exists()
    missing = pytest.mark.skipif(not found, reason=f"no {path} in {VARIABLE}")
    return pytest.param(REAL / path, *values, id=id or path, marks=[missing, pytest.mark.slow])


def made(path: str, *values: Any) -> Any:
    """A case of a test that reads a made file or folder."""
    assert (MADE / path).exists(), path
    return pytest.param(MADE / path, *values, id=f"made {path}")


FOLDS = [made("letor"), real("ohsumed")]

# A file of judgments and one of the runs for it.
RUNS = [
    *(
        made(f"trec/runs/{run.name}", MADE / "trec" / "qrels.txt.gz")
        for run in sorted((MADE / "trec/runs").glob("*"))
    ),
    *(
        real(f"robust03/runs/{name}", REAL / "robust03" / "qrels.txt.gz")
        for name in sorted(run.name for run in REAL.glob("robust03/runs/*.gz")) or ["*.gz"]
    ),
]
