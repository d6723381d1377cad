"""Whole fits beside those of the boosters' own rankers, in processor time on one thread."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import xgboost

from benchmarks.harness import BOOSTERS, N_DOCUMENTS, Row, Subject, race, ranking_task
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

PEERS = "LGBMRanker()", "XGBRanker()"
SLOW = "LGBMRanker, all pairs", "XGBRanker, all pairs"
QUERIES, LENGTH, N_FEATURES = (100, 300, 1_000, 3_000, 10_000), 40, 40
LIGHT: dict[str, Any] = {"n_jobs": 1, "verbose": -1}


def default_fits(X: Any, y: Any, qid: Any) -> list[dict[str, Any]]:
    """Return fits with each library's defaults, for each booster."""
    group = np.bincount(qid)
    return [
        {
            "LGBMGAPRanker()": lambda: LGBMGAPRanker(**LIGHT).fit(X, y, qid=qid),
            PEERS[0]: lambda: lightgbm.LGBMRanker(**LIGHT).fit(X, y, group=group),
        },
        {
            "XGBGAPRanker()": lambda: XGBGAPRanker(n_jobs=1).fit(X, y, qid=qid),
            PEERS[1]: lambda: xgboost.XGBRanker(n_jobs=1).fit(X, y, qid=qid),
        },
    ]


def fits(X: Any, y: Any, qid: Any, length: int, rounds: int) -> list[dict[str, Any]]:
    """Return fits with the same trees, for each booster."""
    group = np.bincount(qid)
    common = {"n_estimators": rounds, "learning_rate": 0.1}
    light = {**common, **LIGHT}
    xgb = {**common, "n_jobs": 1, "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
    full = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": length}
    peers = partial(lightgbm.LGBMRanker, **light), partial(xgboost.XGBRanker, **xgb)
    same_light = {"num_leaves": 31, "min_child_samples": 20, "max_bin": 255}
    same_xgb = {"reg_lambda": 1, "max_bin": 256}
    return [
        {
            "LGBMGAPRanker, same trees": lambda: LGBMGAPRanker(**light, **same_light).fit(
                X, y, qid=qid
            ),
            PEERS[0]: lambda: peers[0]().fit(X, y, group=group),
            SLOW[0]: lambda: peers[0](lambdarank_truncation_level=length).fit(X, y, group=group),
        },
        {
            "XGBGAPRanker, same trees": lambda: XGBGAPRanker(**xgb, **same_xgb).fit(X, y, qid=qid),
            PEERS[1]: lambda: peers[1]().fit(X, y, qid=qid),
            SLOW[1]: lambda: peers[1](**full).fit(X, y, qid=qid),
        },
    ]


def costs(smoke: bool) -> Iterator[Row]:
    """Yield the seconds of each fit, data set of the booster included."""
    head = "lists", "documents in each", "rounds"
    for n_queries in (20,) if smoke else QUERIES:
        X, y, qid = ranking_task(LENGTH, n_queries * LENGTH)
        repetitions = 1 if smoke else 3 if n_queries > 1_000 else 7
        for peer, runs in zip(PEERS, default_fits(X[:, :N_FEATURES], y, qid), strict=True):
            for row in race(runs, peer, repetitions, "s", 1):
                yield {**dict(zip(head, (n_queries, LENGTH, 100), strict=True)), **row}
    n, rounds, repetitions = (2_000, 2, 1) if smoke else (N_DOCUMENTS, 50, 3)
    for length in (100,) if smoke else (100, 2_000):
        for peer, runs in zip(PEERS, fits(*ranking_task(length, n), length, rounds), strict=True):
            once = SLOW if length > 100 else ()
            for row in race(runs, peer, repetitions, "s", 1, once=once):
                yield {**dict(zip(head, (n // length, length, rounds), strict=True)), **row}


ABOUT = "whole fits beside those of LGBMRanker and XGBRanker"
SUBJECTS = [Subject("training", ABOUT, costs, BOOSTERS)]
