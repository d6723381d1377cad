"""Vectors as compiled code has them: operators, rows, sums, the exponential function."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gapboost._kernels.jit import kernel
from gapboost._kernels.vectors import (
    FARTHEST,
    decay,
    first,
    greater,
    load,
    pointer,
    store,
    times_power,
    total,
)

WIDTHS = pytest.mark.parametrize("width", [4, 16, 32])


@kernel
def use_operators(numbers, x, lanes, written):
    n, given, out = len(lanes), pointer(numbers, 0), pointer(written, 0)
    v, w = load(given, 0, lanes), load(pointer(given, n), 0, lanes)
    store(out, 0, v + w)
    store(out, n, v - w)
    store(out, 2 * n, v * w)
    store(out, 3 * n, v / w)
    store(out, 4 * n, x + w)
    store(out, 5 * n, x - w)
    store(out, 6 * n, x * w)
    store(out, 7 * n, x / w)
    store(out, 8 * n, greater(v, w))
    store(out, 9 * n, first(3, v, w))
    store(out, 10 * n, first(-1, v, w))
    store(out, 11 * n, first(99, v, w))
    out[12 * n] = given[1] + x
    return total(v)


@WIDTHS
@pytest.mark.parametrize("x", [2.5, -3.0, np.inf])
def test_operators(x, width):
    v, w = np.random.default_rng(0).integers(-9, 9, (2, width)) + 0.5
    out = np.full((13, width), 7.0)
    found = use_operators(np.append(v, w), x, (0.0,) * width, out)
    last = np.full(width, 7.0)
    last[0] = v[1] + x
    expected = [
        v + w, v - w, v * w, v / w, x + w, x - w, x * w, x / w,
        np.maximum(v, w), np.append(v[:3], w[3:]), w, v, last,
    ]  # fmt: skip
    assert_array_equal(out, expected)
    assert found == v.sum()


@kernel
def scale(numbers, exponents, lanes, out):
    x, powers = pointer(numbers, 0), pointer(exponents, 0)
    store(pointer(out, 0), 0, times_power(load(x, 0, lanes), load(powers, 0, lanes)))
    return times_power(x[0], powers[0])


def test_times_power():
    x = np.array([1.0, 1.5, 0.75, 1.1])
    for exponents in ([0.0, 1.0, -1010.0, 1000.0], [-3.0, 10.0, 500.0, -500.0]):
        out = np.empty(4)
        one = scale(x, np.array(exponents), (0.0,) * 4, out)
        expected = np.ldexp(x, np.array(exponents, int))
        assert_array_equal(out, expected)
        assert one == expected[0]


@kernel
def decays(x, lanes, out):
    for i in range(0, len(x), len(lanes)):
        store(pointer(out, 0), i, decay(load(pointer(x, 0), i, lanes)))
    return decay(x[1])


DISTANCES = [
    np.linspace(0.0, FARTHEST, 8000),
    np.geomspace(1e-300, FARTHEST, 8000),
    np.arange(2000) * np.log(2.0) / 2,  # where the whole number of the exponent changes
]


@WIDTHS
@pytest.mark.parametrize("x", DISTANCES, ids=["even", "small", "halves"])
def test_decay(x, width):
    x = x[: len(x) // width * width]
    out = np.empty_like(x)
    one = decays(x, (0.0,) * width, out)
    assert_allclose(out, np.exp(-x), rtol=2e-15, atol=0)
    assert one == pytest.approx(np.exp(-x[1]), rel=2e-15)
