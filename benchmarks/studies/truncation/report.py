# ruff: noqa: E501  (sentences of the page)
"""`benchmarks/TRUNCATION.md` and its figure, from the saved results alone."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.studies.pictures import line, panels, save
from benchmarks.studies.records import Records
from benchmarks.studies.tables import FIGURES, folded, interval_text, p_text, picture, signed, table
from benchmarks.studies.truncation import gradients, trainings
from benchmarks.studies.truncation.gradients import ALL, LENGTHS, MEASURES, TOPS
from benchmarks.studies.truncation.lists import REAL, ROBUST, WORLDS, Made, Real
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, holm, independent

PAGE = Path(__file__).parents[2] / "TRUNCATION.md"
UNLEARNT, HALF, LEARNT = "unlearnt", "half learnt", "learnt"
# A cosine that is worth having.
ENOUGH = 0.95
REALS = [Real(name) for name in REAL]
MEAN = "mean"
COLUMNS = (*trainings.TESTED, MEAN)


class Gradients:
    """Part 1: values of each source, measure, stage, pairs and division, one a world."""

    def __init__(self, path: Path = gradients.PATH) -> None:
        self.rows: dict[tuple[str, ...], dict[str, list[float]]] = {}
        for row in Records(path, gradients.KEY):
            key = tuple(row[name] for name in ("source", "measure", "stage", "pairs", "divided"))
            cell = self.rows.setdefault(key, {})
            for name in gradients.VALUES[3:]:
                cell.setdefault(name, []).append(float(row[name] or "nan"))

    def worlds(
        self, source: Made | Real, measure: str, pairs: str, column: str = "cosine", stage: str = HALF, divided: int = 0
    ) -> Array:
        """Of one cell; empty where it is not computed, or not all of it."""
        found = np.array(self.rows.get((source.name, measure, stage, pairs, str(divided)), {}).get(column, []))
        return found if len(found) == len(WORLDS) and not np.isnan(found).any() else np.empty(0)

    def cosine(self, *cell: Any, **options: Any) -> str:
        """The mean over worlds of one cell of a table."""
        found = self.worlds(*cell, **options)
        return f"{found.mean():.2f}" if len(found) else ""

    def lists_for_one(self, source: Made | Real, measure: str, pairs: str) -> Estimate:
        """The logarithm of how many lists are worth one with all pairs: noise over signal of what trees see, jackknifed over worlds."""
        noise, signal, of_all, signal_of_all = (
            self.worlds(source, measure, p, column) for p in (pairs, ALL) for column in ("noise", "signal")
        )

        def logarithm(left_out: int | None) -> float:
            kept = np.arange(len(noise)) != left_out
            return float(
                np.log(noise[kept].sum() / signal[kept].sum() / of_all[kept].sum() * signal_of_all[kept].sum())
            )

        n, whole = len(noise), logarithm(None)
        return independent(np.array([n * whole - (n - 1) * logarithm(world) for world in range(n)]))


@dataclass(frozen=True, eq=False)
class Fit:
    """A monotone fit of the cosine of the T best ranks, at scores half learnt, by a ratio.

    Attributes
    ----------
    ratios, cosines : float64 ndarrays
        Of made lists, one for each list and T, by rising ratio.
    fitted : float64 ndarray
        By isotonic regression.
    """

    ratios: Array
    cosines: Array
    fitted: Array

    @property
    def explained(self) -> float:
        """Share of the variance, R²."""
        return float(1 - ((self.cosines - self.fitted) ** 2).sum() / ((self.cosines - self.cosines.mean()) ** 2).sum())

    @property
    def enough(self) -> float:
        """The least ratio from which the fit is at least `ENOUGH`."""
        return float(min(self.ratios[self.fitted >= ENOUGH], default=np.inf))

    def at(self, ratio: float) -> float:
        """What it says of a ratio."""
        return float(np.interp(np.log(ratio), np.log(self.ratios), self.fitted))


def fit(found: Gradients, measure: str, by: Callable[[Made], float]) -> Fit:
    """By T over a number of the made lists, of 100 documents or more."""
    cells = sorted(
        (top / by(source), float(found.worlds(source, measure, f"top {top}").mean()))
        for source in gradients.SOURCES
        if isinstance(source, Made) and source.length >= 100
        for top in TOPS
    )
    ratios, cosines = np.array(cells).T
    return Fit(ratios, cosines, IsotonicRegression().fit_transform(np.log(ratios), cosines))


def n_relevant(source: Made) -> float:
    """R."""
    return source.relevant or source.length // 2


class Quality:
    """Part 2: test values of each source and competitor, one a fold or world."""

    def __init__(self, path: Path = trainings.PATH) -> None:
        self.values: dict[tuple[str, str], dict[int, Array]] = {}
        for row in Records(path, trainings.KEY):
            tested = [float(row[name]) for name in trainings.TESTED]
            cell = self.values.setdefault((row["source"], row["competitor"]), {})
            cell[int(row["world"])] = np.array([*tested, np.mean(tested)])

    def differences(
        self, source: Made | Real, first: str, second: str, column: str = MEAN, least: int = len(WORLDS)
    ) -> Array:
        """First minus second in each fold; empty where both are trained in fewer than `least`."""
        a, b = (self.values.get((source.name, name), {}) for name in (first, second))
        apart = [(a[world] - b[world])[COLUMNS.index(column)] for world in WORLDS if world in a and world in b]
        return np.array(apart) if len(apart) >= least else np.empty(0)

    def of(self, source: Made | Real, first: str, second: str, column: str = MEAN) -> str:
        """The mean difference on one collection, as a cell of a table."""
        found = self.differences(source, first, second, column)
        return signed(float(found.mean()), 3) if len(found) else ""

    def over(self, sources: Sequence[Made | Real], first: str, second: str, column: str = MEAN) -> Estimate:
        """Over collections, each weighing the same; the variance is that from within collections."""
        parts = [independent(d) for s in sources if len(d := self.differences(s, first, second, column))]
        error = float(np.sqrt(sum(one.error**2 for one in parts))) / len(parts)
        return Estimate(float(np.mean([one.mean for one in parts])), error, sum(one.freedom for one in parts))


def losses(quality: Quality, source: Made | Real) -> dict[str, Estimate]:
    """Of each measure, T = 30 minus all pairs on one collection."""
    return {m: independent(quality.differences(source, f"{m} top 30", f"{m} all")) for m in MEASURES}


# ------------------------------------------------------------------------------------------------------------ tables

SHOWN = [Made(n, r) for n in (100, 1_000, 10_000, 100_000) for r in (None, 10) if 2 * (r or 0) <= n]
Lists = Mapping[str, Mapping[str, str]]


def number(value: float) -> str:
    """A whole number with spaces between thousands."""
    return f"{value:,.0f}".replace(",", " ")


def size(source: Made | Real, lists: Lists) -> tuple[float, float]:
    """Documents and relevant documents of a list, in the mean."""
    if isinstance(source, Made):
        return source.length, n_relevant(source)
    return float(lists[source.name]["documents"]), float(lists[source.name]["relevant"])


def label(source: Made | Real) -> str:
    """As tables call it."""
    return "made" if isinstance(source, Made) else f"`{source.name}`"


def of_lists(found: Gradients, quality: Quality, lists: Lists) -> str:
    """Cosines at scores half learnt, and what T = 30 does to test quality."""
    rows = []
    for source in (*SHOWN, *REALS):
        documents, relevant = map(number, size(source, lists))
        cosines = [", ".join(found.cosine(source, m, pairs) for m in MEASURES) for pairs in ("top 30", "mean 1")]
        tested = [quality.of(source, f"{m} top 30", f"{m} all") for m in MEASURES]
        rows.append([label(source), f"{relevant} of {documents}", *cosines, ", ".join(filter(None, tested))])
    return table(["lists", "relevant", "T = 30", "one drawn", "test quality, T = 30 minus all pairs"], rows)


def of_effects(found: Gradients) -> str:
    """Selection, division, and both, for T = 30."""
    plans = (
        ("selection", ("top 30", "cosine"), 0),
        ("division", (ALL, "cosine"), 1),
        ("both", ("top 30", "cosine"), 1),
        ("selection, both divided", ("top 30", "cosine with divided"), 1),
    )
    rows = [
        [
            source.name,
            stage,
            *(
                found.cosine(source, measure, *of, stage=stage, divided=divided)
                for measure in ("nDCG", "GAP")
                for _, of, divided in plans
            ),
        ]
        for source in (*(s for s in SHOWN if s.length <= 10_000), *REALS)
        for stage in (HALF, LEARNT)
    ]
    head = ["lists", "scores", *(f"{measure}: {name}" for measure in ("nDCG", "GAP") for name, *_ in plans)]
    return table(head, rows)


def trained_lists(found: Quality) -> list[Made | Real]:
    """Collections and made lists of which ours is trained in all folds."""
    pairs = [(f"{measure} top 30", f"{measure} all") for measure in MEASURES]
    return [s for s in trainings.SOURCES if all(len(found.differences(s, *pair)) for pair in pairs)]


def of_quality(found: Quality) -> str:
    """Ours: selected pairs minus all pairs in the mean of four measures, and nDCG@10 for T = 30."""
    rows = []
    for source in trained_lists(found):
        for measure in MEASURES:
            both = [found.differences(source, f"{measure} top {top}", f"{measure} all") for top in TOPS]
            every = [signed(float(one.mean()), 3) if len(one) else "" for one in both]
            early = found.of(source, f"{measure} top 30", f"{measure} all", "nDCG@10")
            rows.append([source.name, str(len(both[1])), measure, *every, early])
    return table(["lists", "folds", "trained for", *(f"T = {top}" for top in TOPS), "T = 30, in nDCG@10"], rows)


BESIDE = (
    ("lambdarank top 30", "lambdarank all"),
    ("lambdarank top 30 no norm", "lambdarank all no norm"),
    ("lambdarank top 30", "lambdarank top 30 no norm"),
    ("lambdarank top 30", "nDCG all"),
    ("nDCG@10 all", "nDCG all"),
    ("rank:ndcg topk 32", "rank:ndcg topk all"),
    ("rank:ndcg topk all", "rank:ndcg topk all no score normalization"),
    ("rank:ndcg topk 32", "rank:ndcg mean 1"),
)


def of_boosters(found: Quality) -> str:
    """The boosters' own."""
    rows = [
        [f"`{first}`", f"`{second}`", column, *(found.of(source, first, second, column) for source in REALS)]
        for first, second in BESIDE
        for column in (MEAN, "nDCG@10")
    ]
    return table(["trained by", "minus", "in", *REAL], rows)


# ------------------------------------------------------------------------------------------------------------ figure


def axis_label(source: Made | Real) -> str:
    """Of made lists, how many documents are relevant."""
    return f"made: {n_relevant(source):.0f} of {number(source.length)}" if isinstance(source, Made) else source.name


def draw(found: Gradients, quality: Quality) -> Any:
    """Cosine against T / R; lists worth one against length; test quality by collection."""
    figure, (left, middle, right) = panels(3, 4.2)
    for k, measure in enumerate(MEASURES):
        style, one = line(k), fit(found, measure, n_relevant)
        left.plot(one.ratios, one.cosines, **(style | {"linestyle": "", "alpha": 0.5}))
        left.plot(one.ratios, one.fitted, label=measure, **line(k, marked=False))
    left.set(xscale="log", xlabel="T / relevant documents of the list", ylabel="cosine with the gradient of all pairs")
    left.set_title("direction of a list's gradient, T best ranks", fontsize=10)
    left.legend(frameon=False)
    for k, pairs in enumerate(("top 10", "top 30", "top 100", "mean 1")):
        worth = [np.exp(found.lists_for_one(Made(n, None), "GAP", pairs).mean) for n in LENGTHS]
        middle.plot(
            LENGTHS, worth, label={"mean 1": "one drawn a document"}.get(pairs, pairs.replace("top", "T =")), **line(k)
        )
    middle.set(
        xscale="log",
        yscale="log",
        xlabel="documents, half of them relevant",
        ylabel="lists that are worth one of all pairs",
    )
    middle.set_title("noise of what trees see, GAP", fontsize=10)
    middle.legend(frameon=False)
    there = trained_lists(quality)
    lost = [losses(quality, source) for source in there]
    for k, measure in enumerate(MEASURES):
        style = line(k) | {"linestyle": ""}
        for at, of_source in enumerate(lost):
            loss = of_source[measure]
            half = loss.interval()[1] - loss.mean
            right.errorbar(
                loss.mean, at + (k - 1) / 5, xerr=half, capsize=2, label=measure if not at else None, **style
            )
    right.axvline(0, color="grey", linewidth=0.8)
    right.set_yticks(range(len(there)), [axis_label(source) for source in there])
    right.invert_yaxis()
    right.locator_params(axis="x", nbins=5)
    right.set(xlabel="T = 30 minus all pairs, mean of four measures, 95 %")
    right.set_title("test quality", fontsize=10)
    right.legend(frameon=False)
    return figure


# ------------------------------------------------------------------------------------------------------------ page


def missed(found: Gradients, lists: Lists, one: Fit, measure: str) -> float:
    """How far, in the mean, the cosines of real lists are from what the fit by T / R says of them."""
    apart = [
        abs(found.worlds(source, measure, f"top {top}").mean() - one.at(top / size(source, lists)[1]))
        for source in REALS
        for top in TOPS
    ]
    return float(np.mean(apart))


def direction(found: Gradients, lists: Lists) -> str:
    """What a gradient of selected pairs is beside that of all: the sentences under the figure."""
    by_r, by_n = ({m: fit(found, m, of) for m in MEASURES} for of in (n_relevant, lambda source: source.length))
    long, rare, many, four = Made(100_000, None), Made(100_000, 10), Made(1_000, None), Made(10_000, 10)
    explained, by_length = (", ".join(f"{fits[m].explained:.2f}" for m in MEASURES) for fits in (by_r, by_n))
    enough = ", ".join(f"{by_r[m].enough:g}" for m in MEASURES)
    real = ", ".join(f"{missed(found, lists, by_r[m], m):.2f}" for m in MEASURES)
    worth = [np.exp(found.lists_for_one(long, "GAP", pairs).mean) for pairs in ("top 30", "mean 1")]

    def all_three(source: Made, stage: str) -> str:
        return ", ".join(found.cosine(source, m, "top 30", stage=stage) for m in MEASURES)

    return f"""* **T over R, the relevant documents, decides the direction; the length n does not.** Of the cosine's variance on made lists a monotone fit by T / R explains {explained} (nDCG, AP, GAP), one by T / n {by_length}. It reaches {ENOUGH} from
  T / R = {enough} on, and is off by {real} on real lists. T = 30 has {all_three(rare, HALF)} with 10 relevant of 100 000; with 500 of 1 000 {all_three(many, HALF)}, and {all_three(many, LEARNT)} once the scores are learnt.
* **One drawn pair a document**, XGBoost's `mean`, keeps the direction at any length where half is relevant: GAP's cosine is {found.cosine(long, "GAP", "mean 1")} at 100 000, and {worth[1]:.1f} such lists are worth one with all pairs; of T = 30 it takes {number(worth[0])}. Where relevant documents are few it
  turns away, as a rare grade is drawn as rarely: {signed(float(found.worlds(four, "GAP", "mean 1", stage=LEARNT).mean()), 2)} with 10 of 10 000, learnt, where T = 30 has {found.cosine(four, "GAP", "top 30", stage=LEARNT)}.
* **Division by score distances** (LightGBM's `lambdarank_norm`, XGBoost's `lambdarank_score_normalization`) turns the gradient too, with all pairs: {found.cosine(many, "nDCG", ALL, divided=1)} for nDCG with 500 of 1 000."""


def primary(quality: Quality) -> dict[str, tuple[Estimate, float]]:
    """Over the real collections, of each measure: T = 30 minus all pairs, and p by Holm's correction over the three."""
    there = [source for source in trained_lists(quality) if isinstance(source, Real)]
    found = {m: quality.over(there, f"{m} top 30", f"{m} all") for m in MEASURES}
    p = holm({m: one.p for m, one in found.items()})
    return {m: (one, p[m]) for m, one in found.items()}


def told(one: Estimate) -> str:
    """A difference with its interval."""
    return f"{signed(one.mean)} ({interval_text(one.interval())})"


def of_tests(found: Gradients, quality: Quality) -> str:
    """Test quality: the sentence under the figure."""
    cells = "; ".join(f"{m} {told(one)}, p {p_text(p)}" for m, (one, p) in primary(quality).items())
    long = "; ".join(f"{m} {told(one)}, p {p_text(one.p)}" for m, one in losses(quality, Real(ROBUST)).items())

    def on(source: Made) -> str:
        return "; ".join(f"{m} {told(one)}" for m, one in losses(quality, source).items())

    before = ", ".join(found.cosine(Made(10_000, 10), m, "top 30", stage=UNLEARNT) for m in MEASURES)

    return f"""* **Test quality**, T = 30 minus all pairs, everything else alike, mean of nDCG@10, nDCG, AP and GAP. {NOT_PROVEN} {cells}. On `{ROBUST}` by itself, uncorrected, two lose: {long}.
* **On made lists T = 30 loses more, the longer they are.** 500 relevant of 1 000: {on(Made(1_000, None))}. 5 000 of 10 000: {on(Made(10_000, None))}.
  With 20 relevant of 10 000 too: {on(Made(10_000, 20))}, where the direction of a list's gradient is kept from half learnt scores on, but not before ({before} with 10 relevant); of 1 000: {on(Made(1_000, 20))}."""


def drawn(quality: Quality) -> str:
    """XGBoost's drawn pairs beside its first ones."""
    found = {s.name: independent(quality.differences(s, "rank:ndcg mean 1", "rank:ndcg topk 32")) for s in REALS}
    return f"XGBoost's `mean` instead of `topk` 32, mean of four measures: {'; '.join(f'`{name}` {told(one)}' for name, one in found.items())}.\n"


def worlds_of(quality: Quality, source: Made | Real) -> int:
    """Of how many worlds or folds ours is trained, by T = 30 and by all pairs."""
    return min(len(quality.differences(source, f"{m} top 30", f"{m} all", least=0)) for m in MEASURES)


def state(found: Gradients, quality: Quality) -> str:
    """What of the protocol is not computed."""
    without = [s.name for s in gradients.SOURCES if not all(len(found.worlds(s, m, "top 30")) for m in MEASURES)]
    missing = {s.name: len(WORLDS) - worlds_of(quality, s) for s in trainings.SOURCES}
    lacking = [f"gradients on {name}" for name in without]
    lacking += [f"trainings of {n} of the {len(WORLDS)} worlds of {name}" for name, n in missing.items() if n]
    return f"Not computed, for want of time: {', '.join(lacking)}." if lacking else "All of it is computed."


def text(found: Gradients, quality: Quality, lists: Lists) -> str:
    """The page."""
    parts = [
        "# What truncation costs\n",
        f"**{ADVICE}**\n",
        picture("truncation", "Cosine against T over relevant documents, lists that are worth one, and test quality"),
        of_lists(found, quality, lists) + "\n",
        MEANING,
        direction(found, lists),
        of_tests(found, quality) + "\n",
        folded("Test quality: ours, T best ranks minus all pairs, mean of four measures", of_quality(quality)),
        folded("Test quality: the boosters' own", drawn(quality) + "\n" + of_boosters(quality)),
        folded("Selection, division, both: cosines for T = 30", of_effects(found)),
        f"The [protocol](studies/truncation/PROTOCOL.md) was committed before the first value. {state(found, quality)} {CLOSE}",
    ]
    return "\n".join(parts)


ADVICE = """Where lists have hundreds of relevant documents, raise `lambdarank_truncation_level` (XGBoost: `lambdarank_num_pair_per_sample`) to about that many, twice as many for AP; where they have thousands of documents, train
by all pairs; with about a hundred documents a list leave it: there the default costs nothing that four collections could show."""

NOT_PROVEN = "Over the five collections, each weighing the same, no loss is proven (Holm over the three):"

MEANING = """In each cell nDCG, AP, GAP. Cosines of a list's gradient with that over all pairs, scores half learnt, nothing divided: T = 30 best ranks are LightGBM's default and about XGBoost's (32), *one drawn* is one other
document for each. Real lists: mean sizes. Lists that are worth one, in the picture: as many have, in the sums that trees see, the signal over noise of one with all pairs.
"""

CLOSE = """Numbers are read from [gradients.csv](studies/truncation/results/gradients.csv) and [quality.csv](studies/truncation/results/quality.csv). The boosters' gradients, in numpy, are held by tests against trees that LightGBM and XGBoost
grew. `python -m benchmarks.studies.truncation` computes what is missing; `--redraw` writes this page alone.
"""


def redraw(page: Path = PAGE, figures_to: Path = FIGURES) -> None:
    """The page and its figure."""
    found, quality = Gradients(), Quality()
    lists = {row["source"]: row for row in Records(gradients.DESCRIBED, ("source",))}
    save(draw(found, quality), figures_to / "truncation.png")
    page.write_text(text(found, quality, lists), encoding="utf-8")
