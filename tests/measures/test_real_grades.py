"""Fractional grades: averages of judges, expected clicks, scores of a language model."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import oracle
import pytest
from scipy.special import expit
from scipy.stats import spearmanr
from twins import gradients, metric_values, twins

import gapboost as gb
from gapboost._data import judged as judged_module
from gapboost.measures import MEASURES_BY_NAME
from gapboost.measures.gains import gain_of_grades
from gapboost.model_selection import GSearchCV

G = (0.2, 0.5, 0.3)
RNG = np.random.default_rng(0)


# Different grades in a query.
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


def cumulative(g, levels, x):
    """G(x), linear between the grades at which g is given."""
    return np.interp(x, [0.0, *levels], np.concatenate([[0.0], np.cumsum(g)]))


def graded(ranked, g, levels, expected):
    """Compute GAP, or eGAP if `expected`, as sums of AP over the thresholds between grades."""
    thresholds = np.unique(ranked[ranked > 0])
    d = np.diff(cumulative(g, levels, thresholds), prepend=0.0)
    relevant = ranked >= thresholds[:, None]
    base = relevant.sum(axis=1)
    precision = relevant.cumsum(axis=1) / np.arange(1, len(ranked) + 1)
    ap = (precision * relevant).sum(axis=1) / base
    if expected:
        return d @ ap
    return d @ (base * ap) / (d @ base) if d @ base else 0.0


def by_query(value, y, scores, qid):
    return np.array(
        [value(y[rows][np.argsort(-scores[rows])]) for rows in (qid == q for q in np.unique(qid))]
    )


@pytest.mark.parametrize("n_levels", LEVELS)
@pytest.mark.parametrize("levels", [None, (0.75, 1.5, 3.0)])
def test_gap_and_egap_are_sums_over_the_thresholds(n_levels, levels):
    y, scores, qid = lists(n_levels)
    at = (1, 2, 3) if levels is None else levels
    for kind, expected in ((gb.GAP, False), (gb.eGAP, True)):
        measure = kind(g=G, levels=levels)
        values = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
        wanted = by_query(lambda ranked, e=expected: graded(ranked, G, at, e), y, scores, qid)
        np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-15)


def naive_xgap(ranked):
    """[ferrante2014] eq. 5 with real thresholds."""
    grades = sorted({x for x in ranked if x > 0})
    w, below = {0.0: 0.0}, 0.0
    for grade in grades:
        d = cumulative(G, (1, 2, 3), grade) - cumulative(G, (1, 2, 3), below)
        w[grade] = w[below] + d / sum(x >= grade for x in ranked)
        below = grade
    whole = {x: cumulative(G, (1, 2, 3), x) for x in w}
    total = 0.0
    for n, x in enumerate(ranked, start=1):
        if x > 0:
            total += sum(whole[min(x, above)] for above in ranked[:n]) * w[x] / whole[x] / n
    return total


def naive_err(ranked):
    total, here = 0.0, 1.0
    for n, x in enumerate(ranked, start=1):
        stop = (2**x - 1) / 2**3
        total += here * stop / n
        here *= 1 - stop
    return total


def naive_ndcg(ranked, gain):
    gains = np.array([gain(x) for x in ranked])
    discount = 1 / np.log2(np.arange(2, len(ranked) + 2))
    best = np.sort(gains)[::-1] @ discount
    return gains @ discount / best if best else 0.0


def naive_tau(ranked):
    x = np.asarray(ranked)
    signs = np.sign(x[:, None] - x)[np.triu_indices(len(x), 1)]
    return signs.sum() / np.abs(signs).sum() if signs.any() else 0.0


def naive_accuracy(ranked):
    x = np.asarray(ranked)
    signs = np.sign(x[:, None] - x)[np.triu_indices(len(x), 1)]
    return (signs > 0).sum() / np.abs(signs).sum() if signs.any() else 0.0


def naive_rho(ranked):
    places = -np.arange(len(ranked))
    return spearmanr(ranked, places).statistic if len(set(ranked)) > 1 else 0.0


def naive_q(ranked):
    ideal = np.cumsum(sorted(ranked, reverse=True))
    n = np.arange(1, len(ranked) + 1)
    relevant = np.asarray(ranked) > 0
    blended = (np.cumsum(relevant) + np.cumsum(ranked)) / (n + ideal)
    return blended[relevant].mean() if relevant.any() else 0.0


def naive_grap(ranked):
    r = np.asarray(ranked) / 3
    return r @ (np.cumsum(r) / np.arange(1, len(r) + 1)) / r.sum() if r.any() else 0.0


def relevant(ranked, rel):
    return [int(x >= rel) for x in ranked]


OTHERS = [
    (gb.xGAP(g=G), naive_xgap),
    (gb.ERR(top=3), naive_err),
    (gb.nDCG(), lambda ranked: naive_ndcg(ranked, lambda x: 2**x - 1)),
    (gb.nDCG(gains="linear"), lambda ranked: naive_ndcg(ranked, lambda x: x)),
    (gb.KendallTau(), naive_tau),
    (gb.PairwiseAccuracy(), naive_accuracy),
    (gb.QMeasure(), naive_q),
    (gb.grAP(top=3), naive_grap),
    (
        gb.DCG(),
        lambda ranked: (
            (2.0 ** np.asarray(ranked) - 1) @ (1 / np.log2(np.arange(2, len(ranked) + 2)))
        ),
    ),
    (gb.AP(rel=1.5), lambda ranked: oracle.ap(relevant(ranked, 1.5), 1)),
    (gb.RR(rel=0.5), lambda ranked: oracle.rr(relevant(ranked, 0.5), 1)),
    (gb.Precision(rel=2.2, k=5), lambda ranked: oracle.precision(relevant(ranked, 2.2), 1, 5)),
    (gb.Recall(rel=1.2, k=7), lambda ranked: oracle.recall(relevant(ranked, 1.2), 1, 7)),
    (gb.RPrecision(rel=1.2), lambda ranked: oracle.r_precision(relevant(ranked, 1.2), 1)),
    (gb.SpearmanRho(), naive_rho),
    (gb.INSQ(t=2, rel=1.7), lambda ranked: oracle.insq(relevant(ranked, 1.7), 2, float)),
    (gb.RBP(rel=1.7), lambda ranked: oracle.rbp(relevant(ranked, 1.7), 0.8, float)),
]


def test_the_naive_sums_are_those_of_all_measures():
    known = {type(measure) for measure, _ in OTHERS} | {gb.GAP, gb.eGAP}
    assert known == set(MEASURES_BY_NAME.values())


@pytest.mark.parametrize(("measure", "naive"), OTHERS, ids=[repr(measure) for measure, _ in OTHERS])
@pytest.mark.parametrize("n_levels", LEVELS)
def test_other_measures_are_their_sums(measure, naive, n_levels):
    y, scores, qid = lists(n_levels)
    values = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
    np.testing.assert_allclose(values, by_query(naive, y, scores, qid), rtol=1e-12, atol=1e-15)


MEASURES = [
    gb.GAP(g=G),
    gb.xGAP(g=G),
    gb.eGAP(g=G),
    gb.nDCG(k=5),
    gb.KendallTau(),
    gb.SpearmanRho(),
    gb.ERR(top=3),
    gb.AP(rel=0.7),
]


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_gradients_are_sums_over_all_pairs(measure, monkeypatch):
    monkeypatch.setattr(judged_module, "LEVELS_OF_ALL", 0)
    y, scores, _ = lists(7, 1, 14)
    scores = scores / 4
    n = len(y)
    ranked = y[np.argsort(-scores)]
    p, q = np.divmod(np.arange(n * n), n)
    swapped = np.tile(ranked, (n * n, 1))
    swapped[np.arange(n * n), p], swapped[np.arange(n * n), q] = ranked[q], ranked[p]
    after = gb.evaluate(
        measure,
        swapped.ravel(),
        np.tile(-np.arange(n), n * n),
        np.repeat(np.arange(n * n), n),
        per_query=True,
    )[measure]
    changes = (after - gb.evaluate(measure, ranked, -np.arange(n))[measure]).reshape(n, n)
    np.testing.assert_allclose(measure.swap_changes(ranked), changes, rtol=1e-9, atol=1e-12)
    grad, hess = gb.LambdaRank(measure, normalize=False).gradients(y, scores)
    lam, eta = by_pairs(measure, y, scores)
    np.testing.assert_allclose(grad, lam, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(hess, eta, rtol=1e-7, atol=1e-10)


def by_pairs(measure, y, scores, truncation=None):
    """Gradient and hessian as sums over all pairs."""
    order = np.argsort(-scores)
    changes = measure.swap_changes(y[order])
    n = len(y)
    up, down = np.triu_indices(n, 1)
    if truncation is not None:
        up, down = up[up < truncation], down[up < truncation]
    up, down = order[up], order[down]
    change = changes[np.argsort(order)[up], np.argsort(order)[down]]
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
@pytest.mark.parametrize("measure", [*MEASURES, 2 * gb.GAP(g=G) + gb.eGAP(g=G)], ids=repr)
def test_gradients_of_any_number_of_grades_are_sums_over_all_pairs(measure, n_levels, spread):
    y, scores, _ = lists(n_levels, 1)
    scores = scores * spread
    for truncation in (None, 9):
        grad, hess = gb.LambdaRank(measure, normalize=False, truncation=truncation).gradients(
            y, scores
        )
        lam, eta = by_pairs(measure, y, scores, truncation)
        np.testing.assert_allclose(grad, lam, rtol=1e-8, atol=1e-8 * abs(lam).max())
        np.testing.assert_allclose(hess, eta, rtol=1e-8, atol=1e-8 * abs(eta).max())


@pytest.mark.parametrize(
    "objective", [gb.SoftRank(gb.GAP(g=G)), gb.ApproxRank(gb.xGAP(g=G))], ids=repr
)
def test_smooth_gradients_of_many_grades_are_derivatives(objective):
    y, scores, _ = lists(60, 1)
    objective = replace(objective, normalize=False)
    scores = scores / 10
    grad, _ = objective.gradients(y, scores)
    for i in (0, 17, 60):
        step = np.zeros(len(y))
        step[i] = 1e-5
        slope = (objective.value(y, scores + step) - objective.value(y, scores - step)) / 2e-5
        assert -grad[i] == pytest.approx(slope, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("n_levels", [16, 64])
@pytest.mark.parametrize("objective", [gb.LambdaRank, gb.SoftRank, gb.ApproxRank])
def test_grades_and_levels_that_are_halved_change_no_bit(objective, n_levels):
    y, scores, qid = lists(n_levels)
    whole, halves = gb.GAP(g=G), gb.GAP(g=G, levels=(0.5, 1.0, 1.5))
    values = [
        gb.evaluate(m, y * f, scores, qid, per_query=True)[m]
        for m, f in ((whole, 1), (halves, 0.5))
    ]
    assert np.array_equal(*values)
    pushes = [objective(m).gradients(y * f, scores, qid) for m, f in ((whole, 1), (halves, 0.5))]
    assert all(np.array_equal(one, other) for one, other in zip(*pushes, strict=True))


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_numbering_grades_by_query_or_alike_gives_the_same(measure, monkeypatch):
    y, scores, qid = lists(9)
    found = []
    for limit in (0, 16):
        monkeypatch.setattr(judged_module, "LEVELS_OF_ALL", limit)
        grad, hess = gb.LambdaRank(measure).gradients(y, scores / 50, qid)
        found.append([gb.evaluate(measure, y, scores, qid, per_query=True)[measure], grad, hess])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("measure", [*MEASURES, gb.GAP(g=G, k=3)], ids=repr)
def test_ties_count_their_expected_value(measure, monkeypatch):
    monkeypatch.setattr(judged_module, "LEVELS_OF_ALL", 0)
    y, scores = np.array([0.5, 1.75, 0.0, 1.0, 0.5, 2.5]), np.array([0.0, 0.0, 1.0, 0.0, 0.0, -1.0])
    orders = np.array([scores * 10 - np.argsort([*p, 5]) for p in itertools.permutations(range(5))])
    qid = np.repeat(np.arange(len(orders)), len(y))
    mean = gb.evaluate(measure, np.tile(y, len(orders)), orders.ravel(), qid)[measure]
    assert gb.evaluate(measure, y, scores)[measure] == pytest.approx(mean, rel=1e-13)


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


def test_an_open_g_is_a_threshold_anywhere_up_to_the_highest_grade():
    y, scores, qid = lists(13, top=0.9)
    measure = gb.GAP(g=(1.0,), levels=(y.max(),))
    assert (
        gb.evaluate("gap", y, scores, qid)[gb.GAP()]
        == gb.evaluate(measure, y, scores, qid)[measure]
    )


@pytest.mark.parametrize("n_levels", [7, 60])
@pytest.mark.parametrize(
    "measure", [gb.GAP(g=G, k=9), gb.xGAP(g=G, k=9), gb.QMeasure(k=9), gb.nDCG(k=9)], ids=repr
)
def test_a_recall_base_counts_documents_that_are_not_listed(measure, n_levels):
    """They count like documents at the end of the list, which a cutoff leaves out."""
    y, scores, qid = lists(n_levels, 3)
    base = {
        q: dict(zip(*np.unique(y[qid == q], return_counts=True), strict=True)) for q in range(3)
    }
    base = {q: {float(grade): int(n) for grade, n in counts.items()} for q, counts in base.items()}
    ranks = np.empty(len(y))
    for q in range(3):
        ranks[qid == q] = np.argsort(np.argsort(-scores[qid == q]))
    listed = ranks < 9
    everything = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
    part = gb.evaluate(
        measure, y[listed], scores[listed], qid[listed], per_query=True, recall_base=base
    )[measure]
    np.testing.assert_allclose(part, everything, rtol=1e-13)
    whole = {q: {1: 3, 2: 1} for q in range(3)}
    of_array = gb.evaluate(
        measure, [1, 2, 0], [1, 2, 3], [0, 1, 2], recall_base=np.array([[0, 3, 1]] * 3)
    )[measure]
    assert (
        gb.evaluate(measure, [1, 2, 0], [1, 2, 3], [0, 1, 2], recall_base=whole)[measure]
        == of_array
    )


@twins
def test_rankers_train_for_them(twin):
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(60), 20)
    X = rng.normal(size=(1200, 4))
    y = np.round(np.clip(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=1200) * 0.3 + 1, 0, 3), 1)
    ranker = twin.ranker(n_estimators=20).fit(X, y, qid, eval_set=[(X, y)], eval_qid=[qid])
    assert ranker.measure_ == gb.GAP(g=(1.0,), levels=(3.0,))
    value = gb.evaluate(ranker.measure_, y, ranker.predict(X), qid)[ranker.measure_]
    assert twin.curve(ranker)[-1] == pytest.approx(value, abs=1e-6)
    assert ranker.score(X, y, qid) == value
    assert value > gb.evaluate(ranker.measure_, y, np.zeros(1200), qid)[ranker.measure_] + 0.1
    search = GSearchCV(
        twin.ranker(measure=ranker.measure_),
        {"n_estimators": [2, 5]},
        scoring=ranker.measure_,
        cv=2,
    )
    assert search.fit(X, y, qid).best_score_ > 0.5


GAINS = (0.0, 0.25, 0.75, 1.0)
GAINED = [
    (gb.nDCG(gains=GAINS), gb.nDCG(gains="linear")),
    (gb.DCG(gains=GAINS), gb.DCG(gains="linear")),
    (gb.QMeasure(gains=GAINS), gb.QMeasure()),
    (gb.RBP(gains=GAINS), None),
    (gb.grAP(gains=GAINS), gb.grAP(top=1)),
]


@pytest.mark.parametrize("n_levels", [7, 60])
@pytest.mark.parametrize(("measure", "linear"), GAINED, ids=repr)
def test_gains_are_interpolated_between_whole_grades(measure, linear, n_levels):
    y, scores, qid = lists(n_levels)
    gained = np.interp(y, range(4), GAINS)
    if linear is None:
        value = by_query(
            lambda ranked: 0.2 * ranked @ 0.8 ** np.arange(len(ranked)), gained, scores, qid
        )
    else:
        value = gb.evaluate(linear, gained, scores, qid, per_query=True)[linear]
    np.testing.assert_allclose(
        gb.evaluate(measure, y, scores, qid, per_query=True)[measure], value, rtol=1e-12
    )


def test_gains_at_whole_grades_stay_to_the_bit():
    gains = np.concatenate(([0.0], np.cumsum(RNG.random(40))))
    np.testing.assert_array_equal(gain_of_grades(tuple(gains), np.arange(41.0)), gains)
    levels = np.array([[3.0, 40.0], [50.0, 1.0]])
    np.testing.assert_array_equal(
        gain_of_grades(tuple(gains), levels), [[gains[3], gains[40]], [gains[40], gains[1]]]
    )


@twins
def test_rankers_train_for_gains_between_whole_grades(twin):
    y, scores, qid = lists(9)
    measure = gb.nDCG(gains=(0, 1, 3, 7))
    X = scores[:, None]
    ranker = twin.ranker(measure=measure).fit(X, y, qid, eval_set=[(X, y)], eval_qid=[qid])
    value = gb.evaluate(measure, y, ranker.predict(X), qid)[measure]
    (curves,) = ranker.evals_result_.values()
    assert any(curve[-1] == pytest.approx(value, abs=1e-6) for curve in curves.values())


@twins
def test_natively_labels_are_float32(twin):
    y, scores, qid = lists(31)
    sizes = np.bincount(qid)
    found = gradients(twin, twin.module.objective(gb.GAP(g=G)), scores / 50, y, sizes)
    expected = gradients(
        twin,
        twin.module.objective(gb.LambdaRank(gb.GAP(g=G))),
        scores / 50,
        y.astype(np.float32),
        sizes,
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)


RELEVANT = [
    gb.AP(rel=0.7), gb.RR(rel=0.7), gb.Precision(rel=0.7, k=3), gb.Recall(rel=0.7, k=3),
    gb.RPrecision(rel=0.7), gb.RBP(rel=0.7), gb.INSQ(rel=0.7),
]  # fmt: skip


@pytest.mark.parametrize("measure", RELEVANT, ids=repr)
def test_float32_labels_reach_the_same_fractional_threshold(measure):
    """float32(.7) is below .7."""
    y, scores = np.array([0.7, 0, 0.7, 1, 0, 0.35]), np.arange(6)[::-1] * 1.0
    expected = gb.evaluate(measure, y, scores)[measure]
    assert gb.evaluate(measure, y.astype("f4"), scores)[measure] == expected
    binary = replace(measure, rel=1)
    assert expected == gb.evaluate(binary, (y >= 0.7).astype(int), scores)[binary]


def test_thresholds_in_float32_are_those_of_float64_for_every_fraction():
    for n in range(2, 40):
        y = np.arange(1, n + 1) / n
        measures = [gb.Recall(rel=rel, k=1) for rel in y]
        assert gb.evaluate(measures, y.astype("f4"), np.arange(n)) == gb.evaluate(
            measures, y, np.arange(n)
        )


def test_no_threshold_is_reached_by_grade_0():
    assert gb.evaluate(gb.AP(rel=1e-300), [0, 0, 1], [3, 2, 1]) == {gb.AP(rel=1e-300): 1 / 3}
    assert gb.evaluate(gb.AP(rel=1e300), [0, 0.5, 1], [3, 2, 1]) == {gb.AP(rel=1e300): 0}


@pytest.mark.parametrize(
    "measure", [gb.GAP(g=(0.4, 0.6), levels=(0.35, 0.7)), gb.grAP(top=0.7), gb.eGAP()], ids=repr
)
def test_float32_labels_are_close_in_measures_that_are_continuous(measure):
    y, scores = np.array([0.7, 0, 0.7, 0.35, 0, 0.35]), np.arange(6)[::-1] * 1.0
    found = gb.evaluate(measure, y.astype("f4"), scores)[measure]
    assert found == pytest.approx(gb.evaluate(measure, y, scores)[measure], rel=1e-6)


@pytest.mark.parametrize("rows", ["f4", "f8"])
@pytest.mark.parametrize("counted", [np.float32, float])
def test_a_recall_base_and_rows_may_have_different_float_types(rows, counted):
    measure = gb.AP(rel=0.7)
    base = {"a": {counted(0.7): 2, counted(0.35): 1}}
    values = gb.evaluate(measure, np.array([0.35, 0.7], rows), [2, 1], ["a", "a"], recall_base=base)
    assert values == {measure: 0.25}


@twins
def test_float32_labels_train_the_same_ranker(twin):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(600, 3)), np.repeat(np.arange(30), 20)
    y = rng.choice([0, 0.35, 0.7, 1.0], 600)
    for measure in (gb.AP(rel=0.7), gb.RR(rel=0.7)):
        one, other = (
            twin.ranker(measure=measure).fit(X, labels, qid) for labels in (y, y.astype("f4"))
        )
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


@twins
def test_natively_fractional_thresholds_reach_float32_labels(twin):
    y, scores, sizes = np.array([0.7, 0, 0.7, 0.35, 0, 0.35]), np.arange(6.0), [6]
    measure, whole = gb.AP(rel=0.7), gb.AP(rel=1)
    for one, other in zip(
        gradients(twin, twin.module.objective(measure), scores, y, sizes),
        gradients(twin, twin.module.objective(whole), scores, y >= 0.7, sizes),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    (value,) = metric_values(twin, twin.module.eval_metric(measure), scores, y, sizes).values()
    assert value == pytest.approx(gb.evaluate(measure, y, scores)[measure], rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gb.evaluate(gb.AP() + gb.nDCG(gains=(0, 1, 3)), [2.5, 1], [1, 2]),
            "grade 2.5, but .* is defined for the grades 0..2",
        ),
        (
            lambda: gb.evaluate(gb.GAP(g=(0.5, 0.5)), [2.5, 1], [1, 2]),
            "grade 2.5, but .* is defined for the grades 0..2",
        ),
        (
            lambda: gb.evaluate(
                gb.AP() + gb.GAP(g=(0.5, 0.5), levels=(0.5, 1.0)), [1.5, 1], [1, 2]
            ),
            "grade 1.5, but .* is defined for the grades 0..1",
        ),
        (
            lambda: gb.evaluate("gap", [612.5, 1], [1, 2]),
            "grade 612.5; expected grades up to 255: divide",
        ),
        (
            lambda: gb.evaluate(gb.GAP(g=(0.5, 0.5)), [-0.5, 1], [1, 2]),
            "negative grade -0.5, the first in row 0, counted from 0; expected grades >= 0",
        ),
        (
            lambda: gb.evaluate("gap", np.arange(65) / 50, np.arange(65)),
            "y_true holds 65 different grades in one query; expected at most 64: round .* levels",
        ),
        (
            lambda: gb.evaluate("ap", np.arange(65), np.arange(65)),
            "y_true holds 65 different grades in one query; expected at most 64: round .* levels",
        ),
        (
            lambda: gb.evaluate(
                "ap", [0.5], [1], ["a"], recall_base={"a": {i / 70: 1 for i in range(65)}}
            ),
            "holds 65 different grades in one query",
        ),
        (
            lambda: gb.evaluate("ap", [0.5, 1], [1, 2], recall_base=[[3, 1]]),
            "recall_base counts 0 documents",
        ),
        (
            lambda: gb.evaluate("ap", [0.5, 1], [1, 2], ["a", "a"], recall_base={"a": {0.5: 1}}),
            "recall_base counts 0 documents of grade 1 .* but 1 are listed",
        ),
        (
            lambda: gb.evaluate(
                "ap", [0.5, 1], [1, 2], ["a", "a"], recall_base={"a": {0.5: 1.5, 1: 2}}
            ),
            "recall_base holds 1.5 documents",
        ),
        (
            lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0, 0.5)),
            "levels is .*; expected a grade above 0 for each entry of g, rising",
        ),
        (lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0,)), "levels is .*; expected a grade above 0"),
        (lambda: gb.GAP(levels=(1.0,)), "levels is .*; expected a grade above 0"),
    ],
)
def test_what_has_no_meaning_is_an_error_that_says_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_sum_knows_the_grades_of_its_parts():
    """Its levels may reach beyond the number of entries of g."""
    y, scores = [0.5, 2.75, 3.0, 0.0], [4.0, 3.0, 2.0, 1.0]
    part = gb.GAP(g=(0.5, 0.5), levels=(2.5, 3.0))
    values = gb.evaluate([part, gb.nDCG(), part + gb.nDCG()], y, scores)
    assert values[part + gb.nDCG()] == pytest.approx(values[part] + values[gb.nDCG()], rel=1e-14)
    assert (part + gb.AP()).highest_grade == 3


MANY = np.round(np.linspace(0.0, 3.0, 1001), 6)


def tellings(recwarn):
    """Without what else boosters doubt."""
    return [
        text for text in (str(warning.message) for warning in recwarn) if "different values" in text
    ]


READERS = {
    "evaluate": lambda twin, measure, y: gb.evaluate(
        measure, y, np.zeros(len(y)), np.arange(len(y)) // 20
    ),
    "gradients": lambda twin, measure, y: gb.LambdaRank(measure, truncation=9).gradients(
        y, np.zeros(len(y)), np.arange(len(y)) // 20
    ),
    "natively": lambda twin, measure, y: gradients(
        twin, twin.module.objective(measure), MANY, y, [50] * 20 + [1]
    ),
    "rankers": lambda twin, measure, y: twin.ranker(measure=measure).fit(
        MANY[:, None], y, np.arange(len(y)) // 20
    ),
}


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("measure", [gb.GAP(g=G), gb.AP() + gb.xGAP(g=G)], ids=repr)
@pytest.mark.parametrize("reader", READERS)
@twins
def test_more_different_values_than_judges_make_are_told_how_they_are_read(
    reader, twin, measure, recwarn
):
    """The warning comes once for a data set.

    Nobody is warned who gives `levels`, leaves g open, or has fewer values.
    """
    READERS[reader](twin, measure, MANY)
    (told,) = tellings(recwarn)
    assert re.search(r"holds 1001 different values up to 3: .*GAP\(g=.* evenly .* levels=", told)


@twins
def test_the_warning_of_callbacks_names_the_line_of_the_user(twin):
    dataset = twin.dataset(MANY[:, None], MANY, [50] * 20 + [1])
    with pytest.warns(UserWarning, match="different values") as told:
        twin.train(dataset, twin.module.objective(gb.GAP(g=G)))
    # Calls `train` of the booster.
    assert [Path(warning.filename).name for warning in told] == ["twins.py"]


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("reader", READERS)
@twins
def test_nothing_is_told_where_the_reading_is_plain(reader, twin, recwarn):
    for measure in (gb.GAP(g=G, levels=(1, 2, 3)), gb.GAP(), gb.nDCG()):
        READERS[reader](twin, measure, MANY)
    READERS[reader](twin, gb.GAP(g=G), np.round(MANY, 2))
    assert not tellings(recwarn)
