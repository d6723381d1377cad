"""Cost of each measure: a LambdaRank pass and an evaluation, 1000 queries of 100 documents, one thread.

Usage: ``python -m benchmarks.measures [--quick]``.
"""

import argparse

import numpy as np

import gapboost as gb
from benchmarks.workload import conditions, medians, ranking_task, table
from gapboost._data.judged import judged

LENGTH = 100
G = (0.25, 0.25, 0.25, 0.25)
MEASURES = [
    gb.GAP(g=G),
    gb.xGAP(g=G),
    gb.eGAP(g=G),
    gb.AP(),
    gb.nDCG(),
    gb.nDCG(k=10),
    gb.DCG(gains="linear"),
    gb.Precision(k=10),
    gb.RBP(),
    gb.Recall(k=10),
    gb.RPrecision(),
    gb.KendallTau(),
    gb.QMeasure(),
    gb.RR(),
    gb.ERR(top=4),
    0.7 * gb.GAP(g=G) + 0.3 * gb.AP(),
    0.7 * gb.GAP(g=G) + 0.3 * gb.nDCG(k=10),
]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the documents, fewer repetitions")
    quick = parser.parse_args().quick
    _, y, sizes = ranking_task(LENGTH, 10_000 if quick else 100_000)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    data = judged(y, qid)
    scores = np.random.default_rng(1).standard_normal(len(y))
    grad, hess = np.empty((2, len(y)), dtype=np.float32)
    passes = {m: gb.LambdaRank(m).prepared(data, n_jobs=1) for m in MEASURES if m.trains}
    runs = {("pass", m): lambda run=run: run(scores, grad, hess) for m, run in passes.items()}
    runs |= {("evaluate", m): lambda m=m: gb.evaluate(m, y, scores, qid, n_jobs=1) for m in MEASURES}
    medians(runs, 1)  # compiles
    seconds = medians(runs, 3 if quick else 25)
    print(conditions(), f"\n{len(sizes)} queries x {LENGTH} documents, one thread\n")
    rows = [
        [str(m), f"{1e3 * seconds['pass', m]:.2f}" if m.trains else "", f"{1e3 * seconds['evaluate', m]:.2f}"]
        for m in MEASURES
    ]
    print(table(["measure", "LambdaRank pass, ms", "evaluate, ms"], rows))


if __name__ == "__main__":
    main()
