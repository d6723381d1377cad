"""Measures as values, their limits, and the change by a swap.

Identities between measures are tested for the oracle, which they equal.
"""

import dataclasses
import itertools
import pickle

import numpy as np
import oracle
import pytest
from rankings import MEASURES, TOP, random_grades, some_measures

import gapboost as gb
from gapboost import (
    AP,
    DCG,
    ERR,
    GAP,
    INSQ,
    RBP,
    RR,
    KendallTau,
    PairwiseAccuracy,
    Precision,
    QMeasure,
    Recall,
    RPrecision,
    SpearmanRho,
    WeightedSum,
    eGAP,
    evaluate,
    nDCG,
    xGAP,
)
from gapboost.measures import MEASURES_BY_NAME, RecallBase, as_measure

GRADED = (GAP, xGAP, eGAP)


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def value(measure, ranked, counts=None):
    """The measure of one list without ties."""
    recall_base = None if counts is None else [counts]
    return evaluate(measure, ranked, -np.arange(len(ranked)), recall_base=recall_base)[measure]


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "printed"),
    [
        (GAP(g=(0.5, 0.5)), "GAP(g=(0.5, 0.5))"),
        (GAP(), "GAP()"),
        (GAP(g=[1]), "GAP(g=(1.0,))"),
        (xGAP(k=7, g=(0, 1)), "xGAP(g=(0.0, 1.0), k=7)"),
        (eGAP(g=np.array([0.25, 0.75]), k=np.int64(3)), "eGAP(g=(0.25, 0.75), k=3)"),
        (AP(), "AP(rel=1)"),
        (AP(rel=np.int32(2), k=5), "AP(rel=2, k=5)"),
        (nDCG(k=10), "nDCG(k=10)"),
        (nDCG(), "nDCG()"),
        (nDCG(gains=[0, 1, 3]), "nDCG(gains=(0.0, 1.0, 3.0))"),
        (Precision(), "Precision(k=10)"),
        (Precision(k=5, rel=2), "Precision(rel=2, k=5)"),
        (DCG(gains="exponential"), "DCG()"),
        (
            nDCG(gains="linear", discount_by=np.int64(2), k=5),
            "nDCG(gains='linear', discount_by=2.0, k=5)",
        ),
        (nDCG(short_is_zero=np.True_, k=3), "nDCG(short_is_zero=True, k=3)"),
        (RBP(), "RBP(p=0.8)"),
        (RBP(p=0.5, gains=[0, 1], k=7), "RBP(p=0.5, gains=(0.0, 1.0), k=7)"),
        (INSQ(), "INSQ(t=1.0)"),
        (INSQ(t=2, gains=[0, 1], k=7), "INSQ(t=2.0, gains=(0.0, 1.0), k=7)"),
        (SpearmanRho(k=5), "SpearmanRho(k=5)"),
        (Recall(), "Recall(k=10)"),
        (RPrecision(rel=2), "RPrecision(rel=2)"),
        (KendallTau(), "KendallTau()"),
        (PairwiseAccuracy(k=5), "PairwiseAccuracy(k=5)"),
        (QMeasure(beta=10), "QMeasure(beta=10.0)"),
        (QMeasure(gains="exponential"), "QMeasure(gains='exponential')"),
        (RR(k=10), "RR(k=10)"),
        (ERR(top=4), "ERR(top=4)"),
        (0.7 * GAP() + AP() * np.float64(0.3), "0.7 * GAP() + 0.3 * AP(rel=1)"),
        (2 * (AP() + 0.5 * nDCG(k=3)) + AP(), "3.0 * AP(rel=1) + 1.0 * nDCG(k=3)"),
    ],
    ids=str,
)
def test_prints_as_it_is_written(measure, printed):
    assert repr(measure) == str(measure) == printed
    assert eval(printed, vars(gb)) == measure


EVERY = [*MEASURES, GAP(), xGAP(), eGAP(k=2)]


def test_values_are_frozen_hashable_and_picklable():
    assert len(set(EVERY)) == len(EVERY)
    for measure in EVERY:
        for copy in (
            eval(repr(measure), vars(gb)),
            pickle.loads(pickle.dumps(measure)),
            dataclasses.replace(measure),
        ):
            assert copy == measure
            assert hash(copy) == hash(measure)
            assert repr(copy) == repr(measure)
        with pytest.raises(dataclasses.FrozenInstanceError):
            measure.k = 3


@pytest.mark.parametrize("kind", GRADED)
def test_g_is_any_sequence_of_numbers(kind):
    g = (0.25, 0.75)
    for same in (list(g), np.array(g), np.array(g, dtype=np.float32), iter(g)):
        assert kind(g=same) == kind(g=g) == kind(g)
        assert hash(kind(g)) == hash(kind(list(g)))
    assert all(type(x) is float for x in kind(g=np.array(g)).g)
    assert kind(g=np.full(3, 1 / 3, dtype=np.float32)).n_grades == 3  # off by 3e-8 from sum 1


def test_different_measures_are_different():
    g = (0.5, 0.5)
    assert len({GAP(g), xGAP(g), eGAP(g), GAP(g, k=1), GAP(g, k=2), GAP((0.4, 0.6)), GAP()}) == 7
    assert GAP(g) != xGAP(g)
    assert AP(rel=1, k=3) != Precision(rel=1, k=3)


def test_as_measure():
    assert as_measure("gap", (0.5, 0.5)) == GAP(g=(0.5, 0.5))
    assert as_measure("xgap") == xGAP()
    assert as_measure("egap", [0.2, 0.8]) == eGAP(g=(0.2, 0.8))
    assert as_measure("ap") == AP()
    assert as_measure("ndcg") == nDCG()
    assert as_measure("precision") == Precision(k=10)
    for measure in EVERY:
        assert as_measure(measure) is measure
        assert type(measure) is WeightedSum or type(measure) is MEASURES_BY_NAME[measure.short_name]


def test_err_of_the_grades_that_occur():
    assert ERR(k=4).resolved(np.array([0, 1, 3])) == ERR(top=3, k=4)
    assert ERR().resolved(np.array([0])) == ERR(top=1)
    assert ERR(top=5).resolved(np.array([0, 1])) == ERR(top=5)


def test_q_measure_and_cut_kendall_tau_can_fall_when_a_higher_grade_moves_up():
    assert value(QMeasure(), [1, 3, 0]) < value(QMeasure(), [0, 3, 1])
    assert value(KendallTau(k=2), [2, 3, 0]) < value(KendallTau(k=2), [2, 0, 3])
    assert not QMeasure().monotone
    assert not KendallTau(k=2).monotone
    assert KendallTau().monotone


def test_g_of_the_grades_that_occur():
    assert GAP(k=4).resolved(np.array([0, 1, 3])) == GAP(g=(0.5, 0.0, 0.5), k=4)
    assert eGAP().resolved(np.array([2])) == eGAP(g=(0.0, 1.0))
    assert GAP(g=(0.1, 0.9)).resolved(np.array([0, 1])) == GAP(g=(0.1, 0.9))
    assert nDCG(k=3).resolved(np.array([0, 5])) == nDCG(k=3)


# --- the tables of a query ------------------------------------------------------------------------


WITH_TABLES = [m for m in EVERY if isinstance(m, gb.measures.QuadraticForm) and len(m.terms) == 1]


@pytest.mark.parametrize("measure", WITH_TABLES, ids=str)
def test_tables(measure):
    """Shapes, dtypes and zeros that the kernels count on; every query by itself."""
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, size=(40, TOP + 1))
    counts[0] = (3, 0, 0, 0)
    base = RecallBase.of_whole_grades(counts)
    measure = measure.resolved(np.arange(TOP + 1))
    pair, own = measure.tables(base)
    assert (pair.shape, own.shape) == ((40, TOP + 1, TOP + 1), (40, TOP + 1))
    for array in (pair, own):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        assert np.isfinite(array).all()
        assert type(measure) in (KendallTau, SpearmanRho) or (array >= 0).all()
    if measure != nDCG(gains=(0.5, 1, 1, 4), k=measure.k):  # by this one, grade 0 is relevant
        assert pair[0, 0, 0] == own[0, 0] == 0
    for q in (1, 17):
        alone = measure.tables(base[q : q + 1])
        assert np.array_equal(alone[0][0], pair[q])
        assert np.array_equal(alone[1][0], own[q])
    weights, begins = measure.discounts(base[1:2], np.array([30]))
    discount = weights[begins[0] :][:30]
    assert discount.dtype == np.float64
    assert np.count_nonzero(discount) <= measure.depth(30) == min(30, measure.k or 30)
    assert np.count_nonzero(discount) == measure.depth(30) or type(measure) is RPrecision
    assert (np.diff(discount) <= 0).all()


# --- limits ---------------------------------------------------------------------------------------


def lists(seed, how_many, longest=12):
    """Random lists with the grade counts of their query, some documents missing from the list."""
    rng = np.random.default_rng(seed)
    for _ in range(how_many):
        ranked = random_grades(rng, longest)
        listed = np.bincount(ranked, minlength=TOP + 1)
        yield ranked, listed + rng.integers(0, 3, size=TOP + 1) * rng.integers(0, 2)


@pytest.mark.parametrize("g2", [0.1, 0.5, 0.9])
def test_many_documents_of_grade_one_above_one_of_grade_two(g2):
    g1 = 1 - g2
    n = 100_000
    ranked = [1] * n + [2]
    assert value(GAP((g1, g2)), ranked) == close(1, 10 / n)
    assert value(xGAP((g1, g2)), ranked) == close(1 - g2**2, 2 / n)
    assert value(eGAP((g1, g2)), ranked) == close(1 - g2, 2 / n)


@pytest.mark.slow(keep=50)
@pytest.mark.parametrize(
    "measure", [m for m in EVERY if type(m) is not nDCG or m.gains is None], ids=str
)
def test_nothing_relevant_is_worth_nothing(measure):
    assert value(measure, [0, 0, 0]) == 0
    assert value(measure, [0], counts=(1, 2, 0, 1)) == 0  # nothing relevant was found
    if type(measure) in GRADED and measure.g is not None and measure.g[0] == 0:
        assert value(measure, [1, 0, 1]) == 0  # nobody is satisfied with what there is


# --- swaps ----------------------------------------------------------------------------------------


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
                expected[p, q] = expected[q, p] = oracle.swap_change(
                    at, ranked.tolist(), p + 1, q + 1, counts
                )
            np.testing.assert_allclose(changes, expected, rtol=5e-13, atol=5e-13)
            changed += np.count_nonzero(np.abs(changes) > 1e-9)
    assert changed > 700


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("measure", [m for m in MEASURES if m.k in (None, 3)], ids=str)
def test_swap_change_of_a_longer_list_is_what_evaluate_says(measure):
    rng = np.random.default_rng(7)
    ranked = rng.integers(0, TOP + 1, size=40)
    first, second = np.triu_indices(40, 1)
    swapped = np.tile(ranked, (len(first), 1))
    pairs = np.arange(len(first))
    swapped[pairs, first], swapped[pairs, second] = ranked[second], ranked[first]
    scores = np.tile(-np.arange(40), len(first))
    after = evaluate(measure, swapped.ravel(), scores, np.repeat(pairs, 40), per_query=True)[
        measure
    ]
    changes = measure.swap_changes(ranked)
    np.testing.assert_allclose(
        changes[first, second], after - value(measure, ranked), rtol=5e-13, atol=5e-13
    )
    assert np.array_equal(changes, changes.T)
    assert not changes[ranked[:, None] == ranked].any()


def test_swap_change_without_a_recall_base_or_a_g():
    assert AP().swap_changes([0, 1, 0]) == close(
        np.array([[0, 1 / 2, 0], [1 / 2, 0, -1 / 6], [0, -1 / 6, 0]])
    )
    assert np.array_equal(GAP().swap_changes([0, 1, 3]), GAP((0.5, 0, 0.5)).swap_changes([0, 1, 3]))
    assert not xGAP().swap_changes([0, 0]).any()
    assert not eGAP().swap_changes([2]).any()


MONOTONE = [m for m in MEASURES if m.monotone]


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("part", range(4))
def test_monotone_measures_never_fall_when_a_higher_grade_moves_up(part):
    for measure in MONOTONE[part::4]:
        for ranked, counts in lists(200 + part, 15, longest=25):
            gain = np.triu(
                measure.swap_changes(ranked, counts) * np.sign(ranked[None, :] - ranked[:, None])
            )
            assert gain.min() >= -1e-12


def test_xgap_can_fall_when_a_higher_grade_moves_up():
    g, ranked = (0.217, 0.704, 0.079), [1, 2, 0, 3, 2]  # ranks 4 and 5: the higher grade is above
    assert xGAP(g).swap_changes(ranked)[3, 4] > 1e-6
    assert value(xGAP(g), [1, 2, 0, 2, 3]) - value(xGAP(g), ranked) == close(
        xGAP(g).swap_changes(ranked)[3, 4]
    )
    assert GAP(g).swap_changes(ranked)[3, 4] < 0
    assert eGAP(g).swap_changes(ranked)[3, 4] < 0
