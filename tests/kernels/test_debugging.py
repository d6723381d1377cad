"""Kernels under NUMBA_DISABLE_JIT=1: plain numpy, checked bounds, the same results."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_inputs import SHORT_LONG, SHORT_STRIP, results

from gapboost._kernels.lambdarank import long
from gapboost.objectives import lambdarank

ROOT = Path(__file__).parents[2]
KERNEL_TESTS = ["test_simd.py", "test_order.py", "test_lambdarank_kernels.py", "test_query_relative.py"]


def in_plain_numpy(*command):
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNEL_TESTS)
def test_the_tests_of_kernels_pass_in_plain_numpy(name):
    assert " passed" in in_plain_numpy(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name(name))
    )


@pytest.mark.slow
def test_plain_numpy_gives_what_compiled_code_gives(monkeypatch, tmp_path):
    """Run all kinds of queries through the public API; memory is NaN until it is written."""
    in_plain_numpy("-m", "tests.support.small_inputs", str(tmp_path / "plain.npz"))
    plain = np.load(tmp_path / "plain.npz")
    monkeypatch.setattr(lambdarank, "LONG", SHORT_LONG)
    monkeypatch.setattr(long, "STRIP", SHORT_STRIP)
    compiled = results()
    assert set(compiled) == set(plain.files)
    for name, expected in compiled.items():
        assert np.isfinite(expected).all(), name
        np.testing.assert_allclose(
            plain[name], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max(initial=0), err_msg=name
        )


@pytest.mark.slow
def test_nothing_is_compiled_without_a_compiler():
    program = (
        "import gapboost as gb\n"
        "from gapboost._kernels.lambdarank.pairs import sum_pairs\n"
        "from gapboost._kernels.simd import load8, reference\n"
        "assert load8 is reference.load8 and not hasattr(sum_pairs, 'py_func')\n"
        "print(gb.LambdaRank(gb.AP(), normalize=False).gradients([0, 1], [2.0, 1.0])[0].round(4).tolist())\n"
    )
    assert in_plain_numpy("-c", program) == "[0.3655, -0.3655]\n"
