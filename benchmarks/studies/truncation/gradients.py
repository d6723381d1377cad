"""Part 1: the gradients of selected pairs beside the exact gradient over all pairs, list by list."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np

import gapboost as gb
import gapboost.lightgbm
from benchmarks.studies.boosters import Part
from benchmarks.studies.records import Records, Row, finish
from benchmarks.studies.truncation.boosters import (
    Sums,
    Swaps,
    different_pairs,
    drawn_pairs,
    gap_swaps,
    ndcg_swaps,
    pair_sums,
    top_pairs,
)
from benchmarks.studies.truncation.lists import REAL, WORLDS, Made, Real
from gapboost._kernels import Array

RESULTS = Path(__file__).parent / "results"
PATH, DESCRIBED = RESULTS / "gradients.csv", RESULTS / "lists.csv"
LENGTHS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
RELEVANT = (None, 10, 100)
SOURCES = [Made(n, r) for n in LENGTHS for r in RELEVANT if 2 * (r or 0) <= n] + [Real(name) for name in REAL]
MEASURES = ("nDCG", "AP", "GAP")
STAGES = ("unlearnt", "half learnt", "learnt")
ROUNDS = 100
# After these trees the measure is looked at.
WATCHED = (*range(1, 10), *range(10, ROUNDS + 1, 5))
TOPS = (10, 30, 100)
# Pairs a document, and draws of them.
MEANS = {1: 4, 32: 2}
ALL = "all"
SELECTIONS = (*(f"top {top}" for top in TOPS), *(f"mean {k}" for k in MEANS), ALL)
MOST_PAIRS = 5_000_000
MOST_LISTS, MOST_REAL_LISTS = 20, 60
BINS = 16
# Far below a score's digits that matter: documents with equal scores keep the order that they are ranked in.
TIE = 1e-12

KEY = ("source", "world", "measure")
VALUES = (
    "stage", "pairs", "divided", "trees", "lists", "cosine", "cosine with divided", "cosine of trees", "noise", "signal", "size",
    "cosine of the expectation", "chance",
)  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A measure, for collections of so many positive grades."""

    name: str
    n_grades: int

    @property
    def g(self) -> tuple[float, ...]:
        """Threshold probabilities: AP is GAP of threshold 1."""
        return (1.0, *[0.0] * (self.n_grades - 1)) if self.name == "AP" else (1 / self.n_grades,) * self.n_grades

    @property
    def measure(self) -> gb.Measure:
        """As gapboost has it."""
        return {"nDCG": gb.nDCG(), "AP": gb.AP(), "GAP": gb.GAP(g=self.g)}[self.name]

    def swaps(self, ranked: Array) -> Swaps:
        """Of one list."""
        return ndcg_swaps(ranked) if self.name == "nDCG" else gap_swaps(ranked, self.g)


def stages(part: Part, measure: gb.Measure) -> dict[str, tuple[int, Array]]:
    """Trees and scores of a training on these very lists: before it, half-way in the measure, and at its end."""
    values = {0: part.values([measure], np.zeros(len(part.y)))[0].mean()}
    tree = itertools.count(1)

    def watch(scores: Array, _: Any) -> list[Any]:
        trees = next(tree)
        if trees in WATCHED:
            values[trees] = part.values([measure], scores)[0].mean()
        return []

    params = {
        "objective": gapboost.lightgbm.objective(gb.LambdaRank(measure), n_jobs=1),
        "metric": "None", "verbose": -1, "num_threads": 1, "seed": 0,
    }  # fmt: skip
    data = lightgbm.Dataset(part.X, part.y, group=part.sizes)
    model = lightgbm.train(params, data, ROUNDS, valid_sets=[data], feval=watch)
    middle = (values[0] + values[ROUNDS]) / 2
    half = next(trees for trees, value in values.items() if trees and value >= middle)
    return {
        stage: (trees, model.predict(part.X, num_iteration=trees, num_threads=1) if trees else np.zeros(len(part.y)))
        for stage, trees in zip(STAGES, (0, half, ROUNDS), strict=True)
    }


class Ranked:
    """One list in order of its scores, and the exact gradient over all of its pairs."""

    def __init__(self, y: Array, scores: Array, target: Target) -> None:
        self.order = np.argsort(-scores, kind="stable")
        self.grades, self.scores = y[self.order], scores[self.order]
        self.swaps, self.n = target.swaps(self.grades), len(y)
        strict = self.scores - TIE * np.arange(self.n)
        self.exact, _ = gb.LambdaRank(target.measure, normalize=False).gradients(self.grades, strict, n_jobs=1)

    def selected(self, rng: np.random.Generator) -> Iterator[tuple[str, list[tuple[Sums, Sums]]]]:
        """Each selection's sums, plain and divided; of drawn pairs several draws."""
        both, begin = pair_sums(self.swaps, self.scores, []), 0
        for top in TOPS:
            band = pair_sums(self.swaps, self.scores, top_pairs(self.n, begin, top))
            both, begin = (both[0] + band[0], both[1] + band[1]), top
            yield f"top {top}", [both]
        for k, draws in MEANS.items():
            drawn = [drawn_pairs(self.grades, k, lambda n, size: rng.integers(n, size=size)) for _ in range(draws)]
            yield f"mean {k}", [pair_sums(self.swaps, self.scores, pairs) for pairs in drawn]

    def divided(self) -> Sums | None:
        """Over all pairs, divided, where those of different grades are not too many."""
        counts = np.bincount(self.grades)
        few = (self.n**2 - (counts**2).sum()) / 2 <= MOST_PAIRS
        return pair_sums(self.swaps, self.scores, different_pairs(self.grades))[1] if few else None


def cosine(a: Array, b: Array) -> float:
    """Of the angle between two vectors; 0 where one is."""
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norm if norm else 0.0


def bins(X: Array) -> Array:
    """For each feature and row the number of its bin among those of all features, int of shape (n_features, N)."""
    shares = np.arange(1, BINS) / BINS
    return np.array([f * BINS + np.searchsorted(np.quantile(x, shares), x) for f, x in enumerate(X.T)])


def seen_by_trees(codes: Array, rows: Array, gradient: Array) -> Array:
    """The sums of a gradient in all bins of all features; the rows of the list in the order of the gradient."""
    repeated = np.broadcast_to(gradient, (len(codes), len(gradient)))
    return np.bincount(codes[:, rows].ravel(), repeated.ravel(), minlength=BINS * len(codes))


class Gathered:
    """What one selection, plain or divided, is beside the exact gradient, over lists."""

    def __init__(self) -> None:
        self.cosines: list[tuple[float, float]] = []
        self.seen: list[Array] = []
        self.sizes: list[float] = []
        self.products: list[tuple[float, float, float]] = []

    def add(self, draws: list[Sums], exact: Array, divided: Array | None, seen: Array) -> None:
        """One list, the first draw of which is what a booster would have."""
        gradients = np.array([draw.gradient for draw in draws])
        self.cosines.append((cosine(gradients[0], exact), np.nan if divided is None else cosine(gradients[0], divided)))
        self.seen.append(seen)
        self.sizes.append(draws[0].size)
        n, squares, total = len(draws), (gradients**2).sum(axis=1), gradients.sum(axis=0)
        if n > 1:
            independent = (total @ total - squares.sum()) / (n * (n - 1))
            self.products.append(np.array((total @ exact / n, independent, squares.mean())) / (exact @ exact))

    def row(self, exact: Array) -> list[str]:
        """Means over lists, in the order of `VALUES`; `exact` is what trees see of all lists by the exact gradient."""
        seen, n = np.array(self.seen), len(self.seen)
        noise = seen.var(axis=0, ddof=1).sum()
        signal = (seen.mean(axis=0) ** 2).sum() - noise / n
        along, independent, squares = np.mean(self.products, axis=0) if self.products else (np.nan,) * 3
        expected = along / np.sqrt(independent) if independent > 0 else np.nan
        found = (
            *np.mean(self.cosines, axis=0), cosine(seen.sum(axis=0), exact), noise, signal, np.mean(self.sizes),
            expected, 1 - independent / squares,
        )  # fmt: skip
        return [str(n), *("" if np.isnan(value) else f"{value:.5g}" for value in found)]


def lists_of(part: Part, most: int) -> Iterator[tuple[int, Array]]:
    """First row and grades of the first lists with documents of different grades."""
    begins = np.cumsum(part.sizes) - part.sizes
    found = ((int(b), part.y[b : b + n]) for b, n in zip(begins, part.sizes, strict=True))
    return itertools.islice(((b, y) for b, y in found if (y != y[0]).any()), most)


def stage_rows(part: Part, target: Target, codes: Array, scores: Array, most: int) -> Iterator[list[str]]:
    """The values of every selection, plain and divided, at these scores."""
    rng = np.random.default_rng(0)
    gathered = {(selection, kind): Gathered() for selection in SELECTIONS for kind in (0, 1)}
    for begin, y in lists_of(part, most):
        ranked = Ranked(y, scores[begin : begin + len(y)], target)
        divided = ranked.divided()
        exact = Sums(ranked.exact, ranked.exact, np.nan)
        for selection, draws in [*ranked.selected(rng), (ALL, [(exact, divided)])]:
            for kind in (0, 1):
                if draws[0][kind] is not None:
                    sums = [draw[kind] for draw in draws]
                    seen = seen_by_trees(codes, begin + ranked.order, sums[0].gradient)
                    gathered[selection, kind].add(
                        sums, exact.gradient, None if divided is None else divided.gradient, seen
                    )
    of_all = np.sum(gathered[ALL, 0].seen, axis=0)
    for (selection, kind), values in gathered.items():
        yield [selection, str(kind), *(values.row(of_all) if values.seen else [""] * (len(VALUES) - 4))]


def rows_of(source: Made | Real, world: int, name: str) -> list[Row]:
    """The rows of one source, world and measure."""
    part = source.training(world)
    target = Target(name, int(part.y.max()))
    most = MOST_LISTS if isinstance(source, Made) else MOST_REAL_LISTS
    codes, rows = bins(part.X), []
    for stage, (trees, scores) in stages(part, target.measure).items():
        for selection, kind, *values in stage_rows(part, target, codes, scores, most):
            rows.append(dict(zip(VALUES, [stage, selection, kind, trees, *values], strict=True)))
    return rows


def described(source: Real) -> list[Row]:
    """How long real lists are and how many relevant documents they hold, of those with one."""
    parts = [source.trio(fold)[2] for fold in WORLDS]
    counts = np.array([(len(y), (y > 0).sum()) for part in parts for _, y in lists_of(part, len(part.y))])
    documents, relevant = counts.mean(axis=0).round(1).tolist()
    longest, most = np.median(counts, axis=0).tolist()
    return [
        {
            "lists": len(counts),
            "documents": documents,
            "relevant": relevant,
            "documents median": longest,
            "relevant median": most,
        }
    ]


def run(sources: Sequence[Made | Real] = SOURCES, path: Path = PATH, lists: Path = DESCRIBED) -> None:
    """Compute what is missing; collections that are not there are left out."""
    there = [source for source in sources if source.there]
    real = {(s.name,): partial(described, s) for s in there if isinstance(s, Real)}
    finish(Records(lists, ("source",)), real)
    tasks = {(s.name, str(w), name): partial(rows_of, s, w, name) for s in there for w in WORLDS for name in MEASURES}
    finish(Records(path, KEY), tasks)
