"""Rankers on a Dask cluster of two workers, against the local ranker on all rows."""

import logging
import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.testing as npt
import pytest
from distributed import Client, LocalCluster
from on_cluster import MEASURE, features, gap, ranking
from sklearn.base import clone

import gapboost as gb
from gapboost.dask import DaskLGBMGAPRanker, DaskXGBGAPRanker
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

BOOSTERS = {
    "lightgbm": (DaskLGBMGAPRanker, LGBMGAPRanker, "init_score", {"verbose": -1}),
    "xgboost": (DaskXGBGAPRanker, XGBGAPRanker, "base_margin", {}),
}
both = pytest.mark.parametrize("booster", BOOSTERS)
TRAIN, VALI, TEST = ranking(150), ranking(40, 1), ranking(400, 2)


@pytest.fixture(scope="module", autouse=True)
def client():
    logging.getLogger("distributed").setLevel(logging.ERROR)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as opened:
        # What the workers compile is compiled once.
        LGBMGAPRanker(n_estimators=1, n_jobs=1, verbose=-1).fit(features(TEST), TEST.y, TEST.qid)
        yield opened


def chunks(frame, n=4):
    """Return the numbers of rows of `n` partitions of whole queries."""
    ends = np.flatnonzero(np.diff(frame.qid, append=-1)) + 1
    cuts = [0, *ends[np.linspace(0, len(ends) - 1, n + 1).astype(int)[1:-1]], len(frame)]
    return tuple(np.diff(cuts).tolist())


def array(values, rows):
    """Return a Dask array with these numbers of rows."""
    values = np.asarray(values)
    return da.from_array(values, chunks=(rows, *((n,) for n in values.shape[1:])))


def on_dask(booster, frame, rows=None, start=False, fit=(), **parameters):
    """Return the ranker of `booster` fitted on Dask arrays; with `start`, LightGBM has weights."""
    kind, _, margin, fixed = BOOSTERS[booster]
    rows = rows or chunks(frame)
    given = {margin: array(frame.start, rows)} if start else {}
    if start and booster == "lightgbm":
        given["sample_weight"] = array(frame.weight, rows)
    X, y, qid = (array(values, rows) for values in (features(frame), frame.y, frame.qid))
    return kind(**{"n_estimators": 30, **fixed, **parameters}).fit(X, y, qid, **given, **dict(fit))


def locally(booster, frame, start=False, **parameters):
    """Return the local ranker of `booster` fitted on the same rows."""
    _, kind, margin, fixed = BOOSTERS[booster]
    given = {margin: frame.start} if start else {}
    if start and booster == "lightgbm":
        given["sample_weight"] = frame.weight
    ranker = kind(**{"n_estimators": 30, "n_jobs": 1, **fixed, **parameters})
    return ranker.fit(features(frame), frame.y, frame.qid, **given)


@both
def test_ranks_as_the_local_ranker_does(booster, client):
    """A client is used that is given; LightGBM's ranker has it as a parameter."""
    given = {"client": client} if booster == "lightgbm" else {}
    found, expected = on_dask(booster, TRAIN, **given), locally(booster, TRAIN)
    scores = found.predict(array(features(TEST), (len(TEST) - 900, 900)))
    assert isinstance(scores, da.Array)
    npt.assert_array_equal(scores.compute(), found.to_local().predict(features(TEST)))
    assert gap(TEST, scores.compute()) == pytest.approx(
        gap(TEST, expected.predict(features(TEST))), abs=0.01
    )
    assert found.measure_ == expected.measure_ == MEASURE
    assert found.n_queries_in_ == expected.n_queries_in_ == 150
    assert found.step_ == expected.step_
    rows = chunks(TEST)
    X, y, qid = (array(values, rows) for values in (features(TEST), TEST.y, TEST.qid))
    assert found.score(X, y, qid) == gap(TEST, scores.compute())


# LightGBM's workers estimate the numbers of rows in deeper leaves, and smooth leaves by them.
SMALL = {"lightgbm": {"path_smooth": 0.0, "num_leaves": 4}, "xgboost": {"max_depth": 3}}
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
    sizes = frame.groupby("qid").qid.transform("size")
    short = sizes < 9
    frame.loc[short, "y"] = np.minimum(frame.y, 1)
    frame = frame.iloc[np.argsort(~short, kind="stable")]
    options = {"n_estimators": 3, "learning_rate": 0.3, **UNITS[objective]}
    options |= SMALL[booster]
    found = on_dask(booster, frame, (short.sum(), (~short).sum()), start=True, **options)
    expected = locally(booster, frame, start=True, **options)
    assert found.objective_ == expected.objective_
    npt.assert_allclose(
        found.to_local().predict(features(TEST)), expected.predict(features(TEST)), atol=1e-4
    )


@both
def test_queries_that_partitions_cut(booster):
    """They are refused; data frames can be shuffled by query, and hold the column qid."""
    kind, *_, fixed = BOOSTERS[booster]
    ranker = kind(n_estimators=3, **fixed)
    shuffled = TRAIN.sample(frac=1, random_state=0).reset_index(drop=True)
    table = dd.from_pandas(shuffled, npartitions=4)
    columns = [f"f{i}" for i in range(6)] + ["qid"]
    with pytest.raises(ValueError, match=r"^qid has queries with rows in several partitions"):
        ranker.fit(table[columns], table["y"])
    table = table.shuffle("qid").persist()
    ranker.fit(table[columns], table["y"])
    assert ranker.n_queries_in_ == 150
    assert len(ranker.predict(table[columns]).compute()) == len(TRAIN)
    with pytest.raises(ValueError, match=r"^qid is given"):
        clone(ranker).fit(table[columns], table["y"], qid=table["qid"])


@both
@pytest.mark.parametrize("ids", ["q{:03}".format, lambda i: i * 2**32], ids=["text", "64 bit"])
def test_query_ids(booster, ids):
    """XGBoost itself keeps 32 bits of an id."""
    renamed = TRAIN.assign(qid=[ids(i) for i in TRAIN.qid])
    options = {"n_estimators": 3, **SMALL[booster]}
    found, expected = (on_dask(booster, frame, chunks(TRAIN), start=True, **options)
                       for frame in (renamed, TRAIN))  # fmt: skip
    npt.assert_allclose(
        found.to_local().predict(features(TEST)),
        expected.to_local().predict(features(TEST)),
        atol=1e-4,
    )


@pytest.mark.parametrize("n_chunks", [4, 1])
def test_early_stopping_uses_exact_means(n_chunks):
    """With one partition of validation rows one worker has none."""
    rows = chunks(VALI, n_chunks)
    vali = [array(values, rows) for values in (features(VALI), VALI.y, VALI.qid)]
    fit = {"eval_set": [tuple(vali[:2])], "eval_qid": [vali[2]]}
    found = on_dask(
        "xgboost", TRAIN, fit=fit, n_estimators=200, early_stopping_rounds=5, eval_metric="ndcg@5"
    )
    reported, best = found.evals_result_["validation_0"], found.best_iteration_
    assert len(reported["map-gap"]) == best + 5 < 200
    assert np.argmax(reported["map-gap"]) + 1 == best
    local = found.to_local()
    scores = local.predict(features(VALI))
    assert reported["map-gap"][best - 1] == pytest.approx(gap(VALI, scores), abs=2e-6)
    measure = gb.nDCG(k=5)
    value = gb.evaluate(measure, VALI.y, scores, VALI.qid)[measure]
    assert reported["ndcg@5"][best - 1] == pytest.approx(value, abs=2e-6)
    assert local.best_iteration_ == best


@both
def test_copies_and_files(booster, tmp_path):
    _, local, _, fixed = BOOSTERS[booster]
    found = on_dask(booster, TRAIN, measure="egap", n_estimators=3)
    scores = found.to_local().predict(features(TEST))
    for copy in (pickle.loads(pickle.dumps(found)).to_local(), found.to_local()):
        assert type(copy) is local
        npt.assert_array_equal(copy.predict(features(TEST)), scores)
        assert copy.measure_ == gb.eGAP(g=(0.5, 0.5))
        assert copy.get_params().keys() == local(**fixed).get_params().keys()
    assert found.get_params()["measure"] == "egap"
    assert found.get_params()["g"] is None
    assert clone(found).get_params() == found.get_params()
    if booster == "xgboost":
        found.save_model(tmp_path / "model.json")
        loaded = XGBGAPRanker()
        loaded.load_model(tmp_path / "model.json")
        assert loaded.measure_ == gb.eGAP(g=(0.5, 0.5))
    again = on_dask(booster, TRAIN, n_estimators=3, measure="egap")
    assert again.get_params() == found.get_params()


def refused(booster, error, message, parameters=None, fit=None, **changed):
    """Check that a fit on data with some columns changed is refused."""
    rows = chunks(TRAIN)
    given = {"X": features(TRAIN), "y": TRAIN.y, "qid": TRAIN.qid, **changed}
    given = {
        name: value if value is None or hasattr(value, "dask") else array(value, rows)
        for name, value in given.items()
    }
    with pytest.raises(error, match=message):
        BOOSTERS[booster][0](n_estimators=2, **(parameters or {})).fit(**given, **(fit or {}))


@both
def test_bad_data(booster):
    g = {"g": (0.5, 0.5)}
    refused(booster, ValueError, "^y ", g, y=TRAIN.y - 1)
    refused(booster, ValueError, "^y holds no query with two different", g, y=TRAIN.y * 0)
    refused(booster, ValueError, "^y holds the grade 3", g, y=TRAIN.y + 1)
    one_partition = array(TRAIN.y, (len(TRAIN),))
    refused(booster, ValueError, "^the numbers of partitions", g, y=one_partition)
    refused(booster, TypeError, "^qid is a NoneType", g, qid=None)
    X, qid = (array(values, chunks(TRAIN)) for values in (features(TRAIN), TRAIN.qid))
    with pytest.raises(TypeError, match=r"^y is a ndarray"):
        BOOSTERS[booster][0](**g).fit(X, TRAIN.y.to_numpy(), qid)


# Parameters, arguments of fit, and what the error begins with.
REFUSED = {
    "lightgbm": [
        ({}, {"eval_set": []}, "^eval_set: .*LightGBM has no evaluation sets"),
        ({}, {"position": [1]}, "^position: "),
        ({}, {"group": [1]}, "^group: "),
        ({"early_stopping_round": 5}, {}, "^early_stopping_round: "),
        ({"stopping_metric": "ap"}, {}, "^stopping_metric: "),
        ({"lambdarank_norm": True}, {}, "^lambdarank_norm"),
    ],
    "xgboost": [
        ({}, {"sample_weight": [1]}, "argument 'sample_weight'"),
        ({}, {"position": [1]}, "argument 'position'"),
        ({}, {"group": [1]}, "argument 'group'"),
        ({"eval_metric": max}, {}, "^eval_metric: .*no functions"),
        ({"allow_group_split": True}, {}, "^allow_group_split: .*no query is cut"),
        ({"lambdarank_pair_method": "mean"}, {}, "^lambdarank_pair_method"),
    ],
}


@both
def test_what_is_not_offered(booster):
    for parameters, fit, message in REFUSED[booster]:
        refused(booster, (ValueError, TypeError), message, parameters, fit)


@both
def test_a_partition_may_teach_nothing(booster):
    rows = chunks(TRAIN)
    frame = TRAIN.copy()
    frame.loc[frame.index[: rows[0]], "y"] = 0
    assert on_dask(booster, frame, rows, n_estimators=3).measure_ == MEASURE
