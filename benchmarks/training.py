"""Whole fits beside those of the boosters' own rankers."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import xgboost

from benchmarks.harness import BOOSTERS, N_DOCUMENTS, THREADS, Row, Subject, race, ranking_task
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

PEERS = "LGBMRanker, default", "XGBRanker, default"
SLOW = "LGBMRanker, all pairs", "XGBRanker, all pairs"


def fits(X: Any, y: Any, qid: Any, length: int, rounds: int) -> list[dict[str, Any]]:
    """Return fits from arrays, binning included, with the same trees, for each booster."""
    group = np.bincount(qid)
    common = {"n_estimators": rounds, "learning_rate": 0.1, "n_jobs": THREADS}
    light = {**common, "verbose": -1}
    xgb = {**common, "max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
    full = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": length}
    peers = partial(lightgbm.LGBMRanker, **light), partial(xgboost.XGBRanker, **xgb)
    return [
        {
            "LGBMGAPRanker": lambda: LGBMGAPRanker(**light, path_smooth=0).fit(X, y, qid=qid),
            PEERS[0]: lambda: peers[0]().fit(X, y, group=group),
            SLOW[0]: lambda: peers[0](lambdarank_truncation_level=length).fit(X, y, group=group),
        },
        {
            "XGBGAPRanker": lambda: XGBGAPRanker(**xgb, reg_lambda=1).fit(X, y, qid=qid),
            PEERS[1]: lambda: peers[1]().fit(X, y, qid=qid),
            SLOW[1]: lambda: peers[1](**full).fit(X, y, qid=qid),
        },
    ]


def costs(smoke: bool) -> Iterator[Row]:
    """Yield the seconds of each fit."""
    n, rounds, repetitions = (2_000, 2, 1) if smoke else (N_DOCUMENTS, 50, 3)
    for length in (100,) if smoke else (100, 2_000):
        for peer, runs in zip(PEERS, fits(*ranking_task(length, n), length, rounds), strict=True):
            once = SLOW if length > 100 else ()
            for row in race(runs, peer, repetitions, "s", 1, by="", once=once):
                yield {"lists": n // length, "documents in each": length, "rounds": rounds, **row}


ABOUT = "whole fits beside those of LGBMRanker and XGBRanker"
SUBJECTS = [Subject("training", ABOUT, costs, BOOSTERS)]
