"""LambdaRank gradients through the public interface, against the oracle's sum over all pairs."""

import itertools
import pickle

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from pair_sum import FLOOR, summed_pairs
from rankings import TOP, TRAINED, documents, random_rankings, some_measures

import gapboost as gb
from gapboost import AP, GAP, LambdaRank, Precision, eGAP, nDCG, xGAP

EACH_KIND = (
    GAP((0.2, 0.3, 0.5)),
    xGAP((0.217, 0.704, 0.079)),
    eGAP((0.0, 0.4, 0.6), k=10),
    nDCG(k=5),
    Precision(k=7),
    gb.RBP(p=0.9),
    gb.KendallTau(),
    gb.PairwiseAccuracy(k=40),
    0.7 * GAP((0.2, 0.3, 0.5)) + 0.3 * nDCG(k=10),
)


def raw(measure, **options):
    return LambdaRank(measure, **{"normalize": False, "score_distance": None, **options})


def expected_gradients(
    measure, value, data, weights=None, normalize=False, sigma=1.0, truncation=None
):
    """The oracle's gradients of every query, in the order of the rows; no ties."""
    grad, hess = np.zeros((2, len(data.grades)))
    weights = np.ones(len(data.rows)) if weights is None else weights
    for rows, factor in zip(data.rows.values(), weights, strict=True):
        of_query = summed_pairs(
            measure, data.grades[rows], data.scores[rows], sigma, truncation, value=value
        )
        size = np.abs(of_query[0]).sum()
        factor *= np.log2(1 + size) / size if normalize and size > 0 else 1
        grad[rows], hess[rows] = factor * of_query[0], factor * of_query[1]
    return grad, np.maximum(hess, FLOOR)


def assert_equal(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert (np.abs(found - expected) <= 1e-12 * np.maximum(1, np.abs(expected))).all()


# --- the pair sum ---------------------------------------------------------------------------------


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("part", range(10))
def test_equals_the_oracle(part, normalize):
    """Each measure, on single documents, without relevant ones, with missing grades.

    Several steepnesses and truncations.
    """
    rng = np.random.default_rng([part, normalize])
    for number, (measure, value) in enumerate(some_measures(part, 10, TRAINED).items()):
        sigma, truncation = ((1.0, None), (0.3, 2), (4.0, None), (1.0, 5))[number % 4]
        data = random_rankings(rng, 8, ties=False)
        weights = rng.integers(0, 5, size=8) / 2 + (np.arange(8) == 0)
        objective = raw(measure, sigma=sigma, truncation=truncation, normalize=normalize)
        found = objective.gradients(data.grades, data.scores, data.qid, sample_weight=weights)
        assert all(
            array.dtype == np.float64 and array.shape == data.grades.shape for array in found
        )
        assert_equal(
            found, expected_gradients(measure, value, data, weights, normalize, sigma, truncation)
        )


@pytest.mark.slow
@settings(max_examples=75, deadline=None, derandomize=True, database=None)
@given(documents)
def test_equals_the_oracle_for_every_small_query(rows):
    """Scores from -1e300 to 1e300 with any ties: some order of the tied documents is right."""
    grades, scores = np.array(rows).T
    for measure, value in some_measures(len(rows) + int(grades.sum()), 29, TRAINED).items():
        found = raw(measure).gradients(grades, scores)
        orders = itertools.product(
            *(itertools.permutations(group) for group in oracle.tied_groups(scores))
        )
        assert any(
            np.allclose(
                found,
                summed_pairs(
                    measure, grades, scores, value=value, order=[*itertools.chain(*order)]
                ),
                rtol=1e-12,
                atol=1e-12,
            )
            for order in orders
        )


# --- contracts ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many():
    """Enough rows for several threads, short and long queries, nothing relevant in some."""
    rng = np.random.default_rng(3)
    sizes = np.concatenate((rng.integers(1, 30, size=150), rng.integers(50, 400, size=25), [1500]))
    rng.shuffle(sizes)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    grades = rng.choice(TOP + 1, p=(0.6, 0.2, 0.1, 0.1), size=len(qid)) * np.repeat(
        rng.random(len(sizes)) < 0.9, sizes
    )
    return grades, rng.normal(size=len(qid)), qid


@pytest.mark.parametrize("score_distance", [None, 0.01])
@pytest.mark.parametrize("measure", [*EACH_KIND, gb.ERR(top=TOP)], ids=str)
def test_normalize_dampens_by_the_sum_of_the_gradients(measure, score_distance, many):
    _, _, qid = many
    options = {"sigma": 2.0, "score_distance": score_distance}
    grad, hess = raw(measure, **options).gradients(*many)
    size = np.bincount(qid, np.abs(grad))[qid]
    factor = np.divide(np.log2(1 + size), size, out=np.ones(len(size)), where=size > 0)
    found = raw(measure, normalize=True, **options).gradients(*many)
    assert_equal(found, (factor * grad, np.maximum(factor * hess, FLOOR)))


def test_g_is_uniform_over_the_grades_of_the_data(many):
    grades, scores, qid = many
    without_two = np.where(grades == 2, 0, grades)
    found = LambdaRank(GAP()).gradients(without_two, scores, qid)
    assert_equal(found, LambdaRank(GAP((0.5, 0, 0.5))).gradients(without_two, scores, qid))
    assert not LambdaRank(GAP()).gradients(np.zeros(3), [1.0, 2.0, 3.0])[0].any()


@pytest.mark.parametrize("measure", EACH_KIND, ids=str)
def test_the_farthest_scores_are_no_warning(measure):
    extreme = np.finfo(np.float64).max
    for sigma in (0.01, 2.0, 1e100):
        found = LambdaRank(measure, sigma=sigma).gradients(
            [0, 1, 2, 1], [extreme, -extreme, 0.0, 3.0]
        )
        assert np.isfinite(found).all()


# --- ties -----------------------------------------------------------------------------------------

# Two groups of tied documents; every order of them has its own gradients.
TIED_GRADES, TIED_SCORES = np.array([0, 1, 2, 0, 3]), np.array([1.0, 0.0, 1.0, 0.0, 1.0])
TIED = GAP((0.2, 0.3, 0.5))


def orders_by_seed(rows, seeds):
    """Return the order of tied documents that the gradients of each seed belong to, by row."""
    orders = [
        list(itertools.chain.from_iterable(order))
        for order in itertools.product(
            *(itertools.permutations(g) for g in oracle.tied_groups(TIED_SCORES))
        )
    ]
    expected = np.array(
        [
            summed_pairs(TIED, TIED_GRADES, TIED_SCORES, value=TRAINED[TIED], order=order)[0]
            for order in orders
        ]
    )
    assert min(np.abs(a - b).max() for a, b in itertools.combinations(expected, 2)) > 1e-3
    found = []
    for seed in seeds:
        grad, _ = raw(TIED, random_state=seed).gradients(TIED_GRADES[rows], TIED_SCORES[rows])
        of_document = np.empty(5)
        of_document[rows] = grad
        (match,) = np.flatnonzero(np.abs(of_document - expected).max(axis=1) < 1e-12)
        found.append(tuple(orders[match]))
    return found


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [4, 2, 1, 0, 3], [0, 3, 1, 2, 4]], ids=str)
def test_random_state_orders_ties_and_the_rows_do_not(rows):
    """All orders of tied documents are equally frequent, for any order of the rows."""
    found = orders_by_seed(rows, range(600))
    counts = [found.count(order) for order in set(found)]
    assert len(counts) == 12
    assert min(counts) >= 25  # 50 expected, standard deviation 7
    assert max(counts) <= 75
    # The best document is first in a third.
    assert 140 < sum(order[0] == 4 for order in found) < 260


def test_only_tied_documents_depend_on_the_seed():
    data = random_rankings(np.random.default_rng(10), 60, ties=False)
    rows = data.grades, data.scores, data.qid
    for measure in EACH_KIND:
        seeded = LambdaRank(measure, random_state=3).gradients(*rows)
        assert np.array_equal(LambdaRank(measure).gradients(*rows), seeded)


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "printed"),
    [
        (LambdaRank(GAP(g=(0.5, 0.5))), "LambdaRank(GAP(g=(0.5, 0.5)))"),
        (LambdaRank(nDCG(k=10), sigma=2), "LambdaRank(nDCG(k=10), sigma=2.0)"),
        (
            LambdaRank(AP(), truncation=np.int64(30), normalize=False, random_state=np.int32(4)),
            "LambdaRank(AP(rel=1), truncation=30, normalize=False, random_state=4)",
        ),
        (gb.RankNet(AP(), truncation=3), "RankNet(AP(rel=1), truncation=3)"),
        (gb.SoftRank(AP(), normalize=False), "SoftRank(AP(rel=1), normalize=False)"),
        (gb.ApproxRank(AP(), alpha=9, beta=3), "ApproxRank(AP(rel=1), alpha=9.0, beta=3.0)"),
    ],
    ids=str,
)
def test_an_objective_is_a_value(objective, printed):
    assert repr(objective) == printed
    copies = (eval(printed, vars(gb)), pickle.loads(pickle.dumps(objective)))
    assert all(copy == objective and hash(copy) == hash(objective) for copy in copies)
    with pytest.raises(AttributeError):
        objective.normalize = False
    assert objective != LambdaRank(objective.measure, sigma=0.7)
