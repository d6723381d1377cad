"""The tables of `benchmarks/EFFECTIVENESS.md`, written between its markers."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.studies.effectiveness.competitors import COMPETITORS, UNTUNED
from benchmarks.studies.effectiveness.data import FILES, HELD_OUT
from benchmarks.studies.effectiveness.results import Results, Task, read
from benchmarks.studies.effectiveness.side_studies import FREQUENCIES, INFORMATIVE, MEASURES, SIZES
from benchmarks.studies.effectiveness.statistics import COLUMNS, LEVEL, MEAN, Comparison, Queries, compare, holm, means
from benchmarks.workload import table

PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
PRIMARY = (
    ("LightGBM GAP", "LightGBM lambdarank"),
    ("LightGBM GAP", "LightGBM lambdarank of all pairs"),
    ("LightGBM GAP", "LightGBM rank_xendcg"),
    ("XGBoost GAP", "XGBoost rank:ndcg"),
    ("XGBoost GAP", "XGBoost rank:pairwise"),
    ("XGBoost GAP", "XGBoost rank:map"),
)
SECONDARY = (
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
)
AS_THEY_COME = (
    ("LGBMGAPRanker()", "LGBMRanker()"),
    ("LGBMGAPRanker()", "LGBMRanker(objective='rank_xendcg')"),
    ("LGBMGAPRanker()", "LGBMRanker(extra_trees=True)"),
    ("LGBMGAPRanker(extra_trees=False)", "LGBMRanker()"),
    ("XGBGAPRanker()", "XGBRanker()"),
    ("XGBGAPRanker()", "XGBRanker(objective='rank:pairwise')"),
    ("XGBGAPRanker()", "XGBRanker(objective='rank:map')"),
    ("LGBMGAPRanker()", "CatBoostRanker()"),
    ("XGBGAPRanker()", "CatBoostRanker()"),
)
# What the README and the first lines of the page compare: rankers and objectives that people have by default.
BY_DEFAULT = (AS_THEY_COME[0], AS_THEY_COME[4])
OBJECTIVES_BY_DEFAULT = (PRIMARY[0], PRIMARY[3])
RESAMPLES = 9999
STUDIES = {"untuned": "estimators as they come", "tuned": "tuned", "less data": "less data", "g": "choice of g"}
NOTHING = "Nothing is trained yet."
FIGURE = """![GAP beside the boosters' own objectives on every collection](figures/effectiveness.png)

Intervals of single collections are not corrected. `mq2007` has 1 692 of the queries."""
LESS_DATA_FIGURE = "![Mean of the measures by number of training queries](figures/effectiveness_less_data.png)"

Pairs = Sequence[tuple[str, str]]
Found = Mapping[str, Queries]


def write(name: str, text: str, page: Path = PAGE) -> None:
    """Replace what stands between the markers of `name`."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1:
        raise ValueError(f"{page} holds {begin} {old.count(begin)} times; expected it once, and {end} after it")
    head, rest = old.split(begin)
    page.write_text(f"{head}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", encoding="utf-8")


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False)


def state(results: Results, wanted: Sequence[Task]) -> str:
    """What has been trained, of what the protocol asks for."""
    done = results.done()
    missing = [task for task in wanted if task.key not in done]
    if not missing:
        return "The study is complete."
    counts = []
    for study, name in STUDIES.items():
        of_study = [task for task in wanted if task.study == study]
        counts.append(f"{sum(task.key in done for task in of_study)} of {len(of_study)} ({name})")
    rest = all("CatBoost" in task.competitor for task in missing)
    return wrapped(
        f"**{'Complete but for trainings of CatBoost' if rest else 'Provisional: the study is still being trained'}.** Finished "
        f"tasks: {', '.join(counts)}. {'Rows that name CatBoost' if rest else 'Tables'} compare on the queries that both "
        "were tested on so far, and say on how many; a p-value looked at before the end proves nothing."
    )


def comparisons(found: Found, pairs: Pairs, among: Sequence[str] | None = None) -> list[Comparison]:
    """Of those that have queries in common."""
    return [c for pair in pairs if (c := compare(found, *pair, among)).n_queries > 1]


def summary(untuned: Found, tuned: Found) -> str:
    """The findings in a list, without what the tables say of single competitors."""
    found = [primary(tuned)]
    come = comparisons(untuned, [AS_THEY_COME[0], AS_THEY_COME[2], AS_THEY_COME[4]])
    if come:
        found.insert(0, f"**As they come**: {told(come)}.")
    held_out = comparisons(tuned, [PRIMARY[0], PRIMARY[2], PRIMARY[3]], [HELD_OUT])
    if held_out:
        found.append(f"**On the collection that was held out**, alone: {told(held_out)}.")
    return "\n".join(f"* {wrapped(line)}".replace("\n", "\n  ") for line in found)


def told(compared: Sequence[Comparison]) -> str:
    """Differences with their intervals."""
    tests = {c: c.of() for c in compared}
    return "; ".join(
        f"{c.first} {signed(r.difference)} ({interval_text(r.interval)}) beside {c.second}" for c, r in tests.items()
    )


def primary(found: Found) -> str:
    """One sentence about the primary tests."""
    compared = comparisons(found, PRIMARY)
    if not compared:
        return NOTHING
    tests = {c: c.of() for c in compared}
    p = holm({c: r.t for c, r in tests.items()})
    ahead = [c for c, r in tests.items() if r.difference > 0]
    proven = [c for c in ahead if p[c] < LEVEL]
    behind = [c for c in compared if c not in ahead and p[c] < LEVEL]
    worse = sum(len(c.worse()) for c in compared)
    cells = sum(len(c.differences) for c in compared) * (len(COLUMNS) - 1)
    return (
        f"**Tuned alike** and chosen by nDCG@10, training for GAP is ahead of the booster's own objective in {len(ahead)} of "
        f"{len(compared)} comparisons, proven in {len(proven)}; it is proven behind in {len(behind)}, and on single "
        f"collections and measures in {worse} of {cells} cells."
    )


def differences(found: Found, pairs: Pairs, among: Sequence[str] | None = None) -> str:
    """First minus second in the mean of the measures, with p-values corrected over the table."""
    compared = comparisons(found, pairs, among)
    if not compared:
        return NOTHING
    tests = {c: c.of(n_resamples=RESAMPLES) for c in compared}
    p_t = holm({c: r.t for c, r in tests.items()})
    p_random = holm({c: r.randomization for c, r in tests.items()})
    head = ["trained by", "beside", "queries", "difference", "95 % interval", "p, t", "p, randomisation", "effect size",
            "collections ahead", "each weighing the same", "proven worse on"]  # fmt: skip
    rows = []
    for c, r in tests.items():
        ahead = sum(d[:, -1].mean() > 0 for d in c.differences.values())
        same, interval, _ = c.mean_of_collections()
        worse = ", ".join(f"{data} ({m})" for data, m in c.worse()) or "none"
        rows.append(
            [c.first, c.second, str(c.n_queries), signed(r.difference), interval_text(r.interval), p_text(p_t[c]),
             p_text(p_random[c]), signed(r.effect_size, 2), f"{ahead} of {len(c.differences)}",
             f"{signed(same)} ({interval_text(interval)})", worse]
        )  # fmt: skip
    return table(head, rows)


def by_collection(found: Found, pairs: Pairs) -> str:
    """First minus second in the mean of the measures on each collection, with uncorrected intervals."""
    compared = comparisons(found, pairs)
    names = [name for name in FILES if any(name in c.differences for c in compared)]
    rows = []
    for c in compared:
        cells = []
        for name in names:
            if name in c.differences:
                r = c.of(MEAN, name)
                cells.append(f"{signed(r.difference)} ± {(r.interval[1] - r.interval[0]) / 2:.4f}")
            else:
                cells.append("")
        rows.append([c.first, c.second, *cells])
    return table(["trained by", "beside", *names], rows) if rows else NOTHING


def values(found: Found, names: Sequence[str]) -> str:
    """The mean of the measures on each collection, of those that have finished most; bold the best of a column."""
    finished = {name: len(found.get(name, {})) for name in names}
    there = [name for name, folds in finished.items() if folds and folds == max(finished.values())]
    shared = set.intersection(*(set(found[name]) for name in there)) if there else set()
    if not shared:
        return NOTHING
    columns = {
        f"{data} ({count(found[there[0]], data, shared)})": data
        for data in FILES
        if count(found[there[0]], data, shared)
    }
    cells = {
        name: [means({key: found[name][key] for key in shared if key[0] == data})[-1] for data in columns.values()]
        for name in there
    }
    best = np.max(list(cells.values()), axis=0)
    rows = [
        [name, *(f"**{v:.4f}**" if v == b else f"{v:.4f}" for v, b in zip(row, best, strict=True))]
        for name, row in cells.items()
    ]
    return table(["trained by", *columns], rows)


def count(queries: Queries, data: str, keys: set[tuple[str, int]]) -> int:
    """Test queries of a collection."""
    return sum(len(queries[key]) for key in keys if key[0] == data)


def pictures(untuned: Found, tuned: Found) -> dict[str, dict[str, dict[str, Comparison]]]:
    """What `figures.draw` takes for each file: all primary comparisons for the page, the boosters' defaults for the README."""
    page: dict[str, dict[str, Comparison]] = {}
    for c in comparisons(tuned, PRIMARY):
        library, second = c.second.split(" ", 1)
        page.setdefault(f"{c.first} minus {library}'s own", {})[f"beside {second}"] = c
    readme = {
        "as they come": {f"{c.first} − {c.second}": c for c in comparisons(untuned, BY_DEFAULT)},
        "tuned alike": {f"{c.first} − {c.second}": c for c in comparisons(tuned, OBJECTIVES_BY_DEFAULT)},
    }
    found = {"effectiveness.png": page, "effectiveness_in_short.png": readme}
    return {file: panels for file, panels in found.items() if panels and all(panels.values())}


def less_data(found: Found) -> str:
    """GAP minus the other training measures at each number of training queries."""
    compared = {
        (n, name): compare(found, f"GAP from {n} queries", f"{name} from {n} queries")
        for n in SIZES
        for name in MEASURES
        if name != "GAP"
    }
    compared = {key: c for key, c in compared.items() if c.n_queries}
    if not compared:
        return NOTHING
    tests = {key: c.of() for key, c in compared.items()}
    p = holm({key: r.t for key, r in tests.items()})
    rows = []
    for n in [n for n in SIZES if (n, "nDCG") in compared]:
        cells = []
        for name in [name for name in MEASURES if name != "GAP"]:
            if (n, name) not in compared:
                cells.append("")
                continue
            r = tests[n, name]
            cells.append(f"{signed(r.difference)} ({interval_text(r.interval)}){' *' if p[n, name] < LEVEL else ''}")
        rows.append([str(n), *cells])
    head = ["training queries", *(f"GAP instead of {name}" for name in MEASURES if name != "GAP")]
    return f"{LESS_DATA_FIGURE}\n\n{table(head, rows)}\n\nA star: p < .05 after Holm's correction over the table."


def choice_of_g(found: Found, results: Results) -> str:
    """Chosen, most informative and frequency g beside uniform g."""
    vali: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in read(results.fits):
        if row["study"] == "g":
            vali.setdefault((row["data"], int(row["fold"])), {}).setdefault(row["competitor"], []).append(
                float(row["vali mean"])
            )
    grid = [f"g = {k / 10:.1f} {1 - k / 10:.1f}" for k in range(11)]
    chosen: Queries = {}
    for key, by_name in vali.items():
        if all(name in by_name and key in found.get(name, {}) for name in grid):
            best = max(grid, key=lambda name: float(np.mean(by_name[name])))
            chosen[key] = found[best][key]
    uniform = "g = 0.5 0.5"
    pairs = [("g chosen on validation", uniform), (INFORMATIVE, uniform), (FREQUENCIES, uniform)]
    return differences({**found, "g chosen on validation": chosen}, pairs)


def signed(value: float, digits: int = 4) -> str:
    """With a sign that is a minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def p_text(p: float) -> str:
    """Three digits."""
    return f"{p:.3f}" if p >= 0.001 else "< .001"


def interval_text(interval: tuple[float, float]) -> str:
    """From and to."""
    return f"{signed(interval[0])} … {signed(interval[1])}"


def sections(results: Results, wanted: Sequence[Task], load: Mapping[tuple[str, str], Found]) -> dict[str, str]:
    """Every generated part of the page; `load` holds the values of each study and choice."""
    tuned, second, untuned = load["tuned", "nDCG@10"], load["tuned", "mean"], load["untuned", "none"]
    return {
        "state": state(results, wanted),
        "summary": summary(untuned, tuned),
        "primary": differences(tuned, PRIMARY),
        "figure": FIGURE if comparisons(tuned, PRIMARY) else NOTHING,
        "second": differences(second, PRIMARY),
        "secondary": differences(tuned, SECONDARY),
        "held out": differences(tuned, PRIMARY, [HELD_OUT]),
        "by collection": by_collection(tuned, [*PRIMARY, *SECONDARY]),
        "untuned": differences(untuned, AS_THEY_COME),
        "untuned by collection": by_collection(untuned, AS_THEY_COME),
        "values": values(tuned, [c.name for c in COMPETITORS]),
        "untuned values": values(untuned, list(UNTUNED)),
        "less data": less_data(load["less data", "mean"]),
        "g": choice_of_g(load["g", "mean"], results),
    }
