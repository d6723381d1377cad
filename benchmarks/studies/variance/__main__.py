"""The study of variance: `PROTOCOL.md` says what is computed, `benchmarks/VARIANCE.md` what came out.

    python -m benchmarks.studies.variance

Reads the saved values of the study of effectiveness, trains nothing, and writes the page, its figure and
`results/components.csv`.
"""

import argparse

from benchmarks.studies.variance import report


def main() -> None:
    """Compute and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    report.redraw()


if __name__ == "__main__":
    main()
