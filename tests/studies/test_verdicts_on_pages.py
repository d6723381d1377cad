"""Verdicts on pages agree with the intervals next to them and with the results that they name.

A sentence with a word of `benchmarks/POLICY.md` stands in a file
`benchmarks/studies/*/verdicts.csv`, with the rows of results that support it. A changed sentence is
no longer found there, so that a sentence which is inverted fails.
"""

import re
from pathlib import Path

import pytest
from study_results import ROOT, STUDIES, matching_row, rows_of, value

from gapboost.analysis.estimates import Estimate

PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md"]
PAGES += sorted((ROOT / "benchmarks").glob("[A-Z]*.md"))
PAGES.remove(ROOT / "benchmarks" / "POLICY.md")  # it defines the words
VERDICT = "ahead|behind|equivalent|inconclusive"
WORDS = re.compile(rf"\b({VERDICT}|proven|proves|prove)\b", re.IGNORECASE)
VERDICTS = re.compile(rf"({VERDICT})(, ({VERDICT}))*")
NUMBER = r"[+−-]?\d*\.\d+"
INTERVAL = re.compile(rf"\(?({NUMBER}) (?:…|to) ({NUMBER})\)?")


def listed() -> list[dict[str, str]]:
    """Return the rows of all lists of verdicts; `folder` is that of the study."""
    lists = sorted(STUDIES.glob("*/verdicts.csv"))
    return [{**row, "folder": str(path.parent)} for path in lists for row in rows_of(path)]


def sentences(text: str) -> list[str]:
    """Return the sentences of a Markdown page, each in one line.

    Tables, code and comments are left out.
    """
    text = re.sub(r"```.*?```|<!--.*?-->", "\n\n", text, flags=re.DOTALL)
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*-] |#|\||</?(?:details|summary)))", text):
        if not paragraph.lstrip().startswith("|"):
            line = " ".join(re.sub(r"</?\w+>", " ", paragraph).split())
            found += re.split(r"(?<=[.!?:])\**\s+(?=[*`\[]*[A-Z])", line)
    return [sentence.strip("*# ") for sentence in found]


def table_rows(text: str) -> list[list[str]]:
    """Return the cells of each row of a table."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def intervals(cells: list[str]) -> list[tuple[float, float]]:
    """Return the intervals in some cells of a table."""
    found = [ends for cell in cells for ends in INTERVAL.findall(cell)]
    return [(value(low), value(high)) for low, high in found]


def supporting(row: dict[str, str]) -> tuple[float, float]:
    """Return the interval of the one row of results that a list names."""
    found = matching_row(Path(row["folder"]) / row["file"], row["row"])
    return value(found[row["low"]]), value(found[row["high"]])


def word(low: float, high: float) -> str:
    return "ahead" if low > 0 else "behind" if high < 0 else "inconclusive"


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_each_sentence_with_a_verdict_is_listed(page):
    here = {row["sentence"] for row in listed() if ROOT / row["page"] == page}
    text = page.read_text(encoding="utf-8")
    assert {sentence for sentence in sentences(text) if WORDS.search(sentence)} == here


@pytest.mark.parametrize("row", listed(), ids=lambda row: row["sentence"][:40])
def test_a_listed_sentence_is_supported(row):
    if row["word"] == "definition":
        assert not row["file"]  # it says what a word means, and nothing about a result
        return
    assert word(*supporting(row)) == row["word"]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_verdicts_in_tables_agree_with_their_intervals(page):
    """A cell holds one word for each interval of its row, in their order."""
    for cells in table_rows(page.read_text(encoding="utf-8")):
        words = [one for cell in cells if VERDICTS.fullmatch(cell) for one in cell.split(", ")]
        if words:
            found = intervals(cells)
            assert len(words) == len(found), cells
            for one, (low, high) in zip(words, found, strict=True):
                assert one == word(low, high) or (one == "equivalent" and low <= 0 <= high), cells


def test_proven_gains_of_the_readme_are_bold():
    rows = table_rows((ROOT / "README.md").read_text(encoding="utf-8"))
    cells = [cell for row in rows for cell in row if intervals([cell])]
    gains = {cell for cell in cells if intervals([cell])[0][0] > 0}
    assert gains == {cell for cell in cells if cell.startswith("**")} != set()


def test_losses_on_single_collections_are_those_of_the_page():
    results, behind = STUDIES / "better_rankings" / "results", set()
    families = ("features", "trees", "forests", "together", "tuned features", "tuned objectives")
    for row in rows_of(results / "estimates.csv") + rows_of(results / "tuned_estimates.csv"):
        if row["family"] in families and row["measure"] in ("mean of six", "nDCG@10"):
            found = Estimate(*(float(row[name]) for name in ("difference", "error", "freedom")))
            if found.interval(family=7)[1] < 0:
                behind.add((row["collection"], row["measure"], row["difference"]))
    losses = rows_of(results / "tables" / "losses.csv")
    assert behind == {(row["collection"], row["measure"], row["difference"]) for row in losses}
