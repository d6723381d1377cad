"""Work over processes: no more of them than there is work for."""

from typing import ClassVar

import joblib
import numpy as np
import pytest
from good_calls import FUNCTIONS
from joblib.parallel import ThreadingBackend

# All that takes a number of processes, with four pieces of work, and what it finds.
CALLS = {
    "informativeness": ({}, "rms"),
    "local_optimality": ({"n_directions": 4, "random_state": 0}, "changes"),
    "robustness": ({"repeats": 4, "random_state": 0}, "tau"),
}


class Counting(ThreadingBackend):
    """Notes how many workers it is asked for."""

    asked: ClassVar[list[int]] = []

    def configure(self, n_jobs=1, **options):
        self.asked.append(n_jobs)
        return super().configure(n_jobs, **options)


@pytest.mark.parametrize("name", CALLS)
def test_no_more_processes_than_work(name):
    """Sixteen for four pieces of it are four."""
    (call, good), (given, result) = FUNCTIONS[name], CALLS[name]
    joblib.register_parallel_backend("counting", Counting)
    Counting.asked.clear()
    with joblib.parallel_config("counting"):
        found = call(**{**good, **given, "n_jobs": 16})
    assert Counting.asked == [4]
    alone = call(**{**good, **given, "n_jobs": 1})
    np.testing.assert_array_equal(getattr(found, result), getattr(alone, result))
