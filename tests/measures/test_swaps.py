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


@pytest.mark.parametrize("measure", [gb.xGAP(g=(0.2, 0.5, 0.3)), gb.ERR(top=3)], ids=str)
def test_swap_changes_of_fractional_grades(measure):
    ranked = np.random.default_rng(8).integers(0, 25, size=30) / 8
    changes = measure.swap_changes(ranked)
    swapped = ranked.copy()
    swapped[[4, 17]] = ranked[[17, 4]]
    before, after = (gb.evaluate(measure, y, -np.arange(30))[measure] for y in (ranked, swapped))
    assert changes[4, 17] == changes[17, 4] == pytest.approx(after - before, rel=1e-12)
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
