"""What partitions of Dask collections may hold: queries, columns, weights, nothing."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest
from on_cluster import MEASURE, gap
from on_dask import (
    BESIDE,
    BOOSTERS,
    COLUMNS,
    SMALL,
    TEST,
    TRAIN,
    VALI,
    assert_same_scores,
    both,
    by_argument,
    chunks,
    collections,
    fitted,
    locally,
    on_dask,
    partitions,
)
from sklearn.base import clone

from gapboost.lightgbm.dask import DaskLGBMGAPRanker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.usefixtures("client")]


@pytest.mark.parametrize("objective", ["lambdarank", "softrank"])
def test_a_worker_whose_rows_weigh_nothing(objective, client):
    rows, workers = chunks(TRAIN, 2), list(client.scheduler_info()["workers"])
    frame = TRAIN.assign(weight=TRAIN.weight.where(np.arange(len(TRAIN)) >= rows[0], 0.0))
    data = {
        name: da.concatenate(
            [client.persist(value.blocks[i], workers=[w]) for i, w in enumerate(workers)]
        )
        for name, value in collections(frame, rows).items()
    }
    options = {"objective": objective, "measure": MEASURE, **SMALL["lightgbm"]}
    found = fitted(DaskLGBMGAPRanker, data, BESIDE["lightgbm"], verbose=-1, **options)
    assert_same_scores(found, locally("lightgbm", frame, start=True, **options))
    with pytest.raises(ValueError, match=r"^sample_weight has the sum 0 "):
        on_dask("lightgbm", frame.assign(weight=0.0), rows, start=True, **options)


@both
def test_a_partition_may_teach_nothing(booster):
    rows = chunks(TRAIN)
    frame = TRAIN.assign(y=TRAIN.y.where(np.arange(len(TRAIN)) >= rows[0], 0))
    assert on_dask(booster, frame, rows, **SMALL[booster]).measure_ == MEASURE


@both
def test_queries_that_partitions_cut(booster):
    """They are refused; data frames can be shuffled by query, and hold the column qid."""
    kind, _, fixed = BOOSTERS[booster]
    ranker = kind(n_estimators=3, **fixed)
    shuffled = TRAIN.sample(frac=1, random_state=0).reset_index(drop=True)
    table = dd.from_pandas(shuffled, npartitions=4)
    columns = [*COLUMNS, "qid"]
    with pytest.raises(ValueError, match=r"^qid has queries with rows in several partitions"):
        ranker.fit(table[columns], table["y"])
    table = table.shuffle("qid").persist()
    ranker.fit(table[columns], table["y"])
    assert ranker.n_queries_in_ == 150
    assert len(ranker.predict(table[columns]).compute()) == len(TRAIN)
    with pytest.raises(ValueError, match=r"^qid is given"):
        clone(ranker).fit(table[columns], table["y"], qid=table["qid"])


IDS = {
    "text": lambda qid: qid.map("q{:03}".format),
    "64 bit": lambda qid: qid * 2**32,
    "dates": lambda qid: pd.to_datetime(qid, unit="D", utc=True).dt.tz_convert("Asia/Tokyo"),
    "one column": lambda qid: qid,
}


@both
@pytest.mark.parametrize("ids", IDS)
def test_query_ids(booster, ids):
    """XGBoost itself keeps 32 bits of an id; dates have a time zone."""
    data, rows, renamed = collections(TRAIN), chunks(TRAIN), IDS[ids](TRAIN.qid)
    if ids in ("dates", "one column"):
        table = partitions(TRAIN.assign(qid=renamed), rows)
        data["qid"] = table["qid"] if ids == "dates" else table[["qid"]]
    else:
        data["qid"] = da.from_array(np.array(renamed.tolist()), chunks=(tuple(rows),))
    kind, _, fixed = BOOSTERS[booster]
    found = fitted(kind, data, BESIDE[booster], **fixed, **SMALL[booster])
    assert_same_scores(found, on_dask(booster, TRAIN, start=True, **SMALL[booster]).to_local())


FORMS = ["arrays", "frames", "categories"]


def with_categories(frame):
    return frame.assign(f5=pd.Categorical.from_codes(frame.f5.astype(int), list("abcdefgh")))


def evaluation_set(data):
    pair, start = [(data["X"], data["y"])], [data["start"]]
    return {"eval_set": pair, "eval_qid": [data["qid"]], "base_margin_eval_set": start}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("booster", "n", "n_vali"),
    [("lightgbm", 3, 0), ("xgboost", 1, 2), ("xgboost", 2, 1), ("xgboost", 4, 5)],
)
def test_forms_of_data(booster, form, n, n_vali):
    """One worker has no training rows, or no validation rows, or both have some of both."""
    kinds, parameters = BOOSTERS[booster][:2], {**BOOSTERS[booster][2], **SMALL[booster]}
    frames = TRAIN, VALI, TEST
    if form == "categories":
        frames = tuple(map(with_categories, frames))
        parameters |= {"enable_categorical": True} if booster == "xgboost" else {}
    reports, scores = [], []
    for kind in kinds:
        is_local = kind is kinds[1]
        train, vali, test = (
            by_argument(frame) if is_local else collections(frame, chunks(frame, parts), form)
            for frame, parts in zip(frames, (n, n_vali or 1, 3), strict=True)
        )
        fit = evaluation_set(vali) if n_vali else {}
        options = {"fit": fit, **parameters, **({"n_jobs": 1} if is_local else {})}
        ranker = fitted(kind, train, BESIDE[booster], **options)
        reports += [ranker.evals_result_["validation_0"]["gap"]] if n_vali else []
        scores.append(np.asarray(ranker.predict(test["X"])))
    npt.assert_allclose(*scores, atol=1e-4)
    npt.assert_allclose(*(reports or (0, 0)), atol=2e-6)


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
    with pytest.raises(ValueError, match=r"^X has columns .*\['f5'\].*'category'"):
        ranker.fit(X, table["y"], table["qid"])
    X = X.astype({"f5": "category"}).categorize().persist()
    assert ranker.fit(X, table["y"], table["qid"]).n_queries_in_ == 150


def test_other_categories_do_not_continue_a_model_of_lightgbm():
    """Its old trees would split by the new codes; XGBoost has the codes of the old model."""
    table = partitions(with_categories(TRAIN), chunks(TRAIN, 2))
    X, *others = table[["f4", "f5"]], table["y"], table["qid"]
    changed = X.assign(f5=X["f5"].cat.set_categories([*"hgfedcba"]))
    ranker = DaskLGBMGAPRanker(n_estimators=2, verbose=-1)
    before = clone(ranker).fit(X, *others).to_local()
    with pytest.raises(ValueError, match=r"^X has other categories in \['f5'\] than the model"):
        ranker.fit(changed, *others, init_model=before)
    assert ranker.fit(X, *others, init_model=before).booster_.num_trees() == 4


def _in_reverse(rows):
    return rows.assign(
        f5=rows.f5.cat.reorder_categories(sorted("abcdefgh", reverse=bool(rows.qid.min())))
    )


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


@both
def test_empty_partitions_and_workers(booster):
    """The last case leaves a worker without rows."""
    kind, _, fixed = BOOSTERS[booster]
    for rows in ([0, *chunks(TRAIN, 2), 0, 0], [0, 0, len(TRAIN)]):
        data = collections(TRAIN, rows, "frames")
        ranker = fitted(kind, data, BESIDE[booster], **fixed, **SMALL[booster])
        scores = ranker.predict(data["X"]).compute()
        assert len(scores) == len(TRAIN)
        assert ranker.n_queries_in_ == 150
        assert ranker.score(data["X"], data["y"], data["qid"]) == gap(TRAIN, scores)
    with pytest.raises(ValueError, match=r"^y has no rows"):
        fitted(kind, collections(TRAIN, [0, 0], "frames"), {})


@pytest.mark.parametrize("form", FORMS[:2])
def test_group_holds_the_sizes_of_the_queries_of_each_partition(form):
    rows = chunks(TRAIN, 3)
    data = collections(TRAIN, rows, form)
    X, y, start = data["X"], data["y"], data["start"]
    of_queries = TRAIN.groupby("qid").size()
    sizes = np.split(of_queries.to_numpy(), TRAIN.qid.to_numpy()[np.cumsum(rows)[:-1]])
    group = dd.from_map(pd.Series, sizes, meta=pd.Series(sizes[0][:0]))
    if form == "arrays":
        group = group.to_dask_array(lengths=[len(part) for part in sizes])
    options = {"verbose": -1, **SMALL["lightgbm"]}
    by_size = DaskLGBMGAPRanker(**options).fit(X, y, group=group, init_score=start)
    by_id = DaskLGBMGAPRanker(**options).fit(X, y, data["qid"], init_score=start)
    assert by_size.n_queries_in_ == 150
    npt.assert_array_equal(by_size.predict(X).compute(), by_id.predict(X).compute())
    assert by_size.score(X, y, group=group) == by_size.score(X, y, data["qid"])
    with pytest.raises(ValueError, match=r"^group has the sum") as raised:
        DaskLGBMGAPRanker(**options).fit(X, y, group=group + 1)
    assert raised.value.__notes__[0].startswith("in partition")
    with pytest.raises(ValueError, match=r"^qid is given, and group too"):
        DaskLGBMGAPRanker(**options).fit(X, y, data["qid"], group=group)
