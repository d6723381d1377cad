"""`evaluate` against the oracle, scikit-learn and ir_measures, over the rankings of `rankings`."""

import math
import shutil

import ir_measures
import numpy as np
import numpy.testing as npt
import oracle
import pytest
from hypothesis import given, settings
from rankings import MEASURES, TOP, documents, random_rankings, some_measures
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

import gapboost as gb
from gapboost import AP, GAP, Precision, eGAP, evaluate, nDCG, xGAP
from gapboost.measures import MEASURES_BY_NAME, RecallBase


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance, nan_ok=True)


# --- the generator --------------------------------------------------------------------------------


def test_the_random_rankings_hold_what_they_should():
    """All tests lean on this generator: an accident in it would make them all easy."""
    data = random_rankings(np.random.default_rng(0), 400)
    queries = [
        (data.grades[rows], data.scores[rows], data.counts[name])
        for name, rows in data.rows.items()
    ]
    assert len(queries) == 400
    assert sum(len(grades) == 1 for grades, _, _ in queries) > 40
    assert sum(len(grades) >= 8 for grades, _, _ in queries) > 40
    assert sum(not grades.any() for grades, _, _ in queries) > 40
    assert sum(not grades.any() and any(counts[1:]) for grades, _, counts in queries) > 10
    assert sum(len(np.unique(scores)) < len(scores) for _, scores, _ in queries) > 200
    assert sum(len(np.unique(scores)) == len(scores) > 2 for _, scores, _ in queries) > 20
    assert sum(len(scores) > 2 and np.ptp(scores) == 0 for _, scores, _ in queries) > 10
    # tied documents of different grades: others do not test the tie rule
    mixed = [
        any(len(set(grades[group])) > 1 for group in oracle.tied_groups(scores)) and grades.any()
        for grades, scores, _ in queries
    ]
    assert sum(mixed) > 100
    for missing in range(TOP):
        assert (
            sum(missing not in grades and grades.max() > missing for grades, _, _ in queries) > 40
        )
    assert sum(len(set(grades)) == TOP + 1 for grades, _, _ in queries) > 10
    listed = [tuple(np.bincount(grades, minlength=TOP + 1)) for grades, _, _ in queries]
    assert (
        100 < sum(counts != own for (_, _, counts), own in zip(queries, listed, strict=True)) < 300
    )
    # rows in no order: some query is cut into pieces, and ids do not come sorted
    assert (data.qid[1:] != data.qid[:-1]).sum() > 2 * len(queries)
    assert list(data.rows) != sorted(data.rows)
    untied = random_rankings(np.random.default_rng(1), 50, ties=False)
    assert all(len(np.unique(untied.scores[rows])) == len(rows) for rows in untied.rows.values())


def test_the_measures_cover_the_library():
    kinds = {*MEASURES_BY_NAME.values(), gb.WeightedSum}
    assert {type(measure) for measure in MEASURES} == kinds
    for kind in kinds - {
        Precision,
        gb.Recall,
        gb.KendallTau,
        gb.PairwiseAccuracy,
        gb.SpearmanRho,
        gb.WeightedSum,
    }:
        assert {m.k for m in MEASURES if type(m) is kind} == {None, 1, 3, 20}
    assert sum(m.g[0] == 0 for m in MEASURES if hasattr(m, "g")) >= 12
    assert set().union(*(some_measures(i, 7) for i in range(7))) == set(MEASURES)


# --- the oracle -----------------------------------------------------------------------------------


def mean(values, weights=None):
    """The mean without the queries that are left out; nan if all are."""
    counted = ~np.isnan(values) & (True if weights is None else weights > 0)
    weights = np.ones(len(values)) if weights is None else weights
    return (values * weights)[counted].sum() / weights[counted].sum() if counted.any() else math.nan


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
        asked = list(some if number else MEASURES)
        of_relevant = {
            measure: oracle.per_query(
                value, data.grades, data.scores, data.qid, ties, "skip", counts
            )
            for measure, value in some.items()
        }
        arguments = (asked, data.grades, data.scores, data.qid)
        for empty in (0, 1, "skip"):
            how = {"recall_base": counts, "ties": ties, "empty": empty, "n_jobs": 1}
            values, means = evaluate(*arguments, **how, per_query=True), evaluate(*arguments, **how)
            assert list(values) == list(means) == asked
            assert values.qid.tolist() == list(data.rows)
            for measure, expected in of_relevant.items():
                if empty != "skip":
                    expected = np.where(np.isnan(expected), empty, expected)
                assert values[measure].dtype == np.float64
                npt.assert_allclose(
                    values[measure], expected, rtol=5e-13, atol=5e-13, err_msg=str(measure)
                )
                assert means[measure] == close(mean(expected)), measure


@pytest.mark.slow
@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(documents)
def test_equals_the_oracle_for_every_small_query(rows):
    grades, scores = [grade for grade, _ in rows], [score for _, score in rows]
    some = some_measures(sum(grades), 9)
    for ties in ("expected", "row"):
        values = evaluate(list(some), grades, scores, ties=ties, per_query=True, n_jobs=1)
        for measure, value in some.items():
            assert values[measure] == close(
                oracle.per_query(value, grades, scores, [0] * len(rows), ties)
            ), measure


@pytest.mark.slow(keep=20)
@pytest.mark.parametrize("measure", [m for m in MEASURES if m.k in (None, 20)], ids=str)
def test_long_lists_without_ties(measure):
    rng = np.random.default_rng(3)
    for n in (45, 130):
        grades, scores = rng.integers(0, TOP + 1, size=n), rng.normal(size=n)
        expected = oracle.value_in_row_order(MEASURES[measure], grades, scores)
        assert evaluate(measure, grades, scores)[measure] == close(expected)


@pytest.mark.parametrize("n", [2, 70, 5000])
def test_one_relevant_document_among_tied_ones(n):
    grades, harmonic = np.eye(1, n, dtype=int)[0], np.cumsum(1 / np.arange(1, n + 1))
    measures = [AP(), GAP((1,)), xGAP((1,)), eGAP((1,), k=2), Precision(k=2), nDCG()]
    values = evaluate(measures, grades, np.zeros(n))
    for measure in measures[:3]:
        assert values[measure] == close(harmonic[-1] / n)
    assert values[measures[3]] == close(harmonic[1] / n)
    assert values[Precision(k=2)] == close(1 / n)
    assert values[nDCG()] == close((1 / np.log2(np.arange(2, n + 2))).sum() / n)
    at_row = evaluate(measures, np.roll(grades, n // 2), np.zeros(n), ties="row")
    assert at_row[AP()] == close(1 / (n // 2 + 1))


def test_g_is_uniform_over_the_grades_of_the_data():
    data = random_rankings(np.random.default_rng(4), 30)
    arguments = (data.scores, data.qid)
    g = (1 / 3, 1 / 3, 1 / 3)
    for kind in (GAP, xGAP, eGAP):
        assert (
            evaluate(kind(), data.grades, *arguments)[kind()]
            == evaluate(kind(g), data.grades, *arguments)[kind(g)]
        )
        without_two = np.where(data.grades == 2, 0, data.grades)
        g13 = (0.5, 0, 0.5)
        assert (
            evaluate(kind(), without_two, *arguments)[kind()]
            == evaluate(kind(g13), without_two, *arguments)[kind(g13)]
        )
        assert evaluate(kind(), np.zeros_like(data.grades), *arguments) == {kind(): 0}
    # grades that occur only in the recall base count too
    assert evaluate(GAP(), [1, 0], [1, 2], recall_base=[[1, 1, 2]]) == {
        GAP(): close(
            evaluate(GAP((0.5, 0.5)), [1, 0], [1, 2], recall_base=[[1, 1, 2]])[GAP((0.5, 0.5))]
        )
    }


def test_measures_with_g_of_different_lengths():
    measures = [
        GAP((0.5, 0.5)),
        xGAP((0.2, 0.3, 0.1, 0.4)),
        eGAP((1,)),
        nDCG(gains=(0, 1, 5)),
        AP(rel=9),
    ]
    together = evaluate(measures, [0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])
    for measure in measures:
        assert together[measure] == evaluate(measure, [0, 1, 1, 0], [4.0, 3.0, 2.0, 1.0])[measure]


# --- rows, queries, weights, means ----------------------------------------------------------------


def test_mean_and_weights():
    data = random_rankings(np.random.default_rng(5), 60)
    weights = np.random.default_rng(6).integers(0, 4, size=60) / 2
    by_query = dict(zip(data.rows, weights, strict=True))
    of_rows = np.array([by_query[q] for q in data.qid])
    measures = list(MEASURES)[::9]
    for empty in (0, 1, "skip"):
        values = evaluate(measures, data.grades, data.scores, data.qid, empty=empty, per_query=True)
        for sample_weight in (weights, of_rows, of_rows.astype(np.float32), 10 * weights):
            means = evaluate(
                measures,
                data.grades,
                data.scores,
                data.qid,
                empty=empty,
                sample_weight=sample_weight,
            )
            for measure in measures:
                assert means[measure] == close(mean(values[measure], weights))


def test_no_query_is_left():
    assert math.isnan(evaluate(AP(), [0, 0], [1, 2], empty="skip")[AP()])
    assert math.isnan(
        evaluate(AP(), [0, 0, 1], [1, 2, 3], [5, 5, 7], empty="skip", sample_weight=[1, 0])[AP()]
    )
    assert evaluate(AP(), [0, 0], [1, 2], empty=1) == {AP(): 1}
    assert evaluate(AP(rel=2), [1, 1], [1, 2], empty=1) == {AP(rel=2): 1}
    # a relevant document exists: the query is not empty, nothing of it was found
    assert evaluate(AP(), [0, 0], [1, 2], empty=1, recall_base=[[0, 1]]) == {AP(): 0}


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(7)
    data = random_rankings(rng, 80)
    measures = list(MEASURES)
    values = evaluate(measures, data.grades, data.scores, data.qid, per_query=True)
    for rows in (
        np.argsort(data.qid, kind="stable"),
        rng.permutation(len(data.qid)),
        np.lexsort((data.grades, data.qid)),
    ):
        again = evaluate(
            measures, data.grades[rows], data.scores[rows], data.qid[rows], per_query=True
        )
        place = [again.qid.tolist().index(q) for q in values.qid]
        for measure in measures:
            assert np.array_equal(again[measure][place], values[measure])


def test_any_kind_of_id_and_number():
    data = random_rankings(np.random.default_rng(8), 40)
    number = np.unique(data.qid, return_inverse=True)[1]
    measures = list(MEASURES)[::11]
    expected = evaluate(measures, data.grades, data.scores, data.qid)
    for qid in (
        number,
        number.astype(np.uint8),
        number.astype(np.int64) + 2**62,
        -number.astype(np.float64) / 3,
        number.astype("datetime64[D]"),
        data.qid.astype(object),
        [("a", 1)[i % 2] if i < 2 else i for i in number.tolist()],
        data.qid.tolist(),
    ):
        assert evaluate(measures, data.grades, data.scores, qid) == expected
    for grades in (
        data.grades.astype(np.uint8),
        data.grades.astype(np.float32),
        data.grades.tolist(),
    ):
        assert evaluate(measures, grades, data.scores, data.qid) == expected
    for scores in (
        data.scores.astype(np.float32),
        (4 * data.scores).astype(np.int64),
        data.scores.tolist(),
    ):
        # Quarters: exact in float32.
        assert evaluate(measures, data.grades, scores, data.qid) == expected
    binary = data.grades > 0
    assert evaluate(AP(), binary, data.scores, data.qid) == evaluate(
        AP(), binary * 1, data.scores, data.qid
    )


def test_one_query_without_ids():
    data = random_rankings(np.random.default_rng(9), 1, ties=False)
    assert evaluate(AP(), data.grades, data.scores) == evaluate(
        AP(), data.grades, data.scores, data.qid
    )
    values = evaluate([AP()], data.grades, data.scores, per_query=True)
    assert values[AP()].shape == values.qid.shape == (1,)


def test_recall_base_as_a_mapping_or_an_array():
    data = random_rankings(np.random.default_rng(10), 40)
    rows = [data.counts[q] for q in data.rows]
    measures = list(MEASURES)[::7]
    arguments = (measures, data.grades, data.scores, data.qid)
    expected = evaluate(*arguments, recall_base=data.counts)
    more = {**data.counts, "a query without rows": (1, 2, 3)}
    wider = [(*counts, 0, 0) for counts in rows]
    for same in (
        rows,
        np.array(rows),
        np.array(rows, dtype=float),
        more,
        wider,
        {q: list(c) for q, c in more.items()},
    ):
        assert evaluate(*arguments, recall_base=same, missing_queries="skip") == expected
    assert evaluate(*arguments) != expected
    # documents without a judgment are listed with grade 0, and nobody counts them
    assert evaluate(AP(), [0, 0, 1], [3, 2, 1], recall_base=[[0, 2]]) == {AP(): close(1 / 3 / 2)}
    # counts of the grades that occur are enough
    assert evaluate(AP(), [0, 1], [2, 1], ["a", "b"], recall_base={"a": [1], "b": [0, 1]}) == {
        AP(): 0.5
    }


def test_threads_change_nothing():
    data = random_rankings(np.random.default_rng(11), 1500)
    measures = list(MEASURES)[::13]
    one = evaluate(measures, data.grades, data.scores, data.qid, per_query=True, n_jobs=1)
    for n_jobs in (2, 5, -1, None):
        several = evaluate(
            measures, data.grades, data.scores, data.qid, per_query=True, n_jobs=n_jobs
        )
        assert all(np.array_equal(one[measure], several[measure]) for measure in measures)


def test_wide_scores():
    extreme = np.finfo(np.float64).max
    for scores in (
        [extreme, -extreme, 0.0, 5e-324],
        [1e-320, -5e-324, 0.0, 5e-324],
        1 + np.array([2, -1, 0, 1]) * 2.3e-16,
    ):
        assert evaluate(AP(), [1, 0, 0, 1], scores) == {AP(): 1}
    rng = np.random.default_rng(12)
    for _ in range(20):  # long enough for every way of sorting
        grades = rng.integers(0, TOP + 1, size=400)
        scores = rng.choice([-1, 1], size=400) * 10.0 ** rng.uniform(-320, 308, size=400)
        scores[:50] = rng.choice([0.0, -0.0, extreme], size=50)
        ranks = np.unique(-scores, return_inverse=True)[1]
        measures = list(MEASURES)[::10]
        assert evaluate(measures, grades, scores) == evaluate(measures, grades, -ranks)


def test_wide_whole_numbers_that_floats_tell_apart():
    for scores in (
        np.array([2**62, 2**62 + 2**10, 5, 2**62]),
        np.array([2**64 - 1, 2**63, 5, 2**63], dtype=np.uint64),
        [2**70, 2**71, 5, 2**70],
        [2**60, 2**61, 0.5, 2**60],
    ):
        ranks = np.unique(np.array(scores, dtype=object), return_inverse=True)[1]
        assert evaluate(AP(), [1, 0, 1, 0], scores) == evaluate(AP(), [1, 0, 1, 0], ranks)


def test_inputs_stay_as_they_are():
    data = random_rankings(np.random.default_rng(13), 20)
    frozen = [array.copy() for array in (data.grades, data.scores, data.qid)]
    for array in frozen:
        array.setflags(write=False)
    assert evaluate(AP(), *frozen) == evaluate(AP(), data.grades, data.scores, data.qid)
    strided = [np.repeat(array, 2)[::2] for array in frozen]
    assert evaluate(AP(), *strided) == evaluate(AP(), data.grades, data.scores, data.qid)


# --- other libraries ------------------------------------------------------------------------------


@pytest.mark.slow
def test_average_precision_is_scikit_learns():
    data = random_rankings(np.random.default_rng(14), 300, ties=False, longest=40)
    measures = [AP(rel=rel) for rel in (1, 2, 3)]
    values = evaluate(measures, data.grades, data.scores, data.qid, per_query=True)
    compared = 0
    for q, rows in enumerate(data.rows.values()):
        for measure in measures:
            binary = data.grades[rows] >= measure.rel
            if binary.any():
                assert values[measure][q] == close(
                    average_precision_score(binary, data.scores[rows])
                )
                compared += 1
    assert compared > 400


def test_ndcg_is_scikit_learns_which_averages_over_ties():
    """Compare long lists too, for which the oracle cannot go through all orders of ties."""
    rng = np.random.default_rng(15)
    measures = [nDCG(k=k) for k in (None, 1, 5, 50)]
    for _ in range(60):
        n = rng.integers(2, 120)
        grades, scores = (
            rng.integers(0, TOP + 1, size=n),
            rng.integers(0, rng.integers(1, 2 * n), size=n),
        )
        values = evaluate(measures, grades, scores)
        for measure in measures:
            assert values[measure] == close(ndcg_score([2**grades - 1], [scores], k=measure.k))


@pytest.fixture(scope="module")
def collection():
    """Judgments and a run, each with documents that the other one lacks; the same as rows."""
    rng = np.random.default_rng(16)
    qrels, run, rows, recall_base = [], [], [], {}
    for number in range(25):
        query = str(number)
        judged = {
            f"d{number}-{doc}": int(rng.integers(0, TOP + 1)) for doc in range(rng.integers(4, 40))
        }
        judged[f"d{number}-best"] = TOP
        retrieved = [name for name in judged if rng.random() < 0.7] + [
            f"u{number}-{doc}" for doc in range(3)
        ]
        scores = rng.permutation(len(retrieved)) / 4
        qrels += [ir_measures.Qrel(query, name, grade) for name, grade in judged.items()]
        run += [
            ir_measures.ScoredDoc(query, name, s) for name, s in zip(retrieved, scores, strict=True)
        ]
        rows += [(judged.get(name, 0), s, query) for name, s in zip(retrieved, scores, strict=True)]
        recall_base[query] = np.bincount(list(judged.values()), minlength=TOP + 1)
    grades, scores, qid = (
        np.array(column)
        for column in zip(*(rows[i] for i in rng.permutation(len(rows))), strict=True)
    )
    return qrels, run, (grades, scores, qid), recall_base


def compared(collection, theirs, ours, tolerance):
    qrels, run, rows, recall_base = collection
    values = evaluate(list(ours), *rows, recall_base=recall_base, per_query=True)
    place = {query: q for q, query in enumerate(values.qid.tolist())}
    pairs = dict(zip(theirs, ours, strict=True))
    seen = 0
    for metric in ir_measures.iter_calc(list(pairs), qrels, run):
        expected = pytest.approx(metric.value, abs=tolerance, rel=0)
        assert values[pairs[metric.measure]][place[metric.query_id]] == expected, metric
        seen += 1
    assert seen == len(theirs) * len(place)


def test_equals_ir_measures(collection):
    theirs = [ir_measures.AP(rel=rel) for rel in (1, 2, 3)]
    ours = [AP(rel=rel) for rel in (1, 2, 3)]
    theirs += [
        ir_measures.AP(rel=2) @ 5,
        ir_measures.nDCG,
        ir_measures.nDCG @ 5,
        ir_measures.nDCG @ 100,
    ]
    ours += [AP(rel=2, k=5), *(nDCG(gains=(0, 1, 2, 3), k=k) for k in (None, 5, 100))]
    for rel, k in ((1, 1), (1, 5), (2, 10), (3, 60)):
        theirs.append(ir_measures.P(rel=rel) @ k)
        ours.append(Precision(rel=rel, k=k))
    compared(collection, theirs, ours, 1e-12)


@pytest.mark.skipif(
    shutil.which("perl") is None, reason="ir_measures computes nDCG(dcg='exp-log2') with gdeval.pl"
)
def test_ndcg_equals_ir_measures_exp_log2(collection):
    cutoffs = (1, 5, 20)
    theirs = [ir_measures.nDCG(dcg="exp-log2") @ k for k in cutoffs]
    compared(collection, theirs, [nDCG(k=k) for k in cutoffs], 5.1e-6)  # gdeval prints five digits


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures computes ERR with gdeval.pl")
def test_err_equals_gdeval_whose_scale_ends_at_4(collection):
    cutoffs = (1, 5, 20)
    compared(
        collection,
        [ir_measures.ERR @ k for k in cutoffs],
        [gb.ERR(top=4, k=k) for k in cutoffs],
        5.1e-6,
    )


def test_dcg_is_scikit_learns_which_averages_over_ties():
    rng = np.random.default_rng(17)
    for _ in range(60):
        n = rng.integers(2, 120)
        grades, scores = (
            rng.integers(0, TOP + 1, size=n),
            rng.integers(0, rng.integers(1, 2 * n), size=n),
        )
        for k in (None, 1, 5, 50):
            expected = dcg_score([grades], [scores], k=k)
            assert evaluate(gb.DCG(gains="linear", k=k), grades, scores)[
                gb.DCG(gains="linear", k=k)
            ] == close(expected)


@pytest.mark.slow
def test_orders_of_pairs_are_scikit_learns_and_scipys():
    rng = np.random.default_rng(18)
    measures = [gb.KendallTau(), gb.PairwiseAccuracy()]
    for _ in range(60):
        n = rng.integers(3, 120)
        grades, scores = rng.integers(0, TOP + 1, size=n), rng.integers(0, n, size=n)
        grades[:2] = (0, 1)
        tau, accuracy = evaluate(measures, grades, scores).values()
        assert accuracy == close((tau + 1) / 2)
        # tau-b also divides by the pairs of different scores
        pairs = [sum(x[i] != x[j] for i in range(n) for j in range(i)) for x in (grades, scores)]
        assert tau * pairs[0] == close(
            kendalltau(grades, scores).statistic * math.sqrt(pairs[0] * pairs[1]), 1e-9
        )
        binary = grades > 0
        assert evaluate(gb.PairwiseAccuracy(), binary, scores)[gb.PairwiseAccuracy()] == close(
            roc_auc_score(binary, scores)
        )


def test_reciprocal_rank_of_tied_documents_has_a_closed_form():
    """The first of h relevant among t tied documents: C(t - x, h - 1) / C(t, h) for rank x."""
    for t, h in ((1, 1), (5, 2), (40, 3), (1000, 250), (3000, 1)):
        grades = (np.arange(t) < h).astype(int)
        expected = sum(math.comb(t - x, h - 1) / math.comb(t, h) / x for x in range(1, t - h + 2))
        assert evaluate(gb.RR(), grades, np.zeros(t))[gb.RR()] == close(expected)


def test_expected_reciprocal_rank_of_many_tied_documents():
    """The mean over random orders of a group that no one could go through."""
    rng = np.random.default_rng(19)
    grades = rng.integers(0, TOP + 1, size=60)
    measure = gb.ERR(top=5, k=25)
    orders = np.concatenate([rng.permutation(60) for _ in range(4000)])
    drawn = evaluate(
        measure, np.tile(grades, 4000), orders, np.repeat(np.arange(4000), 60), per_query=True
    )[measure]
    expected = evaluate(measure, grades, np.zeros(60))[measure]
    assert abs(expected - drawn.mean()) < 4 * drawn.std() / math.sqrt(4000)


def test_q_measure_without_stress_on_gain_is_average_precision():
    data = random_rankings(np.random.default_rng(20), 100)
    flat, ap = gb.QMeasure(beta=1e-100), AP()
    values = evaluate(
        [flat, ap], data.grades, data.scores, data.qid, recall_base=data.counts, per_query=True
    )
    assert values[flat] == close(values[ap])


def test_letors_discount_and_short_lists():
    letor = nDCG(discount_by="letor", k=4, short_is_zero=True)
    assert 1 / letor.discount(5)[:4] == close([1, 1, math.log2(3), 2])
    assert evaluate(letor, [1, 0, 0], [1, 2, 3]) == {letor: 0}
    assert evaluate(letor, [1, 0, 0, 0], [4, 2, 3, 1]) == {letor: 1}
    assert evaluate(letor, [1, 0, 0], [1, 2, 3], recall_base=[[5, 1]]) == {
        letor: close(1 / math.log2(3))
    }
    assert nDCG(discount_by=2, gains="linear").discount(9) == close(
        nDCG(discount_by="letor").discount(9)
    )


# --- weighted sums --------------------------------------------------------------------------------


def test_sums_with_one_discount_are_one_measure_of_the_form():
    one = 0.7 * GAP((0.5, 0.5)) + 0.3 * AP(rel=2)
    assert one.terms == ((1.0, one),)
    assert one.n_grades == 2
    base = RecallBase.of_whole_grades(np.array([[3, 2, 1], [0, 0, 4]]))
    parts = [GAP((0.5, 0.5)).tables(base), AP(rel=2).tables(base)]
    for found, gap, ap in zip(one.tables(base), *parts, strict=True):
        assert found == close(0.7 * gap + 0.3 * ap)
    at_five = GAP((0.5, 0.5), k=5) + AP(k=5)
    assert at_five.k == 5
    assert len(at_five.terms) == 1
    assert len((GAP((0.5, 0.5), k=5) + AP()).terms) == 2
    three = 0.7 * GAP((0.5, 0.5)) + 0.2 * nDCG(k=10) + 0.1 * AP()
    assert three.terms == ((1.0, 0.7 * GAP((0.5, 0.5)) + 0.1 * AP()), (0.2, nDCG(k=10)))
    with pytest.raises(ValueError, match="which has several discounts"):
        three.tables(base)
    assert (gb.nDCG(discount_by="letor") + gb.nDCG(discount_by=2)).terms[0][1].k is None
    assert len((gb.nDCG(discount_by="letor", k=3) + gb.DCG(discount_by=2, k=3)).terms) == 1
    assert (one + gb.ERR()).trains


def test_a_sum_leaves_to_the_data_what_its_parts_do():
    data = random_rankings(np.random.default_rng(21), 30)
    measure = 0.5 * GAP() + 0.5 * gb.ERR()
    resolved = 0.5 * GAP((1 / 3, 1 / 3, 1 / 3)) + 0.5 * gb.ERR(top=3)
    values = [evaluate(m, data.grades, data.scores, data.qid)[m] for m in (measure, resolved)]
    assert values[0] == values[1]
    parts = evaluate([GAP(), gb.ERR()], data.grades, data.scores, data.qid)
    assert values[0] == close(sum(parts.values()) / 2)


def test_is_exported():
    assert gb.evaluate is evaluate
