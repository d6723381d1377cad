"""The trainings of the study, in the order of `PROTOCOL.md`: one task is one competitor on one fold, never trained twice.

Test values exist of the chosen candidates alone.
"""

import hashlib
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import xgboost
from lightgbm import LGBMRanker

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.studies import records
from benchmarks.studies.boosters import Competitor, Fold, Part, Predict, Trees, Watch, train
from benchmarks.studies.effectiveness.competitors import COMPETITORS, UNTUNED
from benchmarks.studies.effectiveness.data import FOLDS, Collection
from benchmarks.studies.effectiveness.results import CHOICES, KEY, MEASURES, Results, Task, rows_of
from benchmarks.studies.records import Row
from gapboost._boosters.ranker import GAPRanker
from gapboost._kernels import Array
from gapboost.comparison.estimators import configured
from gapboost.comparison.training import fit_ranker, predict, values_by_query

# What the trees may be; candidates are the same for every competitor.
LEAVES = (8, 16, 32, 64)
LEARNING_RATES = (0.02, 0.2)
FEATURES = (0.3, 1.0)
PENALTIES = (0.01, 10.0)
MIN_DATA = (5, 100)
MIN_HESSIANS = (0.01, 10.0)
# A training is judged after every fifth tree, and ends after fifty without a better value of either choice.
STEP = 5
PATIENCE = 50

# Each choice's test values of every measure, one list a seed; beside them, a task gives its rows of fits.
Tested = dict[str, list[list[Array]]]
Done = tuple[list[Row], Tested]
Fit = Callable[[Watch, int], Predict]  # what watches, and a seed


@dataclass(frozen=True)
class Plan:
    """How much is trained."""

    seeds: int = 3
    candidates: int = 16
    rounds: int = 1000
    folds: tuple[int, ...] = FOLDS


def measures(n_grades: int) -> dict[str, gb.Measure]:
    """What is tested, in the order of `MEASURES`."""
    g = (1 / n_grades,) * n_grades
    found = (gb.nDCG(k=10), gb.nDCG(), gb.AP(), gb.Precision(k=10), gb.GAP(g=g), gb.eGAP(g=g))
    return dict(zip(MEASURES, found, strict=True))


@cache
def fingerprint(library: str) -> str:
    """Changes with the gradients that ours hands to a booster, so that results of two versions never mix."""
    rng = np.random.default_rng(0)
    y, sizes, scores = rng.integers(3, size=60), [20, 20, 20], rng.standard_normal(60)
    found = []
    for measure in (gb.GAP(g=(0.5, 0.5)), gb.nDCG()):
        if library == "LightGBM":
            found += gapboost.lightgbm.objective(measure)(y, scores, None, np.array(sizes))
        else:
            rows = xgboost.DMatrix(np.zeros((60, 1)), y, group=sizes)
            found += gapboost.xgboost.objective(measure)(scores, rows)
    return hashlib.sha256(repr((np.array(found).round(4) + 0.0).tolist()).encode()).hexdigest()[:8]


def version(study: str, name: str) -> str:
    """Of what computes the gradients, "own" for a booster's objectives; for ours as they come, of their settings too."""
    if study not in ("untuned", "tuned"):
        return fingerprint("LightGBM")
    if name in UNTUNED:
        kind, given = UNTUNED[name]
        if not (isinstance(kind, type) and issubclass(kind, GAPRanker)):
            return "own"
        library, vendor = ("LightGBM", LGBMRanker) if issubclass(kind, LGBMRanker) else ("XGBoost", xgboost.XGBRanker)
        changed = repr(settings(kind(**given), vendor())).encode()
        return fingerprint(library) + hashlib.sha256(changed).hexdigest()[:4]
    ours = {c.name: c.library for c in COMPETITORS if c.ours}
    return fingerprint(ours[name]) if name in ours else "own"


def settings(ranker: GAPRanker, vendor: Any) -> list[tuple[str, Any]]:
    """What is trained for, and the booster's parameters whose default is another than the booster's own."""
    ours, theirs = ranker.get_params(), vendor.get_params()
    changed = {name for name in theirs if repr(ours[name]) != repr(theirs[name])}
    return [
        (name, ours[name]) for name in sorted(ours) if name in changed | {"measure", "g", "objective", "extra_trees"}
    ]


def candidates(data: str, fold: int, n: int) -> list[Trees]:
    """Trees of each candidate, drawn anew for every fold."""
    rng = np.random.default_rng([fold, *data.encode()])

    def log_uniform(low: float, high: float) -> float:
        return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")

    return [
        Trees(
            int(rng.choice(LEAVES)), log_uniform(*LEARNING_RATES), float(f"{rng.uniform(*FEATURES):.3g}"),
            log_uniform(*PENALTIES), round(log_uniform(*MIN_DATA)), log_uniform(*MIN_HESSIANS), bool(rng.choice(2)),
        )
        for _ in range(n)
    ]  # fmt: skip


@dataclass
class Best:
    """The best number of trees so far by one choice, and the means of all measures there."""

    value: float = -1.0
    trees: int = 0
    means: list[float] = field(default_factory=list)


class Course:
    """Watches one training: the best number of trees by each choice."""

    def __init__(self, part: Part, measures: Sequence[gb.Measure]) -> None:
        self.part, self.measures = part, measures
        self.trees = 0
        self.best = {choice: Best() for choice in CHOICES}

    def __call__(self, scores: Array) -> bool:
        """Whether to go on."""
        self.trees += 1
        if self.trees % STEP == 0:
            means = [float(values.mean()) for values in self.part.values(self.measures, scores)]
            for choice, best in self.best.items():
                value = float(np.mean(means)) if choice == "mean" else means[MEASURES.index(choice)]
                if value > best.value:
                    self.best[choice] = Best(value, self.trees, means)
        return self.trees - max(best.trees for best in self.best.values()) < PATIENCE


@dataclass(frozen=True)
class Trained:
    """One fit and how it went."""

    candidate: int
    seed: int
    setting: str
    predict: Predict
    best: dict[str, Best]
    seconds: float

    def row(self, chosen_by: Sequence[str]) -> Row:
        """For the file of fits."""
        first, mean = (self.best[choice] for choice in CHOICES)
        return {
            "candidate": self.candidate, "seed": self.seed, "setting": self.setting,
            "chosen by": " ".join(chosen_by), "trees by nDCG@10": first.trees,
            **{f"vali {m}": f"{value:.4f}" for m, value in zip(MEASURES, first.means, strict=True)},
            "trees by mean": mean.trees, "vali mean": f"{mean.value:.4f}", "seconds": f"{self.seconds:.1f}",
        }  # fmt: skip


def watched(fit: Fit, fold: Fold, candidate: int, setting: str, seed: int) -> Trained:
    """Train and watch."""
    course = Course(fold.vali, list(measures(fold.n_grades).values()))
    start = time.process_time()
    predict = fit(course, seed)
    return Trained(candidate, seed, setting, predict, course.best, time.process_time() - start)


def tested(fold: Fold, found: dict[str, list[Trained]]) -> Tested:
    """Test values of the fits of each choice, one list a seed."""
    wanted = list(measures(fold.n_grades).values())
    return {
        choice: [fold.test.values(wanted, t.predict(fold.test.X, t.best[choice].trees)) for t in fits]
        for choice, fits in found.items()
    }


def trained_candidate(competitor: Competitor, fold: Fold, rounds: int, number: int, trees: Trees, seed: int) -> Trained:
    """Train one candidate and watch."""

    def fit(watch: Watch, seed: int) -> Predict:
        return train(competitor, fold, trees, rounds, seed, watch)

    return watched(fit, fold, number, " ".join(f"{value:g}" for value in astuple(trees)), seed)


def tuned(task: Task, competitor: Competitor, fold: Fold, plan: Plan) -> Done:
    """Train every candidate, and each choice's best one again with further seeds; the rows of all, and the test values."""
    drawn = candidates(task.data, task.fold, plan.candidates)

    def fit(number: int, seed: int) -> Trained:
        return trained_candidate(competitor, fold, plan.rounds, number, drawn[number], seed)

    first = [fit(number, 1) for number in range(plan.candidates)]
    best = {choice: int(np.argmax([t.best[choice].value for t in first])) for choice in CHOICES}
    again = {n: [fit(n, seed) for seed in range(2, plan.seeds + 1)] for n in sorted(set(best.values()))}
    chosen_by = {n: [choice for choice in CHOICES if best[choice] == n] for n in range(plan.candidates)}
    all_fits = [*first, *(t for fits in again.values() for t in fits)]
    found = {choice: [first[n], *again[n]] for choice, n in best.items()}
    return [t.row(chosen_by[t.candidate]) for t in all_fits], tested(fold, found)


def untuned(task: Task, fold: Fold, plan: Plan) -> Done:
    """Train one estimator as it comes, without validation, and test it, as `compare_rankers` does."""
    wanted = measures(fold.n_grades)
    kind, given = UNTUNED[task.competitor]
    fits, of_seeds = [], []
    for seed in range(1, plan.seeds + 1):
        start = time.process_time()
        ranker = fit_ranker(configured(kind(**given), {}, seed), fold.train, None)
        validated, tested_values = (
            values_by_query(predict(ranker, part)[0], part, wanted) for part in (fold.vali, fold.test)
        )
        means = [float(np.mean(of_queries)) for of_queries in validated.values()]
        best = Best(float(np.mean(means)), 0, means)
        fits.append(Trained(0, seed, "", ranker.predict, dict.fromkeys(CHOICES, best), time.process_time() - start))
        of_seeds.append(list(tested_values.values()))
    return [fit.row(()) for fit in fits], {"none": of_seeds}


def main_tasks(sources: Sequence[Collection], fold: int) -> list[Task]:
    """Of one fold: estimators as they come, then every competitor; CatBoost's, the slowest, after the others."""
    names = [("untuned", name) for name in UNTUNED] + [("tuned", c.name) for c in COMPETITORS]
    names.sort(key=lambda item: item[1].startswith("CatBoost"))
    return [Task(study, source.name, fold, name, version(study, name)) for study, name in names for source in sources]


class Folds:
    """Folds of the collections, each binned once."""

    def __init__(self, sources: Sequence[Collection]) -> None:
        self.sources = {source.name: source for source in sources}
        self.at: dict[tuple[str, int], Fold] = {}

    def of(self, task: Task) -> Fold:
        """The one that a task is trained on; the folds with other numbers are forgotten."""
        key = (task.data, task.fold)
        if key not in self.at:
            self.at = {other: fold for other, fold in self.at.items() if other[1] == task.fold}
            source = self.sources[task.data]
            self.at[key] = Fold(source.splits[task.fold - 1], source.n_grades)
        return self.at[key]


def main_task(task: Task, fold: Fold, plan: Plan) -> Done:
    """Train a task of the main study."""
    if task.study == "untuned":
        return untuned(task, fold, plan)
    (competitor,) = (c for c in COMPETITORS if c.name == task.competitor)
    return tuned(task, competitor, fold, plan)


def finish(wanted: Sequence[Task], do: Callable[[Task], Done], results: Results, locks: Path) -> None:
    """Do the tasks that are not done; several processes may do so side by side."""

    def save(task: Task) -> list[Row]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits, tested = do(task)
        results.fits.add([{**dict(zip(KEY, task.key, strict=True)), **fit} for fit in fits])
        return rows_of(tested)

    results.fits.mend()
    records.finish(results.values, {task.key: partial(save, task) for task in wanted}, locks)
