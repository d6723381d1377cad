"""Kernels under NUMBA_DISABLE_JIT=1: plain numpy, checked bounds, the same results."""

from pathlib import Path

import numpy as np
import pytest
from own_process import run_python
from small_inputs import results

KERNEL_TESTS = ["test_vectors.py", "test_order.py"]

# One process for everything: to import the package takes as long as most of its parts.
PROGRAM = """
import sys
import pytest
from gapboost._kernels.lambdarank.gradients import write_gradients
assert not hasattr(write_gradients, "py_func")
path, *tests = sys.argv[1:]
assert pytest.main(["-q", "-p", "no:cacheprovider", *tests]) == 0
from tests.support.small_inputs import write_plain
write_plain(path)
"""


@pytest.mark.slow
def test_plain_numpy_passes_the_tests_of_kernels_and_gives_what_compiled_code_gives(tmp_path):
    """The values are those of all kinds of queries; memory is NaN until it is written."""
    path, tests = tmp_path / "plain.npz", (Path(__file__).with_name(name) for name in KERNEL_TESTS)
    run_python(PROGRAM, path, *tests, NUMBA_DISABLE_JIT="1", PYTHONWARNINGS="error")
    plain = np.load(path)
    compiled = results()
    assert set(compiled) == set(plain.files)
    for name, expected in compiled.items():
        assert np.isfinite(expected).all(), name
        np.testing.assert_allclose(
            plain[name],
            expected,
            rtol=1e-12,
            atol=1e-12 * np.abs(expected).max(initial=0),
            err_msg=name,
        )
