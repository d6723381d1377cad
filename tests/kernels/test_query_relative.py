"""Kernels of query-relative features against their definitions in numpy."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata

from gapboost._kernels.order import sorting_for
from gapboost._kernels.query_relative import RANK, ZSCORE, write_relative

OFFSETS = np.array([0, 1, 3, 60, 200])


def definition(kind, column):
    """Return the feature of one column of one query."""
    there = ~np.isnan(column)
    x = column[there].astype(np.float64)
    result = np.full(len(column), np.nan)
    if len(x):
        constant = x.min() == x.max()
        relative = (
            (x - x.mean()) / x.std() if kind == "zscore" else (rankdata(x) - 1) / (len(x) - 1)
        )
        result[there] = 0.0 if constant else relative
    return result


def computed(kind, values, rows=None, offsets=OFFSETS):
    output = np.full(values.shape, -9.0, values.dtype)
    rows = np.arange(len(values)) if rows is None else rows
    memory = sorting_for(int(np.diff(offsets).max()))
    code = ZSCORE if kind == "zscore" else RANK
    # Compiled code gives no such warnings; plain numpy does.
    with np.errstate(over="ignore", invalid="ignore"):
        n = values.shape[1]
        return write_relative(code, values, 0, n, rows, offsets, output, 0, memory), output


@pytest.fixture
def values():
    rng = np.random.default_rng(0)
    found = rng.normal(size=(200, 4))
    found[:, 1] = np.round(found[:, 1])
    found[:, 2] = 0.1
    found[rng.random(found.shape) < 0.1] = np.nan
    found[:3, 3] = np.nan
    return found


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", ["zscore", "rank"])
def test_definition(kind, shuffled, dtype, values):
    values = values.astype(dtype)
    rows = np.random.default_rng(1).permutation(200) if shuffled else np.arange(200)
    infinite, output = computed(kind, values, rows)
    assert not infinite
    for begin, end in itertools.pairwise(OFFSETS):
        of_query = rows[begin:end]
        for j in range(values.shape[1]):
            expected = definition(kind, values[of_query, j])
            # float32 outputs are rounded once
            rtol = 1e-12 if dtype == np.float64 else 1e-6
            np.testing.assert_allclose(output[of_query, j], expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("kind", ["zscore", "rank"])
@pytest.mark.parametrize("scale", [1e300, 1.7e308, 1e-300, 5e-324])
def test_any_scale(kind, scale):
    values = np.array([[-1.0], [0.0], [1.0]]) * scale
    _, output = computed(kind, values, offsets=np.array([0, 3]))
    expected = {"zscore": [-np.sqrt(1.5), 0.0, np.sqrt(1.5)], "rank": [0.0, 0.5, 1.0]}[kind]
    np.testing.assert_allclose(output[:, 0], expected, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize("kind", ["zscore", "rank"])
def test_a_large_offset_costs_no_digits(kind):
    values = np.array([[0.0], [1.0], [5.0]])
    offsets = np.array([0, 3])
    np.testing.assert_array_equal(
        computed(kind, values + 2.0**50, offsets=offsets)[1],
        computed(kind, values, offsets=offsets)[1],
    )


@pytest.mark.parametrize("kind", ["zscore", "rank"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_found(kind, value, values):
    values[150, 2] = value
    assert computed(kind, values)[0]
