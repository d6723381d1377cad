"""The papers' tables, figures and theorems on data at hand.

    python -m benchmarks.studies.papers [--redraw] [ITEM ...]

Computes what is missing in benchmarks/studies/papers/results, and writes the tables and pictures of
benchmarks/PAPERS.md from what is saved. It can be interrupted at any time. `--redraw` computes
nothing. Data are expected in ../shared/data.
"""

import argparse
from collections.abc import Callable
from functools import partial

from benchmarks.studies.papers import approximation, figures, grid, informativeness, page, systems
from benchmarks.studies.papers.results import Parts, finish

# By the name of the file of results, the quick ones first.
ITEMS: dict[str, Callable[[], Parts]] = {
    "correlation_with_p10": systems.correlation_with_p10,
    "discrimination": systems.discrimination,
    "correlation": systems.correlation,
    "inferred": informativeness.inferred,
    "informativeness": informativeness.graded,
    "robustness": systems.robustness,
    "accuracy": approximation.accuracy,
    "approx_linear": approximation.approx_linear,
    **{f"trained_{name.lower()}": partial(grid.parts, name) for name in grid.COLLECTIONS},
}


def main() -> None:
    """Compute and write."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
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
