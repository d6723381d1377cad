"""The study of variance: `PROTOCOL.md` says what is computed, `benchmarks/VARIANCE.md` what came out.

    python -m benchmarks.studies.variance

Trains the resplits that the saved results lack, where the collections are there, and writes the page, its figure and
`results/components.csv`; with `--redraw` it trains nothing. An interrupted run goes on where it
stopped, and several share the work.
"""

import argparse

from benchmarks.studies.variance import report, resplits


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="write the page alone")
    if not parser.parse_args().redraw:
        resplits.run()
    report.redraw()


if __name__ == "__main__":
    main()
