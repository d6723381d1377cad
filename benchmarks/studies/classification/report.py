"""From saved values to differences over sets, and the tables and the figure of `benchmarks/CLASSIFICATION.md`."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.studies.classification import cost, runs
from benchmarks.studies.classification.data import STUDIES
from benchmarks.studies.classification.runs import (
    AGAIN,
    AP,
    FOCAL,
    GAP,
    LOG_LOSS,
    MEASURES,
    NDCG,
    REGRESSION,
    THEN,
    WEIGHTED,
    XGB_AP,
    XGB_LOG_LOSS,
    XGB_WEIGHTED,
    folds,
)
from benchmarks.studies.pictures import bare, line, plt, save
from benchmarks.studies.records import Records
from benchmarks.studies.tables import FIGURES, interval_text, p_text, signed, table, wrapped, write
from gapboost._kernels import Array
from gapboost.analysis.estimates import AHEAD, BEHIND, Estimate, holm, independent, overlapping_folds

PAGE = Path(__file__).parents[2] / "CLASSIFICATION.md"
PAIRS = {
    "binary": [(AP, LOG_LOSS, "AP"), (AP, WEIGHTED, "AP"), (AP, FOCAL, "AP"), (THEN, LOG_LOSS, "AP")],
    "control": [(AGAIN, LOG_LOSS, "AP"), (THEN, AGAIN, "AP")],
    "graded": [(GAP, REGRESSION, "GAP"), (GAP, REGRESSION, "nDCG"), (NDCG, REGRESSION, "nDCG")],
    "xgboost": [(XGB_AP, XGB_LOG_LOSS, "AP"), (XGB_AP, XGB_WEIGHTED, "AP")],
}
FACTORS = ("training rows", "training positives", "share of positives", "how separable")
# Parts of a set on which a fold tests and trains, see `splits`.
N_TEST, N_TRAIN = 4, 6
COMPARISONS = Path(__file__).parent / "results" / "comparisons.csv"

# {competitor: {set: float64 of shape (n_folds, 3)}}, a column for each of `MEASURES`
Values = dict[str, dict[str, Array]]


def load(study: str, results: Records = runs.RESULTS) -> Values:
    """Test values of the sets whose folds are all there."""
    found: dict[str, dict[str, dict[int, list[float]]]] = {}
    for row in results:
        if row["study"] == study:
            of_set = found.setdefault(row["competitor"], {}).setdefault(row["data"], {})
            of_set[int(row["fold"])] = [float(row[m]) for m in MEASURES]
    n = {source.name: len(folds(source)) for source in STUDIES[study]}
    return {
        name: {
            data: np.array([by_fold[k] for k in sorted(by_fold)])
            for data, by_fold in sets.items()
            if len(by_fold) == n[data]
        }
        for name, sets in found.items()
    }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two competitors in one measure: `differences` holds, for each set, the first minus the second on its folds.

    `family` is the number of comparisons that are read together by this measure.
    """

    first: str
    second: str
    measure: str
    differences: Mapping[str, Array]
    family: int = 1

    @property
    def sets(self) -> Array:
        """Mean difference on each set."""
        return np.array([d.mean() for d in self.differences.values()])

    @property
    def p(self) -> float:
        """Wilcoxon's signed-rank test over the sets; those without a difference do not count."""
        return float(stats.wilcoxon(self.sets).pvalue) if np.any(self.sets) else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of the mean over sets; those of the family hold at once with 95 %."""
        return independent(self.sets).interval(family=self.family)

    @property
    def verdict(self) -> str:
        """Word of `benchmarks/POLICY.md`, by the interval."""
        return independent(self.sets).verdict(family=self.family)

    def single(self) -> list[str]:
        """Return the verdict of each set, by its folds; the sets are one family."""
        return [over_folds(d).verdict(family=len(self.differences)) for d in self.differences.values()]


def over_folds(d: Array) -> Estimate:
    """Return the mean over the folds of one set, which share training rows."""
    return overlapping_folds(d, N_TEST, N_TRAIN)


def compare(values: Values, first: str, second: str, measure: str, family: int = 1) -> Comparison:
    """Compare on the sets that both have finished."""
    a, b, at = values.get(first, {}), values.get(second, {}), MEASURES.index(measure)
    return Comparison(
        first, second, measure, {data: a[data][:, at] - b[data][:, at] for data in a if data in b}, family
    )


def comparisons() -> Iterator[tuple[str, Comparison]]:
    """Yield each study and its comparisons."""
    for study, pairs in PAIRS.items():
        values, families = load("binary") | load(study), Counter(measure for *_, measure in pairs)
        yield from ((study, compare(values, *pair, families[pair[2]])) for pair in pairs)


def differences() -> str:
    """Return the comparisons over the sets; p-values are corrected within each study."""
    rows, found = [], list(comparisons())
    p = {}
    for study in PAIRS:
        p |= holm({c: c.p for name, c in found if name == study})
    for study, c in found:
        single = c.single()
        rows.append(
            [
                study,
                c.first,
                c.second,
                c.measure,
                signed(float(c.sets.mean())),
                f"({interval_text(c.interval)})",
                str(c.family),
                c.verdict,
                p_text(p[c]),
                f"{int((c.sets > 0).sum())} of {len(c.sets)}",
                f"{single.count(AHEAD)}, {single.count(BEHIND)}",
            ]
        )
    head = ["study", "trained by", "instead of", "measured by", "difference", "interval", "family", "verdict",
            "Wilcoxon's p", "higher on sets", "sets with an interval above 0, below 0"]  # fmt: skip
    return table(head, rows)


def save_comparisons(path: Path = COMPARISONS) -> None:
    """Write the comparisons with their intervals; the sentences of the page name their rows."""
    lines = ["study,trained by,instead of,measure,sets,family,difference,low,high"]
    for study, c in comparisons():
        numbers = ",".join(f"{number:.5f}" for number in (c.sets.mean(), *c.interval))
        lines.append(f'{study},"{c.first}","{c.second}",{c.measure},{len(c.sets)},{c.family},{numbers}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def factors(values: Values) -> dict[str, tuple[float, ...]]:
    """`FACTORS` of each set."""
    counts = {
        row["data"]: (int(row["rows"]), int(row["positives"])) for row in runs.RESULTS if row["study"] == "binary"
    }
    found: dict[str, tuple[float, ...]] = {}
    for data in compare(values, AP, LOG_LOSS, "AP").differences:
        rows, positives = counts[data]
        share, ap = positives / rows, float(np.mean([values[name][data][:, 0] for name in (AP, LOG_LOSS)]))
        found[data] = (rows, positives, share, (ap - share) / (1 - share))
    return found


def when() -> str:
    """Spearman's correlation of differences with the factors of the sets."""
    values = load("binary")
    of_sets = factors(values)
    columns, rows = dict(zip(FACTORS, np.array(list(of_sets.values())).T, strict=True)), []
    for name in (AP, THEN):
        d = compare(values, name, LOG_LOSS, "AP")
        tests = {factor: stats.spearmanr(column, d.sets) for factor, column in columns.items()}
        p = holm({factor: float(t.pvalue) for factor, t in tests.items()})
        rows.append(
            [f"{name} minus log loss", *(f"{signed(float(t.statistic), 2)} ({p_text(p[f])})" for f, t in tests.items())]
        )
    return table(["difference", *FACTORS], rows)


def sides() -> str:
    """Test AP in the side studies, differences from log loss."""
    rows = []
    counts = {row["data"]: (row["rows"], int(row["positives"]) / int(row["rows"])) for row in runs.RESULTS}
    for study in ("sizes", "made"):
        values = load(study)
        for data, tested in values.get(LOG_LOSS, {}).items():
            cells = []
            for name in (AP, THEN):
                d = values[name][data][:, 0] - tested[:, 0]
                half = f" ± {np.diff(over_folds(d).interval())[0] / 2:.4f}" if len(d) > 1 else ""
                cells.append(signed(float(d.mean())) + half)
            n, share = counts[data]
            rows.append([data, n, f"{share:.1%}", f"{tested[:, 0].mean():.4f}", *cells])
    head = ["set", "training rows", "positive", "AP of log loss", "AP, difference", "log loss, then AP, difference"]
    return table(head, rows)


def state() -> str:
    """What is trained of what the protocol asks for."""
    of = {study: (len(next(iter(load(study).values()), {})), len(sources)) for study, sources in STUDIES.items()}
    if all(n == total for n, total in of.values()):
        return "The study is complete."
    return wrapped(
        "**Not all is trained.** Sets with all of their folds: "
        + ", ".join(f"{s} {n} of {t}" for s, (n, t) in of.items())
        + "."
    )


def draw(path: Path) -> None:
    """Differences from log loss on each binary set, by the number of positives to train on."""
    values = load("binary")
    of_sets = factors(values)
    names = sorted(of_sets, key=lambda data: of_sets[data][1])
    figure, axis = plt.subplots(figsize=(8, 0.23 * len(names) + 1.6))
    for number, (name, shift) in enumerate(((AP, -0.16), (THEN, 0.16))):
        style = line(number)
        d = compare(values, name, LOG_LOSS, "AP").differences
        for row, data in enumerate(names):
            axis.plot((d[data].min(), d[data].max()), (row + shift,) * 2, color=style["color"], lw=1)
        means = [d[data].mean() for data in names]
        label = f"trained for {name.removeprefix('LightGBM ')}"
        axis.plot(means, np.arange(len(names)) + shift, **style | {"linestyle": ""}, label=label)
    axis.axvline(0, color="#64748b", lw=1, zorder=0)
    labels = [f"{data} ({of_sets[data][1]:.0f} of {of_sets[data][0]:.0f})" for data in names]
    axis.set_yticks(range(len(names)), labels, fontsize=7)
    axis.set_ylim(len(names) - 0.4, -0.6)
    ticks = (-0.1, -0.03, -0.01, 0, 0.01, 0.03, 0.1)
    axis.set_xscale("symlog", linthresh=0.01)
    axis.set_xticks(ticks, [f"{tick:+g}" if tick else "0" for tick in ticks])
    axis.minorticks_off()
    axis.set_xlabel("difference in test AP: mean and range of three folds; logarithmic beyond ±0.01")
    axis.set_title("Test AP minus that of log loss, LightGBM (positives of training rows)", fontsize=10)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), frameon=False, ncol=2)
    bare(axis)
    save(figure, path)


def redraw(page: Path = PAGE, figures_to: Path = FIGURES) -> None:
    """Tables and figure of what is saved."""
    sections = {"state": state(), "tests": differences(), "when": when(), "sides": sides(), "time": cost.text()}
    for name, text in sections.items():
        write(name, text, page)
    draw(figures_to / "classification.png")
    if page == PAGE:
        save_comparisons()
