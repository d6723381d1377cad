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
HALF, LEARNT = "half learnt", "learnt"
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

    def differences(self, source: Made | Real, first: str, second: str, column: str = MEAN) -> Array:
        """First minus second in each fold; empty where one of them is not trained in all."""
        a, b = (self.values.get((source.name, name), {}) for name in (first, second))
        both = [a[world] - b[world] for world in WORLDS if world in a and world in b]
        return np.array(both)[:, COLUMNS.index(column)] if len(both) == len(WORLDS) else np.empty(0)

    def of(self, source: Made | Real, first: str, second: str, column: str = MEAN) -> str:
        """The mean difference on one collection, as a cell of a table."""
        found = self.differences(source, first, second, column)
        return signed(float(found.mean()), 3) if len(found) else ""

    def over(self, sources: Sequence[Made | Real], first: str, second: str, column: str = MEAN) -> Estimate:
        """Over collections, each weighing the same; the variance is that from within collections."""
        parts = [independent(d) for s in sources if len(d := self.differences(s, first, second, column))]
        error = float(np.sqrt(sum(one.error**2 for one in parts))) / len(parts)
        return Estimate(float(np.mean([one.mean for one in parts])), error, sum(one.freedom for one in parts))


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


def of_gradients(found: Gradients, lists: Lists) -> str:
    """Cosines at scores half learnt, and lists worth one."""
    rows = []
    for source in (*SHOWN, *REALS):
        cosines = [
            " ".join(found.cosine(source, measure, pairs) for measure in ("nDCG", "GAP"))
            for pairs in ("top 30", "top 100", "mean 1")
        ]
        worth = np.exp(found.lists_for_one(source, "GAP", "top 30").mean)
        rows.append([label(source), *map(number, size(source, lists)), *cosines, f"{worth:.1f}"])
    head = ["lists", "documents", "relevant R", "T = 30: nDCG GAP", "T = 100", "one drawn", "lists worth one, T = 30"]
    return table(head, rows)


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


def complete(found: Quality) -> list[Made | Real]:
    """Collections and made lists of which ours is trained in all folds."""
    pairs = [(f"{measure} top 30", f"{measure} all") for measure in MEASURES]
    return [s for s in trainings.SOURCES if all(len(found.differences(s, *pair)) for pair in pairs)]


def of_quality(found: Quality) -> str:
    """Ours: selected pairs minus all pairs in the mean of four measures, and nDCG@10 for T = 30."""
    rows = []
    for source in complete(found):
        for measure in MEASURES:
            every = [found.of(source, f"{measure} top {top}", f"{measure} all") for top in TOPS]
            early = found.of(source, f"{measure} top 30", f"{measure} all", "nDCG@10")
            rows.append([source.name, measure, *every, early])
    return table(["lists", "trained for", *(f"T = {top}" for top in TOPS), "T = 30, in nDCG@10"], rows)


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
    there = complete(quality)
    for k, measure in enumerate(MEASURES):
        style = line(k) | {"linestyle": ""}
        for at, source in enumerate(there):
            one = independent(quality.differences(source, f"{measure} top 30", f"{measure} all"))
            half = one.interval()[1] - one.mean
            right.errorbar(one.mean, at + (k - 1) / 5, xerr=half, capsize=2, label=measure if not at else None, **style)
    right.axvline(0, color="grey", linewidth=0.8)
    right.set_yticks(range(len(there)), [source.name for source in there])
    right.invert_yaxis()
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
    long, rare, many = Made(100_000, None), Made(100_000, 10), Made(1_000, None)
    explained = ", ".join(f"{m} {by_r[m].explained:.2f} and {by_n[m].explained:.2f}" for m in MEASURES)
    enough = ", ".join(f"{m} {by_r[m].enough:g}" for m in MEASURES)
    real = ", ".join(f"{m} {missed(found, lists, by_r[m], m):.2f}" for m in MEASURES)
    worth = [np.exp(found.lists_for_one(long, "GAP", pairs).mean) for pairs in ("top 30", "mean 1")]
    return f"""* **What counts is T over the relevant documents R, not the length n.** A monotone fit by T / R explains this share of the cosine's variance on made lists, one by T / n that: {explained}. The fit reaches
  {ENOUGH} from T / R of {enough}; on real lists it is off by {real} in the mean. With 10 relevant of 100 000, T = 30 has {found.cosine(rare, "nDCG", "top 30")} for nDCG and {found.cosine(rare, "GAP", "top 30")} for GAP; with half of
  1 000 relevant {found.cosine(many, "nDCG", "top 30")} and {found.cosine(many, "GAP", "top 30")}, and once the scores are learnt {found.cosine(many, "nDCG", "top 30", stage=LEARNT)} and {found.cosine(many, "GAP", "top 30", stage=LEARNT)}.
* **One drawn pair a document keeps the direction at any length**: {found.cosine(long, "GAP", "mean 1")} in a list of 100 000, and it costs {worth[1]:.1f} lists for one where T = 30 costs {number(worth[0])}. But drawn pairs count a rare grade's
  as often as it occurs: learnt, with 10 relevant documents of four grades in 10 000, GAP's cosine is {found.cosine(Made(10_000, 10), "GAP", "mean 1", stage=LEARNT)}, where T = 30 has {found.cosine(Made(10_000, 10), "GAP", "top 30", stage=LEARNT)}.
* **Division by score distances** (LightGBM's `lambdarank_norm`, XGBoost's `lambdarank_score_normalization`) turns the gradient too, with all pairs: {found.cosine(many, "nDCG", ALL, divided=1)} for nDCG in lists of 1 000, half relevant.""".replace(
        "-", "−"
    )


def primary(quality: Quality) -> dict[str, tuple[Estimate, float]]:
    """Over the real collections, of each measure: T = 30 minus all pairs, and p by Holm's correction over the three."""
    there = [source for source in complete(quality) if isinstance(source, Real)]
    found = {m: quality.over(there, f"{m} top 30", f"{m} all") for m in MEASURES}
    p = holm({m: one.p for m, one in found.items()})
    return {m: (one, p[m]) for m, one in found.items()}


def told(one: Estimate) -> str:
    """A difference with its interval."""
    return f"{signed(one.mean)} ({interval_text(one.interval())})"


def of_tests(quality: Quality) -> str:
    """Test quality: the sentence under the figure."""
    there = [source.name for source in complete(quality) if isinstance(source, Real)]
    cells = "; ".join(f"{m} {told(one)}, p {p_text(p)}" for m, (one, p) in primary(quality).items())
    alone = {m: independent(quality.differences(Real(ROBUST), f"{m} top 30", f"{m} all")) for m in MEASURES}
    long = "; ".join(f"{m} {told(one)}, p {p_text(one.p)}" for m, one in alone.items())
    drawn = ", ".join(f"`{s.name}` {quality.of(s, 'rank:ndcg mean 1', 'rank:ndcg topk 32')}" for s in REALS)
    return f"""* **Test quality**, T = 30 minus all pairs, everything else alike, mean of nDCG@10, nDCG, AP and GAP over {", ".join(f"`{name}`" for name in there)}, each weighing the same (p by Holm's
  correction over the three): {cells}. {NOT_PROVEN} On `{ROBUST}`, the only one with lists of thousands, by itself and uncorrected: {long}. XGBoost's `mean` instead of `topk` 32: {drawn}."""


def state(found: Gradients, quality: Quality) -> str:
    """What of the protocol is not computed."""
    lacking = {
        "gradients": [
            s.name for s in gradients.SOURCES if not all(len(found.worlds(s, m, "top 30")) for m in MEASURES)
        ],
        "trainings": [s.name for s in trainings.SOURCES if s not in complete(quality)],
    }
    said = [f"{what} on {', '.join(names)}" for what, names in lacking.items() if names]
    return f"Not computed, for want of time: {'; '.join(said)}." if said else "All of it is computed."


def text(found: Gradients, quality: Quality, lists: Lists) -> str:
    """The page."""
    parts = [
        "# What truncation costs\n",
        f"**{ADVICE}**\n",
        picture("truncation", "Cosine against T over relevant documents, lists that are worth one, and test quality"),
        direction(found, lists),
        of_tests(quality) + "\n",
        of_gradients(found, lists) + "\n",
        MEANING,
        folded("Selection, division, both: cosines for T = 30", of_effects(found)),
        folded(
            "Test quality, list by list: ours, T best ranks minus all pairs, mean of four measures", of_quality(quality)
        ),
        folded("Test quality: the boosters' own", of_boosters(quality)),
        f"The [protocol](studies/truncation/PROTOCOL.md) was committed before the first value. {state(found, quality)} {CLOSE}",
    ]
    return "\n".join(parts)


ADVICE = """Set the truncation by the relevant documents of your lists, not by their length or by the cut-off that you report: as many ranks as a list has relevant documents, twice as many for AP;
where that is slow take a gradient over all pairs in near-linear time. Draw pairs at random only from lists of thousands."""

NOT_PROVEN = "Over all of them a loss is not proven."

MEANING = """Cosines of a list's gradient with the gradient over all pairs, for nDCG and GAP, scores half learnt, nothing divided. T best ranks: LightGBM's `lambdarank_truncation_level` (30), XGBoost's `topk` (32). One drawn: XGBoost's
`mean`, one other document for each. Lists worth one: so many lists have together, in the sums that trees see, the signal over noise of one list with all pairs (GAP).
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
