"""Judged collections that tests read.

Made ones are committed: random numbers in the form of real files, with oddities such as ties and
wrong ranks. Real ones are in ``shared/data`` beside the checkout, for those who have them. A test
that takes both checks the same on both.
"""

from pathlib import Path
from typing import Any

import pytest

MADE = Path(__file__).parent / "made"
REAL = Path(__file__).parents[3] / "shared" / "data"


def real(path: str, *values: Any, id: str | None = None) -> Any:
    """Return a slow test case for a real file or folder, skipped if it is missing."""
    missing = pytest.mark.skipif(
        not (REAL / path).exists(), reason=f"shared/data/{path} is not there"
    )
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
        real(f"robust03/runs/{run.name}", REAL / "robust03" / "qrels.txt.gz")
        for run in sorted((REAL / "robust03" / "runs").glob("*.gz"))
    ),
]
