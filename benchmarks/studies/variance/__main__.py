"""The study of variance: `PROTOCOL.md` says what is computed, `benchmarks/VARIANCE.md` the results.

    python -m benchmarks.studies.variance

Trains the resplits that the saved results lack, if the collections are there. Writes the tables and
the figure of the page, and the files in `results/`. With `--redraw` it trains nothing. Start it
again after an interruption; several processes share the work.
"""

import argparse

from benchmarks.studies.variance import report, resplits


def main() -> None:
    """Train and write."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--redraw", action="store_true", help="train nothing")
    if not parser.parse_args().redraw:
        resplits.run()
    report.redraw()


if __name__ == "__main__":
    main()
