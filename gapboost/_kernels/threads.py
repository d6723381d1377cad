"""Chunks of queries on threads.

Kernels release the GIL, so plain threads run them in parallel. numba's own threading layers are not
used: they crash or serialize when several Python threads enter them. A booster's callback borrows
the OpenMP threads that the booster keeps (`openmp_team`, `working_on`).
"""

import ctypes
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import joblib
import numpy as np

from gapboost._kernels import Array

# Nanoseconds of work below which one thread does all. Two idle cores would take a little less for
# the upper half of that; where other processes use the cores, a second thread comes milliseconds
# late, and XGBoost's fits of 8,000 documents took 3 times as long.
SHARED_WORK = 1e6

# Below this many documents a chunk costs less than handing it to another thread.
SMALLEST_CHUNK = 2048

CHUNKS_PER_THREAD = 4

# What the steps of a gradient pass hand to each other stays in a core's cache.
CACHED_CHUNK = 1 << 14

# Tables of a chunk stay in cache, and a million queries never have theirs in memory at once.
CHUNK_BYTES = 1 << 21

# Tables of all queries may take this much, or this much a document: as the documents themselves.
KEPT_BYTES, KEPT_BYTES_PER_DOCUMENT = 1 << 26, 32

Work = Callable[[], None]

# ``team(work, n)`` calls ``work()`` on up to n threads, the caller's one of them, and waits for
# all.
Team = Callable[[Work, int], None]

_borrowed: ContextVar[Team | None] = ContextVar("borrowed", default=None)

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# void GOMP_parallel(void (*entry)(void *), void *data, unsigned n_threads, unsigned flags)
_FORK_AND_JOIN = ctypes.CFUNCTYPE(None, _ENTRY, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)

# Environment variable, read on import of gapboost.lightgbm or gapboost.xgboost: 0 leaves the
# booster's threads alone.
SWITCH = "GAPBOOST_OPENMP"

_IMPORTED_IN = os.getpid()


def is_forked() -> bool:
    """Tell whether this process was forked: OpenMP's threads do not survive that."""
    return os.getpid() != _IMPORTED_IN


def available_cores() -> int:
    """Return the cores that this process may use: affinity, container limits, parallel parents.

    joblib's worker processes (and many batch systems) pass their share on as ``OMP_NUM_THREADS``.
    """
    cores = int(joblib.cpu_count())
    share = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(share))) if share.isdecimal() and int(share) > 0 else cores


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: None, 0 and -1 are all cores, -2 all but one.

    Raises
    ------
    TypeError
        If `n_jobs` is not a whole number.
    """
    given: object = n_jobs
    if isinstance(given, bool) or not isinstance(given, int | np.integer | None):
        raise TypeError(f"n_jobs is {given!r}; expected a whole number of threads, or None for all")
    if n_jobs is None or n_jobs == 0:
        return available_cores()
    if n_jobs < 0:
        return max(1, available_cores() + 1 + n_jobs)
    return int(n_jobs)


def threads_for(n_jobs: int | None, nanoseconds: float) -> int:
    """Return the number of threads for ``n_jobs``; 1 for work of few nanoseconds."""
    if n_jobs is None and nanoseconds < SHARED_WORK:
        return 1  # counting the cores takes a tenth of a millisecond
    threads = resolve_n_jobs(n_jobs)
    return threads if nanoseconds >= SHARED_WORK else 1


def table_bytes(n_grades: int) -> int:
    """Memory of the tables ``pair`` and ``own`` of one query with grades ``0..n_grades - 1``."""
    return 8 * (n_grades * n_grades + n_grades)


def can_keep(bytes_per_query: int, offsets: Array) -> bool:
    """Tell whether tables of all queries may stay in memory from one call to the next."""
    budget = max(KEPT_BYTES, KEPT_BYTES_PER_DOCUMENT * int(offsets[-1]))
    return bytes_per_query * (len(offsets) - 1) <= budget


def chunks(
    offsets: Array, n_jobs: int, bytes_per_query: int, largest: int | None = None
) -> list[tuple[int, int]]:
    """Cut the queries into ranges ``(first, last)`` of about equal numbers of documents.

    Each thread gets a few.

    A range whose tables would outgrow `CHUNK_BYTES`, or with more than the `largest` number of
    documents, is cut further. Which queries share a chunk never changes a result: every query is
    computed by itself.
    """
    n_queries = len(offsets) - 1
    n_documents = int(offsets[-1])
    n_chunks = min(
        n_jobs * CHUNKS_PER_THREAD if n_jobs > 1 else 1, max(1, n_documents // SMALLEST_CHUNK)
    )
    n_chunks = max(
        n_chunks,
        n_queries * bytes_per_query // CHUNK_BYTES,
        n_documents // (largest or n_documents),
    )
    n_chunks = min(n_chunks, n_queries)
    targets = np.arange(1, n_chunks) * (n_documents / n_chunks)
    cuts = np.unique(np.concatenate(([0], np.searchsorted(offsets, targets), [n_queries])))
    return [(int(first), int(last)) for first, last in itertools.pairwise(cuts)]


def run(task: Callable[[int], None], n: int, n_jobs: int) -> None:
    """Call ``task(0) ... task(n - 1)`` on up to `n_jobs` threads, and wait for all.

    The caller's thread is one of them.
    """
    waiting = iter(range(n))  # next() on it is atomic

    def work() -> None:
        for k in waiting:
            task(k)

    others, team = min(n_jobs, n) - 1, _borrowed.get()
    if others < 1:
        work()
    elif team is not None and not is_forked():
        team(work, others + 1)
    else:
        helpers = []
        with ThreadPoolExecutor(others) as pool:
            with suppress(RuntimeError):  # while the interpreter ends, no thread can start
                for _ in range(others):
                    helpers.append(pool.submit(work))
            work()
        for helper in helpers:
            helper.result()


@contextmanager
def working_on(team: Team | None) -> Iterator[None]:
    """Let `run` use the threads of `team` in place of threads of its own; None changes nothing."""
    token = _borrowed.set(team)
    try:
        yield
    finally:
        _borrowed.reset(token)


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
        done: list[int] = []

        def entry(_: object) -> None:
            # ctypes would print an exception and go on.
            try:
                work()
                done.append(threading.get_ident())
            except BaseException as error:
                errors.append(error)

        fork_and_join(_ENTRY(entry), None, n_threads, 0)
        if errors:
            raise errors[0]
        # An interrupt can also come before the `try`, where ctypes prints it; the caller's thread
        # then has done none of the work.
        if threading.get_ident() not in done:
            raise KeyboardInterrupt

    return team
