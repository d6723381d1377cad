"""Phases that several threads go through side by side.

All go through the same phases in the same order. In each a thread takes one item after the other until none is left, and
then waits for those that others have taken:

    k = first(progress, phase, n)
    while k < n:
        ...
        k = following(progress, phase, n)

So nobody waits for a thread that has not come yet, any number of threads will do, and to meet takes no longer than one core
needs to see another's memory; waking a thread up, or getting Python's lock, takes a hundred times as long.
"""

from typing import Any

import numpy as np

from gapboost.kernels.compile import kernel
from gapboost.kernels.vectors import claim, pause, resign, seen, shift

Pointer = Any

# Counters of different phases are on different cache lines.
APART = 8

# Looks at a counter, some 50 ns each, before the core is offered to other threads: on a busy machine these may be the
# ones waited for.
LOOKS = 2000


def unbegun(n_phases: int) -> "np.ndarray[Any, Any]":
    """The progress of a computation that has not begun."""
    return np.zeros(2 * APART * n_phases, np.int64)


@kernel
def first(progress: Pointer, phase: int, n: int) -> Any:
    """The next of the ``n`` items of ``phase``; a number from ``n`` on once all are done."""
    k = claim(shift(progress, 2 * APART * phase))
    if k >= n:
        wait_for(progress, phase, n)
    return k


@kernel
def following(progress: Pointer, phase: int, n: int) -> Any:
    """The same, by a thread that has done an item."""
    done(progress, phase)
    return first(progress, phase, n)


@kernel
def done(progress: Pointer, phase: int) -> None:
    """Count one more item of ``phase`` as done."""
    claim(shift(progress, 2 * APART * phase + APART))


@kernel
def wait_for(progress: Pointer, phase: int, n: int) -> None:
    """Return when ``n`` items of ``phase`` are done."""
    counter = shift(progress, 2 * APART * phase + APART)
    looks = 0
    while seen(counter) < n:
        looks += 1
        if looks < LOOKS:
            pause()
        else:
            resign()
