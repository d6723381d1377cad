"""Time of a whole fit beside the boosters' own rankers: 100 rounds, 31 leaves, 50 features, 100 000 documents.

Usage: ``python -m benchmarks.training [--quick]``.
"""

import argparse
from collections.abc import Callable

import lightgbm
import numpy as np
import xgboost

from benchmarks.workload import conditions, medians, ranking_task, table
from gapboost._kernels.parallel.chunks import available_cores
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

ROUNDS = 100


def fits(length: int, threads: int) -> dict[str, Callable[[], object]]:
    """Every fit from arrays, binning included, as a user calls it; the same trees for all."""
    X, y, sizes = ranking_task(length)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    common = {"n_estimators": ROUNDS, "learning_rate": 0.1, "n_jobs": threads}
    trees = {"max_leaves": 31, "grow_policy": "lossguide", "max_depth": 0}
    full = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": length}
    runs: dict[str, Callable[[], object]] = {
        "LGBMGAPRanker": lambda: LGBMGAPRanker(**common, extra_trees=False, verbose=-1).fit(X, y, qid=qid),
        "LGBMRanker, default": lambda: lightgbm.LGBMRanker(**common, verbose=-1).fit(X, y, group=sizes),
        "LGBMRanker, all pairs": lambda: lightgbm.LGBMRanker(
            **common, verbose=-1, lambdarank_truncation_level=length
        ).fit(X, y, group=sizes),
        "XGBGAPRanker": lambda: XGBGAPRanker(**common, **trees).fit(X, y, qid=qid),
        "XGBRanker, default": lambda: xgboost.XGBRanker(**common, **trees).fit(X, y, qid=qid),
        "XGBRanker, all pairs": lambda: xgboost.XGBRanker(**common, **trees, **full).fit(X, y, qid=qid),
    }
    return runs


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repetition")
    repetitions, threads = (1 if parser.parse_args().quick else 3), available_cores()
    print(conditions("lightgbm", "xgboost"), f"; {threads} threads\n", sep="")
    rows = []
    for length in (100, 2_000):
        runs = fits(length, threads)
        runs["LGBMGAPRanker"]()
        seconds = medians(runs, repetitions)
        for name, s in seconds.items():
            ours = seconds["LGBMGAPRanker" if name.startswith("LGBM") else "XGBGAPRanker"]
            ratio = "" if "GAP" in name else f"{ours / s:.3f}"
            rows.append([f"{100_000 // length} x {length}", name, f"{s:.2f}", ratio])
    print(table(["lists", "fit", "s", "ours / theirs"], rows))


if __name__ == "__main__":
    main()
