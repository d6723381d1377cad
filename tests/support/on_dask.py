"""Rankers fitted on Dask collections, and locally on the same rows."""

import dask.dataframe as dd
import numpy as np
import numpy.testing as npt
import pytest
from on_cluster import features, ranking

from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm.dask import DaskLGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker
from gapboost.xgboost.dask import DaskXGBGAPRanker

BOOSTERS = {
    "lightgbm": (DaskLGBMGAPRanker, LGBMGAPRanker, {"verbose": -1}),
    "xgboost": (DaskXGBGAPRanker, XGBGAPRanker, {}),
}
BESIDE = {
    "lightgbm": {"init_score": "start", "sample_weight": "weight"},
    "xgboost": {"base_margin": "start"},
}
both = pytest.mark.parametrize("booster", BOOSTERS)
# LightGBM's workers estimate the numbers of rows in deeper leaves, and so forbid other splits.
SMALL = {
    "lightgbm": {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 20},
    "xgboost": {"n_estimators": 3, "max_depth": 3},
}
COLUMNS = [f"f{i}" for i in range(6)]
TRAIN, VALI, TEST = ranking(150), ranking(40, 1), ranking(400, 2)


def chunks(frame, n=4):
    """Return the numbers of rows of `n` partitions of whole queries."""
    ends = np.flatnonzero(np.diff(frame.qid, append=-1)) + 1
    cuts = [0, *ends[np.linspace(0, len(ends) - 1, n + 1).astype(int)[1:-1]], len(frame)]
    return np.diff(cuts).tolist()


def partitions(frame, rows):
    """Return a Dask data frame with these numbers of rows; some may be 0."""
    ends = np.cumsum(rows)
    cuts = list(zip(ends - rows, ends, strict=True))
    return dd.from_map(lambda ends: frame.iloc[slice(*ends)], cuts, meta=frame.iloc[:0])


def by_argument(table):
    """Return X and the other columns of a data frame, which may be one of Dask."""
    return {"X": table[COLUMNS], **{name: table[name] for name in table if name not in COLUMNS}}


def collections(frame, rows=None, form="arrays"):
    """Return X and the other columns as Dask arrays or data frames."""
    rows = rows or chunks(frame)
    data = by_argument(partitions(frame, rows))
    if form != "arrays":
        return data
    return {name: value.to_dask_array(lengths=rows) for name, value in data.items()}


def fitted(kind, data, given, fit=(), **parameters):
    """Return a fitted ranker; `given` names the arguments of fit that columns are beside qid."""
    beside = {argument: data[name] for argument, name in given.items()}
    return kind(**parameters).fit(data["X"], data["y"], data["qid"], **beside, **dict(fit))


def on_dask(booster, frame, rows=None, start=False, **options):
    """Return the ranker of `booster` fitted on Dask arrays; with `start`, LightGBM has weights."""
    kind, _, fixed = BOOSTERS[booster]
    options = {"n_estimators": 30, **fixed, **options}
    return fitted(kind, collections(frame, rows), BESIDE[booster] if start else {}, **options)


def locally(booster, frame, start=False, **options):
    """Return the local ranker of `booster` fitted on the same rows."""
    _, kind, fixed = BOOSTERS[booster]
    data = {**by_argument(frame), "X": features(frame)}
    options = {"n_estimators": 30, "n_jobs": 1, **fixed, **options}
    return fitted(kind, data, BESIDE[booster] if start else {}, **options)


def assert_same_scores(found, expected, atol=1e-4):
    scores = [ranker.predict(features(TEST)) for ranker in (found.to_local(), expected)]
    npt.assert_allclose(*scores, atol=atol)
