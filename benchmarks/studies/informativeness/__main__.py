"""Which measure to train for: `PROTOCOL.md` says what is computed, `benchmarks/INFORMATIVENESS.md` what came out.

    python -m benchmarks.studies.informativeness

Computes what the saved results lack, where the collections are there, and writes `results/effects.csv`, the page and its figure;
with `--redraw` it trains nothing. An interrupted run goes on where it stopped. Needs statsmodels.
"""

import argparse

from benchmarks.studies.informativeness import doses, model, report, runs


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="write the page alone")
    if not parser.parse_args().redraw:
        doses.run()
        runs.run()
    model.run()
    report.redraw()


if __name__ == "__main__":
    main()
