"""``python -m benchmarks.studies.better_rankings`` trains what is missing, and writes the page.

``--redraw`` writes the page alone. Finished trainings are in benchmarks/.cache.
"""

import argparse
from functools import partial
from pathlib import Path

from benchmarks.studies.better_rankings import page, rankers, serving
from benchmarks.studies.effectiveness.data import collections
from benchmarks.studies.records import Records, finish

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "better_rankings"
COMPARED = Records(HERE / "results" / "estimates.csv", ("collection",))
SERVED = Records(HERE / "results" / "serving.csv", ("collection",))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraw", action="store_true", help="write the page from the saved results")
    if not parser.parse_args().redraw:
        # The largest collection comes last.
        sources = sorted(collections(), key=lambda source: len(source.data.y))
        finish(SERVED, {(source.name,): partial(serving.estimates, source) for source in sources}, CACHE)
        finish(COMPARED, {(source.name,): partial(rankers.estimates, source, CACHE) for source in sources}, CACHE)
    page.redraw(COMPARED.path, SERVED.path)


if __name__ == "__main__":
    main()
