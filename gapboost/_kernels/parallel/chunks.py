"""Chunks of queries over threads.

Kernels release the GIL, so plain threads run them in parallel. numba's own threading layers are not
used: they crash or serialize when several Python threads enter them. All callers of one process
share one pool, so that many fits in parallel threads do not start more workers than there are
cores. A booster's callback borrows the booster's own threads instead (`working_on`).
"""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import joblib
import numpy as np

# Below this many documents a chunk costs less than handing it to another thread.
SMALLEST_CHUNK = 2048

CHUNKS_PER_THREAD = 4

# What the steps of a gradient pass hand to each other stays in a core's cache.
CACHED_CHUNK = 1 << 14

# Tables of a chunk stay in cache, and a million queries never have theirs in memory at once.
CHUNK_BYTES = 1 << 21

# ``team(work, n)`` calls ``work()`` on up to n threads, the caller's one of them, and waits for
# all.
Team = Callable[[Callable[[], None], int], None]

_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()
_borrowed: ContextVar[Team | None] = ContextVar("borrowed", default=None)
_forked = False


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
    given: Any = n_jobs
    if isinstance(given, bool) or not isinstance(given, int | np.integer | None):
        raise TypeError(f"n_jobs is {given!r}; expected a whole number of threads, or None for all")
    if n_jobs is None or n_jobs == 0:
        return available_cores()
    if n_jobs < 0:
        return max(1, available_cores() + 1 + n_jobs)
    return int(n_jobs)


def table_bytes(n_grades: int) -> int:
    """Memory of the tables ``pair`` and ``own`` of one query with grades ``0..n_grades - 1``."""
    return 8 * (n_grades * n_grades + n_grades)


def chunks(
    offsets: np.ndarray[Any, Any], n_jobs: int, bytes_per_query: int, largest: int | None = None
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


def ranges_within(widths: np.ndarray[Any, Any], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of queries whose number times their largest width is at most `most`.

    A range holds at least one query.
    """
    first, largest = 0, 0
    for q, width in enumerate(widths.tolist()):
        largest = max(largest, width)
        if (q + 1 - first) * largest > most and q > first:
            yield first, q
            first, largest = q, width
    yield first, len(widths)


def run(task: Callable[[int], None], n: int, n_jobs: int) -> None:
    """Call ``task(0) ... task(n - 1)`` on up to `n_jobs` threads, and wait for all.

    The caller's thread is one of them.
    """
    if n_jobs == 1 or n <= 1:
        for k in range(n):
            task(k)
        return
    waiting = iter(range(n))  # next() on it is atomic

    def work() -> None:
        for k in waiting:
            task(k)

    team = None if _forked else _borrowed.get()
    (team or _pooled)(work, min(n_jobs, n))


@contextmanager
def working_on(team: Team | None) -> Iterator[None]:
    """Let `run` use the threads of `team` in place of the shared pool; None changes nothing."""
    token = _borrowed.set(team)
    try:
        yield
    finally:
        _borrowed.reset(token)


def _pooled(work: Callable[[], None], n_threads: int) -> None:
    helpers: list[Future[None]] = [Future() for _ in range(n_threads - 1)]
    try:
        _call(helpers, work)
        work()
    finally:
        # A helper that has not started has nothing left to do; one that has may still write to the
        # caller's arrays.
        for helper in helpers:
            if not helper.cancel():
                helper.result()


def _call(helpers: list["Future[None]"], work: Callable[[], None]) -> None:
    """Let as many helpers work as the pool has threads for: none while the interpreter ends."""
    with suppress(RuntimeError):
        for helper in helpers:
            # A pool that fails to start a thread keeps the call in its queue, and its own future to
            # itself.
            _shared_pool().submit(_help, helper, work)


def _help(helper: "Future[None]", work: Callable[[], None]) -> None:
    if helper.set_running_or_notify_cancel():
        try:
            work()
        except BaseException as error:
            helper.set_exception(error)
        else:
            helper.set_result(None)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(
                max(1, int(joblib.cpu_count())), thread_name_prefix="gapboost"
            )
        return _pool


def _forget_pool() -> None:
    # Threads do not survive a fork: the child would wait for ever on the parent's pool, or on its
    # OpenMP team.
    global _pool, _lock, _forked
    _pool = None
    _lock = threading.Lock()
    _forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
