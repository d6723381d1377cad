"""The primitives of `gapboost._kernels.simd` in plain numpy, with bounds checked.

They define what compiled code must do.

In use under ``NUMBA_DISABLE_JIT=1``, where every kernel can be stepped through in a debugger.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gapboost._kernels import Array


class Pointer:
    """Elements of an array from ``start`` on."""

    def __init__(self, array: Array, start: int) -> None:
        self.array = array
        self.start = start

    def __add__(self, offset: int) -> "Pointer":
        return Pointer(self.array, self.start + int(offset))

    def __getitem__(self, i: int) -> Any:
        # A plain number: numpy's own small integers would overflow.
        return self.array[self.checked(i, 1)].item()

    def __setitem__(self, i: int, value: Any) -> None:
        self.array[self.checked(i, 1)] = value

    def checked(self, offset: int, n: int) -> int:
        """Return the index of the first of ``n`` elements; raise IndexError if one is outside."""
        first = self.start + int(offset)
        if not 0 <= first <= len(self.array) - n:
            raise IndexError(
                f"elements {first} to {first + n - 1} of an array of {len(self.array)}"
            )
        return first


def _without_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """Turn off numpy's warnings in a function, as compiled code gives none.

    Overflow and division by zero give inf or nan, sometimes in lanes that are never read.
    """

    @functools.wraps(function)
    def silent(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return silent


def _both_ways(operate: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make an operator lane by lane, with a vector or a number on either side."""
    return (
        _without_warnings(lambda vector, other: Vector(operate(vector.lanes, _lanes(other)))),
        _without_warnings(lambda vector, other: Vector(operate(_lanes(other), vector.lanes))),
    )


class Vector:
    """Some float64 side by side."""

    __array_ufunc__ = None  # numpy's numbers on the left leave operators to this class

    def __init__(self, lanes: Any) -> None:
        self.lanes: Array = np.asarray(lanes, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Vector({self.lanes.tolist()})"

    def __abs__(self) -> "Vector":
        return Vector(np.abs(self.lanes))

    __add__, __radd__ = _both_ways(operator.add)
    __sub__, __rsub__ = _both_ways(operator.sub)
    __mul__, __rmul__ = _both_ways(operator.mul)
    __truediv__, __rtruediv__ = _both_ways(operator.truediv)
    __gt__, __lt__ = _both_ways(operator.gt)[0], _both_ways(operator.lt)[0]
    __eq__ = _both_ways(operator.eq)[0]


def _lanes(x: Any) -> Any:
    return x.lanes if isinstance(x, Vector) else float(x)


def pointer(array: Array) -> Pointer:
    """Address of the first element of a contiguous array."""
    assert array.flags.c_contiguous
    return Pointer(array.reshape(-1), 0)


def _load(source: Pointer, offset: int, width: int) -> Vector:
    first = source.checked(offset, width)
    return Vector(source.array[first : first + width].astype(np.float64))


def load8(source: Pointer, offset: int) -> Vector:
    """8 elements from ``offset`` on."""
    return _load(source, offset, 8)


def load16(source: Pointer, offset: int) -> Vector:
    """16 elements from ``offset`` on."""
    return _load(source, offset, 16)


def store(target: Pointer, offset: int, vector: Vector) -> None:
    """Write a vector to ``target[offset], target[offset + 1], ...``."""
    first = target.checked(offset, len(vector.lanes))
    target.array[first : first + len(vector.lanes)] = vector.lanes


def every8(x: float) -> Vector:
    """``x`` in all of 8 lanes."""
    return Vector(np.full(8, x))


def counting(start: int) -> Vector:
    """``start, start + 1, ..., start + 7``."""
    return Vector(start + np.arange(8))


def vector16(numbers: tuple[float, ...]) -> Vector:
    """A tuple of 16 numbers."""
    return Vector(numbers)


@_without_warnings
def powers(base: float) -> Vector:
    """``base**1 ... base**16``."""
    return Vector(np.float64(base) ** np.arange(1, 17))


def where(condition: Vector, x: Vector, y: Vector) -> Vector:
    """``x`` in the lanes where ``condition`` is not 0.0, else ``y``."""
    return Vector(np.where(condition.lanes != 0.0, x.lanes, y.lanes))


@_without_warnings
def fold(vector: Vector) -> Vector:
    """Sum of the lower and the upper half."""
    return Vector(vector.lanes[:8] + vector.lanes[8:])


@_without_warnings
def total(vector: Vector) -> float:
    """Sum of the lanes."""
    return float(vector.lanes.sum())


def number(vector: Vector) -> int:
    """Number of lanes that are not 0.0."""
    return int(np.count_nonzero(vector.lanes))


@_without_warnings
def times_power(x: Vector, exponents: Vector) -> Vector:
    """``x * 2**exponents`` for whole exponents."""
    return Vector(np.ldexp(x.lanes, exponents.lanes.astype(np.int64)))
