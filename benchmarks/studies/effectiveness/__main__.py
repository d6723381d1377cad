"""Compare rankers on seven collections with `compare_rankers`, and write the tables of the page.

    python -m benchmarks.studies.effectiveness                  # train the defaults: two hours
    python -m benchmarks.studies.effectiveness --rankers tuned  # sixteen candidates of each ranker
    python -m benchmarks.studies.effectiveness --redraw         # the page, from the saved results
    python -m benchmarks.studies.effectiveness --data mine.csv  # the same comparison on your data

An interrupted run continues where it stopped. `PROTOCOL.md` gives the design. Data of your own are
LETOR, CSV or Parquet files, with grades in a column ``label`` and query ids in a column ``qid``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import table, write
from benchmarks.studies.comparisons import MARGIN, MEAN, cell, compare, estimate, matching
from benchmarks.studies.effectiveness.data import FILES, collections
from benchmarks.studies.effectiveness.rankers import FAMILIES, RANKERS
from gapboost.comparison.files import read_data

RESULTS = Path(__file__).parent / "results"
CACHE = Path(__file__).parents[2] / ".cache" / "effectiveness"
PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
# Measure and unit of each table.
TABLES = ((MEAN, "queries"), ("nDCG@10", "queries"), (MEAN, "collections"))
# Trained after all others: their trainings take most of the time.
SLOW = "CatBoost"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rankers", choices=tuple(RANKERS), default="defaults", help="default: %(default)s"
    )
    parser.add_argument(
        "--data", nargs="+", type=Path, default=[], metavar="FILE", help="files of your own"
    )
    parser.add_argument(
        "--redraw", action="store_true", help="only write the tables of the saved results"
    )
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
    sources = {path.stem: path for path in files} or {one.name: one for one in collections()}
    tuning: dict[str, Any] = {"tune": 16, "choose_by": "ndcg@10"} if chosen == "tuned" else {}
    fast = {name: ranker for name, ranker in RANKERS[chosen].items() if not name.startswith(SLOW)}
    for rankers in (fast, RANKERS[chosen]):
        for name, source in sources.items():
            data = (
                read_data([source], "label", "qid", []) if isinstance(source, Path) else source.data
            )
            compare(
                chosen,
                rankers,
                FAMILIES[chosen],
                name,
                data,
                (results, CACHE),
                n_jobs=n_jobs,
                **tuning,
            )


def tables(
    chosen: str, saved: pd.DataFrame, names: Sequence[str], first: pd.DataFrame | None = None
) -> str:
    """Return the tables of a set of rankers, beside those of the first run if it is given."""
    saved = saved[(saved["rankers"] == chosen) & saved["collection"].isin(names)]
    head = ["family (size)", "trained by", "beside"]
    head += (
        ["difference", "verdict"]
        if first is None
        else ["first run", "verdict", "second run", "verdict"]
    )
    parts = []
    for measure, units in TABLES if len(names) > 1 else TABLES[:2]:
        lines = []
        for family, pairs in FAMILIES[chosen].items():
            for pair in pairs:
                wanted = {
                    "family": family,
                    "trained by": pair[0],
                    "beside": pair[1],
                    "measure": measure,
                }
                rows = matching(saved, wanted)
                if len(rows) < len(names):
                    continue  # a ranker that is not trained on all collections yet
                found, size = estimate(rows, units), len(pairs) if units == "queries" else 1
                line = [
                    f"{family} ({len(pairs)})",
                    *(f"`{name}`" if "(" in name else name for name in pair),
                ]
                if first is not None:
                    (row,) = matching(first, {**wanted, "units": units}).to_dict("records")
                    line += [cell(row["difference"], (row["low"], row["high"])), row["verdict"]]
                interval, verdict = (
                    found.interval(family=size),
                    found.verdict(family=size, margin=MARGIN),
                )
                lines.append([*line, cell(found.mean, interval), verdict])
        if lines:
            together = "95 % together in a family" if units == "queries" else "95 % each"
            parts += [
                f"**{measure}, over {units}.** Intervals hold with {together}.",
                table(head, lines),
            ]
    return "\n\n".join(parts)


def page_text(results: Path = RESULTS) -> str:
    """Return the part of the page about the second run, from the saved results."""
    first = pd.read_csv(RESULTS / "tables" / "first_run.csv")
    parts = []
    if (results / "estimates.csv").exists():
        saved, trained = (pd.read_csv(results / name) for name in ("estimates.csv", "models.csv"))
        for chosen, rankers in RANKERS.items():
            of_rankers = (
                trained[trained["rankers"] == chosen].groupby("ranker")["collection"].nunique()
            )
            missing = [f"`{name}`" for name in rankers if of_rankers.get(name, 0) < len(FILES)]
            if text := tables(chosen, saved, list(FILES), first):
                state = (
                    f"Not trained on all collections yet: {', '.join(missing)}." if missing else ""
                )
                parts += [f"### Second run, {chosen}", state, text]
    return (
        "\n\n".join(filter(None, parts)) or "No pair of rankers is trained on all collections yet."
    )


if __name__ == "__main__":
    main()
