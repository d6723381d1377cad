"""Is an informative measure the better one to train for, and when? Section 5.1 of [yilmaz2009] with boosted trees.

P@10 and nDCG@10 look at ten ranks; AP, nDCG and GAP feel every swap. Each is trained for with 10 to 100 % of the training queries
and with the best 2, the best 9 and all features of OHSUMED, and tested by the measure that looks at ten ranks.
"""

from pathlib import Path

import numpy as np
from tqdm.auto import tqdm

import gapboost as gb
from benchmarks.effectiveness.competitors import Fold, Trees, train_lightgbm
from benchmarks.effectiveness.data import Source
from benchmarks.effectiveness.figures import Lines, draw_gain
from benchmarks.effectiveness.runs import Course, Plan, append, fingerprint, read, start
from benchmarks.workload import table
from gapboost._data.queries import Array
from gapboost.analysis import significance
from gapboost.datasets import RankingData

DATA = "OHSUMED"
FRACTIONS = (0.1, 0.25, 0.5, 0.75, 1.0)
FEATURES = (2, 9, 25)
GAP = gb.GAP(g=(0.5, 0.5))
# The measure of the test and of the choice of trees: what is trained for.
TRAINED = {
    gb.Precision(k=10): {"P@10": gb.Precision(k=10), "AP": gb.AP(), "GAP": GAP},
    gb.nDCG(k=10): {"nDCG@10": gb.nDCG(k=10), "nDCG": gb.nDCG(), "GAP": GAP},
}
NAMES = {gb.Precision(k=10): "P@10", gb.nDCG(k=10): "nDCG@10"}
TREES = Trees(leaves=8, learning_rate=0.1, features=1.0, penalty=0.0)
HEAD = ("gradients", "seed", "fold", "features", "fraction", "tested", "trained", "qid", "value")


def by_correlation(data: RankingData) -> Array:
    """Features, the one that goes with the grades most within queries first."""
    X, y = data.X.copy(), data.y.astype(np.float64)
    for q in np.unique(data.qid):
        rows = data.qid == q
        X[rows] -= X[rows].mean(axis=0)
        y[rows] -= y[rows].mean()
    return np.argsort(-np.abs((X * y[:, None]).sum(axis=0)) / (np.sqrt((X**2).sum(axis=0)) + 1e-12), kind="stable")


def study(source: Source, plan: Plan, path: Path) -> None:
    """Train whatever is not saved yet; one seed and fold at a time."""
    version = fingerprint("LightGBM")
    start(path, HEAD)
    done = {(r["gradients"], int(r["seed"]), int(r["fold"])) for r in read(path)}
    left = [(s, f) for s in range(1, plan.seeds + 1) for f in plan.folds if (version, s, f) not in done]
    for seed, number in tqdm(left, desc="gain", unit="fold", mininterval=5):
        split = source.splits(seed)[number - 1]
        order = by_correlation(split.train)
        queries = np.random.default_rng([seed, number]).permutation(np.unique(split.train.qid))
        rows = []
        for n_features in FEATURES:
            for fraction in FRACTIONS:
                kept = np.isin(split.train.qid, queries[: max(2, round(fraction * len(queries)))])
                columns = order[:n_features]
                parts = [
                    RankingData(p.X[w][:, columns], p.y[w], p.qid[w])
                    for p, w in ((split.train, kept), (split.vali, ...), (split.test, ...))
                ]
                fold = Fold(parts, 2)
                for tested, measures in TRAINED.items():
                    for name, measure in measures.items():
                        course = Course(fold.vali, [tested])
                        predict = train_lightgbm({}, gb.LambdaRank(measure), fold, TREES, plan.rounds, seed, course)
                        (values,) = fold.test.values([tested], predict(fold.test.X, course.trees))
                        where = (version, seed, number, n_features, fraction, NAMES[tested], name)
                        ids = fold.test.judged.queries.ids
                        rows += [[*where, q, f"{v:.6f}"] for q, v in zip(ids.tolist(), values.tolist(), strict=True)]
        append(path, rows)


def report(figure: Path, path: Path) -> str:
    """Table of the gains with intervals over queries; draws the figure."""
    version = fingerprint("LightGBM")
    found: dict[tuple[str, ...], dict[str, dict[int, float]]] = {}
    seeds: dict[int, set[int]] = {}
    for r in read(path):
        if r["gradients"] == version:
            key = (r["features"], r["fraction"], r["tested"], r["trained"])
            found.setdefault(key, {}).setdefault(r["qid"], {})[int(r["seed"])] = float(r["value"])
            seeds.setdefault(int(r["seed"]), set()).add(int(r["fold"]))
    most = max((len(folds) for folds in seeds.values()), default=0)
    complete = [seed for seed, folds in seeds.items() if len(folds) == most]
    if not complete:
        return "Nothing is trained yet."

    def values(*key: str) -> Array:
        return np.array([np.mean([by_seed[s] for s in complete]) for _, by_seed in sorted(found[key].items())])

    rows = []
    panels: dict[str, dict[str, Lines]] = {}
    for tested, measures in TRAINED.items():
        short = NAMES[tested]
        for n in FEATURES:
            lines: Lines = {}
            for name in [m for m in measures if m != short]:
                gains = [
                    significance(
                        values(str(n), str(f), short, name), values(str(n), str(f), short, short), random_state=0
                    )
                    for f in FRACTIONS
                ]
                half = [(r.interval[1] - r.interval[0]) / 2 for r in gains]
                lines[f"{name} instead of {short}"] = (np.array([r.difference for r in gains]), np.array(half))
                cells = [f"{r.difference:+.4f} ± {h:.4f}" for r, h in zip(gains, half, strict=True)]
                rows.append([short, str(n), f"{name} instead of {short}", *cells])
            panels.setdefault(short, {})[f"{n} features"] = lines
    draw_gain(np.array(FRACTIONS), panels, figure)
    head = ["tested by", "features", "trained for", *(f"{f:.0%}" for f in FRACTIONS)]
    return f"{len(values(*next(iter(found))))} queries, mean of {len(complete)} seeds.\n\n{table(head, rows)}"
