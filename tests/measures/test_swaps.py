"""Which measures can fall when a higher grade moves up."""

import numpy as np
import pytest
from pair_sum import swap_changes
from rankings import MEASURES, TOP, random_grades

import gapboost as gb


def lists(seed, how_many, longest=12):
    """Random lists with the grade counts of their query, some documents missing from the list."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        ranked = random_grades(rng, longest)
        listed = np.bincount(ranked, minlength=TOP + 1)
        yield ranked, listed + rng.integers(0, 3, size=TOP + 1) * rng.integers(0, 2)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_monotone_measures_never_fall_when_a_higher_grade_moves_up(part):
    for measure in [m for m in MEASURES if m.monotone][part::4]:
        for ranked, counts in lists(200 + part, 15, longest=25):
            order = np.sign(ranked[None, :] - ranked[:, None])
            assert np.triu(swap_changes(measure, ranked, counts) * order).min() >= -1e-12


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
    assert swap_changes(measure, ranked)[p, q] > 1e-6
