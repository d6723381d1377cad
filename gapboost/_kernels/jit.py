"""The one way functions of this room are compiled."""

import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

# Seconds of compilation after which a user wonders what is going on.
PATIENCE = 3.0


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


class Announcement(event.Listener):
    """Says once in a process that kernels are being compiled, when that takes longer than `PATIENCE`.

    Loading from the cache on disk is no compilation. Compilations nest: the time of the outermost ones counts.
    """

    def __init__(self) -> None:
        self.said = False
        self.nested = 0
        self.begun = 0.0
        self.spent = 0.0

    def on_start(self, event: Any) -> None:
        """One more function begins to compile."""
        if not self._ours(event):
            return
        if self.nested == 0:
            self.begun = time.monotonic()
        self.nested += 1
        if not self.said and self.spent + time.monotonic() - self.begun >= PATIENCE:
            self.said = True
            logging.getLogger("gapboost").warning(
                "compiling for this processor; it takes some seconds, once: the result is kept on disk"
            )

    def on_end(self, event: Any) -> None:
        """One of them is done."""
        if not self._ours(event):
            return
        self.nested -= 1
        if self.nested == 0:
            self.spent += time.monotonic() - self.begun

    @staticmethod
    def _ours(event: Any) -> bool:
        return str(event.data["dispatcher"].py_func.__module__).startswith("gapboost.")


event.register("numba:compile", Announcement())  # type: ignore[no-untyped-call]
