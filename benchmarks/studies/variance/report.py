"""Tables and figure of `benchmarks/VARIANCE.md`, and the files in `results/`."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.studies.effectiveness.comparisons import COLUMNS, MEAN, Queries, compare
from benchmarks.studies.effectiveness.data import FILES
from benchmarks.studies.effectiveness.results import Results
from benchmarks.studies.papers.robertson2010 import PAPER
from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.tables import FIGURES, table, write
from benchmarks.studies.variance import components as of_variance
from benchmarks.studies.variance import resplits
from benchmarks.studies.variance.components import FOLDS, SEEDS, TOP, Components, Pair, jackknife
from benchmarks.studies.variance.sources import SOURCES, Sources, by_collection
from gapboost._kernels import Array
from gapboost.analysis.estimates import LEVEL, Estimate, clustered

PAGE = Path(__file__).parents[2] / "VARIANCE.md"
RESULTS = Path(__file__).parent / "results"
MEASURES = (TOP, MEAN)
# A comparison with repeated cross-validation.
CV, REPEATS = 5, 3
# Of Table 2 of Robertson et al.
PUBLISHED_FOLDS = 5
# Of the figure's axis.
TICKS = (0.005, 0.01, 0.02, 0.05, 0.1)

# A value and its 95 % interval.
Bounded = tuple[float, float, float]
# {head: cell of a row} of a table
Columns = dict[str, Callable[["Row"], str]]


@dataclass(frozen=True)
class Row:
    """Results of one collection and measure.

    Attributes
    ----------
    data, measure : str
    parts : Components
        Of three splits, pooled over all pairs of objectives.
    pairs : dict {pair: (float, float, Estimate)}
        Of three splits: S^2, T^2 (not cut off at 0) and the difference of each pair of objectives.
    significant, contradicted : int
        t-tests over one split's queries with p < .05, and those that another split contradicts.
    sources : Sources or None
        Of the resplits, which have two measures.
    """

    data: str
    measure: str
    parts: Components
    pairs: Mapping[Pair, tuple[float, float, Estimate]]
    significant: int
    contradicted: int
    sources: Sources | None

    @property
    def n_queries(self) -> int:
        """Test queries of all splits."""
        return self.parts.n_queries

    @property
    def of_resplits(self) -> Sources:
        """Sources, of a measure that the resplits have."""
        assert self.sources is not None, self.measure
        return self.sources

    @property
    def three(self) -> Estimate:
        """Error over three pairs of models, each the mean of three seeds, by three splits."""
        return self.parts.over(FOLDS)

    @property
    def three_by_resplits(self) -> Estimate:
        """Error over three pairs of models, each the mean of three seeds, by the resplits."""
        return self.of_resplits.over(FOLDS, self.n_queries, SEEDS)

    @property
    def repeated(self) -> Estimate:
        """Error over repeated cross-validation with one seed, by the resplits."""
        return self.of_resplits.over(CV * REPEATS, self.n_queries, repeats=REPEATS)

    @property
    def shares(self) -> dict[str, Bounded]:
        """Shares of the sources in the variance of one of three splits, and their intervals."""
        return self.of_resplits.shares(self.n_queries / FOLDS, SEEDS)


def computed(values: Mapping[str, Queries]) -> list[Row]:
    """Return the rows of all measures and collections."""
    found = {measure: by_collection(resplits.RESULTS, measure) for measure in MEASURES}
    rows = []
    for measure in COLUMNS:
        for data in FILES:
            of = of_variance.differences(values, data, measure)
            pairs = {}
            for pair, folds in of.items():
                one = {pair: folds}
                pairs[pair] = (of_variance.within(one), of_variance.between(one), clustered(folds))
            parts, tests = of_variance.components(of), of_variance.reversed_tests(of)
            rows.append(Row(data, measure, parts, pairs, *tests, found.get(measure, {}).get(data)))
    return rows


def of_measure(rows: Sequence[Row], measure: str) -> list[Row]:
    """Return one row for each collection."""
    return [row for row in rows if row.measure == measure]


def alarms(rows: Sequence[Row]) -> tuple[int, int, int]:
    """Count t-tests over one split's queries of the resplits.

    Returns
    -------
    (int, int, int)
        All, those with p < .05, and those of them that models of other queries contradict.
    """
    found = [row.of_resplits for row in rows]
    significant = sum(int(one.significant.sum()) for one in found)
    contradicted = sum(int(one.contradicted.sum()) for one in found)
    return sum(len(one.significant) for one in found), significant, contradicted


def alarm_rates(rows: Sequence[Row]) -> dict[str, Bounded]:
    """Return the rates of false alarms of such tests; predicted ones are means over collections."""

    def mean(of_collections: Sequence[Array]) -> Bounded:
        rate, *without = np.mean(of_collections, axis=0)
        low, high = jackknife(rate, np.array(without))
        return float(rate), float(low), float(high)

    tests, significant, _ = alarms(rows)
    observed = stats.binomtest(significant, tests).proportion_ci(1 - LEVEL)
    of_fifth = [row.of_resplits.false_alarms(row.of_resplits.n_queries) for row in rows]
    of_third = [row.of_resplits.false_alarms(row.n_queries // FOLDS, SEEDS) for row in rows]
    return {
        "predicted": mean(of_fifth),
        "observed": (significant / tests, observed.low, observed.high),
        "predicted for a third of the queries and 3 seeds": mean(of_third),
    }


def significant_pairs(rows: Sequence[Row]) -> int:
    """Count the pairs of objectives with p < .05 over three pairs of models, uncorrected."""
    return sum(error.p < LEVEL for row in rows for *_, error in row.pairs.values())


def written(values: Mapping[str, float], digits: int = 5) -> dict[str, str]:
    """Return numbers as text."""
    return {name: f"{value:.{digits}f}" for name, value in values.items()}


def bounded(name: str, values: Bounded) -> dict[str, float]:
    """Return a value and its interval, by the names of their columns."""
    return dict(zip((name, f"{name} low", f"{name} high"), values, strict=True))


def limits(name: str, error: Estimate) -> dict[str, float]:
    """Return the critical and the detectable difference, by the names of their columns."""
    return {f"critical, {name}": error.critical(), f"detectable, {name}": error.detectable()}


def saved_components(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the rows of `components.csv`."""
    found = []
    for row in rows:
        low, high = row.parts.interval
        line = {"collection": row.data, "measure": row.measure, "queries": str(row.n_queries)}
        line |= written({"S": row.parts.query**0.5})
        line |= written(bounded("T", (row.parts.model**0.5, low**0.5, high**0.5)))
        line |= written({"standard error": row.three.error} | limits("3 pairs", row.three))
        line |= {"tests": str(FOLDS * len(row.pairs)), "p < .05": str(row.significant)}
        found.append(line | {"other sign on another split": str(row.contradicted)})
    return found


def saved_pairs(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the rows of `pairs.csv`."""
    found = []
    for row in rows:
        for (first, second), (query, model, error) in row.pairs.items():
            line = {"collection": row.data, "measure": row.measure, "first": first}
            line |= {"second": second, "S": f"{query**0.5:.5f}", "T squared": f"{model:.3e}"}
            line |= written({"difference": error.mean, "critical": error.critical()})
            found.append(line | {"degrees of freedom": f"{error.freedom:.2f}"})
    return found


def saved_sources(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the rows of `sources.csv`."""
    found = []
    for row in rows:
        one = row.of_resplits
        line = {"collection": row.data, "measure": row.measure, "resplits": str(len(one.query))}
        for seeds, name in ((1, "1 seed"), (SEEDS, f"{SEEDS} seeds")):
            low, high = one.interval(seeds)
            line |= written({f"S, {name}": float(one.variances(seeds)[0].mean()) ** 0.5})
            line |= written(bounded(f"T, {name}", (one.model(seeds) ** 0.5, low**0.5, high**0.5)))
        line |= written({"part of S squared that models draw anew": one.redrawn()}, 3)
        for name, share in row.shares.items():
            line |= written(bounded(f"share of {name}", share), 3)
        line |= written(limits("3 pairs", row.three_by_resplits))
        found.append(line | written(limits("15 pairs", row.repeated)))
    return found


def saved_alarms(rows: Sequence[Row], values: Mapping[str, Queries]) -> list[dict[str, str]]:
    """Return the rows of `false_alarms.csv`; differences are over the three splits."""
    found = []
    difference = compare(values, resplits.FIRST.name, resplits.SECOND.name)
    for measure in MEASURES:
        of = of_measure(rows, measure)
        for name, chosen in (*((row.data, [row]) for row in of), ("all", of)):
            tests, significant, contradicted = alarms(chosen)
            mean = difference.among([row.data for row in chosen]).over_models(measure)
            line = {"collection": name, "measure": measure, "tests": str(tests)}
            line |= {"p < .05": str(significant), "reversed": str(contradicted)}
            for kind, rate in alarm_rates(chosen).items():
                line |= written(bounded(kind, rate), 3)
            found.append(line | written(bounded("difference", (mean.mean, *mean.interval()))))
    return found


def share_text(share: Bounded) -> str:
    """Return a share and its interval, cut off at 0 and 100 %."""
    value, low, high = (min(max(v, 0.0), 1.0) for v in share)
    return f"{value:.0%} ({low:.0%} … {high:.0%})"


def range_text(value: float, low: float, high: float, digits: int = 4) -> str:
    """Return a value with an interval or a range."""
    return f"{value:.{digits}f} ({low:.{digits}f} … {high:.{digits}f})"


def queries_text(row: Row) -> str:
    """Return the number of test queries."""
    return f"{row.n_queries:,}".replace(",", " ")


def table_of_limits(rows: Sequence[Row]) -> str:
    """Return the critical and detectable differences of each collection."""
    columns: Columns = {
        "collection": lambda row: f"`{row.data}`",
        "test queries": queries_text,
        "critical, 3 pairs of models": lambda row: f"{row.three.critical():.4f}",
        "detectable, 3 pairs of models": lambda row: f"**{row.three.detectable():.4f}**",
        "critical, 15 pairs of models": lambda row: f"{row.repeated.critical():.4f}",
        "detectable, 15 pairs of models": lambda row: f"**{row.repeated.detectable():.4f}**",
    }
    return table(list(columns), [[of(row) for of in columns.values()] for row in rows])


def table_of_components(rows: Sequence[Row]) -> str:
    """Return S and T by three splits and by the resplits."""

    def roots(variance: float, interval: tuple[float, float]) -> str:
        return range_text(variance**0.5, *(v**0.5 for v in interval))

    def of_resplits(row: Row) -> str:
        return roots(row.of_resplits.model(SEEDS), row.of_resplits.interval(SEEDS))

    columns: Columns = {
        "collection": lambda row: f"`{row.data}`",
        "S, three splits": lambda row: f"{row.parts.query**0.5:.3f}",
        "S, resplits": lambda row: f"{row.of_resplits.variances(SEEDS)[0].mean() ** 0.5:.3f}",
        "T, three splits": lambda row: roots(row.parts.model, row.parts.interval),
        "T, resplits": of_resplits,
        "critical, 3 pairs, by resplits": lambda row: f"{row.three_by_resplits.critical():.4f}",
        "detectable, 3 pairs, by resplits": lambda row: f"{row.three_by_resplits.detectable():.4f}",
    }
    return table(list(columns), [[of(row) for of in columns.values()] for row in rows])


def table_of_shares(rows: Sequence[Row]) -> str:
    """Return the share of each source in the variance of one pair of models."""
    body = [[f"`{row.data}`", *map(share_text, row.shares.values())] for row in rows]
    return table(["collection", *SOURCES], body)


def table_of_alarms(rows: Sequence[Row]) -> str:
    """Return the predicted and observed rates of false alarms."""
    sizes = [row.of_resplits.n_queries for row in rows]
    chosen = [(f"`{row.data}`", str(n), [row]) for row, n in zip(rows, sizes, strict=True)]
    body = []
    for name, size, of in (*chosen, ("all seven", f"{min(sizes)} to {max(sizes)}", rows)):
        tests, significant, contradicted = alarms(of)
        rates = alarm_rates(of)
        observed = [share_text(rates["observed"]), f"{significant} of {tests}", str(contradicted)]
        body.append([name, size, share_text(rates["predicted"]), *observed])
    head = ["collection", "queries of a test", "predicted", "observed", "p < .05"]
    return table([*head, "of these, reversed"], body)


def table_of_pairs(rows: Sequence[Row]) -> str:
    """Return medians and ranges over pairs of objectives."""

    def spread(values: Any, digits: int = 4) -> str:
        middle, low, high = np.quantile(values, (0.5, 0, 1))
        return range_text(middle, low, high, digits)

    body = []
    for row in rows:
        queries, models, errors = zip(*row.pairs.values(), strict=True)
        n = len(errors)
        cells = [spread(np.sqrt(queries), 3), spread(np.sqrt(np.maximum(models, 0)))]
        cells += [f"{sum(v <= 0 for v in models)} of {n}", spread([e.critical() for e in errors])]
        cells += [f"{significant_pairs([row])} of {n}", f"{row.significant} of {FOLDS * n}"]
        body.append([f"`{row.data}`", *cells, str(row.contradicted)])
    head = ["collection", "S", "T", "T is 0", "critical, 3 pairs of models", "p < .05 over 3 pairs"]
    head += ["p < .05 over one split's queries", "of these, reversed on another split"]
    return table(head, body)


def table_of_published(rows: Sequence[Row]) -> str:
    """Return Table 2 of Robertson et al. beside the critical differences of 106 queries."""
    body = []
    for column, measure in enumerate((TOP, "AP", "P@10")):
        (row,) = (r for r in of_measure(rows, measure) if r.data == "ohsumed")
        least = f"{row.parts.over(PUBLISHED_FOLDS).critical():.4f}"
        for objective in ("SoftRank", "LambdaRank"):
            found = [v[column] for (name, _), v in PAPER["Table 2"].items() if name == objective]
            body.append([f"{objective}, {measure}", f"{max(found) - min(found):.4f}", least])
    head = ["Table 2 of [robertson2010]", "largest difference between training measures"]
    return table([*head, "critical, 5 pairs of models"], body)


def tables(rows: Sequence[Row]) -> dict[str, str]:
    """Return the tables of the page, by the names of their markers."""
    top, mean = (of_measure(rows, measure) for measure in MEASURES)
    every = (table_of_limits, table_of_components, table_of_shares, table_of_pairs)
    return {
        "limits": table_of_limits(top),
        "false alarms": table_of_alarms(top),
        "components": table_of_components(top),
        "shares": table_of_shares(top),
        "pairs": table_of_pairs(top),
        "mean of six": "\n\n".join(of(mean) for of in every),
        "published": table_of_published(rows),
    }


def draw(rows: Sequence[Row]) -> Any:
    """Plot the critical and detectable differences of 3 and of 15 pairs of models."""
    figure, axes = panels(2, 3.1, sharey=True, sharex=True)
    errors = {
        "3 pairs of models, 2 degrees of freedom": [row.three for row in rows],
        "15 pairs of models, 14 degrees of freedom": [row.repeated for row in rows],
    }
    places = range(len(rows))
    filled = line(0) | {"linestyle": "", "markersize": 6}
    hollow = line(1) | {"linestyle": "", "markersize": 6, "markerfacecolor": "white"}
    for ax, (name, found) in zip(axes, errors.items(), strict=True):
        critical, detectable = [e.critical() for e in found], [e.detectable() for e in found]
        ax.hlines(places, critical, detectable, color="0.6", linewidth=1)
        ax.plot(critical, places, label="critical: judges an observed difference", **filled)
        ax.plot(detectable, places, label="detectable: plans a comparison", **hollow)
        ax.set(xscale="log", xlabel=f"difference in {TOP}")
        ax.set_title(name, fontsize=10)
        ax.set_xticks(TICKS, [f"{v:g}" for v in TICKS])
        ax.minorticks_off()
    axes[0].set_yticks(places, [f"{row.data}, {queries_text(row)} queries" for row in rows])
    axes[0].invert_yaxis()  # of both
    title = "Critical and detectable differences of two tuned objectives, by collection"
    figure.suptitle(title, fontsize=11)
    legend_below(figure, axes[0], 2)
    return figure


def redraw(page: Path = PAGE, figures_to: Path = FIGURES, csv_to: Path = RESULTS) -> None:
    """Write the tables of the page, its figure and the files of results."""
    values = of_variance.tuned_values(Results())
    rows = computed(values)
    of_both = [row for measure in MEASURES for row in of_measure(rows, measure)]
    files = {
        "components": saved_components(rows),
        "pairs": saved_pairs(of_both),
        "sources": saved_sources(of_both),
        "false_alarms": saved_alarms(rows, values),
    }
    csv_to.mkdir(exist_ok=True)
    for name, lines in files.items():
        with (csv_to / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
    save(draw(of_measure(rows, TOP)), figures_to / "variance.png")
    for name, text in tables(rows).items():
        write(name, text, page)
