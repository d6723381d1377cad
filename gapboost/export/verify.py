"""Command ``python -m gapboost.export.verify``: compare an engine's scores with a ranker's.

Its arguments are two files: VERIFICATION and ANSWERS.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

# Rows that differ are listed up to so many.
LISTED = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    It is 0 if all scores agree, 1 if some differ, and 2 if a file is unusable.
    """
    given = _parser().parse_args(arguments)
    try:
        verification, answers = (
            json.loads(path.read_text(encoding="utf-8"))
            for path in (given.verification, given.answers)
        )
        lines = differences(verification, answers)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines) if lines else f"all {len(answers)} scores agree")
    return 1 if lines else 0


def differences(verification: dict[str, Any], answers: Any) -> list[str]:
    """Describe the rows whose scores differ; return no lines if all agree.

    Parameters
    ----------
    verification : dict
        Content of a verification file.
    answers : list of float
        The engine's score of each row, in the same order.

    Raises
    ------
    ValueError
        If `answers` has not one number for each row.
    """
    expected = verification["scores"]
    numbers = isinstance(answers, list) and all(type(answer) in (int, float) for answer in answers)
    if not numbers or len(answers) != len(expected):
        raise ValueError(
            "answers holds "
            f"{len(answers) if isinstance(answers, list) else type(answers).__name__}; expected a "
            f"list of {len(expected)} numbers, one for each row of the verification file"
        )
    # NaN differs from everything.
    wrong = np.flatnonzero(~(np.abs(np.subtract(answers, expected)) <= verification["tolerance"]))
    if not len(wrong):
        return []
    total, found = (
        Counter(verification["contents"]),
        Counter(verification["contents"][row] for row in wrong),
    )
    return [
        f"{len(wrong)} of {len(expected)} scores differ",
        *(f"  rows of kind {kind!r}: {found[kind]} of {total[kind]}" for kind in total),
        *(
            f"  row {row}: expected {expected[row]:.9g}, found {answers[row]:.9g}, with "
            f"{_named(verification, row)}"
            for row in wrong[:LISTED].tolist()
        ),
    ]


def _named(verification: dict[str, Any], row: int) -> str:
    """Return the first features of a row and their values."""
    pairs = list(zip(verification["feature_names"], verification["rows"][row], strict=True))
    return ", ".join(f"{name}={value}" for name, value in pairs[:3]) + (
        ", ..." if len(pairs) > 3 else ""
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gapboost.export.verify",
        description="Compare an engine's scores with a ranker's.",
    )
    parser.add_argument(
        "verification",
        type=Path,
        help="file that a function of gapboost.export wrote beside the model",
    )
    parser.add_argument(
        "answers", type=Path, help="JSON list of the engine's scores, one for each row"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
