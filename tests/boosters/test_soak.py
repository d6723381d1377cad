"""Fits leave nothing behind in the process (hundreds of them: ``python -m benchmarks soak``)."""

import subprocess
import sys
from pathlib import Path

import pytest
from installed import needs

ROOT = Path(__file__).parents[2]
SOAK = """
from benchmarks.scale import memory_after_fits
measured = memory_after_fits(60, 20)
print(measured[-1] - measured[0])
"""


@pytest.mark.slow
@needs("lightgbm")
@needs("xgboost")
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="reads the process's memory from /proc"
)
def test_memory_stays_flat():
    """A fit's data alone is 0.3 MB: 40 fits that kept theirs would show."""
    done = subprocess.run(
        [sys.executable, "-c", SOAK],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert float(done.stdout) < 6
