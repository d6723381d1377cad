"""What a fit reports: values of `evaluate` on each evaluation set in each round, and progress."""

import pickle
from dataclasses import dataclass, replace
from functools import partial

import lightgbm
import numpy as np
import numpy.testing as npt
import pytest
import xgboost
from twins import LIGHTGBM, QID, SIZES, TEST, TRAIN, VALI, XGBOOST, X, Y, shuffled, twins

import gapboost as gb
from gapboost._boosters.callbacks import metric_names


@twins
@pytest.mark.parametrize("in_order", [True, False])
def test_the_curve_is_evaluate_at_each_iteration(twin, in_order):
    """The first set is the training set, the last has weights of queries and of documents."""
    train, vali = (
        (slice(None), slice(None)) if in_order else (shuffled(TRAIN)[0], shuffled(VALI)[0])
    )
    X, y, qid = TRAIN.X[train], TRAIN.y[train], TRAIN.qid[train]
    of_queries = np.linspace(0.5, 3.0, VALI.n_queries)
    of_rows = np.random.default_rng(0).choice([0.0, 0.5, 2.5], len(VALI))
    sets = [
        (X, y, qid, None),
        (VALI.X[vali], VALI.y[vali], VALI.qid[vali], None),
        (VALI.X, VALI.y, VALI.qid, of_queries),
        (VALI.X[vali], VALI.y[vali], VALI.qid[vali], of_rows),
    ]
    ranker = twin.ranker().fit(
        X,
        y,
        qid,
        eval_set=[each[:2] for each in sets],
        eval_qid=[each[2] for each in sets],
        **{twin.eval_weight: [each[3] for each in sets]},
    )
    first = "training" if twin is LIGHTGBM else "validation_0"
    assert next(iter(ranker.evals_result_)) == first
    for number, (X, y, qid, weight) in enumerate(sets):
        expected = [
            gb.evaluate(ranker.measure_, y, scores, qid, sample_weight=weight)[ranker.measure_]
            for scores in (twin.staged(ranker, X, i) for i in range(1, 6))
        ]
        # Not rounded to six digits after the point, as XGBoost's log is.
        npt.assert_allclose(twin.curve(ranker, number), expected, rtol=0, atol=1e-12)


@twins
def test_one_pair_is_one_set(twin):
    found, expected = (
        twin.ranker().fit(X, Y, QID, eval_set=given, eval_qid=[VALI.qid])
        for given in ((VALI.X, VALI.y), [(VALI.X, VALI.y)])
    )
    npt.assert_array_equal(twin.curve(found), twin.curve(expected))


@twins
def test_no_lists(twin):
    ranker, watched = twin.ranker(), {"eval_qid": [VALI.qid]}
    with pytest.raises(ValueError, match=r"^eval_set is <generator"):
        ranker.fit(X, Y, QID, eval_set=(pair for pair in [(VALI.X, VALI.y)]), **watched)
    with pytest.raises(TypeError, match=r"^callbacks is .*expected a list"):
        twin.fitted(evals=[VALI], watch={"callbacks": twin.module.progress()})


def test_names_of_sets():
    ranker = LIGHTGBM.fitted(evals=[VALI, TEST], fit={"eval_names": ["a", "b"]})
    assert list(ranker.evals_result_) == ["a", "b"]
    assert [list(curves) for curves in ranker.evals_result_.values()] == [["gap"]] * 2


def test_the_training_set_is_binned_once_by_xgboost(monkeypatch):
    made = []

    def counted(*args, **kwargs):
        made.append(kwargs["ref"])
        return xgboost.QuantileDMatrix(*args, **kwargs)

    monkeypatch.setattr(xgboost.sklearn, "QuantileDMatrix", counted)
    XGBOOST.ranker().fit(X, Y, QID, eval_set=[(X, Y), (VALI.X, VALI.y)], eval_qid=[QID, VALI.qid])
    train, vali = made
    assert train is None
    assert vali is not None


@twins
def test_open_parameters_of_metrics_come_from_the_training_data(twin):
    """The evaluation set has one grade less."""
    lower = replace(VALI, y=np.minimum(VALI.y, 1))
    ranker = twin.fitted(evals=[lower], watch={"eval_metric": ["egap", "err"]})
    scores = ranker.predict(lower.X)
    for name, measure in {"egap": gb.eGAP(g=(0.5, 0.5)), "err": gb.ERR(top=2)}.items():
        expected = gb.evaluate(measure, lower.y, scores, lower.qid)[measure]
        npt.assert_allclose(twin.curve(ranker, metric=name)[-1], expected, rtol=0, atol=1e-6)


# --- functions ------------------------------------------------------------------------------------


def pushed(y_true, y_pred):
    return "pushed", float(y_pred @ y_true), True


def tops(y_true, y_pred, weight, group):
    starts = np.cumsum(group) - group
    highest = np.maximum.reduceat(y_pred, starts)
    return [("tops", float(np.average(highest, weights=weight[starts])), False)]


def spread(y_true, y_score):
    return float(np.ptp(y_score))


@twins
def test_functions_have_names_of_their_own(twin):
    def gap(y_true, y_score):
        return ("gap", 0.5, True) if twin is LIGHTGBM else 0.5

    with pytest.raises(ValueError, match=r"^eval_metric .*'gap'"):
        twin.fitted(evals=[VALI], watch={"eval_metric": [gap]})


def test_lightgbm_calls_functions_with_rows_query_by_query_and_their_weights():
    """The first set is the training set."""
    order, rows = shuffled(VALI)
    x, y, qid = VALI.X[order], VALI.y[order], VALI.qid[order]
    weights = [1.0 + ids % 3 for ids in (QID, qid)]
    ranker = LIGHTGBM.ranker().fit(
        X,
        Y,
        QID,
        weights[0],
        eval_set=[(X, Y), (x, y)],
        eval_qid=[QID, qid],
        eval_sample_weight=weights,
        eval_metric=[pushed, "ap", tops],
    )
    sets = ((X, Y, QID), (VALI.X[rows], VALI.y[rows], VALI.qid[rows]))
    for log, (x, y, qid) in zip(ranker.evals_result_.values(), sets, strict=True):
        assert set(log) == {"gap", "ap", "pushed", "tops"}
        scores, ids = ranker.predict(x), np.unique(qid)
        npt.assert_allclose(log["pushed"][-1], scores @ y)
        highest = [scores[qid == q].max() for q in ids]
        npt.assert_allclose(log["tops"][-1], np.average(highest, weights=1.0 + ids % 3))


def test_xgboost_calls_functions_for_each_query():
    ranker = XGBOOST.fitted(evals=[VALI], eval_metric=["ap", spread])
    log = ranker.evals_result_["validation_0"]
    assert list(log) == ["gap", "ap", "spread"]
    scores = ranker.predict(VALI.X)
    queries = [VALI.qid == q for q in np.unique(VALI.qid)]
    values, sizes = zip(*((np.ptp(scores[rows]), rows.sum()) for rows in queries), strict=True)
    npt.assert_allclose(log["spread"][-1], np.average(values, weights=sizes), rtol=1e-5)


@pytest.mark.parametrize(
    ("twin", "function", "message"),
    [
        (LIGHTGBM, spread, r"returned 0\..*expected \(name, value, is_higher_better\)"),
        (LIGHTGBM, lambda y, s: [("a", 0.5)], "returned .*is_higher_better"),
        (XGBOOST, pushed, "^pushed of eval_metric returned .*expected a number"),
        (XGBOOST, partial(spread), "^eval_metric is .*no __name__"),
    ],
)
def test_functions_of_another_kind(twin, function, message):
    with pytest.raises(TypeError, match=message):
        twin.fitted(evals=[VALI], watch={"eval_metric": [function]})


# --- names of metrics -----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Worded(gb.AP):
    """A measure of someone's own with a word for a parameter, and blanks in its name."""

    word: str = ""
    short_name = "in words: ap"


NAMES = {
    "gap": gb.GAP(),
    "gap@10": gb.GAP(k=10),
    "egap": gb.eGAP(g=(0.5, 0.5)),
    "ndcg@10": gb.nDCG(k=10),
    "precision@5": gb.Precision(k=5),
    "0.7*gap+0.3*ap@5": 0.7 * gb.GAP(k=5) + 0.3 * gb.AP(k=5),
    "2*ap+0.5*ndcg@10": 2 * gb.AP() + 0.5 * gb.nDCG(k=10),
    "in_words_ap@3": Worded(k=3),
}
ALIKE = [
    [gb.GAP(g=(0.5, 0.5)), gb.GAP(g=(0.2, 0.8)), gb.AP(rel=1), gb.AP(rel=2)],
    [gb.AP(rel=1) + gb.RR(), gb.AP(rel=2) + gb.RR(), gb.RR(rel=2)],
    [Worded(word="a:b"), Worded(word="ab")],
]


def test_names_of_metrics_are_short_and_distinct():
    assert metric_names(list(NAMES.values())) == list(NAMES)
    for measures in ALIKE:
        names = metric_names(measures)
        assert len(set(names)) == len(names)
        assert not any(set(name) & set(" :\t") for name in names)
    # What is called so keeps the name.
    assert metric_names([gb.nDCG(gains="linear", k=5), gb.nDCG(k=5)])[1] == "ndcg@5"


# --- progress -------------------------------------------------------------------------------------


@twins
def test_progress(twin, capsys):
    bar = twin.module.progress()
    given = {"callbacks": [bar]}
    for _ in range(2):  # a bar for each fit
        ranker = twin.fitted(evals=[VALI], watch=given)
    text = capsys.readouterr().err
    assert text.count("5round") + text.count("5/5") >= 2
    assert "gap" in text
    pickle.loads(pickle.dumps(ranker))
    if twin is LIGHTGBM:
        settings = {"objective": "regression", "verbose": -1}
        folds = [(np.arange(400), np.arange(400, 800))]
        lightgbm.cv(settings, lightgbm.Dataset(X, Y, group=SIZES), 3, folds=folds, **given)
    else:
        xgboost.cv({}, twin.dataset(X, Y, SIZES), 3, **given)
