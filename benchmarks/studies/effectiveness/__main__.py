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
from gapboost.analysis.estimates import Estimate, independent
from gapboost.comparison import Comparison, compare_rankers
from gapboost.comparison.files import read_data
from gapboost.comparison.verdicts import estimate_difference

RESULTS = Path(__file__).parent / "results"
CACHE = Path(__file__).parents[2] / ".cache" / "effectiveness"
PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
# Measures, and their names in the results.
MEASURES = {"ndcg@10": "nDCG@10", "ndcg": "nDCG", "map": "AP", "p@10": "P@10", "gap": "GAP", "egap": "eGAP"}
MEAN = "mean of six"
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
        old = pd.read_csv(path)
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
                        "queries": comparison.values.n_queries, "difference": found.mean, "error": found.error,
                        "freedom": found.freedom,
                    }
                )  # fmt: skip
    return rows


def values(comparison: Comparison, ranker: str) -> dict[str, list[Any]]:
    """Return the values of the test queries of each split by each measure, and their means."""
    found = {name: comparison.values.of(ranker, measure) for measure, name in MEASURES.items()}
    return found | {MEAN: [np.mean(of_split, axis=0) for of_split in zip(*found.values(), strict=True)]}


def over_queries(rows: pd.DataFrame) -> Estimate:
    """Return the mean over the queries of all collections, which are independent of each other.

    The degrees of freedom are Satterthwaite's.
    """
    weight = (rows["queries"] / rows["queries"].sum()).to_numpy()
    variances = (weight * rows["error"].to_numpy()) ** 2
    freedom = variances.sum() ** 2 / (variances**2 / rows["freedom"].to_numpy()).sum()
    return Estimate(float(weight @ rows["difference"]), float(np.sqrt(variances.sum())), float(freedom))


def tables(chosen: str, saved: pd.DataFrame, names: Sequence[str], first: pd.DataFrame | None = None) -> str:
    """Return the tables of a set of rankers, beside those of the first run if it is given."""
    parts = []
    for measure, units in ((MEAN, "queries"), ("nDCG@10", "queries"), (MEAN, "collections")):
        lines = []
        for family, pairs in FAMILIES[chosen].items():
            size = len(pairs) if units == "queries" else 1
            for pair in pairs:
                chosen_rows = saved[(saved["rankers"] == chosen) & (saved["measure"] == measure)]
                rows = chosen_rows[(chosen_rows["trained by"] == pair[0]) & (chosen_rows["beside"] == pair[1])]
                rows = rows[rows["collection"].isin(names)]
                if set(rows["collection"]) != set(names) or (units == "collections" and len(names) < 2):
                    continue
                found = over_queries(rows) if units == "queries" else independent(rows["difference"].to_numpy())
                cells = [f"{family} ({len(pairs)})", *(f"`{name}`" for name in pair)]
                if first is not None:
                    cells += before(first, family, pair, measure, units)
                lines.append([*cells, cell(found.mean, found.interval(family=size)), word(found, size)])
        head = ["family (size)", "trained by", "beside", *["first run", "verdict"] * (first is not None)]
        if lines:
            over = "intervals hold together for a family" if units == "queries" else "each interval alone"
            parts.append(f"In the {measure}, over {units}; {over}:".replace("the nDCG", "nDCG"))
            parts.append(table([*head, "second run" if first is not None else "difference", "verdict"], lines))
    return "\n\n".join(parts)


def word(found: Estimate, size: int) -> str:
    """Return the verdict of the displayed interval."""
    return found.verdict(family=size, margin=MARGIN)


def cell(mean: float, interval: tuple[float, float]) -> str:
    """Return a difference with its interval."""
    return f"{signed(mean)} ({interval_text(interval)})"


def before(first: pd.DataFrame, family: str, pair: tuple[str, str], measure: str, units: str) -> list[str]:
    """Return the difference and the verdict of the first run."""
    wanted = {
        "family": family, "trained by": pair[0], "beside": pair[1], "measure": measure, "over": "all",
        "units": "21 pairs of models" if units == "queries" else "7 collections",
    }  # fmt: skip
    found = first[np.all([first[name] == text for name, text in wanted.items()], axis=0)]
    if found.empty:
        return ["", ""]
    row = found.iloc[0]
    interval = row["simultaneous low"], row["simultaneous high"]
    verdict = row["verdict"]
    if units == "collections":
        verdict = "ahead" if interval[0] > 0 else "behind" if interval[1] < 0 else "inconclusive"
    return [cell(row["difference"], interval), verdict]


def page_text(results: Path = RESULTS) -> str:
    """Return the part of the page about the second run, from the saved results."""
    if not (results / "estimates.csv").exists():
        return "No ranker is trained on all collections yet."
    saved, trained = (pd.read_csv(results / name) for name in ("estimates.csv", "models.csv"))
    first = pd.read_csv(RESULTS / "comparisons.csv")
    parts = []
    for chosen, rankers in RANKERS.items():
        there = trained[trained["rankers"] == chosen].groupby("ranker")["collection"].nunique()
        missing = [name for name in rankers if there.get(name, 0) < len(FILES)]
        text = tables(chosen, saved, list(FILES), first)
        if text:
            left = f" Not on all collections yet: {', '.join(f'`{name}`' for name in missing)}." if missing else ""
            parts += [
                f"### Second run, {chosen}",
                f"{len(rankers) - len(missing)} of {len(rankers)} rankers.{left}",
                text,
            ]
    return "\n\n".join(parts) or "No pair of rankers is trained on all collections yet."


if __name__ == "__main__":
    main()
