"""Compare rankers on seven collections with `compare_rankers`, and write the tables of the page.

    python -m benchmarks.studies.effectiveness                  # train the defaults, about two hours
    python -m benchmarks.studies.effectiveness --rankers tuned  # sixteen candidates of each ranker
    python -m benchmarks.studies.effectiveness --redraw         # the page, from the saved results
    python -m benchmarks.studies.effectiveness --data mine.csv  # the same comparison on your data

An interrupted run continues where it stopped. `PROTOCOL.md` gives the design. Data of your own are
LETOR, CSV or Parquet files, with grades in a column ``label`` and query ids in a column ``qid``.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.effectiveness.data import FILES, collections
from benchmarks.studies.effectiveness.rankers import FAMILIES, RANKERS
from benchmarks.studies.tables import interval_text, signed, table, write
from gapboost.analysis.estimates import Estimate, independent, pooled
from gapboost.comparison import Comparison, compare_rankers
from gapboost.comparison.files import read_data
from gapboost.comparison.verdicts import estimate_difference

RESULTS = Path(__file__).parent / "results"
CACHE = Path(__file__).parents[2] / ".cache" / "effectiveness"
PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
# Measures, and their names in the results.
MEASURES = {"ndcg@10": "nDCG@10", "ndcg": "nDCG", "map": "AP", "p@10": "P@10", "gap": "GAP", "egap": "eGAP"}
MEAN = "mean of six"
# Measure and unit of each table.
TABLES = ((MEAN, "queries"), ("nDCG@10", "queries"), (MEAN, "collections"))
MARGIN = 0.003
# Trained after all others: their trainings take most of the time.
SLOW = "CatBoost"
Rows = list[dict[str, Any]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rankers", choices=tuple(RANKERS), default="defaults", help="default: %(default)s")
    parser.add_argument("--data", nargs="+", type=Path, default=[], metavar="FILE", help="files of your own")
    parser.add_argument("--redraw", action="store_true", help="only write the tables of the saved results")
    parser.add_argument("--n-jobs", type=int, default=1, help="processes (default: %(default)s)")
    given = parser.parse_args(arguments)
    results = CACHE / "own" if given.data else RESULTS
    names = [path.stem for path in given.data] or list(FILES)
    if not given.redraw:
        run(given.rankers, given.data, results, given.n_jobs)
    if given.data:
        print(tables(given.rankers, pd.read_csv(results / "estimates.csv"), names))
    else:
        write("second run", page_text(), PAGE)


def run(chosen: str, files: Sequence[Path], results: Path, n_jobs: int) -> None:
    """Train the rankers of a set on all collections, first the fast ones, and save the results."""
    sources = {path.stem: path for path in files} or {one.name: one for one in collections() if one.there}
    tuning: dict[str, Any] = {"tune": 16, "choose_by": "ndcg@10"} if chosen == "tuned" else {}
    fast = {name: ranker for name, ranker in RANKERS[chosen].items() if not name.startswith(SLOW)}
    for rankers in (fast, RANKERS[chosen]):
        for name, source in sources.items():
            data = read_data([source], "label", "qid", []) if isinstance(source, Path) else source.data
            comparison = compare_rankers(
                data.X, data.y, data.qid, rankers, measures=tuple(MEASURES), cv=5, repeats=3, n_jobs=n_jobs,
                checkpoint=CACHE / chosen / name, progress=True, **tuning,
            )  # fmt: skip
            save(results / "models.csv", chosen, name, models(comparison))
            save(results / "estimates.csv", chosen, name, estimates(comparison, FAMILIES[chosen]))


def save(path: Path, chosen: str, collection: str, rows: Rows) -> None:
    """Replace the rows of a set of rankers on a collection."""
    new = pd.DataFrame([{"rankers": chosen, "collection": collection, **row} for row in rows])
    if path.exists():
        old = pd.read_csv(path, dtype=str)  # numbers stay as they were written
        new = pd.concat([old[(old["rankers"] != chosen) | (old["collection"] != collection)], new])
    path.parent.mkdir(parents=True, exist_ok=True)
    new.to_csv(path, index=False, lineterminator="\n")


def models(comparison: Comparison) -> Rows:
    """Return a row for each tested model: means over its test queries."""
    splits = comparison.training.splits
    return [
        {
            "ranker": one.task.ranker, "repeat": one.task.repeat, "fold": splits[one.task.split].fold + 1,
            "queries": len(splits[one.task.split].test),
            **{MEASURES[name]: f"{np.mean(values):.6f}" for name, values in one.values.items()},
            "fit seconds": f"{one.fit_seconds:.3f}",
        }
        for one in comparison.values.results
    ]  # fmt: skip


def estimates(comparison: Comparison, families: Mapping[str, Sequence[tuple[str, str]]]) -> Rows:
    """Return a row for each pair whose rankers were compared, and each measure."""
    queries = [split.test for split in comparison.training.splits]
    rows = []
    for family, pairs in families.items():
        for first, second in pairs:
            if not {first, second} <= set(comparison.rankers):
                continue
            a, b = (values(comparison, ranker) for ranker in (first, second))
            for measure in a:
                found = estimate_difference(list(zip(a[measure], b[measure], strict=True)), queries)
                rows.append(
                    {
                        "family": family, "trained by": first, "beside": second, "measure": measure,
                        "queries": comparison.values.n_queries, "difference": f"{found.mean:.8f}",
                        "error": f"{found.error:.8f}", "freedom": f"{found.freedom:.8g}",
                    }
                )  # fmt: skip
    return rows


def values(comparison: Comparison, ranker: str) -> dict[str, list[Any]]:
    """Return the values of the test queries of each split by each measure, and their means."""
    found = {name: comparison.values.of(ranker, measure) for measure, name in MEASURES.items()}
    return found | {MEAN: [np.mean(of_split, axis=0) for of_split in zip(*found.values(), strict=True)]}


def estimate(rows: pd.DataFrame, units: str) -> Estimate:
    """Return the mean over all queries, or over the collections."""
    if units == "collections":
        return independent(rows["difference"].to_numpy())
    found = [Estimate(*row) for row in rows[["difference", "error", "freedom"]].to_numpy().tolist()]
    return pooled(found, rows["queries"].tolist())


def tables(chosen: str, saved: pd.DataFrame, names: Sequence[str], first: pd.DataFrame | None = None) -> str:
    """Return the tables of a set of rankers, beside those of the first run if it is given."""
    saved = saved[(saved["rankers"] == chosen) & saved["collection"].isin(names)]
    head = ["family (size)", "trained by", "beside"]
    head += ["difference", "verdict"] if first is None else ["first run", "verdict", "second run", "verdict"]
    parts = []
    for measure, units in TABLES if len(names) > 1 else TABLES[:2]:
        lines = []
        for family, pairs in FAMILIES[chosen].items():
            for pair in pairs:
                wanted = {"family": family, "trained by": pair[0], "beside": pair[1], "measure": measure}
                rows = matching(saved, wanted)
                if len(rows) < len(names):
                    continue  # a ranker that is not trained on all collections yet
                found, size = estimate(rows, units), len(pairs) if units == "queries" else 1
                line = [f"{family} ({len(pairs)})", *(f"`{name}`" if "(" in name else name for name in pair)]
                if first is not None:
                    (row,) = matching(first, {**wanted, "units": units}).to_dict("records")
                    line += [cell(row["difference"], (row["low"], row["high"])), row["verdict"]]
                interval, verdict = found.interval(family=size), found.verdict(family=size, margin=MARGIN)
                lines.append([*line, cell(found.mean, interval), verdict])
        if lines:
            together = "95 % together in a family" if units == "queries" else "95 % each"
            parts += [f"**{measure}, over {units}.** Intervals hold with {together}.", table(head, lines)]
    return "\n\n".join(parts)


def matching(rows: pd.DataFrame, wanted: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows with these values."""
    return rows[np.all([rows[name] == value for name, value in wanted.items()], axis=0)]


def cell(mean: float, interval: tuple[float, float]) -> str:
    """Return a difference with its interval; with more digits if an end would be shown as 0."""
    digits = next((n for n in (4, 5) if all(round(end, n) for end in interval)), 6)
    return f"{signed(mean, digits)} ({interval_text(interval, digits)})"


def page_text(results: Path = RESULTS) -> str:
    """Return the part of the page about the second run, from the saved results."""
    first = pd.read_csv(RESULTS / "tables" / "first_run.csv")
    parts = []
    if (results / "estimates.csv").exists():
        saved, trained = (pd.read_csv(results / name) for name in ("estimates.csv", "models.csv"))
        for chosen, rankers in RANKERS.items():
            of_rankers = trained[trained["rankers"] == chosen].groupby("ranker")["collection"].nunique()
            missing = [f"`{name}`" for name in rankers if of_rankers.get(name, 0) < len(FILES)]
            if text := tables(chosen, saved, list(FILES), first):
                state = f"Not trained on all collections yet: {', '.join(missing)}." if missing else ""
                parts += [f"### Second run, {chosen}", state, text]
    return "\n\n".join(filter(None, parts)) or "No pair of rankers is trained on all collections yet."


if __name__ == "__main__":
    main()
