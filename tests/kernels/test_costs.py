"""What a pass costs: calls of Python, threads, operations and memory."""

import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from own_process import run_python

import gapboost as gb
from gapboost._kernels.threads import working_on
from gapboost.data.query_data import group_by_query
from gapboost.evaluation import QueryValues


@pytest.mark.parametrize("n_lists", [400, 4_000])
def test_python_is_called_a_few_times_however_many_lists(n_lists):
    rng = np.random.default_rng(7)
    n = 20 * n_lists
    data = group_by_query(rng.integers(0, 5, n), np.arange(n) // 20)
    made = gb.LambdaRank("ndcg", score_distance=None).prepared(data, 1)
    rows = rng.standard_normal(n), *np.empty((2, n))
    made(*rows)
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(event) if "call" in event else None)
    try:
        made(*rows)
    finally:
        sys.setprofile(None)
    assert len(calls) <= 60


@pytest.mark.parametrize("kind", [gb.LambdaRank, gb.RankNet, gb.SoftRank, gb.ApproxRank])
def test_n_jobs_is_the_number_of_threads(kind):
    """Work goes to a team of that many threads, in several pieces for each."""
    rng = np.random.default_rng(8)
    data = group_by_query(rng.integers(0, 3, 40_000), np.arange(40_000) // 20)
    scores, teams = rng.standard_normal(40_000), []

    def team(work, n_threads):
        teams.append(n_threads)
        work()

    with working_on(team):
        results = []
        for n_jobs in (1, 2, 3, 5):
            grad, hess = np.empty((2, 40_000))
            kind(gb.AP()).prepared(data, n_jobs)(scores, grad, hess)
            results.append((grad, hess))
    assert teams == [2, 3, 5]
    for result in results:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize(
    ("measure", "lists", "length", "shared"),
    [(gb.AP(), 400, 20, False), (gb.AP(), 4_000, 20, True), (gb.ERR(top=2), 10, 800, True)],
)
def test_a_millisecond_of_work_is_shared(measure, lists, length, shared):
    """One thread is faster where others work on the cores; pairs of a cascade cost more."""
    rng = np.random.default_rng(8)
    n, teams = lists * length, []
    data = group_by_query(rng.integers(0, 3, n), np.arange(n) // length)
    with working_on(lambda work, n_threads: teams.append(n_threads) or work()):
        gb.LambdaRank(measure).prepared(data, 2)(rng.standard_normal(n), *np.empty((2, n)))
        assert teams == [2] * shared
        teams.clear()
        QueryValues([measure, gb.AP(), gb.RR()], data, n_jobs=2)(rng.standard_normal(n))
        assert teams == [2] * (n > 40_000)


COUNT = """
import sys
import numpy as np
import gapboost as gb
from gapboost.data.query_data import group_by_query
counted = 0
def count(frame, event, _):
    global counted
    counted += event == "call" and frame.f_code.co_filename.startswith(sys.argv[1])
for objective in (
    gb.LambdaRank(gb.nDCG()), gb.LambdaRank(gb.nDCG(), score_distance=1.0),
    gb.LambdaRank(gb.nDCG(), sigma=0.5, score_distance=1e-4),
    gb.LambdaRank(gb.nDCG(), sigma=300.0), gb.SoftRank(gb.AP()), gb.ApproxRank(gb.AP()),
):
    counts = []
    for n in (512, 1024):
        rng = np.random.default_rng(0)
        made = objective.prepared(group_by_query(rng.integers(0, 2, n), np.zeros(n, int)), 1)
        counted = 0
        sys.setprofile(count)
        made(rng.random(n), *np.empty((2, n)))
        sys.setprofile(None)
        counts.append(counted)
    print(counts[1] / counts[0])
"""


@pytest.mark.slow
def test_twice_as_many_documents_take_twice_as_many_operations():
    """Operations on vectors and numbers, counted where all code runs as plain Python."""
    folder = str(Path(gb.__file__).parent / "_kernels")
    ratios = [float(line) for line in run_python(COUNT, folder, NUMBA_DISABLE_JIT="1").split()]
    assert len(ratios) == 6
    assert max(ratios) < 2.2


G = (0.25, 0.25, 0.25, 0.25)
LAMBDARANK = gb.LambdaRank(gb.GAP(g=G), score_distance=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "length", "most"),
    [
        *((LAMBDARANK, length, 64) for length in (10, 100, 2_000)),
        (LAMBDARANK, 1_000_000, 224),
        (gb.SoftRank(gb.GAP(g=G)), 1_000_000, 300),
        (gb.ApproxRank(gb.GAP(g=G)), 1_000_000, 300),
        (gb.ApproxRank(gb.nDCG()), 1_000_000, 300),
    ],
    ids=str,
)
def test_memory_grows_with_the_documents(objective, length, most):
    """At most so many bytes a document, of short queries or of one as long as the data."""
    rng = np.random.default_rng(7)
    n = 1_000_000
    grades, scores = rng.integers(0, 5, n), rng.standard_normal(n)
    data = group_by_query(grades, np.repeat(np.arange(n // length), length))
    small = group_by_query(grades[:2_000], None)
    objective.prepared(small, 1)(scores[:2_000], *np.empty((2, 2_000)))  # compiles
    tracemalloc.start()
    try:
        grad, hess = np.empty(n), np.empty(n)
        objective.prepared(data, 2)(scores, grad, hess)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    peak += data.codes.nbytes + data.base.counts.nbytes + data.weights.nbytes
    assert peak <= most * n
    assert (hess > 0).all()
    assert abs(grad.sum()) < 1e-9 * np.abs(grad).sum()
