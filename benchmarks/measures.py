"""A LambdaRank pass and an evaluation: of each measure, and with fractional grades."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import gapboost as gb
from benchmarks.gradients import UNIFORM, kernel_pass
from benchmarks.harness import N_DOCUMENTS, Row, Run, Subject, race, ranking_task

LENGTH = 100
G = UNIFORM.g
SIMPLE = [gb.xGAP(g=G), gb.eGAP(g=G), gb.AP(), gb.nDCG(), gb.nDCG(k=10), gb.DCG(gains="linear")]
CUT = [gb.Precision(k=10), gb.RBP(), gb.Recall(k=10), gb.RPrecision()]
OTHERS = [gb.KendallTau(), gb.QMeasure(), gb.RR(), gb.ERR(top=4)]
SUMS = [0.7 * UNIFORM + 0.3 * gb.AP(), 0.7 * UNIFORM + 0.3 * gb.nDCG(k=10)]
MEASURES = {str(m): m for m in (UNIFORM, *SIMPLE, *CUT, *OTHERS, *SUMS)}


def run_of(
    work: str, measure: gb.Measure, y: np.ndarray, scores: np.ndarray, qid: np.ndarray
) -> Run:
    """Return a gradient pass or an evaluation, on one thread."""
    if work == "evaluation":
        return partial(gb.evaluate, measure, y, scores, qid, n_jobs=1)
    return kernel_pass(gb.LambdaRank(measure), y, scores, qid)


def by_measure(smoke: bool) -> Iterator[Row]:
    """Yield the costs of 1,000 queries."""
    n, repetitions = (1_000, 1) if smoke else (100_000, 25)
    _, y, qid = ranking_task(LENGTH, n)
    scores = np.random.default_rng(1).standard_normal(n)
    trained = {name: m for name, m in MEASURES.items() if m.trains}
    works = (("pass", "LambdaRank pass", trained), ("evaluation", "evaluate", MEASURES))
    for work, what, of in works:
        runs = {name: run_of(work, m, y, scores, qid) for name, m in of.items()}
        for row in race(runs, repetitions=repetitions):
            ms = row["processor ms"]
            yield {"measure": row["contestant"], "what": f"{what}, processor ms", "ms": ms}


FRACTIONAL = gb.GAP(g=(0.25, 0.25, 0.25, 0.25), levels=(1, 2, 3, 4))
WHOLE = "5 whole"
DIFFERENT = {WHOLE: 5, "16": 16, "64": 64, "all different": 0}


def grades(different: int, n: int) -> np.ndarray:
    """Return grades from 0 to 4, one for each document if `different` is 0."""
    rng = np.random.default_rng(0)
    return rng.integers(0, different, n) * 4 / (different - 1) if different else 4 * rng.random(n)


# Documents, list lengths and numbers of different grades.
WORK = {
    "pass": (N_DOCUMENTS, (100, 1_000), tuple(DIFFERENT)),
    "evaluation": (10 * N_DOCUMENTS, (100, 1_000, 1_000_000), (WHOLE, "all different")),
}


def by_grades(smoke: bool) -> Iterator[Row]:
    """Yield the costs with whole and with fractional grades."""
    for work, (size, lengths, names) in WORK.items():
        n, repetitions = (1_000, 1) if smoke else (size, 9)
        for length in lengths[: 2 if smoke else None]:
            qid, scores = np.arange(n) // length, np.random.default_rng(1).standard_normal(n)
            y = {name: grades(DIFFERENT[name], n) for name in names}
            runs = {name: run_of(work, FRACTIONAL, y[name], scores, qid) for name in names}
            for row in race(runs, WHOLE, repetitions, "ns a document", 1e9 / n):
                yield {"work": work, "documents in a list": length, **row}


EACH = "a LambdaRank pass and an evaluation for each measure"
BESIDE = "a pass and an evaluation with fractional grades, beside whole ones"
SUBJECTS = [
    Subject("measures", EACH, by_measure, across="what"),
    Subject("grades", BESIDE, by_grades),
]
