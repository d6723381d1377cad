"""Costs by commit: a run of a subject in `FOLLOWED` adds rows to ``results/history.csv``."""

import subprocess
from collections.abc import Iterator, Sequence
from datetime import date

from benchmarks.harness import HERE, RATIO, Row, as_csv, parsed, signed

HISTORY = HERE / "results" / "history.csv"
# Subjects, and the column that is followed: that of our rows, or of all rows without contestants.
FOLLOWED = {"gradients": RATIO, "training": RATIO, "evaluation": RATIO, "compilation": "compiled"}
OURS = ("gapboost", "GAPRanker")
COLUMNS = ("commit", "date", "subject", "row", "value")
ABOUT = "time / peer's, and processor seconds of compilation; + is a package with changes"
LABELS = ("documents in each", "contestant", "processor seconds")


def followed(subject: str, rows: Sequence[Row]) -> dict[str, float]:
    """Return the followed values of a subject by label; of none if it is not followed."""
    column = FOLLOWED.get(subject, "")
    return {
        ", ".join(str(row[name]) for name in LABELS if name in row): float(row[column])
        for row in rows
        if row.get(column) and any(name in row.get("contestant", OURS[0]) for name in OURS)
    }


def this_commit() -> str:
    """Return the commit, with a plus where the package has changed since."""
    name = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, text=True)
    changed = ["git", "diff", "--quiet", "HEAD", "--", "../gapboost"]
    return name.strip() + "+" * subprocess.run(changed, cwd=HERE, check=False).returncode


def record(subject: str, rows: Sequence[Row]) -> Iterator[str]:
    """Write the values of this commit, and yield their changes since the commit before."""
    commit, (_, lines) = this_commit(), parsed(HISTORY.read_text(encoding="utf-8"))
    lines = [line for line in lines if (line["commit"], line["subject"]) != (commit, subject)]
    before = {line["row"]: float(line["value"]) for line in lines if line["subject"] == subject}
    for row, value in followed(subject, rows).items():
        cells = (commit, date.today(), subject, row, f"{value:.4g}")
        lines.append(dict(zip(COLUMNS, cells, strict=True)))
        change = f"{signed(100 * (value / before[row] - 1), 0)} %" if row in before else "new"
        yield f"{subject}, {row}: {value:.3g} ({change})"
    HISTORY.write_text(as_csv(lines, ABOUT), encoding="utf-8")
