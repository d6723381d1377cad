"""The OpenMP threads that a booster keeps, to run our chunks on."""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

Work = Callable[[], None]

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# void GOMP_parallel(void (*entry)(void *), void *data, unsigned n_threads, unsigned flags)
_FORK_AND_JOIN = ctypes.CFUNCTYPE(None, _ENTRY, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)

# Environment variable, read on import of gapboost.lightgbm or gapboost.xgboost: 0 leaves the
# booster's threads alone.
SWITCH = "GAPBOOST_OPENMP"


def openmp_team(library: Any) -> Callable[[Work, int], None] | None:
    """Return ``team(work, n)``, which calls ``work()`` on up to `n` OpenMP threads of `library`.

    A team belongs to the thread that asks for it: inside a booster's callback these are the threads
    that the booster itself has just used. They wait in a busy loop for its next parallel section,
    so that threads of ours would find the cores taken; and they start within microseconds.
    ``OMP_THREAD_LIMIT`` can make a team smaller than `n`, down to the caller alone: nothing may
    wait for a second thread.

    Parameters
    ----------
    library : ctypes.CDLL or None

    Returns
    -------
    function or None
        None where ``GAPBOOST_OPENMP=0`` is in the environment, and where the runtime does not offer
        GNU's entry point: libgomp and LLVM's libomp do, on Linux alone.
    """
    if sys.platform != "linux" or os.environ.get(SWITCH) == "0":
        return None
    try:
        fork_and_join = _FORK_AND_JOIN(("GOMP_parallel", library))
    except (AttributeError, TypeError):
        return None

    def team(work: Work, n_threads: int) -> None:
        errors: list[BaseException] = []
        finished: list[int] = []

        def entry(_: Any) -> None:
            # ctypes would print an exception and go on.
            try:
                work()
                finished.append(threading.get_ident())
            except BaseException as error:
                errors.append(error)

        fork_and_join(_ENTRY(entry), None, n_threads, 0)
        if errors:
            raise errors[0]
        # An interrupt can also come before the `try`, where ctypes prints it; the caller's thread
        # then has done none of the work.
        if threading.get_ident() not in finished:
            raise KeyboardInterrupt

    return team
