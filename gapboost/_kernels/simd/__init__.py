"""Pointers, and vectors of 8 and 16 float64, for loops too short to be vectorized.

=========================== ======================================================================
``pointer(array)``          address of the first element; ``p[i]``, ``p[i] = x``; ``p + n`` moves it
``load8(p, i)``, ``load16``  elements ``p[i], p[i + 1], ...`` as a vector, integers as float64
``store(p, i, v)``          write them back
``every8(x)``               ``x`` in all lanes
``counting(i)``             ``i, i + 1, ..., i + 7``
``powers(x)``               ``x**1 ... x**16``
``vector16(numbers)``       a tuple of 16 numbers
``+ - * / abs``             lane by lane, with vectors or with numbers
``> < ==``                  1.0 in the lanes where it holds, else 0.0
``where(v, x, y)``          ``x`` in the lanes where ``v`` is not 0.0, else ``y``
``fold(v)``                 16 lanes to 8: the sum of the two halves
``total(v)``                the sum of the lanes
``number(v)``               how many lanes are not 0.0
=========================== ======================================================================

=============  ============================================================================
`compiled`     defines them for numba
`reference`    the same with numpy and bounds that are checked, for ``NUMBA_DISABLE_JIT=1``
`exponential`  the exponential function of a vector, made of them
=============  ============================================================================

LLVM splits vectors into whatever registers the machine has: nothing depends on the instruction set.

A pointer does not keep its array alive and compiled code checks no bounds, so a pointer is only
made in a function that has the array as an argument. Arrays themselves cost seven words and two
reference counts in every call of a compiled function.
"""

from typing import Any

from numba import config

if config.DISABLE_JIT:  # type: ignore[attr-defined]
    from gapboost._kernels.simd.reference import (
        counting,
        every8,
        fold,
        load8,
        load16,
        number,
        pointer,
        powers,
        store,
        times_power,
        total,
        vector16,
        where,
    )  # fmt: skip
else:
    from gapboost._kernels.simd.compiled import (
        counting,
        every8,
        fold,
        load8,
        load16,
        number,
        pointer,
        powers,
        store,
        times_power,
        total,
        vector16,
        where,
    )  # fmt: skip

__all__ = [
    "LANES", "Pointer", "counting", "every8", "fold", "load8", "load16", "number", "pointer",
    "powers", "store", "times_power", "total", "vector16", "where",
]  # fmt: skip

Pointer = Any

LANES = 8
