"""Ranking against numpy's stable sort: short and long lists, ties, NaN, any spread of scores."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_array_equal

from gapboost._kernels.order import COUNTED, ranking

# In plain numpy a document takes a thousand times as long.
SLOW = bool(config.DISABLE_JIT)
LONGEST = 120 if SLOW else 2_000


def expected_order(scores, tie_order):
    """Positions by falling score, nan last with -inf, equal ones in their turns."""
    keys = -np.where(np.isnan(scores), -np.inf, scores)
    return tie_order[np.argsort(keys[tie_order], kind="stable")]


SCORES = {
    "even": lambda n, rng: rng.random(n),
    "falling": lambda n, rng: -np.arange(n, dtype=float),
    "rising": lambda n, rng: np.arange(n, dtype=float),
    "equal": lambda n, rng: np.full(n, 1.5),
    "zeros of both signs": lambda n, rng: rng.choice([0.0, -0.0], n),
    "tied": lambda n, rng: rng.integers(0, 5, n).astype(float),
    "two": lambda n, rng: rng.choice([-1e308, 1e308], n),
    "huge": lambda n, rng: rng.uniform(-1.0, 1.0, n) * np.finfo(float).max,
    "tiny": lambda n, rng: rng.standard_normal(n) * 1e-300,
    "denormal": lambda n, rng: rng.integers(-50, 50, n) * 5e-324,
    "one ulp apart": lambda n, rng: 1.0 + rng.integers(0, 9, n) * np.finfo(float).eps,
    "heavy tails": lambda n, rng: rng.standard_cauchy(n) ** 3,
    "geometric": lambda n, rng: np.ldexp(1.0, rng.integers(-1000, 1000, n)),
    "one far away": lambda n, rng: np.where(np.arange(n) == n // 2, 1e9, rng.random(n)),
    "nan among them": lambda n, rng: np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
    "nan, infinite": lambda n, rng: rng.choice([np.nan, -np.inf, np.inf, 0.0, 1.0], n),
    "all nan": lambda n, rng: np.full(n, np.nan),
}
anything = st.sampled_from(sorted(SCORES))


@settings(max_examples=20 if SLOW else 300)
@given(
    st.lists(st.tuples(st.integers(0, LONGEST), anything), max_size=4),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
@example([], True, 0)
@example([(0, "even")], True, 0)
@example([(0, "even"), (3, "tied"), (0, "even"), (LONGEST, "heavy tails")], True, 1)
def test_ranking_of_queries(queries, turned, seed):
    rng = np.random.default_rng(seed)
    sizes = [n for n, _ in queries]
    offsets = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)
    scores = [SCORES[kind](n, rng) for n, kind in queries]
    tie_order = [(rng.permutation(n) if turned else np.arange(n)).astype(np.int32) for n in sizes]
    turns = [np.concatenate([np.empty(0, np.int32), *tie_order])] if turned else []
    found = ranking(np.concatenate([np.empty(0), *scores]), offsets, *turns)
    assert found.dtype == np.int32
    expected = [expected_order(*query) for query in zip(scores, tie_order, strict=True)]
    for (first, last), order in zip(itertools.pairwise(offsets), expected, strict=True):
        assert_array_equal(found[first:last], order)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", sorted(SCORES))
def test_every_length_at_which_the_way_may_change(kind, dtype):
    rng = np.random.default_rng(0)
    for n in (*range(1, 20), COUNTED - 1, COUNTED, COUNTED + 1, 2 * COUNTED, LONGEST):
        with np.errstate(over="ignore"):
            scores = SCORES[kind](n, rng).astype(dtype)
        tie_order = rng.permutation(n).astype(np.int32)
        found = ranking(scores, np.array([0, n]), tie_order)
        assert_array_equal(found, expected_order(scores, tie_order))
