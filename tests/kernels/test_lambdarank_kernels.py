"""The parts of LambdaRank, against their definitions in `gapboost._kernels.lambdarank`."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from numpy.testing import assert_allclose, assert_array_equal
from rankings import MEASURES

import gapboost as gb
from gapboost._kernels.jit import kernel
from gapboost._kernels.lambdarank.exponents import LOGISTIC, SLOPE, STRETCH, exponentials
from gapboost._kernels.lambdarank.form import make_form, number_grades
from gapboost._kernels.lambdarank.lists import BLOCK, list_memory, padded, pointers, set_zero
from gapboost._kernels.lambdarank.moments import LENGTH, TERMS, moments_at, scale_moments
from gapboost._kernels.lambdarank.pairs import sum_pairs
from gapboost._kernels.lambdarank.sums import fill_swaps, sum_moments
from gapboost._kernels.simd import LANES, pointer
from gapboost.measures import RecallBase

# Those of one discount; a sum of several is one pass for each.
FORMS = [
    measure
    for measure in MEASURES
    if isinstance(measure, gb.measures.QuadraticForm) and len(measure.terms) == 1
]
XGAP = gb.xGAP(g=(0.217, 0.704, 0.079))


class Ranked(NamedTuple):
    """One list in order of rank, with the tables of a measure, and room for its numbered grades."""

    grades: Any
    s: Any
    pair: Any
    own: Any
    discount: Any
    codes: Any
    code_of: Any
    grade_of: Any


def ranked(measure, grades, s=None):
    n, n_grades = len(grades), (measure.n_grades or 4) + 1
    base = RecallBase.of_whole_grades(np.bincount(grades, minlength=n_grades)[None])
    (pair,), (own,) = measure.tables(base)
    room = padded(n) + LANES
    s = np.concatenate((np.zeros(n) if s is None else s, np.zeros(room - n)))
    codes, code_of, grade_of = (
        np.zeros(room, np.uint8),
        np.zeros(n_grades, np.int64),
        np.zeros(n_grades, np.uint8),
    )
    return Ranked(
        np.asarray(grades, np.int32),
        s,
        pair,
        own,
        measure.discounts(base, np.array([n]))[0],
        codes,
        code_of,
        grade_of,
    )


@kernel
def form_of(ranked, deep, memory):
    n, n_grades = len(ranked.grades), len(ranked.own)
    size = number_grades(
        n, pointer(ranked.grades), n_grades, pointer(ranked.code_of), pointer(ranked.grade_of)
    )
    for r in range(n):
        ranked.codes[r] = ranked.code_of[ranked.grades[r]]
    return make_form(
        pointer(ranked.pair), pointer(ranked.own), n_grades, pointer(ranked.grade_of), size,
        memory.form, pointer(ranked.discount), deep,
    )  # fmt: skip


@kernel
def write_swaps(ranked, arrays):
    memory = pointers(arrays)
    form = form_of(ranked, len(ranked.grades), memory)
    set_zero(2 * form.width, memory.prefixes)
    n, codes = len(ranked.grades), pointer(ranked.codes)
    fill_swaps(n, codes, form.discount, form, memory.prefixes, memory.upper, memory.lower)
    return form.size


@kernel
def by_pairs(ranked, deep, arrays, lam, eta):
    memory = pointers(arrays)
    n, codes = len(ranked.grades), pointer(ranked.codes)
    form = form_of(ranked, deep, memory)
    set_zero(2 * form.width, memory.prefixes)
    fill_swaps(n, codes, form.discount, form, memory.prefixes, memory.upper, memory.lower)
    sum_pairs(n, pointer(ranked.s), codes, form, memory, pointer(lam), pointer(eta))


@kernel
def by_moments(ranked, deep, receive, arrays, lam, eta):
    memory = pointers(arrays)
    n, codes = len(ranked.grades), pointer(ranked.codes)
    form = form_of(ranked, deep, memory)
    set_zero(2 * form.width, memory.prefixes)
    set_zero(LENGTH * form.width, memory.above)
    set_zero(LENGTH * form.width, memory.below)
    return sum_moments(
        n, receive, pointer(ranked.s), codes, form, memory, pointer(lam), pointer(eta)
    )


def memory_for(ranked):
    n = len(ranked.grades)
    return list_memory(n, n, len(ranked.own))


def swaps(ranked):
    """upper, lower by document and numbered grade, and the numbered grades."""
    memory, n = memory_for(ranked), len(ranked.grades)
    size = write_swaps(ranked, memory)
    width = padded(size)
    upper, lower = (
        table[: n * width].reshape(n, width)[:, :size] for table in (memory.upper, memory.lower)
    )
    return upper, lower, ranked.codes[:n].astype(int)


lists_of_grades = st.lists(st.integers(0, 3), min_size=1, max_size=30)


@settings(max_examples=50 if config.DISABLE_JIT else 200)
@given(lists_of_grades, st.sampled_from(FORMS))
def test_what_is_known_at_both_ranks_makes_the_signed_change_of_a_swap(grades, measure):
    upper, lower, codes = swaps(ranked(measure, grades))
    signed = np.sign(codes[:, None] - codes) * measure.swap_changes(grades)
    n = len(grades)
    for p, q in zip(*np.triu_indices(n, 1), strict=True):
        assert upper[p, codes[q]] + lower[q, codes[p]] == pytest.approx(signed[p, q], abs=1e-12 * n)


def test_swaps_of_many_grades():
    """More than a vector holds, of which some occur."""
    measure = gb.nDCG(gains=tuple(np.linspace(0.0, 1.0, 31)))
    grades = np.random.default_rng(0).choice([0, 3, 4, 7, 8, 9, 15, 16, 20, 21, 30], 60)
    (pair,), (own,) = measure.tables(
        RecallBase.of_whole_grades(np.bincount(grades, minlength=31)[None])
    )
    many = ranked(gb.AP(), np.zeros(60, int))._replace(
        grades=grades.astype(np.int32), pair=pair, own=own, discount=measure.discount(60),
        code_of=np.zeros(31, np.int64), grade_of=np.zeros(31, np.uint8),
    )  # fmt: skip
    upper, lower, codes = swaps(many)
    assert_array_equal(many.grade_of[codes], grades)
    found = np.triu(upper[:, codes] + lower[:, codes].T, 1)
    signed = np.sign(codes[:, None] - codes) * measure.swap_changes(grades)
    assert_allclose(found, np.triu(signed, 1), rtol=0, atol=1e-12)


U = np.linspace(0.0, 1.0, 100_001)


@pytest.mark.parametrize(
    ("coefficients", "function", "errors"),
    [
        (LOGISTIC, lambda u: 1 / (1 + u), {16: 1.2e-12, 14: 4e-11, 12: 1e-9}),
        (SLOPE, lambda u: 1 / (1 + u) ** 2, {16: 1.4e-11, 14: 4e-10, 12: 1e-8}),
    ],
    ids=["t / u", "t (1 - t) / u"],
)
def test_the_polynomials_are_as_exact_as_they_say(coefficients, function, errors):
    assert len(coefficients) == TERMS

    def largest_error(polynomial):
        return np.abs(polynomial(U) - function(U)).max()

    assert largest_error(np.polynomial.Polynomial(coefficients)) == pytest.approx(
        errors[16], rel=0.1
    )
    for terms, error in errors.items():
        interpolated = np.polynomial.Chebyshev.interpolate(function, terms - 1, domain=[0, 1])
        assert largest_error(interpolated) == pytest.approx(error, rel=0.35)


@kernel
def fill_exponentials(s, fall, rise, jump, n):
    return exponentials(n, pointer(s), pointer(fall), pointer(rise), pointer(jump))


@settings(max_examples=50 if config.DISABLE_JIT else 200)
@given(
    st.lists(st.floats(0, 1), max_size=60),
    st.sampled_from([0.0, 1e-300, 1.0, 29.9, 60.0, 700.0, 5e3, 1e300]),
)
def test_exponentials_relative_to_anchors(steps, spread):
    s = -spread * np.cumsum([0.0, *steps]) / max(len(steps), 1)
    n = len(s)
    fall, rise, jump = np.empty((3, padded(n) + LANES))
    last = fill_exponentials(np.append(s, np.zeros(LANES)), fall, rise, jump, n)
    first = np.flatnonzero(jump[:n] < 1.0)
    assert 0 not in first
    stretches = np.searchsorted(first, np.arange(n), side="right")
    anchors = s[np.concatenate(([0], first)).astype(int)]
    anchor = anchors[stretches]
    assert last == anchors[-1]
    assert (anchor - s <= STRETCH).all()
    # a new anchor only where the old one does not reach
    assert (anchors[:-1] - anchors[1:] > STRETCH).all()
    assert_allclose(fall[:n], np.exp(s - anchor), rtol=1e-14)
    assert_allclose(fall[:n] * rise[:n], 1.0, rtol=1e-14)
    assert_allclose(jump[first], np.exp(anchors[1:] - anchors[:-1]), rtol=1e-12, atol=1e-300)


def direct(measure, grades, s, deep):
    """lam and eta by the double sum over pairs."""
    lam, eta = np.zeros((2, len(grades)))
    change = measure.swap_changes(grades)
    for p in range(min(deep, len(grades))):
        for q in range(p + 1, len(grades)):
            t = 1.0 / (1.0 + np.exp(min(s[p] - s[q], 700.0)))
            if grades[p] > grades[q]:
                push, curve = change[p, q] * t, change[p, q] * t * (1.0 - t)
            else:
                push, curve = change[p, q] * (1.0 - t), -change[p, q] * t * (1.0 - t)
            lam[p] += push
            lam[q] -= push
            eta[p] -= curve
            eta[q] -= curve
    return lam, eta


@st.composite
def some_lists(draw):
    grades = draw(
        st.lists(st.integers(0, 3), min_size=2, max_size=25).filter(
            lambda grades: len(set(grades)) > 1
        )
    )
    gaps = draw(
        st.lists(st.floats(0, 1) | st.just(0.0), min_size=len(grades), max_size=len(grades))
    )
    s = -np.cumsum(gaps) * draw(st.sampled_from([0.0, 1e-3, 0.3, 5.0, 100.0]))
    return grades, s, draw(st.integers(0, len(grades)))


@pytest.mark.slow
@settings(max_examples=50 if config.DISABLE_JIT else 200)
@given(some_lists(), st.sampled_from(FORMS))
def test_both_ways_of_summing_equal_the_double_sum(some, measure):
    grades, s, deep = some
    expected = direct(measure, grades, s, deep)
    here = ranked(measure, grades, s)
    for add, tolerance in (
        (lambda *out: by_pairs(here, deep, memory_for(here), *out), 1e-13),
        (lambda *out: by_moments(here, deep, True, memory_for(here), *out), 1e-10),
    ):
        found = np.zeros((2, padded(len(grades)) + LANES))
        add(*found)
        assert_allclose(found[:, : len(grades)], expected, rtol=0, atol=tolerance * len(grades))


def sets(of, width, size):
    """plain, weighted by grade and power, count and constant by grade."""
    cuts = np.cumsum([TERMS * width, TERMS * width, width])
    plain, weighted, count, constant = np.split(of[: LENGTH * width], cuts)
    return (
        plain[: TERMS * size].reshape(size, -1),
        weighted[: TERMS * size].reshape(size, -1),
        count[:size],
        constant[:size],
    )


@pytest.mark.parametrize("spread", [0.0, 10.0, 200.0], ids=["tied", "one anchor", "many anchors"])
@pytest.mark.parametrize("receive", [False, True], ids=["collected", "summed"])
def test_moments_that_leave_a_list_are_what_they_say(spread, receive):
    rng = np.random.default_rng(4)
    n, deep = BLOCK + 20, BLOCK + 3
    grades, s = rng.integers(0, 4, n), -np.sort(rng.random(n)) * spread
    here = ranked(XGAP, grades, s)
    upper, lower, codes = swaps(here)
    memory = memory_for(here)
    last = by_moments(here, deep, receive, memory, *np.zeros((2, padded(n) + LANES)))
    size, k = upper.shape[1], np.arange(1, TERMS + 1)
    one = (codes[:, None] == np.arange(size)).astype(float)
    higher, lower_grade = np.arange(size) > codes[:, None], np.arange(size) < codes[:, None]
    # What leaves, weights of the documents that gave, their tables, where the factor is t - 1.
    ways = [
        (
            memory.above,
            np.exp((last - s[:, None]) * k) * (np.arange(n) < deep)[:, None],
            upper,
            higher,
            deep,
        ),
        (memory.below, np.exp((s[:, None] - s[0]) * k), lower, lower_grade, n),
    ]
    for found, w, table, turned, giving in ways:
        plain, weighted, count, constant = sets(found, padded(size), size)
        assert_allclose(plain, one.T @ w, rtol=1e-10, atol=1e-300)
        assert_allclose(weighted, table.T @ w, rtol=1e-10, atol=1e-12)
        assert_array_equal(count, one[:giving].sum(axis=0))
        assert_allclose(constant, -(table * turned)[:giving].sum(axis=0), rtol=0, atol=1e-12)


@kernel
def move(width, size, factor, moments):
    scale_moments(width, size, factor, moments_at(pointer(moments), width))


def test_moments_move_to_another_anchor():
    size, width = 3, 8
    before = np.random.default_rng(5).random(LENGTH * width)
    after = before.copy()
    move(width, size, 0.25, after)
    factor = 0.25 ** np.arange(1, TERMS + 1)
    for found, was, by in zip(
        sets(after, width, size), sets(before, width, size), (factor, factor, 1, 1), strict=True
    ):
        assert_allclose(found, was * by, rtol=1e-14)
