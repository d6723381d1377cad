"""Work over joblib's processes."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import joblib

Item = TypeVar("Item")
Result = TypeVar("Result")


def over_processes(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int
) -> Iterator[Result]:
    """Return ``function(item)`` for `items`, in order, by up to `n_jobs` processes."""
    n_jobs = min(n_jobs, len(items))
    if n_jobs <= 1:
        yield from map(function, items)
        return
    # joblib warns, in the thread that hands out the work, where a worker ends before all is done:
    # it was idle for minutes, or has grown. Another one follows. Where warnings are errors the
    # thread ends instead, and the caller waits for ever. The filter stays: whoever takes one back
    # may undo what another thread has filtered since.
    warnings.filterwarnings(
        "ignore", "A worker stopped while some jobs were given to the executor", UserWarning
    )
    yield from joblib.Parallel(n_jobs, return_as="generator")(
        joblib.delayed(function)(item) for item in items
    )
