"""Long work, item by item: over processes, in order, with a progress bar."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gapboost._data.arguments import seed
from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost._optional import progress_bar
from gapboost._processes import over_processes

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    n_jobs: int | None,
    shown: bool,
    label: str,
) -> list[Result]:
    """Return ``[function(item) for item in items]``, the same for every `n_jobs`."""
    results = []
    with progress_bar(len(items), shown, label) as advance:
        for result in over_processes(function, items, resolve_n_jobs(n_jobs)):
            results.append(result)
            advance(1)
    return results


def generators(random_state: Any, number: int) -> list[np.random.Generator]:
    """Return independent generators, one for each item of work.

    Results then do not depend on the order of the work.
    """
    return [
        np.random.default_rng(child)
        for child in np.random.SeedSequence(seed(random_state)).spawn(number)
    ]
