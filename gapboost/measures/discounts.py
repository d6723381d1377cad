"""Discounts of ranks as values that can be compared; a measure has one as ``discount_at``.

Each is a function of real ranks, a float64 ndarray of any shape, that returns weights and slopes as
`Measure.discount_at` promises. Two of them are equal where they weigh every rank alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import zeta

from gapboost._kernels import Array
from gapboost.validation import as_number, one_of, short_repr

Discount = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Reciprocal:
    """``1 / rank``, the discount of every average precision."""

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        weight = 1.0 / ranks
        return weight, -weight * weight


@dataclass(frozen=True)
class Log2:
    """``1 / log2(rank + 1)``."""

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        weight = 1.0 / np.log2(ranks + 1)
        return weight, -weight * weight / (np.log(2) * (ranks + 1))


@dataclass(frozen=True)
class LogFromBase:
    """``1 / max(1, log_base(rank))``: no discount before the rank `base` [jarvelin2002]."""

    base: float

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        scale = np.log(self.base)
        weight = 1.0 / np.maximum(1.0, np.log(ranks) / scale)
        return weight, np.where(weight < 1.0, -weight * weight / (scale * ranks), 0.0)


@dataclass(frozen=True)
class Geometric:
    """``(1 - p) p^(rank - 1)``."""

    p: float

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        weight = (1.0 - self.p) * self.p ** (ranks - 1)
        return weight, weight * np.log(self.p)


@dataclass(frozen=True)
class InverseSquare:
    """``1 / (rank + 2 t - 1)**2``, divided by its sum over all ranks up to infinity."""

    t: float

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        shifted = (ranks - 1) + 2 * self.t
        weight = 1.0 / (zeta(2.0, 2 * self.t) * shifted**2)
        return weight, -2 * weight / shifted


@dataclass(frozen=True)
class Constant:
    """Constant discount: `weight` at every rank."""

    weight: float

    def __call__(self, ranks: Array) -> tuple[Array, Array]:
        """Weight and slope at real ranks."""
        return np.full(ranks.shape, self.weight), np.zeros(ranks.shape)


# What measures of cumulated gain take by name; "letor" is 1, 1, 1 / log2(3), 1 / 2, ... of the
# tables published with LETOR.
DISCOUNTS_BY_NAME: dict[str, Discount] = {
    "log2": Log2(),
    "letor": LogFromBase(2.0),
    "reciprocal": Reciprocal(),
}


def as_discount_by(discount_by: object, name: str) -> str | float:
    """Return a name of `DISCOUNTS_BY_NAME`, or the base of a logarithm as float.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(discount_by, str):
        return str(one_of(discount_by, name, tuple(DISCOUNTS_BY_NAME)))
    return as_number(discount_by, name, 1.001)


def weights_at(measure: Any, ranks: Array) -> tuple[Array, Array]:
    """Return ``weight`` and ``slope`` of `Measure.discount_at`; raise ValueError if unusable."""
    discount = measure.discount_at
    if discount is None:
        raise ValueError(
            f"measure is {measure!r}, which has no discount_at, several discounts or one for each "
            "query; expected a measure with one discount, such as GAP()"
        )
    shape = ranks.shape
    return checked_arrays(measure, "discount_at", discount(ranks), shape, shape)


def checked_arrays(
    measure: object, method: str, returned: object, shape: tuple[int, ...], other: tuple[int, ...]
) -> tuple[Array, Array]:
    """Return two arrays that a measure's method returned as C-contiguous float64.

    Raises
    ------
    ValueError
        If they are not two arrays of finite numbers, of this shape and the other one. Users can
        define measures.
    """
    arrays = list(map(np.asarray, returned)) if isinstance(returned, tuple | list) else []
    usable = list(map(np.shape, arrays)) == [shape, other]
    for array in arrays:
        usable = usable and array.dtype.kind in "biuf" and bool(np.isfinite(array).all())
    if not usable:
        raise ValueError(
            f"{method} of {measure!r} returns {short_repr(returned)}; expected two arrays of "
            f"finite numbers, of shapes {shape} and {other}"
        )
    # Code is compiled a second time for arrays that cannot be written.
    first, second = arrays
    return np.require(first, np.float64, ["C", "W"]), np.require(second, np.float64, ["C", "W"])
