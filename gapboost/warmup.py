"""Compile everything into the cache: ``python -m gapboost.warmup``.

For images, and for machines whose first fit must not wait.

It takes some 12 to 20 seconds of processor time. The code is kept next to the package, or in
``NUMBA_CACHE_DIR``; every user who can read it there uses it, on processors of the same kind. The
exit status is 1 where it cannot be kept.
"""

import sys

import numpy as np

from gapboost._kernels.jit import KernelCache
from gapboost.evaluation import evaluate
from gapboost.measures import AP, RR, nDCG
from gapboost.objectives import ApproxRank, LambdaRank, RankNet, SoftRank


def warm_up() -> None:
    """Call everything that is compiled, for scores of both boosters."""
    grades, scores = np.arange(610) % 3, np.linspace(0.0, 1.0, 610)
    qid = np.repeat([0, 1, 2], [10, 200, 400])
    evaluate([AP(), nDCG(k=10), RR()], grades, scores, qid)
    smooth = (SoftRank(AP()), SoftRank(nDCG(k=5)), ApproxRank(AP()), ApproxRank(AP(k=5)))
    for objective in (LambdaRank(AP()), RankNet(AP()), *smooth):
        objective.gradients(grades, scores, qid)


def main() -> None:
    """Warm up, and print where the code is kept."""
    warm_up()
    if KernelCache.unkept:
        sys.exit("the kernels are compiled, but not kept on disk")
    print("all kernels are compiled and kept,", KernelCache.kept or "where they were before")


if __name__ == "__main__":
    main()
