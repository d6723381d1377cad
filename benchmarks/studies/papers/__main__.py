"""The papers' tables, figures and theorems on data at hand.

    python -m benchmarks.studies.papers [--redraw] [ITEM ...]

Computes what is missing in benchmarks/studies/papers/results, and writes the tables and pictures of
benchmarks/PAPERS.md from what is saved. It can be interrupted at any time. `--redraw` computes
nothing. Data are expected in ../shared/data.
"""

import argparse

from benchmarks.studies.papers import figures, page
from benchmarks.studies.papers.items import ITEMS
from benchmarks.studies.papers.results import finish


def main() -> None:
    """Compute and write."""
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    known = ", ".join(ITEMS)
    parser.add_argument("items", nargs="*", metavar="ITEM", help=f"by default all: {known}")
    parser.add_argument("--redraw", action="store_true", help="write tables and pictures alone")
    arguments = parser.parse_args()
    unknown = set(arguments.items) - set(ITEMS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; expected some of {known}")
    if not arguments.redraw:
        for name in arguments.items or ITEMS:
            finish(name, ITEMS[name]())
    page.write_page()
    figures.draw_all()


if __name__ == "__main__":
    main()
