"""What a fit of 10^6 rows costs, in processor seconds of one thread: ``python -m benchmarks.studies.classification.cost``."""

import time
from pathlib import Path

from benchmarks.studies.boosters import Fold, Part, Trees, train
from benchmarks.studies.classification.data import Made
from benchmarks.studies.classification.runs import AP, LOG_LOSS, XGB_AP, XGB_LOG_LOSS, Extra, competitor, trees_for
from benchmarks.studies.records import Records
from benchmarks.studies.tables import table
from gapboost._kernels import Array

RESULTS = Records(Path(__file__).parent / "results" / "cost.csv", ("trained by", "rows", "trees"))
ROWS, ROUNDS = 1_000_000, 100
TREES = Trees(leaves=31, learning_rate=0.1, features=1.0, penalty=1.0, min_data=20, min_hessian=1.0, drawn=False)


def seconds(name: str, X: Array, y: Array) -> float:
    """Of processor time; binning and compilation are left out."""
    qid, n_positive = y * 0, int(y.sum())
    few = Part(X[:1000], y[:1000], qid[:1000])
    fold, how = Fold([Part(X, y, qid), few, few], 1), competitor(name, n_positive / len(y), Extra(1.0, 1.0))
    trees = trees_for(name, TREES, n_positive)
    train(how, fold, trees, 2, 1, lambda scores: True)
    begin = time.process_time()
    train(how, fold, trees, ROUNDS, 1, lambda scores: True)
    return time.process_time() - begin


def text(results: Records = RESULTS) -> str:
    """The table."""
    found = {row["trained by"]: float(row["seconds"]) for row in results}
    pairs = [(a, b) for a, b in ((AP, LOG_LOSS), (XGB_AP, XGB_LOG_LOSS)) if a in found and b in found]
    rows = [[a, f"{found[a]:.1f}", f"{found[b]:.1f}", f"{found[a] / found[b]:.2f}"] for a, b in pairs]
    return table(["trained by", "processor s", "log loss, s", "ratio"], rows) if rows else "Not measured."


if __name__ == "__main__":
    made = Made(ROWS, 1.0).load(Path())
    for name in (LOG_LOSS, AP, XGB_LOG_LOSS, XGB_AP):
        RESULTS.add([{"trained by": name, "rows": ROWS, "trees": ROUNDS, "seconds": f"{seconds(name, *made):.2f}"}])
