"""Fractional grades: averages of judges, expected clicks, rounded scores of a model."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import oracle
import pytest
from scipy.special import expit
from scipy.stats import spearmanr
from twins import gradients, metric_values, twins

import gapboost as gb
from gapboost._data import recall_base
from gapboost.measures import MEASURES_BY_NAME
from gapboost.model_selection import GSearchCV

G = (0.2, 0.5, 0.3)
RNG = np.random.default_rng(0)
# Different grades in a query: the same codes in all queries up to 16, of each query beyond.
LEVELS = [2, 7, 16, 64]


def lists(n_levels, n_queries=12, longest=40, top=3.0):
    """Queries with `n_levels` different grades, all of them in the first query; no ties."""
    sizes = RNG.integers(2, longest, n_queries)
    sizes[0] = max(longest, n_levels + 5)
    qid = np.repeat(np.arange(n_queries), sizes)
    numbers = RNG.integers(0, n_levels, len(qid))
    numbers[:n_levels] = np.arange(n_levels)
    y = np.round(numbers * top / (n_levels - 0.9), 6)
    return y, RNG.permutation(len(qid)).astype(float), qid


def by_query(value, y, scores, qid):
    return np.array(
        [value(y[rows][np.argsort(-scores[rows])]) for rows in (qid == q for q in np.unique(qid))]
    )


# --- values: naive sums over real thresholds ------------------------------------------------------


def cumulative(x, g=G, levels=(1, 2, 3)):
    """G(x), linear between the grades at which g is given."""
    return np.interp(x, [0.0, *levels], np.concatenate([[0.0], np.cumsum(g)]))


def graded(ranked, expected, levels=(1, 2, 3)):
    """Compute GAP, or eGAP if `expected`, as sums of AP over the thresholds between grades."""
    thresholds = np.unique(ranked[ranked > 0])
    d = np.diff(cumulative(thresholds, levels=levels), prepend=0.0)
    relevant = ranked >= thresholds[:, None]
    base = relevant.sum(axis=1)
    precision = relevant.cumsum(axis=1) / np.arange(1, len(ranked) + 1)
    ap = (precision * relevant).sum(axis=1) / base
    if expected:
        return d @ ap
    return d @ (base * ap) / (d @ base) if d @ base else 0.0


def naive_xgap(ranked):
    """[ferrante2014] eq. 5 with real thresholds."""
    w, below = {0.0: 0.0}, 0.0
    for grade in sorted({x for x in ranked if x > 0}):
        w[grade] = w[below] + (cumulative(grade) - cumulative(below)) / sum(ranked >= grade)
        below = grade
    total = 0.0
    for n, x in enumerate(ranked, start=1):
        if x > 0:
            shares = sum(cumulative(min(x, above)) for above in ranked[:n])
            total += shares * w[x] / cumulative(x) / n
    return total


def naive_err(ranked):
    total, here = 0.0, 1.0
    for n, x in enumerate(ranked, start=1):
        stop = (2**x - 1) / 2**3
        total += here * stop / n
        here *= 1 - stop
    return total


def naive_dcg(ranked, gain=lambda x: 2**x - 1, ideal=False):
    gains, discount = gain(ranked), 1 / np.log2(np.arange(2, len(ranked) + 2))
    best = np.sort(gains)[::-1] @ discount if ideal else 1.0
    return gains @ discount / best if best else 0.0


def naive_pairs(ranked, wrong):
    """Pairs in the right order minus `wrong` times the others, over pairs of different grades."""
    signs = np.sign(ranked[:, None] - ranked)[np.triu_indices(len(ranked), 1)]
    right = (signs > 0).sum() - wrong * (signs < 0).sum()
    return right / np.abs(signs).sum() if signs.any() else 0.0


def naive_rho(ranked):
    return spearmanr(ranked, -np.arange(len(ranked))).statistic if len(set(ranked)) > 1 else 0.0


def naive_q(ranked):
    ideal, n, relevant = np.cumsum(np.sort(ranked)[::-1]), np.arange(1, len(ranked) + 1), ranked > 0
    blended = (np.cumsum(relevant) + np.cumsum(ranked)) / (n + ideal)
    return blended[relevant].mean() if relevant.any() else 0.0


def naive_grap(ranked):
    r = ranked / 3
    return r @ (np.cumsum(r) / np.arange(1, len(r) + 1)) / r.sum() if r.any() else 0.0


def of_relevant(value, rel, *arguments):
    """A naive measure of documents of grade `rel` or higher."""
    return lambda ranked: value([int(x >= rel) for x in ranked], *arguments)


NAIVE = [
    (gb.GAP(g=G), partial(graded, expected=False)),
    (gb.eGAP(g=G), partial(graded, expected=True)),
    (
        gb.GAP(g=G, levels=(0.75, 1.5, 3.0)),
        partial(graded, expected=False, levels=(0.75, 1.5, 3.0)),
    ),
    (
        gb.eGAP(g=G, levels=(0.75, 1.5, 3.0)),
        partial(graded, expected=True, levels=(0.75, 1.5, 3.0)),
    ),
    (gb.xGAP(g=G), naive_xgap),
    (gb.ERR(top=3), naive_err),
    (gb.DCG(), naive_dcg),
    (gb.nDCG(), partial(naive_dcg, ideal=True)),
    (gb.nDCG(gains="linear"), partial(naive_dcg, gain=lambda x: x, ideal=True)),
    (
        gb.nDCG(gains=(0, 0.25, 0.75, 1)),
        partial(naive_dcg, gain=lambda x: np.interp(x, range(4), (0, 0.25, 0.75, 1)), ideal=True),
    ),
    (gb.KendallTau(), partial(naive_pairs, wrong=1)),
    (gb.PairwiseAccuracy(), partial(naive_pairs, wrong=0)),
    (gb.SpearmanRho(), naive_rho),
    (gb.QMeasure(), naive_q),
    (gb.grAP(top=3), naive_grap),
    (gb.AP(rel=1.5), of_relevant(oracle.ap, 1.5, 1)),
    (gb.RR(rel=0.5), of_relevant(oracle.rr, 0.5, 1)),
    (gb.Success(rel=2.2, k=3), of_relevant(oracle.success, 2.2, 1, 3)),
    (gb.Precision(rel=2.2, k=5), of_relevant(oracle.precision, 2.2, 1, 5)),
    (gb.Recall(rel=1.2, k=7), of_relevant(oracle.recall, 1.2, 1, 7)),
    (gb.RPrecision(rel=1.2), of_relevant(oracle.r_precision, 1.2, 1)),
    (gb.INSQ(t=2, rel=1.7), of_relevant(oracle.insq, 1.7, 2, float)),
    (gb.RBP(rel=1.7), of_relevant(oracle.rbp, 1.7, 0.8, float)),
]


def test_the_naive_sums_are_those_of_all_measures():
    assert {type(measure) for measure, _ in NAIVE} == set(MEASURES_BY_NAME.values())


@pytest.mark.parametrize(("measure", "naive"), NAIVE, ids=[repr(measure) for measure, _ in NAIVE])
@pytest.mark.parametrize("n_levels", LEVELS)
def test_values_are_their_sums(measure, naive, n_levels):
    y, scores, qid = lists(n_levels)
    values = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
    np.testing.assert_allclose(values, by_query(naive, y, scores, qid), rtol=1e-12, atol=1e-15)


MEASURES = [
    gb.GAP(g=G), gb.xGAP(g=G), gb.eGAP(g=G, k=9), gb.nDCG(k=5), gb.KendallTau(), gb.SpearmanRho(),
    gb.ERR(top=3), gb.AP(rel=0.7), 2 * gb.GAP(g=G) + gb.eGAP(g=G),
]  # fmt: skip


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_codes_of_each_query_and_of_all_give_the_same(measure, monkeypatch):
    y, scores, qid = lists(9)
    found = []
    for limit in (0, 16):
        monkeypatch.setattr(recall_base, "LEVELS_OF_ALL", limit)
        grad, hess = gb.LambdaRank(measure).gradients(y, scores / 50, qid)
        found.append([gb.evaluate(measure, y, scores, qid, per_query=True)[measure], grad, hess])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limit", [0, 16])
@pytest.mark.parametrize("measure", [*MEASURES, gb.GAP(g=G, k=3), gb.QMeasure()], ids=repr)
def test_ties_count_their_expected_value(measure, limit, monkeypatch):
    monkeypatch.setattr(recall_base, "LEVELS_OF_ALL", limit)
    y, scores = np.array([0.5, 1.75, 0.0, 1.0, 0.5, 2.5]), np.array([0.0, 0.0, 1.0, 0.0, 0.0, -1.0])
    orders = np.array([scores * 10 - np.argsort([*p, 5]) for p in itertools.permutations(range(5))])
    qid = np.repeat(np.arange(len(orders)), len(y))
    mean = gb.evaluate(measure, np.tile(y, len(orders)), orders.ravel(), qid)[measure]
    assert gb.evaluate(measure, y, scores)[measure] == pytest.approx(mean, rel=1e-13)


@pytest.mark.parametrize("n_levels", [7, 60])
@pytest.mark.parametrize("measure", [m for m, _ in NAIVE], ids=repr)
def test_a_recall_base_counts_documents_that_are_not_listed(measure, n_levels):
    """They count like documents at the end of the list, which a cutoff leaves out."""
    if measure.k is None and not isinstance(measure, gb.RBP | gb.INSQ | gb.DCG):
        measure = replace(measure, k=9)
    y, scores, qid = lists(n_levels, 3)
    counts = {q: np.unique(y[qid == q], return_counts=True) for q in range(3)}
    base = {q: {float(g): int(n) for g, n in zip(*c, strict=True)} for q, c in counts.items()}
    ranks = np.empty(len(y))
    for q in range(3):
        ranks[qid == q] = np.argsort(np.argsort(-scores[qid == q]))
    listed = ranks < 9
    rows = (y[listed], scores[listed], qid[listed])
    if measure.k is not None:
        part = gb.evaluate(measure, *rows, per_query=True, recall_base=base)[measure]
        everything = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
        np.testing.assert_allclose(part, everything, rtol=1e-13)


def test_whole_grades_may_be_high_if_they_are_few():
    y, scores, qid = np.array([0, 200, 90, 200, 90, 0, 64]), np.arange(7.0), [1, 1, 1, 1, 2, 2, 2]
    base = np.zeros((2, 201), int)
    base[0, [90, 200]], base[1, [64, 90]] = 2, 3
    low = {1: {0.9: 2, 2.0: 2}, 2: {0.64: 3, 0.9: 3}}
    for measure in (gb.nDCG(gains="linear"), gb.KendallTau(), gb.grAP(), gb.AP()):
        for counts, scaled in ((None, None), (base, low)):
            found = gb.evaluate(measure, y, scores, qid, recall_base=counts)[measure]
            of_low = replace(measure, rel=0.01) if isinstance(measure, gb.AP) else measure
            wanted = gb.evaluate(of_low, y / 100, scores, qid, recall_base=scaled)[of_low]
            assert found == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("n_levels", [16, 64])
@pytest.mark.parametrize("objective", [gb.LambdaRank, gb.SoftRank, gb.ApproxRank])
def test_grades_and_levels_that_are_halved_change_no_bit(objective, n_levels):
    y, scores, qid = lists(n_levels)
    cases = ((gb.GAP(g=G), 1), (gb.GAP(g=G, levels=(0.5, 1.0, 1.5)), 0.5))
    values = [gb.evaluate(m, y * f, scores, qid, per_query=True)[m] for m, f in cases]
    assert np.array_equal(*values)
    pushes = [objective(m).gradients(y * f, scores, qid) for m, f in cases]
    assert all(np.array_equal(one, other) for one, other in zip(*pushes, strict=True))


# --- gradients ------------------------------------------------------------------------------------


def by_pairs(measure, y, scores, truncation=None):
    """Gradient and hessian as sums over all pairs."""
    order, n = np.argsort(-scores), len(y)
    changes = measure.swap_changes(y[order])
    up, down = np.triu_indices(n, 1)
    if truncation is not None:
        up, down = up[up < truncation], down[up < truncation]
    change = changes[up, down]
    up, down = order[up], order[down]
    sign = np.sign(y[up] - y[down])
    t = expit(scores[down] - scores[up])
    push = np.where(sign > 0, change * t, change * (1 - t)) * abs(sign)
    curve = -sign * change * t * (1 - t)
    lam = np.bincount(up, push, n) - np.bincount(down, push, n)
    eta = np.bincount(up, curve, n) + np.bincount(down, curve, n)
    least = 0.0 if measure.monotone else 0.25
    return lam, np.maximum(np.maximum(eta, least * abs(lam)), 1e-16)


@pytest.mark.parametrize("spread", [0.02, 1.0], ids=["near", "far"])
@pytest.mark.parametrize("n_levels", [2, 16, 64])
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_gradients_are_sums_over_all_pairs(measure, n_levels, spread):
    y, scores, _ = lists(n_levels, 1)
    scores = scores * spread
    for truncation in (None, 9):
        objective = gb.LambdaRank(measure, normalize=False, truncation=truncation)
        found, wanted = objective.gradients(y, scores), by_pairs(measure, y, scores, truncation)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * abs(other).max())


@pytest.mark.parametrize(
    "objective", [gb.SoftRank(gb.GAP(g=G)), gb.ApproxRank(gb.xGAP(g=G))], ids=repr
)
def test_smooth_gradients_are_derivatives(objective):
    y, scores, _ = lists(60, 1)
    objective, scores = replace(objective, normalize=False), scores / 10
    grad, _ = objective.gradients(y, scores)
    for step in 1e-5 * np.eye(len(y))[[0, 17, 60]]:
        slope = objective.value(y, scores + step) - objective.value(y, scores - step)
        assert -grad[step > 0] == pytest.approx(slope / 2e-5, rel=1e-5, abs=1e-9)


# --- rankers and float32 --------------------------------------------------------------------------


@twins
def test_rankers_train_for_them(twin):
    rng = np.random.default_rng(1)
    qid, X = np.repeat(np.arange(60), 20), rng.normal(size=(1200, 4))
    y = np.round(np.clip(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=1200) * 0.3 + 1, 0, 3), 1)
    ranker = twin.ranker(n_estimators=20).fit(X, y, qid, eval_set=[(X, y)], eval_qid=[qid])
    measure = ranker.measure_
    assert measure == gb.GAP(g=(1.0,), levels=(3.0,))
    value = gb.evaluate(measure, y, ranker.predict(X), qid)[measure]
    assert twin.curve(ranker)[-1] == pytest.approx(value, abs=1e-6)
    assert ranker.score(X, y, qid) == value
    assert value > gb.evaluate(measure, y, np.zeros(1200), qid)[measure] + 0.1
    trees = {"n_estimators": [2, 5]}
    search = GSearchCV(twin.ranker(measure=measure), trees, scoring=measure, cv=2)
    assert search.fit(X, y, qid).best_score_ > 0.5


@twins
def test_labels_of_boosters_are_float32(twin):
    y, scores, qid = lists(31)
    sizes, measure = np.bincount(qid), gb.LambdaRank(gb.GAP(g=G))
    for labels in (y, np.round(y, 1)):
        found = gradients(twin, twin.module.objective(measure), scores / 50, labels, sizes)
        kept = labels.astype(np.float32)
        expected = gradients(twin, twin.module.objective(measure), scores / 50, kept, sizes)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)
    # A threshold of .7 is reached by float32(.7), which is below it.
    y, scores, sizes = np.array([0.7, 0, 0.7, 0.35, 0, 0.35]), np.arange(6.0), [6]
    of_threshold = gradients(twin, twin.module.objective(gb.AP(rel=0.7)), scores, y, sizes)
    of_binary = gradients(twin, twin.module.objective(gb.AP()), scores, y >= 0.7, sizes)
    np.testing.assert_array_equal(of_threshold, of_binary)
    metric = twin.module.eval_metric(gb.AP(rel=0.7))
    (value,) = metric_values(twin, metric, scores, y, sizes).values()
    assert value == pytest.approx(gb.evaluate(gb.AP(rel=0.7), y, scores)[gb.AP(rel=0.7)], rel=1e-6)


@pytest.mark.parametrize("measure", [m for m, _ in NAIVE if hasattr(m, "rel")], ids=repr)
def test_float32_labels_reach_the_same_threshold(measure):
    measure = replace(measure, rel=0.7)
    y, scores = np.array([0.7, 0, 0.7, 1, 0, 0.35]), np.arange(6)[::-1] * 1.0
    expected = gb.evaluate(measure, y, scores)[measure]
    assert gb.evaluate(measure, y.astype("f4"), scores)[measure] == expected
    binary = replace(measure, rel=1)
    assert expected == gb.evaluate(binary, (y >= 0.7).astype(int), scores)[binary]


def test_thresholds_in_float32_are_those_of_float64_for_every_fraction():
    for n in range(2, 40):
        y = np.arange(1, n + 1) / n
        measures = [gb.Recall(rel=rel, k=1) for rel in y]
        found = gb.evaluate(measures, y.astype("f4"), np.arange(n))
        assert found == gb.evaluate(measures, y, np.arange(n))


def test_no_threshold_is_reached_by_grade_0():
    assert gb.evaluate(gb.AP(rel=1e-300), [0, 0, 1], [3, 2, 1]) == {gb.AP(rel=1e-300): 1 / 3}
    assert gb.evaluate(gb.AP(rel=1e300), [0, 0.5, 1], [3, 2, 1]) == {gb.AP(rel=1e300): 0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_recall_base_counts_the_grades_of_the_rows(dtype):
    measure, y = gb.AP(rel=0.7), np.array([0.35, 0.7], dtype)
    base = {"a": {dtype(0.7): 2, dtype(0.35): 1}}
    assert gb.evaluate(measure, y, [2, 1], ["a", "a"], recall_base=base) == {measure: 0.25}
    other = np.float32 if dtype is np.float64 else np.float64
    with pytest.raises(ValueError, match=r"^recall_base counts 0 documents"):
        gb.evaluate(measure, np.array([0.35, 0.7], other), [2, 1], ["a", "a"], recall_base=base)


# --- refusals -------------------------------------------------------------------------------------

MANY = np.arange(65)
A = {"y_score": [1, 2], "qid": ["a", "a"]}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gb.evaluate("gap", MANY / 50, MANY), "y_true holds 65 different grades in one qu"),
        (lambda: gb.evaluate("ap", MANY, MANY), "y_true holds 65 .* expected at most 64: round"),
        (lambda: gb.LambdaRank("err").gradients(MANY / 50, MANY), "holds 65 different grades"),
        (
            lambda: gb.evaluate("ap", [0.5], [1], recall_base={0: dict.fromkeys(MANY / 70, 1)}),
            "holds 65 different grades in one query",
        ),
        (
            lambda: gb.evaluate(gb.AP() + gb.nDCG(gains=(0, 1, 3)), [2.5, 1], [1, 2]),
            "grade 2.5, but .* is defined for the grades 0..2",
        ),
        (
            lambda: gb.evaluate(gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0)), [1.5, 1], [1, 2]),
            "grade 1.5, but .* is defined for the grades 0..1",
        ),
        (lambda: gb.evaluate("gap", [612.5, 1], [1, 2]), "grade 612.5; expected grades up to 255"),
        (lambda: gb.evaluate("gap", [-0.5, 1], [1, 2]), "negative grade -0.5"),
        (
            lambda: gb.evaluate("ap", [0.5, 1], **A, recall_base={"a": {0.5: 1}}),
            "recall_base counts 0 documents of grade 1 .* but 1 are listed",
        ),
        (
            lambda: gb.evaluate("ap", [0.5, 1], **A, recall_base={"a": {0.5: 1.5, 1: 2}}),
            "recall_base holds 1.5",
        ),
        (lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0, 0.5)), "levels is .*; expected a grade"),
        (lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0,)), "levels is .*; expected a grade"),
        (lambda: gb.GAP(levels=(1.0,)), "levels is .*; expected a grade"),
    ],
)
def test_what_has_no_meaning_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
