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
from benchmarks.studies.comparisons import MEAN, MEASURES, cell, estimate, matching, save
from benchmarks.studies.effectiveness.data import FILES, collections
from benchmarks.studies.effectiveness.rankers import FAMILIES, RANKERS
from gapboost.comparison import compare_rankers
from gapboost.comparison.files import read_data

RESULTS = Path(__file__).parent / "results"
CACHE = Path(__file__).parents[2] / ".cache" / "effectiveness"
PAGE = Path(__file__).parents[2] / "EFFECTIVENESS.md"
# Measure and unit of each table.
TABLES = ((MEAN, "queries"), ("nDCG@10", "queries"), (MEAN, "collections"))
# Largest difference that counts as equivalent.
MARGIN = 0.003
# Trained after all others: their trainings take most of the time.
SLOW = "CatBoost"


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is missing, and write the tables."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    option = parser.add_argument
    option("--rankers", choices=tuple(RANKERS), default="defaults", help="default: %(default)s")
    option("--data", nargs="+", type=Path, default=[], metavar="FILE", help="files of your own")
    option("--redraw", action="store_true", help="only write the tables of the saved results")
    option("--n-jobs", type=int, default=1, help="processes (default: %(default)s)")
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
    options: dict[str, Any] = {"measures": tuple(MEASURES), "cv": 5, "repeats": 3}
    options |= {"tune": 16, "choose_by": "ndcg@10"} if chosen == "tuned" else {}
    options |= {"n_jobs": n_jobs, "progress": True}
    fast = {name: ranker for name, ranker in RANKERS[chosen].items() if not name.startswith(SLOW)}
    for rankers in (fast, RANKERS[chosen]):
        for name, source in sources.items():  # one in memory at a time
            own = isinstance(source, Path)
            data = read_data([source], "label", "qid", []) if own else source.data
            cache = CACHE / chosen / name
            found = compare_rankers(data.X, data.y, data.qid, rankers, checkpoint=cache, **options)
            save(results, chosen, name, found, FAMILIES[chosen])


def tables(
    chosen: str, saved: pd.DataFrame, names: Sequence[str], first: pd.DataFrame | None = None
) -> str:
    """Return the tables of a set of rankers, beside those of the first run if it is given."""
    saved = saved[(saved["rankers"] == chosen) & saved["collection"].isin(names)]
    head = ["family (size)", "trained by", "beside", "difference", "verdict"]
    if first is not None:
        head[3:] = ["first run", "verdict", "second run", "verdict"]
    parts = []
    for measure, units in TABLES if len(names) > 1 else TABLES[:2]:
        lines = []
        for family, pairs in FAMILIES[chosen].items():
            for a, b in pairs:
                wanted = {"family": family, "trained by": a, "beside": b, "measure": measure}
                rows = matching(saved, wanted)
                if len(rows) < len(names):
                    continue  # a ranker that is not trained on all collections yet
                found, size = estimate(rows, units), len(pairs) if units == "queries" else 1
                line = [f"{family} ({len(pairs)})"]
                line += [f"`{name}`" if "(" in name else name for name in (a, b)]
                if first is not None:
                    (row,) = matching(first, {**wanted, "units": units}).to_dict("records")
                    line += [cell(row["difference"], (row["low"], row["high"])), row["verdict"]]
                verdict = found.verdict(family=size, margin=MARGIN)
                lines.append([*line, cell(found.mean, found.interval(family=size)), verdict])
        if lines:
            together = "95 % together in a family" if units == "queries" else "95 % each"
            title = f"**{measure}, over {units}.** Intervals hold with {together}."
            parts += [title, table(head, lines)]
    return "\n\n".join(parts)


def page_text() -> str:
    """Return the part of the page about the second run, from the saved results."""
    first = pd.read_csv(RESULTS / "tables" / "first_run.csv")
    saved, trained = (pd.read_csv(RESULTS / name) for name in ("estimates.csv", "models.csv"))
    n_collections = trained.groupby(["rankers", "ranker"])["collection"].nunique()
    parts = []
    for chosen, rankers in RANKERS.items():
        of_set = n_collections.get(chosen, {})
        missing = [f"`{name}`" for name in rankers if of_set.get(name, 0) < len(FILES)]
        if text := tables(chosen, saved, list(FILES), first):
            parts.append(f"### Second run, {chosen}")
            if missing:
                parts.append(f"Not trained on all collections yet: {', '.join(missing)}.")
            parts.append(text)
    return "\n\n".join(parts) or "No pair of rankers is trained on all collections yet."


if __name__ == "__main__":
    main()
