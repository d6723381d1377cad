"""Rankers on a Dask cluster of two workers, against the local ranker on all rows."""

import logging
import pickle

import dask.array as da
import dask.dataframe as dd
import lightgbm
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from on_cluster import MEASURE, features, gap, ranking
from sklearn.base import clone
from xgboost.callback import EarlyStopping

import gapboost as gb
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.dask import DaskLGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.dask import DaskXGBGAPRanker

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


def locally(booster, frame, start=False, fit=(), **parameters):
    """Return the local ranker of `booster` fitted on the same rows."""
    _, kind, margin, fixed = BOOSTERS[booster]
    given = {margin: frame.start} if start else {}
    if start and booster == "lightgbm":
        given["sample_weight"] = frame.weight
    ranker = kind(**{"n_estimators": 30, "n_jobs": 1, **fixed, **parameters})
    return ranker.fit(features(frame), frame.y, frame.qid, **given, **dict(fit))


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


def test_bins_are_as_many_as_locally():
    """One partition is on one worker."""
    x = np.random.default_rng(0).normal(size=(len(TRAIN), 2))
    data = [array(values, (len(TRAIN),)) for values in (x, TRAIN.y, TRAIN.qid)]
    first, second, third = (
        DaskLGBMGAPRanker(n_estimators=5, verbose=-1, **given).fit(*data).to_local().predict(x)
        for given in ({}, {"max_bin": 127}, {"max_bin": 255})
    )
    npt.assert_array_equal(first, second)
    assert (first != third).any()


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


@both
def test_columns_of_query_ids(booster):
    """A frame of one column, and dates with a time zone."""
    dates = pd.to_datetime(TRAIN.qid, unit="D", utc=True)
    frame = TRAIN.assign(date=dates.dt.tz_convert("Asia/Tokyo"))
    table = partitions(frame, chunks(TRAIN))
    kind, *_, fixed = BOOSTERS[booster]
    for ids in (table[["qid"]], table["date"]):
        ranker = kind(n_estimators=2, **fixed).fit(table[["f0", "f1"]], table["y"], ids)
        assert ranker.n_queries_in_ == 150


FORMS = ["arrays", "frames", "categories"]


def collections(form, frame, n):
    """Return `n` partitions of X, y, qid and the initial scores: Dask arrays or data frames."""
    if form == "arrays":
        found = features(frame), frame.y, frame.qid, frame.start
        return tuple(array(values, chunks(frame, n)) for values in found)
    table = partitions(frame, chunks(frame, n))
    return table[[f"f{i}" for i in range(6)]], table["y"], table["qid"], table["start"]


def partitions(frame, rows):
    """Return a Dask data frame with these numbers of rows; some may be 0."""
    ends = np.cumsum(rows)
    cuts = list(zip(ends - rows, ends, strict=True))
    return dd.from_map(rows_between, cuts, frame=frame, meta=frame.iloc[:0])


def rows_between(ends, frame):
    return frame.iloc[slice(*ends)]


def with_categories(frame, categories="abcdefgh"):
    return frame.assign(f5=pd.Categorical.from_codes(frame.f5.astype(int), list(categories)))


def fitted_on(booster, form, train, n, vali=None, n_vali=1, **parameters):
    """Return a Dask ranker and the local one, fitted on the same rows with the same scores."""
    kind, local, margin, fixed = BOOSTERS[booster]
    options = {"n_estimators": 3, **fixed, **SMALL[booster], **parameters}
    if form == "categories":
        train, vali = (None if rows is None else with_categories(rows) for rows in (train, vali))
        options |= {"enable_categorical": True} if booster == "xgboost" else {}
    columns = [f"f{i}" for i in range(6)]
    tables = [None if rows is None else rows[columns] for rows in (train, vali)]
    X, y, qid, start = collections(form, train, n)
    fit, fit_here = {margin: start}, {margin: train.start}
    if vali is not None:
        V, of_V, qid_of_V, start_of_V = collections(form, vali, n_vali)
        fit |= {"eval_set": (V, of_V), "eval_qid": [qid_of_V], "base_margin_eval_set": [start_of_V]}
        fit_here |= {
            "eval_set": [(tables[1], vali.y)],
            "eval_qid": [vali.qid],
            "base_margin_eval_set": [vali.start],
        }
    found = kind(**options).fit(X, y, qid, **fit)
    return found, local(n_jobs=1, **options).fit(tables[0], train.y, train.qid, **fit_here)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "n_vali"), [(1, 2), (2, 1), (4, 5)])
def test_evaluation_sets_report_what_they_report_locally(form, n, n_vali):
    """One worker has no training rows, or no validation rows, or both have some of both."""
    found, expected = fitted_on("xgboost", form, TRAIN, n, VALI, n_vali)
    reports = [ranker.evals_result_["validation_0"]["gap"] for ranker in (found, expected)]
    npt.assert_allclose(*reports, atol=2e-6)


@both
@pytest.mark.parametrize("form", FORMS)
def test_columns_are_those_of_the_local_ranker(booster, form):
    found, expected = fitted_on(booster, form, TRAIN, 3)
    test = with_categories(TEST) if form == "categories" else TEST
    X, *_ = collections(form, test, 3)
    scores = expected.predict(test[[f"f{i}" for i in range(6)]])
    npt.assert_allclose(found.predict(X).compute(), scores, atol=1e-4)


@both
def test_partitions_with_other_categories_are_refused(booster):
    """Codes would mean other categories there; `categorize` makes them equal."""
    table = partitions(with_categories(TRAIN), chunks(TRAIN, 2))
    table = table.map_partitions(_in_reverse, meta=table._meta)
    X = table[["f4", "f5"]]
    options = {"enable_categorical": True} if booster == "xgboost" else {"verbose": -1}
    ranker = BOOSTERS[booster][0](n_estimators=1, **options)
    with pytest.raises(ValueError, match=r"^X has other categories .*\['f5'\].*categorize"):
        ranker.fit(X, table["y"], table["qid"])
    X = X.assign(f5=X["f5"].astype(str))
    with pytest.raises(ValueError, match=r"^X has columns .*\['f5'\], 'category'"):
        ranker.fit(X, table["y"], table["qid"])
    X = X.astype({"f5": "category"}).categorize().persist()
    assert ranker.fit(X, table["y"], table["qid"]).n_queries_in_ == 150


@both
@pytest.mark.parametrize("change", [lambda X: X[X.columns[::-1]], lambda X: X[["f4"]], np.asarray])
def test_partitions_with_other_columns_are_refused(booster, change):
    """The boosters would take them by position, or fail on one worker."""
    table = partitions(TRAIN, chunks(TRAIN, 2))
    X = table[["f4", "f5"]].map_partitions(
        lambda rows: change(rows) if rows.index[0] else rows,
        meta=table._meta[["f4", "f5"]],
        enforce_metadata=False,
    )
    with pytest.raises(ValueError, match=r"^X has other columns in some partitions"):
        BOOSTERS[booster][0](n_estimators=1).fit(X, table["y"], table["qid"])


def _in_reverse(rows):
    return rows.assign(
        f5=rows.f5.cat.reorder_categories(sorted("abcdefgh", reverse=bool(rows.qid.min())))
    )


@both
def test_empty_partitions_and_workers(booster):
    """The last case leaves a worker without rows."""
    columns = [f"f{i}" for i in range(6)]
    for rows in ([0, *chunks(TRAIN, 2), 0, 0], [0, 0, len(TRAIN)]):
        table = partitions(TRAIN, rows)
        margin, fixed = BOOSTERS[booster][2:]
        ranker = BOOSTERS[booster][0](n_estimators=3, **fixed, **SMALL[booster])
        ranker.fit(table[columns], table["y"], table["qid"], **{margin: table["start"]})
        expected = locally(booster, TRAIN, start=False, n_estimators=3)
        scores = ranker.predict(table[columns]).compute()
        assert len(scores) == len(TRAIN)
        assert ranker.n_queries_in_ == expected.n_queries_in_
        assert ranker.score(table[columns], table["y"], table["qid"]) == gap(TRAIN, scores)
    nothing = partitions(TRAIN, [0, 0])
    with pytest.raises(ValueError, match=r"^y has no rows"):
        ranker.fit(nothing[columns], nothing["y"], nothing["qid"])


def stopped_early(booster):
    """Return a local ranker that stopped early."""
    _, kind, _, fixed = BOOSTERS[booster]
    stop, fit = {}, {}
    if booster == "lightgbm":
        fit["callbacks"] = [lightgbm.early_stopping(3, verbose=False)]
    else:
        stop["early_stopping_rounds"] = 3
    ranker = kind(n_estimators=50, n_jobs=1, **fixed, **stop)
    vali = {"eval_set": [(features(VALI), VALI.y)], "eval_qid": [VALI.qid]}
    return ranker.fit(features(TRAIN), TRAIN.y, TRAIN.qid, **vali, **fit)


@both
def test_continued_training_adds_rounds(booster, tmp_path):
    """The best round of a model that stopped early is forgotten, as in a local fit."""
    before, name = stopped_early(booster), {"lightgbm": "init_model", "xgboost": "xgb_model"}
    lgb = booster == "lightgbm"
    model = before.booster_ if lgb else before.get_booster()
    model.save_model(tmp_path / "model.json")
    on_cluster = on_dask(booster, TRAIN, n_estimators=before.best_iteration_)
    options = {"n_estimators": 3, **SMALL[booster]}
    expected = locally(booster, TRAIN, fit={name[booster]: before}, start=True, **options)
    for given in (before, model, tmp_path / "model.json", str(tmp_path / "model.json"), on_cluster):
        found = on_dask(booster, TRAIN, fit={name[booster]: given}, start=True, **options)
        booster_found = found.booster_ if lgb else found.get_booster()
        n_rounds = booster_found.num_trees() if lgb else booster_found.num_boosted_rounds()
        assert n_rounds == before.best_iteration_ + 3
        assert found.best_iteration_ == 0
        if given is not on_cluster:
            npt.assert_allclose(
                found.to_local().predict(features(TEST)),
                expected.predict(features(TEST)),
                # LightGBM begins at the scores of the model alone, some of which are equal.
                atol=1e-2 if lgb else 1e-4,
            )


@pytest.mark.parametrize("form", ["arrays", "frames", "dropped"])
def test_training_set_among_evaluation_sets_does_not_stop(form, client):
    """Data frames without a column `qid` are the same rows, whichever way it was left out."""
    frames = TRAIN, VALI
    if form == "dropped":
        tables = [partitions(rows, chunks(rows)) for rows in frames]
        beside = ["start", "weight", "y"]
        given = tables[0].drop(columns=beside), tables[0]["y"]
        sets = [(table.drop(columns=[*beside, "qid"]), table["y"]) for table in tables]
        ids = [table["qid"] for table in tables]
    else:
        train, vali = (collections(form, rows, 4)[:3] for rows in frames)
        given, sets, ids = train, [train[:2], vali[:2]], [train[2], vali[2]]
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


def test_forms_of_evaluation_sets():
    X, y, qid = (array(values, chunks(TRAIN)) for values in (features(TRAIN), TRAIN.y, TRAIN.qid))
    cases = [
        ((X + 0, y), None, r"^eval_qid\[0\] is missing"),
        ((X, y), [qid, qid], "^eval_qid is .*1 evaluation sets"),
        ([(X, y, qid)], [qid], r"^eval_set\[0\] is a tuple; expected a pair"),
        ([(X[:, :5], y)], [qid], r"^eval_set\[0\] X has 5 columns; expected 6"),
        ([(X, y - 1)], [qid], r"^eval_set\[0\] y holds -1"),
        ([(X, TRAIN.y.to_numpy())], [qid], r"^eval_set\[0\] y is a ndarray"),
    ]
    for eval_set, eval_qid, message in cases:
        with pytest.raises((TypeError, ValueError), match=message):
            DaskXGBGAPRanker(n_estimators=1).fit(X, y, qid, eval_set=eval_set, eval_qid=eval_qid)
    names = [[f"f{i}" for i in range(6)], [f"f{i}" for i in (1, 0, 2, 3, 4, 5)]]
    table = partitions(TRAIN, chunks(TRAIN))
    fit = {"eval_set": (table[names[1]], table["y"]), "eval_qid": [table["qid"]]}
    with pytest.raises(ValueError, match=r"^eval_set\[0\] X has the column 'f1'"):
        DaskXGBGAPRanker(n_estimators=1).fit(table[names[0]], table["y"], table["qid"], **fit)


@pytest.mark.parametrize("kind", [list, np.array, da.from_array])
def test_feature_weights(kind):
    weights = [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    options = {"n_estimators": 10, "colsample_bynode": 0.2, "random_state": 0}
    by_parameter = on_dask("xgboost", TRAIN, feature_weights=kind(weights), **options)
    by_fit = on_dask("xgboost", TRAIN, fit={"feature_weights": kind(weights)}, **options)
    for ranker in (by_parameter, by_fit):
        assert list(ranker.feature_importances_ > 0) == [w > 0 for w in weights]
    for fit, message in {
        "shape": ({}, "^feature_weights has shape"),
        "twice": ({"feature_weights": kind(weights)}, "^feature_weights is given"),
    }.values():
        with pytest.raises(ValueError, match=message):
            on_dask("xgboost", TRAIN, feature_weights=kind(weights[:5]), fit=fit, **options)


@pytest.mark.parametrize("form", FORMS[:2])
def test_group_holds_the_sizes_of_the_queries_of_each_partition(form):
    X, y, qid, start = collections(form, TRAIN, 3)
    rows = chunks(TRAIN, 3)
    ends = np.cumsum(rows)
    of_queries = TRAIN.groupby("qid").size()
    sizes = np.split(of_queries.to_numpy(), TRAIN.qid.to_numpy()[ends[:-1]])
    group = array(np.concatenate(sizes), tuple(map(len, sizes)))
    if form == "frames":
        group = dd.from_map(pd.Series, sizes, meta=pd.Series(sizes[0][:0]))
    options = {"n_estimators": 3, "verbose": -1, **SMALL["lightgbm"]}
    by_size = DaskLGBMGAPRanker(**options).fit(X, y, group=group, init_score=start)
    by_id = DaskLGBMGAPRanker(**options).fit(X, y, qid, init_score=start)
    assert by_size.n_queries_in_ == 150
    test = TEST[[f"f{i}" for i in range(6)]]
    test = test.to_numpy() if form == "arrays" else test
    npt.assert_array_equal(by_size.to_local().predict(test), by_id.to_local().predict(test))
    assert by_size.score(X, y, group=group) == by_size.score(X, y, qid)
    with pytest.raises(ValueError, match=r"^group has the sum") as raised:
        DaskLGBMGAPRanker(**options).fit(X, y, group=group + 1)
    assert raised.value.__notes__[0].startswith("in partition")
    with pytest.raises(ValueError, match=r"^qid is given, and group too"):
        DaskLGBMGAPRanker(**options).fit(X, y, qid, group=group)


@pytest.mark.parametrize("objective", ["lambdarank", "softrank"])
def test_a_worker_whose_rows_weigh_nothing(objective, client):
    rows, workers = chunks(TRAIN, 2), list(client.scheduler_info()["workers"])
    frame = TRAIN.copy()
    frame.iloc[: rows[0], frame.columns.get_loc("weight")] = 0.0
    columns = features(frame), frame.y, frame.qid, frame.weight, frame.start
    parts = [
        [client.persist(array(half, (len(half),)), workers=[worker]) for half, worker in pairs]
        for pairs in (zip(halves(values, rows), workers, strict=True) for values in columns)
    ]
    X, y, qid, weight, start = map(da.concatenate, parts)
    options = {"n_estimators": 3, "objective": objective, "measure": MEASURE, **SMALL["lightgbm"]}
    found = DaskLGBMGAPRanker(verbose=-1, **options)
    found.fit(X, y, qid, sample_weight=weight, init_score=start)
    expected = locally("lightgbm", frame, start=True, **options)
    test = features(TEST)
    npt.assert_allclose(found.to_local().predict(test), expected.predict(test), atol=1e-4)
    with pytest.raises(ValueError, match=r"^sample_weight has the sum 0 "):
        found.fit(X, y, qid, sample_weight=weight * 0)


def halves(values, rows):
    return np.split(np.asarray(values), [rows[0]])


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
    assert len(reported["gap"]) == best + 5 < 200
    assert np.argmax(reported["gap"]) + 1 == best
    local = found.to_local()
    scores = local.predict(features(VALI))
    assert reported["gap"][best - 1] == pytest.approx(gap(VALI, scores), abs=2e-6)
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
    refused(booster, ValueError, "^qid is missing", g, qid=None)
    lengths = chunks(TRAIN)
    shifted = (lengths[0] - 1, lengths[1] + 1, *lengths[2:])
    for name in ("y", "X"):
        values = array({"y": TRAIN.y, "X": features(TRAIN)}[name], shifted)
        refused(
            booster,
            ValueError,
            r"^(X has \d+ rows but y|y has \d+ rows but X) has ",
            g,
            **{name: values},
        )
    X, y, qid = (array(values, lengths) for values in (features(TRAIN), TRAIN.y, TRAIN.qid))
    for values in ((X, TRAIN.y.to_numpy(), qid), (X.compute(), y, qid)):
        with pytest.raises(TypeError, match=r"^[Xy] is a ndarray; expected a Dask array"):
            BOOSTERS[booster][0](**g).fit(*values)


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
def test_what_is_not_offered(booster):
    for parameters, fit, message in REFUSED[booster]:
        refused(booster, (ValueError, TypeError), message, parameters, fit)


@both
def test_a_partition_may_teach_nothing(booster):
    rows = chunks(TRAIN)
    frame = TRAIN.copy()
    frame.loc[frame.index[: rows[0]], "y"] = 0
    assert on_dask(booster, frame, rows, n_estimators=3).measure_ == MEASURE
