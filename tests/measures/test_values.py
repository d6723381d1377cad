"""Values of every measure are the oracle's: lists, ties, recall bases, weights, threads, rows."""

import math

import numpy as np
import numpy.testing as npt
import oracle
import pytest
from rankings import MEASURES, TOP, random_rankings, some_measures

import gapboost as gb
from gapboost import AP, GAP, eGAP, evaluate, nDCG, xGAP
from gapboost.measures import MEASURES_BY_NAME


def close(expected):
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def mean(values, weights=None):
    """The mean without the queries that are left out; nan if all are."""
    weights = np.ones(len(values)) if weights is None else weights
    counted = ~np.isnan(values) & (weights > 0)
    return (values * weights)[counted].sum() / weights[counted].sum() if counted.any() else math.nan


def test_the_random_rankings_hold_what_they_should():
    """All tests lean on this generator: an accident in it would make them all easy."""
    data = random_rankings(np.random.default_rng(0), 400)
    queries = [(data.grades[r], data.scores[r], data.counts[q]) for q, r in data.rows.items()]
    assert sum(len(grades) == 1 for grades, _, _ in queries) > 40
    assert sum(not grades.any() and any(counts[1:]) for grades, _, counts in queries) > 10
    tied = [
        any(len(set(grades[group])) > 1 for group in oracle.tied_groups(scores))
        for grades, scores, _ in queries
    ]
    assert 100 < sum(tied) < 380
    assert (data.qid[1:] != data.qid[:-1]).sum() > 2 * len(queries)


def test_the_measures_cover_the_library():
    assert {type(m) for m in MEASURES} == {*MEASURES_BY_NAME.values(), gb.WeightedSum}
    assert set().union(*(some_measures(i, 7) for i in range(7))) == set(MEASURES)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("ties", ["expected", "row"])
@pytest.mark.parametrize("missing", [False, True])
def test_equals_the_oracle(ties, missing):
    """Thousands of rankings, a part of the measures at a time, and all of them at first."""
    rng = np.random.default_rng([ties == "row", missing])
    for number in range(8):
        data = random_rankings(rng, 60)
        counts = data.counts if missing else None
        some = some_measures(number, 8)
        rows = (data.grades, data.scores, data.qid)
        wanted = {m: oracle.per_query(v, *rows, ties, "skip", counts) for m, v in some.items()}
        asked = list(some if number else MEASURES)
        for empty in (0, 1, "skip"):
            how = {"recall_base": counts, "ties": ties, "empty": empty, "n_jobs": 1}
            values = evaluate(asked, *rows, **how, per_query=True)
            means = evaluate(asked, *rows, **how)
            assert list(values) == list(means) == [measure.name for measure in asked]
            assert values.qid.tolist() == list(data.rows)
            for measure, expected in wanted.items():
                if empty != "skip":
                    expected = np.where(np.isnan(expected), empty, expected)
                npt.assert_allclose(
                    values[measure], expected, rtol=5e-13, atol=5e-13, err_msg=str(measure)
                )
                assert means[measure] == close(mean(expected)), measure


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("measure", [m for m in MEASURES if m.k in (None, 20)], ids=str)
def test_long_lists_without_ties(measure):
    rng = np.random.default_rng(3)
    for n in (45, 130):
        grades, scores = rng.integers(0, TOP + 1, size=n), rng.normal(size=n)
        expected = oracle.value_in_row_order(MEASURES[measure], grades, scores)
        assert evaluate(measure, grades, scores)[measure] == close(expected)


# --- ties of many documents, which no oracle goes through -----------------------------------------


def test_the_first_relevant_of_many_tied_documents():
    """The first of h relevant among t tied documents: C(t - x, h - 1) / C(t, h) for rank x."""
    for t, h in ((1, 1), (5, 2), (40, 3), (1000, 250), (3000, 1)):
        grades = (np.arange(t) < h).astype(int)
        chance = [math.comb(t - x, h - 1) / math.comb(t, h) for x in range(1, t - h + 2)]
        found = evaluate([gb.RR(), gb.Success(k=3)], grades, np.zeros(t))
        assert found[gb.RR()] == close(sum(p / x for x, p in enumerate(chance, 1)))
        assert found[gb.Success(k=3)] == close(sum(chance[:3]))


# --- open parameters and limits -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "occurring", "resolved"),
    [
        (GAP(k=4), [0, 1, 3], GAP(g=(0.5, 0.0, 0.5), k=4)),
        (eGAP(), [2], eGAP(g=(0.0, 1.0))),
        (GAP(g=(0.1, 0.9)), [0, 1], GAP(g=(0.1, 0.9))),
        (xGAP(), [0, 0.5, 0.75], xGAP(g=(1.0,), levels=(0.75,))),
        (gb.ERR(k=4), [0, 1, 3], gb.ERR(top=3, k=4)),
        (gb.ERR(), [0], gb.ERR(top=1)),
        (gb.ERR(), [0, 1.5], gb.ERR(top=2)),
        (gb.ERR(top=5), [0, 1], gb.ERR(top=5)),
        (gb.grAP(), [0, 1.5], gb.grAP(top=1.5)),
        (0.5 * GAP() + nDCG(k=3), [0, 2], 0.5 * GAP(g=(0.0, 1.0)) + nDCG(k=3)),
    ],
    ids=str,
)
def test_open_parameters_come_from_the_grades_that_occur(measure, occurring, resolved):
    assert measure.resolved(np.array(occurring)) == resolved
    if max(occurring) > 0:
        y, scores = [occurring[-1], *occurring], np.arange(len(occurring) + 1)
        assert evaluate(measure, y, scores)[measure] == evaluate(resolved, y, scores)[resolved]


def test_grades_of_a_recall_base_occur_too():
    values = evaluate([GAP(), GAP((0.5, 0.5))], [1, 0], [1, 2], recall_base=[[1, 1, 2]])
    assert values[GAP()] == values[GAP((0.5, 0.5))]


def test_measures_of_different_highest_grades_together():
    rows = ([0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    measures = [GAP((0.5, 0.5)), xGAP((0.2, 0.3, 0.1, 0.4)), eGAP((1,)), nDCG(gains=(0, 1, 5))]
    measures += [AP(rel=9), gb.ERR(top=1)]
    together = evaluate(measures, *rows)
    assert together == {m.name: evaluate(m, *rows)[m] for m in measures}


def test_letors_discount_and_short_lists():
    letor = nDCG(discount_by="letor", k=4, short_is_zero=True)
    assert 1 / letor.discount(5)[:4] == close([1, 1, math.log2(3), 2])
    assert evaluate(letor, [1, 0, 0], [1, 2, 3]) == {letor.name: 0}
    assert evaluate(letor, [1, 0, 0, 0], [4, 2, 3, 1]) == {letor.name: 1}
    found = evaluate(letor, [1, 0, 0], [1, 2, 3], recall_base=[[5, 1]])
    assert found == {letor.name: close(1 / math.log2(3))}


# --- rows, queries, weights, means ----------------------------------------------------------------


def test_mean_and_weights():
    data = random_rankings(np.random.default_rng(5), 60)
    weights = np.random.default_rng(6).integers(0, 4, size=60) / 2
    by_query = dict(zip(data.rows, weights, strict=True))
    of_rows = np.array([by_query[q] for q in data.qid])
    measures, rows = list(MEASURES)[::9], (data.grades, data.scores, data.qid)
    for empty in (0, 1, "skip"):
        values = evaluate(measures, *rows, empty=empty, per_query=True)
        for sample_weight in (weights, of_rows, of_rows.astype(np.float32), 10 * weights):
            means = evaluate(measures, *rows, empty=empty, sample_weight=sample_weight)
            for measure in measures:
                assert means[measure] == close(mean(values[measure], weights))


def test_no_query_is_left():
    assert math.isnan(evaluate(AP(), [0, 0], [1, 2], empty="skip")[AP()])
    weighted = {"empty": "skip", "sample_weight": [1, 0]}
    assert math.isnan(evaluate(AP(), [0, 0, 1], [1, 2, 3], [5, 5, 7], **weighted)[AP()])
    # A relevant document exists: the query is not empty, nothing of it was found.
    assert evaluate(AP(), [0, 0], [1, 2], empty=1, recall_base=[[0, 1]]) == {"ap": 0}


def test_the_order_of_rows_and_threads_change_nothing():
    rng = np.random.default_rng(7)
    data = random_rankings(rng, 1500)
    measures = list(MEASURES)[::6]
    rows = (data.grades, data.scores, data.qid)
    values = evaluate(measures, *rows, per_query=True, n_jobs=1)
    for n_jobs in (2, 5, -1):
        again = evaluate(measures, *rows, per_query=True, n_jobs=n_jobs)
        assert all(np.array_equal(values[m], again[m]) for m in measures)
    for order in (np.argsort(data.qid, kind="stable"), rng.permutation(len(data.qid))):
        again = evaluate(measures, *(column[order] for column in rows), per_query=True)
        place = {q: i for i, q in enumerate(again.qid.tolist())}
        place = [place[q] for q in values.qid.tolist()]
        assert all(np.array_equal(values[m], again[m][place]) for m in measures)


def test_recall_base_as_a_mapping_or_an_array():
    data = random_rankings(np.random.default_rng(10), 40)
    rows = [data.counts[q] for q in data.rows]
    arguments = (list(MEASURES)[::7], data.grades, data.scores, data.qid)
    expected = evaluate(*arguments, recall_base=data.counts)
    by_grade = {q: dict(enumerate(counts)) for q, counts in data.counts.items()}
    wider = [(*counts, 0, 0) for counts in rows]
    for same in (rows, np.array(rows, dtype=float), wider, by_grade):
        assert evaluate(*arguments, recall_base=same) == expected
    assert evaluate(*arguments) != expected


def test_wide_scores():
    extreme = np.finfo(np.float64).max
    for scores in (
        [extreme, -extreme, 0.0, 5e-324],
        [1e-320, -5e-324, 0.0, 5e-324],
        1 + np.array([2, -1, 0, 1]) * 2.3e-16,
    ):
        assert evaluate(AP(), [1, 0, 0, 1], scores) == {"ap": 1}
    rng = np.random.default_rng(12)
    for _ in range(20):  # long enough for every way of sorting
        grades = rng.integers(0, TOP + 1, size=400)
        scores = rng.choice([-1, 1], size=400) * 10.0 ** rng.uniform(-320, 308, size=400)
        scores[:50] = rng.choice([0.0, -0.0, extreme], size=50)
        ranks = np.unique(-scores, return_inverse=True)[1]
        measures = list(MEASURES)[::10]
        assert evaluate(measures, grades, scores) == evaluate(measures, grades, -ranks)
