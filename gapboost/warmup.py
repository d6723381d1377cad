"""Compile everything into the cache: ``python -m gapboost.warmup``.

For images, and for machines whose first fit must not wait.

It takes some 12 to 20 seconds of processor time. The code is kept next to the package, or in
``NUMBA_CACHE_DIR``; every user who can read it there uses it, on processors of the same kind. The
exit status is 1 where it cannot be kept.
"""

import sys
import time

import numpy as np

from gapboost._kernels.jit import KernelCache
from gapboost.evaluation import evaluate
from gapboost.measures import AP, RR, nDCG
from gapboost.objectives import ApproxRank, LambdaRank, RankNet, SoftRank


def warm_up() -> None:
    """Call everything that is compiled, for scores of both boosters."""
    lengths = (10, 200, 400)
    n = sum(lengths)
    grades, scores, qid = (
        np.arange(n) % 3,
        np.linspace(0.0, 1.0, n),
        np.repeat(np.arange(len(lengths)), lengths),
    )
    evaluate([AP(), nDCG(k=10), RR()], grades, scores, qid)
    for objective in (RankNet(AP()), SoftRank(AP()), ApproxRank(AP())):
        objective.gradients(grades[:200], scores[:200])
    few = slice(0, lengths[0])
    for smooth in (SoftRank(AP()), SoftRank(nDCG(k=5)), ApproxRank(AP(k=5))):
        smooth.gradients(grades[few], scores[few])
    LambdaRank(AP()).gradients(grades, scores, qid)


def main() -> None:
    """Warm up, and print where the code is kept."""
    begun = time.process_time()
    warm_up()
    if KernelCache.unkept:
        sys.exit("the kernels are compiled, but not kept on disk")
    where = KernelCache.kept or "where they were before"
    print(
        f"all kernels are compiled and kept, {where}: {time.process_time() - begun:.1f} s of "
        "processor time"
    )


if __name__ == "__main__":
    main()
