"""The tutorial on real grades has the numbers of the results of the study of labels."""

import re

import pytest
from study_results import ROOT, STUDIES, rows_of

TUTORIAL = ROOT / "docs" / "tutorials" / "10_real_grades.py"
RESULTS = STUDIES / "labels" / "results" / "differences.csv"


def test_the_table_has_the_numbers_of_the_results():
    """Lines of the table have the differences and intervals of the results, in the same order."""
    names = ("difference", "low", "high")
    saved = [[float(row[name]) for name in names] for row in rows_of(RESULTS)]
    lines = TUTORIAL.read_text(encoding="utf-8").splitlines()
    cells = [line for line in lines if re.match(r"#      - [+-]", line)]
    shown = [[float(number) for number in re.findall(r"[+-]\.\d{4}\b", cell)] for cell in cells]
    assert len(shown) == len(saved) == 12
    for numbers, found in zip(shown, saved, strict=True):
        assert numbers == pytest.approx(found, rel=0, abs=0.5000001e-4)
