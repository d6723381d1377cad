"""The Dask rankers against the local ones, on clusters inside this process, and their failures."""

import gc
import os
import pickle
import threading
from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from clusters import alive, cut, python, ranking, wait_until, written
from distributed import Client, LocalCluster
from in_training import watched
from scipy import sparse
from sklearn.base import clone

import gapboost as gb
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV
from gapboost.xgboost import XGBGAPRanker

# A fit that hangs is not to hold up the other tests.
pytestmark = pytest.mark.timeout(180)

TWINS = {
    "lightgbm": (DaskLGBMGAPRanker, LGBMGAPRanker, {"verbose": -1}),
    "xgboost": (DaskXGBGAPRanker, XGBGAPRanker, {}),
}
# Without these, each worker draws thresholds of its own.
NO_DRAWS = {"lightgbm": {"extra_trees": False}, "xgboost": {}}
booster = pytest.mark.parametrize("booster", TWINS)


def cluster_of(n_workers, **options):
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",
        processes=False,
        **options,
    )


@pytest.fixture(scope="module")
def clients():
    """A client for each number of workers, opened when it is first asked for."""
    opened = {}

    def client(n_workers):
        if n_workers not in opened:
            cluster = cluster_of(n_workers)
            opened[n_workers] = Client(cluster, set_as_default=False), cluster
        return opened[n_workers][0]

    yield client
    for one, cluster in opened.values():
        one.close()
        cluster.close()
    gc.collect()


@pytest.fixture(scope="module")
def two(clients):
    return clients(2)


def dask_ranker(booster, client, **parameters):
    return TWINS[booster][0](
        client=client, **{"n_estimators": 10, **TWINS[booster][2], **parameters}
    )


def local_ranker(booster, **parameters):
    return TWINS[booster][1](**{"n_estimators": 10, "n_jobs": 1, **TWINS[booster][2], **parameters})


def stopping(booster, rounds):
    """Parameters and arguments of fit for early stopping."""
    if booster == "lightgbm":
        return {}, {"callbacks": [lightgbm.early_stopping(rounds, verbose=False)]}
    return {"early_stopping_rounds": rounds}, {}


def history(ranker, i=0):
    """The values of the measure that was trained for, by round."""
    (values,) = (
        v
        for name, v in list(ranker.evals_result_.values())[i].items()
        if name.startswith("map-gap")
    )
    return np.array(values)


# XGBoost passes values of metrics on as text with six digits.
DIGITS = {"lightgbm": 1e-12, "xgboost": 6e-7}


@pytest.mark.slow
@booster
def test_bad_partitions_train_like_the_local_ranker(booster, two):
    X, y, qid = ranking(2000, 0)
    vali = ranking(400, 1)
    rows = np.random.default_rng(0).permutation(len(y))
    # The first partitions cut each query once, the others interleave all of them.
    rows[:6000] = np.sort(rows[:6000])
    X, y, qid = X[rows], y[rows], qid[rows]
    chunks = (3000, 0, 2999, 1, 5000, len(y) - 11000)
    persisted = [two.persist(cut(v, chunks), workers=two_workers(two)[:1]) for v in (X, y, qid)]
    parameters = {"n_estimators": 50, **NO_DRAWS[booster]}
    ranker = dask_ranker(booster, two, **parameters)
    ranker.fit(persisted[0], persisted[1], qid=persisted[2])
    local = local_ranker(booster, **parameters).fit(X, y, qid=qid)
    assert ranker.n_queries_in_ == local.n_queries_in_ == 2000
    values = [one.score(vali[0], vali[1], qid=vali[2]) for one in (ranker.to_local(), local)]
    assert abs(values[0] - values[1]) < 0.005


def two_workers(client):
    return list(client.nthreads())


WEIGHTS = {
    "of queries": lambda qid: (qid % 5).astype(float),
    "of documents": lambda qid: np.random.default_rng(1).choice([0.5, 1.0, 2.5], len(qid)),
}
weighing = pytest.mark.parametrize("weigh", WEIGHTS.values(), ids=WEIGHTS)


@pytest.mark.slow
@weighing
@booster
def test_first_gradients_are_the_local_ones(booster, weigh, two, tmp_path):
    X, y, qid = ranking(300, 0)
    rows = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[rows], y[rows], qid[rows]
    weights = weigh(qid)
    dask_ranker(booster, two, n_jobs=8, objective=watched(tmp_path)).fit(
        *(cut(v, 700) for v in (X, y)), qid=cut(qid, 700), sample_weight=cut(weights, 700)
    )
    parts = written(tmp_path)
    assert len(parts) == 2
    grad, hess = np.full(len(y), np.nan), np.full(len(y), np.nan)
    for part in parts.values():
        ends = np.cumsum(part["sizes"])
        # What a worker of this cluster has, not n_jobs.
        assert part["n_jobs"] == part["threads"] == 1
        for begin, size, end in zip(part["begins"], part["sizes"], ends, strict=True):
            assert np.isnan(grad[begin : begin + size]).all()
            grad[begin : begin + size] = part["grad"][end - size : end]
            hess[begin : begin + size] = part["hess"][end - size : end]
    scale = len(y) / 300 if booster == "lightgbm" else 1.0  # the units of gapboost.lightgbm.library
    _, first = np.unique(qid, return_index=True)
    by_query = np.argsort(np.argsort(first))[np.searchsorted(np.unique(qid), qid)]
    grouped = np.argsort(by_query, kind="stable")
    expected = gb.LambdaRank(gb.GAP(g=(0.5, 0.5))).gradients(
        y, np.zeros(len(y)), qid, sample_weight=weights * scale
    )
    np.testing.assert_allclose(grad, expected[0][grouped], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(hess, expected[1][grouped], rtol=1e-6, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["lambdarank", "softrank", "approxrank"])
@weighing
@booster
def test_one_worker_trains_the_local_model(booster, weigh, how, clients):
    """Whatever the partitions: the same queries in the same order, the same weights, keys and g."""
    X, y, qid = ranking(200, 3)
    rows = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[rows], y[rows], qid[rows]
    weights = weigh(qid) + 1
    start = np.random.default_rng(0).standard_normal(len(y))
    begin = {"lightgbm": "init_score", "xgboost": "base_margin"}[booster]
    parameters = {"objective": how, "random_state": 5}
    given = {"qid": qid, "sample_weight": weights, begin: start}
    local = local_ranker(booster, **parameters).fit(X, y, **given)
    ranker = dask_ranker(booster, clients(1), **parameters)
    ranker.fit(cut(X, 300), cut(y, 300), **{name: cut(v, 300) for name, v in given.items()})
    np.testing.assert_array_equal(ranker.to_local().predict(X), local.predict(X))
    assert ranker.objective_ == local.objective_


@pytest.mark.slow
@booster
def test_one_worker_takes_fractional_grades_as_the_local_ranker_does(booster, clients):
    X, y, qid = ranking(100, 3)
    y = np.round(y / 2 + np.random.default_rng(0).choice([0, 0.1, 0.25], len(y)), 2)
    local = local_ranker(booster).fit(X, y, qid=qid)
    ranker = dask_ranker(booster, clients(1)).fit(cut(X, 300), cut(y, 300), qid=cut(qid, 300))
    np.testing.assert_array_equal(ranker.to_local().predict(X), local.predict(X))
    assert ranker.measure_ == local.measure_


@pytest.mark.slow
@booster
def test_many_different_values_are_told_how_they_are_read(booster, two):
    X, y, qid = ranking(100, 3)
    y = np.linspace(0, 2, len(y))
    ranker = dask_ranker(booster, two, g=(0.5, 0.5), n_estimators=2, min_child_weight=1e-3)
    with pytest.warns(
        UserWarning, match=rf"y holds {len(y)} different values up to [12]: GAP\(g=.* levels="
    ) as warned:
        ranker.fit(
            cut(X, 300),
            cut(y, 300),
            qid=cut(qid, 300),
            eval_set=[(cut(X, 300), cut(y / 2, 300))],
            eval_qid=[cut(qid, 300)],
        )
    assert {warning.filename for warning in warned} == {__file__}
    assert [str(warning.message).partition(" holds")[0] for warning in warned] == [
        "y",
        "eval_set[0] y",
    ]


@pytest.mark.slow
@booster
def test_one_worker_draws_the_local_numbers(booster, clients):
    X, y, qid = ranking(100, 3)
    bagged = {"subsample": 0.5, **({"subsample_freq": 1} if booster == "lightgbm" else {})}
    local = local_ranker(booster, random_state=np.random.RandomState(3), **bagged).fit(
        X, y, qid=qid
    )
    ranker = dask_ranker(booster, clients(1), random_state=np.random.RandomState(3), **bagged)
    ranker.fit(cut(X, 300), cut(y, 300), qid=cut(qid, 300))
    np.testing.assert_array_equal(ranker.to_local().predict(X), local.predict(X))


def shown(X, y, qid, seed=0):
    """Return grades, 0 for documents that nobody looked at, and the positions of the documents."""
    rng = np.random.default_rng(seed)
    position = rng.integers(1, 8, len(y))
    return np.where(rng.random(len(y)) < 1 / position, y, 0), position


@pytest.mark.slow
@booster
def test_one_worker_learns_the_local_factors(booster, clients):
    X, y, qid = ranking(200, 3)
    y, position = shown(X, y, qid)
    rows = np.random.default_rng(0).permutation(len(y))
    given = {"qid": qid[rows], "position": np.array([f"slot {i}" for i in position])[rows]}
    parameters = {"lambdarank_position_bias_regularization": 0.01}
    local = local_ranker(booster, **parameters).fit(X[rows], y[rows], **given)
    given = {name: cut(v, 300) for name, v in given.items()}
    ranker = dask_ranker(booster, clients(1), **parameters).fit(
        cut(X[rows], 300), cut(y[rows], 300), **given
    )
    np.testing.assert_array_equal(ranker.to_local().predict(X), local.predict(X))
    assert ranker.position_bias_ == ranker.to_local().position_bias_ == local.position_bias_
    assert len(local.position_bias_) == 7
    on = {"lightgbm": "init_model", "xgboost": "xgb_model"}[booster]
    again = dask_ranker(booster, clients(1)).fit(
        cut(X[rows], 300), cut(y[rows], 300), **given, **{on: ranker}
    )
    expected = local_ranker(booster).fit(
        X[rows],
        y[rows],
        given["qid"].compute(),
        position=given["position"].compute(),
        **{on: local},
    )
    assert again.position_bias_ == expected.position_bias_


@pytest.mark.slow
@booster
def test_factors_are_learnt_from_all_workers(booster, two):
    """Some positions occur on one worker only, and early stopping returns to earlier factors."""
    X, y, qid = ranking(400, 3)
    y, position = shown(X, y, qid)
    position = np.where(qid == qid[-1], 100, position)
    frame = pd.DataFrame(X).rename(columns=str)
    X_dask = dd.from_pandas(frame, npartitions=5, sort=False)
    columns = {"y": y, "qid": qid, "position": position}
    y_dask, qid_dask, position_dask = (
        dd.from_pandas(pd.Series(v), npartitions=5, sort=False) for v in columns.values()
    )
    parameters = {**NO_DRAWS[booster], "lambdarank_position_bias_regularization": 0.01}
    for n_estimators, close in ((1, 1e-6), (20, 0.1)):
        options = {**parameters, "n_estimators": n_estimators}
        ranker = dask_ranker(booster, two, **options).fit(
            X_dask, y_dask, qid=qid_dask, position=position_dask
        )
        local = local_ranker(booster, **options).fit(frame, y, qid, position=position)
        assert list(ranker.position_bias_) == [*range(1, 8), 100]
        found, expected = (np.array(list(one.position_bias_.values())) for one in (ranker, local))
        np.testing.assert_allclose(found, expected, rtol=0, atol=close * np.ptp(expected))
    watched, stops = stopping(booster, 3)
    options = {**parameters, **watched, "n_estimators": 100, "learning_rate": 0.5}
    vali = ranking(100, 5)
    evals = {"eval_set": [(cut(vali[0], 300), cut(vali[1], 300))], "eval_qid": [cut(vali[2], 300)]}
    given = {"qid": cut(qid, 300), "position": cut(position, 300)}
    stopped = dask_ranker(booster, two, **options).fit(
        cut(X, 300), cut(y, 300), **given, **evals, **stops
    )
    assert 1 < stopped.best_iteration_ < 97
    options = {**parameters, "n_estimators": stopped.best_iteration_, "learning_rate": 0.5}
    expected = dask_ranker(booster, two, **options).fit(cut(X, 300), cut(y, 300), **given)
    assert stopped.position_bias_ == expected.position_bias_


@pytest.mark.slow
@booster
def test_bad_positions_are_refused_before_training(booster, two):
    X, y, qid = ranking(40, 0)
    position = np.arange(len(y)) % 5
    parts = [cut(v, 100) for v in (X, y, qid)]
    ranker = dask_ranker(booster, two)
    broken = da.where(cut(np.arange(len(y)), 100) == 150, np.nan, cut(position, 100))
    with pytest.raises(ValueError, match=r"^position in partition 1 holds 1 missing values"):
        ranker.fit(*parts, position=broken)
    with pytest.raises(ValueError, match=r"^position has row chunks"):
        ranker.fit(*parts, position=cut(position, 90))
    with pytest.raises(TypeError, match=r"^position is a numpy.ndarray; expected a Dask array"):
        ranker.fit(*parts, position=position)
    mixed = da.map_blocks(_float_later, cut(position, 100), dtype=object)
    with pytest.raises(
        ValueError, match=r"^position holds 0 and 0.0, which are equal but of different types"
    ):
        ranker.fit(*parts, position=mixed)
    with pytest.raises(
        ValueError, match=r"^lambdarank_position_bias_regularization is 1.0 but position is None"
    ):
        dask_ranker(booster, two, lambdarank_position_bias_regularization=1.0).fit(*parts)


def _float_later(block, block_info=None):
    return block.astype(float) if block_info and block_info[0]["chunk-location"][0] else block


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2, 4])
@booster
def test_evaluation_is_exact_and_stops_all_workers(booster, n_workers, clients):
    X, y, qid = ranking(400, 0)
    valis = [ranking(61, 1), ranking(1, 2)]  # only one worker holds the query of the second
    weights = [(v[2] % 4).astype(float) for v in valis[:1]] + [np.ones(len(valis[1][1]))]
    sets = [(cut(v[0], 50), cut(v[1], 50)) for v in valis]
    given = cut(X, 500), cut(y, 500), cut(qid, 500)
    parameters, arguments = stopping(booster, 3)
    name = {"lightgbm": "eval_sample_weight", "xgboost": "sample_weight_eval_set"}[booster]
    # the last set decides for XGBoost, any for LightGBM
    order = [1, 0]
    arguments |= {
        "eval_set": [sets[i] for i in order],
        "eval_qid": [cut(valis[i][2], 50) for i in order],
    }
    arguments[name] = [cut(weights[i], 50) for i in order]
    ranker = dask_ranker(
        booster, clients(n_workers), n_estimators=40, learning_rate=0.4, **parameters
    )
    ranker.fit(*given[:2], qid=given[2], **arguments)
    assert 0 < ranker.best_iteration_ < 40
    local = ranker.to_local()
    for place, i in enumerate(order):
        values = history(ranker, place)
        scores = local.predict(valis[i][0])
        expected = gb.evaluate(
            gb.GAP(g=(0.5, 0.5)), valis[i][1], scores, valis[i][2], sample_weight=weights[i]
        )
        assert values[ranker.best_iteration_ - 1] == pytest.approx(
            expected[ranker.measure_], abs=DIGITS[booster]
        )
    if booster == "xgboost":
        assert ranker.best_iteration_ == np.argmax(values) + 1
        assert len(values) == ranker.best_iteration_ + 3


@pytest.mark.slow
@booster
def test_reports_several_measures_and_the_training_set(booster, two):
    X, y, qid = ranking(200, 0)
    given = cut(X, 300), cut(y, 300)
    ids = cut(qid, 300)
    watch = {"eval_metric": [gb.nDCG(k=5), "gap"]}
    parameters, arguments = (watch, {}) if booster == "xgboost" else ({}, watch)
    ranker = dask_ranker(booster, two, **parameters).fit(
        *given, qid=ids, eval_set=[given], eval_qid=[ids], **arguments
    )
    (values,) = ranker.evals_result_.values()
    scores = ranker.to_local().predict(X)
    for name, measure in {"map-gap": ranker.measure_, "ndcg@5": gb.nDCG(k=5)}.items():
        expected = gb.evaluate(measure, y, scores, qid)[measure]
        assert values[name][-1] == pytest.approx(expected, abs=DIGITS[booster])


@pytest.mark.slow
@booster
def test_predict_is_lazy_and_by_partition(booster, two):
    X, y, qid = ranking(100, 0)
    ranker = dask_ranker(booster, two, n_estimators=3).fit(
        cut(X, 400), cut(y, 400), qid=cut(qid, 400)
    )

    def never(block):
        raise AssertionError("computed")

    lazy = ranker.predict(cut(X, (400, 0, 600)).map_blocks(never, dtype=X.dtype, meta=X[:0]))
    assert isinstance(lazy, da.Array)
    assert lazy.chunks == ((400, 0, 600, len(X) - 1000),)
    scores = ranker.predict(cut(X, (400, 0, 600)).rechunk({1: 5}))
    found = two.compute(scores).result()
    assert found.dtype == scores.dtype
    np.testing.assert_array_equal(found, ranker.to_local().predict(X))
    frame = pd.DataFrame(X, index=np.arange(len(X)) * 2, columns=[f"f{i}" for i in range(10)])
    of_frame = ranker.predict(dd.from_pandas(frame, npartitions=3))
    assert of_frame.npartitions == 3
    # As the boosters' own rankers do, LightGBM's gives an array and XGBoost's a series.
    if booster == "lightgbm":
        np.testing.assert_array_equal(of_frame.compute(scheduler="synchronous"), found, strict=True)
    else:
        expected = pd.Series(found, index=frame.index, name="score")
        pd.testing.assert_series_equal(of_frame.compute(scheduler="synchronous"), expected)
    with pytest.raises(
        TypeError,
        match=r"X is a ndarray; expected a Dask array or dataframe, or to_local\(\).predict",
    ):
        ranker.predict(X)
    assert ranker.score(cut(X, 400), cut(y, 400), cut(qid, 400)) == ranker.to_local().score(
        X, y, qid=qid
    )


@pytest.mark.slow
@booster
def test_to_local_pickle_clone_and_model_files(booster, two, tmp_path):
    X, y, qid = ranking(100, 0)
    ranker = dask_ranker(booster, two, n_estimators=3, g=(0.2, 0.8)).fit(
        cut(X, 400), cut(y, 400), qid=cut(qid, 400)
    )
    local = ranker.to_local()
    assert type(local) is TWINS[booster][1]
    assert local.get_params() == {k: v for k, v in ranker.get_params().items() if k != "client"}
    assert (local.g_, local.measure_, local.objective_) == (
        (0.2, 0.8),
        ranker.measure_,
        ranker.objective_,
    )
    expected = local.predict(X)
    again = pickle.loads(pickle.dumps(ranker))
    assert again.client is None
    np.testing.assert_array_equal(again.to_local().predict(X), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(local)).predict(X), expected)
    vendor = ranker.to_vendor()
    assert type(vendor) is {"lightgbm": lightgbm.LGBMRanker, "xgboost": xgboost.XGBRanker}[booster]
    np.testing.assert_array_equal(vendor.predict(X), expected)
    copy = clone(ranker)
    assert copy.client is two
    assert copy.get_params() == ranker.get_params()
    assert not hasattr(copy, "n_queries_in_")
    file = tmp_path / "model.json"
    if booster == "lightgbm":
        ranker.booster_.save_model(file)
        np.testing.assert_array_equal(lightgbm.Booster(model_file=file).predict(X), expected)
        assert "machines" not in ranker.booster_.params
    else:
        ranker.save_model(file)
        plain = xgboost.XGBRanker()
        plain.load_model(file)
        np.testing.assert_array_equal(plain.predict(X), expected)


@pytest.mark.slow
@pytest.mark.usefixtures("categories")
@booster
def test_dataframes_with_categories_and_string_ids(booster, two):
    X, y, qid = ranking(200, 0)
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["kind"] = pd.Categorical(
        np.array(["x", "y", "z"])[(X[:, 0] > 0).astype(int) + (X[:, 0] > 1)]
    )
    frame["y"], frame["qid"] = y, [f"query {q}" for q in qid]
    rows = np.random.default_rng(0).permutation(len(frame))
    shuffled = frame.iloc[rows].reset_index(drop=True)
    ddf = dd.from_pandas(shuffled, npartitions=5, sort=False)
    options = {"enable_categorical": True} if booster == "xgboost" else {}
    features = ["kind", *"bcd"]
    ranker = dask_ranker(booster, two, **options).fit(ddf[features], ddf["y"], qid=ddf["qid"])
    local = local_ranker(booster, **options).fit(
        shuffled[features], shuffled["y"], qid=shuffled["qid"]
    )
    assert ranker.n_queries_in_ == 200
    values = [one.score(frame[features], y, qid=qid) for one in (ranker.to_local(), local)]
    assert abs(values[0] - values[1]) < 0.01
    assert values[1] > 0.7
    np.testing.assert_array_equal(
        two.compute(ranker.predict(ddf[features])).result(),
        ranker.to_local().predict(shuffled[features]),
    )
    unknown = ddf[features].assign(kind=ddf["kind"].cat.as_unknown())
    with pytest.raises(
        ValueError, match=r"X has a column 'kind' of unknown categories; .* call X.categorize\(\)"
    ):
        ranker.fit(unknown, ddf["y"], qid=ddf["qid"])


@pytest.mark.slow
@booster
def test_other_columns_than_in_training_are_refused(booster, two):
    X, y, qid = ranking(100, 0)
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    table, grades, ids = (
        dd.from_pandas(v, npartitions=3) for v in (frame, pd.Series(y), pd.Series(qid))
    )
    turned = table[list("jihgfedcba")]
    with pytest.raises(
        ValueError, match=r"^eval_set\[0\] X has the column 'j' where 'a' was in training"
    ):
        dask_ranker(booster, two).fit(
            table, grades, qid=ids, eval_set=[(turned, grades)], eval_qid=[ids]
        )
    ranker = dask_ranker(booster, two).fit(
        table, grades, qid=ids, eval_set=[(table, grades)], eval_qid=[ids]
    )
    for call in (lambda: ranker.predict(turned), lambda: ranker.score(turned, grades, ids)):
        with pytest.raises(ValueError, match=r"^X has the column 'j' where 'a' was in training"):
            call()
    with pytest.raises(ValueError, match=r"^X has the column 'j' "):
        ranker.to_local().predict(frame[list("jihgfedcba")])
    assert abs(ranker.score(table, grades, ids) - history(ranker)[-1]) <= DIGITS[booster]


@pytest.mark.slow
@booster
def test_sparse_blocks(booster, two):
    X, y, qid = ranking(150, 0)
    X = np.where(np.abs(X) < 0.5, 0, X)
    rows = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[rows], y[rows], qid[rows]
    blocks = cut(X, 400).map_blocks(sparse.csr_matrix)
    ranker = dask_ranker(booster, two).fit(blocks, cut(y, 400), qid=cut(qid, 400))
    local = local_ranker(booster).fit(sparse.csr_matrix(X), y, qid=qid)
    values = [one.score(sparse.csr_matrix(X), y, qid=qid) for one in (ranker.to_local(), local)]
    assert abs(values[0] - values[1]) < 0.01


@pytest.mark.slow
@booster
def test_goes_on_from_a_model(booster, two, tmp_path):
    X, y, qid = ranking(150, 0)
    given = {"X": cut(X, 400), "y": cut(y, 400), "qid": cut(qid, 400)}
    first = dask_ranker(booster, two, n_estimators=3).fit(**given)
    name = {"lightgbm": "init_model", "xgboost": "xgb_model"}[booster]
    more = dask_ranker(booster, two, n_estimators=2).fit(**given, **{name: first})
    file = tmp_path / "model.json"
    (first.booster_ if booster == "lightgbm" else first).save_model(file)
    from_file = dask_ranker(booster, two, n_estimators=2).fit(**given, **{name: str(file)})
    trees = (
        more.booster_.num_trees()
        if booster == "lightgbm"
        else more.get_booster().num_boosted_rounds()
    )
    assert trees == 5
    np.testing.assert_array_equal(more.to_local().predict(X), from_file.to_local().predict(X))


@pytest.mark.slow
@booster
def test_fits_of_several_threads_take_turns(booster, two):
    X, y, qid = ranking(100, 0)
    found = {}

    def fit(i):
        found[i] = (
            dask_ranker(booster, two)
            .fit(cut(X, 400), cut(y, 400), qid=cut(qid, 400))
            .to_local()
            .predict(X)
        )

    threads = [threading.Thread(target=fit, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("booster", "then", "error", "message"),
    [
        ("lightgbm", "raise", ArithmeticError, "the fifth round"),
        ("xgboost", "raise", ArithmeticError, "the fifth round"),
        ("lightgbm", "die", RuntimeError, r"ended with status -9 \(negative: the signal"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isalpha() else "",
)
def test_an_error_in_one_training_process_ends_them_all(
    booster, then, error, message, two, tmp_path
):
    X, y, qid = ranking(200, 0)
    given = {"X": cut(X, 400), "y": cut(y, 400), "qid": cut(qid, 400)}
    ranker = dask_ranker(booster, two, n_estimators=10_000, objective=watched(tmp_path, then))
    with pytest.raises(error, match=message):
        ranker.fit(**given)
    assert not hasattr(ranker, "n_queries_in_")
    processes = written(tmp_path)
    assert len(processes) == 2
    assert not any(map(alive, processes))
    # The cluster is as good as before.
    assert dask_ranker(booster, two).fit(**given).n_queries_in_ == 200


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_worker_that_dies_ends_the_fit(tmp_path):
    """The second of two workers dies: the first one is in this process.

    The code that notices its death is the same for both boosters.
    """
    X, y, qid = ranking(200, 0)
    with cluster_of(1, protocol="tcp") as cluster, Client(cluster, set_as_default=False) as client:
        # Ranks follow the addresses as text. Ports that a system chooses begin with 1 to 6.
        options = "--no-nanny --no-dashboard --nthreads 1 --host 127.0.0.1 --worker-port 9000:9999"
        worker = python("-m", "dask", "worker", cluster.scheduler_address, *options.split())
        try:
            client.wait_for_workers(2, timeout=120)
            objective = watched(tmp_path, f"kill {worker.pid}")
            ranker = dask_ranker("xgboost", client, n_estimators=10_000, objective=objective)
            with pytest.raises(
                RuntimeError,
                match=r"worker tcp://.* left the cluster during fit: nothing was trained",
            ):
                ranker.fit(cut(X, 400), cut(y, 400), qid=cut(qid, 400))
            processes = written(tmp_path)
            assert len(processes) == 2
            # The process of the dead worker ends by itself, a moment later.
            wait_until(lambda: not any(map(alive, processes)))
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.slow
def test_nothing_stays_on_the_disks_of_workers(two, tmp_path):
    X, y, qid = ranking(50, 0)
    dask_ranker("lightgbm", two).fit(cut(X, 400), cut(y, 400), qid=cut(qid, 400))
    places = two.run(lambda dask_worker: dask_worker.local_directory).values()
    assert not [
        name for place in places for name in os.listdir(place) if name.startswith("gapboost")
    ]


@pytest.mark.slow
def test_search_over_g_on_a_cluster(two):
    X, y, qid = ranking(60, 0)
    search = GSearchCV(
        LGBMGAPRanker(n_estimators=5, n_jobs=1, verbose=-1),
        {"g": [(0.2, 0.8), (0.8, 0.2)]},
        scoring=gb.nDCG(),
        cv=3,
    )
    here = clone(search).fit(X, y, qid=qid)
    with two.as_current(), joblib.parallel_backend("dask"):
        there = clone(search).set_params(n_jobs=2).fit(X, y, qid=qid)
    np.testing.assert_array_equal(
        there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"]
    )


def in_groups(data, queries, framed):
    """X, y and group with so many queries in each partition, as arrays or as data frames."""
    X, y, qid = data
    sizes = np.unique(qid, return_counts=True)[1]
    rows = tuple(int(part.sum()) for part in np.split(sizes, np.cumsum(queries)[:-1]))
    if not framed:
        return cut(X, rows), cut(y, rows), cut(sizes, queries)
    edges = [0, *np.cumsum(rows)]
    tables = [pd.DataFrame(X[a:b]) for a, b in pairwise(edges)]
    grades = [pd.Series(y[a:b]) for a, b in pairwise(edges)]
    groups = [pd.Series(part) for part in np.split(sizes, np.cumsum(queries)[:-1])]
    return tuple(
        dd.from_delayed([dask.delayed(v) for v in parts]) for parts in (tables, grades, groups)
    )


@pytest.mark.slow
@pytest.mark.parametrize("framed", [False, True], ids=["arrays", "dataframes"])
@booster
def test_sizes_of_the_queries_in_each_partition(booster, framed, clients):
    train, vali = ranking(60, 0), ranking(20, 1)
    X, y, group = in_groups(train, (25, 0, 5, 30), framed)
    X_vali, y_vali, group_vali = in_groups(vali, (12, 8), framed)
    evals = {"eval_set": [(X_vali, y_vali), (X, y)], "eval_group": [group_vali, group]}
    ranker = dask_ranker(booster, clients(1)).fit(X, y, group=group, **evals)
    tables = [pd.DataFrame(one[0]) if framed else one[0] for one in (train, vali)]
    local = local_ranker(booster).fit(
        tables[0],
        train[1],
        train[2],
        eval_set=[(tables[1], vali[1]), (tables[0], train[1])],
        eval_qid=[vali[2], train[2]],
    )
    np.testing.assert_array_equal(ranker.to_local().predict(tables[0]), local.predict(tables[0]))
    for i in range(2):
        np.testing.assert_allclose(history(ranker, i), history(local, i), atol=DIGITS[booster])
    assert ranker.score(X_vali, y_vali, group=group_vali) == local.score(
        tables[1], vali[1], qid=vali[2]
    )
    two = dask_ranker(booster, clients(2)).fit(X, y, group=group)
    assert two.n_queries_in_ == 60


@pytest.mark.slow
@booster
@pytest.mark.parametrize("ids", ["numbers", "strings"])
def test_frames_with_the_column_qid(booster, ids, two):
    """Training, evaluation sets, predictions and `score` read the column, as local rankers do."""
    X, y, qid = ranking(60, 0)
    vali = ranking(20, 1)
    names = [f"f{i}" for i in range(10)]
    frames, frames_with_qid, grades, own = [], [], [], []
    for table, y_of, qid_of in ((X, y, qid), vali):
        frame = pd.DataFrame(table, columns=names)
        column = qid_of if ids == "numbers" else np.array([f"query {i}" for i in qid_of])
        with_qid = frame.assign(qid=column)[["f0", "qid", *names[1:]]]
        frames.append(dd.from_pandas(frame, npartitions=3, sort=False))
        frames_with_qid.append(dd.from_pandas(with_qid, npartitions=3, sort=False))
        grades.append(dd.from_pandas(pd.Series(y_of), npartitions=3, sort=False))
        own.append(dd.from_pandas(pd.Series(column), npartitions=3, sort=False))
    ranker = dask_ranker(booster, two)
    pairs = list(zip(frames_with_qid, grades, strict=True))
    found = clone(ranker).fit(*pairs[0], eval_set=pairs[::-1])
    expected = clone(ranker).fit(
        frames[0],
        grades[0],
        own[0],
        eval_set=list(zip(frames, grades, strict=True))[::-1],
        eval_qid=own[::-1],
    )
    for i in range(2):
        np.testing.assert_array_equal(history(found, i), history(expected, i))
    scores = two.compute(
        [found.predict(frames_with_qid[1]), expected.predict(frames[1])], sync=True
    )
    np.testing.assert_array_equal(*scores)
    assert found.score(*pairs[1]) == expected.score(frames[1], grades[1], own[1])
    assert found.n_queries_in_ == 60
    np.testing.assert_array_equal(found.to_local().predict(frames_with_qid[1].compute()), scores[0])


X, Y, QID = ranking(30, 0)
WITH_QID = dd.from_pandas(pd.DataFrame(X).rename(columns=str).assign(qid=QID), npartitions=3)
FRAME = dd.from_pandas(pd.DataFrame(X), npartitions=3)
BAD = {
    "qid": ({"qid": None}, ValueError, "qid is missing; expected a Dask array or series"),
    "no Dask array": (
        {"y": Y},
        TypeError,
        r"y is a numpy.ndarray; expected a Dask array or dataframe",
    ),
    "chunks": (
        {"y": cut(Y, 60)},
        ValueError,
        r"y has row chunks \(60, .* but X has \(100, .*; expected the same",
    ),
    "numbers of partitions": (
        {"X": FRAME},
        ValueError,
        r"y has partitions 4 but X has 3; expected the same",
    ),
    "divisions": (
        {
            "X": FRAME,
            "y": dd.from_pandas(pd.Series(Y[::-1]), npartitions=3),
            "qid": FRAME[1].repartition(divisions=(0, 5, 9, 12)),
        },
        ValueError,
        r"qid has divisions \(0, 5, 9, 12\) but X has \(0, ",
    ),
    "unknown chunks": (
        {"y": cut(Y, 100)[cut(Y, 100) >= 0]},
        ValueError,
        r"y has unknown chunk sizes; expected known ones: call y.compute_chunk_sizes\(\)",
    ),
    "two columns": (
        {"y": cut(X[:, :2], 100)},
        ValueError,
        "y has 2 dimensions; expected 1: one value a row",
    ),
    "weights of queries": (
        {"sample_weight": cut(np.ones(30), 100)},
        ValueError,
        r"sample_weight has row chunks \(30,\) but X",
    ),
    "eval_qid": ({"eval_set": [(cut(X, 100), cut(Y, 100))]}, ValueError, "eval_qid is missing"),
    "group and qid": (
        {"group": cut(np.array([len(Y)]), 1)},
        ValueError,
        "group is given, and qid too; expected one of them",
    ),
    "qid twice": (
        {"X": WITH_QID},
        ValueError,
        "qid is given, and X has a column 'qid' too; expected one of them",
    ),
    "group and the column qid": (
        {"X": WITH_QID, "qid": None, "group": cut(np.array([len(Y)]), 1)},
        ValueError,
        "group is given, and X has a column 'qid' too; expected one of them",
    ),
    "qid renamed": (
        {"X": WITH_QID.rename(columns={"qid": "rest__qid"})},
        ValueError,
        "X has a column 'rest__qid', which is 'qid' renamed by a ColumnTransformer",
    ),
    "eval_qid twice": (
        {"eval_set": [(WITH_QID, cut(Y, 100))], "eval_qid": [cut(QID, 100)]},
        ValueError,
        r"eval_qid\[0\] is given, and eval_set\[0\] X has a column 'qid' too",
    ),
    "eval_qid of one": (
        {"eval_set": [(WITH_QID, cut(Y, 100)), (cut(X, 100), cut(Y, 100))]},
        ValueError,
        "eval_qid is missing",
    ),
    "group in memory": (
        {"qid": None, "group": [len(Y)]},
        TypeError,
        "group is a builtins.list; expected a Dask array",
    ),
    "group of all": (
        {"qid": None, "group": cut(np.array([len(Y)]), 1)},
        ValueError,
        "group has 1 partitions but y has 4; expected the same: the sizes of the queries in each "
        "partition of rows",
    ),
    "eval_set": (
        {"eval_set": [(cut(X, 100), cut(Y, 90))], "eval_qid": [cut(QID, 100)]},
        ValueError,
        r"eval_set\[0\] y has row chunks .* but eval_set\[0\] X has",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
@booster
def test_bad_input_is_found_before_any_work_is_sent(booster, case):
    given, error, message = BAD[case]
    arguments = {"X": cut(X, 100), "y": cut(Y, 100), "qid": cut(QID, 100), **given}
    nobody = object()
    with pytest.raises(error, match=message):
        dask_ranker(booster, nobody).fit(**arguments)


@pytest.mark.slow
@booster
def test_bad_clients(booster, two):
    given = {"X": cut(X, 100), "y": cut(Y, 100), "qid": cut(QID, 100)}
    client = Client(two.cluster, set_as_default=False)
    client.close()
    with pytest.raises(ValueError, match="client is closed; expected one that is running"):
        dask_ranker(booster, client).fit(**given)


def in_frames(*columns):
    """A Dask dataframe whose partitions of 100 rows have columns in these orders."""
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    parts = [frame.iloc[100 * i : 100 * (i + 1)][list(order)] for i, order in enumerate(columns)]
    return dd.from_delayed(list(map(dask.delayed, parts)), meta=frame.iloc[:0], verify_meta=False)


def in_blocks(values, lacking, declared=10):
    """A Dask array of blocks of 100 rows; the block of this number lacks a column."""
    blocks = [
        values[100 * i : 100 * (i + 1), i == lacking :] for i in range(-(-len(values) // 100))
    ]
    made = [
        da.from_delayed(
            dask.delayed(block), (len(block), declared), meta=np.empty((0, 0), np.float32)
        )
        for block in blocks
    ]
    return da.concatenate(made, axis=0, allow_unknown_chunksizes=True)


N_PARTITIONS = len(range(0, len(X), 100))
BAD_VALUES = {
    "order of columns": (
        {"X": in_frames("abcdefghij", "jbcdefghia", *["abcdefghij"] * (N_PARTITIONS - 2))},
        "^X in partition 1 has the column 'j' where 'a' was in the metadata of X; expected a, b, c",
    ),
    "columns of an array": (
        {"X": in_blocks(X, 2)},
        r"^X in partition 2 has shape \(\d+, 9\); expected 10 columns, as in the training set$",
    ),
    "columns of an array of unknown width": (
        {"X": in_blocks(X, 2, np.nan)},
        r"^X in partition 2 has shape \(\d+, 9\); expected 10 columns, as in the training set$",
    ),
    "columns of an evaluation set": (
        {"eval_set": [(in_blocks(X, 1), cut(Y, 100))], "eval_qid": [cut(QID, 100)]},
        r"^eval_set\[0\] X in partition 1 has shape \(100, 9\); expected 10 columns, as in the "
        r"training set$",
    ),
    "another width in an evaluation set": (
        {"eval_set": [(cut(X[:, :9], 100), cut(Y, 100))], "eval_qid": [cut(QID, 100)]},
        r"^eval_set\[0\] X in partition \d has shape \(\d+, 9\); expected 10 columns, as in the "
        r"training set$",
    ),
    "grade": (
        {"y": cut(np.where(np.arange(len(Y)) == 150, -0.5, Y), 100)},
        "y in partition 1 holds the negative grade -0.5",
    ),
    "highest grade": (
        {"y": cut(Y * 3, 100)},
        r"y holds the grade 6, but GAP\(g=\(0.5, 0.5\)\) is defined for the grades 0..2",
    ),
    "no contrast": (
        {"y": cut(Y * 0 + 1, 100)},
        "y holds no query with two different grades .30 queries",
    ),
    "missing id": (
        {"qid": cut(np.where(QID[0] == QID, np.nan, QID), 100)},
        "qid in partition 0 holds .* missing values",
    ),
    "tiny weights": (
        {"sample_weight": cut(np.full(len(Y), 1e-12), 100)},
        "sample_weight has the sum 3e-11 over the queries",
    ),
    "sizes": (
        {"qid": None, "group": cut(np.array([100, 99, 100, len(Y) - 300]), 1)},
        "group in partition 1 has the sum 99 but y in partition 1 has 100 rows; expected the sizes "
        "of all queries",
    ),
    "no weight": (
        {"sample_weight": cut(np.zeros(len(Y)), 100)},
        "sample_weight is zero for every query",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD_VALUES)
def test_bad_values_are_found_before_training(case, two):
    given, message = BAD_VALUES[case]
    arguments = {"X": cut(X, 100), "y": cut(Y, 100), "qid": cut(QID, 100), **given}
    with pytest.raises(ValueError, match=message):
        dask_ranker("lightgbm", two, g=(0.5, 0.5)).fit(**arguments)


@pytest.mark.slow
def test_a_metric_that_does_not_know_the_grades_of_the_training_set(two):
    train = cut(X, 100), cut(Y, 100)
    qid = cut(QID, 100)
    with pytest.raises(
        ValueError,
        match=r"eval_set\[0\] y holds the grade 2, but nDCG\(gains=\(0.0, 1.0\)\) is defined",
    ):
        dask_ranker("lightgbm", two).fit(
            *train, qid=qid, eval_set=[train], eval_qid=[qid], eval_metric=gb.nDCG(gains=(0, 1))
        )
    with pytest.raises(TypeError, match="eval_metric is 3"):
        dask_ranker("lightgbm", two).fit(
            *train, qid=qid, eval_set=[train], eval_qid=[qid], eval_metric=3
        )


@booster
def test_a_function_as_metric_is_refused(booster, two):
    """A worker would call it with its own rows alone."""

    def metric(y_true, y_pred, weight):
        return "metric", 0.0, True

    train, qid = (cut(X, 100), cut(Y, 100)), cut(QID, 100)
    parameters, arguments = {}, {"qid": qid, "eval_set": [train], "eval_qid": [qid]}
    (arguments if booster == "lightgbm" else parameters)["eval_metric"] = ["ap", metric]
    with pytest.raises(
        TypeError, match=r"eval_metric holds .*metric.*; expected names and measures: on a cluster"
    ):
        dask_ranker(booster, two, **parameters).fit(*train, **arguments)


@pytest.mark.slow
@booster
def test_watching_more_measures_does_not_change_where_training_stops(booster, two):
    X, y, qid = ranking(150, 0)
    train = cut(X, 400), cut(y, 400)
    vali_X, vali_y, vali_qid = (cut(v, 400) for v in ranking(150, 1))
    parameters, arguments = stopping(booster, 3)
    arguments |= {"qid": cut(qid, 400), "eval_set": [(vali_X, vali_y)], "eval_qid": [vali_qid]}
    parameters |= {"n_estimators": 40, "learning_rate": 0.5}
    alone = dask_ranker(booster, two, **parameters).fit(*train, **arguments)
    # The second never changes: training would stop after four rounds.
    of = arguments if booster == "lightgbm" else parameters
    of["eval_metric"] = ["ndcg@5", gb.AP(rel=200)]
    watching = dask_ranker(booster, two, **parameters).fit(*train, **arguments)
    assert len(next(iter(watching.evals_result_.values()))) == 3
    assert 1 < alone.best_iteration_ < len(history(alone)) < 40
    assert (watching.best_iteration_, len(history(watching))) == (
        alone.best_iteration_,
        len(history(alone)),
    )
    # The constant metric stops training where it is the one that is named.
    named = dask_ranker(booster, two, **parameters, stopping_metric=gb.AP(rel=200)).fit(
        *train, **arguments
    )
    assert named.best_iteration_ == 1
    with pytest.raises(
        ValueError, match="stopping_metric is 'ndcg', which is not reported; expected one of"
    ):
        dask_ranker(booster, two, **parameters, stopping_metric="ndcg").fit(*train, **arguments)


@pytest.mark.slow
@booster
def test_a_call_in_the_order_of_the_boosters_own_ranker(booster, two):
    X, y, qid = ranking(60, 0)
    sizes = cut(np.unique(qid, return_counts=True)[1], -1)
    rows = cut(X, -1), cut(y, -1)
    w = cut(qid % 3 + 0.5, -1)
    named = dask_ranker(booster, two).fit(*rows, group=sizes, sample_weight=w)
    if booster == "lightgbm":
        found = dask_ranker(booster, two).fit(*rows, w, None, sizes)
        with pytest.raises(ValueError, match=r"^group is given, and a third argument by position"):
            dask_ranker(booster, two).fit(*rows, w, group=sizes)
    else:
        weights = np.ones(X.shape[1])
        found = dask_ranker(booster, two).fit(
            *rows, group=sizes, sample_weight=w, feature_weights=weights
        )
    np.testing.assert_array_equal(found.to_local().predict(X), named.to_local().predict(X))


@pytest.mark.slow
@booster
def test_the_warning_about_the_leaf_floor_points_at_the_line_of_the_user(booster, two):
    X, y, qid = ranking(100, 0)
    fit = {"X": cut(X, 400), "y": cut(y, 400), "qid": cut(qid, 400)}
    whole = gb.LambdaRank(gb.GAP(g=(0.5, 0.5))).gradients(y, np.zeros(len(y)), qid)[1].sum()
    floor = whole * (len(y) / 100 if booster == "lightgbm" else 1) / 5
    ranker = dask_ranker(booster, two, min_child_weight=floor, n_estimators=2)
    with pytest.warns(
        UserWarning, match=r"^min_child_weight is .* sum to .* hold 20% of them"
    ) as warned:
        ranker.fit(**fit)
    assert [warning.filename for warning in warned] == [__file__]
    assert ranker.n_queries_in_ == 100


@pytest.mark.slow
@booster
def test_parameters_that_would_be_ignored_come_in_one_error(booster):
    words = {"lightgbm": {"label_gain": "0,1,3"}, "xgboost": {"lambdarank_pair_method": "mean"}}[
        booster
    ]
    ranker = dask_ranker(booster, None, mesure="ap", nthread=-8, clint=None, **words)
    with pytest.raises(ValueError) as caught:
        ranker.fit(cut(X, 100), cut(Y, 100), qid=cut(QID, 100))
    lines = sorted(str(caught.value).splitlines())
    assert [line.partition(" is ")[0] for line in lines] == [*words, "mesure", "nthread"]
    assert "; remove it" in lines[0]
    assert "; expected measure" in lines[1]


@pytest.mark.slow
def test_other_tree_learners_are_refused():
    given = {"X": cut(X, 100), "y": cut(Y, 100), "qid": cut(QID, 100)}
    with pytest.raises(
        ValueError, match="tree_learner is 'feature'; remove it: each worker has rows of its own"
    ):
        dask_ranker("lightgbm", None, tree_learner="feature").fit(**given)
