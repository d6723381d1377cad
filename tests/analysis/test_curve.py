"""The graded precision-recall curve."""

import numpy as np
import pytest

import gapboost as gb
from gapboost.analysis import mean_curve, precision_recall

G = (0.2, 0.5, 0.3)
MEASURES = [
    gb.GAP(g=G),
    gb.xGAP(g=G),
    gb.eGAP(g=G),
    gb.GAP(g=(0.0, 1.0, 0.0), k=4),
    gb.AP(rel=2),
    gb.nDCG(k=6),
    gb.Precision(k=5),
    gb.DCG(k=6),
    gb.RBP(p=0.7),
    gb.Recall(k=5),
    0.7 * gb.GAP(g=G) + 0.3 * gb.AP(),
]


def random_list(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 25)
    grades = rng.integers(0, 4, size=n)
    return (
        grades,
        rng.integers(0, 8, size=n),
        np.bincount(grades, minlength=4) + rng.integers(0, 4, size=4),
    )


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("ties", ["expected", "row"])
def test_area_is_the_measure(measure, ties):
    for seed in range(10):
        grades, scores, base = random_list(seed)
        for recall_base in (None, base):
            curve = precision_recall(measure, grades, scores, recall_base=recall_base, ties=ties)
            whole = None if recall_base is None else [recall_base]
            value = gb.evaluate(measure, grades, scores, recall_base=whole, ties=ties)[measure]
            assert curve.area == pytest.approx(value, abs=1e-12)


def test_graded_recall_and_precision_as_the_paper_defines_them():
    cumulative = np.concatenate([[0], np.cumsum(G)])
    for seed in range(20):
        grades, _, base = random_list(seed)
        curve = precision_recall(gb.GAP(g=G), grades, -np.arange(len(grades)), recall_base=base)
        relevant = [n for n, grade in enumerate(grades) if grade > 0]
        recall = [sum(cumulative[grades[: n + 1]]) / (base @ cumulative) for n in relevant]
        precision = [
            sum(cumulative[np.minimum(grades[: n + 1], grades[n])])
            / cumulative[grades[n]]
            / (n + 1)
            for n in relevant
        ]
        assert curve.rank.tolist() == [n + 1 for n in relevant]
        np.testing.assert_allclose(curve.recall, recall, atol=1e-12)
        np.testing.assert_allclose(curve.precision, precision, atol=1e-12)


def test_the_mean_of_curves():
    curve = precision_recall(gb.AP(), [1, 0, 1], [3, 2, 1], recall_base=[1, 4])
    assert curve.recall.tolist() == [0.25, 0.5]
    assert mean_curve([curve], levels=10).precision.tolist() == [1] * 2 + [2 / 3] * 3 + [0] * 5
    other = precision_recall(gb.AP(), [1], [1])
    mean = mean_curve([curve, other], levels=4)
    assert mean.precision.tolist() == [1, (2 / 3 + 1) / 2, 0.5, 0.5]
    # levels that each curve's steps share: the area of the mean is the mean of the areas
    assert mean.area == pytest.approx((curve.area + other.area) / 2)


def test_open_thresholds_and_lists_without_relevant_documents():
    assert precision_recall(gb.GAP(), [2, 0, 1], [3, 2, 1]).measure == gb.GAP(g=(0.5, 0.5))
    empty = precision_recall(gb.AP(), [0, 0], [1, 2])
    assert empty.area == 0
    assert mean_curve([empty], levels=2).precision.tolist() == [0, 0]


NO_RECALL = [
    gb.PairwiseAccuracy(k=2),
    "kendalltau",
    "rr",
    0.5 * gb.KendallTau() + 0.5 * gb.PairwiseAccuracy(),
    0.5 * gb.AP() + 0.5 * gb.nDCG(),
    0.5 * gb.KendallTau() + 0.5 * gb.AP(),
]


@pytest.mark.parametrize("measure", NO_RECALL, ids=str)
@pytest.mark.parametrize("y_true", [[0, 1, 2], [2, 1, 0], [0, 0, 0]], ids=str)
def test_measures_without_a_recall_are_refused_not_drawn_empty(measure, y_true):
    with pytest.raises(ValueError, match=r"measure is .*; expected "):
        precision_recall(measure, y_true, [3, 2, 1])
