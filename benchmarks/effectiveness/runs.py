"""The trainings of the study: one task is one competitor on one fold for one seed, and a finished task is never repeated.

A task appends the test values of its queries to one file and then one row a candidate to another; the rows of the second
file say that it is complete, so an interrupted study goes on where it stopped. Test values exist of the chosen candidate alone.
"""

import csv
import hashlib
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xgboost
from lightgbm import LGBMModel

import gapboost as gb
import gapboost.lightgbm
import gapboost.xgboost
from benchmarks.effectiveness.competitors import COMPETITORS, UNTUNED, Competitor, Fold, Trees, fit_untuned, train
from benchmarks.effectiveness.data import FOLDS, Part, Source
from gapboost._boosters.ranker import GAPRanker
from gapboost._data.queries import Array
from gapboost.model_selection import simplex_grid

RESULTS = Path(__file__).parent / "results"

# What the trees may be; each candidate is drawn from all combinations, the same ones for every competitor.
LEAVES = (4, 8, 16, 32)
LEARNING_RATES = (0.05, 0.1, 0.2)
FEATURES = (0.5, 1.0)
PENALTIES = (0.0, 1.0, 10.0)
DRAWN = (False, True)
# Trees after which a training without a better validation value ends.
PATIENCE = 40

TARGET = "nDCG@10"
MEASURES = ("nDCG@10", "nDCG", "AP", "P@10", "GAP", "eGAP")
KEY = ("data", "seed", "fold", "competitor", "gradients")
FITS = (*KEY, "candidate", "chosen", "trees", "setting", *(f"vali {m}" for m in MEASURES), "seconds")
QUERIES = (*KEY, "qid", *MEASURES)


@dataclass(frozen=True)
class Plan:
    """How much is trained."""

    seeds: int = 5
    candidates: int = 8
    rounds: int = 100
    folds: tuple[int, ...] = FOLDS


@dataclass(frozen=True)
class Task:
    """One competitor, by name, on one fold for one seed."""

    data: str
    seed: int
    fold: int
    competitor: str
    gradients: str

    @property
    def key(self) -> tuple[str, ...]:
        """As it is written."""
        return tuple(str(value) for value in astuple(self))


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


def version(name: str) -> str:
    """Of what computes the gradients, "own" for a booster's objectives; for ours as they come, of their parameters too."""
    if name in UNTUNED:
        kind, given = UNTUNED[name]
        if not (isinstance(kind, type) and issubclass(kind, GAPRanker)):
            return "own"
        parameters = repr(sorted(kind(**given).get_params().items())).encode()
        library = "LightGBM" if issubclass(kind, LGBMModel) else "XGBoost"
        return fingerprint(library) + hashlib.sha256(parameters).hexdigest()[:4]
    ours = {c.name: c.library for c in COMPETITORS if c.ours}
    return fingerprint(ours[name]) if name in ours else "own"


class Results:
    """Two files: one row a candidate, and one row a query of the chosen candidate."""

    def __init__(self, stem: str, directory: Path = RESULTS) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.fits, self.queries = directory / f"{stem}_fits.csv", directory / f"{stem}_queries.csv"
        for path, head in ((self.fits, FITS), (self.queries, QUERIES)):
            start(path, head)
        self.done = {tuple(row[name] for name in KEY) for row in read(self.fits) if row["chosen"] == "1"}

    def add(self, task: Task, fits: list[dict[str, Any]], qid: Array, values: Sequence[Array]) -> None:
        """Save a finished task; the row of the chosen candidate is the last to be written."""
        append(
            self.queries,
            [[*task.key, q, *(f"{v:.6f}" for v in row)] for q, *row in zip(qid.tolist(), *values, strict=True)],
        )
        ordered = sorted(fits, key=lambda fit: fit["chosen"])
        append(self.fits, [[*task.key, *(fit[name] for name in FITS[len(KEY) :])] for fit in ordered])
        self.done.add(task.key)


def start(path: Path, head: Sequence[str]) -> None:
    """A file with its head line, without the piece of a row that an interrupt may have left at the end."""
    whole = path.read_bytes() if path.exists() else b""
    if not whole:
        append(path, [head])
    elif not whole.endswith(b"\n"):
        path.write_bytes(whole[: whole.rfind(b"\n") + 1])


def append(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows at the end in one piece."""
    text = "".join(line(row) for row in rows)
    with path.open("a", encoding="utf-8", newline="") as stream:
        stream.write(text)


def line(row: Sequence[Any]) -> str:
    """One row of a CSV file."""
    return ",".join(f'"{value}"' if "," in str(value) else str(value) for value in row) + "\n"


def read(path: Path) -> Iterator[dict[str, str]]:
    """Whole rows of a file; one cut off by an interrupt is left out."""
    with path.open(encoding="utf-8", newline="") as stream:
        yield from (row for row in csv.DictReader(stream) if None not in row and None not in row.values())


def candidates(data: str, seed: int, n: int, n_grades: int) -> list[tuple[Trees, tuple[float, ...]]]:
    """Trees of each candidate, and the g that it brings where g is chosen: uniform first, then drawn from a grid."""
    rng = np.random.default_rng([seed, *data.encode()])
    uniform = (1 / n_grades,) * n_grades
    grid = simplex_grid(n_grades, 10 if n_grades == 2 else 5)
    found: list[tuple[Trees, tuple[float, ...]]] = []
    while len(found) < n:
        trees = Trees(
            int(rng.choice(LEAVES)), float(rng.choice(LEARNING_RATES)), float(rng.choice(FEATURES)),
            float(rng.choice(PENALTIES)), bool(rng.choice(DRAWN)),
        )  # fmt: skip
        g = grid[rng.integers(len(grid))] if found else uniform
        if trees not in [t for t, _ in found]:
            found.append((trees, g))
    return found


class Course:
    """Watches one training: the best number of trees by the target, and what else was true there."""

    def __init__(self, part: Part, measures: Sequence[gb.Measure]) -> None:
        self.part, self.measures = part, measures
        self.round, self.best, self.trees = 0, -1.0, 0
        self.scores = np.empty(0)

    def __call__(self, scores: Array) -> bool:
        """Whether to go on."""
        self.round += 1
        value = float(self.part.values(self.measures[:1], scores)[0].mean())
        if value > self.best:
            self.best, self.trees, self.scores = value, self.round, np.array(scores, dtype=np.float64)
        return self.round - self.trees < PATIENCE

    def values(self) -> list[float]:
        """Validation means at the best number of trees."""
        return [float(v.mean()) for v in self.part.values(self.measures, self.scores)]


def tuned(task: Task, competitor: Competitor, fold: Fold, plan: Plan) -> tuple[list[dict[str, Any]], list[Array]]:
    """Train every candidate; the rows of all, and the test values of the best one on validation."""
    wanted = list(measures(fold.n_grades).values())
    fits, models = [], []
    for number, (trees, g) in enumerate(candidates(task.data, task.seed, plan.candidates, fold.n_grades)):
        start = time.process_time()
        course = Course(fold.vali, wanted)
        chosen_g = g if competitor.g == "chosen" else None
        predict = train(competitor, fold, trees, plan.rounds, task.seed, course, chosen_g)
        setting = " ".join(f"{v:g}" for v in (*astuple(trees), *(chosen_g or ())))
        fits.append(
            {"candidate": number, "chosen": 0, "trees": course.trees, "setting": setting,
             **dict(zip(FITS[9:15], (f"{v:.6f}" for v in course.values()), strict=True)),
             "seconds": f"{time.process_time() - start:.2f}"}
        )  # fmt: skip
        models.append((course.best, predict, course.trees))
    best = int(np.argmax([value for value, *_ in models]))
    fits[best]["chosen"] = 1
    _, predict, trees = models[best]
    return fits, fold.test.values(wanted, predict(fold.test.X, trees))


def untuned(task: Task, fold: Fold) -> tuple[list[dict[str, Any]], list[Array]]:
    """Train one estimator as it is; validation values serve the choice of defaults, never of a model."""
    wanted = list(measures(fold.n_grades).values())
    start = time.process_time()
    ranker = fit_untuned(task.competitor, fold.train, task.seed)
    vali = [f"{v.mean():.6f}" for v in fold.vali.values(wanted, ranker.predict(fold.vali.X))]
    fit = {"candidate": 0, "chosen": 1, "trees": 100, "setting": "", **dict(zip(FITS[9:15], vali, strict=True))}
    seconds = f"{time.process_time() - start:.2f}"
    return [{**fit, "seconds": seconds}], fold.test.values(wanted, ranker.predict(fold.test.X))


def tasks(names: Sequence[str], sources: Sequence[Source], plan: Plan) -> list[Task]:
    """All tasks, seed by seed."""
    return [
        Task(source.name, seed, fold, name, version(name))
        for seed in range(1, plan.seeds + 1)
        for source in sources
        for fold in plan.folds
        for name in names
    ]


def run(stem: str, names: Sequence[str], sources: Sequence[Source], plan: Plan, results: Results) -> None:
    """Do the tasks that are not done."""
    from tqdm.auto import tqdm

    by_name = {c.name: c for c in COMPETITORS}
    places = {source.name: source for source in sources}
    left = [task for task in tasks(names, sources, plan) if task.key not in results.done]
    at, fold = None, None
    for task in tqdm(left, desc=stem, unit="task", mininterval=5):
        if at != (task.data, task.seed, task.fold):
            at = (task.data, task.seed, task.fold)
            splits = places[task.data].splits(task.seed)
            n_grades = max(int(part.y.max()) for split in splits for part in split)
            fold = Fold(splits[task.fold - 1], n_grades)
        assert fold is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if task.competitor in UNTUNED:
                fits, values = untuned(task, fold)
            else:
                fits, values = tuned(task, by_name[task.competitor], fold, plan)
        results.add(task, fits, fold.test.judged.queries.ids, values)
