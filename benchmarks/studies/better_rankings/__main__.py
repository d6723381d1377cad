"""Train what the results lack, and write the page.

    python -m benchmarks.studies.better_rankings           # hours; about four for the second stage
    python -m benchmarks.studies.better_rankings --redraw  # the page, from the saved results

An interrupted run continues where it stopped. `PROTOCOL.md` gives the design of both stages.
"""

import argparse
from pathlib import Path

import pandas as pd

from benchmarks.studies.better_rankings import page
from benchmarks.studies.better_rankings.page import RESULTS, TUNED_RESULTS
from benchmarks.studies.better_rankings.rankers import FAMILIES, RANKERS, TUNED_FAMILIES, TUNED_RANKERS, YETIRANK
from benchmarks.studies.comparisons import compare
from benchmarks.studies.effectiveness.data import collections

CACHE = RESULTS.parents[2] / ".cache"
TUNING = {"tune": 8, "choose_by": "ndcg@10", "repeats": 1}
# CatBoost takes most of the time and is trained last.
FAST = {name: ranker for name, ranker in TUNED_RANKERS.items() if not name.startswith(YETIRANK)}
STAGES = (
    ("better_rankings", RANKERS, FAMILIES, RESULTS, {"repeats": 3}),
    ("tuned", FAST, TUNED_FAMILIES, TUNED_RESULTS, TUNING),
    ("tuned", TUNED_RANKERS, TUNED_FAMILIES, TUNED_RESULTS, TUNING),
)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="only write the page from the saved results")
    if not parser.parse_args().redraw:
        sources = sorted(collections(), key=lambda source: source.data.X.size)
        for stage, rankers, families, results, options in STAGES:
            for source in sources:
                if not rankers.keys() <= trained(results, source.name):
                    compare(stage, rankers, families, source.name, source.data, (results, CACHE), **options)
    page.redraw()


def trained(results: Path, collection: str) -> set[str]:
    """Return the rankers whose results on a collection are saved."""
    if not (results / "models.csv").exists():
        return set()
    saved = pd.read_csv(results / "models.csv")
    return set(saved["ranker"][saved["collection"] == collection])


if __name__ == "__main__":
    main()
