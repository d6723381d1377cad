"""Clusters, and objectives that tell what happened inside training processes."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import dask.array as da
import numpy as np

import gapboost as gb
from gapboost.objectives.lambdarank import LambdaRank, LambdaRankPass


def ranking(n_queries, seed, longest=20):
    """X, y and qid of queries of 3 to `longest` documents, query by query."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, longest, n_queries)
    X = rng.standard_normal((sizes.sum(), 10)).astype(np.float32)
    signal_ = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.standard_normal(len(X))
    return X, np.digitize(signal_, [0.5, 1.3]), np.repeat(np.arange(n_queries) * 7 + 10**12, sizes)


def cut(values, chunks):
    """A Dask array with these row chunks; an int for equal ones."""
    rows = chunks if isinstance(chunks, tuple) else (chunks,) * (len(values) // chunks)
    rows += (len(values) - sum(rows),) * (sum(rows) < len(values))
    return da.from_array(values, chunks=(rows, *((n,) for n in values.shape[1:])))


@dataclass(frozen=True, repr=False)
class Watched(LambdaRank):
    """LambdaRank that writes down its first gradients, and may do something in one worker's fifth round."""

    folder: str = ""
    then: str = ""

    def prepared(self, data, n_jobs=None):
        return WatchedPass(self, data, n_jobs)


class WatchedPass(LambdaRankPass):
    def __init__(self, objective, data, n_jobs):
        super().__init__(objective, data, n_jobs)
        self.calls = 0
        # Every worker but one has queries beyond the first.
        self.first = data.whole is None or data.whole.begins[0] == 0
        self.file = Path(objective.folder, f"{os.getpid()}.npz")

    def __call__(self, scores, grad, hess):
        super().__call__(scores, grad, hess)
        if self.calls == 0:
            begins = self.data.whole.begins
            # What a booster gets: weights of documents are applied to what a pass leaves.
            factors = 1.0 if self.data.factors is None else self.data.factors
            own = {"begins": begins, "sizes": self.data.queries.sizes, "scores": scores}
            own |= {"grad": grad * factors, "hess": hess * factors}
            np.savez(self.file, **own, n_jobs=self.threads, threads=int(os.environ["OMP_NUM_THREADS"]))
        self.calls += 1
        if self.calls == 5 and not self.first:
            if self.objective.then == "raise":
                raise ArithmeticError("the fifth round")
            if self.objective.then == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.objective.then == "kill the worker":
                os.kill(os.getppid(), signal.SIGKILL)


def watched(folder, then=""):
    return Watched(gb.GAP(g=(0.5, 0.5)), folder=str(folder), then=then)


def written(folder):
    """What the training processes wrote, by process id."""
    return {int(path.stem): dict(np.load(path)) for path in Path(folder).glob("*.npz")}
