"""The study of truncation: `PROTOCOL.md` says what is done, `benchmarks/TRUNCATION.md` what came out.

    python -m benchmarks.studies.truncation [--redraw]

Computes what is not saved in `results/` yet, gradients first and then trainings. It can be interrupted at any time and goes on
where it stopped. Then the page and its figure are written, by `--redraw` without computing. Data are expected in ../shared/data.
"""

import argparse

from benchmarks.studies.truncation import gradients, report, trainings


def main() -> None:
    """Compute and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--redraw", action="store_true", help="page and figure of the saved results, nothing is computed"
    )
    if not parser.parse_args().redraw:
        gradients.run()
        trainings.run()
        trainings.run_long()
    report.redraw()


if __name__ == "__main__":
    main()
