"""The tutorial on real grades has the numbers of the results of the study of labels."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorials" / "10_real_grades.py"
RESULTS = ROOT / "benchmarks" / "studies" / "labels" / "results" / "differences.csv"


def test_the_table_has_the_numbers_of_the_results():
    """Lines of the table have the differences and intervals of the results, in the same order."""
    with RESULTS.open(encoding="utf-8", newline="") as stream:
        saved = [
            [float(row[name]) for name in ("difference", "low", "high")]
            for row in csv.DictReader(stream)
        ]
    lines = TUTORIAL.read_text(encoding="utf-8").splitlines()
    cells = [line for line in lines if re.match(r"#      - [+-]", line)]
    shown = [[float(number) for number in re.findall(r"[+-]\.\d{4}\b", cell)] for cell in cells]
    assert len(shown) == len(saved) == 12
    for numbers, found in zip(shown, saved, strict=True):
        assert numbers == pytest.approx(found, rel=0, abs=0.5000001e-4)
