"""The same numbers as scikit-learn, scipy and ir_measures; tests/interop has other libraries."""

import math
import shutil

import ir_measures
import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata, spearmanr
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score, roc_auc_score

import gapboost as gb

TOP = 3


# --- scikit-learn and scipy -----------------------------------------------------------------------


def close(expected, tolerance=1e-12):
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def tied_lists(seed):
    """Grades and scores of lists with ties."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        n = rng.integers(3, 120)
        grades, scores = rng.integers(0, TOP + 1, n), rng.integers(0, rng.integers(1, 2 * n), n)
        grades[:2] = (0, 1)
        yield grades, scores


def test_average_precision_is_scikit_learns():
    measures = [gb.AP(rel=rel) for rel in (1, 2, 3)]
    for grades, _ in tied_lists(14):
        scores = np.random.default_rng(len(grades)).permutation(len(grades))
        values = gb.evaluate(measures, grades, scores)
        for measure in measures:
            if (grades >= measure.rel).any():
                assert values[measure] == close(
                    average_precision_score(grades >= measure.rel, scores)
                )


def test_average_precision_with_ties_is_the_mean_over_their_orders():
    """scikit-learn's is another number."""
    rng = np.random.default_rng(3)
    scores = rng.integers(0, 10, 400) / 10
    y = (rng.random(400) < 0.1 + 0.5 * scores).astype(int)
    (ours,) = gb.evaluate("ap", y, scores).values()
    orders = [scores + 0.01 * rng.random(400) for _ in range(500)]
    means = [average_precision_score(y, order) for order in orders]
    # Three standard errors.
    assert abs(np.mean(means) - ours) < 3 * np.std(means) / math.sqrt(len(means))
    assert average_precision_score(y, scores) < ours - 0.005


def test_cumulated_gains_are_scikit_learns_which_averages_over_ties():
    cutoffs = (None, 1, 5, 50)
    for grades, scores in tied_lists(15):
        for k in cutoffs:
            ndcg, dcg = gb.nDCG(k=k), gb.DCG(gains="linear", k=k)
            values = gb.evaluate([ndcg, dcg], grades, scores)
            assert values[ndcg] == close(ndcg_score([2**grades - 1], [scores], k=k))
            assert values[dcg] == close(dcg_score([grades], [scores], k=k))


def test_orders_of_pairs_are_scikit_learns_and_scipys():
    for grades, scores in tied_lists(18):
        tau, accuracy = gb.evaluate(["kendalltau", "pairwiseaccuracy"], grades, scores).values()
        assert accuracy == close((tau + 1) / 2)
        # tau-b also divides by the pairs of different scores.
        pairs = [np.count_nonzero(x[:, None] != x) / 2 for x in (grades, scores)]
        theirs = kendalltau(grades, scores).statistic * math.sqrt(pairs[0] * pairs[1])
        if pairs[1]:
            assert tau * pairs[0] == close(theirs, 1e-9)
        (accuracy,) = gb.evaluate("pairwiseaccuracy", grades > 0, scores).values()
        assert accuracy == close(roc_auc_score(grades > 0, scores))


def test_spearmans_rho_is_scipys_without_ties():
    for grades, _ in tied_lists(19):
        scores = np.random.default_rng(len(grades)).permutation(len(grades))
        (rho,) = gb.evaluate("spearmanrho", grades, scores).values()
        assert rho == close(spearmanr(rankdata(grades), scores).statistic)


def test_spearmans_rho_of_scipy_is_farther_from_0_with_ties():
    for grades, scores in tied_lists(19):
        (rho,) = gb.evaluate("spearmanrho", grades, scores).values()
        if len(np.unique(scores)) < len(scores) and abs(rho) > 1e-9:
            assert spearmanr(grades, scores).statistic / rho > 1


# --- ir_measures ----------------------------------------------------------------------------------

IR = ir_measures
PAIRS = [
    (IR.AP(rel=2) @ 5, gb.AP(rel=2, k=5)),
    (IR.nDCG @ 100, gb.nDCG(gains="linear", k=100)),
    *((IR.P(rel=r) @ k, gb.Precision(rel=r, k=k)) for r, k in ((1, 1), (2, 10), (3, 60))),
    (IR.R(rel=2) @ 10, gb.Recall(rel=2, k=10)),
    (IR.Success(rel=3) @ 10, gb.Success(rel=3, k=10)),
    (IR.RR(rel=2), gb.RR(rel=2)),
    (IR.Rprec(rel=2), gb.RPrecision(rel=2)),
]
OF_GDEVAL = [
    *((IR.nDCG(dcg="exp-log2") @ k, gb.nDCG(k=k)) for k in (1, 5, 20)),
    *((IR.ERR @ k, gb.ERR(top=4, k=k)) for k in (1, 5, 20)),  # its scale ends at 4
]


def compare(pairs, tolerance):
    """Compare on judgments and a run, each with documents that the other one lacks."""
    rng = np.random.default_rng(16)
    qrels, run, rows, recall_base = [], [], [], {}
    for query in map(str, range(25)):
        judged = {f"d{doc}": int(g) for doc, g in enumerate(rng.integers(0, TOP + 1, 30))}
        judged["best"] = TOP
        retrieved = [name for name in judged if rng.random() < 0.7] + ["u0", "u1", "u2"]
        scores = rng.permutation(len(retrieved)) / 4
        qrels += [ir_measures.Qrel(query, name, grade) for name, grade in judged.items()]
        for name, score in zip(retrieved, scores, strict=True):
            run.append(ir_measures.ScoredDoc(query, name, score))
            rows.append((judged.get(name, 0), score, query))
        recall_base[query] = np.bincount(list(judged.values()), minlength=TOP + 1)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    ours = [measure for _, measure in pairs]
    values = gb.evaluate(ours, *columns, recall_base=recall_base, per_query=True)
    compared = 0
    for metric in ir_measures.iter_calc([theirs for theirs, _ in pairs], qrels, run):
        found = values[dict(pairs)[metric.measure]][values.qid.tolist().index(metric.query_id)]
        assert found == pytest.approx(metric.value, abs=tolerance, rel=0), metric
        compared += 1
    assert compared == len(pairs) * 25


def test_equals_ir_measures():
    compare(PAIRS, 1e-12)


@pytest.mark.skipif(shutil.which("perl") is None, reason="ir_measures runs gdeval.pl")
def test_equals_gdeval():
    compare(OF_GDEVAL, 5.1e-6)  # it prints five digits
