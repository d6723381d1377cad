"""Fractional grades: averages of judges, expected clicks, scores of a language model."""

import numpy as np
import oracle
import pytest
from twins import gradients, twins

import gapboost as gb
from gapboost._data import judged as judged_module
from gapboost.model_selection import GSearchCV

G = (0.2, 0.5, 0.3)
RNG = np.random.default_rng(0)


def lists(n_levels, n_queries=12, longest=40, top=3.0):
    """Queries with grades of so many different values, scores without ties, and ids."""
    sizes = RNG.integers(2, longest, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    y = np.round(RNG.integers(0, n_levels, len(qid)) * top / (n_levels - 1), 6)
    return y, RNG.permutation(len(qid)).astype(float), qid


def cumulative(g, levels, x):
    """G(x), linear between the grades at which g is given."""
    return np.interp(x, [0.0, *levels], np.concatenate([[0.0], np.cumsum(g)]))


def graded(ranked, g, levels, expected):
    """GAP, or eGAP where `expected`: sums of AP over the thresholds between the grades that occur."""
    thresholds = sorted({x for x in ranked if x > 0})
    total = whole = 0.0
    below = 0.0
    for threshold in thresholds:
        d = cumulative(g, levels, threshold) - cumulative(g, levels, below)
        base = sum(x >= threshold for x in ranked)
        ap = oracle.ap([int(x >= threshold) for x in ranked], 1)
        total += d * ap * (1 if expected else base)
        whole += d * base
        below = threshold
    return total if expected else (total / whole if whole else 0.0)


def by_query(value, y, scores, qid):
    return np.array([value(y[rows][np.argsort(-scores[rows])]) for rows in (qid == q for q in np.unique(qid))])


@pytest.mark.parametrize("n_levels", [4, 7, 16, 61])
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


OTHERS = [
    (gb.xGAP(g=G), naive_xgap),
    (gb.ERR(top=3), naive_err),
    (gb.nDCG(), lambda ranked: naive_ndcg(ranked, lambda x: 2**x - 1)),
    (gb.nDCG(gains="linear"), lambda ranked: naive_ndcg(ranked, lambda x: x)),
    (gb.KendallTau(), naive_tau),
    (gb.AP(rel=1.5), lambda ranked: oracle.ap([int(x >= 1.5) for x in ranked], 1)),
    (gb.RR(rel=0.5), lambda ranked: oracle.rr([int(x >= 0.5) for x in ranked], 1)),
    (gb.Precision(rel=2.2, k=5), lambda ranked: oracle.precision([int(x >= 2.2) for x in ranked], 1, 5)),
]


@pytest.mark.parametrize(("measure", "naive"), OTHERS, ids=[repr(measure) for measure, _ in OTHERS])
@pytest.mark.parametrize("n_levels", [7, 61])
def test_other_measures_are_their_sums(measure, naive, n_levels):
    y, scores, qid = lists(n_levels)
    values = gb.evaluate(measure, y, scores, qid, per_query=True)[measure]
    np.testing.assert_allclose(values, by_query(naive, y, scores, qid), rtol=1e-12, atol=1e-15)


MEASURES = [
    gb.GAP(g=G),
    gb.xGAP(g=G),
    gb.eGAP(g=G),
    gb.nDCG(k=5),
    gb.QMeasure(),
    gb.KendallTau(),
    gb.ERR(top=3),
    gb.AP(rel=0.7),
]


@pytest.mark.parametrize("n_levels", [7, 61])
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_gradients_are_sums_over_all_pairs(measure, n_levels):
    y, scores, _ = lists(n_levels, 1, 14)
    scores = scores / 4
    order = np.argsort(-scores)
    lam = np.zeros(len(y))
    place = -np.arange(len(y), dtype=float)
    ranked = y[order]
    value = gb.evaluate(measure, ranked, place)[measure]
    for p in range(len(y)):
        for q in range(p + 1, len(y)):
            swapped = ranked.copy()
            swapped[[p, q]] = swapped[[q, p]]
            change = gb.evaluate(measure, swapped, place)[measure] - value
            x = scores[order[p]] - scores[order[q]]
            push = change / (1 + np.exp(x)) if ranked[p] > ranked[q] else change / (1 + np.exp(-x))
            lam[order[p]] += push
            lam[order[q]] -= push
    grad, hess = gb.LambdaRank(measure, normalize=False).gradients(y, scores)
    np.testing.assert_allclose(grad, lam, rtol=1e-8, atol=1e-10)
    assert (hess > 0).all()


@pytest.mark.parametrize("objective", [gb.LambdaRank, gb.SoftRank, gb.ApproxRank])
def test_grades_and_levels_that_are_halved_change_no_bit(objective):
    y, scores, qid = lists(4)
    whole, halves = gb.GAP(g=G), gb.GAP(g=G, levels=(0.5, 1.0, 1.5))
    values = [gb.evaluate(m, y * f, scores, qid, per_query=True)[m] for m, f in ((whole, 1), (halves, 0.5))]
    assert np.array_equal(*values)
    pushes = [objective(m).gradients(y * f, scores, qid) for m, f in ((whole, 1), (halves, 0.5))]
    assert all(np.array_equal(one, other) for one, other in zip(*pushes, strict=True))


@pytest.mark.parametrize("measure", [m for m in MEASURES if m != gb.QMeasure()], ids=repr)
def test_numbering_grades_by_query_or_alike_gives_the_same(measure, monkeypatch):
    y, scores, qid = lists(9)
    found = []
    for limit in (0, 16):
        monkeypatch.setattr(judged_module, "LEVELS_OF_ALL", limit)
        grad, hess = gb.LambdaRank(measure).gradients(y, scores / 50, qid)
        found.append([gb.evaluate(measure, y, scores, qid, per_query=True)[measure], grad, hess])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_ties_count_their_expected_value():
    y, qid = np.array([0.5, 1.75, 0.0, 1.0]), None
    orders = [
        gb.evaluate(gb.GAP(g=G), y, -np.argsort(p).astype(float))
        for p in __import__("itertools").permutations(range(4))
    ]
    mean = np.mean([values[gb.GAP(g=G)] for values in orders])
    assert gb.evaluate(gb.GAP(g=G), y, np.zeros(4), qid)[gb.GAP(g=G)] == pytest.approx(mean, rel=1e-13)


def test_an_open_g_is_a_threshold_anywhere_up_to_the_highest_grade():
    y, scores, qid = lists(13, top=0.9)
    measure = gb.GAP(g=(1.0,), levels=(0.9,))
    assert gb.evaluate("gap", y, scores, qid)[gb.GAP()] == gb.evaluate(measure, y, scores, qid)[measure]


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
    search = GSearchCV(twin.ranker(measure=ranker.measure_), {"n_estimators": [2, 5]}, scoring=ranker.measure_, cv=2)
    assert search.fit(X, y, qid).best_score_ > 0.5


@twins
def test_natively_labels_are_float32(twin):
    y, scores, qid = lists(31)
    sizes = np.bincount(qid)
    found = gradients(twin, twin.module.objective(gb.GAP(g=G)), scores / 50, y, sizes)
    expected = gradients(
        twin, twin.module.objective(gb.LambdaRank(gb.GAP(g=G))), scores / 50, y.astype(np.float32), sizes
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: gb.evaluate(gb.nDCG(gains=(0, 1, 3)), [0.5, 1], [1, 2]),
            "fractional value 0.5, but .* gain for each whole",
        ),
        (lambda: gb.evaluate(gb.GAP(g=(0.5, 0.5)), [2.5, 1], [1, 2]), "grade 2.5, but .* knows the grades 0..2"),
        (lambda: gb.evaluate(gb.GAP(g=(0.5, 0.5)), [-0.5, 1], [1, 2]), "negative grade -0.5; expected grades >= 0"),
        (
            lambda: gb.evaluate("gap", np.arange(200) / 70, np.arange(200)),
            "200 different grades .* at most 64 .* round",
        ),
        (lambda: gb.evaluate("ap", [0.5, 1], [1, 2], recall_base=[[3, 1]]), "recall_base counts whole grades"),
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
