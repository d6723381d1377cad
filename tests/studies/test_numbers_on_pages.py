"""Numbers on the pages of `benchmarks/` are those of the results that they name.

* A table below ``<!-- table: studies/NAME/results/FILE.csv -->`` has the rows of that file, in its
  order: the same first cells, and the same numbers, rounded. Its head has those of the columns.
* The numbers in the text of a page stand in a file `benchmarks/studies/*/numbers.csv`, in their
  order. Each names a file, a row and a column of results. `times` is a factor, such as 100 for
  percent. A number without a file was not measured, and `row` says what it is: a setting of the
  protocol, a number of the paper.
* Parts between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` are written by a command. Tests of
  that command compare them with its output.

Code, links, versions, dates, and numbers within names such as nDCG@10 are no measured numbers.
"""

import math
import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from study_results import ROOT, STUDIES, matching_row, rows_of, value

BENCHMARKS = ROOT / "benchmarks"
PAGES = [ROOT / "README.md", *sorted([*BENCHMARKS.glob("*.md"), *STUDIES.glob("*/[a-z]*.md")])]
WRITTEN_BY_A_COMMAND = ("EFFECTIVENESS.md", "PAPERS.md", "POLICY.md", "README.md", "SCALE.md")

DATE_OR_VERSION = r"\d{4}-\d\d-\d\d|\d+\.\d+\.\d+"
NO_NUMBERS = re.compile(rf"```.*?```|`[^`]*`|\]\([^)]*\)|<[^<>]*>|{DATE_OR_VERSION}", re.DOTALL)
WHOLE = r"(?:\d{1,3}(?:[ ,]\d{3})+(?!\d)|\d+)"
DECIMAL = rf"(?:{WHOLE}(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?"
NUMBER = re.compile(rf"(?<![\w.@/])(?:< ?)?[+−-]?{DECIMAL}(?!\w|\.\d)")
TABLE = re.compile(r"<!-- table: (\S+) -->\n+((?:\|.*\n)+)")
WRITTEN = re.compile(r"<!-- ([^:>]+) -->\n.*?<!-- end of \1 -->", re.DOTALL)


def prose(page: Path) -> str:
    """Return the text of a page without code, links, tables and parts that other tests check."""
    text = page.read_text(encoding="utf-8")
    if page.name in WRITTEN_BY_A_COMMAND:
        text = WRITTEN.sub(" ", text)
    return NO_NUMBERS.sub(" ", TABLE.sub(" ", text))


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written."""
    return NUMBER.findall(NO_NUMBERS.sub(" ", text))


def agrees(shown: str, found: float) -> bool:
    """True if the number shown is the value found, rounded; `< .001` is an upper bound."""
    if shown.startswith("<"):
        return found < value(shown)
    mantissa, _, exponent = shown.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return math.isclose(value(shown), found, rel_tol=1e-9, abs_tol=0.500001 * unit)


def result(folder: Path, row: dict[str, str]) -> float:
    """Return the result that a row of `numbers.csv` names."""
    found = matching_row(folder / row["file"], row["row"])
    return float(found[row["column"]]) * float(row["times"] or 1)


def listed(page: Path) -> list[tuple[Path, dict[str, str]]]:
    """Return the listed numbers of a page, each with the folder of its list."""
    name = page.relative_to(ROOT).as_posix()
    return [
        (path.parent, row)
        for path in sorted(STUDIES.glob("*/numbers.csv"))
        for row in rows_of(path)
        if row["page"] == name
    ]


def differences(page: Path, written: list[str], expected: list[str]) -> list[str]:
    """Describe each difference between the numbers on a page and those in its list."""
    changes = SequenceMatcher(None, written, expected, autojunk=False).get_opcodes()
    return [
        f"{page.name} has {written[a:b]} after {written[:a][-4:]}; numbers.csv has {expected[c:d]}"
        for kind, a, b, c, d in changes
        if kind != "equal"
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_each_number_in_the_text_is_listed(page):
    assert not differences(page, numbers(prose(page)), [row["number"] for _, row in listed(page)])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_listed_numbers_are_those_of_the_results(page):
    for folder, row in listed(page):
        if row["file"]:
            assert agrees(row["number"], result(folder, row)), row
        else:
            assert row["row"], f"{row} names no file and says not what it is"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_tables_have_the_numbers_of_their_files(page):
    for name, table in TABLE.findall(page.read_text(encoding="utf-8")):
        rows = rows_of(BENCHMARKS / name)
        head, _, *lines = table.splitlines()
        saved = [list(row.values()) for row in rows]
        assert set(numbers(head)) == set(numbers(" | ".join(rows[0]))), name
        assert len(lines) == len(saved), name
        for line, cells in zip(lines, saved, strict=True):
            assert line.strip("| ").split("|")[0].strip() == cells[0].strip(), name
            shown, found = numbers(line), numbers(" | ".join(cells))
            assert len(shown) == len(found), (name, line)
            assert all(agrees(a, value(b)) for a, b in zip(shown, found, strict=True)), (name, line)
