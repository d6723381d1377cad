"""Work over processes: no more of them than there is work for."""

from typing import ClassVar

import joblib
import numpy as np
import pytest
from joblib.parallel import ThreadingBackend

from gapboost import analysis

LISTS = analysis.ranked_lists([0, 1, 1, 0] * 4, np.arange(16.0), np.repeat(np.arange(4), 4))
ON_RUNS = {
    "qrels": {"1": {"a": 1, "b": 0}},
    "runs": {"x": {"1": {"a": 1.0, "b": 2.0}}, "y": {"1": {"a": 3.0, "b": 2.0}}},
}
FEATURES = (np.arange(8.0).reshape(4, 2) % 3, [0, 1, 1, 0], None)


# All that takes a number of processes, each with four pieces of work.
CALLS = {
    "informativeness": lambda n: analysis.informativeness("ap", LISTS, minimum=1, n_jobs=n).rms,
    "local_optimality": lambda n: (
        analysis.local_optimality(
            "ap", [1.0, 2.0], *FEATURES, n_directions=4, random_state=0, n_jobs=n
        ).changes
    ),
    "robustness": lambda n: (
        analysis.robustness(
            ["ap"], **ON_RUNS, fractions=[1], repeats=4, random_state=0, n_jobs=n
        ).tau
    ),
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
    joblib.register_parallel_backend("counting", Counting)
    Counting.asked.clear()
    with joblib.parallel_config("counting"):
        found = CALLS[name](16)
    assert Counting.asked == [4]
    np.testing.assert_array_equal(found, CALLS[name](1))
