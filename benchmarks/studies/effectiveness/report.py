"""`results/comparisons.csv` with all comparisons, and the tables of `benchmarks/EFFECTIVENESS.md`."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.studies.effectiveness import figures
from benchmarks.studies.effectiveness.comparisons import (
    COLUMNS,
    MEAN,
    Comparison,
    Queries,
    Values,
    compared,
    load,
)
from benchmarks.studies.effectiveness.competitors import COMPETITORS
from benchmarks.studies.effectiveness.data import FILES, OF_DEFAULTS
from benchmarks.studies.effectiveness.results import KEY, RESULTS, Results, Task
from benchmarks.studies.effectiveness.results import MEASURES as SIX
from benchmarks.studies.effectiveness.side_studies import FREQUENCIES, INFORMATIVE, MEASURES, SIZES
from benchmarks.studies.tables import FIGURES, interval_text, p_text, signed, table, write
from gapboost.analysis.estimates import EQUIVALENT, LEVEL, Estimate

PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
TOP = "nDCG@10"
MARGIN = 0.003
CHOSEN, UNIFORM = "g chosen on validation", "g = 0.5 0.5"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Family:
    """Comparisons that are read together, and whose intervals hold at once.

    Attributes
    ----------
    title : str
    study, choice : str
        Columns of the results.
    pairs : tuple of (str, str)
    """

    title: str
    study: str
    choice: str
    pairs: Pairs

    def interval(self, estimate: Estimate) -> tuple[float, float]:
        """Return the simultaneous 95 % interval."""
        return estimate.interval(family=len(self.pairs))

    def verdict(self, estimate: Estimate) -> str:
        """Return the word for a difference, by its simultaneous interval."""
        return estimate.verdict(family=len(self.pairs), margin=MARGIN)


PENALTIES = "XGBRanker(min_child_weight=4, reg_lambda=4)"
TUNED: Pairs = (
    ("LightGBM GAP", "LightGBM lambdarank"),
    ("LightGBM GAP", "LightGBM lambdarank of all pairs"),
    ("LightGBM GAP", "LightGBM rank_xendcg"),
    ("XGBoost GAP", "XGBoost rank:ndcg"),
    ("XGBoost GAP", "XGBoost rank:pairwise"),
    ("XGBoost GAP", "XGBoost rank:map"),
)
FAMILIES = {
    "defaults": Family(
        "defaults",
        "untuned",
        "none",
        (
            ("LGBMGAPRanker()", "LGBMRanker()"),
            ("LGBMGAPRanker()", "LGBMRanker(extra_trees=True)"),
            ("LGBMGAPRanker()", "LGBMRanker(objective='rank_xendcg')"),
            ("LGBMGAPRanker(extra_trees=False)", "LGBMRanker()"),
            ("XGBGAPRanker()", "XGBRanker()"),
            ("XGBGAPRanker()", "XGBRanker(objective='rank:pairwise')"),
            ("XGBGAPRanker()", "XGBRanker(objective='rank:map')"),
            ("LGBMGAPRanker()", "CatBoostRanker()"),
            ("XGBGAPRanker()", "CatBoostRanker()"),
        ),
    ),
    "controls": Family(
        "controls",
        "untuned",
        "none",
        (
            ("LGBMGAPRanker()", "LGBMGAPRanker(measure='ndcg')"),
            ("XGBGAPRanker()", "XGBGAPRanker(measure='ndcg')"),
            ("XGBGAPRanker()", PENALTIES),
        ),
    ),
    "own parameters": Family(
        "own parameters",
        "untuned",
        "none",
        (("LGBMRanker(extra_trees=True)", "LGBMRanker()"), (PENALTIES, "XGBRanker()")),
    ),
    "tuned": Family("tuned objectives", "tuned", TOP, TUNED),
    "tuned, chosen by the mean": Family("tuned objectives, chosen by the mean of six", "tuned", "mean", TUNED),
    "others": Family(
        "tuned other losses",
        "tuned",
        TOP,
        (
            ("LightGBM GAP", "LightGBM nDCG"),
            ("LightGBM GAP", "LightGBM AP"),
            ("LightGBM GAP", "LightGBM regression"),
            ("XGBoost GAP", "XGBoost nDCG"),
            *(
                (f"{library} GAP", c.name)
                for c in COMPETITORS
                if c.library == "CatBoost"
                for library in ("LightGBM", "XGBoost")
            ),
        ),
    ),
    "g": Family(
        "g",
        "g",
        "mean",
        ((CHOSEN, UNIFORM), (INFORMATIVE, UNIFORM), (FREQUENCIES, UNIFORM)),
    ),
    "less data": Family(
        "less data",
        "less data",
        "mean",
        tuple(
            (f"GAP from {n} queries", f"{name} from {n} queries") for n in SIZES for name in MEASURES if name != "GAP"
        ),
    ),
}
# Our defaults beside the boosters'.
LEADS = (("LGBMGAPRanker()", "LGBMRanker()"), ("XGBGAPRanker()", "XGBRanker()"))


def values_of(family: Family, results: Results) -> Values:
    """Return the values of each competitor; the g chosen on validation is one of them."""
    values = load(results.values, family.study, family.choice)
    return {**values, CHOSEN: chosen_g(values, results)} if family.study == "g" else values


def chosen_g(values: Values, results: Results) -> Queries:
    """Return the values of the g with the best validation mean of each fold."""
    vali: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in results.fits:
        if row["study"] == "g":
            of_fold = vali.setdefault((row["data"], int(row["fold"])), {})
            of_fold.setdefault(row["competitor"], []).append(float(row["vali mean"]))
    grid = [f"g = {k / 10:.1f} {1 - k / 10:.1f}" for k in range(11)]
    chosen: Queries = {}
    for model, by_name in vali.items():
        if all(name in by_name and model in values.get(name, {}) for name in grid):
            best = max(grid, key=lambda name: float(np.mean(by_name[name])))
            chosen[model] = values[best][model]
    return chosen


def families(results: Results) -> dict[str, list[Comparison]]:
    """Return the comparisons of each family that are trained."""
    loaded = {(f.study, f.choice): values_of(f, results) for f in FAMILIES.values()}
    return {
        name: compared(loaded[f.study, f.choice], f.pairs, 1 if f.study == "less data" else 2)
        for name, f in FAMILIES.items()
    }


# Families of the two main tables.
DEFAULTS, ALIKE = ("defaults", "controls", "own parameters"), ("tuned", "others")
HEAD = (
    "family", "trained by", "beside", "measure", "over", "units", "queries", "difference", "low", "high", "low 90",
    "high 90", "p", "comparisons", "simultaneous low", "simultaneous high", "p in family", "verdict", "p by signs",
    "p over models",
)  # fmt: skip


def every(of: Mapping[str, Sequence[Comparison]]) -> Iterator[dict[str, str]]:
    """Yield the rows of `comparisons.csv`: over queries, over collections, on each collection."""
    for name, comparisons in of.items():
        family = FAMILIES[name]
        size = len(family.pairs)
        for c in comparisons:
            for m in COLUMNS:
                row = {"family": family.title, "trained by": c.first, "beside": c.second, "measure": m}
                if len(c.differences) == 1:
                    yield row | line("all", "queries", c, c.over_queries(m), size)
                    continue
                one = c.over_models(m)
                judged = {"verdict": family.verdict(one), "p by signs": f"{c.by_signs(m):.3g}"}
                yield row | line("all", models_text(c), c, one, size) | judged
                if len(c.collections) == 1:
                    continue
                yield row | line("all", f"{len(c.collections)} collections", c, c.over_collections(m))
                if family.study == "untuned":
                    rest = c.among([data for data in c.collections if data not in OF_DEFAULTS])
                    over = f"without {', '.join(OF_DEFAULTS)}"
                    yield row | line(over, models_text(rest), rest, rest.over_models(m))
                for data in c.collections:
                    there = c.among([data])
                    of_models = {"p over models": f"{there.over_models(m).p:.3g}"}
                    one = there.over_queries(m)
                    yield row | line(data, "queries", there, one, cells(family, m)) | of_models


def models_text(c: Comparison) -> str:
    """Return the unit of a comparison that is clustered by models."""
    return f"{len(c.differences)} pairs of models"


def cells(family: Family, measure: str) -> int:
    """Return the number of comparisons on single collections that are read together.

    The protocol reads six measures on seven collections, or the mean of six for all of a family.
    """
    return len(family.pairs) if measure == MEAN else len(SIX) * len(FILES)


def line(over: str, units: str, c: Comparison, estimate: Estimate, size: int = 1) -> dict[str, str]:
    """Return the columns of an estimate that is read with `size` comparisons."""
    intervals = estimate.interval(), estimate.interval(0.9), estimate.interval(family=size)
    low, high, low_90, high_90, least, most = (f"{end:+.5f}" for ends in intervals for end in ends)
    return {
        "over": over, "units": units, "queries": str(c.n_queries), "difference": f"{estimate.mean:+.5f}",
        "low": low, "high": high, "low 90": low_90, "high 90": high_90, "p": f"{estimate.p:.3g}",
        "comparisons": str(size), "simultaneous low": least, "simultaneous high": most,
        "p in family": f"{min(1.0, size * estimate.p):.3g}", "verdict": "", "p by signs": "",
        "p over models": "",
    }  # fmt: skip


def cell(estimate: Estimate, interval: tuple[float, float]) -> str:
    """Return a difference with its interval."""
    return f"{signed(estimate.mean)} ({interval_text(interval)})"


def competitor(name: str) -> str:
    """Return a name, as code if it is a call."""
    return f"`{name}`" if "(" in name else name


def verdicts(
    of: Mapping[str, Sequence[Comparison]], names: Sequence[str], measures: Sequence[str] = (MEAN, TOP)
) -> str:
    """Return the table of some families: differences, simultaneous intervals, verdicts."""
    rows = []
    for name in names:
        family = FAMILIES[name]
        for c in of[name]:
            estimates = [c.over_models(m) for m in measures]
            rows.append([
                f"{family.title} ({len(family.pairs)})", competitor(c.first), competitor(c.second),
                *(cell(one, family.interval(one)) for one in estimates),
                ", ".join(family.verdict(one) for one in estimates),
            ])  # fmt: skip
    return table(["family (size)", "trained by", "beside", *measures, "verdict"], rows)


def equivalences(of: Mapping[str, Sequence[Comparison]]) -> str:
    """Return the 90 % intervals of all equivalent comparisons on the page."""
    rows = []
    for name, comparisons in of.items():
        if name == "less data":
            continue
        for c in comparisons:
            for m in (MEAN, TOP) if name in ("controls", "tuned", "others") else (MEAN,):
                one = c.over_models(m)
                if FAMILIES[name].verdict(one) == EQUIVALENT:
                    names = competitor(c.first), competitor(c.second)
                    rows.append([FAMILIES[name].title, *names, m, cell(one, one.interval(0.9))])
    return table(["family", "trained by", "beside", "measure", "difference, 90 % interval"], rows)


def state(results: Results, wanted: Sequence[Task]) -> str:
    """Return a sentence about what is trained."""
    done = results.values.done()
    missing = [task for task in wanted if task.key not in done]
    if missing:
        return f"**Provisional: {len(missing)} of {len(wanted)} tasks are missing.** Do not read the verdicts yet."
    keys = {task.key for task in wanted}
    fits = sum(tuple(row[name] for name in KEY) in keys for row in results.fits)
    return f"All {len(wanted)} tasks of the protocol are done, with {fits:,} fits."


def few_queries(comparisons: Sequence[Comparison]) -> str:
    """Return GAP minus the other training measures for each number of training queries."""
    found = {(c.first, c.second): c.over_queries() for c in comparisons}
    others = [name for name in MEASURES if name != "GAP"]
    rows = []
    for n in SIZES:
        of_size = [found.get((f"GAP from {n} queries", f"{name} from {n} queries")) for name in others]
        if any(of_size):
            rows.append([str(n), *(cell(one, FAMILIES["less data"].interval(one)) if one else "" for one in of_size)])
    return table(["training queries", *(f"GAP instead of {name}" for name in others)], rows)


def otherwise_counted(comparisons: Sequence[Comparison]) -> str:
    """Return the leads without the collections that a default was chosen on, and over collections."""
    rows = []
    for c in comparisons:
        if (c.first, c.second) in LEADS and len(c.collections) == len(FILES):
            rest = c.among([data for data in FILES if data not in OF_DEFAULTS])
            for what, estimates in (
                (f"four collections, {rest.n_queries} queries", [rest.over_models(m) for m in (MEAN, TOP)]),
                ("seven collections, each one observation", [c.over_collections(m) for m in (MEAN, TOP)]),
            ):
                shown = [cell(one, one.interval()) for one in estimates]
                rows.append([competitor(c.first), competitor(c.second), what, *shown])
    return table(["trained by", "beside", "over", MEAN, TOP], rows)


def lower(of: Mapping[str, Sequence[Comparison]]) -> str:
    """Return the comparisons on single collections that are below 0 over the queries."""
    rows = []
    for name in ("defaults", "tuned", "others"):
        for c in of[name]:
            for data in c.collections:
                there = c.among([data])
                for m in COLUMNS:
                    one, size = there.over_queries(m), cells(FAMILIES[name], m)
                    if one.mean < 0 and size * one.p < LEVEL:
                        texts = (
                            cell(one, one.interval(family=size)),
                            p_text(size * one.p),
                            p_text(there.over_models(m).p),
                        )
                        rows.append([data, competitor(c.first), competitor(c.second), m, *texts, str(size)])
    head = ["collection", "trained by", "beside", "measure", "difference", "p over queries", "p over three models"]
    return table([*head, "comparisons"], rows)


def redraw(
    wanted: Sequence[Task], results: Results, page: Path = PAGE, figures_to: Path = FIGURES, csv_to: Path = RESULTS
) -> None:
    """Write the tables of the page, its figures and the file of comparisons from the saved values."""
    of = families(results)
    with (csv_to / "comparisons.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every(of))
    sections = {
        "defaults": verdicts(of, DEFAULTS),
        "tuned": verdicts(of, ALIKE),
        "equivalent": equivalences(of),
        "lower": lower(of),
        "otherwise": otherwise_counted(of["defaults"]),
        "by the mean": verdicts(of, ["tuned, chosen by the mean"], [MEAN]),
        "less data": few_queries(of["less data"]),
        "g": verdicts(of, ["g"], [MEAN]),
        "state": state(results, wanted),
    }
    for name, text in sections.items():
        write(name, text, page)
    shown = [(c, FAMILIES[name]) for name in ("defaults", "controls", *ALIKE) for c in of[name]]
    if shown:
        figures.draw([(c, len(family.pairs)) for c, family in shown], figures_to / "effectiveness.png")
    figures.draw_less_data(load(results.values, "less data", "mean"), figures_to / "effectiveness_less_data.png")
