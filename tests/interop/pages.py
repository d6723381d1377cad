"""Tables of the pages, which the tests of this folder compare with what the tools do."""

import re
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parent
DOCS = FOLDER.parents[1] / "docs"

# Cells of docs/works_with.md: {(tool, column): claims}. The test below a claim shows it.
CLAIMS = defaultdict(list)


def claim(tool, column, text):
    """The test shows `text`, in the row of `tool`."""

    def register(test):
        CLAIMS[tool, column].append(text)
        return test

    return register


def rows_of_table(page, title):
    """Return the rows of the first table of a section, as {column: cell}."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {title}\n")[2]
    lines = re.findall(r"^\|(.*)\|$", text.partition("\n## ")[0].partition("|\n\n")[0] + "|", re.M)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def name_of(tool):
    """Return the cell of a tool without versions."""
    return re.sub(r" [\d.]+(?=,|$)", "", tool)
