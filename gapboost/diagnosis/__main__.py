"""Command ``python -m gapboost.diagnosis MODEL FILE``: diagnose a fitted ranker on a data file."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gapboost._data.features import rows_of
from gapboost._pages.page import checked_path
from gapboost.comparison.files import Input, add_data_options, read_data
from gapboost.diagnosis.call import DEFAULT_MEASURES, report
from gapboost.diagnosis.checks import IDS, checked_ids
from gapboost.diagnosis.model_files import load_model
from gapboost.diagnosis.page import check_table, summarize_report, value_table
from gapboost.diagnosis.report_result import Report


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        path = checked_path(given.report)
        checked_ids(given.ignore)
        found = _report(given)
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found.write(path)
    print(
        f"{summarize_report(found)}\n\n{value_table(found).aligned()}\n\n"
        f"{_brief(found)}\n\nreport: {path}"
    )
    return 0


def _brief(found: Report) -> str:
    """Return the checks with a line of text each."""
    table = check_table(found)
    return replace(table, head=table.head[:3], rows=[row[:3] for row in table.rows]).aligned()


def _report(given: argparse.Namespace) -> Report:
    model = load_model(Path(given.model))
    paths = [Path(file) for file in (given.train, given.file) if file]
    data = read_data(paths, given.label, given.qid, given.drop, given.categorical)
    train, test = data.folds[0] if data.folds else (None, np.arange(len(data.y)))
    training = {} if train is None else _rows(data, train, "_train")
    found = report(
        model, **_rows(data, test), **training, measures=given.measures, ignore=given.ignore
    )
    source = f"The ranker is read from {given.model}, and the test data from {given.file}."
    return replace(
        found, source=source + (f" Training data are in {given.train}." if given.train else "")
    )


def _rows(data: Input, rows: np.ndarray, suffix: str = "") -> dict[str, Any]:
    return {
        f"X{suffix}": rows_of(data.X, rows),
        f"y{suffix}": np.asarray(data.y)[rows],
        f"qid{suffix}": np.asarray(data.qid)[rows],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gapboost.diagnosis",
        description="Say what is wrong with a fitted ranker: checks, values with intervals, and "
        "the worst queries.",
    )
    add = parser.add_argument
    add(
        "model",
        metavar="MODEL",
        help="pickle of a ranker or pipeline, or a model file of LightGBM (.txt) or XGBoost "
        "(.json)",
    )
    add("file", metavar="FILE", help="test queries: LETOR, CSV or Parquet")
    add("--train", metavar="FILE", help="training queries, in the same format")
    add_data_options(add, DEFAULT_MEASURES)
    add(
        "--ignore", nargs="+", default=[], metavar="CHECK", help=f"checks to skip: {', '.join(IDS)}"
    )
    add(
        "--report",
        default="report.html",
        metavar="PATH",
        help="ends with .html or .md (default: %(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
