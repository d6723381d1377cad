"""The page of the papers: it says what is saved, has a row for every item, and its study resumes."""

import csv
import re
from itertools import pairwise

import numpy as np
import numpy.testing as npt
import pandas as pd
import pytest

import gapboost as gb
from benchmarks.studies.papers import figures, page, results, rows
from benchmarks.studies.papers.collections import few
from benchmarks.studies.papers.items import ITEMS
from benchmarks.studies.papers.models import algorithm_1
from benchmarks.workload import FIGURES
from gapboost.datasets import load_digits_ranking

pytestmark = pytest.mark.slow

# Numbered tables, figures, theorems and corollaries of the four papers.
NUMBERED = {
    "robertson2010": ["Figure 1", "Figure 2", "Figure 3", "Table 1", "Table 2"],
    "ferrante2014": ["Table 1", "Table 2", "Table 3", "Figure 1", "Figure 2"],
    "yilmaz2009": [*(f"Table {n}" for n in range(1, 6)), *(f"Figure {n}" for n in range(1, 6))],
    "qin2008": [
        *(f"Theorem {n}" for n in (1, 2, 3, 5, 6, 7)),
        "Corollary 4",
        "Table 1",
        "Table 2",
        "Table 3",
        *(f"Figure {n}" for n in range(1, 6)),
        "Algorithm 1",
    ],
}


@pytest.fixture(scope="module")
def text():
    return page.text()


def test_the_page_is_what_the_saved_results_give(text):
    """Every number is read from them: change either, and this fails until `benchmarks.studies.papers --redraw`."""
    written = page.PAGE.read_text(encoding="utf-8").splitlines()
    for number, (found, expected) in enumerate(zip(written, text.splitlines(), strict=False), 1):
        assert found == expected, f"line {number}"
    assert len(written) == len(text.splitlines())


def test_every_numbered_item_has_a_row_and_no_cell_is_empty(text):
    for title, paper in page.TITLES:
        name = paper.__name__.rpartition(".")[2]
        found = rows.rows_of(paper)
        items = [part for row in found for part in row.item.split(", ")]
        assert [item for item in NUMBERED[name] if item not in items] == [], title
        for row in found:
            assert all(cell.strip() for cell in row), row
            assert row.status.startswith(rows.STATUSES), row
            assert "nan" not in " ".join(row).split(), row


def test_the_page_can_be_read(text):
    assert len(text.splitlines()) < 440
    assert text.count("<details>") == text.count("</details>") > 5
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.endswith("|"), line
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [re.split(r"(?<!\\)\|", line) for line in block.splitlines()]
        assert all(len(one) == len(other) for one, other in pairwise(lines)), block[:200]


def test_pictures_and_links_are_there(text):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (page.PAGE.parent / target).exists(), target
    assert {path.name for path in FIGURES.glob("papers_*.png")} == {f"papers_{name}.png" for name in figures.PICTURES}


def test_finished_parts_are_not_computed_again(tmp_path):
    calls = []

    def part(name):
        def compute():
            calls.append(name)
            if name == "c" and calls.count("c") == 1:
                raise KeyboardInterrupt
            return [{"value": len(calls), "name": name}] * 2

        return compute

    parts = {name: part(name) for name in "abc"}
    with pytest.raises(KeyboardInterrupt):
        results.finish("some", parts, tmp_path)
    results.finish("some", parts, tmp_path)
    results.finish("some", parts, tmp_path)
    assert calls == ["a", "b", "c", "c"]
    expected = pd.DataFrame({"value": [1, 1, 2, 2, 4, 4], "name": list("aabbcc")})
    pd.testing.assert_frame_equal(results.load("some", tmp_path), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["some.csv"]


def test_every_item_is_saved():
    """Kept from earlier code, and called so, is what takes long to compute again."""
    there = {path.stem for path in results.RESULTS.iterdir()}
    kept = {name.removeprefix("kept_") for name in there if name.startswith("kept_")}
    assert there - {f"kept_{name}" for name in kept} == set(ITEMS) - {"informativeness_robust"}
    assert kept == {"informativeness", "robustness", "hessians_by_grade"}


def test_saved_results_are_tables():
    for path in results.RESULTS.iterdir():
        assert path.suffix == ".csv", path
        with path.open(encoding="utf-8", newline="") as lines:
            found = list(csv.reader(lines))
        assert found[0][0] == "part"
        assert len({len(line) for line in found}) == 1, path


def test_topics_with_few_highly_relevant_documents():
    def topic(*counts):
        return {
            f"{grade}-{i}": grade for grade, count in zip((-1, 0, 1, 2, 3), counts, strict=True) for i in range(count)
        }

    qrels = {
        "ten": topic(1, 5, 10, 1, 0),
        "nine": topic(1, 5, 9, 1, 0),
        "twice": topic(0, 0, 20, 2, 0),
        "none": topic(0, 0, 20, 0, 0),
        "key": topic(0, 5, 10, 5, 1),
        "nothing": topic(0, 5, 0, 0, 0),
    }
    assert few(qrels, 3) == ["key"]
    assert few(qrels, 2) == ["ten", "twice"]
    assert few(qrels, 2, factor=9) == ["ten", "nine", "twice"]


def test_algorithm_1_climbs_the_smooth_measure():
    train = load_digits_ranking((12, 1, 1), 15)[0]
    how = gb.ApproxRank(gb.AP(), alpha=1.0, beta=1.0, normalize=False)
    values = [how.value(train.y, train.X @ weights, train.qid) for weights in algorithm_1(train, how, 12, rate=0.01)]
    assert values[-1] > values[0] > how.value(train.y, np.zeros(len(train.y)), train.qid)
    first, second = ([w.copy() for w in algorithm_1(train, how, 2)] for _ in range(2))
    npt.assert_array_equal(first, second)
