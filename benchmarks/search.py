"""Time of `GSearchCV` beside scikit-learn's `GridSearchCV` for the same choice on OHSUMED, and proof that it is the same.

    python -m benchmarks.search path/to/ohsumed [--quick]

11 g, 10 to 200 trees in steps of 10, 5 folds of whole queries, nDCG@10; one thread each. Both run once: every score, of each
candidate on each fold, and the best parameters are compared before the times are printed. The ratio of the processor times tells
more than that of the clock's where other processes come and go.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold

import gapboost as gb
from benchmarks.workload import conditions, table
from gapboost.datasets import load_letor
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.model_selection import GSearchCV, measure_scorer, simplex_grid
from gapboost.xgboost import XGBGAPRanker

TARGET = gb.nDCG(k=10)
# Small trees, as suit 106 queries.
RANKERS = {
    "LightGBM": LGBMGAPRanker(num_leaves=7, extra_trees=False, n_jobs=1, random_state=0, verbose=-1),
    "XGBoost": XGBGAPRanker(max_depth=3, n_jobs=1, random_state=0),
}


def now() -> np.ndarray:
    """Seconds by the clock and of this process's processor time."""
    return np.array([time.perf_counter(), time.process_time()])


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, help="holds Fold1 to Fold5, each with test.txt or test.txt.gz")
    parser.add_argument("--quick", action="store_true", help="3 g, 50 trees, 2 folds")
    arguments = parser.parse_args()
    steps, trees, n_folds = (2, range(10, 51, 10), 2) if arguments.quick else (10, range(10, 201, 10), 5)
    data = load_letor([next((arguments.directory / f"Fold{fold}").glob("test.txt*")) for fold in range(1, 6)])
    grid = {"g": simplex_grid(2, steps), "n_estimators": list(trees)}
    rows = []
    for name, ranker in RANKERS.items():
        ranker.set_params(n_estimators=2).fit(data.X, data.y, qid=data.qid)  # compiles the kernels
        start = now()
        ours = GSearchCV(ranker, grid, scoring=TARGET, cv=n_folds).fit(data.X, data.y, qid=data.qid)
        middle = now()
        with sklearn.config_context(enable_metadata_routing=True):
            plain = GridSearchCV(ranker, grid, scoring=measure_scorer(TARGET), cv=GroupKFold(n_folds))
            plain.fit(data.X, data.y, qid=data.qid, groups=data.qid)
        seconds = middle - start, now() - middle
        scores = [
            np.array([found.cv_results_[f"split{i}_test_score"] for i in range(n_folds)]) for found in (ours, plain)
        ]
        apart = np.abs(scores[0] - scores[1]).max()
        assert apart <= 1e-9, (name, apart)
        assert ours.best_params_ == plain.best_params_, (name, ours.best_params_, plain.best_params_)
        best = ours.best_params_
        rows.append(
            [
                name,
                *(f"{clock:.1f} ({processor:.1f})" for clock, processor in seconds),
                "{:.3f} ({:.3f})".format(*seconds[0] / seconds[1]),
                f"{apart:.0e}",
                f"g = {best['g']}, {best['n_estimators']} trees",
            ]
        )
    print(conditions("scikit-learn", "lightgbm", "xgboost"))
    print(f"{data}; {len(grid['g'])} g x {len(trees)} numbers of trees x {n_folds} folds\n")
    head = [
        "booster",
        "GSearchCV s",
        "GridSearchCV s",
        "ours / theirs",
        "largest difference of a score",
        "best of both",
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main()
