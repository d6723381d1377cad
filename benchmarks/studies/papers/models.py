"""What [yilmaz2009] and [qin2008] ask of models: inference from a measure, optima, learning curves, accuracy, theorems."""

from collections import deque
from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.optimize import minimize

import gapboost as gb
from benchmarks.studies.papers.collections import collection
from benchmarks.studies.papers.grid import TESTED
from benchmarks.studies.papers.results import Parts, Rows
from benchmarks.studies.papers.training import DATA, OBJECTIVES, Fold, split_of
from gapboost import analysis
from gapboost._data.judged import judged
from gapboost._kernels import Array
from gapboost.analysis import RankedList, trec
from gapboost.analysis.informativeness import inferred_precision, real_precision
from gapboost.datasets import RankingData, load_letor

AP, NDCG = gb.AP(), gb.nDCG()
P10, NDCG10 = gb.Precision(k=10), gb.nDCG(k=10)
# A measure of the whole list, and the one of its top that it stands in for.
PAIRS = ((AP, P10), (NDCG, NDCG10))
NAMES = {AP: "AP", NDCG: "nDCG", P10: "P@10", NDCG10: "nDCG@10"}


def correlation_with_p10() -> Parts:
    """Means of systems: Figure 1 of [yilmaz2009]."""

    def means(name: str) -> Rows:
        found = collection(name)
        values = analysis.system_values([AP, NDCG, P10], found.qrels, found.runs, n_jobs=1)
        return [
            {"collection": name, "system": system} | dict(zip(("AP", "nDCG", "P@10"), mean, strict=True))
            for system, mean in zip(values.systems, values.means.T, strict=True)
        ]

    return {name: partial(means, name) for name in ("Robust", "DBpedia", "OHSUMED", "MSLR")}


def binary(one: RankedList) -> RankedList:
    """Relevant or not."""
    return RankedList(one.name, np.minimum(one.grades, 1), np.array([one.recall_base[0], one.recall_base[1:].sum()]))


def inferred() -> Parts:
    """What AP and nDCG tell about binary relevance and P@10: Table 1 and Figure 3 of [yilmaz2009]."""

    def system(name: str, run: str, most: int) -> Rows:
        found = collection(name)
        lists = [
            x for x in trec.rankings(found.qrels, found.runs[run], ties="trec_eval").lists() if x.counts[1:].sum() >= 5
        ]
        lists = [lists[i] for i in sorted(np.random.default_rng(0).permutation(len(lists))[:most])]
        rows = []
        for measure in (AP, NDCG):
            rms, mae, p10, real = [], [], [], []
            for one in lists:
                seen = binary(one) if measure == AP else one
                falling = -np.arange(len(seen.grades), dtype=float)
                (value,) = gb.evaluate(measure, seen.grades, falling, recall_base=[seen.recall_base], n_jobs=1).values()
                relevance = analysis.maximum_entropy(measure, value, seen.counts, seen.recall_base).relevance()
                difference = inferred_precision(relevance, one.grades, 1) - real_precision(one.grades, 1)
                rms.append(np.sqrt(np.mean(difference**2)))
                mae.append(np.mean(np.abs(difference)))
                p10.append(relevance[:10].sum() / 10)
                real.append((one.grades[:10] > 0).sum() / 10)
            columns = {"rms": rms, "mae": mae, "inferred P@10": p10, "P@10": real}
            row = {"collection": name, "system": run, "from": NAMES[measure], "lists": len(lists)}
            rows.append(row | {column: np.mean(values) for column, values in columns.items()} if lists else row)
        return rows

    plan = [(name, run, most) for name, most in (("Robust", 20), ("DBpedia", 20)) for run in collection(name).runs]
    return {f"{name} {run}": partial(system, name, run, most) for name, run, most in plan}


def learning_curves() -> Parts:
    """Measures by round while training for one: Figure 5 of [yilmaz2009], with a linear model on fold 1."""

    def curve(trained: gb.Measure, top: gb.Measure) -> Rows:
        fold = Fold("OHSUMED", 1)
        rows = []
        for number, weights in enumerate(fold.linear_rounds(gb.LambdaRank(trained), 0.0, 150), 1):
            scores = [part.X @ weights for part in fold.split]
            values = {"trained": fold.value(trained, 0, scores[0]), "training": fold.value(top, 0, scores[0])}
            row = {"trained for": NAMES[trained], "tested by": NAMES[top], "round": number}
            rows.append(row | values | {"validation": fold.value(top, 1, scores[1])})
        return rows

    plan = [(trained, top) for pair in PAIRS for trained, top in (pair, pair[1:] * 2)]
    return {f"{NAMES[a]} {NAMES[b]}": partial(curve, a, b) for a, b in plan}


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
        sets = {"training": fold.split.train, "test": fold.split.test}
        found = analysis.local_optimality(
            list(dict.fromkeys([trained, top])),
            weights,
            {name: (part.X, part.y, part.qid) for name, part in sets.items()},
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
                "> 0": found.improved[d, m],
                "> 0.003": found.improved_by_epsilon[d, m],
                "largest": found.changes[d, m].max(),
            }
            for d, name in enumerate(sets)
            for m, measure in enumerate(found.measures)
        ]

    plan = [(trained, top) for pair in PAIRS for trained, top in (pair, pair[1:] * 2)]
    return {
        f"{objective} {NAMES[trained]} {NAMES[top]} fold {number}": partial(altered, trained, top, objective, number)
        for number in (1, 2)
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


def algorithm_1(train: RankingData, how: gb.ApproxRank, epochs: int, rate: float = 0.01) -> Iterator[Array]:
    """Weights of a linear model after each epoch of gradient ascent, query by query [qin2008]."""
    queries = []
    for q in np.unique(train.qid):
        rows = train.qid == q
        queries.append((train.X[rows], how.prepared(judged(train.y[rows], None), 1)))
    rng, weights = np.random.default_rng(0), np.zeros(train.X.shape[1])
    longest = max(len(X) for X, _ in queries)
    grad, hess = np.empty((2, longest))
    for _ in range(epochs):
        for i in rng.permutation(len(queries)):
            X, prepared = queries[i]
            n = len(X)
            prepared(X @ weights, grad[:n], hess[:n])
            weights = weights - rate * (grad[:n] @ X)
        yield weights


ALPHAS = (1, 10, 100)


def accuracy() -> Parts:
    """Distance of the approximation while Algorithm 1 trains: Figures 1 to 3 of [qin2008]."""

    def along(name: str, measure: gb.Measure, fixed: str) -> Rows:
        train = split_of(name, 1).train
        rows = []
        for steepness in ALPHAS:
            options = {"beta": {"alpha": steepness, "beta": 10.0}, "alpha": {"alpha": 100.0, "beta": steepness}}[fixed]
            options = options if measure == AP else {"alpha": steepness}
            how = gb.ApproxRank(measure, normalize=False, **options)
            for epoch, weights in enumerate(algorithm_1(train, how, 200 if name == "OHSUMED" else 30), 1):
                if epoch in (1, 2, 3, 5) or epoch % 10 == 0:
                    scores = train.X @ weights
                    smooth = how.value(train.y, scores, train.qid, per_query=True, n_jobs=1)
                    exact = gb.evaluate(measure, train.y, scores, train.qid, per_query=True, n_jobs=1)[measure]
                    row = {"collection": name, "measure": NAMES[measure], "fixed": fixed, "steepness": steepness}
                    rows.append(
                        row | {"epoch": epoch, "distance": np.abs(smooth - exact).mean(), "value": exact.mean()}
                    )
        return rows

    plan = [(AP, "beta"), (AP, "alpha"), (NDCG, "beta")]
    return {
        f"{name} {NAMES[measure]} {fixed}": partial(along, name, measure, fixed)
        for name in ("OHSUMED", "MQ2007")
        for measure, fixed in plan
    }


def approx_linear() -> Parts:
    """Algorithm 1 with the settings of [qin2008]: Tables 2 and 3, Figures 4 and 5 on other data."""

    def trained(name: str, number: int, measure: gb.Measure, alpha: float) -> Rows:
        fold = Fold(name, number)
        how = gb.ApproxRank(measure, alpha=alpha, beta=10.0, normalize=False)
        best, chosen, at = -1.0, np.zeros(0), 0
        for epoch, weights in enumerate(algorithm_1(fold.split.train, how, 60 if name == "OHSUMED" else 20), 1):
            if epoch % 5 == 0:
                value = fold.value(measure, 1, fold.split.vali.X @ weights)
                if value > best:
                    best, chosen, at = value, weights, epoch
        scores = fold.split.test.X @ chosen
        row = {
            "collection": name,
            "fold": number,
            "trained": NAMES[measure],
            "alpha": alpha,
            "epoch": at,
            "validation": best,
        }
        return [row | {label: fold.value(m, 2, scores) for label, m in TESTED.items()}]

    return {
        f"{name} fold {number} {NAMES[measure]} alpha {alpha}": partial(trained, name, number, measure, alpha)
        for name, folds in (("OHSUMED", (1, 2, 3, 4, 5)), ("MQ2007", (1,)))
        for number in folds
        for measure in (AP, NDCG)
        for alpha in (10, 100)
    }
