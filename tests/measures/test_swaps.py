"""Changes by a swap are the value after it minus the value before."""

import itertools

import numpy as np
import oracle
import pytest
from rankings import MEASURES, TOP, random_grades, some_measures

import gapboost as gb


def lists(seed, how_many, longest=12):
    """Random lists with the grade counts of their query, some documents missing from the list."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        ranked = random_grades(rng, longest)
        listed = np.bincount(ranked, minlength=TOP + 1)
        yield ranked, listed + rng.integers(0, 3, size=TOP + 1) * rng.integers(0, 2)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("part", range(8))
def test_swap_change_is_value_after_minus_before(part):
    """Each measure, pair of ranks and missing documents: the oracle swaps and evaluates again."""
    changed = 0
    for measure, at in some_measures(part, 8).items():
        for ranked, counts in lists(100 + part, 12, longest=9):
            changes = measure.swap_changes(ranked, counts)
            expected = np.zeros((len(ranked), len(ranked)))
            for p, q in itertools.combinations(range(len(ranked)), 2):
                change = oracle.swap_change(at, ranked.tolist(), p + 1, q + 1, counts)
                expected[p, q] = expected[q, p] = change
            np.testing.assert_allclose(changes, expected, rtol=5e-13, atol=5e-13)
            changed += np.count_nonzero(np.abs(changes) > 1e-9)
    assert changed > 700


FRACTIONS = [gb.GAP(g=(0.2, 0.5, 0.3)), gb.xGAP(g=(0.2, 0.5, 0.3)), gb.ERR(top=3), gb.nDCG(k=5)]


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("measure", [m for m in MEASURES if m.k in (None, 3)], ids=str)
def test_swap_change_of_a_longer_list_is_what_evaluate_says(measure):
    rng = np.random.default_rng(7)
    ranked = rng.integers(0, TOP + 1, size=40)
    check_swaps(measure, ranked)
    if measure in FRACTIONS:
        check_swaps(measure, ranked / 2)


@pytest.mark.parametrize("measure", FRACTIONS, ids=str)
def test_swap_changes_of_fractional_grades(measure):
    check_swaps(measure, np.random.default_rng(8).integers(0, 25, size=30) / 8)


def check_swaps(measure, ranked):
    n = len(ranked)
    first, second = np.triu_indices(n, 1)
    swapped = np.tile(ranked, (len(first), 1))
    pairs = np.arange(len(first))
    swapped[pairs, first], swapped[pairs, second] = ranked[second], ranked[first]
    scores, qid = np.tile(-np.arange(n), len(first)), np.repeat(pairs, n)
    after = gb.evaluate(measure, swapped.ravel(), scores, qid, per_query=True)[measure]
    before = gb.evaluate(measure, ranked, -np.arange(n))[measure]
    changes = measure.swap_changes(ranked)
    np.testing.assert_allclose(changes[first, second], after - before, rtol=5e-13, atol=5e-13)
    assert np.array_equal(changes, changes.T)
    assert not changes[ranked[:, None] == ranked].any()


def test_open_parameters_come_from_the_list():
    found = gb.GAP().swap_changes([0, 1, 3])
    assert np.array_equal(found, gb.GAP((0.5, 0, 0.5)).swap_changes([0, 1, 3]))
    assert not gb.xGAP().swap_changes([0, 0]).any()
    assert not gb.eGAP().swap_changes([2]).any()


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("part", range(4))
def test_monotone_measures_never_fall_when_a_higher_grade_moves_up(part):
    for measure in [m for m in MEASURES if m.monotone][part::4]:
        for ranked, counts in lists(200 + part, 15, longest=25):
            order = np.sign(ranked[None, :] - ranked[:, None])
            assert np.triu(measure.swap_changes(ranked, counts) * order).min() >= -1e-12


@pytest.mark.parametrize(
    ("measure", "ranked", "p", "q"),
    [
        (gb.xGAP(g=(0.217, 0.704, 0.079)), [1, 2, 0, 3, 2], 3, 4),
        (gb.KendallTau(k=2), [2, 3, 0], 1, 2),
    ],
    ids=str,
)
def test_measures_that_are_not_monotone_can_fall(measure, ranked, p, q):
    """A swap that moves the lower grade up raises the value."""
    assert not measure.monotone
    assert ranked[p] > ranked[q]
    assert measure.swap_changes(ranked)[p, q] > 1e-6


def test_q_measure_can_fall_when_a_higher_grade_moves_up():
    assert gb.QMeasure().swap_changes([1, 3, 0])[0, 2] > 0
    assert not gb.QMeasure().monotone
