"""Part 2: test quality of models that differ in the pairs of their gradients alone."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost

import gapboost as gb
import gapboost.lightgbm
from benchmarks.studies.boosters import Part
from benchmarks.studies.records import Records, Row, finish
from benchmarks.studies.truncation.gradients import RESULTS, Target
from benchmarks.studies.truncation.lists import REAL, ROBUST, WORLDS, Made, Real
from gapboost._kernels import Array

PATH, LONG_PATH = RESULTS / "quality.csv", RESULTS / "long_lists.csv"
SOURCES = [*(Real(name) for name in REAL), *(Made(n, r) for n in (1_000, 10_000) for r in (None, 20))]
TESTED = ("nDCG@10", "nDCG", "AP", "GAP")
LEAVES, RATE, BINS, ROUNDS = 15, 0.1, 63, 300
STEP, PATIENCE = 5, 50
KEY = ("source", "world", "competitor")
LONG_KEY = ("repeat", *KEY)
VALUES = ("trees", "validation", *TESTED, "seconds")
# More documents than any list has, and the most with which the boosters' own sums over all pairs are trained.
EVERY, LONGEST = 10**6, 600


@dataclass(frozen=True)
class Competitor:
    """A way to train.

    Attributes
    ----------
    name : str
    measure : str or None
        What ours trains for; None for a booster's own objective.
    truncation : int or None
        Of ours.
    library : {"LightGBM", "XGBoost"}
    own : dict
        The booster's own parameters.
    longest : int or None
        The documents of the longest list that it is trained on.
    """

    name: str
    measure: str | None = None
    truncation: int | None = None
    library: str = "LightGBM"
    own: dict[str, Any] = field(default_factory=dict)
    longest: int | None = None

    def takes(self, source: Made | Real) -> bool:
        """Whether it is trained on these lists."""
        if self.library == "XGBoost" and isinstance(source, Made):
            return False
        return self.longest is None or source.longest <= self.longest

    def objective(self, n_grades: int) -> gb.LambdaRank:
        """What ours trains by."""
        measure = gb.nDCG(k=10) if self.measure == "nDCG@10" else Target(str(self.measure), n_grades).measure
        return gb.LambdaRank(measure, truncation=self.truncation)


def lambdarank(truncation: int, norm: bool) -> dict[str, Any]:
    """LightGBM's own."""
    return {"objective": "lambdarank", "lambdarank_truncation_level": truncation, "lambdarank_norm": norm}


def rank_ndcg(method: str, pairs: int, score_normalization: bool) -> dict[str, Any]:
    """XGBoost's own."""
    return {
        "objective": "rank:ndcg",
        "lambdarank_pair_method": method,
        "lambdarank_num_pair_per_sample": pairs,
        "lambdarank_score_normalization": score_normalization,
    }


OURS = [
    Competitor(f"{measure} {'all' if top is None else f'top {top}'}", measure, top)
    for measure in ("nDCG", "AP", "GAP")
    for top in (10, 30, 100, None)
]
COMPETITORS = [
    *OURS,
    Competitor("nDCG@10 all", "nDCG@10"),
    Competitor("lambdarank top 30", own=lambdarank(30, True)),
    Competitor("lambdarank top 30 no norm", own=lambdarank(30, False)),
    Competitor("lambdarank all", own=lambdarank(EVERY, True), longest=LONGEST),
    Competitor("lambdarank all no norm", own=lambdarank(EVERY, False), longest=LONGEST),
    Competitor("rank:ndcg topk 32", library="XGBoost", own=rank_ndcg("topk", 32, True)),
    Competitor("rank:ndcg topk all", library="XGBoost", own=rank_ndcg("topk", EVERY, True), longest=LONGEST),
    Competitor(
        "rank:ndcg topk all no score normalization",
        library="XGBoost",
        own=rank_ndcg("topk", EVERY, False),
        longest=LONGEST,
    ),
    Competitor("rank:ndcg mean 1", library="XGBoost", own=rank_ndcg("mean", 1, True)),
]
# On long lists: R / 4, R and 4 R, where R is the mean number of relevant documents of a query of `ROBUST`.
LEVELS = (13, 51, 203)
LONG = [
    Competitor(f"{measure} {'all' if top is None else f'top {top}'}", measure, top)
    for measure in ("nDCG", "AP", "GAP")
    for top in (*LEVELS, None)
] + [Competitor(f"lambdarank top {top}", own=lambdarank(top, True)) for top in (30, 51, 203)]
REPEATS = tuple(Real(ROBUST, repeat) for repeat in (1, 2, 3))


class OnLightGBM:
    """A training on LightGBM, tree by tree."""

    def __init__(self, competitor: Competitor, train: lightgbm.Dataset, vali: lightgbm.Dataset, n_grades: int) -> None:
        self.gradients = None
        if competitor.measure is not None:
            self.gradients = gapboost.lightgbm.objective(competitor.objective(n_grades), n_jobs=1)
        params = {
            "num_leaves": LEAVES, "learning_rate": RATE, "max_bin": BINS, "feature_pre_filter": False, "force_col_wise": True,
            "metric": "None", "num_threads": 1, "verbose": -1, "seed": 0, "objective": "none", **competitor.own,
        }  # fmt: skip
        self.model = lightgbm.Booster(params, train)
        self.model.add_valid(vali, "validation")

    def grow(self) -> Array:
        """One tree more; the scores of the validation rows."""
        self.model.update(fobj=self.gradients)
        scores = []
        self.model.eval_valid(lambda preds, _: scores.append(preds) or [])
        return scores[0]

    def predict(self, X: Array, trees: int) -> Array:
        """Scores by so many trees."""
        return np.asarray(self.model.predict(X, num_iteration=trees, raw_score=True, num_threads=1))


class OnXGBoost:
    """A training on XGBoost, tree by tree."""

    def __init__(self, competitor: Competitor, train: xgboost.DMatrix, vali: xgboost.DMatrix) -> None:
        params = {
            "grow_policy": "lossguide", "max_depth": 0, "max_leaves": LEAVES, "learning_rate": RATE, "max_bin": BINS,
            "nthread": 1, "verbosity": 0, "seed": 0, **competitor.own,
        }  # fmt: skip
        self.model = xgboost.Booster(params, [train, vali])
        self.rows, self.trees = (train, vali), 0

    def grow(self) -> Array:
        """One tree more; the scores of the validation rows."""
        self.model.update(self.rows[0], self.trees)
        self.trees += 1
        return np.asarray(self.model.predict(self.rows[1], output_margin=True))

    def predict(self, X: Array, trees: int) -> Array:
        """Scores by so many trees."""
        return np.asarray(self.model.inplace_predict(X, iteration_range=(0, trees), predict_type="margin"))


class Fold:
    """The lists of one fold or world, binned once for each library."""

    def __init__(self, train: Part, vali: Part, test: Part) -> None:
        self.train, self.vali, self.test = train, vali, test
        self.n_grades = int(max(part.y.max() for part in (train, vali, test)))
        targets = [Target(name, self.n_grades).measure for name in ("nDCG", "AP", "GAP")]
        self.measures = [gb.nDCG(k=10), *targets]
        how = {"verbose": -1, "num_threads": 1, "max_bin": BINS, "feature_pre_filter": False}
        first = lightgbm.Dataset(train.X, train.y, group=train.sizes, params=how)
        second = lightgbm.Dataset(vali.X, vali.y, group=vali.sizes, reference=first, params=how)
        self.on_lightgbm = first.construct(), second.construct()
        matrix = xgboost.QuantileDMatrix(train.X, train.y, group=train.sizes, max_bin=BINS, nthread=1)
        other = xgboost.QuantileDMatrix(vali.X, vali.y, group=vali.sizes, max_bin=BINS, nthread=1, ref=matrix)
        self.on_xgboost = matrix, other

    def values(self, part: Part, scores: Array) -> Array:
        """Means over queries of `TESTED`."""
        return np.array([values.mean() for values in part.values(self.measures, scores)])

    def training(self, competitor: Competitor) -> OnLightGBM | OnXGBoost:
        """Before its first tree."""
        if competitor.library == "XGBoost":
            return OnXGBoost(competitor, *self.on_xgboost)
        return OnLightGBM(competitor, *self.on_lightgbm, self.n_grades)

    def trained(self, competitor: Competitor) -> Row:
        """The row of a competitor: the number of trees is the best for the validation queries."""
        begin = time.process_time()
        model = self.training(competitor)
        best, value = 0, -1.0
        for trees in range(1, ROUNDS + 1):
            scores = model.grow()
            if trees % STEP == 0:
                here = float(self.values(self.vali, scores).mean())
                if here > value:
                    best, value = trees, here
            if trees - best >= PATIENCE:
                break
        seconds = time.process_time() - begin
        tested = self.values(self.test, model.predict(self.test.X, best))
        return dict(zip(VALUES, [best, value, *tested.tolist(), f"{seconds:.1f}"], strict=True))


@lru_cache(maxsize=1)
def fold_of(source: Made | Real, world: int) -> Fold:
    """The last one is kept: its trainings follow each other."""
    return Fold(*source.trio(world))


def trained(source: Made | Real, world: int, competitor: Competitor) -> list[Row]:
    """The row of one training."""
    return [fold_of(source, world).trained(competitor)]


def run(sources: Sequence[Made | Real] = SOURCES, path: Path = PATH) -> None:
    """Train what is missing; collections that are not there are left out."""
    tasks = {
        (source.name, str(world), competitor.name): partial(trained, source, world, competitor)
        for source in sources
        if source.there
        for world in WORLDS
        for competitor in COMPETITORS
        if competitor.takes(source)
    }
    finish(Records(path, KEY), tasks)


def run_long(path: Path = LONG_PATH) -> None:
    """Train what is missing on the long lists."""
    tasks = {
        (str(source.repeat), source.name, str(fold), competitor.name): partial(trained, source, fold, competitor)
        for source in REPEATS
        if source.there
        for fold in WORLDS
        for competitor in LONG
    }
    finish(Records(path, LONG_KEY), tasks)
