"""Rankers on a Dask cluster of two workers, against the local ranker on all rows."""

import pickle

import dask.array as da
import dask.dataframe as dd
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from on_cluster import MEASURE, features, gap, ranking
from on_dask import (
    BOOSTERS,
    SMALL,
    TEST,
    TRAIN,
    VALI,
    assert_same_scores,
    both,
    chunks,
    collections,
    fitted,
    locally,
    on_dask,
    partitions,
)
from sklearn.base import clone
from xgboost.callback import EarlyStopping, TrainingCallback

import gapboost as gb
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.dask import DaskXGBGAPRanker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.usefixtures("client")]


@both
def test_ranks_as_the_local_ranker_does(booster, client):
    """A client is used that is given; LightGBM's ranker has it as a parameter."""
    given = {"client": client} if booster == "lightgbm" else {}
    found, expected = on_dask(booster, TRAIN, **given), locally(booster, TRAIN)
    data = collections(TEST)
    scores = found.predict(data["X"])
    assert isinstance(scores, da.Array)
    npt.assert_array_equal(scores.compute(), found.to_local().predict(features(TEST)))
    here = gap(TEST, expected.predict(features(TEST)))
    assert gap(TEST, scores.compute()) == pytest.approx(here, abs=0.01)
    assert found.measure_ == expected.measure_ == MEASURE
    assert found.n_queries_in_ == expected.n_queries_in_ == 150
    assert found.step_ == expected.step_
    assert found.score(data["X"], data["y"], data["qid"]) == gap(TEST, scores.compute())


@both
@pytest.mark.parametrize("n", [9_000, 16_000])
def test_the_size_of_trees_goes_by_the_rows_of_all_workers(booster, n):
    """LightGBM's leaves grow with them, and XGBoost has depth 5 with few."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    y = (x @ [1.0, 0.5] + rng.normal(size=n) > 1).astype(int)
    data = {"X": x, "y": y, "qid": np.arange(n) // 20}
    data = {name: da.from_array(each, chunks=n // 2) for name, each in data.items()}
    data["X"] = data["X"].rechunk((n // 2, 2))
    kind, _, fixed = BOOSTERS[booster]
    local = fitted(kind, data, {}, n_estimators=30, **fixed).to_local()
    if booster == "lightgbm":
        tree = local.booster_.dump_model()["tree_info"][0]
        assert tree["num_leaves"] == (17 if n == 9_000 else 20)
    else:
        depth = max(line.count("\t") for line in local.get_booster().get_dump()[0].splitlines())
        assert depth == (5 if n == 9_000 else 6)


UNITS = {
    "lambdarank": {},
    "softrank": {"objective": "softrank", "measure": MEASURE},
    "ranknet": {"objective": "ranknet"},
}


@both
@pytest.mark.parametrize("objective", UNITS)
def test_gradients_are_those_of_all_rows(booster, objective):
    """One worker has the short queries, and no document of the highest grade."""
    frame = ranking(80, 3)
    short = frame.groupby("qid").qid.transform("size") < 9
    frame.loc[short, "y"] = np.minimum(frame.y, 1)
    frame = frame.iloc[np.argsort(~short, kind="stable")]
    options = {"start": True, "learning_rate": 0.3, **UNITS[objective], **SMALL[booster]}
    found = on_dask(booster, frame, [short.sum(), (~short).sum()], **options)
    expected = locally(booster, frame, **options)
    assert found.objective_ == expected.objective_
    assert_same_scores(found, expected)


@both
def test_continued_training_adds_rounds(booster, tmp_path):
    """The best round of a model that stopped early is forgotten, as in a local fit."""
    lgb, path = booster == "lightgbm", tmp_path / "model.json"
    # With 31 leaves, few scores are equal.
    parameters = {"num_leaves": 31} if lgb else {"early_stopping_rounds": 3}
    fit = {"callbacks": [lightgbm.early_stopping(3, verbose=False)]} if lgb else {}
    fit |= {"eval_set": [(features(VALI), VALI.y)], "eval_qid": [VALI.qid]}
    before = locally(booster, TRAIN, n_estimators=50, fit=fit, **parameters)
    model = before.booster_ if lgb else before.get_booster()
    model.save_model(path)
    on_cluster = on_dask(booster, TRAIN, n_estimators=before.best_iteration_)
    name, options = "init_model" if lgb else "xgb_model", {"start": True, **SMALL[booster]}
    expected = locally(booster, TRAIN, fit={name: before}, **options)
    for given in (before, model, path, str(path), on_cluster):
        found = on_dask(booster, TRAIN, fit={name: given}, **options)
        n_rounds = found.booster_.num_trees() if lgb else found.get_booster().num_boosted_rounds()
        assert n_rounds == before.best_iteration_ + 3
        assert found.best_iteration_ == 0
        if given is not on_cluster:
            # LightGBM begins at the scores of the model alone, some of which are equal.
            assert_same_scores(found, expected, atol=1e-2 if lgb else 1e-4)


@pytest.mark.parametrize("form", ["arrays", "dropped"])
def test_training_set_among_evaluation_sets_does_not_stop(form):
    """Data frames without a column `qid` are the same rows, whichever way it was left out."""
    data = [collections(rows, form=form) for rows in (TRAIN, VALI)]
    sets, ids = [(each["X"], each["y"]) for each in data], [each["qid"] for each in data]
    given = (*sets[0], ids[0])
    if form == "dropped":
        tables = [partitions(rows, chunks(rows)) for rows in (TRAIN, VALI)]
        beside = ["start", "weight", "y"]
        given = tables[0].drop(columns=beside), tables[0]["y"]
        sets = [(table.drop(columns=[*beside, "qid"]), table["y"]) for table in tables]
        ids = [table["qid"] for table in tables]
    options = {"n_estimators": 100, "early_stopping_rounds": 3}
    for order in ((1,), (0, 1), (1, 0)):
        fit = {"eval_set": [sets[i] for i in order], "eval_qid": [ids[i] for i in order]}
        ranker = DaskXGBGAPRanker(**options).fit(*given, **fit)
        assert len(ranker.evals_result_) == len(order)
        check_stopped_by(ranker, f"validation_{order.index(1)}")
    ranker.fit(*given, eval_set=sets[:1], eval_qid=ids[:1])
    assert np.argmax(ranker.evals_result_["validation_0"]["gap"]) + 1 == ranker.best_iteration_
    by_name = {"data_name": "validation_0", "metric_name": "gap", "maximize": True}
    ranker = DaskXGBGAPRanker(n_estimators=100, callbacks=[EarlyStopping(rounds=3, **by_name)])
    ranker.fit(*given, eval_set=sets[::-1], eval_qid=ids[::-1])
    check_stopped_by(ranker, "validation_0")


def check_stopped_by(ranker, name):
    values = ranker.evals_result_[name]["gap"]
    assert len(values) == ranker.best_iteration_ + 3 < 90
    assert np.argmax(values) + 1 == ranker.best_iteration_


class Missing(TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        return evals_log["validation_0"]["map@5"][-1] < 0


def test_a_callback_that_misses_a_metric_learns_its_name():
    data = collections(VALI)
    fit = {"eval_set": [(data["X"], data["y"])], "eval_qid": [data["qid"]]}
    ranker = {"n_estimators": 3, "eval_metric": "ap@5", "callbacks": [Missing()]}
    with pytest.raises(KeyError) as caught:
        fitted(DaskXGBGAPRanker, collections(TRAIN), {}, fit, **ranker)
    assert "did you mean 'validation_0-ap@5'?" in caught.value.__notes__[0]


@pytest.mark.parametrize("n_chunks", [4, 1])
def test_early_stopping_uses_exact_means(n_chunks):
    """With one partition of validation rows one worker has none."""
    data = collections(VALI, chunks(VALI, n_chunks))
    fit = {"eval_set": [(data["X"], data["y"])], "eval_qid": [data["qid"]]}
    options = {"n_estimators": 200, "early_stopping_rounds": 5, "eval_metric": "ndcg@5"}
    found = on_dask("xgboost", TRAIN, fit=fit, **options)
    reported, best = found.evals_result_["validation_0"], found.best_iteration_
    assert len(reported["gap"]) == best + 5 < 200
    assert np.argmax(reported["gap"]) + 1 == best
    local = found.to_local()
    scores = local.predict(features(VALI))
    assert reported["gap"][best - 1] == pytest.approx(gap(VALI, scores), abs=2e-6)
    measure = gb.nDCG(k=5)
    value = gb.evaluate(measure, VALI.y, scores, VALI.qid)[measure]
    assert reported["ndcg@5"][best - 1] == pytest.approx(value, abs=2e-6)
    assert local.best_iteration_ == best


def test_forms_of_evaluation_sets():
    data = collections(TRAIN)
    X, y, qid = data["X"], data["y"], data["qid"]
    table = partitions(TRAIN, chunks(TRAIN))
    cases = [
        (X, (X + 0, y), None, r"^eval_qid\[0\] is missing"),
        (X, (X, y), [qid, qid], "^eval_qid is .*1 evaluation sets"),
        (X, [(X, y, qid)], [qid], r"^eval_set\[0\] is a tuple; expected a pair"),
        (X, [(X[:, :5], y)], [qid], r"^eval_set\[0\] X has 5 columns but X has 6"),
        (X, [(X, y - 1)], [qid], r"^eval_set\[0\] y holds -1"),
        (X, [(X, TRAIN.y.to_numpy())], [qid], r"^eval_set\[0\] y is a ndarray"),
        (
            table[["f0", "f1"]],
            (table[["f1", "f0"]], y),
            [qid],
            r"^eval_set\[0\] X has the column 'f1'",
        ),
        (X, (table[["f0", "f1"]], y), [qid], r"^eval_set\[0\] X is a data frame; expected an arr"),
    ]
    for train, eval_set, eval_qid, message in cases:
        ranker = DaskXGBGAPRanker(n_estimators=1)
        with pytest.raises((TypeError, ValueError), match=message):
            ranker.fit(train, y, qid, eval_set=eval_set, eval_qid=eval_qid)


def of_unknown_length(weights):
    return dd.from_pandas(pd.Series(weights), npartitions=2)


@pytest.mark.parametrize("kind", [list, pd.Series, da.from_array, of_unknown_length])
def test_feature_weights(kind):
    weights = kind(np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0]))
    options = {"n_estimators": 10, "colsample_bynode": 0.2, "random_state": 0}
    by_parameter = on_dask("xgboost", TRAIN, feature_weights=weights, **options)
    by_fit = on_dask("xgboost", TRAIN, fit={"feature_weights": weights}, **options)
    for ranker in (by_parameter, by_fit):
        assert list(ranker.feature_importances_ > 0) == [False] * 2 + [True] * 4
    with pytest.raises(ValueError, match=r"^feature_weights has shape"):
        on_dask("xgboost", TRAIN, feature_weights=kind(np.ones(5)), **options)
    with pytest.raises(ValueError, match=r"^feature_weights is given"):
        on_dask("xgboost", TRAIN, fit={"feature_weights": weights}, feature_weights=weights)


@both
def test_copies_and_files(booster, tmp_path):
    _, local, fixed = BOOSTERS[booster]
    found = on_dask(booster, TRAIN, measure="egap", n_estimators=3)
    scores = found.to_local().predict(features(TEST))
    for copy in (pickle.loads(pickle.dumps(found)).to_local(), found.to_local()):
        assert type(copy) is local
        npt.assert_array_equal(copy.predict(features(TEST)), scores)
        assert copy.measure_ == gb.eGAP(g=(0.5, 0.5))
        assert copy.get_params().keys() == local(**fixed).get_params().keys()
        assert (copy.get_params()["measure"], copy.get_params()["g"]) == ("egap", None)
    assert clone(found).get_params() == found.get_params()
    given = {"measure": gb.xGAP(), "g": [0.5, 0.5], "objective": gb.LambdaRank("ap")}
    for name, value in given.items():
        assert clone(type(found)(**{name: value})).get_params()[name] == value
    if booster == "xgboost":
        found.save_model(tmp_path / "model.json")
        loaded = XGBGAPRanker()
        loaded.load_model(tmp_path / "model.json")
        assert loaded.measure_ == gb.eGAP(g=(0.5, 0.5))


ARRAYS = collections(TRAIN)
SHIFTED = collections(
    TRAIN, [n + shift for n, shift in zip(chunks(TRAIN), (-1, 1, 0, 0), strict=True)]
)
# Columns instead of the right ones, and what the error begins with.
BAD_DATA = [
    ({"y": ARRAYS["y"] - 1}, "^y "),
    ({"y": ARRAYS["y"] * 0}, "^y holds no query with two different"),
    ({"y": ARRAYS["y"] + 1}, "^y holds the grade 3"),
    ({"y": ARRAYS["y"].rechunk(len(TRAIN))}, "^the numbers of partitions"),
    ({"y": SHIFTED["y"]}, r"^(X has \d+ rows but y|y has \d+ rows but X) has "),
    ({"X": SHIFTED["X"]}, r"^(X has \d+ rows but y|y has \d+ rows but X) has "),
    ({"y": TRAIN.y.to_numpy()}, "^y is a ndarray; expected a Dask array"),
    ({"X": features(TRAIN)}, "^X is a ndarray; expected a Dask array"),
    ({"qid": None}, "^qid is missing"),
]
# Parameters, arguments of fit, and what the error begins with.
REFUSED = {
    "lightgbm": [
        ({}, {"eval_set": []}, "^eval_set: .*its own rows alone"),
        ({}, {"position": [1]}, "^position: .*no positions to its workers"),
        ({"early_stopping_round": 5}, {}, "^early_stopping_round: .*its own rows alone"),
        ({"stopping_metric": "ap"}, {}, "^stopping_metric: "),
        ({"lambdarank_norm": True}, {}, "^lambdarank_norm"),
    ],
    "xgboost": [
        ({}, {"sample_weight": [1]}, "^sample_weight: without effect here"),
        ({}, {"position": [1]}, "^position: without effect here"),
        ({}, {"group": [1]}, "^group: without effect here"),
        ({"eval_metric": max}, {}, "^eval_metric: .*no functions"),
        ({"allow_group_split": True}, {}, "^allow_group_split: .*no query is cut"),
        ({"lambdarank_pair_method": "mean"}, {}, "^lambdarank_pair_method"),
        ({"measure": gb.OfLabel(gb.AP(), 1)}, {}, "^measure is .*one of several labels"),
        ({"eval_metric": [gb.OfLabel(gb.AP(), 1)]}, {}, "^measure is .*one of several labels"),
    ],
}


@both
def test_what_is_refused(booster):
    cases = [({"g": (0.5, 0.5)}, {}, *case) for case in BAD_DATA]
    cases += [(parameters, fit, {}, message) for parameters, fit, message in REFUSED[booster]]
    for parameters, fit, columns, message in cases:
        with pytest.raises((ValueError, TypeError), match=message):
            fitted(BOOSTERS[booster][0], {**ARRAYS, **columns}, {}, fit=fit, **parameters)
