"""Rows of the page: one for each numbered item of a paper, listed in items.csv, and written from saved results."""

import csv
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ITEMS = Path(__file__).parent / "items.csv"
# How a status begins; the rest of the cell tells what differs, or why it is not possible.
STATUSES = ("done", "in kind", "not possible here")


class Row(NamedTuple):
    """One numbered item.

    Attributes
    ----------
    item : str
        As the paper numbers it.
    shows : str
        What it shows.
    status : str
        One of `STATUSES`, and what differs.
    gives : str
        What gapboost gives, on which data.
    claim : str
        Whether the paper's claim holds.
    """

    item: str
    shows: str
    status: str
    gives: str
    claim: str


def listed() -> list[dict[str, str]]:
    """The lines of items.csv.

    `by` names the function of the paper's module that writes the last two cells, where they do not stand in the line.
    """
    with ITEMS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def rows_of(paper: ModuleType) -> list[Row]:
    """The rows of one paper."""
    found = []
    for one in listed():
        if one["paper"] != paper.__name__.rpartition(".")[2]:
            continue
        gives, claim = getattr(paper, one["by"])() if one["by"] else (one["gives"], one["claim"])
        found.append(Row(one["item"], one["shows"], one["status"], gives, claim))
    return found


def verdict(holds: bool, yes: str = "holds", no: str = "**does not hold**") -> str:
    """What a comparison of saved numbers comes to."""
    return yes if holds else no


def table(head: list[str], body: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [[cell.replace("|", "\\|") for cell in cells] for cells in [head, ["---"] * len(head), *body]]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def markdown(name: str, caption: str) -> str:
    """The picture in the page."""
    return f"![{caption}](figures/papers_{name}.png)\n"


def folded(summary: str, text: str) -> str:
    """What a click shows."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>\n"


def as_table(found: list[Row]) -> str:
    """The rows of one paper."""
    head = ["item", "what it shows", "status", "what gapboost gives", "the claim"]
    return table(head, [list(one) for one in found])
