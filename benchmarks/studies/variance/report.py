# ruff: noqa: E501  (sentences of the page)
"""`benchmarks/VARIANCE.md`, its figure and `results/components.csv`, from the saved values of the study of effectiveness."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.effectiveness.comparisons import COLUMNS, MEAN, Comparison
from benchmarks.studies.effectiveness.data import FILES
from benchmarks.studies.effectiveness.report import FAMILIES, families
from benchmarks.studies.effectiveness.results import Results
from benchmarks.studies.papers.robertson2010 import PAPER
from benchmarks.studies.pictures import legend_below, line, panels, save
from benchmarks.studies.tables import FIGURES, folded, picture, table
from benchmarks.studies.variance import components as of_variance
from benchmarks.studies.variance import resplits
from benchmarks.studies.variance.components import TOLD, TOP, Components
from benchmarks.studies.variance.sources import Sources, by_collection

PAGE = Path(__file__).parents[2] / "VARIANCE.md"
RESULTS = Path(__file__).parent / "results"
FOLDS, SEEDS = 3, 3
MEASURES = (TOP, MEAN)
# Of Table 2 of Robertson et al.: a fold's models, five folds.
PUBLISHED_FOLDS = 5


@dataclass(frozen=True)
class Row:
    """One collection and measure.

    Attributes
    ----------
    data, measure : str
    parts : Components
    seed : float
        The variance between seeds of one training, on validation queries.
    draw : float
        The standard deviation that the draw of eight candidates gives a validation value.
    proven, contradicted : int
        t-tests over one fold's queries with p < .05, and those of which another fold's difference has the other sign.
    """

    data: str
    measure: str
    parts: Components
    seed: float
    draw: float
    proven: int
    contradicted: int

    @property
    def one_fold(self) -> float:
        """The smallest difference that one split proves."""
        return self.parts.provable(1, self.parts.n_queries / FOLDS)

    @property
    def all_folds(self) -> float:
        """The smallest difference that three splits prove, which test every query once."""
        return self.parts.provable(FOLDS, self.parts.n_queries)

    @property
    def believed(self) -> float:
        """What a t-test over the queries of one fold takes for it."""
        return float(TOLD * np.sqrt(self.parts.query * FOLDS / self.parts.n_queries))

    @property
    def of_seeds(self) -> float:
        """The share of seeds, three a model, in the variance of one fold's difference."""
        return 2 / 3 * self.seed / (self.parts.model + self.parts.query * FOLDS / self.parts.n_queries)


def computed(results: Results) -> list[Row]:
    """Every collection and measure."""
    values = of_variance.tuned_values(results)
    rows = []
    for measure in COLUMNS:
        for data in FILES:
            of = of_variance.differences(values, data, measure)
            seed, draw = (f(results, data, measure) for f in (of_variance.seeds, of_variance.candidates))
            rows.append(Row(data, measure, of_variance.components(of), seed, draw, *of_variance.reversed_signs(of)))
    return rows


HEAD = (
    "collection", "measure", "queries", "S", "T", "T low", "T high", "one fold", "three folds", "ten times the queries, one model",
    "one model, queries without end", "believed by a t-test over one fold", "seed", "draw of candidates", "share of seeds", "p < .05 on one fold",
    "of these, other sign on another",
)  # fmt: skip


def saved(rows: Sequence[Row]) -> list[list[str]]:
    """The lines of `components.csv`."""
    return [
        [
            row.data, row.measure, str(row.parts.n_queries),
            *(f"{v:.5f}" for v in (
                row.parts.query**0.5, row.parts.model**0.5, *(v**0.5 for v in row.parts.interval), row.one_fold, row.all_folds,
                row.parts.provable(1, 10 * row.parts.n_queries), row.parts.provable(1, np.inf), row.believed, row.seed**0.5, row.draw,
            )),
            f"{row.of_seeds:.2f}", str(row.proven), str(row.contradicted),
        ]
        for row in rows
    ]  # fmt: skip


def of_collections(rows: Sequence[Row]) -> str:
    """The table of one measure."""
    body = [
        [
            f"`{row.data}`", f"{row.parts.n_queries:,}".replace(",", " "), f"{row.parts.query**0.5:.3f}",
            f"{row.parts.model**0.5:.4f} ({row.parts.interval[0] ** 0.5:.4f} … {row.parts.interval[1] ** 0.5:.4f})",
            f"**{row.all_folds:.4f}**", f"{row.one_fold:.4f}", f"{row.parts.provable(1, np.inf):.4f}", f"{row.believed:.4f}",
            f"{row.contradicted} of {row.proven}",
        ]
        for row in rows
    ]  # fmt: skip
    head = [
        "collection", "queries", "S, of a query", "T, of a pair of models", "three splits prove", "one split proves",
        "one model, queries without end", "a t-test over one split's queries believes", "its p < .05 with the other sign on another split",
    ]  # fmt: skip
    return table(head, body)


def by_resplits(row: Row, one: Sources) -> float:
    """What three splits with three seeds prove, where T is that of the resplits."""
    return replace(row.parts, model=one.model(SEEDS)).provable(FOLDS, row.parts.n_queries)


def of_resplits(rows: Sequence[Row], found: Mapping[str, Sources]) -> str:
    """Where the chance comes from, and T beside that of three splits."""
    body = []
    for row in rows:
        one = found[row.data]
        low, high = (v**0.5 for v in one.interval(SEEDS))
        body.append(
            [
                f"`{row.data}`", *(f"{share:.0%}" for share in one.shares().values()),
                f"{one.model(SEEDS) ** 0.5:.4f} ({low:.4f} … {high:.4f})", f"{row.parts.model**0.5:.4f}",
                f"**{by_resplits(row, one):.4f}**",
            ]
        )  # fmt: skip
    head = [
        "collection", "test queries", *resplits.LEVELS, "T of resplits, three seeds", "T of three splits", "three splits prove, by T of resplits",
    ]  # fmt: skip
    return table(head, body)


def erring(found: Mapping[str, Sources]) -> tuple[int, int, int]:
    """t-tests over the queries of one model, those with p < .05, and those of them that models of other queries contradict."""
    every = found.values()
    return sum(o.n_resplits for o in every), sum(o.proven for o in every), sum(o.contradicted for o in every)


def spans(found: Mapping[str, Sources]) -> dict[str, str]:
    """From the least to the largest share of each source."""
    shares = [one.shares() for one in found.values()]
    return {name: f"{min(s[name] for s in shares):.0%} to {max(s[name] for s in shares):.0%}" for name in shares[0]}


def pooled(rows: Sequence[Row]) -> float:
    """The smallest difference that all collections prove, each query weighing the same."""
    n = sum(row.parts.n_queries for row in rows)
    parts = [
        (row.parts.n_queries / n) ** 2 * (row.parts.model / FOLDS + row.parts.query / row.parts.n_queries)
        for row in rows
    ]
    return float(TOLD * np.sqrt(sum(parts)))


def published(rows: Sequence[Row]) -> str:
    """Table 2 of Robertson et al. beside what 106 queries prove."""
    found = []
    for column, measure in enumerate((TOP, "AP", "P@10")):
        (row,) = (r for r in rows if (r.data, r.measure) == ("ohsumed", measure))
        for objective in ("SoftRank", "LambdaRank"):
            values = [v[column] for (name, _), v in PAPER["Table 2"].items() if name == objective]
            found.append(
                (
                    max(values) - min(values),
                    row.parts.provable(PUBLISHED_FOLDS, row.parts.n_queries),
                    measure,
                    objective,
                )
            )
    body = [[f"{objective}, {measure}", f"{gap:.4f}", f"{least:.4f}"] for gap, least, measure, objective in found]
    return table(
        ["Table 2 of [robertson2010], OHSUMED", "largest difference between training measures", "five folds prove"],
        body,
    )


def own_page(results: Results, least: float) -> tuple[int, int]:
    """Differences of our page's tuned comparisons that are as large, and how many there are."""
    of = families(results)
    found: list[Comparison] = [c for name in ("tuned", "others") for c in of[name]]
    assert {FAMILIES[name].choice for name in ("tuned", "others")} == {TOP}
    return sum(abs(c.over_models(TOP).mean) >= least for c in found), len(found)


def draw(rows: Sequence[Row]) -> Any:
    """The smallest provable differences by collection."""
    figure, axes = panels(2, 4.2, sharey=True)
    kinds = {
        "three splits prove": lambda row: row.all_folds,
        "one split proves": lambda row: row.one_fold,
        "one model, queries without end": lambda row: row.parts.provable(1, np.inf),
        "a t-test over one split's queries believes": lambda row: row.believed,
    }
    for ax, measure in zip(axes, MEASURES, strict=True):
        chosen = [row for row in rows if row.measure == measure]
        for k, (name, value) in enumerate(kinds.items()):
            found = [value(row) for row in chosen]
            there = [(v, y) for y, v in enumerate(found) if v > 0]
            ax.plot(*zip(*there, strict=True), label=name, **(line(k) | {"linestyle": "", "markersize": 6}))
        ax.set_yticks(range(len(chosen)), [f"{row.data}, {row.parts.n_queries}" for row in chosen])
        ax.set(xscale="log", xlabel=f"smallest difference in {measure}, told four times of five")
    axes[0].invert_yaxis()  # of both
    legend_below(figure, axes[0], 2)
    return figure


def text(rows: Sequence[Row], results: Results) -> str:
    """The page."""
    top, mean = ([row for row in rows if row.measure == measure] for measure in MEASURES)
    found, found_mean = (by_collection(resplits.RESULTS, measure) for measure in MEASURES)
    in_mean = f"{of_collections(mean)}\n\n{of_resplits(mean, found_mean)}"
    proves = {row.data: f"{row.all_folds:.3f} to {by_resplits(row, found[row.data]):.3f}" for row in top}
    proven, contradicted = (sum(getattr(row, name) for row in top) for name in ("proven", "contradicted"))
    tests, significant, turned = erring(found)
    span = spans(found)
    beyond, n = own_page(results, pooled(top))
    larger = sum(found[row.data].model(SEEDS) > row.parts.model for row in top)
    draws = ", ".join(f"`{row.data}` {row.draw:.4f}" for row in top)
    return f"""# How large must a gain be?

**Train each objective on several splits, take the pair of models for the unit, and before you train look up what your collection can prove: three splits and
all queries tell two tuned objectives apart, four times of five, only from {proves["mq2007"]} in nDCG@10 on MQ2007's 1 692 queries, {proves["dbpedia"]} on DBpedia's 467,
{proves["ohsumed"]} on OHSUMED's 106.** Smaller gains in a table are chance or cannot be told from it.

{picture("variance", "Smallest differences that a study proves, by collection")}
{of_collections(top)}

In nDCG@10. A difference of two objectives varies by test queries, S² / N for N of them, and by its models, T² / F for F pairs, each trained on a split of its own: it is told four times
of five, at p < .05, from **2.80 (T² / F + S² / N)^½** on. Take S and T of the collection most like yours.

* **A paired t-test over one split's queries is no proof.** It has no T: of {proven} with p < .05, {contradicted} had the other sign on another split of the same collection; half of them would by chance.
  Of GAP and lambdarank, neither proven ahead where both are tuned, it has p < .05 in {significant} of {tests} resplits, {significant / tests:.0%} and not 5%; models of other queries had the other sign in {turned} of these.
* **Test queries first, then tuning.** Of the variance of one difference on a fifth of a collection test queries are {span["test queries"]}, the draw of candidates {span["tuning"]}, the seed {span["seed"]}, training
  queries {span["training queries"]}. With one model of each objective nothing below the seventh column is ever proven.
* **T of three splits is rather too small**: fifty resplits, which learn from fewer queries, have a larger one on {larger} of the seven collections; the larger ends of the first sentence are by theirs.
* **Published tables**: training measures in Table 2 of Robertson et al. (OHSUMED) lie closer together than 106 queries can tell (below). Of our own page's {n} tuned comparisons over all seven
  collections, which prove {pooled(top):.4f}, {beyond} are as far apart.

{folded("Where the chance in one difference comes from: GAP beside lambdarank on LightGBM, fifty resplits", of_resplits(top, found))}
{folded("The same in the mean of six measures", in_mean)}
{folded("Published differences beside what the collection can prove", published(rows))}
{folded("The draw of candidates in validation values", f"The draw of eight of sixteen candidates moves the best validation value by (standard deviation): {draws}.")}
{folded("What this does not show", LIMITS)}
The [protocol](studies/variance/PROTOCOL.md) was committed before the first value; its first part after those it reads, the test values of the [study of effectiveness](EFFECTIVENESS.md). All measures:
[components.csv](studies/variance/results/components.csv); the resplits: [resplits.csv](studies/variance/results/resplits.csv). `python -m benchmarks.studies.variance` trains what is missing and writes this
page; `--redraw` writes it alone.
"""


LIMITS = """T of three splits is rather too small: their training parts overlap, its interval is over competitors (eleven; 25 pairs of one booster's objectives), so the chance of these very three splits is not in it, and a T of 0
means only that it is small beside S. T of the resplits is rather too large: each model learns from three tenths of a collection, where a fold has four ninths, and is the best of four candidates, where tuning there had
sixteen; it is of one pair of objectives. Intervals of it are over resplits of the same queries, and do not say what other queries would give; with 10 to 24 test queries, on three of the collections, shares are rough.
"Proves" takes S and T as known; a test that must estimate them from three splits proves less."""


def redraw(page: Path = PAGE, figures_to: Path = FIGURES, csv_to: Path = RESULTS) -> None:
    """The page, its figure and the file of components."""
    results = Results()
    rows = computed(results)
    csv_to.mkdir(exist_ok=True)
    with (csv_to / "components.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEAD, *saved(rows)])
    save(draw(rows), figures_to / "variance.png")
    page.write_text(text(rows, results), encoding="utf-8")
