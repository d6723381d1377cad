"""Long work, item by item: over processes, in order, with a progress bar."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import joblib
import numpy as np

from gapboost._kernels.parallel.chunks import resolve_n_jobs
from gapboost.analysis.optional import progress
from gapboost.arguments import random_numbers

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Item], Result], items: Sequence[Item], n_jobs: int | None, shown: bool, label: str
) -> list[Result]:
    """``[function(item) for item in items]``, the same for every `n_jobs`."""
    jobs = min(resolve_n_jobs(n_jobs), len(items))
    if jobs <= 1:
        return list(progress(map(function, items), len(items), shown, label))
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator")
    return list(progress(parallel(joblib.delayed(function)(item) for item in items), len(items), shown, label))


def generators(random_state: Any, number: int) -> list[np.random.Generator]:
    """Independent generators, one for each item of work: results then do not depend on the order of the work."""
    if isinstance(random_state, np.random.Generator):
        return random_state.spawn(number)
    if random_state is not None:
        drawn = random_numbers(random_state)
        random_state = int(drawn.randint(2**31 - 1)) if not isinstance(random_state, int | np.integer) else random_state
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence(random_state).spawn(number)]
