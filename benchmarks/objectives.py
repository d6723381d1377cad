"""LambdaRank, SoftRank and ApproxRank: a pass by list length."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import gapboost as gb
from benchmarks.gradients import UNIFORM, kernel_pass
from benchmarks.harness import GRADE_SHARES, Row, Subject, race

LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 30_000)
MEASURES = {"GAP": UNIFORM, "nDCG()": gb.nDCG(), "nDCG(k=10)": gb.nDCG(k=10)}
OBJECTIVES = {
    f"{kind.__name__}({name})": kind(measure)
    for name, measure in MEASURES.items()
    for kind in (gb.LambdaRank, gb.SoftRank, gb.ApproxRank)
}
DISTANCES = (1e-4, 0.1, 10.0)
OBJECTIVES |= {
    f"LambdaRank(GAP, score_distance={distance:g})": gb.LambdaRank(UNIFORM, score_distance=distance)
    for distance in DISTANCES
}
PEER = "LambdaRank(GAP)"
HEAD = "documents in a list"
CHOSEN = (PEER, "SoftRank(GAP)", "ApproxRank(GAP)", "ApproxRank(nDCG())")


def queries(length: int, n_documents: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return grades, scores that depend on them, and query ids."""
    n = n_documents // length * length
    rng = np.random.default_rng(0)
    y = rng.choice(5, p=GRADE_SHARES, size=n)
    y[0] = 4
    return y, 0.5 * y + rng.standard_normal(n), np.arange(n) // length


def passes(smoke: bool) -> Iterator[Row]:
    """Yield the cost of a pass of each objective that takes lists of the length."""
    n, repetitions = (1_000, 1) if smoke else (30_000, 3)
    for length in (10, 100) if smoke else LENGTHS:
        y, scores, qid = queries(length, n)
        runs = {
            name: kernel_pass(objective, y, scores, qid)
            for name, objective in OBJECTIVES.items()
            if length <= 1_000 or not name.startswith("SoftRank(nDCG")
        }
        for row in race(runs, repetitions=repetitions, unit="ns", factor=1e9 / len(y)):
            yield {HEAD: row["contestant"], "length": length, "ns": row["processor ns"]}


def draw(rows: Sequence[Row]) -> Any:
    """Return time a document against list length."""
    from benchmarks.pictures import log_log

    panel = "One gradient pass", "ns a document, one thread"
    points = [(*panel, row[HEAD], row["length"], row["ns"]) for row in rows if row[HEAD] in CHOSEN]
    return log_log(points, HEAD)


EACH = "a gradient pass of each objective, by list length"
SUBJECTS = [Subject("objectives", EACH, passes, across="length", draw=draw)]
