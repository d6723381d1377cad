"""Calls of the boosters' own Dask rankers, made with ours."""

import inspect
import pickle

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.exceptions import DataConversionWarning, NotFittedError

from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

TRAIN = load_digits_ranking((30, 5, 5), 20)[0]
CHUNKS = len(TRAIN.y) // 2
X, Y, QID = (da.from_array(v, chunks=(CHUNKS, *v.shape[1:])) for v in (TRAIN.X, TRAIN.y, TRAIN.qid))
KINDS = {
    "lightgbm": (DaskLGBMGAPRanker, LGBMGAPRanker, {"n_estimators": 5, "verbose": -1, "extra_trees": False}),
    "xgboost": (DaskXGBGAPRanker, XGBGAPRanker, {"n_estimators": 5}),
}
boosters = pytest.mark.parametrize("booster", KINDS)


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False)
    with cluster, Client(cluster, set_as_default=False) as opened:
        yield opened


def on_cluster(booster, client, **parameters):
    return KINDS[booster][0](client=client, **{**KINDS[booster][2], **parameters})


@boosters
def test_the_constructor_is_the_local_one_and_client(booster):
    cluster, local = (inspect.signature(kind.__init__).parameters for kind in KINDS[booster][:2])
    assert list(cluster) == [*list(local)[:-1], "client", "kwargs"]
    assert all(repr(cluster[name].default) == repr(p.default) for name, p in local.items() if name != "self")


def test_words_about_the_network_change_nothing_and_say_so(client):
    words = {"machines": "127.0.0.1:14000", "num_machines": 7, "local_listen_port": 14000}
    plain = on_cluster("lightgbm", client).fit(X, Y, QID)
    with pytest.warns(UserWarning, match="machines, num_machines, local_listen_port changes nothing") as caught:
        told = on_cluster("lightgbm", client, time_out=5, **words).fit(X, Y, QID)
    assert sum("changes nothing" in str(w.message) for w in caught) == 1
    np.testing.assert_array_equal(
        told.predict(X).compute(scheduler="synchronous"), plain.predict(X).compute(scheduler="synchronous")
    )
    assert told.get_params()["time_out"] == 5
    assert words.items() <= told.get_params().items()
    local = told.to_local()
    assert not words.keys() & local.get_params().keys()
    local.fit(TRAIN.X, TRAIN.y, TRAIN.qid)


@pytest.mark.parametrize("alias", ["num_threads", "num_thread", "nthread", "nthreads"])
@boosters
def test_aliases_of_n_jobs(booster, alias):
    if booster == "xgboost" and alias != "nthread":
        return
    ranker = on_cluster(booster, None, **{alias: 3})
    assert ranker.to_local().n_jobs == 3
    assert alias not in ranker.to_local().get_params()
    assert ranker.get_params()[alias] == 3


@boosters
def test_client_(booster, client):
    ranker = on_cluster(booster, client)
    with pytest.raises(NotFittedError):
        _ = ranker.client_
    ranker.fit(X, Y, QID)
    assert ranker.client_ is client
    copy = pickle.loads(pickle.dumps(ranker))
    assert copy.client is None
    np.testing.assert_array_equal(
        copy.predict(X).compute(scheduler="synchronous"), ranker.predict(X).compute(scheduler="synchronous")
    )
    with client.as_current():
        assert copy.client_ is client


@boosters
def test_columns_words_and_flags(booster, client):
    """A column of grades and weights; words of the booster; predictions of some of the trees."""
    words, fit = {
        "lightgbm": ({"sigmoid": 2.0, "lambdarank_truncation_level": 7, "metric": "ndcg"}, {"eval_at": [3, 5]}),
        "xgboost": (
            {
                "lambdarank_num_pair_per_sample": 7,
                "lambdarank_pair_method": "topk",
                "objective": "rank:ndcg",
                "eval_metric": ["ndcg@3-", "ndcg@5"],
            },
            {},
        ),
    }[booster]
    weight = da.ones(len(TRAIN.y), chunks=CHUNKS)
    watched = {"eval_set": [(X, Y)], "eval_qid": [QID]}
    with pytest.warns(DataConversionWarning, match="y and sample_weight of shape"):
        found = on_cluster(booster, client, **words).fit(
            X, Y.reshape(-1, 1), QID, sample_weight=weight.reshape(-1, 1), **watched, **fit
        )
    expected = KINDS[booster][1](**{**KINDS[booster][2], **words}).fit(
        TRAIN.X, TRAIN.y, TRAIN.qid, eval_set=[(TRAIN.X, TRAIN.y)], eval_qid=[TRAIN.qid], **fit
    )
    assert found.objective_ == expected.objective_
    (names,) = ({*curves} for curves in found.evals_result_.values())
    assert names == {*next(iter(expected.evals_result_.values()))} >= {"ndcg@3", "ndcg@5"}
    first = {"lightgbm": {"num_iteration": 2}, "xgboost": {"iteration_range": (0, 2)}}[booster]
    local = found.to_local().predict(TRAIN.X, **first)
    np.testing.assert_array_equal(found.predict(X, **first).compute(scheduler="synchronous"), local)
    assert not np.array_equal(local, found.to_local().predict(TRAIN.X))
