"""The trainings: a task is one fold of one set, with all competitors of its study.

Test values exist of the chosen models alone.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from scipy.special import expit, logit

import gapboost as gb
from benchmarks.studies.boosters import BINS, Competitor, Fold, Part, Predict, Trees, train
from benchmarks.studies.classification.data import FOLDS, STUDIES, Made, Set, splits
from benchmarks.studies.effectiveness.runs import PATIENCE, STEP, candidates
from benchmarks.studies.records import Key, Records, Row, finish
from gapboost._kernels import Array

RESULTS = Records(Path(__file__).parent / "results" / "values.csv", ("study", "data", "fold"))
CANDIDATES = 4
ROUNDS = 300
MANY_ROWS = 50_000
MEASURES = ("AP", "GAP", "nDCG")

LOG_LOSS, AP = "LightGBM log loss", "LightGBM AP"
THEN, AGAIN = "LightGBM log loss, then AP", "LightGBM log loss, then log loss"
WEIGHTED, FOCAL = "LightGBM scale_pos_weight", "LightGBM focal loss"
XGB_LOG_LOSS, XGB_WEIGHTED, XGB_AP = "XGBoost log loss", "XGBoost scale_pos_weight", "XGBoost AP"
REGRESSION, GAP, NDCG = "LightGBM regression", "LightGBM GAP", "LightGBM nDCG"
COMPETITORS = {
    "binary": (LOG_LOSS, WEIGHTED, FOCAL, AP, THEN),
    "control": (LOG_LOSS, AGAIN),
    "graded": (REGRESSION, GAP, NDCG),
    "sizes": (LOG_LOSS, AP, THEN),
    "made": (LOG_LOSS, AP, THEN),
    "xgboost": (XGB_LOG_LOSS, XGB_WEIGHTED, XGB_AP),
}


@dataclass(frozen=True)
class Focal:
    """(1 - q)^gamma times the log loss, q the probability of the true class [lin2017], for LightGBM."""

    gamma: float

    def __call__(self, scores: Array, rows: Any) -> tuple[Array, Array]:
        """Gradient and hessian; the loss is not convex, so the hessian has a floor."""
        sign, gamma = np.where(rows.get_label() > 0, 1.0, -1.0), self.gamma
        q = np.clip(expit(sign * scores), 1e-15, 1 - 1e-15)
        p, log_q = 1 - q, np.log(q)
        grad = p**gamma * (gamma * q * log_q - p)
        hess = q * p**gamma * (p * (gamma * log_q + 2 * gamma + 1) - gamma**2 * q * log_q)
        return sign * grad, np.maximum(hess, 1e-2 * p * q)


class Started(Fold):
    """A fold whose trainings on LightGBM start at given scores of the training and the validation rows."""

    def __init__(self, fold: Fold, scores: Sequence[Array]) -> None:
        vars(self).update(vars(fold))
        quiet = {"verbose": -1, "num_threads": 1, "max_bin": BINS, "feature_pre_filter": False}
        (X, V), (y, v) = (fold.train.X, fold.vali.X), (fold.train.y, fold.vali.y)
        first = lightgbm.Dataset(X, y, group=[len(y)], init_score=scores[0], params=quiet)
        second = lightgbm.Dataset(V, v, group=[len(v)], init_score=scores[1], reference=first, params=quiet)
        vars(self)["lightgbm_rows"] = [first.construct(), second.construct()]


@dataclass(frozen=True)
class Extra:
    """What a candidate has beside its trees: positives weigh the ratio of the classes to this power; focal loss's gamma."""

    power: float
    gamma: float


class Course:
    """Watches one training: the number of trees that is best on the validation rows."""

    def __init__(self, vali: Part, measure: gb.Measure) -> None:
        self.vali, self.measure = vali, measure
        self.n, self.trees, self.value = 0, 0, -1.0

    def __call__(self, scores: Array) -> bool:
        """Whether to go on."""
        self.n += 1
        if self.n % STEP == 0:
            value = float(self.vali.values([self.measure], scores)[0].mean())
            if value > self.value:
                self.trees, self.value = self.n, value
        return self.n - self.trees < PATIENCE


@dataclass(frozen=True)
class Chosen:
    """The best candidate of a competitor."""

    candidate: int
    trees: int
    vali: float
    seconds: float
    scores: Callable[[Array], Array]


def competitor(name: str, share: float, extra: Extra) -> Competitor:
    """With the parameters that follow from the share of positives and a candidate."""
    library = name.split()[0]
    weight = {"scale_pos_weight": float(((1 - share) / share) ** extra.power)}
    # XGBoost's trainings start at 0 for ours; 0.5 is the same for its own.
    loss = {"objective": "binary"} if library == "LightGBM" else {"objective": "binary:logistic", "base_score": 0.5}
    own: dict[str, dict[str, Any]] = {
        LOG_LOSS: loss, AGAIN: loss, XGB_LOG_LOSS: loss, WEIGHTED: loss | weight, XGB_WEIGHTED: loss | weight,
        FOCAL: {"objective": Focal(extra.gamma)}, REGRESSION: {"objective": "regression"},
    }  # fmt: skip
    measure = {AP: "ap", THEN: "ap", XGB_AP: "ap", GAP: "gap", NDCG: "ndcg"}.get(name)
    return Competitor(name, library, own.get(name, {}), measure)


def trees_for(name: str, trees: Trees, n_positive: int) -> Trees:
    """XGBoost compares its floor and its penalty with sums of hessians.

    Those of one query are some units, whatever its rows; those of log loss are about the number of positives at the outset.
    LightGBM's gradients of ours are in units of rows already.
    """
    if name != XGB_AP:
        return trees
    return replace(trees, penalty=trees.penalty / n_positive, min_hessian=trees.min_hessian / n_positive)


def search(name: str, fold: Fold, key: tuple[str, int], base: Chosen | None) -> Chosen:
    """Train every candidate; the one that is best on the validation rows."""
    (data, number), share = key, float((fold.train.y > 0).mean())
    data = data.split(" ")[0]  # the same candidates for every size of a set
    rng = np.random.default_rng([2, number, *data.encode()])
    measure = measures(fold.n_grades)["AP" if fold.n_grades == 1 else "GAP"]
    if name == FOCAL:
        fold = Started(fold, [np.full(len(part.y), logit(share)) for part in (fold.train, fold.vali)])
    elif base is not None:
        fold = Started(fold, [base.scores(part.X) for part in (fold.train, fold.vali)])
    best, begin = Chosen(-1, 0, -1.0, 0.0, lambda X: X), time.process_time()
    for n, trees in enumerate(candidates(data, number, CANDIDATES)):
        extra = Extra(float(rng.choice((0.5, 1.0))), float(rng.choice((1.0, 2.0))))
        course = Course(fold.vali, measure)
        how = competitor(name, share, extra)
        predict = train(how, fold, trees_for(name, trees, int((fold.train.y > 0).sum())), ROUNDS, 1, course)
        if course.value > best.vali:
            best = Chosen(n, course.trees, course.value, 0.0, of_trees(predict, course.trees, base))
    return replace(best, seconds=time.process_time() - begin)


def of_trees(predict: Predict, n_trees: int, base: Chosen | None) -> Callable[[Array], Array]:
    """Scores by so many trees, on top of those that the training started at."""
    return lambda X: predict(X, n_trees) + (0.0 if base is None else base.scores(X))


def measures(n_grades: int) -> dict[str, gb.Measure]:
    """What is tested; AP is that of all rows above grade 0."""
    found = (gb.AP(), gb.GAP(g=(1 / n_grades,) * n_grades), gb.nDCG())
    return dict(zip(MEASURES, found, strict=True))


def rows_of(study: str, data: str, number: int, parts: Sequence[Part]) -> list[Row]:
    """Every competitor on one fold."""
    fold = Fold(parts, int(max(part.y.max() for part in parts)))
    counts = {"rows": len(fold.train.y), "positives": int((fold.train.y > 0).sum())}
    rows: list[Row] = []
    base = None
    for name in COMPETITORS[study]:
        best = search(name, fold, (data, number), base if name in (THEN, AGAIN) else None)
        base = best if name == LOG_LOSS else base
        tested = fold.test.values(list(measures(fold.n_grades).values()), best.scores(fold.test.X))
        values = dict(zip(MEASURES, (f"{float(value[0]):.5f}" for value in tested), strict=True))
        chosen = {"candidate": best.candidate, "trees": best.trees, "vali": f"{best.vali:.5f}"}
        rows.append({"competitor": name, **counts, **chosen, **values, "seconds": f"{best.seconds:.1f}"})
    return rows


def folds(source: Set | Made) -> tuple[int, ...]:
    """Those that are trained: of much training data the first alone."""
    return FOLDS if max(source.train_rows or 0, getattr(source, "n_rows", 0)) < MANY_ROWS else FOLDS[:1]


def run(root: Path, studies: Sequence[str], results: Records = RESULTS) -> None:
    """Train what is not trained yet, fold by fold."""

    @lru_cache(maxsize=1)
    def dealt(source: Set | Made) -> list[list[Part]]:
        return list(splits(*source.load(root), source.name, source.train_rows))

    def trained(study: str, source: Set | Made, k: int) -> list[Row]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return rows_of(study, source.name, k, dealt(source)[k - 1])

    tasks: dict[Key, Callable[[], list[Row]]] = {}
    for study in studies:
        for source in STUDIES[study]:
            if source.path(root).exists():
                tasks |= {(study, source.name, str(k)): partial(trained, study, source, k) for k in folds(source)}
            else:
                print(f"{source.name} is skipped: {source.path(root)} is missing")
    finish(results, tasks)
