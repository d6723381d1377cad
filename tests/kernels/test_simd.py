"""Vectors and pointers: compiled, as the reference in plain numpy, and as numpy itself computes it.

Every kernel here is run twice, compiled and with the names of `gapboost._kernels.simd.reference` in
place of the compiled ones. Under NUMBA_DISABLE_JIT=1 both are the reference.
"""

import operator
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from gapboost._kernels.jit import kernel
from gapboost._kernels.simd import (
    counting,
    every8,
    fold,
    load8,
    load16,
    number,
    pointer,
    powers,
    reference,
    store,
    times_power,
    total,
    vector16,
    where,
)
from gapboost._kernels.simd.exponential import FARTHEST, decay8
from gapboost._kernels.simd.reference import Pointer, Vector

REFERENCE = {name: value for name, value in vars(reference).items() if not name.startswith("_")}


def in_plain_numpy(function, **names):
    """Return the function with the reference's primitives."""
    plain = getattr(function, "py_func", function)
    return FunctionType(plain.__code__, {**plain.__globals__, **REFERENCE, **names})


def both(function, *arrays):
    """Return what a kernel writes to its last array; compiled and plain numpy must be equal."""
    found = []
    for run in (kernel(function), in_plain_numpy(function)):
        *given, out = (array.copy() if isinstance(array, np.ndarray) else array for array in arrays)
        run(*given, out)
        found.append(out)
    assert_array_equal(*found)
    return found[0]


ODD = np.array([-0.0, 0.0, 5e-324, 1e308, -1e308, np.inf, -np.inf, np.nan])
EVEN = np.array([1.5, -2.0, 3.25, 1e-3, 7.0, -0.5, 1e6, 2.0])
PAIRS = [(EVEN, EVEN[::-1].copy()), (ODD, EVEN), (EVEN, ODD), (ODD, ODD), (ODD, ODD[::-1].copy())]
PAIRS_IDS = ["even", "odd-even", "even-odd", "odd", "odd-turned"]


def vectors(a, b, out):
    x, y, p = load8(pointer(a), 0), load8(pointer(b), 0), pointer(out)
    store(p, 0, x + y)
    store(p, 8, x - y)
    store(p, 16, x * y)
    store(p, 24, x / y)
    store(p, 32, x > y)
    store(p, 40, x < y)
    store(p, 48, x == y)
    store(p, 56, abs(x))


def vectors_in_place(a, b, out):
    x, y, p = load8(pointer(a), 0), load8(pointer(b), 0), pointer(out)
    z = x
    z += y
    store(p, 0, z)
    z = x
    z -= y
    store(p, 8, z)
    z = x
    z *= y
    store(p, 16, z)
    # what was given to z is still what it was
    store(p, 24, x)


def vector_and_number(a, y, out):
    x, p = load8(pointer(a), 0), pointer(out)
    store(p, 0, x + y)
    store(p, 8, x - y)
    store(p, 16, x * y)
    store(p, 24, x / y)
    store(p, 32, x > y)
    store(p, 40, x < y)
    store(p, 48, x == y)
    x *= y
    store(p, 56, x)


def number_and_vector(a, x, out):
    y, p = load8(pointer(a), 0), pointer(out)
    store(p, 0, x + y)
    store(p, 8, x - y)
    store(p, 16, x * y)
    store(p, 24, x / y)
    store(p, 32, x > y)
    store(p, 40, x < y)
    store(p, 48, x == y)


ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv]
OPERATORS = [*ARITHMETIC, operator.gt, operator.lt, operator.eq]


def by_numpy(x, y, operators=tuple(OPERATORS)):
    with np.errstate(all="ignore"):
        return np.concatenate(
            [operate(np.broadcast_to(x, 8), np.broadcast_to(y, 8)) for operate in operators]
        )


@pytest.mark.parametrize(("x", "y"), PAIRS, ids=PAIRS_IDS)
def test_operators_between_vectors(x, y):
    assert_array_equal(both(vectors, x, y, np.empty(64)), np.append(by_numpy(x, y), np.abs(x)))
    in_place = np.append(by_numpy(x, y, ARITHMETIC[:3]), x)
    assert_array_equal(both(vectors_in_place, x, y, np.empty(32)), in_place)


@pytest.mark.parametrize("y", [2.5, -3, 0.0, 7, np.inf, np.nan])
@pytest.mark.parametrize("x", [EVEN, ODD], ids=["even", "odd"])
def test_operators_between_vectors_and_numbers_in_any_order(x, y):
    assert_array_equal(
        both(vector_and_number, x, y, np.empty(64)),
        by_numpy(x, float(y), [*OPERATORS, operator.mul]),
    )
    assert_array_equal(both(number_and_vector, x, y, np.empty(56)), by_numpy(float(y), x))


def wide(a, y, out):
    x, p = load16(pointer(a), 0), pointer(out)
    store(p, 0, x + y)
    store(p, 16, y * x)
    store(p, 32, x * x - x)
    x -= 1.0
    store(p, 48, x)


@pytest.mark.parametrize("y", [2.5, -3])
def test_operators_of_sixteen(y):
    x = np.arange(-5.0, 11.0)
    expected = np.concatenate((x + y, y * x, x * x - x, x - 1.0))
    assert_array_equal(both(wide, x, y, np.empty(64)), expected)


def choose(condition, x, y, out):
    mask = load8(pointer(condition), 0)
    store(pointer(out), 0, where(mask, load8(pointer(x), 0), load8(pointer(y), 0)))
    out[8] = number(mask)


@pytest.mark.parametrize(
    "condition", [ODD, EVEN, np.zeros(8), np.arange(8.0) % 2], ids=["odd", "even", "none", "turns"]
)
def test_where_and_number_of_lanes_that_are_not_zero(condition):
    # nan is not zero
    expected = np.append(np.where(condition != 0.0, EVEN, ODD), np.count_nonzero(condition))
    assert_array_equal(both(choose, condition, EVEN, ODD, np.empty(9)), expected)


def build(x, i, out):
    p = pointer(out)
    store(p, 0, every8(x))
    store(p, 8, counting(i))
    store(
        p,
        16,
        vector16(
            (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, -15.5)
        ),
    )


@pytest.mark.parametrize(("x", "i"), [(2.5, 3), (-0.0, -20), (np.inf, 1 << 40), (7, 0)])
def test_constructors(x, i):
    expected = np.concatenate((np.full(8, float(x)), i + np.arange(8.0), np.arange(15.0), [-15.5]))
    assert_array_equal(both(build, x, i, np.empty(32)), expected)


def take_powers(bases, out):
    for i in range(len(bases)):
        store(pointer(out), 16 * i, powers(bases[i]))


def test_powers():
    bases = np.array([0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-20, np.exp(30.0), np.exp(-30.0)])
    for run in (kernel(take_powers), in_plain_numpy(take_powers)):
        out = np.empty(16 * len(bases))
        run(bases, out)
        assert_allclose(out.reshape(-1, 16), bases[:, None] ** np.arange(1, 17), rtol=1e-14, atol=0)


def add_up(a, out):
    x = load16(pointer(a), 0)
    store(pointer(out), 0, fold(x))
    out[8] = total(x)
    out[9] = total(fold(x))


@pytest.mark.slow
@given(st.lists(st.integers(-(1 << 40), 1 << 40), min_size=16, max_size=16))
def test_sums_of_lanes(lanes):
    # whole numbers, of which sums in any order are exact
    x = np.array(lanes, dtype=np.float64)
    assert_array_equal(both(add_up, x, np.empty(10)), [*(x[:8] + x[8:]), x.sum(), x.sum()])


def load_at(a, offset, out):
    p = pointer(a)
    store(pointer(out), 0, load8(p, offset))
    store(pointer(out), 8, load16(p, offset))
    store(pointer(out), 24, load8(p + offset, 0))
    store(pointer(out), 32, load8(p + 11, offset - 11))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int32, np.int64])
def test_loads_at_any_offset(dtype):
    a = (np.arange(40) * 37 % 256 - (0 if dtype == np.uint8 else 100)).astype(dtype)
    for offset in range(len(a) - 15):
        eight, sixteen = a[offset : offset + 8], a[offset : offset + 16]
        expected = np.concatenate((eight, sixteen, eight, eight)).astype(np.float64)
        assert_array_equal(both(load_at, a, offset, np.empty(40)), expected)


def store_at(a, offset, out):
    store(pointer(out), offset, load8(pointer(a), 0))
    store(pointer(out) + offset, 9, load8(pointer(a), 0) * 2.0)


def test_stores_at_any_offset_write_nothing_else():
    for offset in range(13):
        expected = np.zeros(30)
        expected[offset : offset + 8] = EVEN
        expected[offset + 9 : offset + 17] = 2 * EVEN
        assert_array_equal(both(store_at, EVEN, offset, np.zeros(30)), expected)


def walk(a, step, out):
    p = pointer(a) + 5
    q = pointer(out)
    q[0] = p[0]
    q[1] = p[-5]
    q[2] = (p + step)[0]
    q[3] = (p + step + -step)[1]
    q[4] = (p + -2)[step]
    (q + 7)[-2] = (p + 6)[-1] + 1
    q = q + 6
    q[0] = q[-6]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("step", [-3, 0, 4])
def test_pointers_move_both_ways(dtype, step):
    a = np.arange(100, 112).astype(dtype)
    expected = [a[5], a[0], a[5 + step], a[6], a[3 + step], int(a[10]) + 1, a[5]]
    assert_array_equal(both(walk, a, step, np.zeros(7)), expected)


def scale_by_powers_of_two(a, exponents, out):
    store(pointer(out), 0, times_power(load8(pointer(a), 0), load8(pointer(exponents), 0)))


def test_times_power():
    x = np.array([1.0, 1.5, 1.25, 0.75, 1.0, 1.9, 1.0, 1.1])
    exponents = np.array([0.0, 1.0, -1.0, 10.0, -1010.0, 1000.0, 500.0, -500.0])
    assert_array_equal(
        both(scale_by_powers_of_two, x, exponents, np.empty(8)), np.ldexp(x, exponents.astype(int))
    )


def decays(a, out):
    for i in range(0, len(a), 8):
        store(pointer(out), i, decay8(load8(pointer(a), i)))


DISTANCES = [
    np.linspace(0.0, FARTHEST, 8000),
    np.geomspace(1e-300, FARTHEST, 8000),
    # Where the whole number of the exponent changes.
    np.append(np.arange(1000) * np.log(2.0) / 2, np.arange(1000)),
    np.array([-1.0, -np.inf, 1e3, np.inf, 1e308, FARTHEST, 0.0, 5e-324]),
]


@pytest.mark.parametrize("x", DISTANCES, ids=["even", "small", "halves", "ends"])
def test_decay(x):
    expected = np.exp(-np.clip(x, 0.0, FARTHEST))
    plain = in_plain_numpy(decays, decay8=in_plain_numpy(decay8))
    for run in (kernel(decays), plain):
        out = np.empty(len(x))
        run(x, out)
        assert_allclose(out, expected, rtol=2e-15, atol=0)


@given(st.lists(st.floats(0.0, FARTHEST), min_size=8, max_size=8))
def test_decay_of_anything(x):
    out = np.empty(8)
    kernel_of_decays(np.array(x), out)
    assert_allclose(out, np.exp(-np.array(x)), rtol=2e-15, atol=0)


kernel_of_decays = kernel(decays)


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize(
    "access",
    [
        lambda p, n: p[n],
        lambda p, n: p[-1 - (p.start)],
        lambda p, n: (p + n)[0],
        lambda p, n: (p + -4)[0],
        lambda p, n: p.__setitem__(n, 1.0),
        lambda p, n: p.__setitem__(-4, 1.0),
        lambda p, n: reference.load8(p, n - 7),
        lambda p, n: reference.load8(p, -4),
        lambda p, n: reference.load16(p, n - 15),
        lambda p, n: reference.store(p, n - 7, Vector(np.ones(8))),
        lambda p, n: reference.store(p, -4, Vector(np.ones(8))),
    ],
)
def test_the_reference_checks_bounds(access, start):
    array = np.arange(20.0)
    p = Pointer(array, 0) + start
    with pytest.raises(IndexError, match="of an array of 20"):
        access(p, 20 - start)
    assert_array_equal(array, np.arange(20.0))
    # the last ones that are inside
    assert p[19 - start] == 19.0
    assert reference.load8(p, 12 - start).lanes[-1] == 19.0
