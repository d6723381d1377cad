"""Defaults beside the boosters' own, on collections: `protocols/scaling.md`."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import lightgbm
import numpy as np
import xgboost
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import GroupKFold

import gapboost as gb
from benchmarks.harness import BOOSTERS, HERE, Row, Subject, signed
from benchmarks.scaling import PAGE, QUIET, fitted, with_interval
from gapboost.datasets import load_letor
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.lightgbm._compat import default_trees
from gapboost.xgboost import XGBGAPRanker

DATA = HERE.parents[1] / "shared" / "data"
FILES = {
    "mq2007": ["mq2007/mq2007.txt.gz"],
    "dbpedia": ["dbpedia-entity/dbpedia-entity.txt.gz"],
    "lightgbm": ["lightgbm-lambdarank/rank.train.gz", "lightgbm-lambdarank/rank.test.gz"],
    "cranfield": ["cranfield/cranfield.txt.gz"],
    "mslr": ["mslr/mslr.txt.gz"],
    "ohsumed": [f"ohsumed/Fold{fold}/test.txt.gz" for fold in range(1, 6)],
    "trec-news": ["trec-news-2018/trec_news_2018.train", "trec-news-2018/trec_news_2018.test"],
}
SEEDS, N_FOLDS = (13, 14, 15), 5
VALUES = ("mean of six", "GAP", "nDCG@10")
RANKERS: dict[str, Callable[[int], Any]] = {
    "LGBMRanker()": lambda _: lightgbm.LGBMRanker(**QUIET),
    "LGBMRanker, our trees": lambda n: lightgbm.LGBMRanker(**default_trees(n), **QUIET),
    "LGBMGAPRanker()": lambda _: LGBMGAPRanker(**QUIET),
    "XGBRanker()": lambda _: xgboost.XGBRanker(n_jobs=1),
    "XGBRanker(reg_lambda=5)": lambda _: xgboost.XGBRanker(reg_lambda=5, n_jobs=1),
    "XGBGAPRanker()": lambda _: XGBGAPRanker(n_jobs=1),
}
PEERS = {
    label: "XGBRanker()" if "XGB" in label else "LGBMRanker()"
    for label in RANKERS
    if label not in ("XGBRanker()", "LGBMRanker()")
}


def read(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, grades and query numbers of a collection, query by query."""
    parts, begin = [], 0
    for path in FILES[name]:
        if name == "lightgbm":
            X, y = load_svmlight_file(str(DATA / path), n_features=301, zero_based=True)
            sizes = np.loadtxt(DATA / path.replace(".gz", ".query"), dtype=int)
            X, qid = X.toarray(), np.repeat(np.arange(len(sizes)), sizes)
        else:
            data = load_letor(DATA / path)
            X, y, qid = data.X, data.y, data.qid
        parts.append((X, y, begin + np.unique(qid, return_inverse=True)[1]))
        begin = int(parts[-1][2].max()) + 1
    X, y, qid = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(qid, kind="stable")
    return X[order], y[order], qid[order]


def evaluated(name: str, seed: int, n_folds: int | None) -> dict[str, np.ndarray]:
    """Return the values of each ranker, means over the test queries of all folds, or of some.

    They are in the order of `VALUES`. The last number is the processor seconds of a fit.
    """
    X, y, qid = read(name)
    g = (1 / y.max(),) * int(y.max())
    measures = [gb.GAP(g=g), gb.nDCG(k=10), gb.nDCG(), gb.AP(), gb.Precision(k=10), gb.eGAP(g=g)]
    sums, n_tested = {label: np.zeros(len(VALUES) + 1) for label in RANKERS}, 0
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y, qid)
    # LightGBM breaks ties by the order of rows, which in a file may be that of the grades.
    keys = np.random.default_rng(seed).random(len(y))
    for train, test in itertools.islice(folds, n_folds):
        rows = train[np.lexsort((keys[train], qid[train]))]
        numbers = np.unique(qid[rows], return_inverse=True)[1]
        n_queries = len(np.unique(qid[test]))
        n_tested += n_queries
        for label, make in RANKERS.items():
            ranker = make(len(rows)).set_params(random_state=seed)
            begun = time.process_time()
            fitted(ranker, X[rows], y[rows], numbers)
            spent = time.process_time() - begun
            scores = ranker.predict(X[test])
            values = list(gb.evaluate(measures, y[test], scores, qid[test], n_jobs=1).values())
            sums[label] += n_queries * np.array([np.mean(values), *values[:2], spent])
    return {label: total / n_tested for label, total in sums.items()}


def differences(smoke: bool) -> Iterator[Row]:
    """Yield the differences from the booster's own ranker for each collection, and their mean."""
    if not DATA.exists():
        raise FileNotFoundError(f"{DATA} is missing; expected the collections of the protocol")
    evaluated("trec-news", 0, 1)  # compiles, before fits are timed
    n_seeds, n_folds = (1, 1) if smoke else (None, None)
    leads: dict[str, list[np.ndarray]] = {label: [] for label in PEERS}
    ratios: dict[str, list[float]] = {label: [] for label in PEERS}
    for name in ["trec-news"] if smoke else FILES:
        by_seed = [evaluated(name, seed, n_folds) for seed in SEEDS[:n_seeds]]
        means = {label: np.mean([values[label] for values in by_seed], axis=0) for label in RANKERS}
        for label, peer in PEERS.items():
            leads[label].append(means[label] - means[peer])
            ratios[label].append(means[label][-1] / means[peer][-1])
        yield {"collection": name, **{label: signed(lead[-1][0]) for label, lead in leads.items()}}
    for number, value in enumerate(VALUES):
        row = {n: with_interval([of[number] for of in lead]) for n, lead in leads.items()}
        yield {"collection": f"mean, {value}", **row}
    row = {n: f"{np.mean(r):.2f} ({min(r):.2f} … {max(r):.2f})" for n, r in ratios.items()}
    yield {"collection": "time / booster's, mean (least … most)", **row}


ABOUT = "our defaults beside the boosters' own, and with our settings of trees, on collections"
SUBJECTS = [Subject("collections", ABOUT, differences, BOOSTERS, page=PAGE)]
