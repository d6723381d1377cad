"""A LambdaRank pass and an evaluation of each measure."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import gapboost as gb
from benchmarks.gradients import UNIFORM, kernel_pass
from benchmarks.harness import Row, Run, Subject, race, ranking_task

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


EACH = "a LambdaRank pass and an evaluation for each measure"
SUBJECTS = [Subject("measures", EACH, by_measure, across="what")]
