"""Collections of systems: judgments and runs; features that rank no query are no systems.

======== =========================================================================================
Robust   TREC 12 (2003), topics 601-650 with three grades, twelve submitted runs
DBpedia  DBpedia-Entity v2, 467 queries, three grades, twenty published runs, judged documents alone
OHSUMED  106 queries with three grades; its features are the systems
MSLR     122 queries of MSLR-WEB, grades 3 and 4 as one; its 25 retrieval scores are the systems
======== =========================================================================================
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

import gapboost as gb
from benchmarks.studies import DATA
from gapboost.analysis import SystemValues, bpref, system_values, trec
from gapboost.datasets import load_letor

Qrels = dict[str, dict[str, int]]
Runs = dict[str, dict[str, dict[str, float]]]

# TF-IDF, BM25 and three language models on body, anchor, title, URL and all of them.
MSLR_SCORES = range(100, 125)


class Collection(NamedTuple):
    """Judgments and the runs of systems."""

    name: str
    qrels: Qrels
    runs: Runs

    def values(self, measures: Iterable[gb.Measure]) -> SystemValues:
        """Return the values of measures, on one thread."""
        return system_values(list(measures), self.qrels, self.runs, n_jobs=1)


@cache
def collection(name: str) -> Collection:
    """Return one of the four collections."""
    if name == "Robust":
        return Collection(name, *_robust(DATA / "robust03"))
    if name == "OHSUMED":
        paths = [DATA / "ohsumed" / f"Fold{k}" / "test.txt.gz" for k in range(1, 6)]
        return Collection(name, *_features(paths, range(25)))
    if name == "DBpedia":
        paths = [DATA / "dbpedia-entity" / "dbpedia-entity.txt.gz"]
        # Every other feature is one over a rank.
        return Collection(name, *_features(paths, range(0, 40, 2), zero_is_absent=True))
    return Collection(name, *_features([DATA / "mslr" / "mslr.txt.gz"], MSLR_SCORES, highest=3))


def _robust(directory: Path) -> tuple[Qrels, Runs]:
    qrels = trec.read_qrels(directory / "qrels.txt.gz")
    paths = sorted((directory / "runs").glob("*.gz"))
    runs = {path.name.removesuffix(".gz"): trec.read_run(path) for path in paths}
    return {topic: found for topic, found in qrels.items() if 601 <= int(topic) <= 650}, runs


def _features(
    paths: list[Path], columns: Iterable[int], zero_is_absent: bool = False, highest: int = 4
) -> tuple[Qrels, Runs]:
    """Return features as systems; `zero_is_absent`: a document with feature 0 is not retrieved."""
    data = load_letor(paths)
    queries = [np.flatnonzero(data.qid == q) for q in np.unique(data.qid)]
    columns = [c for c in columns if any(np.ptp(data.X[rows, c]) > 0 for rows in queries)]
    qrels: Qrels = {}
    runs: Runs = {f"feature {c + 1}": {} for c in columns}
    for rows in queries:
        q = data.qid[rows[0]]
        qrels[str(q)] = {str(row): min(int(data.y[row]), highest) for row in rows}
        for c in columns:
            kept = rows[data.X[rows, c] != 0] if zero_is_absent else rows
            scores = zip(map(str, kept), data.X[kept, c].tolist(), strict=True)
            runs[f"feature {c + 1}"][str(q)] = dict(scores)
    return qrels, runs


def above_first_quartile(found: Collection) -> Collection:
    """Return the runs above the first quartile of mean AP, the filter of [ferrante2014]."""
    values = found.values([gb.AP()])
    (means,) = values.means
    kept = np.array(values.systems)[means > np.quantile(means, 0.25)].tolist()
    return Collection(found.name, found.qrels, {s: found.runs[s] for s in kept})


def values_with_bpref(measures: list[gb.Measure], found: Collection) -> SystemValues:
    """Return values of measures, and of bpref under that name."""
    values = found.values(measures)
    by_topic = [bpref(found.qrels, run) for run in found.runs.values()]
    own = np.array([[one[topic] for topic in values.topics] for one in by_topic])
    together = np.concatenate([values.values, own[None]])
    return SystemValues((*measures, "bpref"), values.systems, values.topics, together)


def few(qrels: Qrels, grade: int, factor: int = 10) -> list[str]:
    """Return topics with some documents of `grade`, and `factor` of grade 1 for each of them."""
    counts = {
        topic: np.bincount([max(g, 0) for g in judged.values()], minlength=grade + 1)
        for topic, judged in qrels.items()
    }
    return [topic for topic, c in counts.items() if c[1] >= factor * c[grade] > 0]
