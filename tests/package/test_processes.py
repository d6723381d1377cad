"""Work over processes: as many as there is work for, and none that is waited for in vain."""

import subprocess
import sys
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


ENDING_EARLY = """
from joblib.externals.loky import process_executor
from gapboost._processes import over_processes

def growing(item):
    # joblib ends a process that has grown by so much since its first piece of work: here any has.
    assert process_executor._MAX_MEMORY_LEAK_SIZE and process_executor._MEMORY_LEAK_CHECK_DELAY
    process_executor._MAX_MEMORY_LEAK_SIZE = -float("inf")
    process_executor._MEMORY_LEAK_CHECK_DELAY = -float("inf")
    return item

assert list(over_processes(growing, range(6), 2)) == list(range(6))
"""


@pytest.mark.slow
def test_processes_that_end_early_where_warnings_are_errors():
    """joblib warns in the thread that hands out work: if that thread ended, the call would hang."""
    subprocess.run([sys.executable, "-W", "error", "-c", ENDING_EARLY], check=True, timeout=240)
