"""Cost of a gradient pass and of an evaluation, by how many different grades a query has.

Usage: ``python -m benchmarks.grades [--quick]``. One thread, processor time; medians, all in turns.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import gapboost as gb
from benchmarks.workload import N_DOCUMENTS, conditions, medians, table
from gapboost._data.judged import judged

MEASURE = gb.GAP(g=(0.25, 0.25, 0.25, 0.25), levels=(1, 2, 3, 4))
EVERY = 0  # a grade of its own for each document
# Different grades, and documents in a list.
PASSES = ((5, 100), (16, 100), (64, 100), (EVERY, 100), (5, 1_000), (16, 1_000), (64, 1_000), (EVERY, 1_000))
LISTS = (100, 1_000, 1_000_000)


def grades(different: int, n: int) -> np.ndarray:
    """From 0 to 4: whole ones where there are five."""
    rng = np.random.default_rng(0)
    return 4 * rng.random(n) if different == EVERY else rng.integers(0, different, n) * 4 / (different - 1)


def shown(different: int) -> str:
    """For a table."""
    return {EVERY: "all different", 5: "5 whole"}.get(different, str(different))


def a_pass(different: int, length: int) -> Callable[[], None]:
    """A gradient pass over `N_DOCUMENTS`."""
    qid = np.repeat(np.arange(N_DOCUMENTS // length), length)
    rng = np.random.default_rng(1)
    prepared = gb.LambdaRank(MEASURE).prepared(judged(grades(different, N_DOCUMENTS), qid, real=True), n_jobs=1)
    scores = rng.standard_normal(N_DOCUMENTS)
    grad, hess = np.empty((2, N_DOCUMENTS), dtype=np.float32)
    return lambda: prepared(scores, grad, hess)


def an_evaluation(different: int, length: int) -> Callable[[], object]:
    """Of ten times as many documents."""
    n = 10 * N_DOCUMENTS
    y, scores, qid = grades(different, n), np.random.default_rng(1).standard_normal(n), np.arange(n) // length
    return lambda: gb.evaluate(MEASURE, y, scores, qid, n_jobs=1)


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    repetitions = 3 if parser.parse_args().quick else 15
    print(conditions(), "\n", sep="")
    passes = {key: a_pass(*key) for key in PASSES}
    evaluations = {(d, length): an_evaluation(d, length) for length in LISTS for d in (5, EVERY)}
    for run in (*passes.values(), *evaluations.values()):
        run()  # compiles, and fills caches
    for head, runs, n in (("pass", passes, N_DOCUMENTS), ("evaluation", evaluations, 10 * N_DOCUMENTS)):
        seconds = medians(runs, repetitions, time.process_time)
        rows = [
            [f"{length:,}", shown(d), f"{1e9 * time / n:.0f}", f"{time / seconds[5, length]:.2f}"]
            for (d, length), time in seconds.items()
        ]
        print(table([f"{head}: lists of", "grades", "ns a document", "beside whole ones"], rows), "\n")


if __name__ == "__main__":
    main()
