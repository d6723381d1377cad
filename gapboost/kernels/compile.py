"""The one way functions of this room are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile on first call, cache on disk, release the GIL; division by zero gives inf or nan as in numpy.

    The cache watches only the file of the function itself: after editing a function that other files call,
    delete ``__pycache__``.
    """
    # Without the explicit False, numba compiles a function with the fastmath of whichever caller needs it first.
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=False)(function))


def summing_kernel(function: Function) -> Function:
    """As `kernel`, but sums may be reordered (the same way in every run) so that they use vector registers."""
    options = {"reassoc", "contract", "nsz"}
    return cast(Function, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=options)(function))
