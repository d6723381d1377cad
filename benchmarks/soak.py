"""Memory over many small fits in one process, with both boosters in turn. It reads /proc, so it runs on Linux.

Usage: ``python -m benchmarks.soak [--fits 500]``.
"""

import argparse
import gc
from pathlib import Path

import numpy as np

from gapboost.datasets import load_digits_ranking
from gapboost.lightgbm import LGBMGAPRanker
from gapboost.xgboost import XGBGAPRanker

STATUS = Path("/proc/self/status")


def resident_mb() -> float:
    """Memory of this process that is in use now, in MB."""
    (line,) = [line for line in STATUS.read_text(encoding="utf-8").splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def memory_after_fits(n_fits: int, every: int) -> list[float]:
    """Memory after each `every` fits; a fit has an evaluation set, predictions and a score."""
    train, vali, _ = load_digits_ranking((60, 20, 20), 20)
    rankers = (LGBMGAPRanker(n_estimators=10, n_jobs=1, verbose=-1), XGBGAPRanker(n_estimators=10, n_jobs=1))
    measured = []
    for fit in range(1, n_fits + 1):
        ranker = rankers[fit % 2]
        ranker.fit(train.X, train.y, qid=train.qid, eval_set=[(vali.X, vali.y)], eval_qid=[vali.qid])
        ranker.score(vali.X, vali.y, qid=vali.qid)
        if fit % every == 0:
            gc.collect()
            measured.append(resident_mb())
    return measured


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=500)
    fits = parser.parse_args().fits
    every = max(1, fits // 10)
    measured = memory_after_fits(fits, every)
    for number, megabytes in enumerate(measured, start=1):
        print(f"after {number * every:4d} fits: {megabytes:.1f} MB")
    # The first tenth loads libraries and fills caches.
    slope = np.polyfit(np.arange(len(measured) - 1) * every, measured[1:], 1)[0]
    print(f"growth after the first {every}: {measured[-1] - measured[0]:+.1f} MB, {1024 * slope:+.2f} kB a fit")


if __name__ == "__main__":
    main()
