"""What the defaults were chosen from: other gradients in the boosters' default trees, compared on validation queries.

    python -m benchmarks.effectiveness.variants LightGBM|XGBoost FIRST_SEED LAST_SEED [VARIANT ...]

Appends one row a variant and data set to results/variants.csv: the mean of the six measures on validation queries, the
difference from the booster's own ranking objective in its default form, and its standard error over folds and seeds.
Nothing here looks at a test query. Gradients are those that LightGBM's twin ships, trees the boosters' default ones:
XGBoost's twin ships "GAP, gradient x 0.5", LightGBM's "GAP, thresholds at random".
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
from benchmarks.effectiveness.data import Part, Source, sources
from benchmarks.effectiveness.pairs import Nearness, falling, inverse, inverse_root, weighted
from benchmarks.effectiveness.runs import RESULTS, append, measures, read, start
from benchmarks.workload import table
from gapboost._data.queries import Array, Judged

FILE = RESULTS / "variants.csv"
HEAD = ("library", "variant", "data", "seeds", "folds", "validation", "difference", "standard error")
ROUNDS = 100

Gradients = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Variant:
    """LambdaRank gradients, averaged over `trained` measures and changed.

    Attributes
    ----------
    trained : tuple of str
        Of "gap", "ndcg", "ap", "egap"; "corners" are GAP with g all at one grade, for every grade.
    gradient, hessian : float
        Factors.
    smoothed : float
        Share of the hessian that is replaced by its mean over the query.
    scale : callable or None
        From the sums of absolute gradients of queries and their lengths to their factors; None: log2(1 + S) / S.
    alternating : bool
        One measure a tree, in turn, instead of the average.
    noise : float
        Scale of logistic noise added to the scores, drawn anew for every tree; `draws` times, and averaged.
    options : dict
        Of `LambdaRank`.
    nearness : function, float and bool, optional
        Weights of pairs by score distance, see `pairs.weighted`.
    trees : dict
        The booster's own parameters.
    own : str, optional
        A ranking objective of the booster, in place of our gradients.
    """

    trained: tuple[str, ...] = ("gap",)
    gradient: float = 1.0
    hessian: float = 1.0
    smoothed: float = 0.0
    scale: Callable[[Array, Array], Array] | None = None
    alternating: bool = False
    noise: float = 0.0
    draws: int = 1
    options: tuple[tuple[str, Any], ...] = ()
    nearness: tuple[Nearness, float, bool] | None = None
    trees: tuple[tuple[str, Any], ...] = ()
    own: str | None = None

    def measures(self, n_grades: int) -> list[gb.Measure]:
        """What is trained for."""
        g = (1 / n_grades,) * n_grades
        named = {"gap": gb.GAP(g=g), "ndcg": gb.nDCG(), "ap": gb.AP(), "egap": gb.eGAP(g=g)}
        corners = [gb.GAP(g=tuple(row)) for row in np.eye(n_grades).tolist()]
        return [m for name in self.trained for m in (corners if name == "corners" else [named[name]])]

    def on(self, data: Judged, n_grades: int) -> Gradients:
        """Gradients for one data set."""
        options = dict(self.options) | ({} if self.scale is None else {"normalize": False})
        data = data.up_to_grade(n_grades)
        scale = self.scale
        if self.nearness is None:
            passes = [gb.LambdaRank(m, **options).prepared(data, 1) for m in self.measures(n_grades)]
        else:
            passes = [weighted(m, data, *self.nearness) for m in self.measures(n_grades)]
            scale = scale or (lambda s, n: np.log2(1 + s) / s)
        begins, sizes = data.queries.offsets[:-1], data.queries.sizes
        trees = 0
        rng = np.random.default_rng(0)

        def gradients(scores: Array) -> tuple[Array, Array]:
            nonlocal trees
            found = []
            for prepared in [passes[trees % len(passes)]] if self.alternating else passes:
                grad, hess = np.empty(len(scores)), np.empty(len(scores))
                for _ in range(self.draws):
                    noisy = scores + self.noise * rng.logistic(size=len(scores))
                    prepared(noisy, grad, hess)
                    found.append((grad.copy(), hess.copy()))
            trees += 1
            grad, hess = np.mean(found, axis=0)
            if scale is not None:
                mass = np.maximum(np.add.reduceat(np.abs(grad), begins), 1e-12)
                factor = np.repeat(scale(mass, sizes), sizes)
                grad, hess = grad * factor, hess * factor
            means = np.repeat(np.add.reduceat(hess, begins) / sizes, sizes)
            hess = (1 - self.smoothed) * hess + self.smoothed * means
            return (self.gradient * grad).astype(np.float32), (self.hessian * hess).astype(np.float32)

        return gradients


GAP = Variant()
BOTH = Variant(("gap", "ndcg"))
VARIANTS: dict[str, Variant] = {
    "GAP": GAP,
    "GAP, gradient x 0.5": replace(GAP, gradient=0.5),
    "GAP, gradient x 0.25, hessian x 0.5": replace(GAP, gradient=0.25, hessian=0.5),
    "GAP, both x 0.5": replace(GAP, gradient=0.5, hessian=0.5),
    "GAP, both x 0.25": replace(GAP, gradient=0.25, hessian=0.25),
    "GAP, hessian x 2": replace(GAP, hessian=2.0),
    "GAP, hessian x 4": replace(GAP, hessian=4.0),
    "GAP, hessian x 8": replace(GAP, hessian=8.0),
    "GAP, sigma 0.25": replace(GAP, options=(("sigma", 0.25),)),
    "GAP, sigma 0.5": replace(GAP, options=(("sigma", 0.5),)),
    "GAP, sigma 0.5, hessian x 2": replace(GAP, options=(("sigma", 0.5),), hessian=2.0),
    "GAP, sigma 2": replace(GAP, options=(("sigma", 2.0),)),
    "GAP, hessian the query's mean": replace(GAP, smoothed=1.0),
    "GAP, hessian half the query's mean": replace(GAP, smoothed=0.5),
    "GAP, hessian half the query's mean, x 2": replace(GAP, smoothed=0.5, hessian=2.0),
    "GAP, query x log2(1 + 2S) / S": replace(GAP, scale=lambda s, n: np.log2(1 + 2 * s) / s),
    "GAP, query x 1 / S": replace(GAP, scale=lambda s, n: 1 / s),
    "GAP, query x 1 / sqrt(S)": replace(GAP, scale=lambda s, n: 1 / np.sqrt(s)),
    "GAP, query x its length": replace(GAP, scale=lambda s, n: 10 * n / n.mean()),
    "GAP, noise 0.3": replace(GAP, noise=0.3),
    "GAP, noise 1": replace(GAP, noise=1.0),
    "GAP, noise 1, 4 draws": replace(GAP, noise=1.0, draws=4),
    "GAP, noise 1, 4 draws, gradient x 0.5": replace(GAP, noise=1.0, draws=4, gradient=0.5),
    "GAP, noise 2, 4 draws": replace(GAP, noise=2.0, draws=4),
    "GAP, pairs with the top 30": replace(GAP, options=(("truncation", 30),)),
    "GAP, mean over g at one grade": Variant(("corners", "gap")),
    "GAP, trees alternate over g at one grade": Variant(("corners", "gap"), alternating=True),
    "nDCG": Variant(("ndcg",)),
    "nDCG, hessian x 2": Variant(("ndcg",), hessian=2.0),
    "nDCG, sigma 0.5": Variant(("ndcg",), options=(("sigma", 0.5),)),
    "AP": Variant(("ap",)),
    "eGAP": Variant(("egap",)),
    "eGAP, gradient x 0.5": Variant(("egap",), gradient=0.5),
    "eGAP, hessian x 2": Variant(("egap",), hessian=2.0),
    "eGAP, hessian x 4": Variant(("egap",), hessian=4.0),
    "GAP + nDCG": BOTH,
    "GAP + nDCG, gradient x 0.5": replace(BOTH, gradient=0.5),
    "GAP + nDCG, hessian x 2": replace(BOTH, hessian=2.0),
    "GAP + nDCG, hessian x 4": replace(BOTH, hessian=4.0),
    "GAP + nDCG, sigma 0.5": replace(BOTH, options=(("sigma", 0.5),)),
    "GAP + nDCG + AP + eGAP": Variant(("gap", "ndcg", "ap", "egap")),
}
REFERENCE = "the booster's own"
HALF = VARIANTS["GAP, gradient x 0.5"]
# Weights by score distance, in each booster's own steps.
NEAR: dict[str, tuple[Nearness, float, bool]] = {
    "pairs / (0.01 + distance)": (inverse, 0.01, False),
    "pairs / (0.1 + distance)": (inverse, 0.1, False),
    "pairs / (1 + distance)": (inverse, 1.0, False),
    "pairs / (0.01 range + distance)": (inverse, 0.01, True),
    "pairs / (0.1 range + distance)": (inverse, 0.1, True),
    "pairs / sqrt(0.01 + distance)": (inverse_root, 0.01, False),
    "pairs / sqrt(0.1 + distance)": (inverse_root, 0.1, False),
    "pairs x exp(-distance / 2)": (falling, 0.5, False),
    "pairs x exp(-distance)": (falling, 1.0, False),
    "pairs x exp(-3 distance)": (falling, 3.0, False),
}
DRAWN = (("extra_trees", True),)
TREES: dict[str, dict[str, tuple[tuple[str, Any], ...]]] = {
    "LightGBM": {
        "thresholds at random": DRAWN,
        "thresholds at random, path_smooth 20": (*DRAWN, ("path_smooth", 20.0)),
        "thresholds at random, half the features": (*DRAWN, ("feature_fraction", 0.5)),
        **{f"path_smooth {x}": (("path_smooth", float(x)),) for x in (1, 5, 20)},
        **{f"lambda_l2 {x}": (("lambda_l2", x),) for x in (0.1, 1, 10)},
        **{f"min_data_in_leaf {x}": (("min_data_in_leaf", x),) for x in (5, 10, 40)},
        **{f"feature_fraction {x}": (("feature_fraction", x), ("feature_fraction_seed", 1)) for x in (0.5, 0.8)},
        "feature_fraction_bynode 0.5": (("feature_fraction_bynode", 0.5),),
        **{f"num_leaves {x}": (("num_leaves", x),) for x in (7, 15)},
        "bagging of 0.7": (("bagging_fraction", 0.7), ("bagging_freq", 1)),
    },
    "XGBoost": {
        **{f"colsample_bynode {x}": (("colsample_bynode", x),) for x in (0.3, 0.5)},
        "colsample_bytree 0.5": (("colsample_bytree", 0.5),),
        "subsample 0.7": (("subsample", 0.7),),
        **{f"min_child_weight {x}": (("min_child_weight", x),) for x in (0.1, 5)},
        "reg_lambda 5": (("reg_lambda", 5),),
        "max_depth 4": (("max_depth", 4),),
    },
}
OWN = {"LightGBM": ("lambdarank", "rank_xendcg"), "XGBoost": ("rank:ndcg", "rank:map", "rank:pairwise")}


def variants(library: str) -> dict[str, Variant]:
    """Everything that can be compared on one booster, its own objective first."""
    step = {"LightGBM": GAP, "XGBoost": HALF}[library]
    prefix = {"LightGBM": "GAP", "XGBoost": "GAP, gradient x 0.5"}[library]
    found = {REFERENCE: Variant(own=OWN[library][0]), **VARIANTS}
    found |= {f"{prefix}, {name}": replace(step, nearness=nearness) for name, nearness in NEAR.items()}
    found |= {f"{prefix}, {name}": replace(step, trees=trees) for name, trees in TREES[library].items()}
    for own in OWN[library]:
        found |= {} if own == OWN[library][0] else {f"its {own}": Variant(own=own)}
        found |= {f"its {own}, {name}": Variant(own=own, trees=trees) for name, trees in TREES[library].items()}
    if library == "LightGBM":
        found |= {f"{name}, thresholds at random": replace(VARIANTS[name], trees=DRAWN) for name in ("nDCG", "eGAP")}
        found["GAP, gradient x 0.5, thresholds at random"] = replace(HALF, trees=DRAWN)
    return found


def scores(library: str, variant: Variant, gradients: Gradients, train: Part, vali: Part) -> Array:
    """Validation scores of the booster's default trees, as `variant` changes them."""
    trees = dict(variant.trees)
    if library == "LightGBM":
        quiet = {"verbose": -1, "num_threads": 1, "metric": "None"}
        rows = lightgbm.Dataset(train.X, train.y, group=train.sizes, params=quiet)
        length = train.sizes.mean()  # as the ranker has it: `min_sum_hessian_in_leaf` is then no obstacle

        def ours(preds: Array, _: Any) -> tuple[Array, Array]:
            grad, hess = gradients(preds)
            return grad * length, hess * length

        params = quiet | trees | {"objective": variant.own or ours}
        return np.asarray(lightgbm.train(params, rows, ROUNDS).predict(vali.X, raw_score=True, num_threads=1))
    label = (train.y > 0).astype(np.int32) if variant.own == "rank:map" else train.y
    matrix = xgboost.QuantileDMatrix(train.X, label, group=train.sizes, nthread=1)
    params = {"nthread": 1, "verbosity": 0, "base_score": 0.0, "disable_default_eval_metric": 1}
    params |= trees | ({"objective": variant.own} if variant.own else {})
    obj = None if variant.own else lambda preds, _: gradients(preds)
    return np.asarray(xgboost.train(params, matrix, ROUNDS, obj=obj).inplace_predict(vali.X, predict_type="margin"))


def summary() -> str:
    """Every variant that was compared: difference from the booster's own, standard error and number of folds."""
    found: dict[tuple[str, str], dict[str, list[tuple[range, int, float, float]]]] = {}
    for row in sorted(read(FILE), key=lambda row: -int(row["folds"])):
        first, last = map(int, row["seeds"].split("-"))
        seeds = range(first, last + 1)
        parts = found.setdefault((row["library"], row["variant"]), {}).setdefault(row["data"], [])
        if not any(set(seeds) & set(part[0]) for part in parts):  # the same seeds again say nothing new
            parts.append((seeds, int(row["folds"]), float(row["difference"]), float(row["standard error"])))
    columns = list(dict.fromkeys(data for cells in found.values() for data in cells))
    rows = []
    for (library, variant), cells in sorted(found.items()):
        if variant != REFERENCE:
            rows.append([library, variant, *(_cell(cells.get(data, [])) for data in columns)])
    return f"{len({row[1] for row in rows})} variants.\n\n" + table(["trees of", "gradients", *columns], rows)


def _cell(parts: list[tuple[range, int, float, float]]) -> str:
    folds = np.array([part[1] for part in parts])
    if not len(folds):
        return "—"
    mean = np.average([part[2] for part in parts], weights=folds)
    error = np.sqrt(np.sum([(part[1] * part[3]) ** 2 for part in parts])) / folds.sum()
    return f"{mean:+.4f} ± {error:.4f} ({folds.sum()})"


def main() -> None:
    """Compare and save."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=("LightGBM", "XGBoost"))
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help="all by default")
    arguments = parser.parse_args()
    compared = variants(arguments.library)
    chosen = list(dict.fromkeys([REFERENCE, *(arguments.variants or compared)]))
    start(FILE, HEAD)
    for source in [*sources(), Source("digits")]:
        found: dict[str, list[float]] = {name: [] for name in chosen}
        for seed in range(arguments.first, arguments.last + 1):
            splits = source.splits(seed)
            n_grades = max(int(part.y.max()) for split in splits for part in split)
            wanted = list(measures(n_grades).values())
            for split in splits:
                train, vali = (Part(part.X, part.y, part.qid) for part in split[:2])
                for name in chosen:
                    variant = compared[name]
                    gradients = variant.on(train.judged, n_grades)
                    values = vali.values(wanted, scores(arguments.library, variant, gradients, train, vali))
                    found[name].append(float(np.mean([v.mean() for v in values])))
        own = np.array(found[chosen[0]])
        for name, values in found.items():
            apart = np.array(values) - own
            error = apart.std(ddof=1) / np.sqrt(len(apart))
            seeds = f"{arguments.first}-{arguments.last}"
            numbers = (f"{v:.4f}" for v in (np.mean(values), apart.mean(), error))
            append(FILE, [[arguments.library, name, source.name, seeds, len(apart), *numbers]])


if __name__ == "__main__":
    main()
