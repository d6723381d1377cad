"""The papers' tables, figures and theorems on data at hand.

    python -m benchmarks.studies.papers [--redraw] [ITEM ...]

Computes what is not saved in benchmarks/studies/papers/results yet, and writes benchmarks/PAPERS.md and its pictures from what is
saved. It can be interrupted at any time. `--redraw` computes nothing. Data are expected in ../shared/data, or where
GAPBOOST_DATA points.
"""

import argparse

from benchmarks.studies.papers import page
from benchmarks.studies.papers.items import ITEMS
from benchmarks.studies.papers.results import finish


def main() -> None:
    """Compute and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"by default all: {', '.join(ITEMS)}")
    parser.add_argument("--redraw", action="store_true", help="page and pictures alone")
    arguments = parser.parse_args()
    unknown = set(arguments.items) - set(ITEMS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not arguments.redraw:
        for name in arguments.items or ITEMS:
            finish(name, ITEMS[name]())
    page.write()


if __name__ == "__main__":
    main()
