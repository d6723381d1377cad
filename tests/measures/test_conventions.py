"""Numbers of the libraries in the table of docs/measures.md, and Spearman's rho of scipy.

The libraries are LightGBM, XGBoost, CatBoost and trec_eval.
"""

import re
from pathlib import Path

import lightgbm
import numpy as np
import pytest
import pytrec_eval
import xgboost
from scipy.stats import rankdata, spearmanr

import gapboost as gb

PAGE = Path(__file__).parents[2] / "docs" / "measures.md"
ROWS = re.findall(
    r'^\| (LightGBM|XGBoost|CatBoost|trec_eval)\b.* \| `(.+)` \| `"(.+)"` \| ([01]) \|$',
    PAGE.read_text(),
    re.M,
)
QUERIES = 1000
RNG = np.random.default_rng(0)


def lists(sizes):
    """Grades, scores without ties, query ids; a tenth of the queries has nothing relevant."""
    qid = np.repeat(np.arange(QUERIES), sizes)
    y = RNG.integers(0, 4, len(qid)) * (RNG.random(len(qid)) < 0.6)
    y[np.isin(qid, RNG.choice(QUERIES, QUERIES // 10))] = 0
    return y, RNG.permutation(len(qid)) / 64, qid  # exact in float32


SIZES = RNG.integers(2, 30, QUERIES)
Y, S, QID = lists(SIZES)
# Averages of two judges, exact in float32.
HALVES = Y * 0.5


def of_lightgbm(name):
    data = lightgbm.Dataset(np.arange(len(Y))[:, None], Y, group=SIZES, init_score=S)
    settings = {
        "objective": "lambdarank",
        "metric": name.partition("@")[0],
        "eval_at": [5],
        "verbose": -1,
    }
    ((_, found, value, *_),) = lightgbm.Booster(settings, data).eval_train()
    assert found == name
    return Y, value


def of_xgboost(name):
    y = Y > 0 if name.startswith("map") else HALVES
    data = xgboost.DMatrix(np.zeros((len(y), 1)), y, base_margin=S, group=SIZES)
    settings = {"objective": "rank:ndcg", "ndcg_exp_gain": False, "eval_metric": name}
    return y, float(xgboost.Booster(settings, [data]).eval(data).rpartition(":")[2])


def of_catboost(name):
    evaluator = pytest.importorskip("catboost.utils", reason="CatBoost is not installed")
    (value,) = evaluator.eval_metric(HALVES, S, name, group_id=QID)
    return HALVES, value


def of_trec_eval(name):
    qrels, run = {}, {}
    for row, query in enumerate(map(str, QID)):
        qrels.setdefault(query, {})[f"d{row}"] = int(Y[row])
        run.setdefault(query, {})[f"d{row}"] = float(S[row])
    found = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("_cut_", "_cut.")}).evaluate(run)
    return Y, np.mean([values[name] for values in found.values()])


LIBRARIES = {
    "LightGBM": of_lightgbm,
    "XGBoost": of_xgboost,
    "CatBoost": of_catboost,
    "trec_eval": of_trec_eval,
}


def test_the_page_has_rows_of_each_library():
    assert {library for library, *_ in ROWS} == set(LIBRARIES)
    assert len(ROWS) == len(set(ROWS)) >= 20


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize(("library", "name", "measure", "empty"), ROWS)
def test_the_same_number_as_another_library(library, name, measure, empty):
    y, theirs = LIBRARIES[library](name)
    (ours,) = gb.evaluate(measure, y, S, QID, empty=int(empty)).values()
    # XGBoost adds up in single precision.
    assert ours == pytest.approx(theirs, rel=1e-7 if library == "XGBoost" else 1e-12)
    (other,) = gb.evaluate(measure, y, S, QID, empty=1 - int(empty)).values()
    assert other != pytest.approx(theirs, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("ties", [False, True], ids=["distinct scores", "tied scores"])
def test_spearmans_rho_is_scipys(ties):
    n = 20
    y, scores, qid = lists(n)
    scores = np.floor(scores / 64) if ties else scores
    y, scores = y.reshape(-1, n), scores.reshape(-1, n)
    y[:, :2] = (0, 1)
    parts = zip(np.split(y, 50), np.split(scores, 50), strict=True)
    theirs = np.concatenate(
        [np.diagonal(spearmanr(*part, axis=1).statistic, QUERIES // 50) for part in parts]
    )
    # scipy divides by the standard deviation of mean ranks of scores, which is less where scores
    # are tied.
    theirs = theirs * np.std(rankdata(scores, axis=1), axis=1) / np.std(np.arange(n))
    ours = gb.evaluate("spearman", y.ravel(), scores.ravel(), qid, per_query=True)[gb.SpearmanRho()]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert np.ptp(ours) > 1


def test_an_ideal_ranking_has_less_than_1_where_documents_share_a_grade():
    values = [
        gb.evaluate("spearman", y, [4, 3, 2, 1])[gb.SpearmanRho()]
        for y in ([3, 2, 1, 0], [2, 1, 0, 0])
    ]
    assert values == [
        pytest.approx(1),
        pytest.approx(spearmanr([2, 1, 0, 0], [4, 3, 2, 1]).statistic),
    ]
    assert values[1] < 0.95
