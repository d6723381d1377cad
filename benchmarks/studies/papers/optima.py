"""What training for one measure does to another: learning curves, local optima, and all directions of two features."""

from collections import deque
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.optimize import minimize

import gapboost as gb
from benchmarks.studies import DATA
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import FOLDS, OBJECTIVES, Fold, split_of
from gapboost import analysis
from gapboost._kernels import Array
from gapboost.datasets import RankingData, load_letor

AP, NDCG = gb.AP(), gb.nDCG()
P10, NDCG10 = gb.Precision(k=10), gb.nDCG(k=10)
# A measure of the whole list, and the one of its top that it stands in for.
PAIRS = ((AP, P10), (NDCG, NDCG10))
NAMES = {AP: "AP", NDCG: "nDCG", P10: "P@10", NDCG10: "nDCG@10"}


def learning_curves() -> Parts:
    """Measures by round while training for one: Figure 5 of [yilmaz2009], with linear models."""

    def curve(trained: gb.Measure, top: gb.Measure, number: int) -> Rows:
        fold = Fold("OHSUMED", number)
        rows = []
        for at, weights in enumerate(fold.linear_rounds(gb.LambdaRank(trained), 0.0, 150), 1):
            scores = [part.X @ weights for part in fold.split]
            values = {"trained": fold.value(trained, 0, scores[0]), "training": fold.value(top, 0, scores[0])}
            where = {"trained for": NAMES[trained], "tested by": NAMES[top], "fold": number, "round": at}
            rows.append(where | values | {"validation": fold.value(top, 1, scores[1])})
        return rows

    plan = [(trained, top, number) for pair in PAIRS for trained, top in (pair, pair[1:] * 2) for number in FOLDS]
    return {f"{NAMES[a]} {NAMES[b]} fold {number}": partial(curve, a, b, number) for a, b, number in plan}


def trained_to_an_optimum(fold: Fold, measure: gb.Measure, objective: str) -> tuple[Array, float]:
    """Linear weights of length 10, and their gradient as a share of that of random weights which are as long.

    LambdaRank's gradient is that of no function: gblinear takes 400 rounds. SoftRank's is followed from there to its end. A
    linear ranking does not depend on the length of the weights; 10 makes steps of 0.1 to 1 alterations by 1 to 10 %.
    """
    X, data = fold.split.train.X, fold.judged[0]
    grad, hess = np.empty((2, len(X)))
    (weights,) = deque(fold.linear_rounds(gb.LambdaRank(measure), 0.0, 400), maxlen=1)
    prepared = OBJECTIVES[objective](measure, normalize=objective == "LambdaRank").prepared(data, 1)

    def slope(weights: Array) -> Array:
        prepared(X @ weights, grad, hess)
        return grad @ X / len(data.queries)

    def loss(weights: Array) -> tuple[float, Array]:
        value = prepared.values(X @ weights, grad, hess).mean()
        return -value, grad @ X / len(data.queries)

    if objective == "SoftRank":
        exactly = {"gtol": 1e-8, "ftol": 1e-12}
        weights = minimize(loss, 10 * weights / np.linalg.norm(weights), jac=True, method="L-BFGS-B", options=exactly).x
    length = np.linalg.norm(weights)
    others = [length * v / np.linalg.norm(v) for v in np.random.default_rng(0).normal(size=(5, len(weights)))]
    left = np.linalg.norm(slope(weights)) / np.mean([np.linalg.norm(slope(other)) for other in others])
    return 10 * weights / length, float(left)


def local_optima() -> Parts:
    """Alterations of linear models trained to an optimum: Table 5 of [yilmaz2009]."""

    def altered(trained: gb.Measure, top: gb.Measure, objective: str, number: int) -> Rows:
        fold = Fold("OHSUMED", number)
        weights, left = trained_to_an_optimum(fold, trained, objective)
        data = {"training": fold.split.train, "test": fold.split.test}
        found = analysis.local_optimality(
            list(dict.fromkeys([trained, top])),
            weights,
            {name: (part.X, part.y, part.qid) for name, part in data.items()},
            random_state=number,
            n_jobs=1,
        )
        return [
            {
                "objective": objective,
                "trained": NAMES[trained],
                "fold": number,
                "gradient left": left,
                "tested": NAMES[measure],
                "data": name,
                "value": found.values[d, m],
                "> 0": int(found.improved[d, m]),
                "> 0.003": int(found.improved_by_epsilon[d, m]),
                "largest": found.changes[d, m].max(),
            }
            for d, name in enumerate(data)
            for m, measure in enumerate(found.measures)
        ]

    plan = [(trained, top) for pair in PAIRS for trained, top in (pair, pair[1:] * 2)]
    return {
        f"{objective} {NAMES[trained]} {NAMES[top]} fold {number}": partial(altered, trained, top, objective, number)
        for number in FOLDS[:3]
        for objective in ("SoftRank", "LambdaRank")
        for trained, top in plan
    }


def circle(n: int) -> Iterator[tuple[float, Array]]:
    """All directions of two weights."""
    for angle in np.arange(n) * 2 * np.pi / n:
        yield float(angle), np.array([np.cos(angle), np.sin(angle)])


def by_correlation(data: RankingData) -> Array:
    """Features, the one that goes with the grades most within queries first."""
    X, y = data.X.copy(), data.y.astype(np.float64)
    for q in np.unique(data.qid):
        rows = data.qid == q
        X[rows] -= X[rows].mean(axis=0)
        y[rows] -= y[rows].mean()
    return np.argsort(-np.abs((X * y[:, None]).sum(axis=0)) / (np.sqrt((X**2).sum(axis=0)) + 1e-12), kind="stable")


def two_features() -> Parts:
    """The global optimum over two features, by trying all directions: section 5.1 of [yilmaz2009]."""

    def optimum(number: int) -> Rows:
        split = split_of("OHSUMED", number)
        columns = by_correlation(split.train)[:2]
        measures = [AP, P10, NDCG, NDCG10]
        rows = []
        for angle, weights in circle(720):
            row: dict[str, float] = {"fold": number, "angle": angle}
            for name, part in (("training", split.train), ("test", split.test)):
                values = gb.evaluate(measures, part.y, part.X[:, columns] @ weights, part.qid, n_jobs=1)
                row |= {f"{name} {NAMES[m]}": v for m, v in values.items()}
            rows.append(row)
        return rows

    return {f"fold {number}": partial(optimum, number) for number in (1, 2, 3, 4, 5)}


def directions() -> Parts:
    """Theorems 1, 2 and 7 of [qin2008] on a finite class of functions: 360 directions of two features of MQ2007.

    The queries are the population; training sets are drawn from them.
    """

    def large_samples() -> Rows:
        data = load_letor([DATA / "mq2007" / "mq2007.txt.gz"])
        columns = by_correlation(data)[:2]
        smooth = gb.ApproxRank(AP, alpha=100, beta=10)
        exact, near = [], []
        for _, weights in circle(360):
            scores = data.X[:, columns] @ weights
            exact.append(gb.evaluate(AP, data.y, scores, data.qid, per_query=True, n_jobs=1)[AP])
            near.append(smooth.value(data.y, scores, data.qid, per_query=True, n_jobs=1))
        value, surrogate = np.array(exact), np.array(near)
        everywhere, rng = value.mean(axis=1), np.random.default_rng(0)
        rows = []
        for m in (10, 30, 100, 300, 1000):
            for draw in range(20):
                sample = rng.permutation(value.shape[1])[:m]
                trained, smoothed = value[:, sample].mean(axis=1), surrogate[:, sample].mean(axis=1)
                uniform = np.abs(everywhere - trained).max()
                rows.append(
                    {
                        "queries": m,
                        "draw": draw,
                        "largest difference": uniform,
                        "lost": everywhere.max() - everywhere[trained.argmax()],
                        "lost by the smooth measure": everywhere.max() - everywhere[smoothed.argmax()],
                        "bound of theorem 2": 2 * uniform,
                        "bound of theorem 7": 2 * uniform + 2 * np.abs(trained - smoothed).max(),
                    }
                )
        return rows

    return {"MQ2007": large_samples}
