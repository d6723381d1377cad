"""Every comparison of the study in `results/comparisons.csv`, and what `benchmarks/EFFECTIVENESS.md` shows of them."""

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
from benchmarks.studies.effectiveness.data import FILES, LAST, OF_DEFAULTS
from benchmarks.studies.effectiveness.results import RESULTS, Results, Task
from benchmarks.studies.effectiveness.side_studies import FREQUENCIES, INFORMATIVE, MEASURES, SIZES
from benchmarks.studies.tables import FIGURES, interval_text, p_text, signed, table, wrapped, write
from gapboost._kernels import Array
from gapboost.analysis.estimates import Estimate
from gapboost.comparison.verdicts import BEHIND, INCONCLUSIVE, Verdict, verdicts

PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
TOP = "nDCG@10"
MARGIN = 0.003
CHOSEN, UNIFORM = "g chosen on validation", "g = 0.5 0.5"

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Family:
    """Comparisons that answer one question, and whose p-values are corrected together.

    Attributes
    ----------
    question : str
    study, choice : str
        Of the results.
    pairs : tuple of (str, str)
    """

    question: str
    study: str
    choice: str
    pairs: Pairs


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
    "as they come": Family(
        "does an estimator with nothing set rank better?",
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
        "is it the measure, or what else the estimators differ in?",
        "untuned",
        "none",
        (
            ("LGBMGAPRanker()", "LGBMGAPRanker(measure='ndcg')"),
            ("XGBGAPRanker()", "XGBGAPRanker(measure='ndcg')"),
            ("XGBGAPRanker()", PENALTIES),
        ),
    ),
    "tuned": Family("does GAP rank better than a booster's own objective, tuned alike?", "tuned", TOP, TUNED),
    "tuned, chosen by the mean": Family("and chosen by the mean of the six measures?", "tuned", "mean", TUNED),
    "others": Family(
        "does GAP rank better than other losses, tuned alike?",
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
        "does it pay to choose g?",
        "g",
        "mean",
        ((CHOSEN, UNIFORM), (INFORMATIVE, UNIFORM), (FREQUENCIES, UNIFORM)),
    ),
    "less data": Family(
        "does GAP learn more from few queries?",
        "less data",
        "mean",
        tuple(
            (f"GAP from {n} queries", f"{name} from {n} queries") for n in SIZES for name in MEASURES if name != "GAP"
        ),
    ),
}
# What the page's table shows of them.
SHOWN: dict[str, Pairs] = {
    "as they come": tuple(
        pair for pair in FAMILIES["as they come"].pairs if "objective=" not in pair[1] and "=False" not in pair[0]
    ),
    "controls": FAMILIES["controls"].pairs,
    "tuned": TUNED,
    "others": tuple(pair for pair in FAMILIES["others"].pairs if pair[1] == "CatBoost YetiRank"),
}
# Our defaults beside the boosters', and beside theirs with what ours differ in.
LEADS = (("LGBMGAPRanker()", "LGBMRanker()"), ("XGBGAPRanker()", "XGBRanker()"))
CONTROLLED = (("LGBMGAPRanker()", "LGBMRanker(extra_trees=True)"), ("XGBGAPRanker()", PENALTIES))


def told(comparisons: Sequence[Comparison], measure: str = MEAN) -> dict[tuple[str, str], Verdict]:
    """A family in one measure, over all collections: `compare_rankers`' verdicts, with a pair of models for a fold.

    The study of less data has one model a cell here, so its queries stand alone.
    """
    return judged({(c.first, c.second, measure): c.models(measure) for c in comparisons})


def judged(differences: Mapping[tuple[str, str, str], Sequence[Array]]) -> dict[tuple[str, str], Verdict]:
    """A verdict for each pair of competitors, corrected for their number."""
    pairs = {key: [(d, np.zeros(len(d))) for d in of_models] for key, of_models in differences.items()}
    return {(verdict.ranker, verdict.beside): verdict for verdict in verdicts(pairs)}


def cell(verdict: Verdict) -> str:
    """The difference with its 95 % interval."""
    return f"{signed(verdict.difference)} ({interval_text(verdict.interval)})"


def so_it_is(verdict: Verdict) -> str:
    """In words: what cannot be told apart may be level."""
    if verdict.verdict != INCONCLUSIVE:
        return verdict.verdict
    return "level" if verdict.estimate.level(MARGIN) else "open"


def values_of(family: Family, results: Results) -> Values:
    """Of every competitor; what is chosen on validation among the values of g is one of them."""
    values = load(results.values, family.study, family.choice)
    return {**values, CHOSEN: chosen_g(values, results)} if family.study == "g" else values


def chosen_g(values: Values, results: Results) -> Queries:
    """In each fold the g of the grid with the best validation mean."""
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
    """The comparisons of each family that are trained."""
    loaded = {(f.study, f.choice): values_of(f, results) for f in FAMILIES.values()}
    return {
        name: compared(loaded[f.study, f.choice], f.pairs, 1 if f.study == "less data" else 2)
        for name, f in FAMILIES.items()
    }


HEAD = ("family", "trained by", "beside", "measure", "over", "units", "queries", "difference", "low", "high", "p",
        "p in family", "p by signs", "behind")  # fmt: skip


def every(of: Mapping[str, Sequence[Comparison]]) -> Iterator[dict[str, str]]:
    """Rows of `comparisons.csv`: each comparison and measure, over all queries, over collections, and on each collection."""
    for name, comparisons in of.items():
        corrected = {m: told(comparisons, m) for m in COLUMNS}
        for c in comparisons:
            behind = c.behind() if name != "less data" else []
            for m in COLUMNS:
                row = {"family": name, "trained by": c.first, "beside": c.second, "measure": m}
                one = corrected[m][c.first, c.second]
                unit = f"{len(c.differences)} pairs of models" if len(c.differences) > 1 else "queries"
                signs = f"{c.by_signs(m):.3g}" if len(c.differences) > 1 else ""
                yield row | line("all", unit, c, one.estimate) | {"p in family": f"{one.p:.3g}", "p by signs": signs}
                if len(c.collections) < 2:
                    continue
                yield row | line("all", f"{len(c.collections)} collections", c, c.over_collections(m))
                rest = c.among([data for data in c.collections if data not in OF_DEFAULTS])
                if name in ("as they come", "controls"):
                    unit = f"{len(rest.differences)} pairs of models"
                    yield row | line(f"without {', '.join(OF_DEFAULTS)}", unit, rest, rest.over_models(m))
                for data in c.collections:
                    one_set = c.among([data])
                    proven = {"behind": "proven" if (data, m) in behind else ""}
                    yield row | line(data, "queries", one_set, one_set.over_queries(m)) | proven


def line(over: str, units: str, c: Comparison, estimate: Estimate) -> dict[str, str]:
    """What every row holds, and blanks."""
    low, high = estimate.interval()
    return {
        "over": over, "units": units, "queries": str(c.n_queries), "difference": f"{estimate.mean:+.5f}",
        "low": f"{low:+.5f}", "high": f"{high:+.5f}", "p": f"{estimate.p:.3g}", "p in family": "", "p by signs": "",
        "behind": "",
    }  # fmt: skip


def first_table(of: Mapping[str, Sequence[Comparison]]) -> str:
    """What the page shows first."""
    rows = []
    for name, pairs in SHOWN.items():
        mean, top = told(of[name], MEAN), told(of[name], TOP)
        for pair in pairs:
            if pair in mean:
                words = f"{so_it_is(mean[pair])}, {so_it_is(top[pair])}"
                rows.append([f"`{pair[0]}`" if "(" in pair[0] else pair[0], f"`{pair[1]}`" if "(" in pair[1] else pair[1],
                             cell(mean[pair]), cell(top[pair]), words])  # fmt: skip
    return table(["trained by", "beside", MEAN, TOP, "so it is"], rows)


def state(results: Results, wanted: Sequence[Task]) -> str:
    """What has been trained, of what the protocol asks for."""
    done = results.values.done()
    missing = [task for task in wanted if task.key not in done]
    if not missing:
        return f"All {len(wanted)} trainings of the protocol are done."
    return wrapped(f"**Provisional: {len(missing)} of {len(wanted)} trainings are missing.** Do not read p-values yet.")


def few_queries(comparisons: Sequence[Comparison]) -> str:
    """GAP minus the other training measures at each number of training queries."""
    tests = told(comparisons)
    others = [name for name in MEASURES if name != "GAP"]
    rows = []
    for n in SIZES:
        cells = [tests.get((f"GAP from {n} queries", f"{name} from {n} queries")) for name in others]
        if any(cells):
            rows.append([str(n), *(cell(t) + (" *" if t.verdict != INCONCLUSIVE else "") if t else "" for t in cells)])
    return table(["training queries", *(f"GAP instead of {name}" for name in others)], rows)


def short_table(tests: Mapping[tuple[str, str], Verdict]) -> str:
    """Differences of one family in one measure."""
    rows = [[*pair, cell(t), f"{t.p:.3f}", so_it_is(t)] for pair, t in tests.items()]
    return table(["trained by", "beside", MEAN, "p, corrected", "so it is"], rows)


def otherwise_counted(comparisons: Sequence[Comparison]) -> str:
    """The leads as they come: without the collections that a default was chosen on, and with collections for units."""
    rows = []
    for c in comparisons:
        if (c.first, c.second) in LEADS and len(c.collections) == len(FILES):
            rest = c.among([data for data in FILES if data not in OF_DEFAULTS])
            for what, estimates in (
                (f"without them, {rest.n_queries} queries", [rest.over_models(m) for m in (MEAN, TOP)]),
                ("all seven, each one observation", [c.over_collections(m) for m in (MEAN, TOP)]),
            ):
                cells = [f"{signed(e.mean)} ({interval_text(e.interval())})" for e in estimates]
                rows.append([f"`{c.first}`", f"`{c.second}`", what, *cells])
    return table(["trained by", "beside", "collections", MEAN, TOP], rows)


def own_parameters(of: Mapping[str, Sequence[Comparison]]) -> str:
    """How far the boosters' own rankers get with what ours differ in: our lead, less what is left of it."""
    by_pair = {(c.first, c.second): c for name in ("as they come", "controls") for c in of[name]}
    if not {*LEADS, *CONTROLLED} <= by_pair.keys():
        return ""
    said = []
    for lead, left in zip(LEADS, CONTROLLED, strict=True):
        apart = {model: d - by_pair[left].differences[model] for model, d in by_pair[lead].differences.items()}
        gained = Comparison(left[1], lead[1], apart).over_models()
        said.append(f"`{left[1]}` is {signed(gained.mean)} ({interval_text(gained.interval())}) ahead of `{lead[1]}`")
    return wrapped(
        f"Much of the leads is had with a booster's own parameters, in the mean of six: {said[0]}, {said[1]}."
    )


def alone(of: Mapping[str, Sequence[Comparison]], data: str = LAST) -> dict[tuple[str, str], Verdict]:
    """The six objectives tuned alike on one collection, a family of its own in the protocol, by its queries."""
    there = [c.among([data]) for c in of["tuned"] if data in c.collections]
    return judged({(c.first, c.second, MEAN): [np.concatenate(c.models())] for c in there})


def losses(of: Mapping[str, Sequence[Comparison]]) -> str:
    """What is lost on single collections, and to whom."""
    said = [
        f"{first} is behind {second} on `{LAST}`, {cell(one)}, p {p_text(one.p)} (a family of six)"
        for (first, second), one in alone(of).items()
        if one.verdict == BEHIND
    ]
    for name in ("as they come", "tuned", "others"):
        for c in of[name]:
            cells: dict[str, list[str]] = {}
            for data, measure in c.behind():
                cells.setdefault(data, []).append(measure)
            for data, lost in cells.items():
                which = "all six measures" if len(lost) == len(COLUMNS) - 1 else ", ".join(lost)
                said.append(f"{c.first} is behind {c.second} on `{data}` in {which} (of 42 cells)")
    return wrapped(f"Proven lost on single collections, by their queries: {'; '.join(said)}.") if said else ""


def redraw(
    wanted: Sequence[Task], results: Results, page: Path = PAGE, figures_to: Path = FIGURES, csv_to: Path = RESULTS
) -> None:
    """The page, its figures and the file of comparisons, of what is saved."""
    of = families(results)
    with (csv_to / "comparisons.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(every(of))
    sections = {
        "state": state(results, wanted),
        "table": first_table(of),
        "own parameters": own_parameters(of),
        "losses": losses(of),
        "otherwise": otherwise_counted(of["as they come"]),
        "by the mean": short_table(told(of["tuned, chosen by the mean"])),
        "less data": few_queries(of["less data"]),
        "g": short_table(told(of["g"])),
    }
    for name, text in sections.items():
        write(name, text, page)
    shown = [c for name, pairs in SHOWN.items() for c in of[name] if (c.first, c.second) in pairs]
    if shown:
        figures.draw(shown, figures_to / "effectiveness.png")
    figures.draw_less_data(load(results.values, "less data", "mean"), figures_to / "effectiveness_less_data.png")
