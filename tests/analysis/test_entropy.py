"""The maximum-entropy distribution, and the informativeness that rests on it."""

import itertools
from functools import partial

import numpy as np
import oracle
import pytest
from sklearn.exceptions import ConvergenceWarning

import gapboost as gb
from gapboost.analysis import (
    RankedList,
    expected_value,
    informativeness,
    maximum_entropy,
    most_informative_g,
    ranked_lists,
    threshold_sweep,
)
from gapboost.analysis.entropy import Problem
from gapboost.analysis.informativeness import precision_errors
from gapboost.model_selection import simplex_grid

G = (0.4, 0.6)
MEASURES = {
    gb.GAP(g=G): partial(oracle.gap, g=G),
    gb.GAP(g=G, k=3): partial(oracle.gap, g=G, k=3),
    gb.xGAP(g=G): partial(oracle.xgap, g=G),
    gb.eGAP(g=G): partial(oracle.egap, g=G),
    gb.AP(rel=1): partial(oracle.ap, rel=1),
    gb.AP(rel=2): partial(oracle.ap, rel=2),
    gb.nDCG(): oracle.ndcg,
    gb.nDCG(gains=(0.5, 1, 3), k=4): partial(oracle.ndcg, gains=(0.5, 1, 3), k=4),
    gb.Precision(k=2): partial(oracle.precision, rel=1, k=2),
}


def ranked_by_chance(seed, n, counts, skill=3.0):
    """A list in which relevant documents tend to be above."""
    rng = np.random.default_rng(seed)
    grades = np.repeat(range(len(counts)), counts)
    assert len(grades) == n
    return grades[np.argsort(rng.exponential(size=n) / np.where(grades > 0, 1 + skill * grades, 1))]


def value_of(measure, grades, base=None):
    return gb.evaluate(
        measure, grades, -np.arange(len(grades)), recall_base=None if base is None else [base]
    )[measure]


# --- expected value -------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_expected_value_is_the_mean_over_all_lists(measure):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), size=5)
    base = [9, 6, 5]
    lists = list(itertools.product(range(3), repeat=5))
    expected = sum(
        np.prod([p[n, i] for n, i in enumerate(grades)]) * MEASURES[measure](grades, counts=base)
        for grades in lists
    )
    assert expected_value(measure, p, base) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_derivative_of_the_expected_value(measure):
    problem = Problem(measure, 6, np.array([9, 6, 5]), np.arange(3))
    p = np.random.default_rng(2).dirichlet(np.ones(3), size=6)
    for n, i in np.ndindex(p.shape):
        up, down = p.copy(), p.copy()
        up[n, i] += 1e-4
        down[n, i] -= 1e-4
        # Exact: the form is quadratic.
        slope = (problem.expected(up) - problem.expected(down)) / 2e-4
        assert problem.derivative(p)[n, i] == pytest.approx(slope, abs=1e-10)


# --- maximum entropy ------------------------------------------------------------------------------

LISTS = [
    (ranked_by_chance(3, 30, [18, 8, 4]), None),
    (ranked_by_chance(4, 30, [18, 8, 4], skill=-0.3), None),
    (ranked_by_chance(5, 40, [25, 10, 5]), [60, 25, 9]),
    (ranked_by_chance(6, 200, [180, 14, 6], skill=20), [300, 20, 11]),
    (ranked_by_chance(7, 12, [0, 8, 4]), None),
    (ranked_by_chance(8, 25, [20, 0, 5]), [20, 4, 6]),
]


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize("number", range(len(LISTS)))
def test_solution_reproduces_value_and_counts_and_is_stationary(measure, number):
    grades, base = LISTS[number]
    counts = np.bincount(grades, minlength=3)
    value = value_of(measure, grades, base)
    solution = maximum_entropy(measure, value, counts, base)
    p = solution.probabilities
    assert solution.converged
    found = expected_value(measure, p, solution.recall_base)
    assert found == pytest.approx(value, abs=1e-6)
    np.testing.assert_allclose(p.sum(axis=0), counts, atol=1e-6)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (p >= 0).all()
    assert solution.residual < 1e-6
    # log p_n(i) - log p_n(j) = mu_ij + lambda (g_n(i) - g_n(j)), with one lambda for all
    i, j = np.flatnonzero(counts)[[-1, 0]]
    if p.min(axis=0)[[i, j]].min() > 1e-9:
        slope = Problem(measure, len(p), solution.recall_base, np.arange(3)).derivative(p)
        regressors = np.column_stack([np.ones(len(p)), slope[:, i] - slope[:, j]])
        logits = np.log(p[:, i] / p[:, j])
        fitted = regressors @ np.linalg.lstsq(regressors, logits, rcond=None)[0]
        np.testing.assert_allclose(logits, fitted, atol=1e-5)


def test_a_perfect_ranking_leaves_nothing_to_chance():
    solution = maximum_entropy(gb.GAP(g=G), 1.0, [5, 3, 2])
    assert solution.converged
    np.testing.assert_allclose(
        solution.probabilities, np.eye(3)[[2, 2, 1, 1, 1, 0, 0, 0, 0, 0]], atol=1e-3
    )


@pytest.mark.parametrize("value", [1.5, -0.2, 0.2])
def test_impossible_values_are_reported(value):
    with pytest.warns(
        ConvergenceWarning, match=r"no maximum-entropy distribution .*GAP.* is missed by"
    ):
        solution = maximum_entropy(gb.GAP(g=G), value, [5, 3, 2])
    assert not solution.converged
    assert solution.residual > 1e-6
    reached = expected_value(gb.GAP(g=G), solution.probabilities, [5, 3, 2])
    assert solution.residual == pytest.approx(abs(reached - value), abs=1e-7)


def test_a_thousand_documents():
    grades = ranked_by_chance(11, 1000, [960, 30, 10], skill=30)
    for measure in (gb.GAP(g=(0.5, 0.5)), gb.eGAP(g=(0.1, 0.9)), gb.nDCG()):
        solution = maximum_entropy(measure, value_of(measure, grades), np.bincount(grades))
        assert solution.converged
        assert solution.iterations < 100


# --- informativeness ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lists():
    return [
        RankedList(
            seed,
            ranked_by_chance(seed, 40, [30, 6, 4], skill=2).astype(np.int32),
            np.array([50, 9, 5]),
        )
        for seed in range(6)
    ]


GRADES = np.array([2, 1, 0, 0, 1])


@pytest.mark.parametrize(
    ("relevance", "inferred"),
    [
        ([1, 1, 0.5, 0.5, 0], [1, 1, 3 / 4]),
        # the second of three: halfway between recall 1.75 at rank 2 and 2.25 at rank 3
        ([1, 0.75, 0.5, 0.75, 0], [1, (1.75 / 2 + 2.25 / 3) / 2, 3 / 4]),
    ],
)
def test_errors_of_the_inferred_curve_by_hand(relevance, inferred):
    found = precision_errors(np.column_stack([1 - np.array(relevance), relevance]), GRADES, 1)
    np.testing.assert_allclose(found, np.subtract(inferred, [1, 1, 3 / 5]), atol=1e-4)


def test_open_g_is_uniform_over_the_grades(lists):
    found = informativeness("gap", lists, minimum=4, n_jobs=1)
    assert found.measures == (gb.GAP(g=(0.5, 0.5)),)


def test_errors_are_those_of_the_solution(lists):
    measures = [gb.GAP(g=G), gb.nDCG()]
    result = informativeness(measures, lists, minimum=4, n_jobs=1)
    assert result.rels == (1, 2)
    assert result.lists == tuple(range(6))
    assert result.converged.all()
    for m, measure in enumerate(measures):
        for number, found in enumerate(lists):
            value = value_of(measure, found.grades, found.recall_base)
            solution = maximum_entropy(measure, value, found.counts, found.recall_base)
            error = precision_errors(solution.probabilities, found.grades, 2)
            assert result.rms[m, number, 1] == pytest.approx(np.sqrt((error**2).mean()))
            assert result.mae[m, number, 1] == pytest.approx(abs(error).mean())
    np.testing.assert_allclose(result.mean_rms, result.rms.mean(axis=1))


@pytest.mark.slow
def test_lists_without_a_solution_are_counted_and_left_out(lists):
    # the worst of all long lists: its value can only be approached, and takes ever larger
    # multipliers
    worst = RankedList(
        "worst", np.repeat([0, 1, 2], [960, 30, 10]).astype(np.int32), np.array([960, 30, 10])
    )
    result = informativeness([gb.AP(rel=2), gb.nDCG()], [*lists, worst], minimum=4, n_jobs=1)
    assert result.to_pandas()["not converged"].tolist() == [1, 0]
    assert result.compared.tolist() == [True] * 6 + [False]
    np.testing.assert_allclose(result.mean_rms, result.rms[:, :6].mean(axis=1))
    alone = informativeness([gb.AP(rel=2)], [worst], minimum=4, n_jobs=1)
    assert np.isnan(alone.mean_rms).all()


def test_lists_with_few_documents_are_left_out(lists):
    short = RankedList("short", np.array([2, 1, 0], dtype=np.int32), np.array([1, 1, 1]))
    grid = {"grid": [(0.5, 0.5)], "others": ()}
    for compute in (partial(informativeness, ["ndcg"]), partial(threshold_sweep, **grid)):
        with pytest.warns(
            UserWarning, match=r"^lists has 1 of 7 .* which are left out; 6 are used"
        ):
            found = compute([*lists, short], minimum=4, n_jobs=1)
        assert found.lists == tuple(range(6))
    with pytest.warns(UserWarning, match="6 are used") as caught:
        most_informative_g([*lists, short], minimum=4, n_jobs=1, **grid)
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match=r"lists has none with 5 documents of each grade 1..2"):
        informativeness([gb.nDCG()], [*lists, short])
    # Grades that do not occur are grades too. The default grid would have 10**13 entries.
    high = ranked_lists(np.repeat([100, 1, 0], 5), np.arange(15.0))
    for compute in (partial(informativeness, ["ndcg"]), threshold_sweep, most_informative_g):
        with pytest.raises(
            ValueError, match=r"lists has none with 5 documents of each grade 1..100"
        ):
            compute(high)


def test_sweep_over_thresholds(lists):
    sweep = threshold_sweep(
        lists, family=gb.eGAP, grid=simplex_grid(2, 4), others=(gb.AP(),), minimum=4, n_jobs=1
    )
    assert sweep.grid == ((0, 1), (0.25, 0.75), (0.5, 0.5), (0.75, 0.25), (1, 0))
    errors = sweep.mean_rms
    np.testing.assert_allclose(errors[4], errors[5])  # g = (1, 0) is AP
    assert sweep.best == sweep.grid[int(np.argmin(errors[:5].mean(axis=1)))]
    options = dict(family=gb.eGAP, grid=simplex_grid(2, 4), minimum=4, n_jobs=1)
    assert most_informative_g(lists, **options) == sweep.best


def test_ranked_lists_of_rows():
    lists = ranked_lists(
        [1, 0, 2, 0],
        [1.0, 3.0, 2.0, 2.0],
        ["b", "a", "b", "b"],
        recall_base={"a": [1], "b": [2, 2, 1]},
    )
    assert [(found.name, found.grades.tolist(), found.recall_base.tolist()) for found in lists] == [
        ("b", [2, 0, 1], [2, 2, 1]),
        ("a", [0], [1, 0, 0]),
    ]
