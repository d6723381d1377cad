"""ApproxRank as in [qin2008]: Algorithm 1, and the error of the smooth measure."""

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

import gapboost as gb
from benchmarks.studies.papers.grid import TESTED
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import FOLDS, Array, Fold, split_of
from gapboost.datasets import RankingData

MEASURES = {"AP": gb.AP(), "nDCG": gb.nDCG()}
EPOCHS = {"OHSUMED": 200, "MQ2007": 10}
# The ends of the paper's grid, 10, 20, 50 and 100; the paper's beta is 1 to 100.
ALPHAS, BETA = (10, 100), 10
STEEPNESS = (1, 10, 100)


def algorithm_1(
    train: RankingData, how: gb.ApproxRank, epochs: int, rate: float = 0.01
) -> Iterator[Array]:
    """Yield linear weights after each epoch of gradient ascent, query by query."""
    queries = [np.flatnonzero(train.qid == q) for q in np.unique(train.qid)]
    rng, weights = np.random.default_rng(0), np.zeros(train.X.shape[1])
    for _ in range(epochs):
        for i in rng.permutation(len(queries)):
            X, y = train.X[queries[i]], train.y[queries[i]]
            grad, _ = how.gradients(y, X @ weights, n_jobs=1)
            weights = weights - rate * (grad @ X)
        yield weights


def distances(y: Array, scores: Array, qid: Array, how: gb.ApproxRank) -> tuple[Array, Array]:
    """Return the distance of the smooth measure from the real one by query, and the real one."""
    smooth = how.value(y, scores, qid, per_query=True, n_jobs=1)
    exact = gb.evaluate(how.measure, y, scores, qid, per_query=True, n_jobs=1)[how.measure]
    return np.abs(smooth - exact), exact


def accuracy() -> Parts:
    """Return distances of the approximation while Algorithm 1 trains: Figures 1 to 3."""

    def along(name: str, label: str, fixed: str, steepness: float) -> Rows:
        train = split_of(name, 1).train
        options = {"alpha": steepness}
        if label == "AP":
            options |= {"beta": 10.0} if fixed == "beta" else {"alpha": 100.0, "beta": steepness}
        how = gb.ApproxRank(MEASURES[label], normalize=False, **options)
        where = {"collection": name, "measure": label, "fixed": fixed, "steepness": steepness}
        rows: Rows = []
        epochs = EPOCHS[name]
        for epoch, weights in enumerate(algorithm_1(train, how, epochs), 1):
            if epoch in (1, 2, 3, 5) or epoch % 10 == 0:
                apart, exact = distances(train.y, train.X @ weights, train.qid, how)
                means = {"distance": apart.mean(), "value": exact.mean()}
                rows.append({**where, "epoch": epoch, "query": None, **means})
        rows += [
            where | {"epoch": epochs, "query": q, "distance": d, "value": v}
            for q, (d, v) in enumerate(zip(apart, exact, strict=True))
        ]
        return rows

    plan = [("AP", "beta"), ("AP", "alpha"), ("nDCG", "beta")]
    return {
        f"{name} {label} {fixed} {steepness}": partial(along, name, label, fixed, steepness)
        for name in ("OHSUMED", "MQ2007")
        for label, fixed in plan
        for steepness in STEEPNESS
    }


def approx_linear() -> Parts:
    """Return trainings by Algorithm 1 on OHSUMED: Tables 2 and 3, Figures 4 and 5."""

    def trained(number: int, label: str, alpha: float) -> Rows:
        fold = Fold("OHSUMED", number)
        how = gb.ApproxRank(MEASURES[label], alpha=alpha, beta=BETA, normalize=False)
        best, chosen, at = -1.0, np.zeros(0), 0
        for epoch, weights in enumerate(algorithm_1(fold.split.train, how, EPOCHS["OHSUMED"]), 1):
            value = fold.value(MEASURES[label], 1, fold.split.vali.X @ weights)
            if value > best:
                best, chosen, at = value, weights, epoch
        scores = fold.split.test.X @ chosen
        row = {"fold": number, "trained": label, "alpha": alpha, "epoch": at, "validation": best}
        return [row | {name: fold.value(m, 2, scores) for name, m in TESTED.items()}]

    return {
        f"fold {number} {label} alpha {alpha}": partial(trained, number, label, alpha)
        for number, label, alpha in product(FOLDS, MEASURES, ALPHAS)
    }
