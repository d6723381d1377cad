"""Which scale of gradients and hessians suits XGBoost? Chosen on validation queries of seven collections.

A fifth of the queries of every collection is set aside and never read. The rest are dealt into four folds; each is validated
once by the trees that the other three train. `sizes` says what the boosters are handed without a validation value, `train`
trains what is not saved yet, `report` compares what is saved.

    python -m benchmarks.studies.effectiveness.step sizes
    python -m benchmarks.studies.effectiveness.step train SETTING VARIANT ...
    python -m benchmarks.studies.effectiveness.step report
"""

import argparse
import csv
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xgboost

import gapboost as gb
from benchmarks.harness import table
from benchmarks.studies import DATA
from benchmarks.studies.boosters import Part, Stop
from benchmarks.studies.effectiveness.results import RESULTS
from benchmarks.studies.effectiveness.runs import measures
from gapboost._kernels import Array
from gapboost.datasets import load_letor

# Values of every query of every fifth number of trees: too large to keep.
SAVED = Path(__file__).parents[2] / ".cache" / "step"
FILE = RESULTS / "step.csv"
HEAD = ("setting", "variant", "data", "queries", "difference", "low", "high", "trees")
SIZES = RESULTS / "step_sizes.csv"
SIZES_HEAD = ("data", "gradients", "tree", "hessians a query", "hessians a leaf", "change of scores")
FOLDS = 4
EVERY = 5
PATIENCE = 75
TRAINING_QUERIES = 600

PLAIN = {"nthread": 1, "verbosity": 0, "base_score": 0.0, "disable_default_eval_metric": 1}


def files() -> dict[str, tuple[Path, ...]]:
    """The collections."""
    lightgbm, news = DATA / "lightgbm-lambdarank", DATA / "trec-news-2018"
    return {
        "MQ2007": (DATA / "mq2007" / "mq2007.txt.gz",),
        "DBpedia": (DATA / "dbpedia-entity" / "dbpedia-entity.txt.gz",),
        "Cranfield": (DATA / "cranfield" / "cranfield.txt.gz",),
        "MSLR": (DATA / "mslr" / "mslr.txt.gz",),
        "OHSUMED": tuple(DATA / "ohsumed" / "Fold1" / f"{name}.txt.gz" for name in ("train", "vali", "test")),
        "LightGBM example": (lightgbm / "rank.train.gz", lightgbm / "rank.test.gz"),
        "TREC News": (news / "trec_news_2018.train", news / "trec_news_2018.test"),
    }


@cache
def folds(name: str) -> tuple[list[tuple[Part, Part]], int]:
    """Training and validation rows of each fold, and the number of positive grades."""
    data = load_letor(files()[name])
    rng = np.random.default_rng([2026, zlib.crc32(name.encode())])
    queries = rng.permutation(np.unique(data.qid))
    queries = queries[: round(0.8 * len(queries))]
    number = np.unique(data.qid, return_inverse=True)[1]
    order = np.lexsort((rng.random(len(data.y)), number))
    X, y, qid = data.X[order], data.y[order], data.qid[order]

    def part(chosen: Array) -> Part:
        rows = np.isin(qid, chosen)
        return Part(X[rows], y[rows], qid[rows])

    parts = [queries[k::FOLDS] for k in range(FOLDS)]
    found = []
    for k in range(FOLDS):
        train = np.concatenate([parts[j] for j in range(FOLDS) if j != k])[:TRAINING_QUERIES]
        found.append((part(train), part(parts[k])))
    return found, int(y[np.isin(qid, queries)].max())


@dataclass(frozen=True)
class Variant:
    """What is handed to the booster, beside what the trees of the setting are.

    Attributes
    ----------
    gradient, hessian : float
        Factors of the gradients and hessians of `LambdaRank`, whose pairs move two documents each: 0.5 and 1 are XGBoost's step.
    inner : float or None
        c of log2(1 + c S) / S, by which a query's gradients are scaled; None: 1.
    measure : str
        What ours trains for.
    trees : dict
        The booster's own parameters, in place of the setting's.
    leaves : float or None
        `min_child_weight` is the sum of all first hessians divided by this; None: the setting's.
    own : bool
        XGBoost's own objective instead.
    """

    gradient: float = 0.5
    hessian: float = 1.0
    inner: float | None = None
    measure: str = "gap"
    trees: tuple[tuple[str, Any], ...] = ()
    leaves: float | None = None
    own: bool = False


def both(factor: float, **more: Any) -> Variant:
    """Gradient and hessian times `factor`: as `min_child_weight` and `reg_lambda` divided by it."""
    return Variant(0.5 * factor, factor, **more)


OWN = "rank:ndcg"
VARIANTS: dict[str, Variant] = {
    OWN: Variant(own=True),
    "rank:ndcg, no division by distance": Variant(own=True, trees=(("lambdarank_score_normalization", False),)),
    **{
        f"rank:ndcg, min_child_weight and reg_lambda {x}": Variant(
            own=True, trees=(("min_child_weight", x), ("reg_lambda", x))
        )
        for x in (2, 4)
    },
    "ours": Variant(),
    **{f"ours, both x {c:g}": both(c) for c in (2, 4)},
    "ours, gradient x 2": Variant(gradient=1.0),
    "ours, min_child_weight 0.1": Variant(trees=(("min_child_weight", 0.1),)),
    "ours, reg_lambda 0.1": Variant(trees=(("reg_lambda", 0.1),)),
    "ours, query x log2(1 + 16 S) / S": Variant(inner=16.0),
    **{f"ours, hessians for {k} leaves": Variant(leaves=k) for k in (2, 3, 4, 8, 16, 32)},
    "nDCG": Variant(measure="ndcg"),
    "nDCG, both x 2": both(2, measure="ndcg"),
    "nDCG, both x 4": both(4, measure="ndcg"),
}


def drawn(n: int) -> dict[str, dict[str, Any]]:
    """Trees of a random search."""
    rng = np.random.default_rng(7)
    return {
        f"drawn {i}": {
            "grow_policy": "lossguide",
            "max_depth": 0,
            "max_leaves": int(rng.choice((8, 16, 32))),
            "learning_rate": float(rng.choice((0.05, 0.1))),
            "colsample_bytree": float(rng.choice((0.5, 1.0))),
            "reg_lambda": float(rng.choice((0.1, 1.0, 10.0))),
            "min_child_weight": float(rng.choice((0.1, 1.0, 10.0))),
        }
        for i in range(1, n + 1)
    }


SETTINGS: dict[str, dict[str, Any]] = {"default": {"learning_rate": 0.3}, "small": {"learning_rate": 0.05}, **drawn(4)}
ROUNDS = {"default": 100}
LONG = 500


def gradients(variant: Variant, train: Part, n_grades: int) -> Callable[..., tuple[Array, Array]]:
    """For `xgboost.train(obj=...)`."""
    g = (1 / n_grades,) * n_grades
    how = gb.LambdaRank({"gap": gb.GAP(g=g), "ndcg": gb.nDCG()}[variant.measure], normalize=variant.inner is None)
    prepared = how.prepared(train.judged.up_to_grade(n_grades), 1)
    begins, sizes = train.judged.queries.offsets[:-1], train.sizes

    def found(scores: Array, _: Any) -> tuple[Array, Array]:
        grad, hess = np.empty((2, len(scores)))
        prepared(scores, grad, hess)
        if variant.inner is not None:
            mass = np.maximum(np.add.reduceat(np.abs(grad), begins), 1e-12)
            factor = np.repeat(np.log2(1 + variant.inner * mass) / mass, sizes)
            grad, hess = grad * factor, hess * factor
        return (variant.gradient * grad).astype(np.float32), (variant.hessian * hess).astype(np.float32)

    return found


def trained(setting: str, variant: Variant, train: Part, vali: Part, n_grades: int) -> Array:
    """Mean of the six measures of every validation query, after every `EVERY` trees: float32 of shape (steps, Q)."""
    rows = xgboost.QuantileDMatrix(train.X, train.y, group=train.sizes, nthread=1)
    held_out = xgboost.QuantileDMatrix(vali.X, vali.y, group=vali.sizes, nthread=1, ref=rows)
    wanted = list(measures(n_grades).values())
    stop, found, means = Stop(), [], []
    trees = 0

    def watch(scores: Array, _: Any) -> list[Any]:
        nonlocal trees
        trees += 1
        if trees % EVERY == 0:
            found.append(np.mean(vali.values(wanted, scores), axis=0).astype(np.float32))
            means.append(float(found[-1].mean()))
            stop.asked = len(means) - 1 - int(np.argmax(means)) >= PATIENCE // EVERY and setting != "default"
        return []

    params = {**PLAIN, "seed": 1, **SETTINGS[setting], **dict(variant.trees)}
    params |= {"objective": OWN} if variant.own else {}
    obj = None if variant.own else gradients(variant, train, n_grades)
    if variant.leaves is not None and obj is not None:
        params["min_child_weight"] = obj(np.zeros(len(train.y)), None)[1].sum(dtype=np.float64) / variant.leaves
    xgboost.train(
        params, rows, ROUNDS.get(setting, LONG), evals=[(held_out, "vali")], custom_metric=watch, callbacks=[stop],
        obj=obj, verbose_eval=False,
    )  # fmt: skip
    return np.array(found)


def path(setting: str, variant: str, name: str, fold: int) -> Path:
    """Where values are saved."""
    return SAVED / f"{setting}~{variant.replace('/', 'by')}~{name}~{fold}.npy"


def train_all(setting: str, names: list[str], sets: list[str]) -> None:
    """Whatever is not saved yet."""
    SAVED.mkdir(parents=True, exist_ok=True)
    for data in sets:
        left = [(k, v) for k in range(FOLDS) for v in names if not path(setting, v, data, k).exists()]
        for k, name in left:
            parts, n_grades = folds(data)
            np.save(path(setting, name, data, k), trained(setting, VARIANTS[name], *parts[k], n_grades))
        if left:
            folds.cache_clear()


def best(setting: str, variant: str, data: str) -> tuple[Array, float]:
    """Values of all validation queries of a collection, each fold's at its best number of trees; and the mean number."""
    found, trees = [], []
    for k in range(FOLDS):
        values = np.load(path(setting, variant, data, k)).astype(np.float64)
        at = int(np.argmax(values.mean(axis=1)))
        at = len(values) - 1 if setting == "default" else at
        found.append(values[at])
        trees.append((at + 1) * EVERY)
    return np.concatenate(found), float(np.mean(trees))


def interval(apart: Array) -> tuple[float, float, float]:
    """Mean difference and its 95 % interval over queries."""
    mean, error = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart)))
    return mean, mean - 1.96 * error, mean + 1.96 * error


def sizes() -> None:
    """Hessians a query, hessians a leaf and change of scores in tree 1, 2, 50 and 100 of XGBoost's default trees at 0.1."""
    rows = []
    for data in files():
        parts, n_grades = folds(data)
        train = parts[0][0]
        matrix = xgboost.QuantileDMatrix(train.X, train.y, group=train.sizes, nthread=1)
        for name in (OWN, "ours"):
            own = VARIANTS[name].own
            obj = None if own else gradients(VARIANTS[name], train, n_grades)
            params = {**PLAIN, "learning_rate": 0.1} | ({"objective": OWN} if own else {})
            model = xgboost.train(params, matrix, 100, obj=obj)
            nodes = model.trees_to_dataframe()
            for tree in (1, 2, 50, 100):
                of = nodes[nodes.Tree == tree - 1]
                hessians = of[of.Node == 0].Cover.iloc[0] / len(train.sizes)
                change = model.predict(matrix, iteration_range=(tree - 1, tree), output_margin=True).std()
                leaf = of[of.Feature == "Leaf"].Cover.median()
                rows.append([data, name, tree, f"{hessians:.2f}", f"{leaf:.2f}", f"{change:.4f}"])
        folds.cache_clear()
    save(SIZES, SIZES_HEAD, rows)


def save(file: Path, head: tuple[str, ...], rows: list[list[Any]]) -> None:
    """Write a table anew, and show it."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([head, *rows])
    print(table(list(head), [[str(value) for value in row] for row in rows]), flush=True)


def report() -> None:
    """Everything that is saved, beside XGBoost's own objective in the same trees."""
    rows = []
    for setting in SETTINGS:
        for name in VARIANTS:
            there = [data for data in files() if complete(setting, name, data) and complete(setting, OWN, data)]
            apart = []
            for data in there:
                values, trees = best(setting, name, data)
                apart.append(values - best(setting, OWN, data)[0])
                rows.append(found(setting, name, data, apart[-1], f"{trees:.0f}"))
            if len(there) == len(files()):
                rows.append(found(setting, name, "all", np.concatenate(apart), ""))
    save(FILE, HEAD, rows)


def complete(setting: str, variant: str, data: str) -> bool:
    """Whether all folds are saved."""
    return all(path(setting, variant, data, k).exists() for k in range(FOLDS))


def found(setting: str, variant: str, data: str, apart: Array, trees: str) -> list[Any]:
    """One line of the report."""
    return [setting, variant, data, len(apart), *(f"{v:+.4f}" for v in interval(apart)), trees]


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sizes", "train", "report"))
    parser.add_argument("setting", choices=SETTINGS, nargs="?")
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    parser.add_argument("--data", nargs="*", default=list(files()), help="all collections by default")
    given = parser.parse_args()
    if given.what == "train" and given.setting is not None:
        train_all(given.setting, given.variants or list(VARIANTS), given.data)
    elif given.what == "train":
        parser.error("train needs a setting")
    else:
        {"sizes": sizes, "report": report}[given.what]()


if __name__ == "__main__":
    main()
