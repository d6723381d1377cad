# ruff: noqa: E501  (sentences of the page)
"""`benchmarks/TRUNCATION.md` and its figure, from the saved results alone."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression

from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.records import Records
from benchmarks.studies.tables import FIGURES, folded, interval_text, p_text, paragraphs, picture, signed, table
from benchmarks.studies.truncation import gradients, trainings
from benchmarks.studies.truncation.gradients import ALL, LENGTHS, MEASURES, TOPS
from benchmarks.studies.truncation.lists import REAL, ROBUST, WORLDS, Made, Real
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate, independent, overlapping_folds

PAGE = Path(__file__).parents[2] / "TRUNCATION.md"
UNLEARNT, HALF, LEARNT = "unlearnt", "half learnt", "learnt"
# A cosine that is worth having.
ENOUGH = 0.95
REALS = [Real(name) for name in REAL]
LONG = Real(ROBUST, 1)
MEAN = "mean"
# Test and training queries of a fold, in parts of five; the margin of `benchmarks/POLICY.md`.
N_TEST, N_TRAIN, MARGIN = 1, 3, 0.003
INTERVALS = gradients.RESULTS / "intervals.csv"
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
        self,
        source: Made | Real,
        measure: str,
        pairs: str,
        column: str = "cosine",
        stage: str = HALF,
        divided: int = 0,
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
    """A monotone fit of the cosine of the T best ranks by a ratio.

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


def fit(found: Gradients, measure: str, by: Callable[[Made], float], stage: str = HALF) -> Fit:
    """Fit the cosines of made lists of 100 documents or more, by T over a number of the list."""
    cells = sorted(
        (top / by(source), float(found.worlds(source, measure, f"top {top}", stage=stage).mean()))
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
    """Part 2 and the long lists: test values of each source and competitor, one a fold or world."""

    def __init__(self, path: Path = trainings.PATH, long_path: Path = trainings.LONG_PATH) -> None:
        self.values: dict[tuple[Made | Real, str], dict[str, Array]] = {}
        by_name = {source.name: source for source in trainings.SOURCES}
        for row in Records(path, trainings.KEY):
            self._add(by_name[row["source"]], row["world"], row)
        for row in Records(long_path, trainings.LONG_KEY):
            self._add(LONG, f"{row['repeat']} {row['world']}", row)

    def _add(self, source: Made | Real, fold: str, row: dict[str, str]) -> None:
        tested = [float(row[name]) for name in trainings.TESTED]
        self.values.setdefault((source, row["competitor"]), {})[fold] = np.array([*tested, np.mean(tested)])

    def differences(self, source: Made | Real, first: str, second: str, column: str = MEAN) -> Array:
        """Return first minus second in each fold; empty unless both are trained in all folds."""
        a, b = (self.values.get((source, name), {}) for name in (first, second))
        apart = [(a[fold] - b[fold])[COLUMNS.index(column)] for fold in a if fold in b]
        n_pairs = len(WORLDS) * (len(trainings.REPEATS) if source == LONG else 1)
        return np.array(apart) if len(apart) == n_pairs else np.empty(0)

    def of(self, source: Made | Real, first: str, second: str, column: str = MEAN) -> str:
        """Return the mean difference on one collection, as a cell of a table."""
        found = self.differences(source, first, second, column)
        return signed(float(found.mean()), 3) if len(found) else ""

    def over(self, sources: Sequence[Made | Real], first: str, second: str, column: str = MEAN) -> Estimate:
        """Return the mean over collections of equal weight; the variance is that within collections.

        Folds of a collection share training queries; made worlds share no lists.
        """
        found = ((s, self.differences(s, first, second, column)) for s in sources)
        parts = [
            overlapping_folds(d, N_TEST, N_TRAIN) if isinstance(s, Real) else independent(d) for s, d in found if len(d)
        ]
        error = float(np.sqrt(sum(one.error**2 for one in parts))) / len(parts)
        return Estimate(float(np.mean([one.mean for one in parts])), error, sum(one.freedom for one in parts))


@dataclass(frozen=True)
class Family:
    """Comparisons that are read together in each of its measures.

    Attributes
    ----------
    members : tuple of (sources, first, second)
        The difference is first minus second, names of competitors, with equal weight on all sources.
    columns : tuple of str, default=("mean",)
        Tested measures.
    """

    members: tuple[tuple[tuple[Made | Real, ...], str, str], ...]
    columns: tuple[str, ...] = (MEAN,)


def selected(sources: Sequence[Made | Real], top: int) -> Family:
    """Return T best ranks minus all pairs, ours, on each of some lists."""
    return Family(tuple(((s,), f"{m} top {top}", f"{m} all") for s in sources for m in MEASURES))


SHORT = tuple(REALS[1:])
MADE = tuple(source for source in trainings.SOURCES if isinstance(source, Made))
LEVELS = trainings.LEVELS
BOTH = ("nDCG@10", MEAN)
FAMILIES = {
    "first folds": Family((((REALS[0],), "lambdarank top 30", "nDCG all"),), BOTH),
    "long lists, LightGBM": Family(
        (
            *(((LONG,), f"lambdarank top {top}", "nDCG all") for top in (30, *LEVELS[1:])),
            *(((LONG,), f"lambdarank top {top}", "lambdarank top 30") for top in LEVELS[1:]),
        ),
        BOTH,
    ),
    "long lists": Family(tuple(((LONG,), f"{m} top {top}", f"{m} all") for m in MEASURES for top in LEVELS), BOTH),
    "short lists": Family(
        (
            (SHORT, "lambdarank top 30", "lambdarank all"),
            (SHORT, "rank:ndcg topk 32", "rank:ndcg topk all"),
            *((SHORT, f"{m} top 30", f"{m} all") for m in MEASURES),
        ),
        BOTH,
    ),
    "made lists": selected(MADE, 30),
    "made lists, T = 100": selected(MADE, 100),
    "five collections": Family(tuple((tuple(REALS), f"{m} top 30", f"{m} all") for m in MEASURES)),
    "single collections": selected(REALS, 30),
    "drawn pairs": Family(tuple(((s,), "rank:ndcg mean 1", "rank:ndcg topk 32") for s in REALS)),
}


def judged(quality: Quality) -> list[dict[str, str]]:
    """Return a row for each comparison and measure, as `INTERVALS` holds them."""
    rows = []
    for name, family in FAMILIES.items():
        n = len(family.members)
        for sources, first, second in family.members:
            for column in family.columns:
                found = quality.over(sources, first, second, column)
                numbers = {"mean": found.mean, "error": found.error, "freedom": found.freedom}
                low, high = found.interval(family=n)
                numbers |= {"low": low, "high": high, "p": found.p, "p of the family": min(1.0, n * found.p)}
                rows.append(
                    {
                        "family": name,
                        "comparisons": str(n),
                        "lists": ", ".join(source.name for source in sources),
                        "first": first,
                        "second": second,
                        "measured by": column,
                        **{key: f"{value:.6f}" for key, value in numbers.items()},
                        "verdict": found.verdict(family=n, margin=MARGIN),
                    }
                )
    return rows


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


def of_lists(found: Gradients, lists: Lists) -> str:
    """Return the table of cosines at scores half learnt."""
    rows = []
    for source in (*SHOWN, *REALS):
        documents, relevant = map(number, size(source, lists))
        cosines = [", ".join(found.cosine(source, m, pairs) for m in MEASURES) for pairs in ("top 30", "mean 1")]
        rows.append([label(source), f"{relevant} of {documents}", *cosines])
    return table(["lists", "relevant", "T = 30", "one drawn"], rows)


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
    head = [
        "lists",
        "scores",
        *(f"{measure}: {name}" for measure in ("nDCG", "GAP") for name, *_ in plans),
    ]
    return table(head, rows)


MEASURED = {MEAN: "mean of four measures", "nDCG@10": "nDCG@10"}
Judged = Sequence[Mapping[str, str]]


def difference(row: Mapping[str, str]) -> str:
    """Return a difference with its interval."""
    return f"{signed(float(row['mean']))} ({interval_text((float(row['low']), float(row['high'])))})"


def of_family(rows: Judged, name: str) -> str:
    """Return the table of a family: a row a comparison, a column a measure, and a verdict for each."""
    family, cells = FAMILIES[name], []
    several = len({sources for sources, *_ in family.members}) > 1
    for sources, first, second in family.members:
        found = [
            row
            for row in rows
            if (row["family"], row["first"], row["second"]) == (name, first, second)
            and row["lists"] == ", ".join(source.name for source in sources)
        ]
        lists = [axis_label(sources[0])] * several
        verdicts = ", ".join(row["verdict"] for row in found)
        cells.append([*lists, f"`{first}`", f"`{second}`", *map(difference, found), verdicts])
    head = ["lists"] * several + ["trained by", "minus", *(MEASURED[column] for column in family.columns), "verdict"]
    return f"{table(head, cells)}\n\nFamily: {len(family.members)} comparisons for each measure.\n"


def of_quality(found: Quality) -> str:
    """Ours: selected pairs minus all pairs in the mean of four measures, and nDCG@10 for T = 30."""
    rows = []
    for source in trainings.SOURCES:
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
        [
            f"`{first}`",
            f"`{second}`",
            column,
            *(found.of(source, first, second, column) for source in REALS),
        ]
        for first, second in BESIDE
        for column in (MEAN, "nDCG@10")
    ]
    return table(["trained by", "minus", "in", *REAL], rows)


# ------------------------------------------------------------------------------------------------------------ figure


def axis_label(source: Made | Real) -> str:
    """Of made lists, how many documents are relevant."""
    return f"made: {n_relevant(source):.0f} of {number(source.length)}" if isinstance(source, Made) else source.name


def draw(found: Gradients, quality: Quality) -> Any:
    """Cosine against T / R; lists worth one against length; test quality by T on long lists, and by collection."""
    figure, (first, second, third, fourth) = panels(4, 4.4)
    for k, measure in enumerate(MEASURES):
        style, one = line(k), fit(found, measure, n_relevant)
        first.plot(one.ratios, one.cosines, **(style | {"linestyle": "", "alpha": 0.5}))
        first.plot(one.ratios, one.fitted, **line(k, marked=False))
        first.plot([], [], label=measure, **style)
    first.set(
        xscale="log",
        xlabel="T / relevant documents of the list",
        ylabel="cosine with the gradient of all pairs",
    )
    first.set_title("Direction of a made list's gradient, scores half learnt", fontsize=10)
    for k, pairs in enumerate(("top 10", "top 30", "top 100", "mean 1")):
        worth = [np.exp(found.lists_for_one(Made(n, None), "GAP", pairs).mean) for n in LENGTHS]
        label = {"mean 1": "one drawn a document"}.get(pairs, pairs.replace("top", "T ="))
        second.plot(LENGTHS, worth, label=label, **line(k))
    second.set(xscale="log", yscale="log", xlabel="documents, half of them relevant")
    second.set_ylabel("lists that are worth one of all pairs")
    second.set_title("Noise of the sums that trees see, trained for GAP", fontsize=10)
    rows = judged(quality)
    for k, measure in enumerate(MEASURES):
        ours = [
            row
            for row in rows
            if row["family"] == "long lists" and row["measured by"] == MEAN and row["first"].startswith(f"{measure} ")
        ]
        bars(
            third,
            [i + (k - 1) / 8 for i in range(len(ours))],
            ours,
            line(k) | {"linestyle": ""},
            upright=True,
        )
    third.axhline(0, color="grey", linewidth=0.8)
    third.set_xticks(
        range(len(LEVELS)),
        [f"T = {top}\n({name})" for top, name in zip(LEVELS, ("R / 4", "R", "4 R"), strict=True)],
    )
    third.set_ylabel("minus all pairs, mean of four measures")
    third.set_title(f"Test quality on robust03, {len(WORLDS) * len(trainings.REPEATS)} pairs of models", fontsize=10)
    for k, measure in enumerate(MEASURES):
        ours = [
            row
            for family in ("single collections", "made lists")
            for row in rows
            if row["family"] == family and row["first"].startswith(f"{measure} ")
        ]
        bars(fourth, [i + (k - 1) / 5 for i in range(len(ours))], ours, line(k) | {"linestyle": ""})
    fourth.axvline(0, color="grey", linewidth=0.8)
    there = trainings.SOURCES
    fourth.set_yticks(range(len(there)), [axis_label(source) for source in there])
    fourth.invert_yaxis()
    fourth.locator_params(axis="x", nbins=5)
    fourth.set(xlabel="T = 30 minus all pairs, mean of four measures")
    fourth.set_title("Test quality, five pairs of models", fontsize=10)
    second.legend(frameon=False)
    legend_below(figure, first, len(MEASURES))
    return figure


def bars(ax: Any, at: Sequence[float], rows: Judged, style: Mapping[str, Any], upright: bool = False) -> None:
    """Draw differences with their simultaneous intervals."""
    mean, low, high = (np.array([float(row[column]) for row in rows]) for column in ("mean", "low", "high"))
    error = np.array([mean - low, high - mean])
    if upright:
        ax.errorbar(at, mean, yerr=error, capsize=2, **style)
    else:
        ax.errorbar(mean, at, xerr=error, capsize=2, **style)


# ------------------------------------------------------------------------------------------------------------ page


def missed(found: Gradients, lists: Lists, one: Fit, measure: str) -> float:
    """How far, in the mean, the cosines of real lists are from what the fit by T / R says of them."""
    apart = [
        abs(found.worlds(source, measure, f"top {top}").mean() - one.at(top / size(source, lists)[1]))
        for source in REALS
        for top in TOPS
    ]
    return float(np.mean(apart))


def of_three(cells: Sequence[str]) -> str:
    """Return values for nDCG, AP and GAP in words."""
    return f"{cells[0]} (nDCG), {cells[1]} (AP) and {cells[2]} (GAP)"


def direction(found: Gradients, lists: Lists) -> str:
    """Return the sentences on gradients."""
    by_r = {m: fit(found, m, n_relevant) for m in MEASURES}
    long, rare, many, four = (
        Made(100_000, None),
        Made(100_000, 10),
        Made(1_000, None),
        Made(10_000, 10),
    )

    def explained(by: Callable[[Made], float], stage: str) -> str:
        return of_three([f"{fit(found, m, by, stage).explained:.2f}" for m in MEASURES])

    def all_three(source: Made, stage: str) -> str:
        return of_three([found.cosine(source, m, "top 30", stage=stage) for m in MEASURES])

    def length(source: Made) -> float:
        return source.length

    enough = of_three([f"{by_r[m].enough:g}" for m in MEASURES])
    real = of_three([f"{missed(found, lists, by_r[m], m):.2f}" for m in MEASURES])
    worth = [np.exp(found.lists_for_one(long, "GAP", pairs).mean) for pairs in ("top 30", "mean 1")]
    turned = signed(float(found.worlds(four, "GAP", "mean 1", stage=LEARNT).mean()), 2)
    return paragraphs(f"""
* **T over R explains the direction once scores are half learnt.** A monotone fit by T / R explains {explained(n_relevant, HALF)} of the cosine's variance on made lists. A fit by T over the length of the list explains {explained(length, HALF)}.
* **Before the first tree it explains less**: T / R {explained(n_relevant, UNLEARNT)}, T over the length {explained(length, UNLEARNT)}. All scores are equal there, and the first T documents are random.
* The fit by T / R reaches a cosine of {ENOUGH} from T / R = {enough} on. On real lists it is off by {real} in the mean.
* T = 30 has a cosine of {all_three(rare, HALF)} with 10 relevant of 100 000. With 500 of 1 000 it has {all_three(many, HALF)}, and {all_three(many, LEARNT)} once the scores are learnt.
* **One drawn pair a document** (XGBoost's `mean`) keeps the direction at any length where half is relevant. At 100 000 documents GAP's cosine is {found.cosine(long, "GAP", "mean 1")}, and {worth[1]:.1f} such lists are worth one with all pairs; T = 30 needs {number(worth[0])}.
* Where relevant documents are few, drawn pairs turn the direction, as they seldom meet a rare grade. With 10 of 10 000 and learnt scores the cosine is {turned}; T = 30 has {found.cosine(four, "GAP", "top 30", stage=LEARNT)}.
* **Division by score distances** (LightGBM's `lambdarank_norm`, XGBoost's `lambdarank_score_normalization`) turns the gradient too. With all pairs and 500 relevant of 1 000 the cosine for nDCG is {found.cosine(many, "nDCG", ALL, divided=1)}.
""")


def text(found: Gradients, quality: Quality, lists: Lists) -> str:
    """Return the page."""
    rows = judged(quality)

    def one(family: str, first: str, column: str = "nDCG@10") -> Mapping[str, str]:
        wanted = (family, first, column)
        return next(row for row in rows if (row["family"], row["first"], row["measured by"]) == wanted)

    naive = independent(quality.differences(REALS[0], "lambdarank top 30", "nDCG all", "nDCG@10"))
    many = quality.over((Made(10_000, 20),), "nDCG top 100", "nDCG all")
    together = next(r for r in rows if r["family"] == "made lists, T = 100" and r["lists"] == "made 10000 20")
    critical = f"{quality.over((LONG,), 'lambdarank top 30', 'nDCG all', 'nDCG@10').critical():.3f}"
    n_pairs = len(quality.differences(LONG, "lambdarank top 30", "nDCG all"))
    half = [-float(r["mean"]) for r in rows if r["family"] == "made lists" and r["lists"].endswith(" half")]
    advice = ADVICE.format(
        least=f"{min(half):.3f}".lstrip("0"),
        most=f"{max(half):.3f}".lstrip("0"),
        short_lightgbm=difference(one("short lists", "lambdarank top 30")),
        short_xgboost=difference(one("short lists", "rank:ndcg topk 32")),
        first=difference(one("first folds", "lambdarank top 30")),
        again=difference(one("long lists, LightGBM", "lambdarank top 30")),
        pairs=n_pairs,
        at_r=difference(one("long lists, LightGBM", "lambdarank top 51")),
        at_4r=difference(one("long lists, LightGBM", "lambdarank top 203")),
    )
    first_folds = LONG_LISTS.format(
        first=difference(one("first folds", "lambdarank top 30")),
        naive=interval_text(naive.interval()),
        pairs=n_pairs,
        repeats=n_pairs // len(WORLDS),
    )
    parts = [
        OPENING,
        paragraphs(advice),
        picture("truncation", "Cosines against T over R, noise of gradients, and test quality by T and by collection"),
        paragraphs(READING),
        "## Long lists\n",
        paragraphs(first_folds),
        of_family(rows, "long lists, LightGBM"),
        paragraphs(PAIRS_ALONE.format(pairs=n_pairs)),
        of_family(rows, "long lists"),
        "## Lists of about a hundred documents\n",
        paragraphs(SHORT_LISTS),
        of_family(rows, "short lists"),
        "## Made lists\n",
        paragraphs(MADE_LISTS),
        of_family(rows, "made lists"),
        paragraphs(
            MANY.format(many=told(many), p=p_text(many.p), m=together["comparisons"], together=difference(together))
        ),
        "## Gradients\n",
        paragraphs(MEANING),
        of_lists(found, lists) + "\n",
        direction(found, lists),
        folded("T = 30 minus all pairs, ours: five collections with equal weight", of_family(rows, "five collections")),
        folded("T = 30 minus all pairs, ours: each collection", of_family(rows, "single collections")),
        folded("XGBoost's drawn pairs minus its first 32", of_family(rows, "drawn pairs")),
        folded("T = 10, 30 and 100 minus all pairs, ours: mean differences, no verdicts", of_quality(quality)),
        folded("The boosters' own objectives: mean differences, no verdicts", of_boosters(quality)),
        folded("Selection, division, both: cosines for T = 30", of_effects(found)),
        "## What this does not show\n",
        paragraphs(LIMITS.format(critical=critical)),
        paragraphs(CLOSE),
    ]
    return "\n".join(parts).rstrip() + "\n"


def told(one: Estimate) -> str:
    """Return a difference with its interval."""
    return f"{signed(one.mean)} ({interval_text(one.interval())})"


OPENING = """# What truncation costs

This page helps you to choose T. LightGBM and XGBoost do not sum LambdaRank's gradient over all
pairs of a list. They sum over pairs with one of the T documents that rank best: T = 30 in LightGBM,
32 in XGBoost. R is the number of relevant documents of a list.

```python
LGBMGAPRanker(objective=gb.LambdaRank(gb.nDCG()))  # all pairs, exactly, at any length
LGBMRanker(lambdarank_truncation_level=100)
XGBRanker(lambdarank_num_pair_per_sample=100)
```
"""

ADVICE = """
* **Thousands of documents a list: compare T = 30, T = 4 R and all pairs (`LGBMGAPRanker`) on your validation queries.** On `robust03` LightGBM's default differs from all pairs by {first} in nDCG@10 over five folds, and by {again} over {pairs} others: both inconclusive. With T = R the difference is {at_r}, with T = 4 R {at_4r}.
* **About a hundred documents a list: keep the default.** Over four collections LightGBM's default differs from all pairs by {short_lightgbm} in nDCG@10, XGBoost's by {short_xgboost}. These intervals exclude a loss of .03, and do not exclude one of .01.
* **Hundreds of relevant documents a list: train by all pairs.** On made lists with half of the documents relevant, T = 30 is behind all pairs, by {least} to {most} in the mean of four measures. No real collection here has such lists.
"""

READING = """
*Mean of four*: nDCG@10, nDCG, AP and GAP. All differences are on test queries. The intervals of a family hold at once with 95 % (Bonferroni). Folds of one collection share training queries: the variance of their mean is multiplied by 1 + k n_test / n_train for k folds (Nadeau and Bengio, 2003). That is 2.67 for five folds here. [intervals.csv](studies/truncation/results/intervals.csv) has the p-values too.
"""

LONG_LISTS = """
`robust03` has 100 queries with 1 780 to 6 022 documents. R is 51 in the mean.

* **Five folds.** In nDCG@10 LightGBM's default differed from all pairs (ours for nDCG) by −0.0312. The interval is {naive} if folds count as independent. They share training queries, and with the correction the difference is {first}: inconclusive.
* **More folds.** The protocol of the following trainings was committed before their first test value: {pairs} other pairs of models, from {repeats} repeats of five folds. R / 4 is 13, and 4 R is 203. `lambdarank top 30` is LightGBM's objective with its default T; `nDCG all` is ours over all pairs.
"""

PAIRS_ALONE = """
In the next table everything but the pairs is alike: ours, trained for nDCG, AP or GAP. All 18 differences are negative; they share queries and models, so that this is no test. One of the 18 intervals lies below 0: T = R / 4, trained for nDCG, is behind in the mean of four measures. A verdict on {pairs} pairs of models is never "proven": that takes 21.
"""

SHORT_LISTS = """
Four collections with 83 to 153 documents a list, each with the same weight: `dbpedia`, `ohsumed`, `mslr` and `cranfield`. The intervals say how much truncation may cost or gain there, on these queries. `rank:ndcg topk 32` is XGBoost's default.
"""

MADE_LISTS = """
Made lists have ten normal features and grades 0 to 4; half of the documents are relevant, or 20. Five worlds differ in weights and lists, and share none. T = 30 minus all pairs, ours:
"""

MANY = """
A large T / R does not ensure quality. With T = 100 and 20 relevant of 10 000, T is five times R. Trained for nDCG, the difference to all pairs in the mean of four measures is {many} by itself, p {p}. Among the {m} comparisons with T = 100 it is {together}: inconclusive.
"""

MEANING = """
Each cell holds the cosines for nDCG, AP and GAP between a list's gradient and that over all pairs. Scores are half learnt, and nothing is divided. *T = 30*: pairs with one of the 30 best ranks. *One drawn*: each document is paired with one other. Sizes of real lists are means.
"""

LIMITS = """
* **Real lists with hundreds of relevant documents.** None were trained. What the page says of them rests on made lists.
* **Other long lists.** `robust03` is the only collection with long lists: 100 queries, features from 12 runs, and documents without a judgement count as not relevant. Its folds above are dealt from the same queries, and confirm each other only in part.
* **Small losses.** The correction for shared training queries makes intervals wide. On `robust03` a single difference in nDCG@10 must be near {critical} to be significant.
* **Quality from directions.** T / R explains the direction of a gradient for half-learnt scores. Test quality follows it only roughly, as T = 100 with 20 relevant of 10 000 shows.
* **LightGBM's own sum over all pairs on long lists.** It takes quadratic time. Ours stands in its place there, and has no `lambdarank_norm`.
* **XGBoost on long lists** with other T than its default, or over all pairs.
* **Tuned models.** All have 15 leaves, a learning rate of .1 and at most 300 trees, chosen on validation queries.
* **A margin.** The comparisons of the first protocol were seen before the margin of ±.003 was fixed.
"""

CLOSE = """
The [protocol](studies/truncation/PROTOCOL.md) was committed before the first value, its addition on long lists before the first of its test values. Results: [gradients](studies/truncation/results/gradients.csv), [trainings](studies/truncation/results/quality.csv), [trainings on long lists](studies/truncation/results/long_lists.csv), [intervals](studies/truncation/results/intervals.csv). Tests hold the boosters' gradients, in numpy, against trees that LightGBM and XGBoost grew.

`python -m benchmarks.studies.truncation` computes what is missing and writes this page; with `--redraw` it writes the page alone.
"""


def redraw(page: Path = PAGE, figures_to: Path = FIGURES, intervals_to: Path = INTERVALS) -> None:
    """Write the page, its figure and the intervals of all comparisons."""
    found, quality = Gradients(), Quality()
    lists = {row["source"]: row for row in Records(gradients.DESCRIBED, ("source",))}
    save(draw(found, quality), figures_to / "truncation.png")
    page.write_text(text(found, quality, lists), encoding="utf-8")
    rows = judged(quality)
    with intervals_to.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
