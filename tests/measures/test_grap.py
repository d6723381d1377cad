"""grAP and GAP, two measures by almost the same name."""

import numpy as np
import pytest

import gapboost as gb

GAP, GRAP = gb.GAP(g=(0.5, 0.5)), gb.grAP(gains=(0, 0.5, 1))


def test_they_disagree_about_these_rankings():
    """Check the example of docs/measures.md."""
    first, second = (
        gb.evaluate([GAP, GRAP], ranking, [4, 3, 2, 1]) for ranking in ((0, 2, 0, 1), (1, 0, 0, 2))
    )
    assert (round(first[GAP], 3), round(second[GAP], 3)) == (0.5, 0.583)
    assert (round(first[GRAP], 3), round(second[GRAP], 3)) == (0.458, 0.417)


def test_with_binary_gains_it_is_average_precision():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 40), rng.normal(size=40)
    assert gb.evaluate(gb.grAP(gains=(0, 1, 1)), y, scores)[
        gb.grAP(gains=(0, 1, 1))
    ] == pytest.approx(gb.evaluate(gb.AP(), y, scores)[gb.AP()], rel=1e-14)


def test_gains_that_are_left_open_are_the_grades_over_the_highest():
    assert (
        gb.evaluate("grap", [1, 2, 0], [3, 2, 1])[gb.grAP()]
        == gb.evaluate(GRAP, [1, 2, 0], [3, 2, 1])[GRAP]
    )


@pytest.mark.parametrize("gains", ["linear", (0, 2), (1, 0.5), 3])
def test_gains_from_0_to_1_are_wanted(gains):
    with pytest.raises(ValueError, match=r"gains is .*; expected"):
        gb.grAP(gains=gains)


def test_a_cascade_of_a_long_list_wants_a_truncation():
    y = np.arange(20_000) % 3
    with pytest.raises(
        ValueError,
        match=r"20000 documents, of which .* visits every pair; expected at most .*truncation",
    ):
        gb.LambdaRank(gb.ERR(top=2)).gradients(y, np.zeros(len(y)))
    grad, hess = gb.LambdaRank(gb.ERR(top=2), truncation=100).gradients(y, np.zeros(len(y)))
    assert np.isfinite(grad).all()
    assert (hess > 0).all()
