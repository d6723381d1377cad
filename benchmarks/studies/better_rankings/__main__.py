"""Train what the results lack, and write the page.

    python -m benchmarks.studies.better_rankings           # about ten hours of one core
    python -m benchmarks.studies.better_rankings --redraw  # the page, from the saved results

An interrupted run continues where it stopped. `PROTOCOL.md` gives the design.
"""

import argparse
from functools import partial

from benchmarks.studies.better_rankings import page, serving
from benchmarks.studies.better_rankings.page import CHOSEN, RESULTS
from benchmarks.studies.better_rankings.rankers import FAMILIES, RANKERS
from benchmarks.studies.comparisons import compare
from benchmarks.studies.effectiveness.data import collections
from benchmarks.studies.records import Records, finish

CACHE = RESULTS.parents[2] / ".cache"


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="only write the page from the saved results")
    if not parser.parse_args().redraw:
        sources = sorted(collections(), key=lambda source: source.data.X.size)
        tasks = {(source.name,): partial(serving.estimates, source) for source in sources}
        finish(Records(RESULTS / "serving.csv", ("collection",)), tasks)
        compared = Records(RESULTS / "estimates.csv", ("collection",))
        for source in sources:
            if (source.name,) not in compared.done():
                compare(CHOSEN, RANKERS, FAMILIES, source.name, source.data, (RESULTS, CACHE))
    page.redraw()


if __name__ == "__main__":
    main()
