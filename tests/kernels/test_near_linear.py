"""Near-linear gradients against the loop over all pairs: measures, grades, scores, threads."""

import itertools
import os
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import numpy.testing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gapboost as gb
from gapboost._data.grades import GradeLimit
from gapboost._data.judged import judged
from gapboost._kernels.lambdarank import long
from gapboost._kernels.lambdarank.gradients import Setup, ShortPass, short_queries
from gapboost._kernels.lambdarank.long import LONG
from gapboost._kernels.order.long import rank_long
from gapboost._kernels.order.short import BY_ROW, Elements
from gapboost._kernels.parallel.chunks import run
from gapboost.measures import RecallBase

TOLERANCE = 1e-9

# Whether pairs are visited one by one; None: as the library chooses.
AUTO, DIRECT, SWEEP = None, True, False


def thresholds(n_grades, rng):
    g = rng.dirichlet(np.ones(n_grades))
    g[rng.random(n_grades) < 0.2] = 0.0
    return tuple(g / g.sum()) if g.sum() > 0 else (1.0, *[0.0] * (n_grades - 1))


MEASURES = {
    "gap": lambda n_grades, k, rng: gb.GAP(g=thresholds(n_grades, rng), k=k),
    "xgap": lambda n_grades, k, rng: gb.xGAP(g=thresholds(n_grades, rng), k=k),
    "egap": lambda n_grades, k, rng: gb.eGAP(g=thresholds(n_grades, rng), k=k),
    "ap": lambda n_grades, k, rng: gb.AP(rel=int(rng.integers(1, n_grades + 1)), k=k),
    "ndcg": lambda n_grades, k, rng: gb.nDCG(k=k),
    "precision": lambda n_grades, k, rng: gb.Precision(k=k or 10),
}


def gradients(measure, grades, scores, sizes, way, sigma=1.0, truncation=0, normalize=False):
    data = judged(
        grades,
        np.repeat(np.arange(len(sizes)), sizes),
        limit=GradeLimit(int(max(grades.max(), 1)), ""),
    )
    counts = data.base.counts if measure.n_grades is None else np.pad(
        data.base.counts, ((0, 0), (0, max(0, measure.n_grades + 1 - data.base.n_levels)))
    )  # fmt: skip
    pair, own = measure.tables(RecallBase.of_whole_grades(counts))
    grad, hess = np.empty(len(scores)), np.empty(len(scores))
    offsets, discount = data.queries.offsets, measure.discount(int(max(sizes)))
    setup = Setup(
        grades=data.codes, turns=BY_ROW, discount=discount, begins=np.zeros(len(sizes), np.int64),
        weights=np.ones(len(sizes)), sigma=sigma, normalize=normalize,
        least_curvature=0.0 if measure.monotone else 0.25,
    )  # fmt: skip
    queries = short_queries(offsets, discount, truncation, 0, len(sizes), way)
    ShortPass([queries], own.shape[1]).write_gradients(
        queries, pair, own, setup, scores, grad, hess
    )
    return grad, hess


def spread_scores(n, width, shape, rng):
    """Scores with a range of `width`: even, bell-shaped, tied, equal, or with an outlier."""
    unit = {
        "even": rng.random(n),
        "bell": rng.standard_normal(n) / 6,
        "tied": rng.integers(0, 5, n) / 4,
        "outlier": np.append(rng.random(n - 1) * 1e-3, 1.0),
        "equal": np.zeros(n),
    }[shape]
    return unit * width


def assert_agree(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert np.isfinite(ours).all()
        # Where no swap changes anything (P@k of a list shorter than k) what is left is the rounding
        # of sums of as many changes of order 1 as there are documents.
        scale = max(np.abs(expected[0]).max(), 1e-5, 1e-6 * len(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(sorted(MEASURES)),
    n=st.integers(1, 400),
    n_grades=st.integers(1, 31),
    k=st.none() | st.integers(1, 450),
    truncation=st.just(0) | st.integers(1, 450),
    width=st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 5.0, 40.0, 1e3, 1e6]),
    shape=st.sampled_from(["even", "bell", "tied", "outlier", "equal"]),
    sigma=st.sampled_from([0.1, 1.0, 3.0]),
    seed=st.integers(0, 2**32 - 1),
)
@example("xgap", 300, 4, None, 0, 5.0, "bell", 1.0, 0)
def test_sweeps_equal_the_direct_loop(name, n, n_grades, k, truncation, width, shape, sigma, seed):
    rng = np.random.default_rng(seed)
    measure = MEASURES[name](n_grades, k, rng)
    grades = rng.integers(0, n_grades + 1, n)
    scores = spread_scores(n, width, shape, rng)
    ways = [
        gradients(measure, grades, scores, [n], way, sigma, truncation) for way in (SWEEP, DIRECT)
    ]
    # The hessian carries sigma twice.
    assert_agree([ways[0][0], ways[0][1] / max(sigma, 1)], [ways[1][0], ways[1][1] / max(sigma, 1)])


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("name", sorted(MEASURES))
@pytest.mark.parametrize("n", [5_000, 20_000])
def test_sweeps_equal_the_direct_loop_on_long_lists(name, n):
    rng = np.random.default_rng(n)
    grades = rng.choice(5, p=(0.6, 0.25, 0.1, 0.04, 0.01), size=n)
    scores = grades + 2 * rng.standard_normal(n)
    measure = MEASURES[name](4, None, rng)
    assert_agree(*(gradients(measure, grades, scores, [n], way) for way in (SWEEP, DIRECT)))


@pytest.mark.parametrize("sigma_times_range", [1e-300, 1e-12, 1.0, 709.0, 1e4, 1e12, 1e300])
@pytest.mark.parametrize("way", [SWEEP, DIRECT])
def test_nothing_overflows(way, sigma_times_range):
    rng = np.random.default_rng(0)
    n = 500
    grades = rng.integers(0, 4, n)
    for shape in ("even", "bell", "tied", "outlier", "equal"):
        scores = spread_scores(n, sigma_times_range, shape, rng)
        grad, hess = gradients(gb.GAP(g=(0.3, 0.3, 0.4)), grades, scores, [n], way)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess > 0).all()


def test_as_many_grades_as_there_may_be():
    rng = np.random.default_rng(2)
    grades = rng.permutation(256) % 64
    measure = gb.GAP(g=tuple(np.full(63, 1 / 63)))
    rows = grades, grades / 12 + rng.standard_normal(256), [256]
    assert_agree(gradients(measure, *rows, SWEEP), gradients(measure, *rows, DIRECT))


def test_lists_of_mixed_lengths_do_not_disturb_each_other():
    rng = np.random.default_rng(3)
    sizes = rng.permutation([1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 128, 129, 700, 1, 1500])
    grades = rng.integers(0, 5, sizes.sum())
    scores = rng.standard_normal(sizes.sum())
    measure = gb.eGAP(g=(0.1, 0.2, 0.3, 0.4))
    together = gradients(measure, grades, scores, sizes, AUTO)
    ends = np.cumsum(sizes)
    for end, size in zip(ends, sizes, strict=True):
        rows = slice(end - size, end)
        alone = gradients(
            measure, np.append(grades[rows], 4), np.append(scores[rows], 0), [size, 1], AUTO
        )
        for whole, single in zip(together, alone, strict=True):
            np.testing.assert_array_equal(whole[rows], single[:-1])


@pytest.fixture(scope="module")
def long_and_short():
    """A query that threads share, among others that they do not."""
    rng = np.random.default_rng(4)
    sizes = np.array([300, 2 * LONG + 77, 5, 4_000, LONG + 1, 1])
    grades = rng.choice(5, p=(0.6, 0.25, 0.1, 0.04, 0.01), size=sizes.sum())
    return (
        grades,
        grades + 3 * rng.standard_normal(sizes.sum()),
        np.repeat(np.arange(len(sizes)), sizes),
        sizes,
    )


def test_queries_shared_by_threads_equal_the_direct_loop(long_and_short):
    grades, scores, qid, sizes = long_and_short
    measure = gb.GAP(g=(0.25, 0.25, 0.25, 0.25))
    found = gb.LambdaRank(measure, normalize=False).gradients(grades, scores, qid, n_jobs=2)
    for q in range(len(sizes)):
        rows = qid == q
        expected = gradients(
            measure, np.append(grades[rows], 4), np.append(scores[rows], 0), [sizes[q], 1], DIRECT
        )
        assert_agree([f[rows] for f in found], [e[:-1] for e in expected])


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("spread", [3.0, 200.0, 0.0], ids=["near", "far", "tied"])
def test_lists_of_many_strips_equal_the_direct_loop(monkeypatch, spread):
    """Lists of hundreds of thousands use strips too; their direct loop would take hours."""
    rng = np.random.default_rng(8)
    n = LONG + 5_000
    grades = rng.choice(5, p=(0.6, 0.25, 0.1, 0.04, 0.01), size=n)
    scores = spread * rng.standard_normal(n)
    objective = gb.LambdaRank(gb.xGAP(g=(0.1, 0.2, 0.3, 0.4)), normalize=False)
    expected = (
        gradients(objective.measure, grades, scores, [n], DIRECT)
        if spread
        else objective.gradients(grades, scores)
    )
    for strip in (2048, 7168, 4096):
        monkeypatch.setattr(long, "STRIP", strip)
        assert_agree(objective.gradients(grades, scores), expected)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_the_same_to_the_bit_for_every_number_of_threads(long_and_short, dtype):
    grades, scores, qid, _ = long_and_short
    objective = gb.LambdaRank(gb.xGAP(g=(0.1, 0.2, 0.3, 0.4)))
    alone = objective.gradients(grades, scores.astype(dtype), qid, n_jobs=1)
    for n_jobs in (2, 3, 7, None):
        shared = objective.gradients(grades, scores.astype(dtype), qid, n_jobs=n_jobs)
        for a, b in zip(alone, shared, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_a_query_of_a_million_documents():
    rng = np.random.default_rng(5)
    n = 1_000_000
    grades = rng.choice(3, p=(0.9, 0.08, 0.02), size=n)
    grad, _ = gb.LambdaRank(gb.GAP(g=(0.5, 0.5))).gradients(
        grades, rng.standard_normal(n).astype(np.float32)
    )
    assert np.isfinite(grad).all()
    assert abs(grad.sum()) < 1e-9 * np.abs(grad).sum()
    assert grad[grades == 2].mean() < grad[grades == 1].mean() < 0 < grad[grades == 0].mean()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("length", [10, 100, 2_000, 1_000_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_is_at_most_64_bytes_a_document(length, dtype):
    rng = np.random.default_rng(7)
    n = 1_000_000
    grades, scores = rng.integers(0, 5, n), rng.standard_normal(n).astype(dtype)
    data = judged(grades, np.repeat(np.arange(n // length), length))
    objective = gb.LambdaRank(gb.GAP(g=(0.25, 0.25, 0.25, 0.25)))
    small = judged(grades[: 2 * length], np.repeat([0, 1], length)) if length < n else data
    # Compiles.
    objective.prepared(small, 1)(
        scores[: len(small.codes)], *np.empty((2, len(small.codes)), np.float32)
    )
    tracemalloc.start()
    try:
        prepared = objective.prepared(data, 2)
        prepared(scores, np.empty(n, dtype=np.float32), np.empty(n, dtype=np.float32))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak + data.codes.nbytes + data.base.counts.nbytes + data.weights.nbytes <= 64 * n


@pytest.mark.slow
def test_processors_without_wide_vectors_compute_the_same(tmp_path):
    """Slow compilation is announced once."""
    rng = np.random.default_rng(0)
    rows = (
        rng.integers(0, 5, 3000),
        rng.standard_normal(3000),
        np.repeat([0, 1, 2], [10, 190, 2800]),
    )
    np.save(tmp_path / "rows.npy", rows)
    program = (
        "import sys, numpy as np, gapboost as gb, gapboost._kernels.jit as compile\n"
        "compile.PATIENCE = 0.5\n"
        "rows = np.load(sys.argv[1] + '/rows.npy')\n"
        "np.save(sys.argv[1] + '/found.npy', gb.LambdaRank(gb.eGAP(g=(0.1, 0.2, 0.3, "
        "0.4))).gradients(*rows))\n"
    )
    plain = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        check=True,
        env={**os.environ, **plain},
        cwd=Path(__file__).parents[2],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.stderr.count("compiling for this processor") == 1
    found = np.load(tmp_path / "found.npy")
    expected = gb.LambdaRank(gb.eGAP(g=(0.1, 0.2, 0.3, 0.4))).gradients(*rows)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected[0]).max())


@pytest.mark.parametrize("shape", ["bell", "tied", "outlier", "even", "equal"])
def test_a_list_that_threads_share_is_ranked_by_the_one_tie_rule(shape):
    rng = np.random.default_rng(11)
    for n, n_jobs in itertools.product((17_000, 41_844, 53_576), (1, 2, 3, 7)):
        scores = spread_scores(n, 5.0, shape, rng)
        turns = rng.permutation(n).astype(np.int32)
        order = np.empty(n, np.int32)
        rank_long(
            scores,
            turns,
            Elements(np.empty(n), np.empty(n, np.int32)),
            order,
            partial(run, n_jobs=n_jobs),
        )
        npt.assert_array_equal(order, turns[np.argsort(-scores[turns], kind="stable")])
