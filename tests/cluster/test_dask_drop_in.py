"""Calls of the boosters' own Dask rankers, made with ours."""

import inspect
import pickle
import warnings

import cloudpickle
import dask.array as da
import dask.dataframe as dd
import joblib
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost.dask
from distributed import Client, LocalCluster
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from xgboost.collective import Config

import gapboost as gb
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

TRAIN = load_digits_ranking((30, 5, 5), 20)[0]
CHUNKS = len(TRAIN.y) // 2
X, Y, QID = (da.from_array(v, chunks=(CHUNKS, *v.shape[1:])) for v in (TRAIN.X, TRAIN.y, TRAIN.qid))
KINDS = {
    "lightgbm": (
        DaskLGBMGAPRanker,
        LGBMGAPRanker,
        {"n_estimators": 5, "verbose": -1, "extra_trees": False},
    ),
    "xgboost": (DaskXGBGAPRanker, XGBGAPRanker, {"n_estimators": 5}),
}
boosters = pytest.mark.parametrize("booster", KINDS)


@pytest.fixture(scope="module")
def client():
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", processes=False
    )
    with cluster, Client(cluster, set_as_default=False) as opened:
        yield opened


def on_cluster(booster, client, **parameters):
    return KINDS[booster][0](client=client, **{**KINDS[booster][2], **parameters})


@boosters
def test_the_constructor_is_the_local_one_and_client(booster):
    cluster, local = (inspect.signature(kind.__init__).parameters for kind in KINDS[booster][:2])
    assert list(cluster) == [*list(local)[:-1], "client", "kwargs"]
    assert all(
        repr(cluster[name].default) == repr(p.default)
        for name, p in local.items()
        if name != "self"
    )


def test_words_about_the_network_change_nothing_and_say_so(client):
    words = {"machines": "127.0.0.1:14000", "num_machines": 7, "local_listen_port": 14000}
    plain = on_cluster("lightgbm", client).fit(X, Y, QID)
    with pytest.warns(
        UserWarning, match="machines, num_machines, local_listen_port will be ignored"
    ) as caught:
        told = on_cluster("lightgbm", client, time_out=5, **words).fit(X, Y, QID)
    assert sum("will be ignored" in str(w.message) for w in caught) == 1
    np.testing.assert_array_equal(
        told.predict(X).compute(scheduler="synchronous"),
        plain.predict(X).compute(scheduler="synchronous"),
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
    with pytest.raises(NotFittedError, match="client_ before calling fit"):
        _ = ranker.client_
    ranker.fit(X, Y, QID)
    assert ranker.client_ is client
    copy = pickle.loads(pickle.dumps(ranker))
    assert copy.client is None
    np.testing.assert_array_equal(
        copy.predict(X).compute(scheduler="synchronous"),
        ranker.predict(X).compute(scheduler="synchronous"),
    )
    with client.as_current():
        assert copy.client_ is client


@pytest.mark.parametrize(
    "module", [pickle, joblib, cloudpickle], ids=lambda module: module.__name__
)
@pytest.mark.parametrize("told", ["never", "constructor", "set_params"])
@boosters
def test_unfitted_rankers_travel_without_their_client(booster, client, told, module, tmp_path):
    ranker = on_cluster(booster, client if told == "constructor" else None, g=(0.3, 0.7))
    if told == "set_params":
        ranker.set_params(client=client)
    copies = []
    for name, one in (("cluster", ranker), ("local", ranker.to_local())):
        with open(tmp_path / name, "wb") as file:
            module.dump(one, file)
        with open(tmp_path / name, "rb") as file:
            copies.append(module.load(file))
    again, local = copies
    assert ranker.client is clone(ranker).client is (None if told == "never" else client)
    assert type(again) is KINDS[booster][0]
    assert repr(again.get_params()) == repr({**ranker.get_params(), "client": None})
    assert type(local) is KINDS[booster][1]
    assert not hasattr(local, "client")
    with pytest.raises(NotFittedError, match="client_ before calling fit"):
        _ = again.client_
    with client.as_current():
        np.testing.assert_array_equal(
            again.fit(X, Y, QID).to_local().predict(TRAIN.X),
            on_cluster(booster, client, g=(0.3, 0.7)).fit(X, Y, QID).to_local().predict(TRAIN.X),
        )


@boosters
@pytest.mark.filterwarnings("ignore:(?s).*own.*are not used")  # what XGBoost says of it
def test_subclasses_take_parameters_of_their_own(booster, client):
    class Mine(KINDS[booster][0]):
        def __init__(self, *, own=3, **kwargs):
            super().__init__(**kwargs)
            self.own = own

    parameters = {**KINDS[booster][2], "n_estimators": 2}
    mine = clone(Mine(own=4, client=client, **parameters))
    plain = KINDS[booster][0](client=client, **parameters)
    found, expected = mine.get_params(), plain.get_params()
    assert found.pop("client") is expected.pop("client") is client
    assert repr(sorted(found.items())) == repr(sorted({**expected, "own": 4}.items()))
    found, expected = (one.fit(X, Y, QID).to_local().predict(TRAIN.X) for one in (mine, plain))
    np.testing.assert_array_equal(found, expected)


@boosters
def test_columns_words_and_flags(booster, client):
    """A column of grades and weights; words of the booster; predictions of some of the trees."""
    words, fit = {
        "lightgbm": (
            {"sigmoid": 2.0, "lambdarank_truncation_level": 7, "metric": "ndcg"},
            {"eval_at": [3, 5]},
        ),
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
    with pytest.warns(
        DataConversionWarning, match="A column-vector y and sample_weight was passed"
    ):
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


@pytest.mark.parametrize("columns", ["first scores", "grades and weights"])
@boosters
def test_blocks_that_turn_out_to_be_columns(booster, client, columns):
    """`map_blocks` may return blocks of two dimensions for an array that says it has one."""
    start = {"lightgbm": "init_score", "xgboost": "base_margin"}[booster]
    weight, first = da.from_array(1.0 + TRAIN.qid % 3, chunks=CHUNKS), X[:, 0]

    def scores(first, y, weight):
        ranker = on_cluster(booster, client).fit(X, y, QID, sample_weight=weight, **{start: first})
        return ranker.to_local().predict(TRAIN.X)

    def column(values):
        return values.map_blocks(lambda block: block.reshape(-1, 1), dtype=values.dtype)

    told = (
        (column(first), Y, weight)
        if columns == "first scores"
        else (first, column(Y), column(weight))
    )
    np.testing.assert_array_equal(scores(*told), scores(first, Y, weight))


# --- predictions ----------------------------------------------------------------------------------

FLAGS = [
    {"pred_leaf": True},
    {"pred_contrib": True},
    {"pred_leaf": True, "start_iteration": 1, "num_iteration": 2},
    {"pred_early_stop": True, "pred_early_stop_margin": 0.05, "pred_early_stop_freq": 2},
]
TABLES = {
    "array": lambda x: da.from_array(x, chunks=(CHUNKS, x.shape[1])),
    "frame": lambda x: dd.from_pandas(pd.DataFrame(x).rename(columns=str), npartitions=2),
    "sparse": lambda x: da.from_array(x, chunks=(CHUNKS, x.shape[1])).map_blocks(sparse.csr_matrix),
}


@pytest.fixture(scope="module")
def trained(client):
    """A ranker of LightGBM that knows no names of columns."""
    return on_cluster("lightgbm", client).fit(X, Y, QID)


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "-".join(flags))
@pytest.mark.parametrize("table", TABLES)
def test_every_kind_of_prediction_of_lightgbm(trained, table, flags):
    rows = TRAIN.X.astype(np.float64)
    expected = trained.to_local().predict(rows, **flags)
    lazy = trained.predict(TABLES[table](rows), **flags)
    found = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, expected)
    assert sparse.issparse(found) == (table == "sparse" and "pred_contrib" in flags)
    assert lazy.dtype == found.dtype == expected.dtype
    assert lazy.ndim == expected.ndim
    assert lazy.shape[1:] == expected.shape[1:]


def test_leaves_of_no_rows(trained):
    """A filter has emptied a partition."""
    rows = dd.from_pandas(pd.DataFrame(TRAIN.X).rename(columns=str), npartitions=2)
    kept = rows.map_partitions(lambda part: part[part.index < CHUNKS // 2])
    found = trained.predict(kept, pred_leaf=True).compute(scheduler="synchronous")
    np.testing.assert_array_equal(
        found, trained.to_local().predict(TRAIN.X[: CHUNKS // 2], pred_leaf=True)
    )


def test_names_of_columns_are_checked_as_the_caller_says(client):
    frame = TABLES["frame"](TRAIN.X)
    y, qid = (dd.from_pandas(pd.Series(v), npartitions=2) for v in (TRAIN.y, TRAIN.qid))
    ranker = on_cluster("lightgbm", client, n_estimators=2).fit(frame, y, qid)
    renamed = frame.rename(columns={"1": "z"})
    with pytest.raises(ValueError, match="unknown column 'z'"):
        ranker.predict(renamed)
    found, expected = (
        ranker.predict(each, **flags).compute(scheduler="synchronous")
        for each, flags in ((renamed, {"validate_features": False}), (frame, {}))
    )
    np.testing.assert_array_equal(found, expected)


@boosters
def test_score_takes_columns(booster, client):
    ranker = on_cluster(booster, client).fit(X, Y, QID)
    with pytest.warns(DataConversionWarning):
        assert ranker.score(X, Y.reshape(-1, 1), QID) == ranker.score(X, Y, QID)


# --- words about the cluster ----------------------------------------------------------------------


@pytest.mark.parametrize("word", ["tree_learner", "tree"])
def test_workers_vote(client, word):
    """Workers vote for features, so that trees differ from those that compare all features."""
    plain, voting = (
        on_cluster("lightgbm", client, top_k=1, **{word: learner}).fit(X, Y, QID)
        for learner in ("data_parallel", "voting_parallel")
    )
    scores = [one.predict(X).compute(scheduler="synchronous") for one in (plain, voting)]
    assert not np.array_equal(*scores)
    assert voting.get_params()[word] == "voting_parallel"


def test_words_of_xgboost_about_the_cluster(client):
    plain = on_cluster("xgboost", client).fit(X, Y, QID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = on_cluster("xgboost", client, allow_group_split=True).fit(X, Y, QID)
    with pytest.warns(UserWarning, match="coll_cfg will be ignored"):
        networked = on_cluster("xgboost", client, coll_cfg=Config(retry=2)).fit(X, Y, QID)
    for ranker in (told, networked):
        np.testing.assert_array_equal(
            ranker.predict(X).compute(scheduler="synchronous"),
            plain.predict(X).compute(scheduler="synchronous"),
        )
        ranker.to_local().fit(TRAIN.X, TRAIN.y, TRAIN.qid)


METHODS = ("__init__", "fit", "predict")
THEIRS = {"lightgbm": lightgbm.DaskLGBMRanker, "xgboost": xgboost.dask.DaskXGBRanker}


@boosters
def test_signatures_of_the_installed_boosters_are_taken(booster):
    """A new parameter or argument of theirs is met here before a user meets it."""
    ours, theirs = KINDS[booster][0], THEIRS[booster]
    names = {
        m: inspect.signature(getattr(theirs, m)).parameters.keys() - {"kwargs"} for m in METHODS
    }
    for method in METHODS[1:]:
        known = inspect.signature(getattr(ours, method)).parameters.keys()
        assert names[method] - known == (
            {"base_margin"} if (booster, method) == ("xgboost", "predict") else set()
        )
    own = inspect.signature(ours.__init__).parameters.keys()
    assert names["__init__"] - own <= ours._parameter_table.names


# --- scripts of other rankers ---------------------------------------------------------------------


def sizes_in_chunks(qid):
    """Sizes of the queries in each chunk; a query that chunks cut counts as two."""
    pieces = [np.unique(part, return_counts=True)[1] for part in (qid[:CHUNKS], qid[CHUNKS:])]
    return da.from_array(np.concatenate(pieces), chunks=(tuple(map(len, pieces)),))


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
def test_a_script_for_DaskLGBMRanker_runs_as_it_is(client):
    parameters = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "lambdarank_truncation_level": 10,
        "sigmoid": 2.0,
        "tree_learner": "data",
        "time_out": 60,
        "num_threads": 1,
        "n_estimators": 8,
        "random_state": 3,
        "verbose": -1,
    }
    group = sizes_in_chunks(TRAIN.qid)
    script = DaskLGBMGAPRanker(client=client, **parameters).fit(
        X,
        Y,
        group=group,
        eval_set=[(X, Y)],
        eval_group=[group],
        eval_names=["train"],
        eval_at=(5, 10),
    )
    own = DaskLGBMGAPRanker(
        client=client,
        objective=gb.LambdaRank(gb.GAP(), truncation=10, sigma=2.0, random_state=3),
        n_estimators=8,
        random_state=3,
        n_jobs=1,
        verbose=-1,
    ).fit(
        X,
        Y,
        group=group,
        eval_set=[(X, Y)],
        eval_group=[group],
        eval_names=["train"],
        eval_metric=["ndcg@5", "ndcg@10"],
    )
    same(script, own, X, ["map-gap", "ndcg@5", "ndcg@10"])


def test_a_script_for_DaskXGBRanker_runs_as_it_is(client):
    parameters = {
        "objective": "rank:ndcg",
        "lambdarank_num_pair_per_sample": 8,
        "lambdarank_pair_method": "topk",
        "eval_metric": ["ndcg@5", "ndcg@10-"],
        "allow_group_split": False,
        "n_estimators": 8,
        "early_stopping_rounds": 5,
    }
    frame = TABLES["frame"](TRAIN.X)
    y, qid = (dd.from_pandas(pd.Series(v), npartitions=2) for v in (TRAIN.y, TRAIN.qid))
    script = DaskXGBGAPRanker(client=client, **parameters)
    script.fit(frame, y, qid=qid, eval_set=[(frame, y)], eval_qid=[qid], verbose=False)
    own = DaskXGBGAPRanker(
        client=client,
        objective=gb.LambdaRank(gb.nDCG(), truncation=8),
        eval_metric=["ndcg@5", "ndcg@10"],
        n_estimators=8,
        early_stopping_rounds=5,
    ).fit(frame, y, qid, eval_set=[(frame, y)], eval_qid=[qid])
    same(script, own, frame, ["ndcg@5", "ndcg@10", "ndcg"])


def same(script, own, rows, names):
    """To the bit what our own words train and report."""
    assert script.objective_ == own.objective_
    assert script.evals_result_ == own.evals_result_
    assert list(next(iter(script.evals_result_.values()))) == names
    scores = [ranker.predict(rows).compute(scheduler="synchronous") for ranker in (script, own)]
    np.testing.assert_array_equal(*scores)
