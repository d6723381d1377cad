"""Fractional grades: averages of judges, expected clicks, rounded scores of a model."""

from dataclasses import replace

import numpy as np
import pytest
from twins import gradients, metric_values, twins

import gapboost as gb
from gapboost.measures import MEASURES_BY_NAME

G = (0.2, 0.5, 0.3)
MEASURES = [
    gb.GAP(g=G), gb.GAP(g=G, levels=(0.75, 1.5, 3.0)), gb.xGAP(g=G), gb.eGAP(g=G, k=9),
    gb.DCG(), gb.nDCG(k=5), gb.nDCG(gains="linear"), gb.nDCG(gains=(0, 0.25, 0.75, 1)),
    gb.QMeasure(), gb.grAP(top=3), gb.KendallTau(), gb.PairwiseAccuracy(k=20), gb.SpearmanRho(),
    gb.AP(rel=1.5), gb.Precision(rel=2.2, k=5), gb.Recall(rel=1.2, k=7), gb.RPrecision(rel=1.2),
    gb.RBP(rel=1.7), gb.INSQ(gains=(0, 0.2, 0.5, 1)), gb.RR(rel=0.5), gb.Success(rel=2.2, k=3),
    2 * gb.GAP(g=G) + gb.eGAP(g=G),
]  # fmt: skip


def test_the_measures_are_those_of_the_library():
    kinds = {type(measure) for measure in MEASURES} - {gb.WeightedSum}
    # The chance to stop at a grade has no whole grades that it could belong to.
    assert kinds == set(MEASURES_BY_NAME.values()) - {gb.ERR}


def lists(n_levels, n_queries=12):
    """Numbers of levels, all of them in the first query, and scores, some of them equal."""
    rng = np.random.default_rng(n_levels)
    sizes = rng.integers(2, 40, n_queries)
    sizes[0] = max(40, n_levels + 5)
    qid = np.repeat(np.arange(n_queries), sizes)
    numbers = rng.integers(0, n_levels, len(qid))
    numbers[:n_levels] = np.arange(n_levels)
    return numbers, np.round(rng.normal(size=len(qid)), 2), qid


def of_numbers(measure, levels):
    """Return the measure that is for numbers of levels what `measure` is for the levels."""
    if isinstance(measure, gb.WeightedSum):
        return gb.WeightedSum(tuple((w, of_numbers(part, levels)) for w, part in measure.parts))
    changed = {}
    if hasattr(measure, "g"):
        known = measure.levels or range(1, len(measure.g) + 1)
        up_to_level = np.interp(levels, [0, *known], [0, *np.cumsum(measure.g)])
        changed = {"g": np.diff(up_to_level), "levels": None}
    if isinstance(measure, gb.grAP):
        changed = {"gains": levels / measure.top, "top": None}
    elif getattr(measure, "gains", None) is not None:
        formulas = {"exponential": 2**levels - 1, "linear": levels}
        gains = measure.gains
        by_level = formulas[gains] if isinstance(gains, str) else np.interp(levels, range(4), gains)
        changed = {"gains": by_level}
    elif hasattr(measure, "rel"):
        changed = {"rel": int(np.searchsorted(levels, measure.rel))}
    return replace(measure, **changed)


# Up to 16 different grades have the same codes in all queries, more have codes of each query.
@pytest.mark.parametrize("n_levels", [2, 7, 16, 64])
@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_values_and_gradients_are_those_of_whole_grades(measure, n_levels):
    levels, (numbers, scores, qid) = np.linspace(0, 3, n_levels), lists(n_levels)
    whole = of_numbers(measure, levels)
    rows = [(levels[numbers], scores, qid), (numbers, scores, qid)]
    counts = [{q: np.bincount(numbers[qid == q], minlength=n_levels) + q % 3 for q in range(12)}]
    counts.insert(0, {q: dict(zip(levels, found, strict=True)) for q, found in counts[0].items()})
    for bases in ((None, None), counts):
        found, expected = (
            gb.evaluate(m, *of_rows, recall_base=base, per_query=True)[m]
            for m, of_rows, base in zip((measure, whole), rows, bases, strict=True)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    if measure.trains:
        found, expected = (
            gb.LambdaRank(m).gradients(*of_rows)
            for m, of_rows in zip((measure, whole), rows, strict=True)
        )
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-11)


def test_err_of_fractional_grades():
    ranked, expected, reached = np.array([0.5, 2.25, 0.0, 3.0]), 0.0, 1.0
    for n, stop in enumerate((2**ranked - 1) / 2**3, start=1):
        expected += reached * stop / n
        reached *= 1 - stop
    measure = gb.ERR(top=3)
    assert gb.evaluate(measure, ranked, -np.arange(4))[measure] == pytest.approx(expected)


@pytest.mark.parametrize("n_levels", [16, 64])
@pytest.mark.parametrize("objective", [gb.LambdaRank, gb.SoftRank, gb.ApproxRank])
def test_grades_and_levels_that_are_halved_change_no_bit(objective, n_levels):
    numbers, scores, qid = lists(n_levels)
    y = numbers * 3 / (n_levels - 1)
    cases = ((gb.GAP(g=G), 1), (gb.GAP(g=G, levels=(0.5, 1.0, 1.5)), 0.5))
    values = [gb.evaluate(m, y * f, scores, qid, per_query=True)[m] for m, f in cases]
    assert np.array_equal(*values)
    pushes = [objective(m).gradients(y * f, scores, qid) for m, f in cases]
    assert all(np.array_equal(one, other) for one, other in zip(*pushes, strict=True))


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


@twins
def test_labels_of_boosters_are_float32(twin):
    """A threshold of .7 is reached by float32(.7), which is below it."""
    y, scores, sizes = np.array([0.7, 0, 0.7, 0.35, 0, 0.35]), np.arange(6.0), [6]
    of_threshold = gradients(twin, twin.module.objective(gb.AP(rel=0.7)), scores, y, sizes)
    of_binary = gradients(twin, twin.module.objective(gb.AP()), scores, y >= 0.7, sizes)
    np.testing.assert_array_equal(of_threshold, of_binary)
    metric = twin.module.eval_metric(gb.AP(rel=0.7))
    (value,) = metric_values(twin, metric, scores, y, sizes).values()
    assert value == pytest.approx(gb.evaluate(gb.AP(rel=0.7), y, scores)[gb.AP(rel=0.7)], rel=1e-6)


@pytest.mark.parametrize("measure", [m for m in MEASURES if hasattr(m, "rel")], ids=repr)
def test_float32_labels_reach_the_same_threshold(measure):
    measure = replace(measure, rel=0.7, **({"gains": None} if hasattr(measure, "gains") else {}))
    y, scores = np.array([0.7, 0, 0.7, 1, 0, 0.35]), np.arange(6)[::-1] * 1.0
    expected = gb.evaluate(measure, y, scores)[measure]
    assert gb.evaluate(measure, y.astype("f4"), scores)[measure] == expected
    binary = replace(measure, rel=1)
    assert expected == gb.evaluate(binary, (y >= 0.7).astype(int), scores)[binary]


def test_no_threshold_is_reached_by_grade_0():
    assert gb.evaluate(gb.AP(rel=1e-300), [0, 0, 1], [3, 2, 1]) == {"ap(rel=1e-300)": 1 / 3}
    assert gb.evaluate(gb.AP(rel=1e300), [0, 0.5, 1], [3, 2, 1]) == {gb.AP(rel=1e300).name: 0}


# --- refusals -------------------------------------------------------------------------------------

MANY = np.arange(65)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gb.evaluate("gap", MANY / 50, MANY), "^y_true holds 65 .*expected at most 64"),
        (lambda: gb.LambdaRank("err").gradients(MANY, MANY), "^y_true holds 65 "),
        (lambda: gb.evaluate(gb.GAP(g=(1,), levels=(0.5,)), [1.5, 1], [1, 2]), "^y_true .* 1.5"),
        (lambda: gb.evaluate("gap", [612.5, 1], [1.5, 2]), "^y_true .* 612.5"),
        (
            lambda: gb.evaluate("ap", [0.5, 1], [1, 2], [1, 1], recall_base={1: {0.5: 1.5, 1: 2}}),
            "^recall_base holds 1.5",
        ),
        (lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0, 0.5)), "^levels is "),
        (lambda: gb.GAP(g=(0.5, 0.5), levels=(1.0,)), "^levels is "),
        (lambda: gb.GAP(levels=(1.0,)), "^levels is "),
    ],
)
def test_what_has_no_meaning_is_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
