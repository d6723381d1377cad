"""How the smooth objectives train LightGBM on OHSUMED with one hessian or another, and with one beta or another."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import lightgbm
import numpy as np

import gapboost as gb
from benchmarks.studies import DATA
from benchmarks.studies.papers.grid import fold_of
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import GAP, Fold
from gapboost._kernels import Array

N_ROUNDS = 50


def query_means(hess: Array, sizes: Array) -> Array:
    """Each document gets the mean over its query."""
    begins = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    return np.repeat(np.add.reduceat(hess, begins) / sizes, sizes).astype(np.float32)


# From a gradient and the hessian that the library gives, and the lengths of the queries.
HESSIANS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "pushes": lambda grad, hess, sizes: hess,
    "4 x pushes (bounds the curvature)": lambda grad, hess, sizes: 4 * hess,
    "mean pushes of the query": lambda grad, hess, sizes: query_means(hess, sizes),
    "constant": lambda grad, hess, sizes: np.full_like(hess, hess.mean()),
    "absolute gradient": lambda grad, hess, sizes: np.maximum(np.abs(grad) / 4, 1e-6),
    "squared gradient": lambda grad, hess, sizes: np.maximum(grad**2, 1e-6),
}
BETAS = (0.03, 0.1, 0.3, 1.0, 10.0)


def scores_by_round(how: Any, hessian: Callable[[Array, Array, Array], Array], fold: Fold) -> Iterator[list[Array]]:
    """Scores of training, validation and test documents after each round of trees of 15 leaves, learning rate 0.1."""
    data = fold.judged[0]
    prepared = how.prepared(data, 1)

    def gradients(preds: Array, _: Any) -> tuple[Array, Array]:
        grad, hess = np.empty((2, len(preds)), dtype=np.float32)
        prepared(preds, grad, hess)
        return grad, hessian(grad, hess, data.queries.sizes)

    model = lightgbm.Booster(
        {"objective": "none", "metric": "None", "num_leaves": 15, "num_threads": 1, "verbose": -1}, fold.trees[0]
    )
    for _ in range(N_ROUNDS):
        model.update(fobj=gradients)
        yield [model.predict(part.X, num_threads=1) for part in fold.split]


def hessians() -> Parts:
    """The choices that [yilmaz2009] and [qin2008], who climb without a hessian, leave open."""

    def trained(how: Any, name: str, hessian: Callable[[Array, Array, Array], Array], number: int) -> Rows:
        fold = fold_of("OHSUMED", number, DATA)
        train = fold.split.train
        smooth, vali, test = [], [], []
        for scores in scores_by_round(how, hessian, fold):
            smooth.append(how.value(train.y, scores[0], train.qid, n_jobs=1))
            vali.append(fold.value(GAP, 1, scores[1]))
            test.append(fold.value(GAP, 2, scores[2]))
        best = int(np.argmax(vali))
        return [
            {
                "objective": type(how).__name__,
                "beta": getattr(how, "beta", None) or "default",
                "hessian": name,
                "fold": number,
                "smooth GAP, round 13": smooth[12],
                "round 50": smooth[-1],
                "rounds that fell": np.count_nonzero(np.diff(smooth) < 0),
                "best round": best + 1,
                "GAP on validation": vali[best],
                "on test": test[best],
            }
        ]

    plan = [(how, name, f) for how in (gb.SoftRank(GAP), gb.ApproxRank(GAP)) for name, f in HESSIANS.items()]
    plan += [(gb.ApproxRank(GAP, beta=beta), "pushes", HESSIANS["pushes"]) for beta in BETAS]
    return {
        f"{how!r} {name} fold {number}": partial(trained, how, name, f, number)
        for number in (1, 2)
        for how, name, f in plan
    }
